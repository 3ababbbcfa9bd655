"""Layouts that store rows as variable-length codes in blocks of 32 rows: shared base class, index, cost model.

A row can only be read from its beginning. The number of its first entry is not stored; `value_ptr` is computed when
values need it. Such a layout changes by decoding to rows, changing these, and encoding again.
Blocks. A block begins with 32 numbers of one width. Number r gives how many units (nibbles or bits) later row r ends
than if all rows of the group had equal lengths, in zigzag coding (2 d for d >= 0, else -2 d - 1). The end of a row is
therefore known without reading the rows before it, in about as many bits as its length alone would take. The units of
all rows follow, starting at a new word. `heads` holds for each group the first 32-bit word of its block, and in the
lowest 6 bits the width. Six words follow the last block: a window is three words, and each lane of a warp reads one,
four bits apart. A group without entries has no block.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from semirings.dtypes import lookup_dtype

from .. import tuning
from ..device import Bounds, Device, dummy, threads
from ..kernels.variant import Variant
from ..typing import Array
from . import validation
from .contract import (
    Advance,
    Arguments,
    BinnedPull,
    Constants,
    Cost,
    Format,
    Layout,
    LazyDict,
    LinesWalk,
    Order,
    Pull,
    PullCase,
    Push,
    StructureFacts,
    Types,
    View,
    compute_once,
)
from .csr.layout import Csr, from_arrays, numbers_of, pointer_type, rows_bytes
from .schedule import Hubs, bits_of, cut, power_of_two

if TYPE_CHECKING:
    from typing import Self

# ---- Blocks of 32 coded rows: a compressed index of where each row of variable-length codes begins and ends.

GROUP = 32  # rows per group; also in blocks.cuh and blocks.cpu.py
HEAD_BITS = 6  # bits of a head that hold the width of its numbers
PAD = 6  # words after the last block: the last of 32 lanes reads three words, 124 bits past the start of a code


def groups_of(nrows: int) -> int:
    return -(-nrows // GROUP)


def blocks_bytes(nrows: int, words: float) -> int:
    """Bytes of the heads and of that many words."""
    return 8 * (groups_of(nrows) + 1) + 4 * (round(words) + PAD)


def evenly(xp: ModuleType, room: Array) -> Array:
    """Ends of a group's rows if they shared its units evenly, one line of 32 per group."""
    return room[:, None] * xp.arange(1, GROUP + 1) >> 5


def blocks_of(device: Device, nrows: int, sizes: Array, in_word: int) -> tuple[Array, Array, Array]:
    """Heads of the groups, the end of each row in its group, and the words of all blocks. sizes: units per row;
    in_word: units per word. Peak memory: 24 bytes per row."""
    xp, groups = device.xp, groups_of(nrows)
    ends = xp.zeros(groups * GROUP, np.int64)
    ends[:nrows] = sizes
    ends = xp.cumsum(ends.reshape(groups, GROUP), axis=1)
    words = (ends[:, -1] + in_word - 1) // in_word
    later = evenly(xp, words * in_word)
    xp.subtract(ends, later, out=later)
    xp.bitwise_xor(later << 1, later >> 63, out=later)
    if nrows % GROUP:  # the last group has fewer rows
        later[-1, nrows % GROUP :] = 0
    width = xp.frexp((later.max(axis=1) if groups else words).astype(np.float64))[1].astype(np.int64)  # bit length
    block = xp.zeros(groups + 1, np.int64)
    xp.cumsum(width + words, out=block[1:])
    heads = block << HEAD_BITS
    heads[:-1] |= width
    return heads, ends.reshape(-1) if groups else xp.zeros(1, np.int64), block[-1:]


