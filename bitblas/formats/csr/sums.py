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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ... import tuning
from ...device import Device, dummy
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
    """Upper bound of the bytes that building takes, the copy included."""
    return 128 * nvals + 64 * nrows + 32 * ncols


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


def _key(columns: int) -> tuple[str, int, float, float]:
    return "sums", columns, tuning.value("rows.hot_share"), tuning.value("sums.block_entries")


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


class _Grid(NamedTuple):
    """The slices of pieces: their classes, which begin at slice, row and slot 0, the rows, the number of slots, and for
    each entry its slot and its place among the entries."""

    table: np.ndarray
    slices: int
    row: Array
    slots: int
    slot: Array
    place: Array


def _grid(device: Device, pieces: _Pieces, names: Array) -> _Grid:
    """Group pieces. names: the rows with flags."""
    xp, units = device.xp, -(-pieces.length // VEC)
    log = xp.searchsorted(xp.asarray(LANE_STEPS << np.arange(LOG_MOST_LANES)), units)
    steps = -(-units // (1 << log))
    shapes = (LOG_MOST_LANES + 1) * MOST_STEPS
    falling = (shapes - log * MOST_STEPS - steps).astype(np.uint8)  # the longest pieces first
    count = device.to_host(xp.bincount(falling, minlength=shapes)).astype(np.int64)
    shape = shapes - 1 - np.arange(shapes)
    logs, steps_of = shape // MOST_STEPS, shape % MOST_STEPS + 1
    per = 32 >> logs
    slices = -(-count // per)
    before = lambda x: np.cumsum(x) - x
    first_row, first_slot = before(slices * per), before(slices * steps_of) * 32 * VEC
    table = np.stack([before(slices), first_row, first_slot, logs + (steps_of << 8)], 1)[count > 0]
    # of each piece in the order of the classes: its rank there, place among the rows, first slot
    order = falling.argsort(kind="stable")
    which = falling[order].astype(np.int64)
    at = lambda x: xp.asarray(x)[which]
    rank, lanes = xp.arange(len(order)) - at(before(count)), at(logs)
    row = xp.full(int((slices * per).sum()), NO_ROW, np.uint32)
    row[at(first_row) + rank] = names[order]
    slice_, group = rank // at(per), rank % at(per)
    base = at(first_slot) + (slice_ * at(steps_of) * 32 + (group << lanes)) * VEC
    # of each entry
    ends = xp.zeros(len(order) + 1, np.int64)
    xp.cumsum(pieces.length[order], out=ends[1:])
    of = numbers_of(ends, int(ends[-1]), device)
    entry = xp.arange(len(of)) - ends[of]
    unit, lanes = entry // VEC, lanes[of]
    slot = base[of] + ((unit >> lanes) * 32 + (unit & (1 << lanes) - 1)) * VEC + entry % VEC
    slots = int((slices * steps_of).sum()) * 32 * VEC
    return _Grid(table, int(slices.sum()), row, slots, slot, pieces.begin[order][of] + entry)


def _columns(device: Device, grid: _Grid, col: Array, kind: type) -> Array:
    """The columns of the slots, from those of the grid's entries."""
    found = device.xp.full(grid.slots, np.iinfo(kind).max, kind)
    found[grid.slot] = col.astype(kind)
    return found


class _Builder:
    """The parts of a copy of rows, one after the other; places: the order of the entries, None: that of the rows."""

    def __init__(self, rows: Csr, places: Array | None, lengths: list[Array]) -> None:
        """lengths: the entries of each row in each part."""
        self.device, xp, self.places = rows.device, rows.device.xp, places
        nrows, self.kind = rows.nrows, rows.ptr.dtype
        self.several, self.adds, total = xp.zeros(nrows, bool), xp.zeros(nrows, bool), xp.zeros(nrows, np.int64)
        for length in lengths:
            self.several |= length > LONGEST
            total += -(-length // LONGEST)
        self.long = xp.flatnonzero(self.several)
        self.first = xp.zeros(len(self.long) + 1, np.int64)
        xp.cumsum(total[self.long], out=self.first[1:])
        self.segment = xp.zeros(nrows, np.int64)
        self.segment[self.long] = self.first[:-1]  # of the next piece of the row
        self.slots, self.parts, self.found = 0, list[Slices](), list[Array]()

    def grid(self, begin: Array, length: Array) -> _Grid | None:
        """The slices of a range of entries of each row; None if there are no entries."""
        pieces, xp = _cut(self.device, begin, length), self.device.xp
        row = pieces.row
        if not len(row):
            return None
        names = xp.where(
            self.several[row], self.segment[row] + pieces.number + IN_SEGMENTS, row + ADDS * self.adds[row]
        )
        self.segment = self.segment + -(-length // LONGEST)
        self.adds = self.adds | (length > 0)
        return _grid(self.device, pieces, names.astype(np.uint32))

    def add(
        self, kind: int, grids: list[tuple[_Grid, int, int]], cols: list[Array], block: tuple[int, int] = (0, 0)
    ) -> None:
        """Add a part of one or two grids, each with the flag of its classes and the bits of its columns. block: the
        first column of a hot block, and how many it has."""
        xp, tables, slices, rows, slot = self.device.xp, [], 0, 0, self.slots
        narrow, wide, first, first_wide = dummy(self.device, "uint16"), dummy(self.device, "uint32"), slot, slot
        for (grid, flag, bits), col in zip(grids, cols, strict=True):
            tables.append(grid.table + np.array([slices, rows, slot, flag]))
            if bits == 16:
                narrow, first = _columns(self.device, grid, col, np.uint16), slot
            else:
                wide, first_wide = _columns(self.device, grid, col, np.uint32), slot
            slices, rows, slot = slices + grid.slices, rows + len(grid.row), slot + grid.slots
        self.slots = slot
        table = xp.asarray(np.concatenate([*tables, [[slices, 0, 0, 0]]]).ravel())
        row = xp.concatenate([grid.row for grid, _, _ in grids])
        self.parts.append(Slices(kind, slices, table, row, narrow, first, wide, first_wide, *block))

    def keep_places(self, grid: _Grid) -> None:
        """Note the entry of each slot of the next grid."""
        found = self.device.xp.zeros(grid.slots, self.kind)
        found[grid.slot] = grid.place if self.places is None else self.places[grid.place]
        self.found.append(found)

    def end(self, rows: Csr, order: Array | None) -> Sums:
        xp, segments = self.device.xp, int(self.first[-1])
        reached = bits_of(xp, rows.ptr[1:] > rows.ptr[:-1])
        places = xp.concatenate(self.found) if self.found else None
        ones = all_set(xp, segments)
        return Sums(tuple(self.parts), order, reached, places, self.long, self.first, segments, ones)


def _build(rows: Csr, columns: int, valued: bool) -> Sums:
    """columns: of a hot block. valued: with places."""
    device, nvals = rows.device, rows.nvals
    device.foresee(f"the copy of {nvals} entries for sums", build_bytes(rows.nrows, rows.ncols, nvals))
    count = device.xp.bincount(rows.columns(), minlength=rows.ncols)
    order = _by_popularity(count)
    columns = min(columns, len(order))
    if float(count[order[:columns]].sum()) < tuning.value("rows.hot_share") * nvals:
        return _by_distance(rows, valued)
    return _by_blocks(rows, order, count[order], columns, valued)


def _by_blocks(rows: Csr, order: Array, count: Array, columns: int, valued: bool) -> Sums:
    """Hot blocks and the rest. count: the entries of the columns in their order."""
    device, xp = rows.device, rows.device.xp
    ptr = rows.ptr.astype(np.int64)
    number = xp.zeros(rows.ncols, np.int64)
    number[order] = xp.arange(len(order))
    row, col = numbers_of(ptr, rows.nvals, device), number[rows.columns()]
    places = sort_entries(device, row, col, rows.nrows, rows.ncols)
    col = col[places]
    limits = [columns]
    while len(order) > limits[-1] and count[limits[-1] :][:columns].sum() >= tuning.value("sums.block_entries"):
        limits.append(limits[-1] + columns)
    begin, begins, before = ptr[:-1], [ptr[:-1]], xp.zeros(rows.nvals + 1, np.int64)
    for limit in limits:
        xp.cumsum(col < limit, out=before[1:])
        begins.append(begin + before[ptr[1:]] - before[begin])
    begins.append(ptr[1:])
    lengths = [end - start for start, end in itertools.pairwise(begins)]
    builder = _Builder(rows, places, lengths)
    for k, (start, length) in enumerate(zip(begins[:-1], lengths, strict=True)):
        if (grid := builder.grid(start, length)) is None:
            continue
        if valued:
            builder.keep_places(grid)
        cols, hot = col[grid.place], k < len(limits)
        if hot:
            low = k * columns
            builder.add(HOT, [(grid, 0, 16)], [cols - low], (low, min(columns, len(order) - low)))
        else:
            builder.add(WIDE, [(grid, 0, 32)], [cols])
    return builder.end(rows, order.astype(np.uint32))


def _by_distance(rows: Csr, valued: bool) -> Sums:
    """One part in the given order."""
    device, xp = rows.device, rows.device.xp
    ptr, col = rows.ptr.astype(np.int64), rows.columns()
    length, row = ptr[1:] - ptr[:-1], numbers_of(ptr, rows.nvals, device)
    difference = col - row
    before = xp.zeros(rows.nvals + 1, np.int64)
    xp.cumsum(~_is_near(difference), out=before[1:])
    near = (before[ptr[1:]] == before[ptr[:-1]]) & (length <= LONGEST)  # pieces of longer rows have no row number
    builder, grids, cols = _Builder(rows, None, [length]), [], []
    for flags, flag, bits in ((near, NEAR, 16), (~near, 0, 32)):
        if (grid := builder.grid(ptr[:-1], length * flags)) is not None:
            grids.append((grid, flag, bits))
            cols.append(difference[grid.place] + NEAR_ZERO if flag else col[grid.place])
            if valued:
                builder.keep_places(grid)
    if grids:
        builder.add(MIXED if len(grids) > 1 or grids[0][1] else WIDE, grids, cols)
    return builder.end(rows, None)
