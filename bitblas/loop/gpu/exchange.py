"""Exchange between ranks that run the same loop, as launches of a round on the capturing stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ..buffers import ROUNDS
from ..fuse import Between
from ..ir import Exchange, Scal, Statement

STOP, WORDS = 3, 4  # the numbers of the outermost rounds that ranks exchange: from the request to stop on


def exchange_launch(build: Any, item: Between, *, in_round: bool = False) -> Callable[[], None]:
    """The launch of an exchange. in_round: it runs once per round. The build counts the bytes that this rank sends,
    except in nested loops, where the device counts them."""
    ways: list[tuple[Any, Any, Any, bool]] = []
    group: Any = None  # the same for all statements
    for s in item.statements:
        assert isinstance(s.value, Exchange)
        group = s.value.how.group
        ways += [(s.value.how, *pair) for pair in _arrays(build, s, s.value)]
    nbytes = sum(how.sent(source, bits) for how, source, _, bits in ways)
    if not build.inside:
        build.sent[not in_round] += nbytes
    build.launched = f"{nbytes} bytes sent per rank"

    def launch() -> None:
        with group.together():
            for how, source, target, bits in ways:
                how.run(source, target, bits)
        if build.inside and nbytes:  # how often this runs is known on the device only
            build.sent_inside += np.uint64(nbytes)

    return launch


def _arrays(build: Any, s: Statement, e: Exchange) -> list[tuple[Any, Any, bool]]:
    """The arrays read and written: source, target, and whether they are words of bits."""
    if isinstance(e.u, Scal):
        return [(*pair, False) for pair in zip(build.scalars[e.u.id], build.told.get(s.target.id, ()))]
    u, t = build.buffers[e.u], build.buffers[s.target]
    found = [] if e.u.id in build.full else [(u.at(u.bits), t.at(t.bits), True)]
    if u.values:
        found.append((u.at(u.values), t.at(t.values), e.u.dtype is BOOL))
    return found


def place_scalars_together(build: Any) -> dict[int, tuple[Any, Any]]:
    """Place exchanged Scalars of ranks next to each other in memory; returns the combined arrays, by the number of the
    first Scalar."""
    xp, found = build.device.xp, {}
    told = [s for item in build.round.all if isinstance(item, Between) for s in item.statements]
    for s in told:
        if isinstance(s.value, Exchange) and isinstance(s.target, Scal):
            size, root = s.value.how.group.size, s.value.how.root
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

    def __init__(self, build: Any, group: Any) -> None:
        self.launches: list[Callable[[], None]] = []
        self.args: tuple[Any, ...] = np.int64(0), build.outermost
        self.before = build.outermost
        if group is None:
            if build.inside and any(isinstance(item, Between) for item in build.round.items):
                self.before = build.device.xp.zeros(ROUNDS, np.int64)
                self.args = np.int64(1), self.before
            return
        told = build.device.xp.zeros(WORDS * group.size, np.int64)
        mine = build.outermost[STOP : STOP + WORDS]
        self.args = np.int64(group.size), told
        self.launches = [lambda: group._allgather(mine, told, [WORDS] * group.size)]
