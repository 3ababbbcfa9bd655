"""Outputs of statements, seen from advances: which worklists stay valid, and which vectors an advance cannot write."""

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


def same_rows(a: Product, b: Product) -> bool:
    """Whether both are pushed along the same rows, so that a list for one serves the other."""
    return a.matrix is b.matrix and (a.transpose, a.flip) == (b.transpose, b.flip)


def shared(
    statements: Iterable[Statement], is_step: Callable[[Statement], bool], is_direct: Callable[[Statement], bool]
) -> frozenset[Vec | Scal]:
    """The targets that steps cannot write themselves. A step clears the buffer for the one after by the list that a
    step made of it: so not those that other statements add entries to, nor those of which another list is made, for
    other rows. Cells are cleared to what sums begin with: so not those of steps by different monoids."""
    found, made, read = set[Vec | Scal](), list[Statement](), list[Product]()
    for s in statements:
        step = isinstance(s.value, Product) and is_step(s)
        if step and isinstance(s.value, Product):
            read.append(s.value)
        if step and is_direct(s):
            made.append(s)
        elif adds(s):
            found.add(s.target)
    for s in made:
        assert isinstance(s.value, Product)
        monoid, others = s.value.semiring.op.monoid, [x.value for x in made if x.target == s.target]
        if any(isinstance(x, Product) and x.semiring.op.monoid != monoid for x in others):
            found.add(s.target)
        if any(x.u == s.target and not same_rows(x, s.value) for x in read):
            found.add(s.target)
    return frozenset(found)
