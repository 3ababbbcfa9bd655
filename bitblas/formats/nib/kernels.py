"""Kernels of nibble rows: heads of groups of rows, and one string of words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import INT32, lookup_dtype

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
from ..contract import CSR, Arguments, Constants, Dot, DotArguments, Format, Kernels, Layout, Types, compute_once
from ..schedule import Bins, Part, all_set, block_constants, cut, inside, placed, power_of_two
from .cost import NibCost

if TYPE_CHECKING:
    from .layout import Nib

# ---- Degree-binned schedule of rows for a GPU's pull from a full vector (pull_binned.cu). Computed once per layout.
#
# A lane that decodes a row by itself does a third of the work of lanes that share one, but the lanes of a warp must
# then have equally many entries. So rows are sorted by length. Rows of more than 2^nib.bin_log_chunk entries are shared
# by 2, 4, .. 32 lanes, each starting at a mark; rows of more than 32 times as many are cut into segments.

GRADES = 6  # pieces of 32, 16, .. 1 lanes
UNROLL = 4  # entries that a lane decodes while loads are in flight
MOST_NIBBLES = 1 << 32  # marks have 32 bits
NOT_HERE = np.uint32(0xFFFFFFFF)  # the piece of an excluded row


class Pieces(NamedTuple):
    """Pieces, the longest first: grade g has those shared by 2^(5 - g) lanes, pieces piece[g] .. piece[g + 1], grouped
    into runs run[g] .. run[g + 1]; the marks of their lanes begin at mark[g]. Segments of long rows come before the
    rows of grade 0."""

    run: Array  # uint32
    piece: Array
    segments: int
    row: Array  # uint32, per piece: the position of its sum
    mark: Array
    begin: Array  # uint32, a nibble
    column: Array  # uint32, the column before it
    length: Array  # uint16, per piece
    last: int  # the last pair of words


def log_chunk() -> int:
    """log2 of the entries per lane."""
    return tuning.count("nib.bin_log_chunk")


def degree_bins(layout: Nib, part: Part | None = None) -> Bins[Pieces]:
    """The schedule of a layout of less than 2^32 nibbles, or of some of its rows. Kept: 14 bytes per nonempty row, and
    8 more per 2^nib.bin_log_chunk entries of long ones. Peak memory: 24 bytes per row more."""
    key = "grades", None if part is None else part.name, tuning.version()
    return compute_once(layout.cache, key, lambda: _grades(layout, part))


def _grades(layout: Nib, part: Part | None) -> Bins[Pieces]:
    device, longest = layout.device, 32 << log_chunk()
    xp, ptr = device.xp, layout.pointers()
    length = inside(ptr[1:] - ptr[:-1], part)
    hubs = cut(xp, length, longest, longest, lambda rows, hub, number, count: (number * longest, length[rows][hub]))
    row = xp.flatnonzero((length > 0) & (length <= longest))
    size, place, segments = length[row], xp.full(layout.nrows, NOT_HERE, np.uint32), 0
    if hubs is not None:
        segments = hubs.segments
        size = xp.concatenate([xp.minimum(hubs.end - hubs.begin, longest), size])
        place[hubs.rows] = hubs.first[:-1].astype(np.uint32)
    place[row] = xp.arange(segments, len(size), dtype=np.uint32)
    row = row if hubs is None else xp.concatenate([hubs.row_of, row])
    key = (longest - size).astype(np.uint16)
    key[:segments] = 0  # segments come first, so that their numbers distinguish them from rows
    order = xp.argsort(key, kind="stable")
    sorted_at = xp.empty(max(1, len(order)), np.uint32)
    sorted_at[order] = xp.arange(len(order), dtype=np.uint32)
    # Limits of the rows that one lane takes, that two share, ..; other pieces have 32 lanes.
    limits = xp.asarray([longest - (1 << log_chunk() + log) for log in reversed(range(GRADES - 1))], dtype=key.dtype)
    upto = device.to_host(xp.searchsorted(key[order], limits)).tolist()
    piece = np.array([0, *upto, len(order)])
    counts = np.diff(piece)
    runs = np.cumsum([0, *(-(-counts // (1 << np.arange(GRADES))))])
    marks = np.cumsum([0, *(counts << np.arange(GRADES)[::-1])])
    begin, column = (xp.zeros(int(marks[-1]) + 1, np.uint32) for _ in range(2))
    run, first, mark = (xp.asarray(x.astype(np.uint32)) for x in (runs, piece, marks))
    arguments = layout.heads, layout.words, ptr, place, sorted_at, first, mark, begin, column
    chunks = device.kernel(Variant("formats/nib/chunks", (), (("LANES", 32), ("LOG_CHUNK", log_chunk()))))
    chunks(layout.nrows, *arguments)
    size = size[order].astype(np.uint16)
    row, reached, hubs = placed(xp, length, row[order], hubs, part)
    pieces = Pieces(run, first, segments, row, mark, begin, column, size, len(layout.words) // 2 - 1)
    return Bins(int(runs[-1]), pieces, reached, hubs, all_set(xp, segments))


def entries_of(layout: Nib) -> Array:
    """The number of the first entry of each piece, to find values that differ. Kept: 4 bytes per nonempty row, 8 for
    layouts of 2^31 entries and more."""

    def compute() -> Array:
        found, xp = degree_bins(layout), layout.device.xp
        first = layout.ranks()[found.pieces.row]
        if found.hubs is not None:
            segment, begin = xp.arange(found.segments), found.hubs.first
            number = segment - begin[xp.searchsorted(begin, segment, side="right") - 1]
            first[: found.segments] += (number << (5 + log_chunk())).astype(first.dtype)
        return first

    return compute_once(layout.cache, ("graded entries", tuning.version()), compute)


def near_share(layout: Nib, columns: int) -> float:
    """The estimated share of entries in the first columns, from the marks of shared rows, which are evenly spaced; 0 if
    these rows have few of all entries."""
    found = degree_bins(layout).pieces
    shared = layout.device.to_host(found.mark)[GRADES - 1]
    if tuning.value("nib.hot_part") * (int(shared) << log_chunk()) < layout.nvals:
        return 0.0
    return float((found.column[: int(shared)] < columns).mean())


# ---- What nibble rows offer.

DOT_INDICES = "COL", "MPTR", "APLACE", "BPLACE"


class NibView(CodedView["Nib"]):
    """A mark has the start of a segment, and its end."""

    mark = 4


class NibPull(CodedPull["Nib"]):
    """Each lane has some words of a row; one lane if a row stops at its first hit."""

    def lanes(self, layout: Nib, nrows: int, kind: int) -> int:
        if kind == WORDS:
            return 1
        return power_of_two(len(layout.words) / max(1, nrows) / tuning.value("nib.pull_words_per_lane"), 1, 32)

    def longest(self, kind: int, lanes: int) -> int:
        factor = tuning.count("coded.early_factor") if kind == WORDS else 1
        return tuning.count("rows.iterations") * factor * lanes

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * 32


class NibBinnedPull(CodedBinnedPull["Nib"]):
    """Lanes decode chunks of equal numbers of entries."""

    def suits(self, layout: Nib) -> bool:
        return super().suits(layout) and len(layout.words) * layout.code.in_word < MOST_NIBBLES

    def bins(self, layout: Nib, part: Part | None = None) -> Bins[Pieces]:
        return degree_bins(layout, part)

    def contents(self, layout: Nib, ranked: bool) -> Arguments:
        return (layout.words, entries_of(layout)) if ranked else layout.format.view.contents(layout, False)

    def constants(self, shared: int) -> Constants:
        return [("LOG_CHUNK", log_chunk()), ("UNROLL", UNROLL), ("LANES", 32), *block_constants(shared)]

    def hot(self, layout: Nib, columns: int) -> int:
        """The first columns, if most entries of long rows are in them, as in an order by degree."""

        def compute() -> int:
            return min(columns, layout.ncols) if near_share(layout, columns) >= tuning.value("rows.hot_share") else 0

        return compute_once(layout.cache, ("hot", columns, tuning.version()), compute)


class NibPush(CodedPush["Nib"]):
    """Each lane has some words of a row."""

    def lanes(self, layout: Nib, nrows: int, kind: int) -> int:
        return power_of_two(len(layout.words) / max(1, nrows) / tuning.value("nib.push_words_per_lane"), 1, 32)

    def longest(self, lanes: int) -> int:
        return tuning.count("rows.iterations") * lanes


class NibAdvance(CodedAdvance["Nib"]):
    """Rows are decoded by lanes that each take a word."""

    kernel = "formats/nib/advance"
    scans = True


class NibDot(Dot["Nib"]):
    """A block takes a row of the mask. The CPU has no such kernel; rows are built for the operation."""

    indices = DOT_INDICES
    on_cpu = False

    def constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        # GROUP lanes take an entry of the mask
        slots = tuning.count("nib.dot_slots")
        table = [("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1)]
        return [("LANES", 256), ("GROUP", lanes), *table]

    def lanes(self, layout: Layout) -> int:
        """One per word of a row."""
        return power_of_two(layout.work / max(1, layout.nrows), tuning.count("rows.dot_least_lanes"), 32)

    def key_with(self, format: Format, other: Format, nrows: int, ncols: int) -> str:
        """Plain rows of the other operand are not encoded for one operation; these are decoded instead."""
        return format.key if other is format else CSR

    def arguments(self, left: Nib, right: Nib, mask: Nib, ranked: tuple[bool, bool]) -> DotArguments:
        places = mask.ranks(), left.rank_argument(ranked[0]), right.rank_argument(ranked[1])
        types = tuple((name, lookup_dtype(x.dtype)) for name, x in zip(DOT_INDICES[1:], places, strict=True))
        at, a, b = ((layout.heads, layout.words, of) for layout, of in zip((mask, left, right), places, strict=True))
        return DotArguments(mask.nrows, (("COL", INT32), *types), at, a, b)


KERNELS: Kernels = {
    "mxv.pull": NibPull(),
    "mxv.pull.binned": NibBinnedPull(),
    "mxv.push": NibPush(),
    "advance": NibAdvance(),
    "dot": NibDot(),
    "mxm.lines": CodedLines(),
    "rows": Coded.some_rows,
}
FORMATS = (Format(NibCost(), NibView(), KERNELS),)
