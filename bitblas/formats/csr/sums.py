"""A copy of rows for repeated sums on a GPU (sums.cu): 16-bit columns, and rows of about one length in slices.

If few columns have most entries, as in power-law graphs, columns are renumbered by falling number of entries, in
classes of about equal numbers, within which they keep their order: a vector is copied into that order almost
sequentially. The first columns are hot. Their entries are one part of the matrix, with 16-bit columns, whose vector
values a block keeps in shared memory. The next block of as many columns is another part, if it has enough entries, and
so on. All other entries are the last part, with 32-bit columns.

Otherwise there is one part in the given order. Rows whose columns are all near the diagonal, as in meshes, have 16-bit
differences of column and row, other rows 32-bit columns.

In each part a row is cut into pieces of up to LONGEST entries. 1 to 32 lanes share a piece, depending on its length. A
slice is what a warp takes at a time: 32, 16, .. or 1 pieces of the same number of steps. In a step each lane takes a
unit of VEC adjacent entries. Pieces of one shape are a class, in the order of their rows. All slices of a class have
the same size, so the class gives the position of a slice, and the copy needs no offsets. A slot without an entry has
the largest column number of its type.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semirings.dtypes import lookup_dtype

from ... import tuning
from ...device import Device, dummy
from ...kernels.variant import Variant
from ...typing import Array
from ..contract import Layout, compute_once
from ..schedule import all_set, bits_of
from .layout import Csr, numbers_of, sort_entries

VEC = 4  # entries of a unit
LOG_MOST_LANES, MOST_STEPS = 5, 32  # of a piece
LONGEST = VEC * MOST_STEPS << LOG_MOST_LANES  # entries of a piece
LANE_STEPS = 8  # a piece with more steps gets more lanes, as long as there are any
NO_ROW = np.uint32(0xFFFFFFFF)
# Flags of the row of a piece: the row has several pieces in a part, and this is the place of its sum among those of
# such pieces; the row also has a piece in an earlier part.
IN_SEGMENTS, ADDS = 1 << 31, 1 << 30
MOST_ROWS = 1 << 30
MOST_COLUMNS = (1 << 32) - 1  # the largest number is the column of an empty slot
NEAR = 1 << 16  # flag of a class: its columns are differences + NEAR_ZERO
NEAR_ZERO = 1 << 15
MOST_HOT = (1 << 16) - 1
HOT, WIDE, MIXED = range(3)  # kinds of parts: a hot block; 32-bit columns; rows near the diagonal, and others


class Slices(NamedTuple):
    """A part of the matrix. table: of each class its first slice, the place of its first row, its first slot, and log2
    of the lanes of a piece + 256 times its steps + NEAR; then the number of slices."""

    kind: int
    slices: int
    table: Array  # INT64
    row: Array  # uint32, per piece
    narrow: Array  # uint16, per slot
    first: int  # slot of the narrow columns
    wide: Array  # uint32, per slot
    first_wide: int
    block: int = 0  # of a hot block: its first column, and how many it has
    columns: int = 0


@dataclass(eq=False)
class Sums:
    """The copy. order: the column of each number, of columns that have entries; None: the given order. long: the rows
    of several pieces in a part, whose sums are first[k] .. first[k + 1] of `segments`."""

    parts: tuple[Slices, ...]
    order: Array | None  # uint32
    reached: Array  # uint64, bits of the rows that have entries
    places: Array | None  # of each slot of all parts: its entry, or 0; None: not needed
    long: Array  # INT64
    first: Array  # INT64
    segments: int
    ones: Array  # a bit per segment

    def values(self, values: Array) -> Array:
        """The values of the slots, from those of the entries. `places` must exist."""
        found: Array = values[self.places]
        return found


def build_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes that building takes, the copy included, before entries are counted: rarely more."""
    return 12 * nvals + 40 * nrows + 48 * ncols + _workspace(nvals)


def _workspace(nvals: int) -> int:
    """Bytes for a range of the entries."""
    return 160 * min(nvals, tuning.count("sums.range_entries"))


def copy_bytes(nrows: int, nvals: int, value: int) -> int:
    """Bytes of the copy, about: 2 to 4 per entry, 8 per row, and of entries with values of `value` bytes those and the
    places."""
    return (4 + (value + 4 if value else 0)) * nvals + 8 * nrows


