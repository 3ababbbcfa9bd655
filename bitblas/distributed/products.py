"""Delayed expressions of distributed objects, and the products A.mxv(v) and v.vxm(A).

Communication happens when a statement runs, in the same order on all ranks; the remaining work is a statement on this
rank's share. If this rank's rows are rows of the result, a product gathers the vector; otherwise each rank's
contribution to the whole result is sent to its owners and combined. Both send the same amount; the first uses the mask.
Positional operators (rowindex, colindex, ..) are adjusted, because the first row of a share is not row 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np

from semirings import Typed, dtypes, indexunary, monoid
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import INT64, DataType
from semirings.expressions import names_in

from ..core import Matrix, Vector
from ..core import explain as plan_of
from ..core.operators import find, typed
from ..core.options import check_options
from ..core.statement.expressions import Expression
from ..core.statement.infix import Delayed, Operand, describe
from ..core.statement.masks import Mask
from ..exceptions import DimensionMismatch, NotImplementedException
from ..operations.permute import OF_RESULT, SUMMED
from ..plan.direction import DistributedFacts, distributed_direction
from . import exchange, loops, work_sharing
from .start import current

if TYPE_CHECKING:
    from ..core import Matrix as WholeMatrix
    from ..core import Vector as WholeVector
    from ..core.matrix.read import TransposedMatrix
    from ..core.statement.expressions import VectorExpression
    from ..core.statement.indexing import IndexExpr
    from ..core.typing import DTypeArg, MaskArg, OperandArg, OperandLike, OperatorLike
    from .matrix import MatrixRead
    from .vector import Vector as DistributedVector

    Local: TypeAlias = Expression | IndexExpr | WholeMatrix | WholeVector

# The distributed Vector and Matrix classes by number of dimensions; each registers itself.
classes_by_ndim: dict[int, Any] = {}
Result = TypeVar("Result")

# ---- Delayed expressions of distributed objects.


class DistributedExpression(Expression[Result]):
    """A delayed distributed Vector or Matrix.

    local(): this rank's share, a bitblas object or expression on one device. shape: of the whole.
    """

    __slots__ = ("local", "ndim", "shape")
    ndim: int
    shape: tuple[int, ...]

    def __init__(
        self,
        shape: tuple[int, ...],
        method: str,
        args: tuple[Any, ...],
        op: Typed | None,
        local: Callable[[], Local],
        dtype: DataType | None = None,
    ) -> None:
        super().__init__(method, args, op, local, dtype)
        self.shape, self.ndim, self.local = shape, len(shape), local

    @property
    def size(self) -> int:
        return self.shape[0]

    @property
    def nrows(self) -> int:
        return self.shape[0]

    @property
    def ncols(self) -> int:
        return self.shape[1]

    def new(self, dtype: DTypeArg = None, *, mask: MaskArg = None, name: str | None = None, **opts: object) -> Result:
        """Compute into a new object, of `dtype` if given; with `mask` (of the same shape), only where the mask
        allows."""
        check_options(opts)
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        if mask is None and self._value is not None and self._value.dtype is kind:
            value, self._value = self._value, None
            return value
        return classes_by_ndim[self.ndim]._computed(self, kind, mask, name)

    def reduce_rowwise(self, op: OperatorLike = monoid.plus) -> DistributedExpression[DistributedVector]:
        """The monoid's sum of each row; that of a product is not stored."""
        if self.method != "mxm" or self._value is not None:
            return self._resolve().reduce_rowwise(op)
        dtype = Matrix(self.dtype, 1, 1).reduce_rowwise(op).dtype

        def of_share() -> Local:
            product: Any = self.local()
            return product.reduce_rowwise(op)

        return DistributedExpression((self.shape[0],), "reduce_rowwise", (self,), None, of_share, dtype)

    def _resolve(self) -> Any:
        if self._value is None:
            self._value = classes_by_ndim[self.ndim]._computed(self, self.dtype)
        return self._value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(classes_by_ndim[self.ndim], name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._resolve(), name)


def part_of(mask: Mask) -> Mask:
    """This rank's share of a mask."""
    return Mask(mask.parent._rows()._part, mask.structure, mask.complement)


# ---- Positional operators (rowindex, colindex, ..) on a share, whose first row is not row 0.

# For an operator's text, the sign of LOW that turns a thunk t on the whole into the thunk on a share: t + LOW, t - LOW.
SHIFTS = {
    "plus(ix, t)": 1,
    "ix > t": -1,
    "ix <= t": -1,
    "minus(jx - ix, t)": 1,
    "jx - ix == t": 1,
    "jx - ix != t": 1,
    "jx - ix <= t": 1,
    "jx - ix >= t": 1,
}
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1  # range of thunks


