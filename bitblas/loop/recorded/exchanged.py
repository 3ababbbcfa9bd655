"""Exchange statements: communication between ranks that run the same loop, each on its own share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .blocks import Made
from .ir import Block, Exchange, Scal, Statement, Vec, flat
from .state import OnHost


class ExchangeRecorder:
    """The part of a Recorder that is about objects in shares."""

    _vec: Any
    _scal: Any
    statements: list[Statement | Block]
    vectors: dict[int, tuple[Any, Vec]]
    levels: list[Any]
    host: bool

    def __init__(self) -> None:
        super().__init__()
        self.part = 0  # where what is written down now begins: before the rounds, in one, after them
        self.group: Any = None  # the ranks that run the same loop, if they give each other something
        self.in_shares: list[Any] = []  # weak references to objects in shares that are written

    def begin_part(self) -> int:
        """The statements so far; what they exchanged may be of another round, or of none."""
        self.part = len(self.statements)
        return self.part

    def exchange(self, target: Any, source: Any, how: Any) -> None:
        """target << what the ranks give each other of a Vector or a Scalar. Raises OnHost inside of a block of which
        ranks might decide differently whether it runs, and where the ranks have no calls that a graph can hold."""
        if not all(level.told for level in self.levels) or self.host or not how.group.captures:
            raise OnHost
        terms: list[Vec | Scal] = [self._vec(x) if x.ndim else self._scal(x) for x in (source, target)]
        u, t = terms
        self.group = how.group
        self.statements.append(Statement(t, Exchange(u, how), text=f"{target.name} << {how.text} {source.name}"))

    def exchanged(self, source: Any, how: type) -> Any:
        """The Vector that an exchange of such a kind has made of a Vector, if that was not written since."""
        u = self._vec(source)
        for s in reversed(self.statements[self.part :]):
            if isinstance(s, Block) or s.target == u:
                return None
            if isinstance(s.value, Exchange) and s.value.u == u and type(s.value.how) is how:
                return next(vector for vector, x in self.vectors.values() if x == s.target)
        return None

    def put_last(self, source: Any) -> Statement | None:
        """The exchange of all of a Vector with which a round begins stands at its end, and gives what the next one
        reads; None where a round writes the Vector before, or exchanges it twice."""
        u = self._vec(source)
        found = [s for s in self.statements[self.part :] if not isinstance(s, Block) and _gathers(s, u)]
        if len(found) != 1:
            return None
        for s in self.statements[self.part :]:
            if isinstance(s, Block) or s.target == u:
                return None
            if s is found[0]:
                left = [x for x in self.statements[self.part :] if x is not s and not _makes(x, s.target)]
                self.statements[self.part :] = [*left, s]
                return s
        return None

    def exchange_again(self, s: Statement) -> None:
        """The same exchange as a statement in another place."""
        self.statements.append(replace(s))

    def changed(self) -> None:
        """When rounds are over: objects in shares that they wrote no longer hold what was told of them."""
        for ref in self.in_shares:
            if (shared := ref()) is not None:
                shared._changes()

    def is_given(self, u: Vec) -> bool:
        """Whether a vector is what the ranks gave each other."""
        return any(isinstance(s.value, Exchange) and s.target == u for s in flat(self.statements))


def _gathers(s: Statement, u: Vec) -> bool:
    return isinstance(s.value, Exchange) and s.value.u == u and s.value.how.gathers


def _makes(s: Statement | Block, x: Vec | Scal) -> bool:
    return isinstance(s, Made) and s.target == x


__all__ = ["ExchangeRecorder"]
