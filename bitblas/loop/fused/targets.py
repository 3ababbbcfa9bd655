"""Outputs of statements, seen from advances: which worklists stay valid, and which vectors an advance cannot write."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..recorded.ir import Product, Scal, Statement, Vec
from .pointwise import is_subset


def adds(s: Statement) -> bool:
    """Whether a statement may add entries to its target, a Vector."""
    if not isinstance(s.target, Vec):
        return False
    own = s.mask is not None and s.mask.structure and not s.mask.complement and s.mask.vec == s.target
    return not own and (s.accum is not None or not is_subset(s.value, s.target))


def same_rows(a: Product, b: Product) -> bool:
    """Whether both products push along the same rows, so that a worklist for one is valid for the other."""
    return a.matrix is b.matrix and (a.transpose, a.flip) == (b.transpose, b.flip)


def shared(
    statements: Iterable[Statement], is_step: Callable[[Statement], bool], is_direct: Callable[[Statement], bool]
) -> frozenset[Vec | Scal]:
    """The targets that advances cannot write themselves. An advance clears the buffer for the advance after it by the
    worklist that an advance built. That excludes targets to which other statements add entries, and targets of which
    another list is built, for other rows. Cells are cleared to the identity of the sum, which excludes targets of
    advances with different monoids."""
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
