"""Delayed expressions of distributed objects, and the products A.mxv(v) and v.vxm(A).

Communication happens when a statement runs, in the same order on all ranks; the remaining work is a statement on this
rank's share. A product gathers the vector, and each rank computes its rows of the result. If these are not its rows of
the matrix, the matrix is redistributed, once.
Positional operators (rowindex, colindex, ..) are adjusted, because the first row of a share is not row 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np

from semirings import Typed, dtypes, monoid
from semirings.dtypes import DataType
from semirings.expressions import names_in

from ..core import Matrix
from ..core import explain as plan_of
from ..core.operators import find, typed
from ..core.options import check_options
from ..core.statement.expressions import Expression
from ..core.statement.infix import Delayed, Operand, describe
from ..core.statement.masks import Mask
from ..exceptions import DimensionMismatch, NotImplementedException
from ..operations.permute import OF_RESULT
from . import work_sharing
from .start import current

if TYPE_CHECKING:
    from ..core import Matrix as WholeMatrix
    from ..core import Vector as WholeVector
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


# ---- Distributed A.mxv(v) and v.vxm(A): gather the vector.


def multiply_vector(
    matrix: OperandLike | MatrixRead, vector: OperandLike, op: OperatorLike, method: str
) -> DistributedExpression[DistributedVector]:
    """Check sizes and operator of a product: DimensionMismatch unless inner sizes agree; TypeError, KeyError for op."""
    if not isinstance(matrix, Operand) or matrix.ndim != 2 or not hasattr(matrix._resolve(), "_local"):
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


def _product(A: MatrixRead, v: DistributedVector, f: Typed, flip: bool) -> VectorExpression:
    """This rank's rows of the result: the rows of A, or of its transpose (which A may equal), times the vector."""
    read = names_in(f.op.binaryop.expr)
    of_vector, of_matrix = ("x", "y") if flip else ("y", "x")
    rows = (A.T if flip else A)._local(of_matrix in read)
    u = v._gathered(of_vector in read)
    return u.vxm(rows.T, f) if flip else rows.mxv(u, f)


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
    facts, read = v._shared_facts(), ("x" if flip else "y") in names_in(f.op.binaryop.expr)
    bits = v.size // 8 if 0 < facts.entries < v.size else 0
    value_bytes = v.dtype.np_type.itemsize * v.size if read and facts.one is None and facts.entries else 0
    sent = (ranks - 1) * (bits + value_bytes) // ranks
    how = "a single rank" if ranks == 1 else f"gather: {facts.entries} of {v.size} entries"
    plan = plan_of(_product(A, v, f, flip))
    return f"{expr.method} on {ranks} ranks: {how}; about {sent} bytes per rank\nthis rank: {plan}"
