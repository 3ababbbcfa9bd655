"""What the plan would do for an expression."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...verbs.reorder import by_value
from .delayed import Delayed
from .orders import foreseen, used


def explain(expr: Any, *, mask: Any = None) -> Any:
    """The Plan of a product, `A.mxv(v, op)` or `op(A @ B)`, which prints itself; nothing is computed.

    mask: the mask that the statement would have. Raises TypeError for what is no delayed product.
    """
    from ...plan import mxm as plan_mxm
    from ...verbs import deciding

    if isinstance(expr, Delayed):
        expr = expr._to_expr()
    if getattr(expr, "method", None) not in ("mxv", "vxm", "mxm"):
        raise TypeError(f"explain: expected a delayed product such as A.mxv(v), got {expr!r}")
    left, right = expr.args
    op: Any = expr.op
    if expr.method == "mxm":
        masked = mask is not None and not mask.complement
        found = plan_mxm.plan_mxm(left._matrix._stored, right._matrix._stored, op, masked)[0]
    else:
        flip = expr.method == "vxm"
        A, v = (right, left) if flip else (left, right)
        held, u = A._matrix._stored, v._stored
        if held.order is not None and expr.along is not None:
            u, op = by_value(dataclasses.replace(u, order=held.order), op, flip)
        found = deciding.explained(held, u, op, transpose=A._transposed != flip, flip=flip)
    moves = foreseen(expr) if used() else ""
    return dataclasses.replace(found, reason=f"{found.reason}; {moves}") if moves else found
