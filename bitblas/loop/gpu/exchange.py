"""Exchange between ranks that run the same loop, as launches of a round on the capturing stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import BOOL

from ..buffers import ROUNDS, Argument, Launch
from ..fuse import Between
from ..ir import Exchange, Pattern, Scal, Statement

if TYPE_CHECKING:
    from ...distributed.group import Group
    from ...typing import Array
    from .build import Build

STOP, WORDS = 3, 4  # the numbers of the outermost rounds that ranks exchange: from the request to stop on


class Message(NamedTuple):
    """An array that ranks exchange. bits: it is a bitset."""

    pattern: Pattern
    source: Array
    target: Array
    bits: bool

    @property
    def nbytes(self) -> int:
        """The bytes that leave this rank."""
        return self.pattern.sent(self.source, self.bits)


class ExchangeLaunch:
    """The exchanges of a round that run together; called, it runs them. The build counts the bytes that this rank
    sends, except in nested loops, where the device counts them."""

    def __init__(self, build: Build, item: Between, *, in_round: bool = False) -> None:
        """in_round: it runs once per round."""
        self.build = build
        self.messages = [message for s in item.statements for message in _messages(build, s)]
        self.nbytes = sum(message.nbytes for message in self.messages)
        self.group = _exchange(item.statements[0]).how.group  # the same for all statements
        if not build.inside:
            build.sent[not in_round] += self.nbytes
        build.launched = f"{self.nbytes} bytes sent per rank"

    def __call__(self) -> None:
        with self.group.together():
            for pattern, source, target, bits in self.messages:
                pattern.run(source, target, bits)
        if self.build.inside and self.nbytes:  # how often this runs is known on the device only
            self.build.sent_inside += np.uint64(self.nbytes)


def _exchange(s: Statement) -> Exchange:
    assert isinstance(s.value, Exchange)
    return s.value


def _messages(build: Build, s: Statement) -> list[Message]:
    e = _exchange(s)
    if isinstance(e.u, Scal):
        pairs = zip(build.scalars[e.u.id], build.gathered_scalars.get(s.target.id, ()))
        return [Message(e.how, *pair, bits=False) for pair in pairs]
    assert not isinstance(s.target, Scal)
    u, t = build.buffers[e.u], build.buffers[s.target]
    found = [] if e.u.id in build.full else [Message(e.how, u.at(u.bits), t.at(t.bits), bits=True)]
    if u.values:
        found.append(Message(e.how, u.at(u.values), t.at(t.values), e.u.dtype is BOOL))
    return found


def gather_scalars(build: Build) -> dict[int, tuple[Array, Array]]:
    """Place exchanged Scalars of ranks next to each other in memory; returns the combined arrays, by the number of the
    first Scalar."""
    xp = build.device.xp
    found: dict[int, tuple[Array, Array]] = {}
    for s in (s for item in build.round.all if isinstance(item, Between) for s in item.statements):
        if isinstance(s.target, Scal):
            size, root = _exchange(s).how.group.size, _exchange(s).how.root
            if root == 0:
                first, each = s.target.id, (xp.zeros(size, np.uint8), xp.zeros(size, s.target.dtype.np_type))
                found[first] = each
            has, values = each
            build.scalars[s.target.id] = has[root : root + 1], values[root : root + 1]
    return found


class EndExchange:
    """The exchange, before each run of the body ends, of whether a rank requests the end of the loop or has an index
    out of range. A nested loop whose rounds contain exchanges does not check. args: arguments of the kernel that
    decides. before: the rounds that can keep a nested loop from beginning."""

    def __init__(self, build: Build, group: Group | None) -> None:
        self.group, self.launches = group, list[Launch]()
        self.args: tuple[Argument, ...] = np.int64(0), build.outermost
        self.before = build.outermost
        if group is not None:
            self.own = build.outermost[STOP : STOP + WORDS]
            self.ranks = build.device.xp.zeros(WORDS * group.size, np.int64)
            self.args = np.int64(group.size), self.ranks
            self.launches = [self._gather]
        elif build.inside and any(isinstance(item, Between) for item in build.round.items):
            self.before = build.device.xp.zeros(ROUNDS, np.int64)
            self.args = np.int64(1), self.before

    def _gather(self) -> None:
        assert self.group is not None
        self.group._allgather(self.own, self.ranks, [WORDS] * self.group.size)
