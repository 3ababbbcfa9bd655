"""Cost model and kernel choice of bit tiles (B2SR)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import tuning
from ...kernels.constants import WORDS
from ..contract import Format, ItemCounts, L, Layout, StructureFacts
from ..csr.cost import index_type, pointer_type
from ..schedule import power_of_two

if TYPE_CHECKING:
    from .layout import B2sr

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


class TiledCost(Format[L]):
    """Cost model shared by B2SR and Split."""

    item = "tile"
    tile: int

    def __init__(self, tile: int) -> None:
        super().__init__(tile)
        self.fused = tile == DEFAULT_TILE  # the tile size that programs use

    def steps(self, kind: int, push: bool) -> int:
        """Factor on the iterations over a tile row up to which it is not cut."""
        if push:
            return 1
        return tuning.count("tiles.pull_steps") if kind == WORDS else tuning.count("tiles.pull_steps_values")

    def share(self, kind: int) -> int:
        return max(1, self.tile**2 // 64) if kind == WORDS else self.tile


class TilesCost(TiledCost["B2sr"]):
    """Bit tiles without single entries."""

    name = folder = "b2sr"
    default_tile, counts, spreads, pushes_by_output_word, heavy = DEFAULT_TILE, "tiles", True, True, True

    def __init__(self, tile: int) -> None:
        super().__init__(tile)
        self.wide = self.fused
        self.stops_finished_tile_rows = words_per_tile(tile) == 1

    @property
    def handicap(self) -> float:
        return tuning.value("b2sr.handicap") if self.fused else tuning.value("b2sr.handicap_unfused")

    def knows(self, facts: StructureFacts) -> bool:
        return self.tile in facts.tiles_of

    def listing(self, facts: StructureFacts) -> ItemCounts:
        return ItemCounts(facts.tiles_of[self.tile], float(facts.nvals), 0.0)

    def predict_bytes(self, facts: StructureFacts) -> int:
        return tiles_bytes(facts.nrows, facts.ncols, max(1, round(facts.tiles_of[self.tile])), self.tile)

    def scratch(self, facts: StructureFacts) -> int:
        return 24 * self.units(facts.nrows)

    def lanes(self, layout: B2sr, nrows: int, kind: int, *, push: bool) -> int:
        """So many that each has two or three words of a tile row in flight; never fewer than a tile needs."""
        tile, per_row = self.tile, layout.tiles / max(1, self.units(nrows))
        if push:
            each = tuning.value("tiles.push_items_per_lane")
            return power_of_two(per_row / each, tuning.count("tiles.push_least_lanes"), 32)
        if kind == WORDS:
            words = max(1, tile * tile // 64)
            each = tuning.value("tiles.pull_loads_per_lane")
            return power_of_two(per_row * words / each, 4 if tile == 4 else min(words, 32), 32)
        lanes = min(tile, 32)
        return power_of_two(lanes * per_row * tile / tuning.value("b2sr.pull_bits_per_lane"), lanes, 32)

    def dot_lanes(self, layout: Layout) -> int:
        per_row, each = layout.work / max(1, layout.units), tuning.value("b2sr.dot_tiles_per_lane")
        return power_of_two(per_row / each, tuning.count("rows.dot_least_lanes"), 32)

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        share = 1 if push else self.share(kind)
        return tuning.count("rows.iterations") * max(1, self.steps(kind, push) * lanes // min(share, 32))

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * max(1, 2 * 32 // min(self.tile, 32))