def untyped_operator(op: OperatorLike) -> OperatorLike:
    return op.op if isinstance(op, Typed) else op


def thunk_on_share(op: OperatorLike, thunk: OperandArg, low: int, kind: str) -> OperandArg:
    """The thunk with which an IndexUnaryOp or SelectOp gives the same results on a share as on the whole. kind: the
    kind of operator that a text names."""
    if isinstance(op, str):
        try:
            op = find(op, kind)
        except ValueError:  # a name of another kind of operator
            return thunk
    expr = getattr(untyped_operator(op), "expr", None)
    if not isinstance(expr, str):
        return _refuse(op) if getattr(untyped_operator(op), "positional", False) else thunk
    if "ix" not in names_in(expr):
        return thunk
    if expr not in SHIFTS:
        return _refuse(op)
    value: Any = 0 if thunk is None else thunk._resolve().value if isinstance(thunk, Operand) else thunk
    if value is None or not isinstance(value, (int, np.integer)):
        return thunk if value is None else value + SHIFTS[expr] * low
    # Python integers, so that no rank overflows: thunks of comparisons are clamped, sums wrap as on one device.
    shifted = int(value) + SHIFTS[expr] * low
    if expr.startswith(("plus", "minus")):
        return (shifted - LOWEST) % (1 << 64) + LOWEST
    return min(max(shifted, LOWEST), HIGHEST)


def check_nonpositional(op: OperatorLike) -> OperatorLike:
    """Check that an operator reads no positions."""
    return _refuse(op) if getattr(untyped_operator(op), "positional", False) else op


def _refuse(op: OperatorLike) -> NoReturn:
    raise NotImplementedException(f"{op!r}: this use of positions is not supported on distributed objects")


def check_product(f: Typed, flip: bool) -> None:
    """Check that a product does not read the row number of the result, which a share counts from its own first row."""
    if OF_RESULT[flip] in names_in(f.op.binaryop.expr):
        _refuse(f)


def summed_position_by_value(part: Vector, f: Typed, low: int, flip: bool) -> tuple[Vector, Typed]:
    """Rewrite a product by the summed position as a product by value: the value at each position is its number."""
    expr = f.op.binaryop.expr
    base = expr.removesuffix(" + 1")
    if not f.op.is_positional or base not in SUMMED:
        return part, f
    numbers = part.apply(indexunary.index[INT64], low + (expr != base)).new()
    return numbers, compose(f.op.monoid, BINARY["first" if flip else "second"])[INT64]


# ---- Distributed A.mxv(v) and v.vxm(A): gather the vector, or combine contributions to the result.


def multiply_vector(
    matrix: OperandLike | MatrixRead, vector: OperandLike, op: OperatorLike, method: str
) -> DistributedExpression[DistributedVector]:
    """Check sizes and operator of a product: DimensionMismatch unless inner sizes agree; TypeError, KeyError for op."""
    if not isinstance(matrix, Operand) or matrix.ndim != 2 or not hasattr(matrix._resolve(), "_mirror"):
        raise TypeError(f"{method}: expected a distributed Matrix, got {describe(matrix)}")
    if not isinstance(vector, Operand) or vector.ndim != 1 or not hasattr(vector._resolve(), "shares"):
        raise TypeError(f"{method}: expected a distributed Vector, got {describe(vector)}")
    A, v = matrix._resolve(), vector._resolve()
    flip = method == "vxm"
    size, inner = (A.ncols, A.nrows) if flip else A.shape
    if v.size != inner:
        raise DimensionMismatch(f"{method}: expected a vector of size {inner} for {A.nrows} x {A.ncols}, got {v.size}")
    f: Typed = typed(op, "semiring", v.dtype, A.dtype) if flip else typed(op, "semiring", A.dtype, v.dtype)
    check_product(f, flip)
    args = (vector, matrix) if flip else (matrix, vector)
    return DistributedExpression((size,), method, args, f, lambda: _product(A, v, f, flip), f.return_type)


class ProductPlan(NamedTuple):
    """How a distributed product is computed."""

    gathers: bool  # gather the vector; otherwise distribute and combine what this rank's rows contribute
    values: bool  # whether the vector's values are read
    reason: str


