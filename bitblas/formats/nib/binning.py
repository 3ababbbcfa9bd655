"""Degree-binned schedule of nibble rows for a GPU's pull from a full vector (pull_binned.cu).

Computed once per layout.

A lane that decodes a row by itself does a third of the work of lanes that share one, but the lanes of a warp must then
have equally many entries. So rows are sorted by length. Rows of more than 2^nib.bin_log_chunk entries are shared by 2,
4, .. 32 lanes, each starting at a mark; rows of more than 32 times as many are cut into segments.
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
    from .layout import Nib

GRADES = 6  # pieces of 32, 16, .. 1 lanes
UNROLL = 4  # entries that a lane decodes while loads are in flight
MOST_NIBBLES = 1 << 32  # marks have 32 bits
NOT_HERE = np.uint32(0xFFFFFFFF)  # the piece of an excluded row


class DegreeBins(NamedTuple):
    """Pieces, the longest first: grade g has those shared by 2^(5 - g) lanes, pieces piece[g] .. piece[g + 1], grouped
    into runs run[g] .. run[g + 1]; the marks of their lanes begin at mark[g]. Segments of long rows come before the
    rows of grade 0."""

    runs: int
    run: Array  # uint32
    piece: Array
    mark: Array
    segments: int
    begin: Array  # uint32, a nibble
    column: Array  # uint32, the column before it
    length: Array  # uint16, per piece
    last: int  # the last pair of words
    row: Array  # uint32, per piece: the position of its sum
    reached: Array  # uint64, bits of the rows that have entries
    hubs: Hubs | None  # the long rows
    ones: Array  # uint64, one bit per segment, all set

    def arguments(self) -> Arguments:
        return self.run, self.piece, self.segments, self.row, self.mark, self.begin, self.column, self.length, self.last


def log_chunk() -> int:
    """log2 of the entries per lane."""
    return tuning.count("nib.bin_log_chunk")


def chunks_variant() -> Variant:
    return Variant("formats/nib/chunks", (), (("LANES", 32), ("LOG_CHUNK", log_chunk())))


def binned_constants(shared: int) -> Constants:
    """Compile-time constants. shared: bytes of shared memory for vector values; a block that uses them occupies a
    multiprocessor alone."""
    return [("LOG_CHUNK", log_chunk()), ("UNROLL", UNROLL), ("LANES", 32), *block_constants(shared)]


def degree_bins(layout: Nib, part: Part | None = None) -> DegreeBins:
    """The schedule of a layout of less than 2^32 nibbles, or of some of its rows. Kept: 14 bytes per nonempty row, and
    8 more per 2^nib.bin_log_chunk entries of long ones. Peak memory: 24 bytes per row more."""
    key = "grades", None if part is None else part.name, tuning.version()
    return compute_once(layout.cache, key, lambda: _grades(layout, part))


def _grades(layout: Nib, part: Part | None) -> DegreeBins:
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
    device.kernel(chunks_variant())(layout.nrows, *arguments)
    size = size[order].astype(np.uint16)
    row, reached, hubs = placed(xp, length, row[order], hubs, part)
    ones = bits_of(xp, segments)
    pieces = mark, segments, begin, column, size, len(layout.words) // 2 - 1, row
    return DegreeBins(int(runs[-1]), run, first, *pieces, reached, hubs, ones)


def entries_of(layout: Nib) -> Array:
    """The number of the first entry of each piece, to find values that differ. Kept: 4 bytes per nonempty row, 8 for
    layouts of 2^31 entries and more."""
    key = "graded entries", tuning.version()
    if key not in layout.cache:
        found, xp = degree_bins(layout), layout.device.xp
        first = layout.ranks()[found.row]
        if found.hubs is not None:
            segment, begin = xp.arange(found.segments), found.hubs.first
            number = segment - begin[xp.searchsorted(begin, segment, side="right") - 1]
            first[: found.segments] += (number << (5 + log_chunk())).astype(first.dtype)
        layout.cache[key] = first
    return layout.cache[key]


def near_share(layout: Nib, columns: int) -> float:
    """The estimated share of entries in the first columns, from the marks of shared rows, which are evenly spaced; 0 if
    these rows have few of all entries."""
    found = degree_bins(layout)
    shared = layout.device.to_host(found.mark)[GRADES - 1]
    if tuning.value("nib.hot_part") * (int(shared) << log_chunk()) < layout.nvals:
        return 0.0
    return float((found.column[: int(shared)] < columns).mean())