def sums_of(rows: Layout, columns: int, *, valued: bool = False) -> Sums:
    """The copy of plain rows, built on first use. columns: of a hot block. valued: with places."""
    assert isinstance(rows, Csr)
    found: Sums | None = rows.cache.get(_key(columns))
    if found is None or (valued and found.places is None):
        found = rows.cache[_key(columns)] = _build(rows, min(columns, MOST_HOT), valued)
    return found


def has_sums(rows: Layout, columns: int) -> bool:
    return _key(columns) in rows.cache


def _key(columns: int) -> tuple[str, int, tuple[float, ...]]:
    limits = "rows.hot_share", "sums.block_entries", "sums.block_entries_per_row"
    return "sums", columns, tuple(map(tuning.value, limits))


def near_share(rows: Layout) -> float:
    """The share of entries of plain rows near the diagonal, in a sample, which is taken once."""
    assert isinstance(rows, Csr)

    def compute() -> float:
        at = np.linspace(0, max(0, rows.nvals - 1), min(rows.nvals, tuning.count("csr.hot_samples"))).astype(np.int64)
        at = rows.device.asarray(at)
        row = rows.device.xp.searchsorted(rows.ptr, at, side="right") - 1
        return float(_is_near(rows.columns_at(at) - row).mean()) if rows.nvals else 0.0

    return compute_once(rows.cache, "near share", compute)


def _is_near(difference: Array) -> Array:
    """Whether columns minus rows fit in 16 bits, apart from the largest number."""
    near: Array = (difference >= -NEAR_ZERO) & (difference < NEAR_ZERO - 1)
    return near


def _by_popularity(count: Array) -> Array:
    """The columns that have entries by falling number of them, in classes: four per power of two."""
    log = count.astype(np.float32).view(np.uint32) >> 21  # exponent and two bits of the mantissa
    order: Array = (1023 - log.astype(np.int64)).astype(np.uint16).argsort(kind="stable")
    return order[: int((count > 0).sum())]


# ---- Building: entries are counted range by range of the rows, then the copy is allocated and filled by the same
# ranges. So the peak is the copy and the workspace of one range.

SHAPES = (LOG_MOST_LANES + 1) * MOST_STEPS  # of pieces of rows, the longest first
LOG_LANES, STEPS = np.divmod(SHAPES - 1 - np.arange(SHAPES), MOST_STEPS) + np.array([[0], [1]])
PIECES = 32 >> LOG_LANES  # of a slice


