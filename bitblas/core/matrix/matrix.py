"""The class Matrix, with the methods that change its size or a diagonal in place.

resize: GraphBLAS C API 2.1, section 4.2.5.5.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from semirings import dtypes
from semirings.dtypes import FP64, DataType, cast_scalar, check_cast

from ... import device as devices
from ... import foreign_names, operations
from ...config import config
from ...device import Device
from ...exceptions import DimensionMismatch
from ...formats.packing import PackedValues
from ...store import MatrixStore
from ..building import restored
from ..convert import check_size, device_of, pickled, same_device, written_array
from ..options import StorageOptions, check_options, check_storage_options
from ..statement.expressions import enter
from ..statement.infix import Operand, object_of
from ..statement.masks import Mask, check
from ..statement.running import computed
from ..statement.scalar_operands import several
from ..statement.symbolic import state as recording
from ..vector.vector import Vector
from . import assign as assign_matrix
from .build import MatrixBuild
from .order import MatrixOrder
from .save_load import MatrixFile
from .stored import StoredMatrix, Writes, named
from .views import TransposedMatrix

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ..statement.expressions import MatrixExpression
    from ..typing import DeviceArg, DTypeLike, MaskArg, MaskLike, OperatorArg, ValuesLike

# ---- Methods that change a Matrix in place: size and diagonal. resize: GraphBLAS C API 2.1, section 4.2.5.5.


class MatrixReshape(StoredMatrix):
    __slots__ = ()

    def resize(self, nrows: SupportsIndex, ncols: SupportsIndex) -> None:
        """Change the shape in place; entries beyond it are deleted."""
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        self._adopt(operations.assign_extract.place(self._store, 0, 0, *shape))

    def setdiag(
        self,
        values: ValuesLike,
        k: SupportsIndex | float = 0,
        *,
        mask: MaskArg = None,
        accum: OperatorArg = None,
        **opts: object,
    ) -> None:
        """Set diagonal k: to a scalar, to a list or array, or to a Vector, whose missing entries are deleted there
        unless there is an accumulator.

        mask: a Vector mask along the diagonal, or a Matrix mask. Raises IndexError for a diagonal that is outside,
        DimensionMismatch, TypeError.
        """
        check_options(opts)
        k, size = _diagonal(self, k)
        v = _diagonal_values(self, values, size)
        nrows, ncols = self.shape
        m = None if mask is None else _along(self, mask, k, size)
        to_write = v if m is None else v.dup(mask=m)
        D = to_write.diag(k)
        D.resize(nrows, ncols)
        if accum is None:
            inside = v.dup(bool, clear=True)
            for some in (self.diag(k), to_write):  # other positions are neither written nor deleted
                inside(some.S) << True
            deleted = (inside if m is None else inside.dup(mask=m)).diag(k)
            deleted.resize(nrows, ncols)
            self(deleted.S) << D
        else:
            self(D.S, accum) << D


def _diagonal(A: MatrixReshape, k: Any) -> tuple[int, int]:
    try:
        k = operator.index(int(k) if isinstance(k, float) and k.is_integer() else k)
    except TypeError:
        raise TypeError(f"k: expected an integer, got {k!r}") from None
    size = min(A.nrows + min(k, 0), A.ncols - max(k, 0))
    if size <= 0 and (k <= -A.nrows if k < 0 else 0 < k >= A.ncols):
        raise IndexError(f"k: expected a diagonal of a matrix of {A.nrows} x {A.ncols}, got {k}")
    return k, max(0, size)


def _diagonal_values(A: MatrixReshape, values: Any, size: int) -> Vector:
    if isinstance(values, Operand) and values.ndim:
        v: Vector = object_of(values, 1, "setdiag")
        if v.size != size:
            raise DimensionMismatch(f"values: expected a Vector of size {size}, that of the diagonal, got {v.size}")
        same_device("setdiag", A, v)
        check_cast(v.dtype, A.dtype)
        return v
    user_type = A.dtype if A.dtype._is_udt else None
    if user_type is not None and not several(values, user_type):
        return Vector.from_scalar(values, size, user_type, device=A.device)
    if isinstance(values, Operand):
        values = values._resolve()
    array, dtype = written_array(A.device, values, A.dtype)
    if isinstance(array, np.generic):
        return Vector.from_scalar(cast_scalar(array, dtype), size, dtype, device=A.device)
    if array.ndim != 1:
        raise TypeError(f"values: expected a scalar, a Vector or a list, got an array of shape {array.shape}")
    if len(array) != size:
        raise DimensionMismatch(f"values: expected {size} values, the length of the diagonal, got {len(array)}")
    return Vector.from_dense(array, dtype=dtype, device=A.device)


def _along(A: MatrixReshape, mask: MaskLike, k: int, size: int) -> Mask:
    """The mask as a Vector mask along diagonal k."""
    m = check(mask, getattr(mask, "ndim", 1))
    if m.ndim == 2:
        if m.shape != A.shape:
            raise DimensionMismatch(f"mask: expected shape {A.shape}, got {m.shape}")
        return Mask(m.parent.diag(k), m.structure, m.complement)
    if m.parent.size != size:
        raise DimensionMismatch(f"mask: expected size {size}, that of the diagonal, got {m.parent.size}")
    return m


# ---- The class Matrix.


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
    _write = staticmethod(assign_matrix.update_matrix)
    _write_part = staticmethod(assign_matrix.assign_matrix)

    def __init__(
        self,
        dtype: DTypeLike = FP64,
        nrows: SupportsIndex = 0,
        ncols: SupportsIndex = 0,
        *,
        name: str | None = None,
        device: DeviceArg = None,
        format: str | None = None,
        tile: int | None = None,
        packed: bool | None = None,
    ) -> None:
        self._layout = check_storage_options(format, tile, packed)
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        empty = operations.ewise_matrix.empty(device_of(device), *shape, dtypes.lookup_dtype(dtype))
        self._data = operations.convert.with_format(empty, *self._layout[:2]) if self._layout.asks else empty
        self._pending = Writes()
        self.name = named(name)
        if recording.threads and recording.recorder is not None and recording.recorder.takes(self):
            recording.recorder.created(self)

    @classmethod
    def _computed(
        cls, expr: MatrixExpression, dtype: DataType | None = None, mask: MaskArg = None, name: str | None = None
    ) -> Matrix:
        """A new Matrix with the result of an expression."""
        kind, m = expr.dtype if dtype is None else dtype, None if mask is None else check(mask, 2)
        if (
            expr._value is None
            and (m is None or expr.masked)
            and not (recording.threads and recording.recorder is not None)
        ):  # the new Matrix becomes the result
            name = named(name)
            return cls._from_store(computed(expr, lambda: assign_matrix.compute(expr, kind, m), name, m), name)
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

    def _keep(self, key: Hashable, make: Callable[[Matrix], Any], *, chosen: bool = True) -> Any:
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
            result = store.prepared[key] = make(twin)
            if isinstance(result, Matrix):  # keeps the Layout of self: it is not converted for products with vectors
                result._layout = StorageOptions(result.format)
        return store.prepared[key]

    def clear(self) -> None:
        """Delete all entries."""
        if recording.threads and recording.recorder is not None:
            recording.recorder.cleared(self)
            return
        self._adopt(self._empty_store())


enter(Matrix)
foreign_names.add_foreign_names(Matrix, foreign_names.MATRIX)
