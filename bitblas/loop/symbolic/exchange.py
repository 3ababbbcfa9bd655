"""Exchange statements: communication between ranks that run the same loop, each on its own share."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.scalar import Scalar
from ..ir import Block, Exchange, Pattern, Scal, Statement, Vec, flat
from .context import OnHost, Recording
from .control_flow import InitialContents

if TYPE_CHECKING:
    from ...core.matrix.matrix import Matrix
    from ...core.vector.vector import Vector
    from ...distributed.base import Distributed


class ExchangeRecorder(Recording):
    """The part of a Recorder that handles distributed objects."""

    def __init__(self) -> None:
        super().__init__()
        self.part, self.group = 0, None
        self.written_distributed: list[weakref.ref[Distributed]] = []

    def begin_part(self) -> int:
        """Begin a part: exchanges recorded before belong to another round, or to none. Returns the statements so
        far."""
        self.part = len(self.statements)
        return self.part

    def exchange(self, target: Vector | Scalar, source: Vector | Scalar, how: Pattern) -> None:
        """Record target << an exchange of a Vector or a Scalar. Raises OnHost inside of a block that may run on some
        ranks only, and if the ranks' calls cannot be captured in a graph."""
        if not all(level.agreed for level in self.levels) or self.host or not how.group.captures:
            raise OnHost
        u, t = (self._scal(x) if isinstance(x, Scalar) else self._vec(x) for x in (source, target))
        self.group = how.group
        self.statements.append(Statement(t, Exchange(u, how), text=f"{target.name} << {how.text} {source.name}"))

    def exchanged(self, source: Vector, how: type) -> Vector | Matrix | None:
        """The Vector that an exchange of this kind has made of a Vector, unless that was written since."""
        u = self._vec(source)
        for s in reversed(self.statements[self.part :]):
            if isinstance(s, Block) or s.target == u:
                return None
            if isinstance(s.value, Exchange) and s.value.u == u and type(s.value.how) is how:
                return next(vector for vector, x in self.vectors.values() if x == s.target)
        return None

    def move_gather_last(self, source: Vector) -> Statement | None:
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
