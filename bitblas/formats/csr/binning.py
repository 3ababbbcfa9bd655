"""Degree-binned schedule of rows for a GPU's pull when row lengths differ much (pull_graded.cu).

Computed once per layout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..contract import Constants
from ..schedule import Hubs, hubs_of

LOG_LONGEST = 11  # log2 of the longest piece, 2048 entries: longer rows are cut
LOG_LEAST = 2  # log2 of the shortest bin: up to 4 entries
LOG_RUN = 10  # log2 of the entries of a run, which a warp takes at a time unless one row has more
GRADES = LOG_LONGEST - LOG_LEAST + 1
UNLISTED = 255


class DegreeBins(NamedTuple):
    """Pieces by bin (grade), the longest first: grade g has rows of up to 2^(LOG_LONGEST - g) entries, pieces piece[g]
    .. piece[g + 1], grouped into runs run[g] .. run[g + 1]. Segments of long rows come before the rows of grade 0."""

    runs: int
    run: Any  # uint32
    piece: Any
    segments: int
    begin: Any  # type of ptr
    length: Any  # uint16
    row: Any  # uint32: the row of a piece, or the number of a segment
    reached: Any  # uint64, bits of the rows that have entries
    hubs: Hubs | None  # the long rows
    ones: Any  # uint64, one bit per segment, all set

    def arguments(self) -> tuple[Any, ...]:
        return self.run, self.piece, self.segments, self.begin, self.length, self.row


def binned_constants(shared: int) -> Constants:
    """Compile-time constants. shared: bytes of shared memory for vector values; a block that uses them occupies a
    multiprocessor alone."""
    logs = [("LOG_LONGEST", LOG_LONGEST), ("LOG_LANE", LOG_LEAST), ("LOG_RUN", LOG_RUN), ("LANES", 32)]
    blocks = [("THREADS", 1024), ("RESIDENT", 1)] if shared else [("THREADS", 256), ("RESIDENT", 4)]
    return [*logs, *blocks, ("SHARED_BYTES", shared)]


def rows_of_run(grade: int) -> int:
    """Number of rows, or segments, that a warp takes at a time."""
    return 1 << min(5, max(0, LOG_RUN - LOG_LONGEST + grade))


def degree_bins(layout: Any) -> DegreeBins:
    """The schedule of a layout by rows with less than 2^32 rows. Kept: 10 bytes per nonempty row, 14 with 64-bit
    pointers. Peak memory: 20 bytes per row more."""
    if "grades" not in layout.cache:
        layout.cache["grades"] = _grades(layout)
    found: DegreeBins = layout.cache["grades"]
    return found


def _grades(layout: Any) -> DegreeBins:
    xp, ptr, longest = layout.device.xp, layout.ptr, 1 << LOG_LONGEST
    length, hubs = ptr[1:] - ptr[:-1], hubs_of(layout, longest)
    tops = xp.asarray([1 << log for log in range(LOG_LEAST, LOG_LONGEST)], dtype=length.dtype)
    grade = GRADES - 1 - xp.searchsorted(tops, length)  # up to 4, up to 8, .. entries
    grade = xp.where((length > 0) & (length <= longest), grade, UNLISTED).astype(np.uint8)
    counts = layout.device.to_host(xp.bincount(grade, minlength=UNLISTED + 1))[:GRADES].astype(np.int64)
    row = xp.argsort(grade, kind="stable")[: int(counts.sum())]
    begin, lengths, reached = ptr[row], length[row].astype(np.uint16), xp.zeros(-(-layout.nrows // 64), np.uint64)
    bits = xp.packbits(length > 0, bitorder="little")
    reached.view(np.uint8)[: len(bits)] = bits
    row, segments = row.astype(np.uint32), 0
    if hubs is not None:
        segments = hubs.segments
        begin = xp.concatenate([hubs.begin, begin])
        lengths = xp.concatenate([(hubs.end - hubs.begin).astype(np.uint16), lengths])
        row = xp.concatenate([xp.arange(segments, dtype=np.uint32), row])
    counts[0] += segments
    runs = [-(-int(count) // rows_of_run(grade)) for grade, count in enumerate(counts)]
    run, piece = (xp.asarray(np.cumsum([0, *some]).astype(np.uint32)) for some in (runs, counts))
    ones = xp.full(max(1, -(-segments // 64)), ~np.uint64(0), np.uint64)
    return DegreeBins(sum(runs), run, piece, segments, begin, lengths, row, reached, hubs, ones)
