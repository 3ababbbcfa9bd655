"""Select the statements that an advance can run at the entries of its frontier, which it reads anyway."""

from __future__ import annotations

from ..recorded.ir import Const, Masked, Pointwise, Scal, Statement, Vec
from .together import fits


def along(waiting: list[Statement], u: Vec, target: Vec, mask: Masked | None) -> list[Statement]:
    """The last pending statements that may run at the entries of u together with the product."""
    taken: list[Statement] = []
    for s in reversed(waiting):
        w = s.target
        if not isinstance(w, Vec) or w in (u, target) or s.replace or s.mask != Masked(u, True, False):
            break
        if not isinstance(s.value, Pointwise) or s.value.under is not None:
            break
        if mask is not None and mask.vec == w and not (mask.structure and _always(s.value, u)):
            break
        if not fits([[s, *taken]]):
            break
        taken.insert(0, s)
    if mask is not None and mask.vec == u:
        return taken  # the mask reads nothing that a statement here writes
    return taken


def _always(e: Pointwise, u: Vec) -> bool:
    """Whether the expression has a value at every entry of u."""
    certain = e.u == u or (isinstance(e.u, Const) and e.u.value is not None) or (isinstance(e.u, Scal) and e.u.id < 0)
    return e.mode == 0 and not e.keep and certain


__all__ = ["along"]
