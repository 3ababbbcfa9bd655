"""A.mxv(v) and v.vxm(A) in shares: the vector is gathered where the rows of the result are here, else what this rank's
rows give to all of the result is dealt out and joined. Both send as much; the first honours the mask."""

from __future__ import annotations

from typing import Any

from semirings import Typed
from semirings.expressions import names_in

from ..core.operators import typed
from ..core.statement.operand import Operand, describe
from ..exceptions import DimensionMismatch
from . import exchange
from .expr import SharedExpression
from .positions import by_value, check_product
from .start import current

# Of so many positions one has an entry: below, each rank pushes along its own rows of a symmetric matrix, and what that
# gives is joined; else the vector is gathered, and each rank pulls along its rows. A pull reads the rows of all that is
# not found yet, and a push those of the entries, which are longer than others.
FEW = 64


def multiply_vector(matrix: Any, vector: Any, op: Any, method: str) -> SharedExpression:
    """DimensionMismatch unless the inner sizes are the same; TypeError, KeyError for op."""
    if not isinstance(matrix, Operand) or matrix.ndim != 2 or not hasattr(matrix._resolve(), "_mirror"):
        raise TypeError(f"{method}: expected a Matrix in shares, got {describe(matrix)}")
    if not isinstance(vector, Operand) or vector.ndim != 1 or not hasattr(vector._resolve(), "shares"):
        raise TypeError(f"{method}: expected a Vector in shares, got {describe(vector)}")
    A, v = matrix._resolve(), vector._resolve()
    flip = method == "vxm"
    size, inner = (A.ncols, A.nrows) if flip else A.shape
    if v.size != inner:
        raise DimensionMismatch(f"{method}: expected a vector of size {inner} for {A.nrows} x {A.ncols}, got {v.size}")
    f: Typed = typed(op, "semiring", v.dtype, A.dtype) if flip else typed(op, "semiring", A.dtype, v.dtype)
    check_product(f, flip)
    args = (vector, matrix) if flip else (matrix, vector)
    return SharedExpression((size,), method, args, f, lambda: _product(A, v, f, flip), f.return_type)


def _product(A: Any, v: Any, f: Typed, flip: bool) -> Any:
    M, read = A._matrix, names_in(f.op.binaryop.expr)
    of_vector, of_matrix = ("x", "y") if flip else ("y", "x")
    values = of_matrix in read
    if current().size == 1:
        N = M._part.T if A._transposed else M._part
        return v._part.vxm(N, f) if flip else N.mxv(v._part, f)
    # Whether this rank's rows are rows of the result: those of A, or of A' where that is the same; else columns.
    rows = A._transposed == flip
    same = M.known_symmetric(values=values) if rows else M.is_symmetric(values=values)
    if (rows or same) and not (same and v._told().count * FEW < v.size):
        whole = exchange.gathered(v._part, v.shares, v._told(), values=of_vector in read)
        if flip:
            return whole.vxm(M._part.T, f)
        return M._part.mxv(whole, f)
    part, g = by_value(v._part, f, v.shares.low, flip)
    partial = (part.vxm(M._part, g) if flip else M._part.T.mxv(part, g)).new()
    return exchange.joined(partial, M.column_shares, g.op.monoid[g.return_type])
