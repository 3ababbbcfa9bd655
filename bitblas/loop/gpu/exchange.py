"""Exchange between ranks that run the same loop, as launches of a round; and exchange selection.

The devices decide in each round whether ranks send lists or the dense vector. The size of a call is fixed at capture.
So each rank lists the positions whose values other ranks lack, up to a fixed capacity, and all ranks receive the
counts. Then one of three alternatives runs, the same on all ranks: send nothing, send lists of that capacity, or send
the whole vector. In a graph the alternatives are conditional nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings.dtypes import BOOL, lookup_dtype

from ...kernels.variant import Variant
from ...operations.operands import dummy
from ..buffers import ROUNDS
from ..fuse import Between, Pass, Round
from ..ir import Exchange, Scal, Statement, Vec

# ---- Exchange selection: the devices decide in each round whether ranks send lists or the dense vector.

Launch = Callable[[], None]
LEAST = 1 << 25  # bytes of a share's values below which it is sent whole: selection costs a call and reads all values
ROOM = 8  # one of ROOM positions of a share can be listed, which takes a quarter of the bytes if values have 4 bytes


class RunCounters:
    """What the device records in a run: the bytes sent by selected alternatives, and for some vectors whether all of it
    was sent."""

    def __init__(self, xp: Any, count: int) -> None:
        self.all, self.vectors = xp.zeros(1 + count, np.uint64), list[Vec]()
        self.sent = self.all[:1]

    def of(self, x: Vec) -> Any:
        if x not in self.vectors:
            self.vectors.append(x)
        k = 1 + self.vectors.index(x)
        return self.all[k : k + 1]


class SelectedExchange:
    """The launches that select, and those of each alternative; called as a launch, it is run by the host."""

    def __init__(self, device: Any, way: Any, prepared: Callable[[int, int], list[Launch]], ways: list[list[Launch]]):
        """way: where the device writes the selected alternative: 1 or 2 of `ways`, or 0. prepared: returns the launches
        before, which set the handles of the conditions."""
        self.device, self.way, self.prepared, self.ways = device, way, prepared, ways

    def __call__(self) -> None:
        for launch in self.prepared(0, 0):
            launch()
        chosen = int(self.device.to_host(self.way)[0])
        for launch in self.ways[chosen - 1] if chosen else ():
            launch()

    @property
    def every(self) -> list[Launch]:
        """All launches, to be run once before a capture."""
        return [*self.prepared(0, 0), *self.ways[0], *self.ways[1]]


def words_of(dtype: Any) -> Any:
    """The unsigned type in which values are compared and copied; None for values that are always sent whole."""
    size = dtype.np_type.itemsize if isinstance(dtype.np_type, np.dtype) else np.dtype(dtype.np_type).itemsize
    return {4: np.uint32, 8: np.uint64}.get(size) if dtype is not BOOL else None


def is_updated(round_: Round, u: Vec) -> bool:
    """Whether some statement leaves values of a vector unchanged."""
    statements = [s for item in round_.all if isinstance(item, Pass) for s in item.statements]
    return any(s.target == u and not s.overwrites for s in statements)


def select_exchange(build: Any, item: Between) -> SparseExchange | None:
    """The lists that may replace an exchange; None if it always sends everything."""
    values = [s.value for s in item.statements if isinstance(s.value, Exchange)]
    u, how = values[0].u, values[0].how
    if (
        not how.group.chooses
        or not isinstance(u, Vec)
        or any(v.u != u or type(v.how) is not type(how) for v in values)
        or how.takes
    ):
        return None
    of = words_of(u.dtype)
    if of is None or not build.buffers[u].values or build.buffers[u].rotates:
        return None
    shares, nbytes = how.shares, np.dtype(of).itemsize
    if max(shares.counts) * nbytes < LEAST or max(shares.counts) >= 1 << 32:
        return None
    if how.gathers:
        is_one = len(values) == 1 and u.id in build.full and is_updated(build.round, u)
        return (
            SparseGather(build, item, of) if is_one and not build.buffers[item.statements[0].target].rotates else None
        )
    return SparseScatter(build, item, of) if u.id not in build.full else None


class SparseExchange:
    """Common part of both kinds: memory for outgoing and incoming lists, and the counts of all ranks."""

    def __init__(self, build: Any, item: Between, of: Any, width: int) -> None:
        self.build, self.of, self.width = build, of, width
        self.exchanges = [s.value for s in item.statements if isinstance(s.value, Exchange)]
        self.targets = [build.buffers[s.target] for s in item.statements]
        how = self.exchanges[0].how
        self.group, self.shares = how.group, how.shares
        self.me, self.ranks = self.group.rank, self.group.size
        self.others = [r for r in range(self.ranks) if r != self.me]
        self.room = max(1, max(self.shares.counts) // ROOM)
        xp = build.device.xp
        self.own, self.told = xp.zeros(width, np.uint64), xp.zeros(width * self.ranks, np.uint64)
        self.way = xp.zeros(1, np.uint64)
        source = build.buffers[self.exchanges[0].u]
        self.values, self.bits = source.at(source.values).view(of), source.at(source.bits)

    def kernel(self, name: str, threads: int, args: tuple[Any, ...], **constants: int) -> Launch:
        types = (("W", lookup_dtype(np.dtype(self.of).name.upper())),)
        variant = Variant(f"loop/gpu/{name}", types, tuple(constants.items()))
        launch: Launch = self.build.launcher(variant, self.build.grid(threads), args)
        return launch

    def moved(self, count: Any, at: Any, source: Any, target: Any, bits: Any = None, *, takes: bool = False) -> Launch:
        there = dummy(self.build.device, "uint64") if bits is None else bits
        args = (np.int64(self.room), np.int64(self.room), count, at, source, target, there)
        return self.kernel("places", self.room, args, TAKES=int(takes), BITS=int(bits is not None))

    def decided(self, known: Any, by_lists: int, by_all: int) -> Callable[[int, int], Launch]:
        sent, n, width = self.build.marks.sent, np.int64(len(self.told)), np.int64(self.width)
        args = (n, self.told, width, self.own, np.int64(self.room), known, sent, np.int64(by_lists), np.int64(by_all))
        return lambda lists, all_: self.build.launcher(
            Variant("loop/gpu/choose"), 1, (*args, self.way, np.uint64(lists), np.uint64(all_))
        )

    def tell(self) -> None:
        self.group._allgather(self.own, self.told, [self.width] * self.ranks)

    def by_all(self, pairs: list[tuple[Any, Any, bool]]) -> Launch:
        """Send the whole vector: each of `pairs` by its exchange."""

        def launch() -> None:
            with self.group.together():
                for e, (source, target, bits) in zip(self.exchanges * 2, pairs):
                    e.how.run(source, target, bits)

        return launch

    @property
    def text(self) -> str:
        return f"{self.sent[1]} bytes sent per rank, or {self.sent[0]} as lists of {self.room}, or none"

    sent: tuple[int, int]
    choice: SelectedExchange


class SparseGather(SparseExchange):
    """Gather a whole vector of which the other ranks have an earlier copy."""

    def __init__(self, build: Any, item: Between, of: Any) -> None:
        super().__init__(build, item, of, 1)
        s, xp, room, ranks, me = self.shares, build.device.xp, self.room, self.ranks, self.me
        target = self.targets[0]
        raw, mine = target.at(target.values), s.mine
        whole = raw.view(of)
        parts = [whole[low:high] for low, high in zip(s.bounds, s.bounds[1:])]
        at, held = xp.zeros(room, np.uint32), xp.zeros(room, of)
        places, values = xp.zeros(ranks * room, np.uint32), xp.zeros(ranks * room, of)
        n, bits = np.int64(mine), dummy(build.device, "uint64")
        listed = self.kernel(
            "list", mine // 8, (n, n, bits, self.values, parts[me], at, np.int64(room), self.own), DIFFERS=1
        )
        each = [slice(r * room, (r + 1) * room) for r in range(ranks)]
        put = [self.moved(self.told[r : r + 1], places[each[r]], values[each[r]], parts[r]) for r in self.others]
        take = self.moved(self.told[me : me + 1], at, self.values, held, takes=True)
        nbytes = np.dtype(of).itemsize
        self.sent = (ranks - 1) * room * (4 + nbytes), (ranks - 1) * mine * nbytes
        decide = self.decided(build.marks.of(target.vec), *self.sent)

        def send() -> None:
            with self.group.together():
                self.group._allgather(at, places, [room] * ranks)
                self.group._allgather(held, values, [room] * ranks)

        source = build.buffers[self.exchanges[0].u]
        everything = self.by_all([(source.at(source.values), raw, False)])
        prepared = lambda lists, all_: [listed, self.tell, decide(lists, all_)]
        self.choice = SelectedExchange(build.device, self.way, prepared, [[take, send, *put], [everything]])


class SparseScatter(SparseExchange):
    """Send each rank's contributions for all positions to the owners of the positions."""

    def __init__(self, build: Any, item: Between, of: Any) -> None:
        super().__init__(build, item, of, len(item.statements))
        s, xp, room, ranks, me = self.shares, build.device.xp, self.room, self.ranks, self.me
        count = len(self.others)
        at, there = (xp.zeros(count * room, np.uint32) for _ in range(2))
        held, values = (xp.zeros(count * room, of) for _ in range(2))
        each = [slice(k * room, (k + 1) * room) for k in range(count)]
        raw, lists, takes, puts = self.values, list[Launch](), list[Launch](), list[Launch]()
        rooms = [0 if r == me else room for r in range(ranks)]
        for k, r in enumerate(self.others):
            low, high = s.bounds[r], s.bounds[r + 1]
            n, words = np.int64(high - low), self.bits[low // 64 : -(-high // 64)]
            args = (n, n, words, raw, raw, at[each[k]], np.int64(room), self.own[r : r + 1])
            lists.append(self.kernel("list", (high - low) // 8, args, DIFFERS=0))
            given = self.told[me * ranks + r : me * ranks + r + 1]
            takes.append(self.moved(given, at[each[k]], raw[low:high], held[each[k]], takes=True))
            f = self.targets[r]
            coming = self.told[r * ranks + me : r * ranks + me + 1]
            puts.append(self.moved(coming, there[each[k]], values[each[k]], f.at(f.values).view(of), f.at(f.bits)))
        nbytes = np.dtype(of).itemsize
        elsewhere = s.size - s.mine
        self.sent = count * room * (4 + nbytes), elsewhere * nbytes + elsewhere // 8
        decide = self.decided(xp.ones(1, np.uint64), *self.sent)

        def send() -> None:
            with self.group.together():
                self.group._alltoall(at, there, rooms, rooms)
                self.group._alltoall(held, values, rooms, rooms)

        own, low = self.targets[me], s.low
        ends = s.words[me]

        def keep() -> None:
            for r in self.others:
                self.targets[r].at(self.targets[r].bits).fill(0)
            own.at(own.bits)[:ends] = self.bits[low // 64 : low // 64 + ends]
            own.at(own.values).view(of)[: s.mine] = raw[low : s.high]

        source = build.buffers[self.exchanges[0].u]
        pairs = [(source.at(source.bits), f.at(f.bits), True) for f in self.targets]
        pairs += [(source.at(source.values), f.at(f.values), False) for f in self.targets]
        prepared = lambda few, all_: [*lists, keep, self.tell, decide(few, all_)]
        self.choice = SelectedExchange(build.device, self.way, prepared, [[*takes, send, *puts], [self.by_all(pairs)]])


# ---- Exchange between ranks that run the same loop, as launches of a round on the capturing stream.

STOP, WORDS = 3, 4  # the numbers of the outermost rounds that ranks exchange: from the request to stop on


def exchange_launch(build: Any, item: Between, *, in_round: bool = False) -> Callable[[], None]:
    """The launch of an exchange. in_round: it runs once per round. The build counts the bytes that this rank sends,
    except in selected exchanges, where the device counts them."""
    lists = select_exchange(build, item)
    if lists is not None:
        build.sent[not in_round] += (lists.ranks - 1) * int(lists.own.nbytes)
        build.launched = lists.text
        return lists.choice
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
            build.marks.sent += np.uint64(nbytes)

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
