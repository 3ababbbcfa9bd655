"""Sizes and cost model of bit tiles (B2SR)."""

from __future__ import annotations

import numpy as np

from ... import tuning
from ..contract import Cost, ItemCounts, StructureFacts
from ..csr.kernels import index_type, pointer_type

TILES = (4, 8, 16, 32, 64)
DEFAULT_TILE = 8  # smallest in bytes on meshes; one 64-bit word, no shuffles on the GPU (measured)


def tiles_bytes(nrows: int, ncols: int, tiles: int, tile: int) -> int:
    """Bytes of that many tiles."""
    pointers = (-(-nrows // tile) + 1) * pointer_type(tiles).itemsize
    return pointers + tiles * (index_type(-(-ncols // tile)).itemsize + max(2, tile * tile // 8))


def words_per_tile(tile: int) -> int:
    """Array elements per tile: one uint16 for T = 4, otherwise uint64."""
    return max(1, tile * tile // 64)


def word_type(tile: int) -> type[np.unsignedinteger]:
    return np.uint16 if tile == 4 else np.uint64


class TilesCost(Cost):
    """Bit tiles without single entries."""

    name = "b2sr"
    counts = "tiles"
    tile: int

    @property
    def margin(self) -> float:
        default = self.tile == DEFAULT_TILE
        return tuning.value("b2sr.margin") if default else tuning.value("b2sr.margin_unfused")

    def listing(self, facts: StructureFacts) -> ItemCounts:
        return ItemCounts(facts.tiles_of[self.tile], float(facts.nvals), 0.0)

    def predict_bytes(self, facts: StructureFacts) -> int:
        return tiles_bytes(facts.nrows, facts.ncols, max(1, round(facts.tiles_of[self.tile])), self.tile)

    def scratch(self, facts: StructureFacts) -> int:
        return 24 * -(-facts.nrows // self.tile)
