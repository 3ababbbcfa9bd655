"""From rows to tiles: the rows of a tile row merge by tile column, in a pass that counts and a pass that fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype

from ...device import balanced_bounds
from ...kernels.prologue import Variant
from ..csr.format import PARALLEL_ENTRIES, Csr, index_type

# Entries per row of a tile row, from which on it is cut on a GPU: one row may hold half of a graph (measured on an
# H200, on RMAT 20 and on 17 million entries of which one row holds half: 16 to 64 are within 10 %, 128 is 20 % slower).
LONG = 32


class Merge:
    """Both passes over the rows of a CSR that merge them to tiles; long tile rows are cut into parts on a GPU."""

    def __init__(self, csr: Csr, tile: int, word: Any) -> None:
        """word: the NumPy type of the tiles' bits."""
        xp, device = csr.device.xp, csr.device
        self.csr, self.tile, self.tile_rows = csr, tile, -(-csr.nrows // tile)
        self.none, self.no_bits = xp.zeros(1, index_type(csr.nvals)), xp.zeros(1, word)
        self.cuts = self.cut_cols = xp.zeros(1, np.int64)
        self.bounds = None
        most = csr.nvals // (LONG * tile) if device.is_gpu else 0  # cuts that there may be: the GPU alone knows them
        self.units = self.tile_rows + most
        if device.is_gpu:
            self.cuts = xp.zeros(self.tile_rows + 1, np.int64)
        elif csr.nvals > PARALLEL_ENTRIES:
            self.bounds = balanced_bounds(self._limits(), 4 * device.threads)
        if most:
            limits = self._limits()
            xp.cumsum((limits[1:] - limits[:-1]) // (LONG * tile), out=self.cuts[1:])
            self.cut_cols = xp.empty(most, np.int64)
            cut, tile_cols = device.kernel(self._variant("cut")), -(-csr.ncols // tile)
            cut(most, self.tile_rows, csr.nrows, tile_cols, csr.ptr, csr.col, self.cuts, self.cut_cols)

    def _limits(self) -> Any:
        """The entries before each tile row, and in all."""
        ptr, xp = self.csr.ptr, self.csr.device.xp
        return ptr[:: self.tile] if self.csr.nrows % self.tile == 0 else xp.append(ptr[:: self.tile], ptr[-1:])

    def count(self) -> Any:
        """The tiles before each part, and in all."""
        xp = self.csr.device.xp
        counts, out = xp.zeros(max(1, self.units), np.int64), xp.zeros(self.units + 1, np.int64)
        self._run(0, 0, out, counts, self.none, self.no_bits, self.none, self.none)
        xp.cumsum(counts[: self.units], out=out[1:])
        return out

    def fill(self, order: bool, out: Any, col: Any, bits: Any, ranks: Any, places: Any) -> None:
        """Write the tiles of each part from where `out` says."""
        self._run(1, int(order), out, self.cuts, col, bits, ranks, places)

    def _run(self, fill: int, order: int, out: Any, counts: Any, col: Any, bits: Any, ranks: Any, places: Any) -> None:
        csr = self.csr
        kernel = csr.device.kernel(self._variant("build", ("PLACE", self.none), FILL=fill, ORDER=order))
        rows = (self.tile_rows, csr.nrows, csr.ptr, csr.col, self.cuts, self.cut_cols)
        kernel(self.units, *rows, out, counts, col, bits, ranks, places, bounds=self.bounds)

    def tile_rows_of(self, out: Any) -> Any:
        """The tiles before each tile row, and in all: before its first part."""
        return out[self.cuts + self.csr.device.xp.arange(len(self.cuts))] if self.csr.device.is_gpu else out

    def _variant(self, kernel: str, *more: tuple[str, Any], **constants: int) -> Variant:
        given = (("PTR", self.csr.ptr), ("COL", self.csr.col), *more)
        shape = (("TILE", self.tile), ("LANES", min(self.tile, 32)), *constants.items())
        return Variant(f"formats/b2sr/{kernel}", tuple((name, lookup_dtype(a.dtype)) for name, a in given), shape)
