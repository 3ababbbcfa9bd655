"""GPU schedules of rows: lanes per row, long rows cut into segments (hubs), and degree binning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from .. import tuning
from ..typing import Array
from .contract import Constants, Layout, compute_once

# ---- Lanes per row (tile row) on a GPU: rules shared by all formats.


def power_of_two(x: float, low: int, high: int) -> int:
    """The largest power of two that is at most x, clamped to low .. high."""
    lanes = low
    while lanes * 2 <= x and lanes < high:
        lanes *= 2
    return lanes


# ---- Long rows (hubs): rows or tile rows too long for one group of GPU lanes, cut into segments.
#
# Computed once per layout.


# From the rows of the hubs, and for each segment its hub, number within it, and the hub's segment count: begin and end.
Limits: TypeAlias = Callable[[Array, Array, Array, Array], tuple[Array, Array]]


class Hubs(NamedTuple):
    """Rows (or tile rows) too long for one group of lanes, cut into segments that are processed as rows of a separate
    launch."""

    rows: Array
    first: Array  # hub h has the segments first[h] .. first[h + 1]
    begin: Array
    end: Array
    row_of: Array

    @property
    def segments(self) -> int:
        return len(self.row_of)


def longest_unit(layout: Layout) -> int:
    """Entries (tiles) of the longest row (tile row)."""
    longest = lambda: int((layout.ptr[1:] - layout.ptr[:-1]).max()) if layout.units else 0
    return compute_once(layout.cache, "longest", longest)


def has_even_units(layout: Layout, times: float) -> bool:
    """Whether no row (tile row) has more than so many times the mean number of entries (tiles)."""
    return longest_unit(layout) * max(1, layout.units) <= times * layout.work


def cut(xp: ModuleType, work: Array, longest: int, part: int, limits: Limits) -> Hubs | None:
    """Cut the units with more work than `longest` into segments of `part`; None if there are none."""
    rows = xp.flatnonzero(work > longest)
    if not len(rows):
        return None
    count = -(-work[rows].astype(np.int64) // part)
    first = xp.zeros(len(rows) + 1, np.int64)
    xp.cumsum(count, out=first[1:])
    segment = xp.arange(int(first[-1]))
    hub = xp.searchsorted(first, segment, side="right") - 1
    begin, end = limits(rows, hub, segment - first[hub], count[hub])
    return Hubs(rows, first, begin, end, rows[hub])


def hubs_of(layout: Layout, longest: int, part: int | None = None) -> Hubs | None:
    """The rows of a layout with more than `longest` entries (or tiles), in segments of `part` (default: `longest`);
    None if there are none."""
    size = part or longest

    def limits(rows: Array, hub: Array, number: Array, count: Array) -> tuple[Array, Array]:
        begin = layout.ptr[rows][hub] + number * size
        end = layout.device.xp.minimum(begin + size, layout.ptr[rows + 1][hub])
        return begin.astype(layout.ptr.dtype), end.astype(layout.ptr.dtype)

    def compute() -> Hubs | None:
        ptr = layout.ptr
        return cut(layout.device.xp, ptr[1:] - ptr[:-1], longest, size, limits)

    return compute_once(layout.cache, ("hubs", longest, size), compute)


def groups_of(layout: Layout, longest: int, rows: int, entries: int) -> Array:
    """Where groups of consecutive rows begin, and where the last one ends (INT64): at most so many rows, which begin
    within so many entries. Rows with more than `longest`, which other launches process, count as empty."""

    def compute() -> Array:
        xp = layout.device.xp
        length = (layout.ptr[1:] - layout.ptr[:-1]).astype(np.int64)
        length *= length <= longest
        number = (xp.cumsum(length) - length) // entries
        begins = xp.arange(len(length)) % rows == 0
        begins[1:] |= number[1:] != number[:-1]
        return xp.append(xp.flatnonzero(begins), len(length))

    return compute_once(layout.cache, ("groups", longest, rows, entries), compute)


# ---- Degree binning: what the schedules of CSR, NIB and CGR share.


def block_constants(shared: int) -> Constants:
    """Compile-time constants of blocks. shared: bytes of shared memory for vector values; a block that uses them
    occupies a multiprocessor alone."""
    threads, blocks = (1024, 1) if shared else (256, tuning.count("rows.bin_blocks"))
    return [("THREADS", threads), ("RESIDENT", blocks), ("SHARED_BYTES", shared)]


P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Bins(Generic[P]):
    """A degree-binned schedule of the rows of a layout: pieces, the longest first, grouped into runs."""

    runs: int
    pieces: P  # of the format: the first arguments of its kernel
    reached: Array  # uint64, bits of the rows that have entries
    hubs: Hubs | None  # the long rows
    ones: Array  # uint64, one bit per segment, all set

    @property
    def segments(self) -> int:
        return 0 if self.hubs is None else self.hubs.segments


class Part(NamedTuple):
    """A subset of a layout's rows, and the positions of their sums."""

    name: str
    rows: Array  # bool per row
    place: Array  # INT64 per row
    size: int  # number of positions


def inside(length: Array, part: Part | None) -> Array:
    """Entries per row; 0 for rows outside of `part`."""
    return length if part is None else length * part.rows


def placed(
    xp: ModuleType, length: Array, row: Array, hubs: Hubs | None, part: Part | None
) -> tuple[Array, Array, Hubs | None]:
    """Positions of the sums of pieces, from their rows; the bits of all positions that get a sum; and the hubs with
    these positions."""
    size = len(length)
    if part is not None:
        size, row = part.size, part.place[row]
        hubs = None if hubs is None else hubs._replace(rows=part.place[hubs.rows])
    some = xp.flatnonzero(length)
    flags = xp.zeros(size, bool)
    flags[some if part is None else part.place[some]] = True
    return row.astype(np.uint32, copy=False), bits_of(xp, flags), hubs


def bits_of(xp: ModuleType, flags: Array) -> Array:
    """Pack flags into whole words of bits."""
    padded = xp.zeros(-(-len(flags) // 64) * 64, bool)
    padded[: len(flags)] = flags
    return xp.packbits(padded, bitorder="little").view(np.uint64)


def all_set(xp: ModuleType, count: int) -> Array:
    """A bitset of that many bits, all set."""
    return xp.full(max(1, -(-count // 64)), ~np.uint64(0), np.uint64)
