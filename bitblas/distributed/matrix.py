"""A distributed Matrix: each rank stores a block of rows, as a bitblas Matrix in any format.

Symmetry is tested without the transpose: hashes of the indices (and values) of all entries, and of their mirror images,
must have the same sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

import numpy as np

from semirings import monoid, semiring
from semirings.dtypes import FP64, DataType

from .. import tuning
from ..core import Matrix as Whole
from ..core import aggregators
from ..core.convert import check_size
from ..core.operators import typed
from ..core.options import check_options
from ..core.statement.expressions import Expression, ScalarExpression
from ..core.statement.indexing import Axis, IndexExpr, parse
from ..core.statement.infix import Operand, Operators, describe
from ..device import Device
from ..exceptions import DimensionMismatch
from ..store import MatrixStore
from ..typing import Array
from . import exchange, loops, replicated, shares
from .building import MatrixBuild
from .expressions import DistributedExpression, classes_by_ndim
from .products import check_product, multiply_vector
from .shares import Shares
from .start import current, rank_device
from .vector import Vector

if TYPE_CHECKING:
    from types import ModuleType

    from typing_extensions import Self, Unpack

    from ..core import Vector as WholeVector
    from ..core.typing import Axes, DeviceArg, DTypeArg, DTypeLike, MaskArg, OperandLike, OperatorLike
    from .building import LayoutOptions
    from .expressions import Local

Fact = TypeVar("Fact")

# ---- Test whether a distributed matrix is symmetric.

FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # constants of splitmix64's finalizer


def equals_transpose(A: Matrix, values: bool) -> bool:
    """values: whether values are compared too."""
    part, low = A._part, A.shares.low
    if values and A._shared_facts().one is not None:  # one value for all entries
        return True
    i, j, x = part.to_coo(values=values)
    total, chunk = np.uint64(0), tuning.count("symmetry.chunk")
    with np.errstate(over="ignore"):
        for at in range(0, len(i), chunk):
            rows = _hash(i[at : at + chunk] + np.uint64(low))
            columns = _hash(j[at : at + chunk])
            more = np.uint64(1) if x is None else _hash(_bits(x[at : at + chunk])) | np.uint64(1)
            total += np.uint64(int(((_hash(rows + columns * 3) - _hash(columns + rows * 3)) * more).sum()))
        sums = current().gather_host(np.array([total]))
        return int(sums.sum(dtype=np.uint64)) == 0


def _hash(x: Array) -> Array:
    x = x * np.uint64(FACTORS[0])
    x = (x ^ (x >> np.uint64(30))) * np.uint64(FACTORS[1])
    return x ^ (x >> np.uint64(27))


def _bits(x: Array) -> Array:
    """Values as 64-bit numbers, equal if the values are; both zeros are equal."""
    if x.dtype.kind == "c":
        return _bits(x.real) * np.uint64(3) + _bits(x.imag)
    x = x + x.dtype.type(0) if x.dtype.kind == "f" else x
    return x.astype(np.float64).view(np.uint64) if x.dtype.kind == "f" else x.astype(np.uint64)


# ---- Read-only operations of a distributed Matrix and its transpose: products, reductions, extraction.


class MatrixRead:
    """Operations that a distributed Matrix and TransposedMatrix share."""

    __slots__ = ()
    _transposed: bool

    if TYPE_CHECKING:

        @property
        def _matrix(self) -> Matrix: ...
        def _rows(self) -> Matrix: ...

    @property
    def nrows(self) -> int:
        return self.shape[0]

    @property
    def ncols(self) -> int:
        return self.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        M = self._matrix
        nrows, ncols = M.shares.size, M._part.ncols
        return (ncols, nrows) if self._transposed else (nrows, ncols)

    @property
    def dtype(self) -> DataType:
        return self._matrix._part.dtype

    @property
    def device(self) -> Device:
        """The device of this rank's share."""
        return self._matrix._part.device

    def mxv(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> DistributedExpression[Vector]:
        """The product with a Vector, as a column."""
        return multiply_vector(self, other, op, "mxv")

    def mxm(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> DistributedExpression[Matrix]:
        """The matrix product: this rank's rows of self times all of the other matrix, which is gathered."""
        B = other._resolve() if isinstance(other, Operand) and other.ndim == 2 else None
        if not isinstance(B, (Matrix, TransposedMatrix)):
            raise TypeError(f"mxm: expected a distributed Matrix, got {describe(other)}")
        if self.ncols != B.nrows:
            raise DimensionMismatch(f"mxm: expected equal inner sizes, got {self.shape} and {B.shape}")
        f = typed(op, "semiring", self.dtype, B.dtype)
        check_product(f, False)

        def local() -> Local:
            part, whole = self._rows()._part, B._matrix._gathered()
            return part.mxm(whole.T if B._transposed else whole, f)

        return DistributedExpression((self.nrows, B.ncols), "mxm", (self, other), f, local, f.return_type)

    def reduce_rowwise(self, op: OperatorLike = monoid.plus) -> DistributedExpression[Vector]:
        """The monoid's sum of each row that has entries. op may be an aggregator, such as `agg.mean`."""
        return self._reduce(op, "reduce_rowwise", self._transposed)

    def reduce_columnwise(self, op: OperatorLike = monoid.plus) -> DistributedExpression[Vector]:
        """The monoid's sum of each column that has entries. op may be an aggregator."""
        return self._reduce(op, "reduce_columnwise", not self._transposed)

    def _reduce(self, op: OperatorLike, method: str, columnwise: bool) -> DistributedExpression[Vector]:
        M = self._matrix
        size = M.ncols if columnwise else M.nrows
        dtype = M._part.reduce_rowwise(op).dtype
        if not columnwise:
            return DistributedExpression((size,), method, (self,), None, lambda: M._part.reduce_rowwise(op), dtype)
        if aggregators.find(op) is not None:
            local: Callable[[], Local] = lambda: M.T._rows()._part.reduce_rowwise(op)
        else:
            f = typed(op, "monoid", self.dtype)
            local = lambda: exchange.sum_vectors(M._part.reduce_columnwise(f).new(), M.column_shares, f)
        return DistributedExpression((size,), method, (self,), None, local, dtype)

    def reduce_scalar(self, op: OperatorLike = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's sum of all entries."""
        return self._matrix._reduce_to_scalar("reduce_scalar", op, allow_empty)

    def gathered(self) -> Whole:
        """The whole matrix, as a `bitblas.Matrix` of this rank's own."""
        found = self._matrix._gathered()
        return (found.T if self._transposed else found).dup()

    def to_coo(self, *, rows: bool = True, columns: bool = True, values: bool = True, share: bool = False) -> Any:
        """(rows, columns, values) of all entries, on every rank; with `share`, of this rank's entries."""
        M = self._matrix
        i, j, x = M._part.to_coo(values=values)
        i = i + np.uint64(M.shares.low)
        found = [i, j] if x is None else [i, j, x]
        if not share and current().size > 1:
            found = exchange.concatenate(found)
        if self._transposed:
            found[:2] = found[1::-1]
        return (found[0] if rows else None, found[1] if columns else None, found[2] if values else None)

    def __getitem__(self, key: Any) -> IndexExpr:
        return IndexExpr(self, parse(self, key))

    def _extract(self, axes: Axes) -> Expression:
        rows, columns = axes
        M = self._matrix
        if rows.size is None and columns.size is None:
            i, j = (columns.at, rows.at) if self._transposed else (rows.at, columns.at)
            return ScalarExpression("__getitem__", (M,), None, lambda mask: M._element(i, j), M.dtype)
        shape = tuple(a.size for a in axes if a.size is not None)

        def local() -> Local:
            A = self._rows()
            mine = [a.array(M.device) for a in axes]
            if rows.size is None:  # a row is gathered on all ranks
                at = shares.of(shape[0])
                return A._gathered()[rows.at, mine[1][at.low : at.high]].new()
            if rows.at is None:
                return A._part[:, columns.at if columns.size is None else mine[1]].new()
            to = shares.of(rows.size)
            return A._gathered()[mine[0][to.low : to.high], columns.at if columns.size is None else mine[1]].new()

        return DistributedExpression(shape, "__getitem__", (self,), None, local, M.dtype)


# ---- A distributed Matrix: each rank stores a block of rows, as a bitblas Matrix in any format.


class Matrix(MatrixRead, MatrixBuild):
    """Matrix(dtype=FP64, nrows=0, ncols=0): without entries. Methods have the semantics of `bitblas.Matrix`. Every rank
    calls them alike, and stores a block of rows, in the requested format."""

    __slots__ = ("_known",)
    ndim = 2
    _mask_ranks = (1, 2)
    _transposed = False
    _known: dict[Any, Any]  # facts derived from the contents, with the same keys on all ranks

    def __init__(
        self,
        dtype: DTypeLike = FP64,
        nrows: SupportsIndex = 0,
        ncols: SupportsIndex = 0,
        *,
        name: str | None = None,
        device: DeviceArg = None,
        **layout: Unpack[LayoutOptions],
    ) -> None:
        self.shares = shares.of(check_size("nrows", nrows))
        self._part = Whole(dtype, self.shares.mine, ncols, name=name, device=rank_device(device), **layout)
        self.name, self._known, self._known_facts = self._part.name, {}, None

    @classmethod
    def _of(cls, part: Whole | WholeVector, shares: Shares, name: str | None = None) -> Self:
        A = super()._of(part, shares, name)
        A._known = {}
        return A

    @property
    def _matrix(self) -> Matrix:
        return self

    @property
    def column_shares(self) -> Shares:
        """The partition of a row vector's positions."""
        return shares.of(self.ncols)

    @property
    def T(self) -> TransposedMatrix:
        """The transpose, not computed: products and reductions read the matrix transposed."""
        return TransposedMatrix(self)

    def _gathered(self, values: bool = True) -> Whole:
        """The whole matrix on every rank, read-only."""
        return exchange.gather_matrix(self._part, self.shares)

    def _cached(self, what: Hashable, make: Callable[[], Fact]) -> Fact:
        """Return make(), cached until the contents change.

        make() is often a collective, so its result must be cached on all ranks or on none: `_changes`, which every rank
        calls, drops it. A change of this rank's stored format does not.
        """
        if what not in self._known:
            self._known[what] = make()
        return self._known[what]

    def _changes(self) -> Whole:
        self._known = {}  # on all ranks, although a written entry belongs to one
        super()._changes()
        return self._part

    def _keep(self, key: Hashable, make: Callable[[Matrix], Fact], *, chosen: bool = True) -> Fact:
        """Return make(a matrix with the same contents), cached as long as the contents stay the same."""
        return self._cached(("kept", key), lambda: make(self._same_contents(chosen)))

    def _replicated_run(
        self, program: Callable[..., Fact], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Callable[[], Fact] | None:
        """How an algorithm runs if each rank has the whole matrix; None if ranks split it."""
        if current().size == 1 and not loops.is_recording():
            return lambda: replicated.run_on_single_rank(program, self, args, options)
        if replicated.why_replicated(self) is None:
            return None
        return lambda: replicated.run_replicated(program, self, args, options)

    def _same_contents(self, chosen: bool) -> Matrix:
        store = self._part._read(now=chosen)
        copy = MatrixStore(store.structure, store.dtype, store.raw, store.copies, order=store.order)
        twin: Matrix = type(self)._of(Whole._from_store(copy), self.shares)
        twin._known = {what: x for what, x in self._known.items() if what != "mirror" and not isinstance(what, tuple)}
        return twin

    def is_symmetric(self, *, values: bool = True) -> bool:
        """Whether it equals its transpose; without `values`, its structure. Computed once, by sums over all entries."""
        if self.nrows != self.ncols:
            return False
        self._shared_facts()  # waits for the other ranks here, with a timeout
        structure = self._cached("symmetric", lambda: equals_transpose(self, False))
        if not values or not structure:
            return bool(structure)
        return bool(self._cached("symmetric values", lambda: equals_transpose(self, True)))

    def known_symmetric(self, *, values: bool = True) -> bool:
        """Whether it is already known to be symmetric."""
        return bool(self._known.get("symmetric values" if values else "symmetric"))

    def _mirror(self) -> Matrix:
        """The transpose, distributed by rows; redistributed unless the matrix is symmetric."""

        def transpose() -> Matrix:
            one = self._shared_facts().one
            i, j, x = self.to_coo(values=one is None, share=True)
            values = x if one is None else one
            return type(self).from_coo(j, i, values, self.dtype, nrows=self.ncols, ncols=self.nrows, share=True)

        return self if self.is_symmetric() else self._cached("mirror", transpose)

    def _selected(self, x: Vector | Matrix, keep: Array, first: Axis) -> WholeVector | Whole:
        """This rank's part of an assigned object: all of a row, otherwise its elements or rows."""
        if isinstance(x, Vector):
            found = x._gathered()
            return found if first.size is None else found[keep.nonzero()[0]].new()
        return x._rows()._gathered()[keep.nonzero()[0], :].new()

    def _key(self, first: Array | int, axes: Axes) -> Any:
        columns = axes[1]
        if columns.at is None or columns.size is None:
            return first, slice(None) if columns.at is None else columns.at
        return first, columns.array(self.device)

    def _size_error(self, expected: tuple[int, ...], got: tuple[int, ...], what: str) -> str:
        return f"A[I, J] = x: expected {what}shape {expected}, got {got}"


class TransposedMatrix(MatrixRead, Operators):
    """A.T: the same matrix, read transposed."""

    __slots__ = ("__weakref__", "_matrix")
    ndim = 2
    _matrix: Matrix
    _transposed = True

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    # fmt: off
    @property
    def T(self) -> Matrix: return self._matrix
    @property
    def _library(self) -> ModuleType: return self._matrix._library
    @property
    def name(self) -> str: return f"{self._matrix.name}.T"
    @property
    def nvals(self) -> int: return self._matrix.nvals
    def known_symmetric(self, *, values: bool = True) -> bool:
        """Whether it is already known to be symmetric."""
        return self._matrix.known_symmetric(values=values)

    def _mirror(self) -> Matrix: return self._matrix
    def _rows(self) -> Matrix: return self._matrix._mirror()
    # fmt: on

    def is_symmetric(self, *, values: bool = True) -> bool:
        return self._matrix.is_symmetric(values=values)

    def new(self, dtype: DTypeArg = None, *, mask: MaskArg = None, name: str | None = None, **opts: object) -> Matrix:
        """The transpose as a Matrix."""
        check_options(opts)
        return self._rows().dup(dtype, mask=mask, name=name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Matrix, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._rows(), name)


classes_by_ndim[2] = Matrix
