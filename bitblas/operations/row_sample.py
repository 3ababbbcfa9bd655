"""`A.profile(rows=N)`: the sampling profile of Bit-GraphBLAS (Algorithm 1), next to the estimate from sampled entries.

Of N random rows, for each tile size T, the columns divided by T are counted: their number of distinct values is the
number of nonempty bit rows, the rows of T bits of which tiles consist. EstCompressionRate is the mean over the rows of
entries per nonempty bit row. Rows without entries have no such ratio and are left out.

The rate says how many entries a bit row has, but not how many bit rows of a tile are empty, nor how long the rows are
that have it. So it bounds the bytes of B2SR only from below, as if all bit rows of each tile had entries.
formats/sampling.py estimates the number of tiles itself.

Chen, Sung, Shen, Tallent, Barker, Li: Bit-GraphBLAS: Bit-Level Optimizations of Matrix-Centric Graph Processing on GPU.
IPDPS 2022, section III.C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from semirings.dtypes import BOOL

from ..display import aligned, html
from ..exceptions import InvalidValue
from ..formats.b2sr.cost import tiles_bytes
from ..formats.csr.layout import Csr, numbers_of
from ..formats.structure import is_by_rows
from ..plan.facts import estimates
from ..store import MatrixStore
from ..typing import Array
from .assign_extract import extract
from .convert import of_rows

TILES = (4, 8, 16, 32)  # the sizes that the paper compares


@dataclass(frozen=True, repr=False)
class RowProfile:
    """The estimates for each tile size of the paper; prints as a table.

    rows: sampled rows, of which `nonempty` have entries, `entries` in all. rate: entries per nonempty bit row, the mean
    over these rows (EstCompressionRate); rate_error: its standard error. tiles: number of tiles, estimated from sampled
    entries; tiles_error: its standard error (0: all entries were sampled).
    """

    nrows: int
    ncols: int
    nvals: int
    rows: int
    nonempty: int
    entries: int
    rate: dict[int, float]
    rate_error: dict[int, float]
    tiles: dict[int, float]
    tiles_error: dict[int, float]

    @property
    def csr(self) -> int:
        """Bytes of a CSR with 32-bit columns and FP32 values, to which the paper compares."""
        return 4 * (self.nrows + 1) + 8 * self.nvals

    def by_rows(self, tile: int) -> float:
        """The least compression ratio, B2SR over CSR, for the estimated rate: all bit rows of a tile have entries."""
        rate = self.rate[tile]
        return self._ratio(tile, self.nvals / rate / tile if rate else 0.0)

    def by_entries(self, tile: int) -> float:
        """The compression ratio for the number of tiles that sampled entries estimate."""
        return self._ratio(tile, self.tiles[tile])

    def _ratio(self, tile: int, count: float) -> float:
        return tiles_bytes(self.nrows, self.ncols, max(1, round(count)), tile) / self.csr

    def __str__(self) -> str:
        return "\n".join([self._head(), *aligned(self._table())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html(self._head(), self._table())

    def _head(self) -> str:
        return (
            f"{self.nrows} x {self.ncols}, {self.nvals} entries; {self.rows} sampled rows, {self.nonempty} of them "
            f"with {self.entries} entries; of CSR: bytes of B2SR over CSR with FP32 values"
        )

    def _table(self) -> list[list[str]]:
        heads = ["tile", "entries/bit row", "+-", "of CSR, at least", "entries/tile", "+-", "of CSR"]
        rows = [heads]
        for tile in TILES:
            tiles, error = max(1.0, self.tiles[tile]), self.tiles_error[tile]
            rate, per_tile = self.rate[tile], self.nvals / tiles
            of_rows = [f"{rate:.2f}", f"{self.rate_error[tile]:.2f}", f"{self.by_rows(tile):.3f}"]
            rows.append(
                [
                    str(tile),
                    *of_rows,
                    f"{per_tile:.2f}",
                    f"{per_tile * error / tiles:.2f}",
                    f"{self.by_entries(tile):.3f}",
                ]
            )
        return rows


def _rows(A: MatrixStore, chosen: Array) -> Csr:
    """Some rows as plain ones. Caches nothing with A."""
    primary = A.structure.primary
    if not (A.structure.hypersparse or is_by_rows(primary) or "rows" in primary.format.kernels):
        A = of_rows(A.structure.plain_rows(), BOOL, np.True_)
    return extract(A, chosen, None).structure.plain_rows()


def row_profile(A: MatrixStore, count: int, seed: int = 0) -> RowProfile:
    """Sample `count` rows of a matrix, each at most once. The same rows for the same seed. InvalidValue for a count
    below 1 or above the number of rows."""
    if not 1 <= count <= A.nrows:
        raise InvalidValue(f"rows: expected 1 to {A.nrows} rows to sample, got {count}")
    device, xp = A.device, A.device.xp
    chosen = np.sort(np.random.default_rng(seed).choice(A.nrows, count, replace=False))
    some = _rows(A, device.asarray(chosen.astype(np.int64)))
    row, col = numbers_of(some.ptr, some.nvals, device), some.columns(0, some.nvals)
    lengths = some.ptr[1:] - some.ptr[:-1]
    nonempty = lengths > 0
    found = int(nonempty.sum())
    rate, error = {}, {}
    for tile in TILES:
        # Columns ascend: a bit row begins where the row or the tile column changes.
        begins = xp.ones(some.nvals, bool)
        begins[1:] = (row[1:] != row[:-1]) | (col[1:] // tile != col[:-1] // tile)
        bit_rows = xp.bincount(row[begins], minlength=count)
        ratios = device.to_host(lengths[nonempty] / bit_rows[nonempty])
        rate[tile] = float(ratios.mean()) if found else 0.0
        error[tile] = float(ratios.std(ddof=1)) / math.sqrt(found) if 1 < found and count < A.nrows else 0.0
    tiles, errors = dict.fromkeys(TILES, 0.0), dict.fromkeys(TILES, 0.0)
    if A.nvals:
        seen = estimates(A.structure)
        tiles, errors = ({tile: of[tile] for tile in TILES} for of in (seen.tiles, seen.errors))
    return RowProfile(A.nrows, A.ncols, A.nvals, count, found, some.nvals, rate, error, tiles, errors)
