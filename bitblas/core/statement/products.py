"""A.mxv(v) and v.vxm(A): GraphBLAS C API 2.1, sections 4.3.2 and 4.3.3.

One statement of an algorithm's inner loop, so facts are read once and directly from the stores.
"""

from __future__ import annotations

from typing import Any

from ... import verbs
from ...exceptions import DimensionMismatch
from ..convert import same_device
from ..operators import typed
from .expr import VectorExpression
from .operand import Operand, describe


def multiply_vector(matrix: Any, vector: Any, op: Any, method: str) -> VectorExpression:
    """A.mxv(v), or v.vxm(A). DimensionMismatch unless the inner sizes are equal; TypeError, KeyError for op."""
    M, A = getattr(matrix, "_matrix", None), matrix
    if M is None:
        A = A._resolve() if isinstance(A, Operand) and A.ndim == 2 else None
        if A is None:
            raise TypeError(f"{method}: expected a Matrix, got {describe(matrix)}")
        M = A._matrix
    flip = method == "vxm"
    transpose = A._transposed != flip
    form, u, dtype = M._data.structure.primary, vector._data, M._data.dtype
    nrows, ncols = (form.ncols, form.nrows) if transpose else (form.nrows, form.ncols)
    if u.size != ncols:
        raise DimensionMismatch(
            f"{method}: expected a vector of size {ncols} for a matrix of {A.nrows} x {A.ncols}, got {u.size}"
        )
    if form.device is not u.device:
        same_device(method, M, vector)
    if flip:
        f, args = typed(op, "semiring", u.dtype, dtype), (vector, A)
    else:
        f, args = typed(op, "semiring", dtype, u.dtype), (A, vector)

    along = None if f.op.is_positional and verbs.reorder.reads_result(f, flip) else args

    def run(into: Any) -> Any:
        held, u, op = M._read(), vector._stored, f
        if along is None:
            held = M._store
        if u.order is not None:
            u, op = verbs.reorder.by_value(u, f, flip)
        return verbs.product.mxv(held, u, op, transpose, flip, None if into is None else into[1], into)

    return VectorExpression(nrows, method, args, f, run, None, False, True, along)
