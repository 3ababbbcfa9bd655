"""Sample a matrix to estimate tile counts, compressed sizes and search depth. One kernel, one synchronization.

Evenly spaced entries with a random offset (one per SAMPLES-th of all) estimate the fill of tiles: an entry of a tile
with f entries represents 1 / f of it, so tiles = entries * the mean of 1 / f over the sample. The standard deviation of
that mean is at most 0.5 / sqrt(SAMPLES). (The B2SR paper, Algorithm 1, counts tiles in blocks of rows, which costs more
for the same error.) All row pointers are read. A few balls, the vertices within a number of edges of one vertex,
estimate the number of levels of a search.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semirings.cached import cached_property
from semirings.dtypes import DataType

from ..device.readback import Readback
from ..kernels.prologue import Variant

SIZES = (4, 8, 16, 32, 64)  # edges of the tiles that are told of
SAMPLES = 1 << 11  # entries that are looked at; all, where there are no more
BALLS, HOPS = 8, 8  # balls, and edges to those of their vertices that are farthest
TABLE = 1 << 15  # bytes of the table of a ball's vertices: in the shared memory of every GPU, with what else it takes
RANGES = 256  # of rows, whose pointers a block looks at
HEAD = 32  # entries of a row that a GPU fetches with the first one: a line of 128 bytes
# What the kernel writes: types, first bytes, numbers. Of balls the sizes; of ranges of rows how many entries are among
# the first HEAD of their rows, and the longest row; of entries the fill of their tiles, the bits of their columns and
# of their gaps, and whether they are in intervals.
PARTS = (
    (np.dtype(np.int64), 0, BALLS * (HOPS + 1)),
    (np.dtype(np.int64), 8 * BALLS * (HOPS + 1), 2 * RANGES),
    (np.dtype(np.uint16), 8 * BALLS * (HOPS + 1) + 16 * RANGES, 6 * SAMPLES),
)
BYTES = 8 * BALLS * (HOPS + 1) + 16 * RANGES + 12 * SAMPLES
# Entries of 64 rows up to which a CPU goes through all of them for a sample, without a search in each row.
DENSE = 1 << 13
PARALLEL = 1 << 13  # rows from which on a CPU shares the work
_UNIT = 8  # samples of a unit of the kernel


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Some entries of a matrix, each of which stands for `each` entries. fills: for each edge of tiles (SIZES) the
    entries of the tile in which each lies (uint16). bits: those of the number of its
    column (uint16); 0 of column 0. gaps: those of how far it is from the one before it in its row, less 1; of the first
    of a row, of how far it is from the diagonal, twice (uint16). runs: 1 in four or more consecutive columns of its
    row, 2 where it is the first of them, else 0 (uint16)."""

    fills: Any
    bits: Any
    gaps: Any
    runs: Any
    each: float
    nrows: int
    ncols: int

    @cached_property
    def below(self) -> list[float]:
        """The entries in columns below 1, 2, 4, .. up to the first power of two that all are below, estimated."""
        found = np.bincount(self.bits, minlength=(self.ncols - 1).bit_length() + 1)
        return list((self.each * found).cumsum().tolist())

    @cached_property
    def share(self) -> Any:
        """Of how many tiles of each edge each is one."""
        return self.each / self.fills

    @cached_property
    def tiles(self) -> list[float]:
        """The tiles of each edge."""
        return list(self.share.sum(axis=1).tolist())

    def sums(self) -> tuple[dict[int, float], dict[int, float]]:
        """By the edge of tiles how many there are, and the standard errors: 0 where all entries were looked at."""
        share, found, size = self.share, np.array(self.tiles), len(self.bits)
        errors = np.zeros(len(SIZES))
        if self.each > 1:
            errors = np.sqrt(np.maximum(0.0, np.einsum("ij,ij->i", share, share) - found * found / size))
        return dict(zip(SIZES, found.tolist())), dict(zip(SIZES, errors.tolist()))


class Look(NamedTuple):
    """What one look finds. heads: entries among the first 32 of their rows. longest: those of the longest row. balls:
    for each ball (of a square matrix) the vertices within 0, 1, 2, .. edges; 0 where it grew too large to tell."""

    sample: Sample
    heads: int
    longest: int
    balls: Any


@functools.cache
def look_variant(ptr: DataType, col: DataType, packed: int) -> Variant:
    slots = TABLE // col.nbytes
    table = ("COL_64", int(col.nbytes == 8)), ("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1)
    constants = (("PACKED", packed), *table, ("HOPS", HOPS), ("HEAD", HEAD), ("DENSE", DENSE), ("LANES", 256))
    return Variant("formats/csr/look", (("PTR", ptr), ("COL", col)), constants)


def look(rows: Any) -> Look:
    """One look at a form by rows that has entries."""
    device, nrows, nvals = rows.device, rows.nrows, rows.nvals
    balls, samples, ranges = BALLS * (nrows == rows.ncols), min(SAMPLES, nvals), min(RANGES, nrows)
    (_, ptr), (_, col) = rows.types(False)
    kernel, told = device.kernel(look_variant(ptr, col, int(rows.format.packed))), Readback(device, BYTES)
    units = balls + -(-samples // _UNIT) + ranges
    bounds, written = device.ranges(units, PARALLEL, work=nrows), (told.part(*part) for part in PARTS)
    kernel(units, nrows, nvals, rows.ptr, rows.col, rows.width, balls, samples, ranges, *written, bounds=bounds)
    found = told.read(np.uint8, count=BYTES)
    sizes, ends, seen = (found[at:][: count * kind.itemsize].view(kind) for kind, at, count in PARTS)
    each, fill = int(nvals) / samples, seen[: 6 * samples].reshape(samples, 6).T.copy()
    sample = Sample(fill[:5], fill[5] & 255, fill[5] >> 8 & 63, fill[5] >> 14, each, nrows, rows.ncols)
    return Look(sample, int(ends[::2].sum()), int(ends[1::2].max()), sizes.reshape(BALLS, HOPS + 1)[:balls].copy())
