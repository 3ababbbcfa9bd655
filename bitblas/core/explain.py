"""What the plan would do for an expression."""

from __future__ import annotations

from typing import Any

from .expr import Expression
from .indexing import IndexExpr
from .infix import Infix


def explain(expr: Any, *, mask: Any = None) -> Any:
    """The Plan of a product, `A.mxv(v, op)` or `op(A @ B)`, which prints itself; nothing is computed.

    mask: the mask that the statement would have. Raises TypeError for what is no delayed product.
    """
    from .. import plan, plan_mxm

    if isinstance(expr, (Infix, IndexExpr)):
        expr = expr._to_expr()
    if not isinstance(expr, Expression) or expr.method not in ("mxv", "vxm", "mxm"):
        raise TypeError(f"explain: expected a delayed product such as A.mxv(v), got {expr!r}")
    left, right = expr.args
    op: Any = expr.op
    if expr.method == "mxm":
        masked = mask is not None and not mask.complement
        return plan_mxm.plan_mxm(left._matrix._store, right._matrix._store, op, masked)[0]
    flip = expr.method == "vxm"
    A, v = (right, left) if flip else (left, right)
    return plan.plan_mxv(A._matrix._store, v._store, op, transpose=A._transposed != flip, flip=flip)[0]
