"""The class Matrix."""

from __future__ import annotations

from typing import Any

from semirings import Typed, dtypes
from semirings.dtypes import FP64, DataType

from ... import build, foreign_names, verbs
from ... import device as devices
from ...config import config
from ...device import Device
from ...formats.values import PackedValues
from ...store import MatrixStore
from ..building import restored
from ..convert import check_size, device_of, pickled
from ..options import Layout, check_layout
from ..statement.axes import Axis
from ..statement.expr import enter
from ..statement.mask import Mask, check
from ..statement.recording import state as recording
from ..statement.running import assignment, computed, statement
from . import assign as assign_matrix
from .build import MatrixBuild
from .order import MatrixOrder
from .saved import MatrixFile
from .shape import MatrixReshape
from .stored import named
from .transposed import TransposedMatrix
from .writes import Writes


class Matrix(MatrixBuild, MatrixFile, MatrixReshape, MatrixOrder, metaclass=foreign_names.Hinted):
    """Matrix(dtype=FP64, nrows=0, ncols=0): a sparse matrix without entries. GraphBLAS C API 2.1, section 3.8.2.

    format: "auto", "csr", "mplg", "nib", "cgr", "b2sr" with a `tile` of 4, 8, 16, 32 or 64, "split" with one of 4, 8 or
    16 (or that of the fewest bytes), "hyper", or "bitmap": the stored format, which results assigned to it take too.
    packed: whether values that differ are bit-packed (True; InvalidValue unless they are integers of a range below
    2**32), stored as an array of their type (False), or as `config.prefer` says (None).

    Raises TypeError (dtype), InvalidValue (sizes), ValueError (format), DeviceError, OutOfMemory.
    """

    __slots__ = ()
    _mask_ranks = (1, 2)

    def __init__(
        self, dtype: Any = FP64, nrows: Any = 0, ncols: Any = 0, *, name: str | None = None,
        device: str | Device | None = None, format: str | None = None, tile: int | None = None,
        packed: bool | None = None,
    ) -> None:  # fmt: skip
        self._layout = check_layout(format, tile, packed)
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        empty = verbs.matrix.empty(device_of(device), *shape, dtypes.lookup_dtype(dtype))
        self._data = build.stores.with_format(empty, *self._layout[:2]) if self._layout.asks else empty
        self._pending = Writes()
        self.name = named(name)
        if recording.threads and recording.recorder is not None and recording.recorder.takes(self):
            recording.recorder.created(self)

    @classmethod
    def _computed(cls, expr: Any, dtype: DataType | None = None, mask: Any = None, name: str | None = None) -> Matrix:
        """A new Matrix with the result of an expression."""
        kind, m = expr.dtype if dtype is None else dtype, None if mask is None else check(mask, 2)
        if (
            expr._value is None
            and (m is None or expr.masked)
            and not (recording.threads and recording.recorder is not None)
        ):  # the new Matrix becomes the result
            name = named(name)
            return cls._from_store(computed(expr, lambda: assign_matrix.alone(expr, kind, m), name, m), name)
        C = cls(kind, expr.nrows, expr.ncols, name=name, device=expr.device)
        C._update(expr, m, None, m is not None)
        return C

    # ---- content ----

    @property
    def _matrix(self) -> Matrix:
        return self

    @property
    def T(self) -> TransposedMatrix:
        """The transpose, as a view: products and reductions read A transposed."""
        return TransposedMatrix(self)

    def to(self, device: str | Device) -> Matrix:
        """A copy on another device; the object itself if it is already there."""
        d = devices.get(device)
        if d is self.device:
            return self
        make, (kind, args, more) = self.__reduce__()
        return make(kind, args, more | {"device": d})

    def __reduce__(self) -> Any:
        A, host = self._stored, self.device.to_host
        i, j = (host(x) for x in A.coo())
        more = {"nrows": A.nrows, "ncols": A.ncols, "name": self.name, **self._layout._asdict()}
        if isinstance(A.raw, PackedValues):
            more["stays_packed"] = True
        if A.order is not None:
            more["order"] = host(A.order.perm)
        args = i, j, *pickled(A.dtype, A.values if A.iso else host(A.values))
        return restored, (Matrix, args, more | {"device": self.device.name})

    def __dir__(self) -> list[str]:
        return dir(type(self))

    # ---- statements ----

    def _keep(self, key: Any, make: Any, *, chosen: bool = True) -> Any:
        """make(a matrix of the same contents), computed once and cached until the contents change. chosen: in the
        format that the planner chooses, because it will be read often.

        Not make(self): the cached object would keep the matrix alive that caches it.
        """
        key = "kept", config.prefer, key
        if not self._pending and key in self._data.prepared and not devices.several:
            return self._data.prepared[key]
        store = self._read(now=chosen)  # otherwise the cached object would hold a second format
        if key not in store.prepared:
            twin = type(self)._from_store(
                MatrixStore(store.structure, store.dtype, store.raw, store.copies, order=store.order)
            )
            made = store.prepared[key] = make(twin)
            if isinstance(made, Matrix):  # keeps the Layout of self: it is not converted for products with vectors
                made._layout = Layout(made.format)
        return store.prepared[key]

    def _update(self, value: Any, mask: Mask | None = None, accum: Typed | None = None, replace: bool = False) -> None:
        statement(assign_matrix.update_matrix, self, value, mask, accum, replace)

    def __lshift__(self, value: Any) -> None:
        statement(assign_matrix.update_matrix, self, value, None, None, False)

    def _assign(self, axes: tuple[Axis, ...], value: Any, mask: Any, accum: Any, replace: bool, region: bool) -> None:
        assignment(assign_matrix.assign_matrix, self, axes, value, mask, accum, replace, region)

    def clear(self) -> None:
        """Delete all entries."""
        if recording.threads and recording.recorder is not None:
            recording.recorder.cleared(self)
            return
        self._adopt(self._emptied())


enter(Matrix)
foreign_names.add_foreign_names(Matrix, foreign_names.MATRIX)
