"""A copy of rows for repeated sums on a GPU (sums.cu): hot columns in 16 bits, and rows of about one length in slices.

Columns are renumbered by falling number of entries, in classes of about equal numbers, within which they keep their
order: a vector is copied into that order almost sequentially. The first columns are hot. Their entries are one part of
the matrix, with 16-bit columns, whose vector values a block keeps in shared memory; the other entries are the second
part. If hot columns have too few entries, all entries are one part in the given order.

In each part a row is cut into pieces of up to LONGEST entries. 1 to 32 lanes share a piece, depending on its length. A
slice is what a warp takes at a time: 32, 16, .. or 1 pieces of the same number of steps. In a step each lane takes a
unit of VEC adjacent entries. Pieces of one shape are a class, in the order of their rows. All slices of a class have
the same size, so the class gives the position of a slice, and the copy needs no offsets. A slot without an entry has
the largest column number of its type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ... import tuning
from ...device import Device
from ...typing import Array
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
MOST_HOT = (1 << 16) - 1


class Slices(NamedTuple):
    """A part of the matrix. table: of each class its first slice, the place of its first row, its first slot, and log2
    of the lanes of a piece + 256 times its steps; then the number of slices."""

    count: int
    table: Array  # INT64
    row: Array  # uint32, per piece
    col: Array  # uint16 or uint32, per slot
    first: int  # slot of all parts


@dataclass(eq=False)
class Sums:
    """The copy. order: the column of each number, of columns that have entries; None: the given order. hot: the columns
    of the first part; 0: there is one part. long: the rows of several pieces in a part, whose sums are first[k] ..
    first[k + 1] of `segments`."""

    parts: tuple[Slices, ...]
    order: Array | None  # uint32
    hot: int
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


def sums_of(rows: Csr, columns: int, *, valued: bool = False) -> Sums:
    """The copy of these rows, built on first use. columns: that may be hot. valued: with places."""
    found: Sums | None = rows.cache.get(_key(columns))
    if found is None or (valued and found.places is None):
        found = rows.cache[_key(columns)] = _build(rows, min(columns, MOST_HOT), valued)
    return found


def has_sums(rows: Csr, columns: int) -> bool:
    return _key(columns) in rows.cache


def _key(columns: int) -> tuple[str, int, float]:
    return "sums", columns, tuning.value("rows.hot_share")


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


def _slices(
    device: Device, pieces: _Pieces, names: Array, col: Array, kind: type, first: int
) -> tuple[Slices, Array, Array]:
    """The slices of pieces, and the slot of each of their entries, with its place in `col`. names: the rows with flags.
    kind: of columns."""
    xp, units = device.xp, -(-pieces.length // VEC)
    limits = xp.asarray(LANE_STEPS << np.arange(LOG_MOST_LANES))
    log = xp.searchsorted(limits, units)
    steps = -(-units // (1 << log))
    shapes = (LOG_MOST_LANES + 1) * MOST_STEPS
    falling = (shapes - log * MOST_STEPS - steps).astype(np.uint8)  # the longest pieces first
    count = device.to_host(xp.bincount(falling, minlength=shapes)).astype(np.int64)
    shape = shapes - 1 - np.arange(shapes)
    logs, steps_of = shape // MOST_STEPS, shape % MOST_STEPS + 1
    per = 32 >> logs
    slices = -(-count // per)
    before = lambda x: np.cumsum(x) - x
    first_slot = before(slices * steps_of) * 32 * VEC
    table = np.stack([before(slices), before(slices * per), first_slot + first, logs + (steps_of << 8)], 1)
    some, total = np.flatnonzero(count), int(slices.sum())
    table = np.append(table[some], [[total, 0, 0, 0]], 0)
    slots = int((slices * steps_of).sum()) * 32 * VEC
    # of each piece in the order of the classes: its rank there, place among the rows, first slot
    order = falling.argsort(kind="stable")
    which = falling[order].astype(np.int64)
    at = lambda x: xp.asarray(x)[which]
    rank, lanes = xp.arange(len(order)) - at(before(count)), at(logs)
    row = xp.full(int((slices * per).sum()), NO_ROW, np.uint32)
    row[at(before(slices * per)) + rank] = names[order]
    slice_, group = rank // at(per), rank % at(per)
    base = at(first_slot) + (slice_ * at(steps_of) * 32 + (group << lanes)) * VEC
    # of each entry
    ends = xp.zeros(len(order) + 1, np.int64)
    xp.cumsum(pieces.length[order], out=ends[1:])
    of = numbers_of(ends, int(ends[-1]), device)
    entry = xp.arange(len(of)) - ends[of]
    unit, lanes = entry // VEC, lanes[of]
    slot = base[of] + ((unit >> lanes) * 32 + (unit & (1 << lanes) - 1)) * VEC + entry % VEC
    place = pieces.begin[order][of] + entry
    cols = xp.full(max(VEC, slots), np.iinfo(kind).max, kind)
    cols[slot] = col[place].astype(kind)
    return Slices(total, xp.asarray(table.ravel()), row, cols, first), slot, place


def _build(rows: Csr, hot: int, valued: bool) -> Sums:
    device, xp, nrows, ncols, nvals = rows.device, rows.device.xp, rows.nrows, rows.ncols, rows.nvals
    device.foresee(f"the copy of {nvals} entries for sums", build_bytes(nrows, ncols, nvals))
    ptr, col, places = rows.ptr.astype(np.int64), rows.columns(), None
    count = xp.bincount(col, minlength=ncols)
    order: Array | None = _by_popularity(count)
    hot = min(hot, len(order))
    if float(count[order[:hot]].sum()) < tuning.value("rows.hot_share") * nvals:
        order, hot = None, 0
    else:
        number = xp.zeros(ncols, np.int64)
        number[order] = xp.arange(len(order))
        col, order = number[col], order.astype(np.uint32)
        places = sort_entries(device, numbers_of(ptr, nvals, device), col, nrows, ncols)
        col = col[places]
    before = xp.zeros(nvals + 1, np.int64)
    xp.cumsum(col < hot, out=before[1:])
    begin, length = ptr[:-1], ptr[1:] - ptr[:-1]
    few = before[ptr[1:]] - before[begin]  # entries of hot columns
    parts = [(begin, few, np.uint16), (begin + few, length - few, np.uint32)][hot == 0 :]
    long = xp.flatnonzero((few > LONGEST) | (length - few > LONGEST))
    several, segment, first = xp.zeros(nrows, bool), xp.zeros(nrows, np.int64), xp.zeros(len(long) + 1, np.int64)
    several[long] = True
    xp.cumsum(sum(-(-n[long] // LONGEST) for _, n, _ in parts), out=first[1:])
    segment[long] = first[:-1]  # of the next piece of the row
    slots, made, entries = 0, list[Slices](), list[Array]()
    adds = xp.zeros(nrows, bool)
    for begin, n, kind in parts:
        pieces = _cut(device, begin, n)
        row = pieces.row
        names = xp.where(several[row], segment[row] + pieces.number + IN_SEGMENTS, row + ADDS * adds[row])
        slices, slot, place = _slices(device, pieces, names.astype(np.uint32), col, kind, slots)
        made.append(slices)
        if valued:
            found = xp.zeros(len(slices.col), rows.ptr.dtype)
            found[slot] = place if places is None else places[place]
            entries.append(found)
        slots, adds, segment = slots + len(slices.col), adds | (n > 0), segment + -(-n // LONGEST)
    reached, segments = bits_of(xp, length > 0), int(first[-1])
    ones, stored = all_set(xp, segments), xp.concatenate(entries) if valued else None
    return Sums(tuple(made), order, hot, reached, stored, long, first, segments, ones)
