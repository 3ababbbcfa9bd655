"""The class Matrix, with the methods that change its size, a diagonal or its vertex order, and A.profile."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy as np

from semirings import dtypes
from semirings.dtypes import FP64, DataType, cast_scalar, check_cast

from ... import device as devices
from ... import foreign_names, operations
from ...config import config
from ...device import Device
from ...exceptions import DimensionMismatch, InvalidValue
from ...formats.contract import CSR
from ...formats.packing import PackedValues
from ...order import Order, order_of
from ...store import MatrixStore
from .. import assign
from ..building import restored
from ..convert import check_size, device_of, index_array, pickled, same_device, written_array
from ..hooks import late
from ..hooks import state as recording
from ..options import StorageOptions, check_options, check_storage_options
from ..statement.expressions import enter
from ..statement.infix import Operand, object_of
from ..statement.masks import Mask, check
from ..statement.running import computed, guarded
from ..statement.scalar_operands import several
from ..vector import Vector
from .build import MatrixBuild
from .read import TransposedMatrix
from .save_load import MatrixFile
from .stored import Writes, named

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from typing_extensions import Self

    from ...operations.row_sample import RowProfile
    from ...operations.virtual_nodes import VirtualNodes
    from ...plan.profile import Orders, Profile
    from ..statement.expressions import MatrixExpression
    from ..typing import Array, DeviceArg, DTypeLike, IndicesLike, MaskArg, MaskLike, OperatorArg, ValuesLike


class Matrix(MatrixBuild, MatrixFile, metaclass=foreign_names.Hinted):
    """Matrix(dtype=FP64, nrows=0, ncols=0): a sparse matrix without entries. GraphBLAS C API 2.1, section 3.8.2.

    Parameters
    ----------
    format : optional
        "auto", "csr", "mplg", "nib", "cgr", "cr2", "b2sr" with a `tile` of 4, 8, 16, 32 or 64, "split"
        with one of 4, 8 or 16 (or that of the fewest bytes), "hyper", or "bitmap": the stored format,
        which results assigned to it take too.
    packed : optional
        Whether values that differ are bit-packed (True; InvalidValue unless they are integers of a
        range below 2**32), stored as an array of their type (False), or as `config.prefer` says (None).

    Raises
    ------
    TypeError
        dtype.
    InvalidValue
        Sizes.
    ValueError
        format.
    DeviceError
    OutOfMemory
    """

    __slots__ = ()
    _mask_ranks = (1, 2)
    _write = staticmethod(assign.update_matrix)
    _write_part = staticmethod(assign.assign_matrix)

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
            return cls._from_store(computed(expr, lambda: assign.compute(expr, kind, m), name, m), name)
        if expr.method == "mxm" and recording.threads and recording.recorder is not None:
            symbolic: Matrix | None = recording.recorder.map_product(expr, kind, m, name)
            if symbolic is not None:
                return symbolic
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
        """A copy on another device; the object itself if it is already there.

        Parameters
        ----------
        device : str
            "cpu", "cuda" or "cuda:1".

        Returns
        -------
        Matrix
            On that device.

        Raises
        ------
        ValueError
            An unknown device.
        DeviceError
            The device is not available.
        """
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

    # ---- size and diagonal. resize: GraphBLAS C API 2.1, section 4.2.5.5 ----

    def resize(self, nrows: SupportsIndex, ncols: SupportsIndex) -> None:
        """Change the shape in place; entries beyond it are deleted.

        Parameters
        ----------
        nrows, ncols : int
            At least 0.

        Raises
        ------
        TypeError
            A size is no integer.
        InvalidValue
            A size is below 0.
        """
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

        Parameters
        ----------
        mask : optional
            A Vector mask along the diagonal, or a Matrix mask.

        Raises
        ------
        IndexError
            For a diagonal that is outside.
        DimensionMismatch
        TypeError
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

    # ---- vertex order, planner ----

    @property
    def order(self) -> Array | None:
        """The permutation in which rows and columns are stored (INT64: order[stored position] = user's index); None for
        the user's numbering."""
        return None if self._order is None else self._order.perm.astype(np.int64)

    @guarded
    def reorder(self, order: str | IndicesLike | None, *, name: str | None = None) -> Self:
        """The same entries, stored in another order of the vertices: rows and columns are permuted alike.

        Parameters
        ----------
        order
            "degree", "bfs", "rcm", "community", "llp" or "gorder" (bitblas.reorder computes them); a
            permutation of 0 .. n - 1 with order[new] = old; None for the user's numbering. Nothing that is
            read from the result changes: its indices are the user's.

        Raises
        ------
        DimensionMismatch
            A is not square.
        InvalidValue
            No permutation, unknown name.
        ValueError
        """
        found = self._order_named("reorder", order)
        layout = self._layout
        return type(self)._from_store(operations.permute.matrix_in(self._stored, found, *layout[:2]), name, layout)

    @guarded
    def prepare(self, use: str) -> Self:
        """Hint that products of this kind will be repeated, and return A: what makes them faster is built by the first
        one, instead of after as many as amortize it.

        Parameters
        ----------
        use
            "sums": products with vectors that have all entries, over plus, min or max and other numeric
            monoids except `any`, as in PageRank. On a GPU a large matrix in format "csr" whose rows have very
            different lengths, or columns near the diagonal, gets a copy for them, next to its rows, which
            searches read: 2 to 4 bytes per entry; if values differ 4 more, and the values. The matrix then
            keeps its format. `bitblas.explain` says whether a product reads the copy, or why not; `memory` lists it.
            Other matrices, and the CPU, have no such copy.

        Raises
        ------
        InvalidValue
            Unknown name.
        """
        if use != "sums":
            raise InvalidValue(f"use: expected 'sums', got {use!r}")
        from ...plan.format_choice import keep_format

        A = self._stored
        if A.device.is_simt and A.structure.primary.key == CSR:
            A.structure.sums_credit = math.inf
            keep_format(A.structure, A.iso)
            A.prepared.clear()
        return self

    if TYPE_CHECKING:

        @overload
        def profile(self, *, measure: bool = False, orders: Literal[False] = False) -> Profile: ...
        @overload
        def profile(self, *, measure: bool = False, orders: Literal[True] | Sequence[str]) -> Orders: ...
        @overload
        def profile(self, *, virtual_nodes: Literal[True]) -> VirtualNodes: ...
        @overload
        def profile(self, *, rows: int) -> RowProfile: ...

    def profile(
        self,
        *,
        measure: bool = False,
        orders: bool | Sequence[str] = False,
        virtual_nodes: bool = False,
        rows: int | None = None,
    ) -> Any:
        """The planner's predictions for every stored format: bytes, and microseconds of Boolean mxv, plus_second mxv
        and breadth-first search (min_plus mxv if values differ); and its choice, with when that will be built if A has
        another format now. A is unchanged. Prints as a table.

        Parameters
        ----------
        measure : optional
            Also measure the predicted times on the device, in every format, and report how good the choice
            is.
        orders : optional
            The same under each order of `bitblas.reorder`, or under those named, with the best pair of
            order and format, the share of each format's bytes that an order saves, and the seconds that
            finding it took. This computes the orders and sorts the entries by each, which takes as long as
            `reorder` does (by far the longest for "llp"); for large A the bytes are estimated from a sample
            of entries. A is unchanged.
        virtual_nodes : optional
            Instead, the bytes if rows with common columns share a virtual node that has them: A = R or L V,
            mined on the host (0.1 to 0.3 us an entry), stored by format="virtual"; A is unchanged.
        rows : optional
            Instead, the estimate of Bit-GraphBLAS (Algorithm 1) from so many random rows, entries per
            nonempty bit row of tiles of 4 to 32, next to the estimate of tiles from sampled entries.

        Raises
        ------
        DimensionMismatch
            orders of a matrix that is not square.
        InvalidValue
            Two of them, unknown name, virtual nodes of a matrix whose values differ, rows below 1 or above
            nrows.
        TypeError
            rows is no integer.
        """
        with self.device.guard:
            return self._profile(measure, orders, virtual_nodes, rows)

    def _profile(self, measure: bool, orders: bool | Sequence[str], virtual_nodes: bool, rows: int | None) -> Any:
        from ...plan import profile as plan_profile

        if rows is not None:
            if measure or orders or virtual_nodes:
                raise InvalidValue("profile: expected rows alone; A.reorder(order).profile(rows=N)")
            from ...operations.row_sample import row_profile

            return row_profile(self._stored, check_size("rows", rows))
        if measure and orders:
            raise InvalidValue("profile: expected measure or orders, got both; A.reorder(order).profile(measure=True)")
        if virtual_nodes:
            if measure or orders:
                raise InvalidValue(
                    "profile: expected virtual_nodes alone; A.reorder(order).profile(virtual_nodes=True)"
                )
            from ...operations.virtual_nodes import virtual_nodes as found

            return found(self._stored)
        if measure:
            return late["measured"]()(self, plan_profile.profile(self._stored, asked=self._layout.asks))
        if not orders:
            return plan_profile.profile(self._stored, asked=self._layout.asks)
        stores, seconds = {plan_profile.AS_IT_IS: self._stored}, {}
        for order in late["orders"]() if orders is True else orders:
            begin = time.perf_counter()
            found_order = self._order_named("profile", order)
            self.device.synchronize()
            seconds[order] = time.perf_counter() - begin
            stores[order] = operations.permute.matrix_in(self._stored, found_order, "csr")
        return plan_profile.orders(stores, self.device.kind, seconds)

    def spy(self, **options: Any) -> Any:
        """A picture of the positions of the entries: `bitblas.plots.spy`.

        Parameters
        ----------
        options : optional
            Those of `bitblas.plots.spy`.

        Returns
        -------
        matplotlib.figure.Figure
            Which a notebook shows.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        return late["plots"]().spy(self, **options)

    def _order_named(self, verb: str, order: str | IndicesLike | None) -> Order | None:
        """A name or a permutation as an Order of this device."""
        if self.nrows != self.ncols:
            raise DimensionMismatch(
                f"{verb}: expected a square matrix, whose rows and columns are the same vertices, got {self.shape}; "
                "A[rows, columns] permutes the two by themselves"
            )
        if isinstance(order, str):
            known = late["orders"]()
            if order not in known:
                names = ", ".join(map(repr, known))
                raise InvalidValue(f"order: expected {names} or a permutation, got {order!r}")
            order = known[order](self)
        return None if order is None else order_of(self.device, permutation(self.device, order, self.nrows))

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


def _diagonal(A: Matrix, k: Any) -> tuple[int, int]:
    try:
        k = operator.index(int(k) if isinstance(k, float) and k.is_integer() else k)
    except TypeError:
        raise TypeError(f"k: expected an integer, got {k!r}") from None
    size = min(A.nrows + min(k, 0), A.ncols - max(k, 0))
    if size <= 0 and (k <= -A.nrows if k < 0 else 0 < k >= A.ncols):
        raise IndexError(f"k: expected a diagonal of a matrix of {A.nrows} x {A.ncols}, got {k}")
    return k, max(0, size)


def _diagonal_values(A: Matrix, values: Any, size: int) -> Vector:
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


def _along(A: Matrix, mask: MaskLike, k: int, size: int) -> Mask:
    """The mask as a Vector mask along diagonal k."""
    m = check(mask, getattr(mask, "ndim", 1))
    if m.ndim == 2:
        if m.shape != A.shape:
            raise DimensionMismatch(f"mask: expected shape {A.shape}, got {m.shape}")
        return Mask(m.parent.diag(k), m.structure, m.complement)
    if m.parent.size != size:
        raise DimensionMismatch(f"mask: expected size {size}, that of the diagonal, got {m.parent.size}")
    return m


def permutation(device: Device, data: IndicesLike, n: int) -> Array:
    """`data` as an INT64 array of the device. InvalidValue unless it contains each of 0 .. n - 1 once."""
    perm = index_array(device, data, "order")
    hint = "order[new] = old contains each index once"
    if len(perm) != n:
        raise InvalidValue(f"order: expected a permutation of the {n} numbers 0 .. {n - 1}, got {len(perm)}; {hint}")
    if not n:
        return perm
    low, high = int(perm.min()), int(perm.max())
    if low < 0 or high >= n:
        raise InvalidValue(f"order: expected numbers from 0 to {n - 1}, got {low if low < 0 else high}; {hint}")
    found = device.xp.zeros(n, bool)
    found[perm] = True
    if not bool(found.all()):
        missing = int(device.xp.argmin(found))
        raise InvalidValue(f"order: expected a permutation of 0 .. {n - 1}, got one without {missing}; {hint}")
    return perm


enter(Matrix)
foreign_names.add_foreign_names(Matrix, foreign_names.MATRIX)
