"""Cost model of CR2: how vertices are divided into clusters and rows into pieces, and the bytes that this takes.

An entry inside a cluster takes two local numbers less than it would globally: its column, and a share of its piece's
source. The order of the vertices decides how many entries are inside, so the order by degree is tried too, whose
permutation is stored (4 bytes per vertex); the one of fewer bytes is kept.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ... import tuning
from ...typing import Array
from ..contract import Cost, StructureFacts
from ..csr.layout import Csr
from ..packing import packed_words

# ---- Clusters, pieces and groups.

MOST = 1 << 32  # rows and columns
MOST_LOG = 16  # of the vertices of a cluster, and of the entries of a piece
WIDTHS = (4, 8, 16, 32)  # bits of a number


@functools.lru_cache(256)
def number_width(limit: int) -> int:
    """Bits of numbers below `limit`."""
    return next(width for width in WIDTHS if limit <= 1 << width)


class Grid(NamedTuple):
    """Clusters of 2^log_cluster vertices (0: none), and pieces of up to 2^log_longest entries. Groups of pieces: those
    inside a cluster, cluster by cluster, then those between clusters; of each, the longest pieces first."""

    nrows: int
    ncols: int
    log_cluster: int
    log_longest: int

    @property
    def clusters(self) -> int:
        return -(-min(self.nrows, self.ncols) >> self.log_cluster) if self.log_cluster else 0

    @property
    def kinds(self) -> int:
        """Lengths of pieces: 2^log_longest, .., 2, 1."""
        return self.log_longest + 1

    @property
    def groups(self) -> int:
        return (self.clusters + 1) * self.kinds

    @property
    def widths(self) -> tuple[int, int]:
        """Bits of a number inside a cluster, and of one between clusters."""
        most = max(1, self.nrows, self.ncols)
        return number_width(min(most, 1 << self.log_cluster)), number_width(most)

    def are_inside(self, rows: Array, cols: Array) -> Array:
        """Which of these positions are inside a cluster."""
        inside: Array = (rows >> self.log_cluster) == (cols >> self.log_cluster)
        return inside if self.log_cluster else inside & False


def grid_of(nrows: int, ncols: int) -> Grid:
    """The grid of a new layout."""
    return Grid(nrows, ncols, tuning.count("cr2.log_cluster"), tuning.count("cr2.log_longest"))


class Parts(NamedTuple):
    """What decides the size: entries inside clusters, pieces inside and between them, and whether (1) a permutation is
    stored."""

    inside: int
    inside_pieces: int
    between_pieces: int
    ordered: int


def total_bytes(grid: Grid, nvals: int, of: Parts) -> int:
    """Bytes of the pieces before each group; of sources and columns, inside and between; and of the permutation."""
    inside, between = grid.widths
    words = packed_words(of.inside_pieces, inside) + packed_words(of.inside, inside)
    words += packed_words(of.between_pieces, between) + packed_words(nvals - of.inside, between)
    return 8 * (grid.groups + 1) + 4 * words + 4 * max(1, grid.nrows * of.ordered)


def build_bytes(nrows: int, nvals: int) -> int:
    """Bytes that building takes in addition to the rows and the result."""
    return 128 * nvals + 32 * nrows


# ---- Count pieces, in the given order and in that of degrees.


def count_pieces(csr: Csr, grid: Grid, rows: Array, cols: Array, ordered: int) -> Parts:
    """The parts of entries, whose rows need not ascend. Peak memory: 18 bytes per entry and 32 per row."""
    xp, found = csr.device.xp, []
    inside = grid.are_inside(rows, cols)
    for chosen in (inside, ~inside):
        degree = counts_of(xp, rows[chosen], grid.nrows)
        pieces = (degree >> grid.log_longest).sum()
        for k in range(grid.log_longest):
            pieces = pieces + (degree >> k & 1).sum()
        found += [chosen.sum(), pieces]
    within, pieces, _, others = csr.device.to_host(xp.stack(found)).tolist()
    return Parts(within, pieces, others, ordered)


def counted(csr: Csr, grid: Grid) -> tuple[Parts, Array | None]:
    """The parts of the CR2 of these rows, and the order of its vertices (perm[new] = old); None: as they are. Peak
    memory: 50 bytes per entry."""
    rows, cols = csr.coo()
    best, perm, xp, n = count_pieces(csr, grid, rows, cols, 0), None, csr.device.xp, csr.nrows
    if best.inside < csr.nvals and grid.log_cluster and n == csr.ncols:
        # by descending number of entries in row and column, ties by number
        by_degree = xp.argsort(-(counts_of(xp, rows, n) + counts_of(xp, cols, n)), kind="stable")
        places = inverse(xp, by_degree)
        tried = count_pieces(csr, grid, places[rows], places[cols], 1)
        if total_bytes(grid, csr.nvals, tried) < total_bytes(grid, csr.nvals, best):
            best, perm = tried, by_degree
    return best, perm


def counts_of(xp: ModuleType, numbers: Array, limit: int) -> Array:
    """How often each number below `limit` occurs (INT64); CuPy counts no empty array."""
    found: Array = xp.bincount(numbers, minlength=limit) if len(numbers) else xp.zeros(limit, np.int64)
    return found


def inverse(xp: ModuleType, perm: Array) -> Array:
    """The inverse of a permutation."""
    places = xp.empty_like(perm)
    places[perm] = xp.arange(len(perm), dtype=perm.dtype)
    return places


class Cr2Cost(Cost):
    """Pieces of rows, by clusters. No sample predicts its size, so it is counted; it is chosen only on request."""

    name = "cr2"
    counts, nothing, timed = "exact", Parts(0, 0, 0, 0), False

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = max(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} rows and columns, got {nrows} x {ncols}; 'hyper' holds more"

    def count(self, rows: Csr) -> Parts:
        return counted(rows, grid_of(rows.nrows, rows.ncols))[0]

    def predict_bytes(self, facts: StructureFacts) -> int:
        return total_bytes(grid_of(facts.nrows, facts.ncols), facts.nvals, facts.own_of[self.key])

    def scratch(self, facts: StructureFacts) -> int:
        return build_bytes(facts.nrows, facts.nvals)

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        """NIB took fewer bytes of every graph that was measured (docs/formats.md)."""
        return False
