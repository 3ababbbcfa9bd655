"""Degree-binned schedule of rows for a GPU's pull when row lengths differ much (pull_graded.cu).

Computed once per layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import tuning
from ...typing import Array
from ..contract import Arguments, Constants, compute_once
from ..schedule import Hubs, block_constants, hubs_of

if TYPE_CHECKING:
    from .layout import Rows

UNLISTED = 255


def log_limits() -> range:
    """log2 of the longest row of each bin, ascending."""
    return range(tuning.count("csr.bin_log_shortest"), tuning.count("csr.bin_log_longest") + 1)


class DegreeBins(NamedTuple):
    """Pieces by bin (grade), the longest first: grade g has rows of up to 2^(csr.bin_log_longest - g) entries,
    pieces piece[g] .. piece[g + 1], grouped into runs run[g] .. run[g + 1]. Segments of long rows come before the rows
    of grade 0."""

    runs: int
    run: Array  # uint32
    piece: Array
    segments: int
    begin: Array  # type of ptr
    length: Array  # uint16
    row: Array  # uint32: the row of a piece, or the number of a segment
    reached: Array  # uint64, bits of the rows that have entries
    hubs: Hubs | None  # the long rows
    ones: Array  # uint64, one bit per segment, all set

    def arguments(self) -> Arguments:
        return self.run, self.piece, self.segments, self.begin, self.length, self.row


def binned_constants(shared: int) -> Constants:
    """Compile-time constants. shared: bytes of shared memory for vector values; a block that uses them occupies a
    multiprocessor alone."""
    logs, run = log_limits(), tuning.count("csr.bin_log_run")
    shape = [("LOG_LONGEST", logs[-1]), ("LOG_LANE", logs[0]), ("LOG_RUN", run), ("LANES", 32)]
    return [*shape, *block_constants(shared)]


def rows_of_run(grade: int) -> int:
    """Number of rows, or segments, that a warp takes at a time."""
    return 1 << min(5, max(0, tuning.count("csr.bin_log_run") - log_limits()[-1] + grade))


def degree_bins(layout: Rows) -> DegreeBins:
    """The schedule of a layout by rows with less than 2^32 rows. Kept: 10 bytes per nonempty row, 14 with 64-bit
    pointers. Peak memory: 20 bytes per row more."""
    key = "grades", tuning.version()
    return compute_once(layout.cache, key, lambda: _grades(layout))


def _grades(layout: Rows) -> DegreeBins:
    logs = log_limits()
    xp, ptr, longest, grades = layout.device.xp, layout.ptr, 1 << logs[-1], len(logs)
    length, hubs = ptr[1:] - ptr[:-1], hubs_of(layout, longest)
    tops = xp.asarray([1 << log for log in logs[:-1]], dtype=length.dtype)
    grade = grades - 1 - xp.searchsorted(tops, length)  # up to 4, up to 8, .. entries
    grade = xp.where((length > 0) & (length <= longest), grade, UNLISTED).astype(np.uint8)
    counts = layout.device.to_host(xp.bincount(grade, minlength=UNLISTED + 1))[:grades].astype(np.int64)
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
