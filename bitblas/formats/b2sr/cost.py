"""Cost model and kernel choice of bit tiles (B2SR)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.constants import WORDS
from .. import schedule as limits
from ..contract import Format, ItemCounts, StructureFacts
from ..csr.cost import index_type, pointer_type
from ..schedule import power_of_two

TILES = (4, 8, 16, 32, 64)
DEFAULT_TILE = 8  # smallest in bytes on meshes; one 64-bit word, no shuffles on the GPU (measured)


def tiles_bytes(nrows: int, ncols: int, tiles: int, tile: int) -> int:
    """Bytes of that many tiles."""
    pointers = (-(-nrows // tile) + 1) * pointer_type(tiles).itemsize
    return pointers + tiles * (index_type(-(-ncols // tile)).itemsize + max(2, tile * tile // 8))


def words_per_tile(tile: int) -> int:
    """Array elements per tile: one uint16 for T = 4, otherwise uint64."""
    return max(1, tile * tile // 64)


def word_type(tile: int) -> Any:
    return np.uint16 if tile == 4 else np.uint64


class TiledCost(Format):
    """Cost model shared by B2SR and Split."""

    item = "tile"
    tile: int

    def __init__(self, tile: int) -> None:
        super().__init__(tile)
        self.fused = tile == DEFAULT_TILE  # the tile size that programs use

    def share(self, kind: int) -> int:
        return max(1, self.tile**2 // 64) if kind == WORDS else self.tile


class TilesCost(TiledCost):
    """Bit tiles without single entries."""

    name = folder = "b2sr"
    default_tile, counts, spreads, pushes_by_output_word, heavy = DEFAULT_TILE, "tiles", True, True, True

    def __init__(self, tile: int) -> None:
        super().__init__(tile)
        self.wide = self.fused
        self.stops_finished_tile_rows = words_per_tile(tile) == 1
        self.registered = "all" if self.fused else "few"
        # The error of predictions; for other tile sizes a pull's epilogue is an additional kernel.
        self.handicap = 1.05 if self.fused else 1.2

    def knows(self, seen: StructureFacts) -> bool:
        return self.tile in seen.tiles_of

    def listing(self, seen: StructureFacts) -> ItemCounts:
        return ItemCounts(seen.tiles_of[self.tile], float(seen.nvals), 0.0)

    def predict_bytes(self, seen: StructureFacts) -> int:
        return tiles_bytes(seen.nrows, seen.ncols, max(1, round(seen.tiles_of[self.tile])), self.tile)

    def scratch(self, seen: StructureFacts) -> int:
        return 24 * self.units(seen.nrows)

    def lanes(self, layout: Any, nrows: int, kind: int, *, push: bool) -> int:
        """A third of the words of a tile row, so that each lane has two or three loads in flight; never fewer than a
        tile needs. Measured on an H200: of 1, 2, 4, .. lanes, tiles of 8 were fastest with 2 on a Delaunay mesh (8.7
        tiles per tile row), 1 on a grid (5), 4 on a 27-point stencil (13)."""
        tile, per_row = self.tile, layout.tiles / max(1, self.units(nrows))
        if push:
            return power_of_two(per_row / 2, 2, 32)
        if kind == WORDS:
            words = max(1, tile * tile // 64)
            return power_of_two(per_row * words / 3, 4 if tile == 4 else min(words, 32), 32)
        return power_of_two(min(tile, 32) * per_row * tile / 128, min(tile, 32), 32)

    def dot_lanes(self, layout: Any) -> int:
        """Half a lane per tile (delaunay_n20: 0.21 ms with 4 lanes, 0.30 with 8)."""
        return power_of_two(layout.work / max(1, layout.units) / 2, 4, 32)

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        share = 1 if push else self.share(kind)
        return limits.MAX_ITERATIONS * max(1, (1 if push else 3 if kind == WORDS else 8) * lanes // min(share, 32))

    def segment(self) -> int:
        return 8 * max(1, 2 * 32 // min(self.tile, 32))