def check_blocks(xp: ModuleType, heads: Array, words: Array, nrows: int, in_word: int) -> None:
    """ValueError unless blocks are contiguous and row ends do not decrease, so that reading rows stays within the
    words."""
    width, at = heads[:-1] & ((1 << HEAD_BITS) - 1), heads >> HEAD_BITS
    room = (at[1:] - at[:-1] - width) * in_word
    whole = int(at[0]) == 0 and int(heads[-1]) == (len(words) - PAD) << HEAD_BITS
    if not whole or bool((room < 0).any()):
        raise ValueError(f"heads: expected contiguous blocks from word 0 to {len(words) - PAD}")
    if not nrows:
        return
    start = (at[:-1] * 32)[:, None] + width[:, None] * xp.arange(GROUP)
    word, places = start >> 5, (start & 31).astype(np.uint64)
    wide = width[:, None].astype(np.uint64)
    last = len(words) - 1

    def part(k: int) -> Array:
        return words[xp.minimum(word + k, last)].astype(np.uint64)

    found = (part(0) | part(1) << np.uint64(32)) >> places
    over = (places + wide) > np.uint64(64)
    found |= xp.where(over, part(2) << (np.uint64(64) - xp.where(over, places, np.uint64(1))), np.uint64(0))
    later = (found & ((np.uint64(1) << wide) - np.uint64(1))).astype(np.int64)
    ends = (later >> 1 ^ -(later & 1)) + evenly(xp, room)
    if nrows % GROUP:  # the last group has fewer rows
        ends[-1, nrows % GROUP :] = ends[-1, nrows % GROUP - 1]
    falls = (ends[:, 1:] < ends[:, :-1]).any() | (ends[:, 0] < 0).any() | (ends[:, -1] > room).any()
    if bool(falls):
        raise ValueError("words: expected row ends that do not decrease, within their blocks")


# ---- Codes, and their encoders and decoders.


@dataclass(frozen=True)
class Code:
    """A code of rows: the kernels `encode` and `decode` of formats/NAME/convert.cu, with the same arguments for all."""

    name: str
    in_word: int  # units per word: nibbles or bits
    units: str  # plural, for messages
    shared: bool  # whether GPU lanes share a row that they encode or decode

    def lanes(self, items: int, rows: int) -> int:
        """GPU lanes for a row with that mean number of entries, or words, so that each lane takes some."""
        if not self.shared:
            return 1
        return power_of_two(items / max(1, rows) / tuning.value("nib.code_words_per_lane"), 1, 32)

    def _encode(self, rows: Csr, fill: int, first: int, *arrays: Array) -> None:
        constants = ("FILL", fill), ("LANES", self.lanes(rows.nvals, rows.nrows))
        variant = Variant(f"formats/{self.name}/encode", (("PTR", lookup_dtype(rows.ptr.dtype)),), constants)
        bounds: Bounds = None  # on the CPU in whole groups, so that no two ranges share words
        if rows.device.splits(rows.nvals, tuning.count("formats.parallel_entries")):
            bounds = threads.balanced_ranges(rows.ptr, rows.device.parts, GROUP)
        rows.device.kernel(variant)(rows.nrows, first, rows.ptr, rows.col, *arrays, bounds=bounds)

    def sizes(self, rows: Csr, first: int = 0) -> Array:
        """The units that each row takes. first: the number of the first row. Peak memory: 8 bytes per row."""
        xp = rows.device.xp
        sizes, none = xp.zeros(max(1, rows.nrows), np.int64), xp.zeros(1, np.int64)
        self._encode(rows, 0, first, sizes, none, none, xp.zeros(1, np.uint32))
        return sizes[: rows.nrows]

    def fill(self, rows: Csr, heads: Array, ends: Array, words: Array, first: int = 0) -> None:
        """Write the codes of these rows into zeroed words at the positions in their heads. first: the number of the
        first row, which begins a group."""
        self._encode(rows, 1, first, rows.device.xp.zeros(1, np.int64), heads, ends, words)

    def blocks(self, rows: Csr, sizes: Array) -> tuple[Array, Array, int]:
        """Heads of the groups of rows that take that many units, the end of each row in its group, and the number of
        words of all blocks."""
        heads, ends, total = blocks_of(rows.device, rows.nrows, sizes, self.in_word)
        return heads, ends, int(rows.device.to_host(total)[0])

    def encoded(self, rows: Csr) -> tuple[Array, Array]:
        """The heads and the words of rows. Peak memory: the result, and 40 bytes per row."""
        device = rows.device
        heads, ends, count = self.blocks(rows, self.sizes(rows))
        device.foresee(f"{self.units} of {rows.nvals} entries", 4 * (count + PAD))
        words = device.xp.zeros(count + PAD, np.uint32)
        self.fill(rows, heads, ends, words)
        return heads, words

    def mean_words(self, nrows: int, units: float) -> float:
        """Estimated words of blocks with that many units in total, assuming that every group has the mean width."""
        groups = groups_of(nrows)
        width = max(0, int(units / max(1, groups)).bit_length() - tuning.count("coded.evenness"))
        return units / self.in_word + groups * (0.5 + width)


