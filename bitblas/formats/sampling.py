"""Sample a matrix to estimate tile counts, compressed sizes and search depth. One kernel, one synchronization.

Evenly spaced entries with a random offset (one per SAMPLES-th of all) estimate the fill of tiles: an entry of a tile
with f entries represents 1 / f of it, so tiles = entries * the mean of 1 / f over the sample. The standard deviation of
that mean is at most 0.5 / sqrt(SAMPLES). (Algorithm 1 of Bit-GraphBLAS averages entries per nonempty bit row of random
rows, which bounds the number of tiles from below only: operations/row_sample.py.) All row pointers are read. A few
balls, the vertices within a number of edges of one vertex, estimate the number of levels of a search.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.cached import cached_property
from semirings.dtypes import DataType

from .. import tuning
from ..device.memory import Readback
from ..kernels.variant import Variant
from ..typing import Array

if TYPE_CHECKING:
    from .csr.layout import Rows

SIZES = (4, 8, 16, 32, 64)  # tile sizes for which the fill is estimated
SAMPLES = 1 << 11  # sampled entries; all, if there are fewer
BALLS, HOPS = 8, 8  # number of balls, and their radius in edges
TABLE = 1 << 15  # bytes of the hash table of a ball's vertices; fits the shared memory of every GPU
RANGES = 256  # ranges of rows, one block each
HEAD = 32  # entries of a row that a GPU fetches together with the first: a line of 128 bytes
# Output of the kernel: type, byte offset and count of each part. Balls: sizes. Ranges of rows: entries among the first
# HEAD of their rows, and the longest row. Entries: fill of their tiles; bits of the column and of the gap, and interval
# flags.
PARTS = (
    (np.dtype(np.int64), 0, BALLS * (HOPS + 1)),
    (np.dtype(np.int64), 8 * BALLS * (HOPS + 1), 2 * RANGES),
    (np.dtype(np.uint16), 8 * BALLS * (HOPS + 1) + 16 * RANGES, 6 * SAMPLES),
)
BYTES = 8 * BALLS * (HOPS + 1) + 16 * RANGES + 12 * SAMPLES
_UNIT = 8  # samples per unit of the kernel


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Sampled entries of a matrix, each of which represents `each` entries.

    fills: for each tile size (SIZES) the number of entries in the tile of each sampled entry (uint16). bits: bit length
    of its column; 0 for column 0 (uint16). gaps: bit length of its gap from the previous entry of its row, less 1; for
    the first entry of a row, of twice its distance from the diagonal (uint16). runs: 1 if the entry is in four or more
    consecutive columns of its row, 2 if it is the first of them, else 0 (uint16).
    """

    fills: Array
    bits: Array
    gaps: Array
    runs: Array
    each: float
    nrows: int
    ncols: int

    @cached_property
    def below(self) -> list[float]:
        """Estimated entries in columns below 1, 2, 4, .. up to the first power of two above all columns."""
        found = np.bincount(self.bits, minlength=(self.ncols - 1).bit_length() + 1)
        return list((self.each * found).cumsum().tolist())

    @cached_property
    def share(self) -> Array:
        """For each tile size, the number of tiles that a sampled entry represents."""
        return self.each / self.fills

    @cached_property
    def tiles(self) -> list[float]:
        """Estimated number of tiles of each size."""
        return list(self.share.sum(axis=1).tolist())

    def sums(self) -> tuple[dict[int, float], dict[int, float]]:
        """Estimated number of tiles by tile size, and the standard errors; 0 if all entries were sampled."""
        share, found, size = self.share, np.array(self.tiles), len(self.bits)
        errors = np.zeros(len(SIZES))
        if self.each > 1:
            errors = np.sqrt(np.maximum(0.0, np.einsum("ij,ij->i", share, share) - found * found / size))
        return dict(zip(SIZES, found.tolist())), dict(zip(SIZES, errors.tolist()))


class StructureSample(NamedTuple):
    """Result of sampling a matrix. heads: entries among the first 32 of their rows. longest: length of the longest row.
    balls: for each ball (square matrices only) the number of vertices within 0, 1, 2, .. edges; 0 where it became too
    large."""

    sample: Sample
    heads: int
    longest: int
    balls: Array


@functools.cache
def sample_variant(ptr: DataType, col: DataType, packed: int) -> Variant:
    slots = TABLE // col.nbytes
    table = ("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1)
    dense = "DENSE", tuning.count("sample.dense")
    constants = (("PACKED", packed), *table, ("HOPS", HOPS), ("HEAD", HEAD), dense, ("LANES", 256))
    return Variant("formats/csr/sample", (("PTR", ptr), ("COL", col)), constants)


tuning.on_change(sample_variant.cache_clear)


def sample_structure(rows: Rows) -> StructureSample:
    """Sample a layout by rows that has entries."""
    device, nrows, nvals = rows.device, rows.nrows, rows.nvals
    balls, samples, ranges = BALLS * (nrows == rows.ncols), min(SAMPLES, nvals), min(RANGES, nrows)
    (_, ptr), (_, col) = rows.format.view.types(rows, False)
    kernel, readback = device.kernel(sample_variant(ptr, col, int(rows.format.packed))), Readback(device, BYTES)
    units = balls + -(-samples // _UNIT) + ranges
    bounds = device.ranges(units, tuning.count("sample.parallel_rows"), work=nrows)
    written = [readback.part(*part) for part in PARTS]
    kernel(units, nrows, nvals, rows.ptr, rows.col, rows.width, balls, samples, ranges, *written, bounds=bounds)
    output = readback.read(np.uint8, count=BYTES)
    sizes, ends, entries = (output[at:][: count * kind.itemsize].view(kind) for kind, at, count in PARTS)
    each, fill = int(nvals) / samples, entries[: 6 * samples].reshape(samples, 6).T.copy()
    sample = Sample(fill[:5], fill[5] & 255, fill[5] >> 8 & 63, fill[5] >> 14, each, nrows, rows.ncols)
    return StructureSample(
        sample, int(ends[::2].sum()), int(ends[1::2].max()), sizes.reshape(BALLS, HOPS + 1)[:balls].copy()
    )
