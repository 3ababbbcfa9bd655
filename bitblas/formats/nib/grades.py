"""Degree-binned schedule of nibble rows for a GPU's pull from a full vector (pull_graded.cu).

Computed once per layout.

A lane that decodes a row by itself does a third of the work of lanes that share one, but the lanes of a warp must then
have equally many entries. So rows are sorted by length. Rows of more than CHUNK entries are shared by 2, 4, .. 32
lanes, each starting at a mark; rows of more than 32 CHUNK entries are cut into segments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...kernels.prologue import Variant
from ..choice import Constants
from ..graded import Part, bits_of, inside, placed
from ..hubs import Hubs, cut

LOG_CHUNK = 6  # of a lane, 64 entries at most
GRADES = 6  # 32 lanes a piece, 16, .. 1
UNROLL = 4  # entries that a lane decodes while it waits for others
RESIDENT = 4  # blocks of a multiprocessor, where none has a part of the vector
MOST_NIBBLES = 1 << 32  # marks have 32 bits
NOT_HERE = np.uint32(0xFFFFFFFF)  # the piece of a row that is left out


class Grades(NamedTuple):
    """Pieces, the longest first: grade g has those that 2^(5 - g) lanes share, pieces piece[g] .. piece[g + 1] and, of
    these, runs run[g] .. run[g + 1], whose lanes begin at marks from mark[g] on. Segments of long rows come before all
    rows of grade 0."""

    runs: int
    run: Any  # uint32
    piece: Any
    mark: Any
    segments: int
    begin: Any  # uint32, a nibble
    column: Any  # uint32, the one before
    length: Any  # uint16, of a piece
    last: int  # pair of words
    row: Any  # uint32, of a piece: the place of its sum
    reached: Any  # uint64, the bits of all rows that have entries
    hubs: Hubs | None  # the long rows
    ones: Any  # uint64, the bits of all segments

    def arguments(self) -> tuple[Any, ...]:
        return self.run, self.piece, self.segments, self.row, self.mark, self.begin, self.column, self.length, self.last


def chunks_variant() -> Variant:
    return Variant("formats/nib/chunks", (), (("LANES", 32), ("LOG_CHUNK", LOG_CHUNK)))


def graded_constants(shared: int) -> Constants:
    """What the pull is compiled with. shared: bytes of shared memory for values of the vector; a block that holds so
    much has a multiprocessor for itself."""
    blocks = [("THREADS", 1024), ("RESIDENT", 1)] if shared else [("THREADS", 256), ("RESIDENT", RESIDENT)]
    return [("LOG_CHUNK", LOG_CHUNK), ("UNROLL", UNROLL), ("LANES", 32), *blocks, ("SHARED_BYTES", shared)]


def grades_of(form: Any, part: Part | None = None) -> Grades:
    """The grades of a form of less than 2^32 nibbles, or of some of its rows. Held: 14 bytes a row that has entries,
    and 8 more for each CHUNK entries of long ones. Peak memory: 24 bytes a row more."""
    key = ("grades", None if part is None else part.name)
    if key not in form.cache:
        form.cache[key] = _grades(form, part)
    found: Grades = form.cache[key]
    return found


def _grades(form: Any, part: Part | None) -> Grades:
    device, longest = form.device, 32 << LOG_CHUNK
    xp, ptr = device.xp, form.pointers()
    length = inside(ptr[1:] - ptr[:-1], part)
    hubs = cut(xp, length, longest, longest, lambda rows, hub, number, count: (number * longest, length[rows][hub]))
    row = xp.flatnonzero((length > 0) & (length <= longest))
    size, place, segments = length[row], xp.full(form.nrows, NOT_HERE, np.uint32), 0
    if hubs is not None:
        segments = hubs.segments
        size = xp.concatenate([xp.minimum(hubs.end - hubs.begin, longest), size])
        place[hubs.rows] = hubs.first[:-1].astype(np.uint32)
    place[row] = xp.arange(segments, len(size), dtype=np.uint32)
    row = row if hubs is None else xp.concatenate([hubs.row_of, row])
    key = (longest - size).astype(np.uint16)
    key[:segments] = 0  # all come first, so that their numbers tell them from rows
    order = xp.argsort(key, kind="stable")
    sorted_at = xp.empty(max(1, len(order)), np.uint32)
    sorted_at[order] = xp.arange(len(order), dtype=np.uint32)
    # Of the rows that one lane takes, that two share, ..; the others are 32 lanes a piece.
    limits = xp.asarray([longest - (1 << LOG_CHUNK + log) for log in reversed(range(GRADES - 1))], dtype=key.dtype)
    upto = device.to_host(xp.searchsorted(key[order], limits)).tolist()
    piece = np.array([0, *upto, len(order)])
    counts = np.diff(piece)
    runs = np.cumsum([0, *(-(-counts // (1 << np.arange(GRADES))))])
    marks = np.cumsum([0, *(counts << np.arange(GRADES)[::-1])])
    begin, column = (xp.zeros(int(marks[-1]) + 1, np.uint32) for _ in range(2))
    run, first, mark = (xp.asarray(x.astype(np.uint32)) for x in (runs, piece, marks))
    given = form.heads, form.words, ptr, place, sorted_at, first, mark, begin, column
    device.kernel(chunks_variant())(form.nrows, *given)
    size = size[order].astype(np.uint16)
    row, reached, hubs = placed(xp, length, row[order], hubs, part)
    ones = bits_of(xp, segments)
    return Grades(
        int(runs[-1]),
        run,
        first,
        mark,
        segments,
        begin,
        column,
        size,
        len(form.words) // 2 - 1,
        row,
        reached,
        hubs,
        ones,
    )


def entries_of(form: Any) -> Any:
    """The number of the first entry of each piece, for values that differ. Held: 4 bytes a row that has entries, 8 of
    forms of many."""
    if "graded entries" not in form.cache:
        found, xp = grades_of(form), form.device.xp
        first = form.ranks()[found.row]
        if found.hubs is not None:
            segment, begin = xp.arange(found.segments), found.hubs.first
            number = segment - begin[xp.searchsorted(begin, segment, side="right") - 1]
            first[: found.segments] += (number << (5 + LOG_CHUNK)).astype(first.dtype)
        form.cache["graded entries"] = first
    return form.cache["graded entries"]


def near_share(form: Any, columns: int) -> float:
    """The share of entries in the first columns, as the marks of shared rows have it, of which each has as many; 0
    where these have few of all."""
    found = grades_of(form)
    shared = form.device.to_host(found.mark)[GRADES - 1]
    if shared << LOG_CHUNK < form.nvals // 2:
        return 0.0
    return float((found.column[: int(shared)] < columns).mean())