NIB, CGR = Code("nib", 8, "nibbles", True), Code("cgr", 32, "codes", False)


# ---- Shared cost model of coded rows.

MOST = (1 << 31) - 1  # rows and columns: a row's first value is twice the distance of its column from the row

SHORT = 24  # bits per value, so that each code fits into one word


class CodedCost(Cost):
    """Cost model of layouts whose rows can only be read from their beginning. `own_of` has their words."""

    code: ClassVar[Code]
    counts, nothing, timed = "own", 0.0, False

    def count(self, rows: Csr) -> float:
        return float(self.code.blocks(rows, self.code.sizes(rows))[2])

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = max(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} rows and columns, got {nrows} x {ncols}; 'csr' holds more"

    def predict_bytes(self, facts: StructureFacts) -> int:
        return blocks_bytes(facts.nrows, facts.own_of[self.key])

    def scratch(self, facts: StructureFacts) -> int:
        return 40 * facts.nrows


# ---- Hub columns of coded rows: the column of each row that a pull tries first (csr/kernels.py).


def coded_hub_columns(layout: Coded) -> tuple[Array, Array] | None:
    """Hub columns of a square matrix: for each row the column whose own row has most words, NO_ENTRIES for an empty
    row; and the bits of the other rows. None if all rows have similar lengths.

    Kept: 4 bytes and a bit per row. Peak memory: 12 bytes per row.
    """

    def compute() -> tuple[Array, Array] | None:
        length = layout.lengths()
        if int(length.max()) * layout.nrows <= tuning.value("rows.hub_column_skew") * layout.work:
            return None
        found = layout.device.xp.empty(layout.nrows, np.uint32)
        lanes = layout.code.lanes(len(layout.words), layout.nrows)
        kernel = layout.device.kernel(Variant(layout.format.kernel("hub_columns"), (), (("LANES", lanes),)))
        kernel(layout.nrows, layout.heads, layout.words, length, found)
        return found, bits_of(layout.device.xp, length > 0)

    if not layout.nrows or layout.nrows != layout.ncols:
        return None
    return compute_once(layout.cache, ("hub columns", tuning.version()), compute)


# ---- Base class of layouts that store rows as variable-length codes in blocks of 32 rows.
#
# A subclass defines its code and its format, and `check_codes` if words may not be codes.