def plan_product(A: MatrixRead, v: DistributedVector, f: Typed, flip: bool) -> ProductPlan:
    """Choose how to compute a product. A collective: decides by facts that the ranks exchange."""
    M, read = A._matrix, names_in(f.op.binaryop.expr)
    of_vector, of_matrix = ("x", "y") if flip else ("y", "x")
    reads, values = of_vector in read, of_matrix in read
    if current().size == 1:
        return ProductPlan(True, reads, "a single rank")
    # Whether this rank's rows are rows of the result: those of A, or of A' if it is the same; otherwise columns.
    rows = A._transposed == flip
    known = M._known.get("symmetric values" if values else "symmetric")
    same = bool(known) if rows else M.is_symmetric(values=values)
    facts = DistributedFacts(
        entries=v._shared_facts().entries,
        size=v.size,
        rows_of_result=rows,
        symmetric=same,
        may_push=not A.device.host_memory,
    )
    found = distributed_direction(facts)
    return ProductPlan(not found.push, reads, found.why)


def _symbolic_product(A: MatrixRead, v: DistributedVector, f: Typed, flip: bool) -> VectorExpression:
    """In symbolic execution: along the rows of the result, which the transposed matrix has if A has not."""
    M, rows = A._matrix, A._transposed == flip
    read = names_in(f.op.binaryop.expr)
    with loops.recording_paused():
        M = M if rows or M.is_symmetric(values=("y" if flip else "x") in read) else M._mirror()
    return _multiply(M._part.T if flip else M._part, loops.gather_vector(v._part, v.shares), f, flip)


def _product(A: MatrixRead, v: DistributedVector, f: Typed, flip: bool) -> Local:
    if loops.is_recording() and current().size > 1:
        return _symbolic_product(A, v, f, flip)
    how = plan_product(A, v, f, flip)
    found = _local_product(A, v, f, flip, how)
    if how.gathers:
        return found
    return exchange.sum_vectors(found.new(), A._matrix.column_shares, f.op.monoid[found.dtype])


def _local_product(A: MatrixRead, v: DistributedVector, f: Typed, flip: bool, how: ProductPlan) -> VectorExpression:
    """This rank's computation, delayed: its share of the result, or its rows' contribution to the whole result."""
    part = A._matrix._part
    if current().size == 1:
        return _multiply(part.T if A._transposed else part, v._part, f, flip)
    if how.gathers:
        whole = v._gathered(how.values)
        return _multiply(part.T if flip else part, whole, f, flip)
    u, g = summed_position_by_value(v._part, f, v.shares.low, flip)
    return _multiply(part if flip else part.T, u, g, flip)


def _multiply(N: WholeMatrix | TransposedMatrix, u: Vector, f: Typed, flip: bool) -> VectorExpression:
    return u.vxm(N, f) if flip else N.mxv(u, f)


def explain(expr: Delayed | MatrixRead, algorithm: Callable[..., object] | None = None) -> str:
    """Explain how `A.mxv(v)` or `v.vxm(A)` is distributed and why, with the plan of this rank's part; for a distributed
    Matrix, how ranks run an algorithm on it, such as `algorithms.bfs_levels`, why, and in which predicted times. Called
    by every rank."""
    ranks = current().size
    if (matrix := getattr(expr, "_matrix", None)) is not None:
        choice = "a single rank" if ranks == 1 else work_sharing.plan(matrix, algorithm)
        name = "an algorithm" if algorithm is None else algorithm.__name__
        return f"{name}({matrix.name}) on {ranks} rank{'s' * (ranks > 1)}: {choice}"
    expr = expr._to_expr() if hasattr(expr, "_to_expr") else expr
    if not isinstance(expr, DistributedExpression) or expr.method not in ("mxv", "vxm"):
        raise TypeError(f"explain: expected A.mxv(v) or v.vxm(A) of distributed objects, got {describe(expr)}")
    flip, f = expr.method == "vxm", expr.op
    assert f is not None  # products have an operator
    v, A = (x._resolve() for x in (expr.args if flip else expr.args[::-1]))
    how = plan_product(A, v, f, flip)
    M = A._matrix
    size = v.size if how.gathers else M.ncols
    facts = v._shared_facts()
    bits = size // 8 if 0 < facts.entries < v.size or not how.gathers else 0
    value_bytes = v.dtype.np_type.itemsize * size if how.values and facts.one is None and facts.entries else 0
    sent = (ranks - 1) * (bits + value_bytes) // ranks
    plan = plan_of(_local_product(A, v, f, flip, how))
    return f"{expr.method} on {ranks} ranks: {how.reason}; about {sent} bytes per rank\nthis rank: {plan}"
