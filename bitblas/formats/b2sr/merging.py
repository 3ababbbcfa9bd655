"""Build tiles from rows: merge the rows of each tile row by tile column, in a counting pass and a filling pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semirings.dtypes import lookup_dtype

from ...device import Device, ranges
from ...kernels.prologue import Variant
from ..csr.format import PARALLEL_ENTRIES, Csr, index_type, pointer_type
from .choice import word_type

# Mean entries per row from which on a GPU cuts a tile row, because one row may hold half of a graph (measured on an
# H200, on RMAT 20 and on 17 million entries of which one row holds half: 16 to 64 are within 10 %, 128 is 20 % slower).
LONG = 32


class TileRule(NamedTuple):
    """Minimum entries of a stored tile: `near` below tile column `limit`, `far` from it on. Entries of other tiles are
    listed one by one, near and far ones separately (formats/split)."""

    limit: int
    near: int
    far: int


def cuts_of(device: Device, rows: int, items: int, long: int, starts: Callable[[], Any]) -> tuple[int, Any]:
    """Cuts of the tile rows with at least `long` items, on devices whose threads share tile rows: an upper bound of
    their number (the exact one is only on the device), and the cuts before each tile row and in total, INT64. starts:
    function that returns the start of each tile row, and the end."""
    if not device.shares_rows:
        return 0, device.xp.zeros(1, np.int64)
    most, cuts = items // long, device.xp.zeros(rows + 1, np.int64)
    if most:
        limits = starts()
        device.xp.cumsum((limits[1:] - limits[:-1]) // long, out=cuts[1:])
    return most, cuts


class Merge:
    """Merge the rows of a CSR to tiles, by a counting and a filling pass; a GPU cuts long tile rows into parts."""

    def __init__(self, csr: Csr, tile: int, word: Any) -> None:
        """word: the NumPy type of the tiles' bits."""
        xp, device = csr.device.xp, csr.device
        self.csr, self.tile, self.tile_rows = csr, tile, -(-csr.nrows // tile)
        self.tile_col = index_type(-(-csr.ncols // tile))  # may be narrower than the type of columns
        self.none, self.no_bits = xp.zeros(1, pointer_type(csr.nvals)), xp.zeros(1, word)
        self.no_codes = xp.zeros(1, np.uint32)
        self.cut_cols = xp.zeros(1, np.int64)
        self.bounds = None
        most, self.cuts = cuts_of(device, self.tile_rows, csr.nvals, LONG * tile, self._limits)
        self.units = self.tile_rows + most
        if device.splits(csr.nvals, PARALLEL_ENTRIES):
            self.bounds = ranges.balanced(self._limits(), device.parts)
        if most:
            self.cut_cols = xp.empty(most, np.int64)
            cut, tile_cols = device.kernel(self._variant("cut")), -(-csr.ncols // tile)
            cut(most, self.tile_rows, csr.nrows, tile_cols, csr.ptr, csr.col, self.cuts, self.cut_cols)

    def _limits(self) -> Any:
        """The entries before each tile row, and in total."""
        ptr, xp = self.csr.ptr, self.csr.device.xp
        return ptr[:: self.tile] if self.csr.nrows % self.tile == 0 else xp.append(ptr[:: self.tile], ptr[-1:])

    def count(self, rule: TileRule | None = None) -> Any:
        """The tiles before each part, and in total; with a rule also the near and far single entries. Shape (1 or 3,
        units + 1)."""
        xp, kinds = self.csr.device.xp, 3 if rule else 1
        counts = xp.zeros(kinds * max(1, self.units), np.int64)
        out = xp.zeros((kinds, self.units + 1), np.int64)
        none = xp.zeros(1, self.tile_col)
        self._run(0, 0, rule, 0, out, counts, none, self.no_bits, self.none, self.none, self.no_codes)
        for kind in range(kinds):
            xp.cumsum(counts[kind * self.units : (kind + 1) * self.units], out=out[kind, 1:])
        return out

    def fill(
        self, order: bool, out: Any, col: Any, bits: Any, ranks: Any, places: Any, rule: TileRule | None = None,
        codes: Any = None, in_tiles: int = 0,
    ) -> None:  # fmt: skip
        """Write the tiles of each part from the offsets in `out` on, and the codes (uint32) of single entries, near
        ones first; their positions follow those of the `in_tiles` entries of tiles."""
        codes = self.no_codes if codes is None else codes
        self._run(1, int(order), rule, in_tiles, out, self.cuts, col, bits, ranks, places, codes)

    def _run(
        self, fill: int, order: int, rule: TileRule | None, in_tiles: int, out: Any, counts: Any, col: Any, bits: Any,
        ranks: Any, places: Any, codes: Any,
    ) -> None:  # fmt: skip
        csr = self.csr
        more = ("PLACE", self.none), ("TILE_COL", col)
        variant = self._variant("build", *more, FILL=fill, ORDER=order, SPLIT=int(rule is not None))
        rows = (self.tile_rows, csr.nrows, csr.ptr, csr.col, self.cuts, self.cut_cols, *(rule or TileRule(0, 0, 0)))
        written = (col, bits, ranks, places, codes)
        csr.device.kernel(variant)(self.units, *rows, in_tiles, out.reshape(-1), counts, *written, bounds=self.bounds)

    def tile_rows_of(self, out: Any) -> Any:
        """The counts (a row of `count`) before each tile row, which are those before its first part, and in total."""
        uncut = self.units == self.tile_rows
        return out if uncut else out[self.cuts + self.csr.device.xp.arange(self.tile_rows + 1)]

    def _variant(self, kernel: str, *more: tuple[str, Any], **constants: int) -> Variant:
        given = (("PTR", self.csr.ptr), ("COL", self.csr.col), *more)
        shape = (("TILE", self.tile), ("LANES", min(self.tile, 32)), *constants.items())
        return Variant(f"formats/b2sr/{kernel}", tuple((name, lookup_dtype(a.dtype)) for name, a in given), shape)


def count_tiles(csr: Csr, tile: int) -> int:
    """The number of non-empty tiles."""
    return int(Merge(csr, tile, word_type(tile)).count()[0, -1])
