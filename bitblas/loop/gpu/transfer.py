"""Copy vectors into the memory of a program before a run, and out of it afterwards; exchange them between ranks.

The work is a table of memory pieces to fill or copy (control.cu). The host writes the table and launches the graph. Its
first kernels copy in the table and the contents of the vectors, and its last one copies the results to memory of their
own: nothing else is launched, copied or waited for.

Full vectors that a body only reads are used in place (`Inputs`). The program has captured the address of their memory.
If such a vector has other memory in a later run, the program is captured again, and copies that vector from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from semirings.dtypes import BOOL, INT8, INT16, INT64, DataType

from ... import tuning
from ...core.vector import Vector
from ...device import Device, address
from ...device.jit import BLOCK
from ...kernels.variant import Variant
from ...store import VectorStore, words
from ..buffers import BUFFERS, ROUNDS, Argument, Frontier, Launch, ProgramVector, SingleEntry
from ..fuse import Between
from ..ir import Exchange, Pattern, Scal, Statement, Vec

if TYPE_CHECKING:
    from ...distributed.group import Group
    from ...typing import Array
    from .build import Build


# ---- Copy vectors into the memory of a program before a run, and out of it afterwards.

FIELDS = 11  # of a piece, 64 bits each (report.cuh)
TO, FROM, BYTES, STEPS, PATTERN, AT, WORD, WIDENS = 0, 1, 4, 5, 6, 8, 9, 10
NOWHERE = (1 << 64) - 1
CHUNK = 1 << 14  # bytes that a block copies at a time (control.cu)


def pattern(value: np.generic) -> tuple[int, int]:
    """A value repeated to fill two words."""
    raw = value.tobytes()
    both = np.frombuffer(raw * (16 // len(raw)), np.uint64)
    return int(both[0]), int(both[1])


class HostWords:
    """64-bit words that the host writes or reads without a CuPy copy: page-locked memory on a GPU."""

    def __init__(self, device: Device, count: int) -> None:
        self.count, count = count, max(1, count)
        if device.pins:
            memory = device.xp.cuda.alloc_pinned_memory(8 * count)  # kept alive by the array
            self.host = np.frombuffer(memory, np.uint64, count)
            self.host.fill(0)
            self.address = int(memory.ptr)
        else:
            self.host = np.zeros(count, np.uint64)
            self.address = address(self.host)
        self.words = memoryview(self.host.data)
        self.last = np.uint64(self.address + 8 * (count - 1)) if device.pins else self.host[-1:]
        self.signed = self.words.cast("B").cast("q")


class Transfer:
    """The memory pieces of a program: those before its rounds, those after them, and those reported to the host.

    Pieces are added first; then `bind` allocates the table. `launch` makes launches for the graph.
    """

    def __init__(self, device: Device, words: int) -> None:
        self.device = device
        self.reported = HostWords(device, words + 1)  # the last word: whether the others are complete
        self.rows: list[list[int]] = []
        self.listed = 0  # words after the pieces: lists of entries

    def add(
        self,
        to: Array | int = 0,
        sources: Sequence[Array] = (),
        nbytes: int | None = None,
        *,
        steps: int = 0,
        filled: tuple[int, int] = (0, 0),
    ) -> int:
        """Add a piece: an array (or an address) that is copied from its only source, or from the one of three to which
        the advances of a round rotate; or filled. Returns its number."""
        places = [address(x) for x in sources] or [0]
        places = [places[k % len(places)] for k in range(BUFFERS)]
        if nbytes is None:
            assert not isinstance(to, int)
            nbytes = int(to.nbytes)
        at = to if isinstance(to, int) else address(to)
        self.rows.append([at, *places, nbytes, steps % BUFFERS, *filled, NOWHERE, 0, 0])
        return len(self.rows) - 1

    def add_list(self, most: int) -> int:
        """Add a list of at most so many entries, which is empty. Returns where it begins after the pieces."""
        begin, self.listed = self.listed, self.listed + 1 + most
        return begin

    def report(self, k: int, source: Array, nbytes: int | None = None) -> None:
        """Report an array to the host, as its words from k on."""
        self.add(self.reported.address + 8 * k, (source,), int(source.nbytes) if nbytes is None else nbytes)

    def bind(self) -> None:
        """Allocate the table. Nothing can be added afterwards."""
        pieces = FIELDS * len(self.rows)
        self.table = HostWords(self.device, pieces + self.listed)
        self.table.host[:pieces] = np.array(self.rows, np.uint64).reshape(-1)
        self.device_table: Array = self.device.xp.zeros_like(self.table.host)
        same = [self.table.address] * BUFFERS
        row = [address(self.device_table), *same, int(self.device_table.nbytes), 0, 0, 0, NOWHERE, 0, 0]
        self.all = self.device.asarray(np.array(row, np.uint64))

    def send(self, build: Build) -> Launch:
        """Copy the table to the device, as one piece: by a kernel that reads host memory, because the next kernel
        starts sooner after a kernel than after a copy. One block: many that read host memory take 0.2 us each."""
        args = np.int64(1), self.all, build.rounds, self.reported.last, np.int64(1), np.int64(0)
        return build.launcher(Variant("loop/gpu/move"), 1, args)

    def launch(self, build: Build, first: int, end: int, *, enters: bool = False, reports: bool = False) -> Launch:
        """The launch that fills or copies some of the pieces, bound to the memory of a build. enters: before the
        rounds. reports: it notifies the host when it is done."""
        part = self.device_table[FIELDS * first : FIELDS * end]
        chunks = sum(-(-row[BYTES] // CHUNK) for row in self.rows[first:end])
        return build.launcher(
            Variant("loop/gpu/move"),
            1 if reports else build.grid(BLOCK * chunks),
            (np.int64(end - first), part, build.rounds, self.reported.last, np.int64(enters), np.int64(reports)),
        )

    def set_entries(self, build: Build, begin: int, bits: Array) -> Launch:
        """The launch that sets the bits of a list of entries, after the launch that has cleared them."""
        part = self.device_table[FIELDS * len(self.rows) + begin :]
        return build.launcher(Variant("loop/gpu/set_entries"), 1, (np.int64(1), part, bits))

    def report_arguments(self, first: int) -> tuple[Argument, ...]:
        """The pieces from `first` on, for kernels that report to the host themselves (control.cu)."""
        part = self.device_table[FIELDS * first : FIELDS * len(self.rows)]
        return np.int64(len(self.rows) - first), part, self.reported.last

    # ---- before a run ----

    def enlist(self, begin: int, places: Sequence[int]) -> None:
        """Set a list of entries."""
        first = FIELDS * len(self.rows) + begin
        self.table.host[first : first + 1 + len(places)] = [len(places), *places]

    def put(self, piece: int, field: int, value: int) -> None:
        self.table.words[FIELDS * piece + field] = value

    def differ(self, piece: int, at: int, word: int) -> None:
        """Set one word of a piece to a different value."""
        words, first = self.table.words, FIELDS * piece
        words[first + AT], words[first + WORD] = at, word

    def fill(self, piece: int, value: np.generic) -> None:
        words, first = self.table.words, FIELDS * piece
        words[first + FROM] = 0
        words[first + PATTERN], words[first + PATTERN + 1] = pattern(value)


class CopyIn:
    """The pieces of a vector whose entries a run begins with: its bits (unless it stays full) and values. listed: a
    list of up to `most` entries, of a multivector of equal values."""

    def __init__(self, exchange: Transfer, frontier: Frontier, *, full: bool, most: int = 0) -> None:
        """most: entries that may be listed."""
        self.exchange, self.frontier, self.vec = exchange, frontier, frontier.vec
        self.bits = None if full else exchange.add(frontier.bits[0])
        self.most = 0 if full or frontier.values else most
        self.listed = exchange.add_list(most) if self.most else None
        self.values, self.address = None, 0
        if frontier.values:
            self.values, self.address = exchange.add(frontier.values[0]), address(frontier.values[0])
        self.size = np.dtype(self.vec.dtype.np_type).itemsize * self.vec.size

    def load(self, held: VectorStore | SingleEntry) -> None:
        """Set the pieces to the contents of a vector."""
        exchange, single = self.exchange, held if isinstance(held, SingleEntry) else None
        if self.listed is not None:
            exchange.enlist(self.listed, ())
        if self.bits is not None:
            self._word(self.bits, held.bits, single)
        if self.values is None:
            return
        if self.vec.dtype is BOOL:  # values are a second bitset
            if not isinstance(held, SingleEntry) and not held.iso:
                self._word(self.values, held.values, None)
            elif held.values:
                self._word(self.values, held.bits, single)
            else:
                self._word(self.values, None, None)
        elif not isinstance(held, SingleEntry) and not held.iso:
            self._cells(0, self.size)
            exchange.put(self.values, FROM, address(held.values))
        elif held.count == 0:
            exchange.put(self.values, TO, 0)
        else:
            value = self.vec.dtype.np_type.type(held.values)
            self._cells(*((0, self.size) if single is None else (value.nbytes * single.place, value.nbytes)))
            exchange.fill(self.values, value)

    def list_entries(self, places: Sequence[int]) -> None:
        """Set the pieces to a vector with these entries."""
        assert self.listed is not None and self.bits is not None
        self._word(self.bits, None, None)
        self.exchange.enlist(self.listed, places)

    def set_entries(self, build: Build) -> list[Launch]:
        """The launch that sets the bits of listed entries."""
        return [] if self.listed is None else [self.exchange.set_entries(build, self.listed, self.frontier.bits[0])]

    def _cells(self, first: int, nbytes: int) -> None:
        assert self.values is not None
        self.exchange.put(self.values, TO, self.address + first)
        self.exchange.put(self.values, BYTES, nbytes)

    def _word(self, piece: int, bits: Array | None, single: SingleEntry | None) -> None:
        """Copy a bitset, or clear it except for one bit."""
        words, first = self.exchange.table.words, FIELDS * piece
        words[first + FROM] = 0 if bits is None else address(bits)
        if single is None:
            words[first + AT], words[first + WORD] = NOWHERE, 0
        else:
            words[first + AT], words[first + WORD] = single.place >> 6, 1 << (single.place & 63)


class ResultMemory(NamedTuple):
    """Memory for the bits and values of a result, and its addresses."""

    bits: Array
    values: Array | None
    bits_address: int
    values_address: int


class CopyOut:
    """The pieces of a result vector: its bits and values, in memory that is allocated for each run. Integers of 8 or
    16 bits may be widened to 64 on the way."""

    def __init__(self, exchange: Transfer, frontier: Frontier, steps: int, *, full: bool) -> None:
        self.exchange, self.frontier, self.full = exchange, frontier, full
        self.bits = exchange.add(0, frontier.bits, words(frontier.vec.size) * 8, steps=steps)
        values = frontier.values
        self.values = exchange.add(0, values, int(values[0].nbytes), steps=steps) if values else None
        self.count, self.values_shape = len(frontier.bits[0]), (len(values[0]), values[0].dtype) if values else None
        self.dtype = frontier.vec.dtype  # of the result
        # By stream, because other streams may still write to freed memory; for this type.
        self.allocated: dict[int, ResultMemory] = {}
        self.memory: ResultMemory | None = None  # of this run
        self.store: VectorStore | None = None
        self.skipped = True  # the pieces have no destination yet

    def widens(self, dtype: DataType) -> bool:
        """Whether a run can widen the values to that type."""
        shape = self.values_shape
        return dtype is INT64 and self.frontier.vec.dtype in (INT8, INT16) and shape is not None and shape[0] % 2 == 0

    def allocate(self, stream: int, dtype: DataType) -> None:
        """Allocate memory for the results of the next run, on that stream, or use what was allocated in advance. dtype:
        of the result: that of the vector, or what it is widened to."""
        if dtype is not self.dtype:
            assert self.values is not None
            self.dtype, self.allocated = dtype, {}
            narrow = self.frontier.vec.dtype
            self.exchange.put(self.values, WIDENS, 0 if dtype is narrow else narrow.np_type.itemsize)
        self.memory = memory = self.allocated.get(stream) or self._memory()
        self.allocated, self.skipped = {}, False
        words = self.exchange.table.words
        words[FIELDS * self.bits + TO] = memory.bits_address
        if self.values is not None:
            words[FIELDS * self.values + TO] = memory.values_address

    def work_ahead(self, stream: int) -> None:
        """While the device works: make the result of this run, and allocate memory for the next one, unless there is
        not enough."""
        if self.skipped:
            return
        f, memory, self.memory = self.frontier, self.memory, None
        assert memory is not None
        stored = f.iso if memory.values is None else memory.values
        count = f.vec.size if self.full else None
        self.store = VectorStore(f.device, f.vec.size, self.dtype, memory.bits, stored, count)
        nbytes = 8 * self.count + (0 if memory.values is None else int(memory.values.nbytes))
        if nbytes <= tuning.count("loop.result_bytes"):
            with suppress(*self.exchange.device.errors):
                self.allocated = {stream: self._memory()}

    def _memory(self) -> ResultMemory:
        xp = self.exchange.device.xp
        bits = xp.empty(self.count, np.uint64)
        values = None
        if self.values_shape is not None:
            size, kind = self.values_shape
            values = xp.empty(size, kind if self.dtype is self.frontier.vec.dtype else self.dtype.np_type)
        return ResultMemory(bits, values, address(bits), 0 if values is None else address(values))

    def skip(self) -> None:
        """Let the next run produce no result, and not write to the memory of earlier ones."""
        for piece in () if self.skipped else (self.bits, self.values):
            if piece is not None:
                self.exchange.put(piece, TO, 0)
        self.skipped = True

    def contents(self) -> VectorStore:
        """The result of the run."""
        store, self.store = self.store, None
        assert store is not None
        return store


# ---- Inputs used in place: full vectors that a body only reads. Its kernels read the vector's own memory, so that no
# run copies them and the program allocates nothing for them.
#
# The program has captured the address of that memory. If a vector has other memory in a later run, the program is
# captured again, and copies that vector from then on.

ALIGNED = 16  # bytes, as in the memory of programs: a view of a user's array may begin at any address


class Inputs:
    """The inputs of a program, by their arrays of values."""

    def __init__(
        self,
        members: Mapping[Vec, ProgramVector],
        held: Mapping[int, VectorStore],
        read: Collection[Vec],
        moved: set[int],
    ) -> None:
        """held: the contents of vectors, by number. read: full vectors that nothing writes. moved: vectors whose memory
        has moved, by `id`; more are added."""
        self.members, self.moved = members, moved
        self.values: dict[Vec, Array] = {}
        for x in read:
            store, vector = held[x.id], members[x].vector
            known = isinstance(vector, Vector) and id(vector) not in moved
            if known and not store.iso and address(store.values) % ALIGNED == 0:
                self.values[x] = store.values

    def stay(self) -> bool:
        """Whether all inputs still have the same memory."""
        if not self.values:
            return True
        gone = [self.members[x] for x, array in self.values.items() if self.members[x].held().values is not array]
        self.moved.update(id(member.vector) for member in gone)
        return not gone


STOP, WORDS = 3, 4  # the numbers of the outermost rounds that ranks exchange: from the request to stop on


# The pattern of an exchange between ranks, the arrays that are sent and received, and whether these are bitsets.
Message: TypeAlias = "tuple[Pattern, Array, Array, bool]"


class ExchangeLaunch:
    """The exchanges of a round that run together; called, it runs them. The build counts the bytes that this rank
    sends, except in nested loops, where the device counts them."""

    def __init__(self, build: Build, item: Between, *, in_round: bool = False) -> None:
        """in_round: it runs once per round."""
        self.build = build
        self.messages = [message for s in item.statements for message in _messages(build, s)]
        self.nbytes = sum(pattern.sent(source, bits) for pattern, source, _, bits in self.messages)
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
        return [(e.how, *pair, False) for pair in pairs]
    assert not isinstance(s.target, Scal)
    u, t = build.buffers[e.u], build.buffers[s.target]
    found = [] if e.u.id in build.full else [(e.how, u.at(u.bits), t.at(t.bits), True)]
    if u.values:
        found.append((e.how, u.at(u.values), t.at(t.values), e.u.dtype is BOOL))
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
