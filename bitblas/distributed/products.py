"""Distributed A.mxv(v) and v.vxm(A): gather the vector, or combine contributions to the result.

If this rank's rows are rows of the result, the vector is gathered; otherwise each rank's contribution to the whole
result is sent to its owners and combined. Both send the same amount; the first uses the mask."""

from __future__ import annotations

from typing import Any, NamedTuple

from semirings import Typed
from semirings.expressions import names_in

from ..core import explain as plan_of
from ..core.operators import typed
from ..core.statement.operand import Operand, describe
from ..exceptions import DimensionMismatch
from . import alone, exchange, lists, loops
from .expr import SharedExpression
from .positions import by_value, check_product
from .start import current

# Of so many positions one has an entry: below, each rank pushes along its own rows of a symmetric matrix, and what that
# gives is joined; else the vector is gathered, and each rank pulls along its rows. A pull reads the rows of all that is
# not found yet; a push those of the entries, and the entries that a search finds first have by far the longest rows (on
# two H200s with 64, searches of Kronecker graphs pushed most edges, and took as long as on one). Within a host ranks on
# CPUs push nothing so: both ways send as many bytes, and joining costs more (two ranks, a grid of 1024 x 1024:
# 32 ms for 150 levels that gather, 48 to 57 with 4096 to 8 here; Kronecker graphs do not care).
FEW = 512


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


class Way(NamedTuple):
    """How a product goes in shares."""

    gathers: bool  # the vector; else what this rank's rows give is dealt out and joined
    values: bool  # whether the vector's values are read
    reason: str


def way(A: Any, v: Any, f: Typed, flip: bool) -> Way:
    """A collective: what the ranks have to tell each other decides."""
    M, read = A._matrix, names_in(f.op.binaryop.expr)
    of_vector, of_matrix = ("x", "y") if flip else ("y", "x")
    reads, values = of_vector in read, of_matrix in read
    if current().size == 1:
        return Way(True, reads, "one rank has all")
    # Whether this rank's rows are rows of the result: those of A, or of A' where that is the same; else columns.
    rows = A._transposed == flip
    same = M.known_symmetric(values=values) if rows else M.is_symmetric(values=values)
    some = f"{v._told().entries} of {v.size} entries"
    sparse = current().lists or not A.device.host_memory
    if same and sparse and v._told().entries * FEW < v.size:
        return Way(False, reads, f"pushed along own rows: {some} are few, the matrix is symmetric")
    if rows or same:
        return Way(True, reads, f"gathered: {some}, own rows are those of the result{', by symmetry' * (not rows)}")
    return Way(False, reads, "pushed along own rows, which are columns of the result; the matrix is not symmetric")


def _recorded(A: Any, v: Any, f: Typed, flip: bool) -> Any:
    """In a body that is written down: along the rows of the result, which the transposed matrix has where A has not."""
    M, rows = A._matrix, A._transposed == flip
    if current().size > 1:
        read = names_in(f.op.binaryop.expr)
        with loops.Unrecorded():
            M = M if rows or M.is_symmetric(values=("y" if flip else "x") in read) else M._mirror()
        return _times(M._part.T if flip else M._part, loops.gathered(v._part, v.shares), f, flip)
    return _times(M._part.T if A._transposed else M._part, v._part, f, flip)


def _product(A: Any, v: Any, f: Typed, flip: bool) -> Any:
    if loops.recorded():
        return _recorded(A, v, f, flip)
    how = way(A, v, f, flip)
    found = _local(A, v, f, flip, how)
    if how.gathers:
        return found
    return exchange.joined(found.new(), A._matrix.column_shares, found.op.op.monoid[found.dtype])


def _local(A: Any, v: Any, f: Typed, flip: bool, how: Way) -> Any:
    """What this rank computes, delayed: its share of the result, or what its rows give to all of it."""
    part = A._matrix._part
    if current().size == 1:
        return _times(part.T if A._transposed else part, v._part, f, flip)
    if how.gathers:
        whole = v._gathered(how.values)
        return _times(part.T if flip else part, whole, f, flip)
    u, g = by_value(v._part, f, v.shares.low, flip)
    return _times(part if flip else part.T, u, g, flip)


def _times(N: Any, u: Any, f: Typed, flip: bool) -> Any:
    return u.vxm(N, f) if flip else N.mxv(u, f)


def explain(expr: Any) -> str:
    """How `A.mxv(v)` or `v.vxm(A)` goes in shares, why, and the plan of this rank's part; of a Matrix in shares whether
    algorithms split it, and why. Every rank calls it."""
    if hasattr(expr, "_mirror") and expr.ndim == 2:
        return alone.text(expr._matrix)
    expr = expr._to_expr() if hasattr(expr, "_to_expr") else expr
    if not isinstance(expr, SharedExpression) or expr.method not in ("mxv", "vxm"):
        raise TypeError(f"explain: expected A.mxv(v) or v.vxm(A) of objects in shares, got {describe(expr)}")
    flip, f = expr.method == "vxm", expr.op
    assert f is not None  # products have one
    v, A = (x._resolve() for x in (expr.args if flip else expr.args[::-1]))
    how = way(A, v, f, flip)
    M = A._matrix
    size = v.size if how.gathers else M.ncols
    told = v._told()
    bits = size // 8 if 0 < told.entries < v.size or not how.gathers else 0
    held = v.dtype.np_type.itemsize * size if how.values and told.one is None and told.entries else 0
    ranks = current().size
    sent = (ranks - 1) * (bits + held) // ranks
    plan = plan_of(_local(A, v, f, flip, how))
    most = "at most" if current().lists and held >= lists.LEAST else "about"  # what changed since, 32 bits of 64
    return f"{expr.method} in shares of {ranks} ranks: {how.reason}; {most} {sent} bytes a rank\nhere: {plan}"
