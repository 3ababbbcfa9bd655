"""Exchange statements: communication between ranks that run the same loop, each on its own share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..ir import Block, Exchange, Scal, Statement, Vec, flat
from .context import OnHost
from .control_flow import InitialContents


class ExchangeRecorder:
    """The part of a Recorder that handles distributed objects."""

    _vec: Any
    _scal: Any
    statements: list[Statement | Block]
    vectors: dict[int, tuple[Any, Vec]]
    levels: list[Any]
    host: bool

    def __init__(self) -> None:
        super().__init__()
        self.part = 0  # index of the first statement of the current part: before the rounds, in one, after them
        self.group: Any = None  # the ranks that run the same loop, if they exchange anything
        self.written_distributed: list[Any] = []  # weak references to distributed objects that are written

    def begin_part(self) -> int:
        """Begin a part: exchanges recorded before belong to another round, or to none. Returns the statements so
        far."""
        self.part = len(self.statements)
        return self.part

    def exchange(self, target: Any, source: Any, how: Any) -> None:
        """Record target << an exchange of a Vector or a Scalar. Raises OnHost inside of a block that may run on some
        ranks only, and if the ranks' calls cannot be captured in a graph."""
        if not all(level.told for level in self.levels) or self.host or not how.group.captures:
            raise OnHost
        terms: list[Vec | Scal] = [self._vec(x) if x.ndim else self._scal(x) for x in (source, target)]
        u, t = terms
        self.group = how.group
        self.statements.append(Statement(t, Exchange(u, how), text=f"{target.name} << {how.text} {source.name}"))

    def exchanged(self, source: Any, how: type) -> Any:
        """The Vector that an exchange of this kind has made of a Vector, unless that was written since."""
        u = self._vec(source)
        for s in reversed(self.statements[self.part :]):
            if isinstance(s, Block) or s.target == u:
                return None
            if isinstance(s.value, Exchange) and s.value.u == u and type(s.value.how) is how:
                return next(vector for vector, x in self.vectors.values() if x == s.target)
        return None

    def move_gather_last(self, source: Any) -> Statement | None:
        """Move the gather of a Vector with which a round begins to its end, where it provides the next round's input;
        None if a round writes the Vector before, or exchanges it twice."""
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

    def repeat_exchange(self, s: Statement) -> None:
        """Record the same exchange in another place."""
        self.statements.append(replace(s))

    def changed(self) -> None:
        """After the rounds: invalidate the shared facts of distributed objects that they wrote."""
        for ref in self.written_distributed:
            if (shared := ref()) is not None:
                shared._changes()

    def is_exchange_result(self, u: Vec) -> bool:
        """Whether a vector is the result of an exchange."""
        return any(isinstance(s.value, Exchange) and s.target == u for s in flat(self.statements))


def _gathers(s: Statement, u: Vec) -> bool:
    return isinstance(s.value, Exchange) and s.value.u == u and s.value.how.gathers


def _makes(s: Statement | Block, x: Vec | Scal) -> bool:
    return isinstance(s, InitialContents) and s.target == x


__all__ = ["ExchangeRecorder"]
