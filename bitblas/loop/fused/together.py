"""Decide which statements share an element-wise kernel: pure functions of what they read and write."""

from __future__ import annotations

from collections.abc import Sequence

from ..recorded.ir import Pointwise, Reduce, Scal, Scatter, Statement, Term, Vec

# Limits of one kernel: 4096 bytes of arguments, of which a vector needs up to 24 and a scalar 16; 48 KB of shared
# memory, of which a sum needs up to 4.3; and a text that compiles in a second.
MOST_NAMES = 120
MOST_SUMS = 8
MOST_STATEMENTS = 200


def together(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Group statements into as few kernels as scalars, sizes, index vectors and the limits of a kernel allow."""
    found: list[list[Statement]] = []
    known, places = _Scalars(), _Places()
    size: int | None = None
    for s in statements:
        own, forbidden = size_of(s), known.forbid(s) or places.forbid(s) or not fits([*found[-1:], [s]])
        if not found or forbidden or (own is not None and size is not None and own != size):
            found.append([])
            known, places, size = _Scalars(), _Places(), None
        size = own if size is None else size
        known.add(s)
        places.add(s)
        found[-1].append(s)
    return found


def fits(parts: Sequence[Sequence[Statement]]) -> bool:
    """Whether one kernel can run all these statements."""
    statements = [s for part in parts for s in part]
    names = {x for s in statements for x in (*s.vectors, *s.elsewhere, s.target)}
    scalars = {number for s in statements for number in _read(s)}
    sums = sum(isinstance(s.value, Reduce) for s in statements)
    return len(names) + len(scalars) <= MOST_NAMES and sums <= MOST_SUMS and len(statements) <= MOST_STATEMENTS


def size_of(s: Statement) -> int | None:
    """The number of positions that a statement traverses; None for a statement on scalars alone."""
    if isinstance(s.value, Scatter):
        return s.value.size
    if isinstance(s.target, Vec):
        return s.target.size
    return s.value.u.size if isinstance(s.value, Reduce) else None


def _read(s: Statement) -> set[int]:
    """The scalars that a statement reads."""
    terms: tuple[Term, ...] = s.value.terms + s.value.defaults if isinstance(s.value, Pointwise) else ()
    own = {s.target.id} if isinstance(s.target, Scal) and s.accum is not None else set()
    return {t.id for t in terms if isinstance(t, Scal)} | own


class _Scalars:
    """The scalars of an element-wise kernel: they are read and computed before all positions; sums follow the
    positions, and then come scalars computed from sums."""

    def __init__(self) -> None:
        self.by_vectors: set[int] = set()
        self.late: set[int] = set()  # written after all positions
        self.read_late: set[int] = set()
        self.written: set[int] = set()

    def is_late(self, s: Statement) -> bool:
        """Whether a statement on scalars alone runs after the sums."""
        if not isinstance(s.target, Scal) or isinstance(s.value, Reduce):
            return False
        return bool(_read(s) & self.late) or s.target.id in self.late | self.read_late

    def forbid(self, s: Statement) -> bool:
        """Whether the statement must go into the next kernel."""
        if not isinstance(s.target, Scal):
            return bool(_read(s) & self.late)
        if isinstance(s.value, Reduce):
            return s.target.id in self.late | self.read_late | self.written
        return not self.is_late(s) and s.target.id in self.by_vectors

    def add(self, s: Statement) -> None:
        if not isinstance(s.target, Scal):
            self.by_vectors |= _read(s)
        elif isinstance(s.value, Reduce):
            self.late.add(s.target.id)
        elif self.is_late(s):
            self.late.add(s.target.id)
            self.read_late |= _read(s)
        else:
            self.written.add(s.target.id)


def late_scalars(statements: Sequence[Statement]) -> list[Statement]:
    """The statements on scalars alone that run after the sums of a kernel, in order."""
    known, found = _Scalars(), []
    for s in statements:
        if known.is_late(s):
            found.append(s)
        known.add(s)
    return found


class _Places:
    """The accesses of an element-wise kernel to positions of other threads: a vector gathered from is not written in
    the same kernel, and a vector scattered to is not accessed otherwise."""

    def __init__(self) -> None:
        self.here: set[Vec] = set()
        self.written: set[Vec] = set()
        self.gathered: set[Vec] = set()
        self.joined: dict[Vec, object] = {}  # by which monoid

    def forbid(self, s: Statement) -> bool:
        """Whether the statement must go into the next kernel."""
        elsewhere = set(s.elsewhere)
        if isinstance(s.value, Scatter):
            others = any(self.joined.get(x, s.value.monoid) != s.value.monoid for x in elsewhere)
            return others or bool(elsewhere & (self.here | self.gathered) or set(s.vectors) & self.joined.keys())
        here = {*s.vectors, *([] if s.written is None else [s.written])}
        if elsewhere & (self.written | self.joined.keys()) or here & self.joined.keys():
            return True
        return s.written in self.gathered or s.written in elsewhere

    def add(self, s: Statement) -> None:
        if s.written is not None:
            self.written.add(s.written)
            self.here.add(s.written)
        self.here.update(s.vectors)
        if isinstance(s.value, Scatter):
            self.joined |= dict.fromkeys(s.elsewhere, s.value.monoid)
        else:
            self.gathered.update(s.elsewhere)


__all__ = ["fits", "late_scalars", "size_of", "together"]
