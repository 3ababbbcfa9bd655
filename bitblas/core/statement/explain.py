"""`gb.explain`: the plan of an expression, without running it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ... import verbs
from ...sparse import SparseStore
from .delayed import Delayed
from .mask import matrix_mask
from .orders import foreseen, used

if TYPE_CHECKING:
    from ...plan.product import Plan


def explain(expr: Any, *, mask: Any = None, source: bool = False) -> Plan:
    """The Plan of a product, `A.mxv(v, op)` or `op(A @ B)`, which prints itself; nothing is computed.

    mask: the mask that the statement would have. source: also the text of its kernels for a new output, CUDA C++ or
    Numba's Python, as `.source`; this builds the formats that they read, and compiles the kernels of a product with a
    vector. Raises TypeError unless `expr` is a delayed product.
    """
    if isinstance(expr, Delayed):
        expr = expr._to_expr()
    if getattr(expr, "method", None) not in ("mxv", "vxm", "mxm"):
        raise TypeError(f"explain: expected a delayed product such as A.mxv(v), got {expr!r}")
    found, variants = (_matrices if expr.method == "mxm" else _vector)(expr, mask, source)
    if source:
        found = found._replace(source="\n".join(map(expr.args[0].device.source, variants)))
    moves = foreseen(expr) if used() else ""
    return found._replace(reason=f"{found.reason}; {moves}") if moves else found


def _vector(expr: Any, mask: Any, source: bool) -> tuple[Any, Any]:
    """The plan of A.mxv(v) or v.vxm(A), and its kernels if requested."""
    from ...verbs import deciding, graded, hyper_product, listed, product, virtual

    flip = expr.method == "vxm"
    A, v = reversed(expr.args) if flip else expr.args
    held, u, op = A._matrix._stored, v._stored, expr.op
    if held.order is not None and expr.along is not None:
        u, op = verbs.reorder.by_value(dataclasses.replace(u, order=held.order), op, flip)
    how = {"transpose": A._transposed != flip, "flip": flip}
    if type(u) is SparseStore and (along := listed.explained(held, u, op, **how)) is not None:
        return along[0], along[1:] if source else ()
    if held.structure.composed:
        plan, (held, u, op, how) = virtual.explained(held, u, op, **how)
        return plan, product.prepared(held, u, op, **how)[0].variants(True) if source else ()
    if held.structure.renumbers:
        held, u = hyper_product.within(held, u, transpose=how["transpose"])
    plan = deciding.explained(held, u, op, **how)
    if more := graded.foreseen(held, u, op, plan, masked=mask is not None):
        plan = plan._replace(reason=f"{plan.reason}; {more}")
    return plan, product.prepared(held, u, op, **how)[0].variants(mask is not None) if source else ()


def _matrices(expr: Any, mask: Any, source: bool) -> tuple[Any, Any]:
    """The same for A.mxm(B)."""
    from ...plan.mxm import plan_mxm
    from ...verbs import hyper_product, mxm, narrow_product

    A, B = expr.args
    a, b = A._matrix._stored, B._matrix._stored
    allowed: Any = None if mask is None else matrix_mask(mask)
    how = {"transpose_a": A._transposed, "transpose_b": B._transposed}
    if a.structure.renumbers or b.structure.renumbers or (mask is not None and allowed.structure.renumbers):
        a, b, allowed, *_ = hyper_product.within_both(a, b, mask=allowed, **how)
    lines = narrow_product.sides(a, b, expr.op, A._transposed, B._transposed)
    if lines is not None:
        return narrow_product.explained(lines, expr.op)
    plan, _ = plan_mxm(a, b, expr.op, mask is not None and not mask.complement)
    if not source:
        return plan, ()
    return plan, mxm.planned(a, b, expr.op, mask=allowed, **how).variants