@dataclass(eq=False)
class Coded(Layout):
    """Row i is in group g = i // 32: heads[g] >> 6 is the first word of its block, heads[g] & 63 the width of ends."""

    device: Device
    nrows: int
    ncols: int
    heads: Array  # groups + 1, INT64; the last one is the number of words
    words: Array  # uint32
    nvals: int
    value_ptr: Array | None = None  # nrows + 1: the number of each row's first entry; only if values are stored
    cache = LazyDict()  # schedules of kernels: hubs, parallel bounds

    code: ClassVar[Code]
    format: ClassVar[Format]
    compact = True
    in_order: ClassVar[bool] = True  # entries are in CSR order

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Self, Order]:
        """Encode these rows; with `order` the position of each entry's value in them. Peak memory: the result, 40 bytes
        per row, and the order twice unless entries keep their order."""
        heads, words = cls.code.encoded(rows)
        layout = cls(rows.device, rows.nrows, rows.ncols, heads, words, rows.nvals, rows.ptr if order else None)
        place = layout.decoded(True)[2] if order else None
        if place is None:
            return layout, None
        places = rows.device.xp.empty_like(place)
        places[place] = rows.device.xp.arange(rows.nvals)
        return layout, places

    def decode(self, fill: int, counts: Array, col: Array, place: Order, rows: Array | None = None) -> None:
        """One launch of the decoder over all rows, or those listed (INT64). fill 0: only count; place None: entries are
        in CSR order."""
        device, size = self.device, self.nrows if rows is None else len(rows)
        lanes, none = self.code.lanes(len(self.words), self.nrows), dummy(device, "int64")
        constants = ("FILL", fill), ("ORDER", int(place is not None)), ("LANES", lanes)
        run = device.kernel(Variant(f"formats/{self.code.name}/decode", (), constants))
        work = self.nvals * size // max(1, self.nrows)
        bounds = device.ranges(size, tuning.count("formats.parallel_entries"), work=work)
        selected = size, none if rows is None else rows, int(rows is not None)
        place = none if place is None else place
        run(*selected, self.ncols, self.heads, self.words, counts, col, place, bounds=bounds)

    def check_codes(self) -> None:
        """ValueError unless rows can be decoded within their words."""

    def bounds(self, work: int) -> Bounds:
        """Parallel ranges of rows on the CPU."""
        return self.device.ranges(self.nrows, tuning.count("formats.parallel_entries"), work=work)

    def lengths(self) -> Array:
        """Words per row, counted from its first unit on. Computed at every call."""
        sizes = self.device.xp.zeros(max(1, self.nrows), np.int64)
        run = self.device.kernel(Variant("formats/extents", (), (("IN_WORD", self.code.in_word), ("LANES", 1))))
        run(self.nrows, self.heads, self.words, sizes, bounds=self.bounds(self.nrows))
        return sizes[: self.nrows]

    @property
    def ptr(self) -> Array:
        """Words before each row, as a measure of work. Computed unless a caller still holds it (weak reference)."""
        found = self.cache["ptr"]() if "ptr" in self.cache else None
        if found is None:
            xp, length = self.device.xp, self.lengths()
            ptr = xp.zeros(self.nrows + 1, np.int64)
            xp.cumsum(length, out=ptr[1:])
            found = ptr.astype(pointer_type(self.code.in_word * len(self.words) + self.nrows), copy=False)
            self.cache["ptr"] = weakref.ref(found)
        return found

    @property
    def col(self) -> Array:
        return self.words

    @property
    def work(self) -> int:
        """The words of all rows."""
        return compute_once(self.cache, "work", lambda: int(self.lengths().sum()))

    def ranks(self) -> Array:
        """value_ptr, computed on first use."""
        if self.value_ptr is None:
            self.value_ptr = self.pointers().astype(pointer_type(self.nvals), copy=False)
        return self.value_ptr

    def pointers(self, rows: Array | None = None) -> Array:
        """The number of the first entry of each row, or of each of these rows, and the total. ValueError if the total
        of all rows is not `nvals`. Peak memory: the result, and 8 bytes per row."""
        xp, size = self.device.xp, self.nrows if rows is None else len(rows)
        ptr, counts = xp.zeros(size + 1, np.int64), xp.zeros(max(1, size), np.int64)
        self.decode(0, counts, dummy(self.device, "int32"), None, rows)
        counts[:size].cumsum(out=ptr[1:])
        if rows is None and int(ptr[-1]) != self.nvals:
            raise ValueError(f"words: expected {self.nvals} entries, got {int(ptr[-1])}")
        return ptr

    def decoded_columns(self, ptr: Array, order: bool, rows: Array | None = None) -> tuple[Array, Order]:
        """The columns of all rows, or of these rows, whose pointers are given; and with `order` the position of each
        entry among them in the layout's own order (None: the same order)."""
        xp, nvals = self.device.xp, int(ptr[-1])
        col = xp.empty(max(1, nvals), np.int32)
        place = xp.empty(max(1, nvals), np.int64) if order and not self.in_order else None
        self.decode(1, ptr, col, place, rows)
        return col[:nvals], None if place is None else place[:nvals]

    def decoded(self, order: bool) -> tuple[Array, Array, Order]:
        """Row pointers, columns, and with `order` the position of each entry in this layout (None: the same order)."""
        ptr = self.pointers()
        return ptr, *self.decoded_columns(ptr, order)

    def some_rows(self, rows: Array, order: bool) -> tuple[Csr, Order]:
        """Decode only these rows (INT64 numbers, in any order) to plain ones, concatenated; with `order` also the
        positions of their entries in this layout."""
        ptr = self.pointers(rows)
        nvals = int(ptr[-1])
        self.device.foresee(f"{len(rows)} rows of {nvals} entries", rows_bytes(len(rows), self.ncols, nvals))
        col, place = self.decoded_columns(ptr, order, rows)
        found = from_arrays(self.device, len(rows), self.ncols, ptr, col)
        if not order:
            return found, None
        owner = numbers_of(ptr, nvals, self.device)
        apart = (self.ranks()[rows] - ptr[:-1])[owner]
        return found, (self.device.xp.arange(nvals) if place is None else place) + apart

    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        """The same entries with plain columns; order[e]: the position of entry e in this layout, None if it is the
        same. Peak memory: the result, the order, and 16 bytes per row."""
        needed = rows_bytes(self.nrows, self.ncols, self.nvals) + 16 * self.nrows
        self.device.foresee(f"CSR of {self.nvals} entries", needed)
        ptr, col, places = self.decoded(order)
        return from_arrays(self.device, self.nrows, self.ncols, ptr, col), places

    def is_symmetric(self) -> bool:
        """By hashes of all positions, in one walk of the rows (csr/layout.py). Peak memory: 8 bytes per 32 rows."""
        device, groups = self.device, groups_of(self.nrows)
        sums = device.xp.zeros(max(1, groups), np.uint64)
        least = tuning.count("formats.parallel_entries")
        bounds = device.ranges(groups, least, work=len(self.words), parts=device.threads)
        run = device.kernel(Variant(self.format.kernel("mirror"), (), (("LANES", 32),)))
        run(groups, self.nrows, self.heads, self.words, sums, bounds=bounds)
        return int(sums.sum()) == 0

    def arrays(self) -> dict[str, Array]:
        return {"heads": self.heads, "words": self.words}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Self:
        nrows, ncols, nvals = validation.expect_numbers(numbers, "nrows", "ncols", "nvals")
        if refusal := cls.format.cost.refusal(nrows, ncols):
            raise ValueError(f"numbers: {cls.format.key!r} {refusal}")
        size = len(arrays["words"]) if "words" in arrays else 0
        heads, words = validation.expect_arrays(
            arrays, heads=((np.int64,), groups_of(nrows) + 1), words=((np.uint32,), max(PAD, size))
        )
        return cls(device, nrows, ncols, heads, words, nvals)

    def check(self) -> None:
        """Also checks that the encoding is canonical: decoding and encoding again must give the same words."""
        check_blocks(self.device.xp, self.heads, self.words, self.nrows, self.code.in_word)
        self.check_codes()
        rows = self.to_csr(False)[0]
        rows.check()
        if not self.equals(self.from_csr(rows, None, False)[0]):
            raise ValueError("words: expected the canonical encoding of the rows")


