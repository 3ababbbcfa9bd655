"""Degree-binned schedule of CGR rows for a GPU's pull from a full vector (pull_binned.cu). Computed once per layout.

A lane reads one segment, or a whole row with at most one segment of each kind. Other rows are shared by as many lanes
as they have segments, rounded up to a power of two; rows of more than 32 segments are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import tuning
from ...kernels.variant import Variant
from ...typing import Array
from ..contract import Arguments, Constants, compute_once
from ..schedule import Hubs, Part, bits_of, block_constants, cut, inside, placed

if TYPE_CHECKING:
    from .layout import Cgr

GRADES = 6  # pieces of 32, 16, .. 1 lanes
MOST = 32  # segments per piece, at most
UNROLL = 4  # columns that a lane decodes while loads are in flight


class DegreeBins(NamedTuple):
    """Pieces, the longest first: grade g has those shared by 2^(5 - g) lanes, pieces piece[g] .. piece[g + 1], grouped
    into runs run[g] .. run[g + 1]. Parts of long rows come before the rows of grade 0."""

    runs: int
    run: Array  # uint32
    piece: Array
    segments: int  # parts of long rows
    begin: Array  # the bit at which the row's first segment of intervals begins
    shape: Array  # uint32, of shared pieces: bits to the residuals, interval segments, segments in it, and before it
    near: Array  # uint32, per piece: the row relative to which its first columns are coded
    row: Array  # uint32, per piece: the position of its sum
    reached: Array  # uint64, bits of the rows that have entries
    hubs: Hubs | None  # the long rows
    ones: Array  # uint64, one bit per part, all set

    def arguments(self) -> Arguments:
        return self.run, self.piece, self.segments, self.row, self.begin, self.shape, self.near


def pieces_variant() -> Variant:
    return Variant("formats/cgr/pieces", (), (("LANES", 1),))


def counts_variant() -> Variant:
    return Variant("formats/cgr/counts", (), (("LANES", 32),))


def binned_constants(shared: int) -> Constants:
    """Compile-time constants. shared: bytes of shared memory for vector values; a block that uses them occupies a
    multiprocessor alone."""
    return [("UNROLL", UNROLL), ("LANES", 32), *block_constants(shared)]


def degree_bins(layout: Cgr, part: Part | None = None) -> DegreeBins:
    """The schedule of a layout, or of some of its rows. Kept: 12 bytes per nonempty row, and 16 more if several lanes
    share it. Peak memory: 60 bytes per row more."""
    key = "grades", None if part is None else part.name, tuning.version()
    return compute_once(layout.cache, key, lambda: _grades(layout, part))


def _grades(layout: Cgr, part: Part | None) -> DegreeBins:
    device, xp = layout.device, layout.device.xp
    ptr = layout.pointers()
    length = inside(ptr[1:] - ptr[:-1], part)
    begin, later, runs, others = (xp.zeros(layout.nrows, np.int64) for _ in range(4))
    device.kernel(pieces_variant())(
        layout.nrows, layout.segment, layout.heads, layout.words, begin, later, runs, others
    )
    parts = xp.where((runs <= 1) & (others <= 1), 1, runs + others)
    parts[length == 0] = 0
    hubs = cut(xp, parts, MOST, MOST, lambda rows, hub, number, count: (number * MOST, parts[rows][hub]))
    row = xp.flatnonzero((parts > 0) & (parts <= MOST))
    grade = GRADES - 1 - xp.searchsorted(xp.asarray([1, 2, 4, 8, 16]), parts[row])
    row = row[xp.argsort((grade << 40) - length[row], kind="stable")]
    counts = device.to_host(xp.bincount(grade, minlength=GRADES)).astype(np.int64)
    base, segments = xp.zeros(len(row), np.int64), 0
    if hubs is not None:
        segments = hubs.segments
        row, base = xp.concatenate([hubs.row_of, row]), xp.concatenate([hubs.begin, base])
        counts[0] += segments
    piece = np.cumsum([0, *counts])
    runs_upto = np.cumsum([0, *(-(-counts // (1 << np.arange(GRADES))))])
    of, base = row[: int(piece[GRADES - 1])], base[: int(piece[GRADES - 1])]
    here = xp.minimum(parts[of] - base, MOST)
    shape = xp.stack([later[of], runs[of], here, base], axis=1).astype(np.uint32).ravel()
    shape = shape if len(shape) else xp.zeros(1, np.uint32)
    near = row.astype(np.uint32)
    to, reached, hubs = placed(xp, length, near, hubs, part)
    run, first = (xp.asarray(x.astype(np.uint32)) for x in (runs_upto, piece))
    ones = bits_of(xp, segments)
    return DegreeBins(int(runs_upto[-1]), run, first, segments, begin[row], shape, near, to, reached, hubs, ones)


class Entries(NamedTuple):
    """Positions of values that differ: for each grade the start of its numbers in `before`, which has the entries of a
    piece before each of its segments; and the number of the first entry of each piece."""

    mark: Array  # uint32
    before: Array  # uint32
    first: Array


def entries_of(layout: Cgr) -> Entries:
    """Kept: 4 bytes per nonempty row (8 for layouts of 2^31 entries and more), and 4 per segment of rows that lanes
    share."""
    return compute_once(layout.cache, ("graded entries", tuning.version()), lambda: _entries(layout))


def _entries(layout: Cgr) -> Entries:
    found, device = degree_bins(layout), layout.device
    xp, piece = device.xp, device.to_host(found.piece).astype(np.int64)
    shared = int(piece[GRADES - 1])
    marks = np.cumsum([0, *(np.diff(piece)[:-1] * (MOST >> np.arange(GRADES - 1)))])
    mark, before = xp.asarray(marks.astype(np.uint32)), xp.zeros(int(marks[-1]) + MOST, np.uint32)
    total, first = xp.zeros(max(1, shared), np.int64), layout.ranks()[found.row]
    arguments = layout.segment, layout.words, found.begin, found.shape, found.piece, mark, before, total
    if shared:
        device.kernel(counts_variant())(shared, *arguments)
    if found.hubs is not None:
        begin, total = found.hubs.first, total[: found.segments]
        upto = xp.cumsum(total) - total
        hub = xp.searchsorted(begin, xp.arange(found.segments), side="right") - 1
        first[: found.segments] += (upto - upto[begin[:-1]][hub]).astype(first.dtype)
    return Entries(mark, before, first)
