"""Kernels of CGR: heads of groups of rows, and one string of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import tuning
from ...kernels.variant import WORDS, Variant
from ...typing import Array
from ..coded import (
    Coded,
    CodedAdvance,
    CodedBinnedPull,
    CodedLines,
    CodedPull,
    CodedPush,
    CodedView,
)
from ..contract import Arguments, Constants, Format, Kernels, compute_once
from ..schedule import Bins, Part, all_set, block_constants, cut, inside, placed
from .cost import CgrCost

if TYPE_CHECKING:
    from .layout import Cgr

# ---- Degree-binned schedule of rows for a GPU's pull from a full vector (pull_binned.cu). Computed once per layout.
#
# A lane reads one segment, or a whole row with at most one segment of each kind. Other rows are shared by as many lanes
# as they have segments, rounded up to a power of two; rows of more than 32 segments are cut.

GRADES = 6  # pieces of 32, 16, .. 1 lanes
MOST = 32  # segments per piece, at most
UNROLL = 4  # columns that a lane decodes while loads are in flight


class Pieces(NamedTuple):
    """Pieces, the longest first: grade g has those shared by 2^(5 - g) lanes, pieces piece[g] .. piece[g + 1], grouped
    into runs run[g] .. run[g + 1]. Parts of long rows come before the rows of grade 0."""

    run: Array  # uint32
    piece: Array
    segments: int  # parts of long rows
    row: Array  # uint32, per piece: the position of its sum
    begin: Array  # the bit at which the row's first segment of intervals begins
    shape: Array  # uint32, of shared pieces: bits to the residuals, interval segments, segments in it, and before it
    near: Array  # uint32, per piece: the row relative to which its first columns are coded


def degree_bins(layout: Cgr, part: Part | None = None) -> Bins[Pieces]:
    """The schedule of a layout, or of some of its rows. Kept: 12 bytes per nonempty row, and 16 more if several lanes
    share it. Peak memory: 60 bytes per row more."""
    key = "grades", None if part is None else part.name, tuning.version()
    return compute_once(layout.cache, key, lambda: _grades(layout, part))


def _grades(layout: Cgr, part: Part | None) -> Bins[Pieces]:
    device, xp = layout.device, layout.device.xp
    ptr = layout.pointers()
    length = inside(ptr[1:] - ptr[:-1], part)
    begin, later, runs, others = (xp.zeros(layout.nrows, np.int64) for _ in range(4))
    kernel = device.kernel(Variant("formats/cgr/pieces", (), (("LANES", 1),)))
    kernel(layout.nrows, layout.heads, layout.words, begin, later, runs, others)
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
    pieces = Pieces(run, first, segments, to, begin[row], shape, near)
    return Bins(int(runs_upto[-1]), pieces, reached, hubs, all_set(xp, segments))


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
    bins, device = degree_bins(layout), layout.device
    found = bins.pieces
    xp, piece = device.xp, device.to_host(found.piece).astype(np.int64)
    shared = int(piece[GRADES - 1])
    marks = np.cumsum([0, *(np.diff(piece)[:-1] * (MOST >> np.arange(GRADES - 1)))])
    mark, before = xp.asarray(marks.astype(np.uint32)), xp.zeros(int(marks[-1]) + MOST, np.uint32)
    total, first = xp.zeros(max(1, shared), np.int64), layout.ranks()[found.row]
    arguments = layout.words, found.begin, found.shape, found.piece, mark, before, total
    if shared:
        device.kernel(Variant("formats/cgr/counts", (), (("LANES", 32),)))(shared, *arguments)
    if bins.hubs is not None:
        begin, total = bins.hubs.first, total[: found.segments]
        upto = xp.cumsum(total) - total
        hub = xp.searchsorted(begin, xp.arange(found.segments), side="right") - 1
        first[: found.segments] += (upto - upto[begin[:-1]][hub]).astype(first.dtype)
    return Entries(mark, before, first)


# ---- What CGR rows offer.


class CgrView(CodedView["Cgr"]):
    """A mark has the segments that begin in the part."""

    mark = 6


class CgrPull(CodedPull["Cgr"]):
    """One lane reads a row of up to one segment of each kind."""

    def lanes(self, layout: Cgr, nrows: int, kind: int) -> int:
        return 1

    def longest(self, kind: int, lanes: int) -> int:
        factor = tuning.count("coded.early_factor") if kind == WORDS else 1
        return tuning.count("cgr.longest") * factor * lanes

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * self.part_lanes  # words: one segment per lane

    @property
    def part_lanes(self) -> int:
        return tuning.count("cgr.part_lanes")


class CgrBinnedPull(CodedBinnedPull["Cgr"]):
    """No hot columns: a block of 1024 threads has few registers (RMAT 20 by degree, H200: 300 us, and 265 without)."""

    keeps_hot_columns = False

    def bins(self, layout: Cgr, part: Part | None = None) -> Bins[Pieces]:
        return degree_bins(layout, part)

    def contents(self, layout: Cgr, ranked: bool) -> Arguments:
        words, places = layout.format.view.contents(layout, False)
        if not ranked:
            return words, words, words, places
        entries = entries_of(layout)
        return words, entries.mark, entries.before, entries.first

    def constants(self, shared: int) -> Constants:
        return [("UNROLL", UNROLL), ("LANES", 32), *block_constants(shared)]


class CgrPush(CodedPush["Cgr"]):
    """As a pull; columns of intervals are distributed over the warp."""

    def lanes(self, layout: Cgr, nrows: int, kind: int) -> int:
        return 1

    def longest(self, lanes: int) -> int:
        return tuning.count("cgr.longest") * lanes


class CgrAdvance(CodedAdvance["Cgr"]):
    """Rows are read by lanes that each take a segment."""

    kernel = "formats/cgr/advance"


KERNELS: Kernels = {
    "mxv.pull": CgrPull(),
    "mxv.pull.binned": CgrBinnedPull(),
    "mxv.push": CgrPush(),
    "advance": CgrAdvance(),
    "mxm.lines": CodedLines(),
    "rows": Coded.some_rows,
}
FORMATS = (Format(CgrCost(), CgrView(), KERNELS),)
