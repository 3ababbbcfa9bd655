"""What statements write, for steps: which lists stay good, and which vectors a step cannot write itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..recorded.ir import Product, Scal, Statement, Vec
from .pointwise import is_subset


def adds(s: Statement) -> bool:
    """Whether a statement may give its target, a Vector, entries."""
    if not isinstance(s.target, Vec):
        return False
    own = s.mask is not None and s.mask.structure and not s.mask.complement and s.mask.vec == s.target
    return not own and (s.accum is not None or not is_subset(s.value, s.target))


def shared(statements: Iterable[Statement], writes: Callable[[Statement], bool]) -> frozenset[Vec | Scal]:
    """The targets that steps cannot write themselves: those of statements that add entries and are none (`writes`),
    since a step clears the buffer for the one after by the list that a step made of it; and those of steps by different
    monoids, since cells are cleared to what the sums of one begin with."""
    found, monoids = set[Vec | Scal](), dict[Vec | Scal, set[str]]()
    for s in statements:
        if isinstance(s.value, Product) and writes(s):
            monoids.setdefault(s.target, set()).add(s.value.semiring.op.monoid.name)
        elif adds(s):
            found.add(s.target)
    return frozenset(found | {x for x, names in monoids.items() if len(names) > 1})
