"""Find the sparse vectors of a round: where none of them has an entry, the round does nothing. Element-wise kernels
over all positions can then run on a worklist instead. Pure functions of statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from ...verbs.variants import BOTH, LEFT
from ..recorded.ir import Const, Gather, Masked, Pointwise, Reduce, Scal, Statement, Term, Vec
from .fuse import Pass

MOST_CANDIDATES = 8  # all subsets of which are tried


def sparse_vectors(
    passes: Sequence[Pass], needed: Iterable[Vec], never: frozenset[int] = frozenset()
) -> frozenset[Vec] | None:
    """The smallest set of vectors, including `needed` and excluding `never` (by number), such that the kernels do
    nothing where none of them has an entry; None if there is none. A gather through an index vector does nothing where
    its mask is closed."""
    first = frozenset(needed)
    statements = [s for p in passes for s in p.statements]
    if not all(isinstance(s.value, (Pointwise, Reduce, Gather)) for s in statements):
        return None
    local = {number for p in passes for number in p.local}
    named = {x for s in statements for x in _named(s) if x.id not in local | never}
    others = sorted(named - first, key=lambda x: x.id)
    if len(others) > MOST_CANDIDATES:
        return None
    for count in range(len(others) + 1):
        for more in itertools.combinations(others, count):
            empty = first | set(more)
            if all(does_nothing(s, _with_local(statements, local, empty)) for s in statements if _lasts(s, local)):
                return empty
    return None


def _lasts(s: Statement, local: set[int]) -> bool:
    """Whether the effect of a statement outlives its kernel."""
    return isinstance(s.target, Scal) or s.target.id not in local


def _with_local(statements: Sequence[Statement], local: set[int], empty: frozenset[Vec]) -> frozenset[Vec]:
    """The vectors without an entry at positions where those of `empty` have none, including vectors local to one
    kernel, which have only the entries that it writes."""
    may_have: set[Vec] = set()
    for s in statements:
        if isinstance(s.target, Vec) and s.target.id in local:
            assert isinstance(s.value, (Pointwise, Gather))
            if _is_open(s.mask, empty) is not False and _has(s.value, empty) is not False:
                may_have.add(s.target)
            empty = empty - may_have if s.target in may_have else empty | {s.target}
    return empty


def _named(s: Statement) -> list[Vec]:
    return [*s.vectors, *([s.target] if isinstance(s.target, Vec) else [])]


def does_nothing(s: Statement, empty: frozenset[Vec]) -> bool:
    """Whether a statement changes nothing at a position where these vectors have no entry."""
    if isinstance(s.target, Scal):
        return not isinstance(s.value, Reduce) or s.value.u in empty
    assert isinstance(s.value, (Pointwise, Gather))
    is_open, has = _is_open(s.mask, empty), _has(s.value, empty)
    if is_open is not False and has is not False:
        return False  # something may be written
    taken_away = (is_open is not True and s.replace) or (is_open is not False and s.accum is None)
    return not taken_away or s.target in empty


def _is_open(mask: Masked | None, empty: frozenset[Vec]) -> bool | None:
    """Whether a mask is open there; None if unknown."""
    if mask is None:
        return True
    return mask.complement if mask.vec in empty else None


def _has(e: Pointwise | Gather, empty: frozenset[Vec]) -> bool | None:
    """Whether there is a value; None if unknown."""
    if isinstance(e, Gather):
        return None  # a missing index must be reported
    sides = [_term(t, empty) for t in e.terms]
    if e.under is not None:
        sides.append(_is_open(e.under, empty))
    if e.mode in (LEFT, BOTH):
        sides = sides[:1] + sides[2:] if e.mode == LEFT and e.v is not None else sides
        return False if False in sides else None
    return False if all(side is False for side in sides) else None


def _term(t: Term, empty: frozenset[Vec]) -> bool | None:
    if isinstance(t, Vec):
        return False if t in empty else None
    return False if isinstance(t, Const) and t.value is None else None