# ---- What coded rows offer. NIB and CGR override what differs.

C = TypeVar("C", bound=Coded)


class CodedView(View[C]):
    """Heads of groups of rows, and one string of words. `hubs` cuts rows of many words at marks."""

    indices = ("PLACE",)
    mark: ClassVar[int]  # numbers per mark: MARK of walk.cuh

    def types(self, layout: C, ranked: bool) -> Types:
        return (("PLACE", lookup_dtype(layout.rank_argument(ranked).dtype)),)

    def starts(self, layout: C) -> tuple[Array, int]:
        return layout.heads, 1

    def contents(self, layout: C, ranked: bool) -> Arguments:
        return layout.words, layout.rank_argument(ranked)

    def hubs(self, layout: C, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """Rows of more than `longest` words; begin: a mark per part, of `mark` numbers."""
        size, device, xp = part or longest, layout.device, layout.device.xp

        def limits(rows: Array, hub: Array, number: Array, count: Array) -> tuple[Array, Array]:
            begin, first = xp.empty(self.mark * len(hub), np.int64), xp.flatnonzero(number == 0)
            marks = device.kernel(Variant(layout.format.kernel("marks"), (), (("LANES", 32),)))
            marks(len(rows), layout.heads, layout.words, size, rows, first, begin)
            return begin, dummy(device, "int64")

        key = "hubs", longest, size
        return compute_once(layout.cache, key, lambda: cut(xp, layout.lengths(), longest, size, limits))


class CodedPull(Pull[C]):
    """A row is decoded from its beginning."""

    def constants(self, case: PullCase) -> Constants:
        return [("RANKED", int(case.ranked)), ("WIDTH", case.width)]


class CodedBinnedPull(BinnedPull[C]):
    """Lanes that share a row take three times as long (RMAT 20, half of the rows masked: 567 us, and 183)."""

    def suits(self, layout: C) -> bool:
        return layout.nvals >= tuning.count("coded.binned_from")

    def width(self, layout: C) -> int:
        """Bits per value: SHORT if no value has more bits, so that each code fits into one word; 0: any."""
        return SHORT if 2 * max(layout.nrows, layout.ncols) <= 1 << SHORT else 0


class CodedPush(Push[C]):
    """On the CPU few rows are read, while computing the words before each row reads all of them."""

    def constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return [("RANKED", int(ranked))]

    def active(self, layout: C, bits: Array) -> int | None:
        if not layout.device.host_memory:
            return None
        total = np.zeros(1, np.int64)
        kernel = layout.device.kernel(Variant("formats/active", (), (("IN_WORD", layout.code.in_word),)))
        kernel(len(bits), layout.heads, layout.words, bits, total)
        return int(total[0])


class CodedLines(LinesWalk[C]):
    """Items are words."""

    def constants(self, *, ranked: bool) -> Constants:
        return [("RANKED", int(ranked))]

    def lanes(self, layout: C) -> int:
        return layout.code.lanes(len(layout.words), layout.nrows)

    def longest(self, entries: int) -> int:
        return max(1, entries // tuning.count("coded.entries_per_step"))

    def hubs(self, layout: C, longest: int, part: int) -> Hubs | None:
        return layout.format.view.hubs(layout, longest, part)


class CodedAdvance(Advance[C]):
    """Words are pushed one after the other; each lane completes some entries of a word. A push takes the marks of the
    parts of long rows, a pull the hub columns."""

    item = "code"

    def longest(self, entries: int) -> int:
        return max(1, entries // tuning.count("coded.entries_per_step"))

    def segments(self, layout: C, longest: int) -> int:
        found = layout.format.view.hubs(layout, longest)
        return 0 if found is None else found.segments

    def pushed(self, layout: C, ranked: bool, longest: int) -> Arguments:
        found = layout.format.view.hubs(layout, longest)
        none = dummy(layout.device, "int64")
        marks: Arguments = 0, none, none, none
        if found is not None:
            marks = len(found.rows), found.rows, found.first, found.begin
        return layout.heads, layout.words, layout.rank_argument(ranked), *marks

    def pulled(self, layout: C, ranked: bool, *, read: bool = True) -> Arguments:
        hubs = coded_hub_columns(layout) if read else None
        none = dummy(layout.device, "uint32"), dummy(layout.device, "uint64")
        return layout.heads, layout.words, *(none if hubs is None else hubs), np.int64(hubs is not None)
