"""Copy vectors into the memory of a program before a run, and out of it afterwards.

The work is a table of memory pieces to fill or copy (move.cu). The host writes the table and launches the graph. Its
first kernel copies in the contents of the vectors, and its last one copies the results to memory of their own: nothing
else is launched, copied or waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ...device import Device
from ...device.jit import BLOCK
from ...kernels.prologue import Variant
from ...store import VectorStore, words
from ..buffers import BUFFERS, Frontier

FIELDS = 10  # of a piece, 64 bits each (move.cu)
TO, FROM, BYTES, STEPS, PATTERN, AT, WORD = 0, 1, 4, 5, 6, 8, 9
NOWHERE = (1 << 64) - 1
AHEAD = 1 << 24  # bytes of a result up to which memory is taken before it is asked for
CHUNK = 1 << 14  # bytes that a block moves at a time (move.cu)


class Single:
    """A vector with one entry, which nobody has written yet: where, and its value; else as a VectorStore."""

    __slots__ = ("place", "values")
    count, nvals, iso, bits = 1, 1, True, None

    def __init__(self, place: int, value: np.generic) -> None:
        self.place, self.values = place, value


def address(array: Any) -> int:
    """Where an array lies."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def pattern(value: np.generic) -> tuple[int, int]:
    """A value again and again, as two words."""
    raw = value.tobytes()
    both = np.frombuffer(raw * (16 // len(raw)), np.uint64)
    return int(both[0]), int(both[1])


class Shared:
    """64-bit words that the host writes or reads without a copy by CuPy: page-locked memory on a GPU."""

    def __init__(self, device: Device, count: int) -> None:
        self.count, count = count, max(1, count)
        if device.pins:
            memory = device.xp.cuda.alloc_pinned_memory(8 * count)  # the array keeps it
            self.host = np.frombuffer(memory, np.uint64, count)
            self.host.fill(0)
            self.address = int(memory.ptr)
        else:
            self.host = np.zeros(count, np.uint64)
            self.address = address(self.host)
        self.words = memoryview(self.host.data)
        self.last = np.uint64(self.address + 8 * (count - 1)) if device.pins else self.host[-1:]
        self.signed = self.words.cast("B").cast("q")


class Exchange:
    """The pieces of a program: those before its rounds, those after them, and what the host is told.

    Pieces are added first, then `bind` takes the memory of the table; `launches` are for the graph.
    """

    def __init__(self, device: Device, told: int) -> None:
        self.device = device
        self.told = Shared(device, told + 1)  # the last one: whether the others are there
        self.rows: list[list[int]] = []

    def add(
        self, to: Any = 0, sources: Any = (), nbytes: int | None = None, *, steps: int = 0,
        filled: tuple[int, int] = (0, 0),
    ) -> int:  # fmt: skip
        """One piece: an array (or an address) that is copied from the only source, or from the one of three that the
        steps of a round turn to; or filled. Its number."""
        places = [address(x) for x in sources] or [0]
        places = [places[k % len(places)] for k in range(BUFFERS)]
        if nbytes is None:
            nbytes = int(to.nbytes)
        at = to if isinstance(to, int) else address(to)
        self.rows.append([at, *places, nbytes, steps % BUFFERS, *filled, NOWHERE, 0])
        return len(self.rows) - 1

    def tell(self, k: int, source: Any, nbytes: int | None = None) -> None:
        """The host is told an array, as its words from k on."""
        self.add(self.told.address + 8 * k, (source,), int(source.nbytes) if nbytes is None else nbytes)

    def bind(self) -> None:
        """The memory of the table. Nothing can be added any more."""
        self.table = Shared(self.device, FIELDS * len(self.rows))
        self.table.host[: self.table.count] = np.array(self.rows, np.uint64).reshape(-1)
        self.there: Any = self.device.xp.zeros_like(self.table.host)
        same = [self.table.address] * BUFFERS
        row = [address(self.there), *same, int(self.there.nbytes), 0, 0, 0, NOWHERE, 0]
        self.all = self.device.asarray(np.array(row, np.uint64))

    def send(self, build: Any) -> Callable[[], None]:
        """The table to the device, as one piece: by a kernel that reads the host's memory, since the next one begins
        sooner after it than after a copy."""
        args = np.int64(1), self.all, build.rounds, self.told.last, np.int64(1), np.int64(0)
        launch: Callable[[], None] = build.launcher(Variant("loop/gpu/move"), 1, args)
        return launch

    def launch(
        self, build: Any, first: int, end: int, *, enters: bool = False, tells: bool = False
    ) -> Callable[[], None]:
        """Some of the pieces are filled or copied: the launch, bound to the memory of a build. enters: before
        the rounds; tells: the host is told when it is done."""
        part = self.there[FIELDS * first : FIELDS * end]
        chunks = sum(-(-row[BYTES] // CHUNK) for row in self.rows[first:end])
        launch: Callable[[], None] = build.launcher(
            Variant("loop/gpu/move"),
            1 if tells else build.grid(BLOCK * chunks),
            (np.int64(end - first), part, build.rounds, self.told.last, np.int64(enters), np.int64(tells)),
        )
        return launch

    def telling(self, first: int) -> tuple[Any, ...]:
        """The pieces from `first` on for those who tell the host by themselves (tell.cuh)."""
        return np.int64(len(self.rows) - first), self.there[FIELDS * first :], self.told.last

    # ---- before a run ----

    def put(self, piece: int, field: int, value: int) -> None:
        self.table.words[FIELDS * piece + field] = value

    def differ(self, piece: int, at: int, word: int) -> None:
        """A piece has one word that differs."""
        words, first = self.table.words, FIELDS * piece
        words[first + AT], words[first + WORD] = at, word

    def fill(self, piece: int, value: np.generic) -> None:
        words, first = self.table.words, FIELDS * piece
        words[first + FROM] = 0
        words[first + PATTERN], words[first + PATTERN + 1] = pattern(value)


class Entrance:
    """The pieces of one vector whose entries a run begins with: its bits (none where it stays full) and values."""

    def __init__(self, exchange: Exchange, frontier: Frontier, *, full: bool) -> None:
        self.exchange, self.vec = exchange, frontier.vec
        self.bits = None if full else exchange.add(frontier.bits[0])
        self.values, self.home = None, 0
        if frontier.values:
            self.values, self.home = exchange.add(frontier.values[0]), address(frontier.values[0])
        self.size = np.dtype(self.vec.dtype.np_type).itemsize * self.vec.size

    def load(self, held: VectorStore | Single) -> None:
        """Begin with what a vector holds."""
        exchange, single = self.exchange, held if isinstance(held, Single) else None
        if self.bits is not None:
            self._word(self.bits, held.bits, single)
        if self.values is None:
            return
        if self.vec.dtype is BOOL:  # a second bitset
            if not held.iso:
                self._word(self.values, held.values, None)
            elif held.values:
                self._word(self.values, held.bits, single)
            else:
                self._word(self.values, None, None)
        elif not held.iso:
            self._cells(0, self.size)
            exchange.put(self.values, FROM, address(held.values))
        elif held.count == 0:
            exchange.put(self.values, TO, 0)
        else:
            value = self.vec.dtype.np_type.type(held.values)
            self._cells(*((0, self.size) if single is None else (value.nbytes * single.place, value.nbytes)))
            exchange.fill(self.values, value)

    def _cells(self, first: int, nbytes: int) -> None:
        assert self.values is not None
        self.exchange.put(self.values, TO, self.home + first)
        self.exchange.put(self.values, BYTES, nbytes)

    def _word(self, piece: int, bits: Any, single: Single | None) -> None:
        """A bitset that is copied, or has no bit but one."""
        words, first = self.exchange.table.words, FIELDS * piece
        words[first + FROM] = 0 if bits is None else address(bits)
        if single is None:
            words[first + AT], words[first + WORD] = NOWHERE, 0
        else:
            words[first + AT], words[first + WORD] = single.place >> 6, 1 << (single.place & 63)


class Exit:
    """The pieces of one vector that a run gives: its bits and values, in memory that is taken for each run."""

    def __init__(self, exchange: Exchange, frontier: Frontier, steps: int, *, full: bool) -> None:
        self.exchange, self.frontier, self.full = exchange, frontier, full
        self.bits = exchange.add(0, frontier.bits, words(frontier.vec.size) * 8, steps=steps)
        values = frontier.values
        self.values = exchange.add(0, values, int(values[0].nbytes), steps=steps) if values else None
        self.count, self.held = len(frontier.bits[0]), (len(values[0]), values[0].dtype) if values else None
        self.nbytes = 8 * self.count + (int(values[0].nbytes) if values else 0)
        self.ahead: dict[int, tuple[Any, Any]] = {}  # by stream: others may still write to memory that was given back
        self.taken: VectorStore | None = None
        self.left = True  # the pieces lead nowhere yet

    def take(self, stream: int) -> None:
        """Memory for what the next run gives, on that stream: what was taken ahead for it, if anything was."""
        f, self.left = self.frontier, False
        (bits, values), self.ahead = self.ahead.get(stream) or self._memory(), {}
        self.exchange.put(self.bits, TO, address(bits))
        if self.values is not None:
            self.exchange.put(self.values, TO, address(values))
        self.taken = VectorStore(f.device, f.vec.size, f.vec.dtype, bits, values, f.vec.size if self.full else None)

    def look_ahead(self, stream: int) -> None:
        """Memory for the run after this one, which the host takes while the device works; none where there is none."""
        if not self.left and self.nbytes <= AHEAD:
            with suppress(*self.exchange.device.errors):
                self.ahead = {stream: self._memory()}

    def _memory(self) -> tuple[Any, Any]:
        xp = self.exchange.device.xp
        return xp.empty(self.count, np.uint64), xp.empty(*self.held) if self.held else self.frontier.iso

    def leave(self) -> None:
        """The next run gives nothing, nor writes to what an earlier one took."""
        for piece in () if self.left else (self.bits, self.values):
            if piece is not None:
                self.exchange.put(piece, TO, 0)
        self.left = True

    def give(self) -> VectorStore:
        """What the run gave."""
        taken, self.taken = self.taken, None
        assert taken is not None
        return taken