def _shape(device: Device, length: Array) -> Array:
    """The shape of pieces of that many entries; SHAPES if they have none."""
    xp, units = device.xp, -(-length // VEC)
    log = xp.searchsorted(xp.asarray(LANE_STEPS << np.arange(LOG_MOST_LANES)), units)
    shape: Array = (SHAPES - log * MOST_STEPS - -(-units // (1 << log))).astype(np.uint8)
    return shape


class _Group(NamedTuple):
    """Entries with slices of their own: of a hot block, of all other columns, of rows near the diagonal."""

    kind: int  # of the part
    flag: int  # of the classes
    narrow: bool  # 16-bit columns
    block: int = 0  # of a hot block: its first column, and how many it has
    columns: int = 0


class _Split(ABC):
    """How entries are divided into groups. order: as in Sums; then rows are sorted by the numbers of columns."""

    groups: tuple[_Group, ...]
    order: Array | None = None
    apart = False  # whether each group is a part

    @abstractmethod
    def of(self, first: int, ptr: Array, row: Array, col: Array) -> tuple[Array, Array]:
        """The groups of all entries of some rows, and the numbers of their columns. ptr, row: from row `first` on."""


class _ByPopularity(_Split):
    """Hot blocks and the rest."""

    apart = True

    def __init__(self, rows: Csr, order: Array, count: Array, columns: int, least: float) -> None:
        """order: the columns; count: the entries of each. columns: of a block; all but the first have `least` entries
        or more."""
        xp, self.columns, self.order = rows.device.xp, columns, order.astype(np.uint32)
        self.number = xp.zeros(rows.ncols, np.uint32)
        self.number[order] = xp.arange(len(order)).astype(np.uint32)
        lows = [0]
        while (low := lows[-1] + columns) < len(order) and int(count[low : low + columns].sum()) >= least:
            lows.append(low)
        hot = (_Group(HOT, 0, True, low, min(columns, len(order) - low)) for low in lows)
        self.groups = *hot, _Group(WIDE, 0, False)

    def of(self, first: int, ptr: Array, row: Array, col: Array) -> tuple[Array, Array]:
        number = self.number[col].astype(np.int64)
        return (number // self.columns).clip(0, len(self.groups) - 1), number


class _ByDistance(_Split):
    """One part of rows near the diagonal and others, in the given order."""

    groups = _Group(MIXED, NEAR, True), _Group(MIXED, 0, False)

    def __init__(self, device: Device) -> None:
        self.device = device

    def of(self, first: int, ptr: Array, row: Array, col: Array) -> tuple[Array, Array]:
        xp, difference = self.device.xp, col - row - first
        far = xp.zeros(len(row) + 1, np.int64)
        xp.cumsum(~_is_near(difference), out=far[1:])
        near = (far[ptr[1:]] == far[ptr[:-1]]) & (ptr[1:] - ptr[:-1] <= LONGEST)  # longer rows have no row number
        group = xp.where(near, 0, 1)[row]
        return group, xp.where(group == 0, difference + NEAR_ZERO, col)


class _Range(NamedTuple):
    """Rows first .. end with entries low .. high."""

    first: int
    end: int
    low: int
    high: int


class _Entries(NamedTuple):
    """The entries of a range: the row pointers, the row and the number of the column of each, and how many each row has
    in each group. Rows and entries are counted from those of the range."""

    ptr: Array
    row: Array
    number: Array
    lengths: list[Array]


class _Sorted(NamedTuple):
    """The numbers of the columns of a range's entries by rows, groups and columns; places: the order of the entries
    before that; low: the first one's place."""

    number: Array
    places: Array | None
    low: int


class _Target(NamedTuple):
    """Where a group is written: the rows of its part, its columns and their first slot."""

    row: Array
    col: Array
    first: int


class _Builder:
    def __init__(self, rows: Csr, split: _Split, valued: bool) -> None:
        """valued: with places."""
        self.rows, self.device, self.split, self.valued, xp = rows, rows.device, split, valued, rows.device.xp
        # of about as many entries, and groups of rows
        each, groups = tuning.count("sums.range_entries"), len(split.groups)
        size = rows.ptr[1:] + (xp.arange(rows.nrows) + 1) * groups
        ends = xp.searchsorted(size, xp.arange(each, rows.nvals + rows.nrows * groups, each))
        limits = np.unique([0, *self.device.to_host(ends).tolist(), rows.nrows])
        entries = self.device.to_host(rows.ptr[xp.asarray(limits)])
        pairs = zip(*(itertools.pairwise(x.tolist()) for x in (limits, entries)), strict=True)
        self.ranges = [_Range(*of, *has) for of, has in pairs if has[1] > has[0]]
        self.long, self.first, self.segments = [xp.zeros(0, np.int64)], [xp.zeros(1, np.int64)], 0

    def build(self) -> Sums:
        """Count, allocate, fill."""
        xp, rows = self.device.xp, self.rows
        counts = np.zeros((len(self.ranges), len(self.split.groups), SHAPES), np.int64)
        entries: _Entries | None = None  # of the last range
        for k, of in enumerate(self.ranges):
            entries = None
            entries = self._entries(of)
            counts[k] = self._count(entries.lengths)
        parts, targets = self._allocate(counts.sum(axis=0))
        before = counts.cumsum(axis=0) - counts  # in earlier ranges
        for of, count, earlier in zip(self.ranges, counts, before, strict=True):
            if len(self.ranges) > 1:
                entries = None
            self._fill(of, entries or self._entries(of), targets, count, earlier)
        reached, long, first = bits_of(xp, rows.ptr[1:] > rows.ptr[:-1]), *map(xp.concatenate, (self.long, self.first))
        ones = all_set(xp, self.segments)
        return Sums(parts, self.split.order, reached, self.places, long, first, self.segments, ones)

    def _entries(self, of: _Range) -> _Entries:
        rows, groups = self.rows, len(self.split.groups)
        ptr = rows.ptr[of.first : of.end + 1].astype(np.int64) - of.low
        row = numbers_of(ptr, of.high - of.low, self.device)
        group, number = self.split.of(of.first, ptr, row, rows.columns(of.low, of.high))
        counts = self.device.xp.bincount(row * groups + group, minlength=(of.end - of.first) * groups)
        return _Entries(ptr, row, number, [counts[k::groups] for k in range(groups)])

    def _count(self, lengths: list[Array]) -> np.ndarray:
        """The number of pieces of rows, by group and shape. lengths: of the rows in each group."""
        xp, found = self.device.xp, list[Array]()
        for length in lengths:
            found.append(xp.bincount(_shape(self.device, length % LONGEST), minlength=SHAPES + 1)[:SHAPES])
            found[-1][:1] += (length // LONGEST).sum()
        counts: np.ndarray = self.device.to_host(xp.concatenate(found))
        return counts.reshape(-1, SHAPES)

    def _allocate(self, counts: np.ndarray) -> tuple[tuple[Slices, ...], dict[int, _Target]]:
        """Parts without contents, and the targets of groups that have entries. counts: pieces by group and shape."""
        xp, groups, before = self.device.xp, self.split.groups, lambda x: np.cumsum(x) - x
        slices = -(-counts // PIECES)
        slots, pieces = (slices * STEPS).sum(axis=1) * 32 * VEC, (slices * PIECES).sum(axis=1)
        needed = sum(int(n) * (2 if of.narrow else 4) for n, of in zip(slots, groups, strict=True))
        needed += int(slots.sum()) * self.rows.ptr.itemsize * self.valued + 4 * int(pieces.sum())
        self.device.foresee(f"the copy of {self.rows.nvals} entries for sums", needed + _workspace(self.rows.nvals))
        self.places = xp.zeros(int(slots.sum()), self.rows.ptr.dtype) if self.valued else None
        self.first_row, self.first_slot = np.zeros_like(counts), np.zeros_like(counts)
        parts, targets, slot = list[Slices](), dict[int, _Target](), 0
        in_parts = [[k] for k in range(len(groups))] if self.split.apart else [list(range(len(groups)))]
        for members in in_parts:
            members = [k for k in members if pieces[k]]
            row = xp.full(int(pieces[members].sum()), NO_ROW, np.uint32)
            narrow, wide, first, first_wide = dummy(self.device, "uint16"), dummy(self.device, "uint32"), slot, slot
            tables, slices_of, rows_of = list[np.ndarray](), 0, 0
            for k in members:
                self.first_row[k] = rows_of + before(slices[k] * PIECES)
                self.first_slot[k] = slot + before(slices[k] * STEPS) * 32 * VEC
                shapes = LOG_LANES + (STEPS << 8) + groups[k].flag
                table = np.stack([slices_of + before(slices[k]), self.first_row[k], self.first_slot[k], shapes], 1)
                tables.append(table[counts[k] > 0])
                if groups[k].narrow:
                    narrow, first = xp.full(int(slots[k]), np.iinfo(np.uint16).max, np.uint16), slot
                else:
                    wide, first_wide = xp.full(int(slots[k]), np.iinfo(np.uint32).max, np.uint32), slot
                slot, rows_of = slot + int(slots[k]), rows_of + int(pieces[k])
                slices_of += int(slices[k].sum())
            if not members:
                continue
            # The shape of the matrix may leave only rows with 32-bit columns
            kind = (
                WIDE if groups[members[0]].kind == MIXED and not groups[members[0]].narrow else groups[members[0]].kind
            )
            table = xp.asarray(np.concatenate([*tables, [[slices_of, 0, 0, 0]]]).ravel())
            block = groups[members[0]].block, groups[members[0]].columns
            parts.append(Slices(kind, slices_of, table, row, narrow, first, wide, first_wide, *block))
            for k in members:
                targets[k] = _Target(row, *((narrow, first) if groups[k].narrow else (wide, first_wide)))
        return tuple(parts), targets

    def _fill(
        self, of: _Range, entries: _Entries, targets: dict[int, _Target], counts: np.ndarray, before: np.ndarray
    ) -> None:
        """Write the slices of a range. counts: its pieces by group and shape; before: those of earlier ranges."""
        xp, (ptr, row, number, lengths) = self.device.xp, entries
        columns = _Sorted(number, None, of.low)
        if self.split.order is not None:
            places = sort_entries(self.device, row, number, of.end - of.first, self.rows.ncols)
            columns = _Sorted(number[places], places, of.low)
        several, total = xp.zeros(of.end - of.first, bool), xp.zeros(of.end - of.first, np.int64)
        for length in lengths:
            several |= length > LONGEST
            total += -(-length // LONGEST)
        long = xp.flatnonzero(several)
        segment = xp.zeros(len(several), np.int64)  # of the next piece of a row
        ends = total[long].cumsum() + self.segments
        segment[long] = ends - total[long]
        self.long.append(long + of.first)
        self.first.append(ends)
        self.segments = int(ends[-1]) if len(ends) else self.segments
        begin, adds = ptr[:-1], xp.zeros(len(several), bool)
        for k, length in enumerate(lengths):
            if k in targets and counts[k].any():
                pieces = _cut(self.device, begin, length)
                at = pieces.row
                names = xp.where(
                    several[at], segment[at] + pieces.number + IN_SEGMENTS, at + of.first + ADDS * adds[at]
                )
                ranks = before[k] - (np.cumsum(counts[k]) - counts[k])
                self._write(k, pieces, names.astype(np.uint32), targets[k], columns, ranks)
            begin, segment, adds = begin + length, segment - (-length // LONGEST), adds | (length > 0)

    def _write(
        self, k: int, pieces: _Pieces, names: Array, target: _Target, columns: _Sorted, ranks: np.ndarray
    ) -> None:
        """Write the slices of pieces of group k. names: the rows with flags; ranks: of the first piece of each shape,
        less its number here."""
        device, xp = self.device, self.device.xp
        shape = _shape(device, pieces.length)
        order = shape.argsort(kind="stable")
        of_shape = shape[order].astype(np.int64)
        at = lambda x: xp.asarray(x)[of_shape]
        # of each piece, by shape: its rank among those of the shape, its slice, its group of lanes, its first slot
        rank, lanes = xp.arange(len(order)) + at(ranks), at(LOG_LANES)
        target.row[at(self.first_row[k]) + rank] = names[order]
        slice_, group = rank // at(PIECES), rank % at(PIECES)
        base = at(self.first_slot[k]) + (slice_ * at(STEPS) * 32 + (group << lanes)) * VEC
        ends = xp.zeros(len(order) + 1, np.int64)
        xp.cumsum(pieces.length[order], out=ends[1:])
        n, kinds = int(ends[-1]), (("COL", target.col.dtype), ("PTR", self.rows.ptr.dtype))
        types = tuple((name, lookup_dtype(kind)) for name, kind in kinds)
        write = device.kernel(Variant("formats/csr/fill_sums", types, (("LANES", 1), ("VEC", VEC))))
        number, places, low = columns
        entries = number, self.split.groups[k].block, ends if places is None else places, int(places is not None), low
        kept = dummy(device, self.rows.ptr.dtype.name) if self.places is None else self.places
        of = numbers_of(ends, n, device)
        tail = target.col, target.first, kept, int(self.places is not None)
        write(n, of, ends, pieces.begin[order], base, lanes, *entries, *tail)


class _Pieces(NamedTuple):
    """Pieces of rows, in their order: the row, the number of the piece in it, its entries."""

    row: Array
    number: Array
    begin: Array
    length: Array


def _cut(device: Device, begin: Array, length: Array) -> _Pieces:
    """Cut the rows with entries into pieces. begin, length: of all rows."""
    xp, row = device.xp, device.xp.flatnonzero(length)
    begin, length = begin[row], length[row]
    first = xp.zeros(len(row) + 1, np.int64)
    xp.cumsum(-(-length // LONGEST), out=first[1:])
    of = numbers_of(first, int(first[-1]), device)
    number = xp.arange(len(of)) - first[of]
    left = length[of] - number * LONGEST
    return _Pieces(row[of], number, begin[of] + number * LONGEST, xp.minimum(left, LONGEST))


def _build(rows: Csr, columns: int, valued: bool) -> Sums:
    """columns: of a hot block. valued: with places."""
    device, nvals = rows.device, rows.nvals
    device.foresee(f"the copy of {nvals} entries for sums", build_bytes(rows.nrows, rows.ncols, nvals))
    xp, every = device.xp, rows.ncols <= columns  # all columns are hot, in the given order
    count = xp.bincount(rows.columns(), minlength=rows.ncols)
    order = xp.arange(rows.ncols) if every else _by_popularity(count)
    count, columns = count[order], min(columns, len(order))
    # Fewer entries do not repay a launch, and the pieces of rows that it adds
    filled = int((rows.ptr[1:] > rows.ptr[:-1]).sum())
    least = max(tuning.value("sums.block_entries"), tuning.value("sums.block_entries_per_row") * filled)
    hot = int(count[:columns].sum())
    split: _Split = _ByDistance(device)
    if hot and hot >= min(tuning.value("rows.hot_share") * nvals, least):
        split = _ByPopularity(rows, order, count, columns, least)
        split.order = None if every else split.order
    return _Builder(rows, split, valued).build()
