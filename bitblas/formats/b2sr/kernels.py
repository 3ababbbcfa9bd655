"""Kernels of bit tiles: arguments and constants of products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semirings.dtypes import lookup_dtype

from ... import tuning
from ...kernels.variant import WORDS
from ...typing import Array
from ..contract import (
    Advance,
    Arguments,
    Constants,
    Dot,
    DotArguments,
    Format,
    Kernels,
    L,
    Layout,
    LinesWalk,
    Pull,
    PullCase,
    Push,
    TileProduct,
    Types,
    View,
)
from ..csr import kernels as rows
from ..schedule import Hubs, hubs_of, power_of_two
from .cost import DEFAULT_TILE, TILES, TilesCost, words_per_tile

if TYPE_CHECKING:
    from ..csr.layout import Csr
    from .layout import B2sr

# ---- What bit tiles offer; Split overrides what differs.

DOT_INDICES = (*rows.DOT_INDICES, "PLACE", "BPLACE", "MPLACE")  # plus ranks


def tiled_constants(tile: int, packed: int, ranked: bool, neutral: bool) -> Constants:
    """Constants of kernels on tiles. packed: tile columns are, and there are single entries."""
    return [("TILE", tile), ("RANKED", int(ranked)), ("NEUTRAL", int(neutral)), ("PACKED", packed)]


class TilesView(View["B2sr"]):
    """Tile columns and bits."""

    indices = ("PTR", "COL", "PLACE")

    def types(self, layout: B2sr, ranked: bool) -> Types:
        indices = ("PTR", layout.ptr), ("COL", layout.col), ("PLACE", layout.rank_argument(ranked))
        return tuple((name, lookup_dtype(x.dtype)) for name, x in indices)

    def contents(self, layout: B2sr, ranked: bool) -> Arguments:
        return layout.col, layout.bits, layout.rank_argument(ranked)

    def hubs(self, layout: B2sr, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        return hubs_of(layout, longest, part)


class TiledPull(Pull[L]):
    """Shared by B2SR and Split."""

    packed = 0

    def __init__(self, tile: int) -> None:
        self.tile = tile
        self.fused = tile == DEFAULT_TILE  # the tile size that programs use

    def constants(self, case: PullCase) -> Constants:
        *head, last = tiled_constants(self.tile, self.packed, case.ranked, case.neutral)
        return [*head, ("PADDED", int(case.padded)), last]

    def share(self, kind: int) -> int:
        return max(1, self.tile**2 // 64) if kind == WORDS else self.tile

    def steps(self, kind: int) -> int:
        """Factor on the iterations over a tile row up to which it is not cut."""
        return tuning.count("tiles.pull_steps") if kind == WORDS else tuning.count("tiles.pull_steps_values")


class TilesPull(TiledPull["B2sr"]):
    """Each lane has two or three words of a tile row in flight; never fewer lanes than a tile needs."""

    def __init__(self, tile: int) -> None:
        super().__init__(tile)
        self.stops_finished_tile_rows = words_per_tile(tile) == 1

    def lanes(self, layout: B2sr, nrows: int, kind: int) -> int:
        tile, per_row = self.tile, layout.tiles / max(1, -(-nrows // self.tile))
        if kind == WORDS:
            words = max(1, tile * tile // 64)
            each = tuning.value("tiles.pull_loads_per_lane")
            return power_of_two(per_row * words / each, 4 if tile == 4 else min(words, 32), 32)
        lanes = min(tile, 32)
        return power_of_two(lanes * per_row * tile / tuning.value("b2sr.pull_bits_per_lane"), lanes, 32)

    def longest(self, kind: int, lanes: int) -> int:
        return tuning.count("rows.iterations") * max(1, self.steps(kind) * lanes // min(self.share(kind), 32))

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * max(1, 2 * 32 // min(self.tile, 32))


class TiledPush(Push[L]):
    """Shared by B2SR and Split."""

    packed = 0

    def __init__(self, tile: int) -> None:
        self.tile = tile

    def constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return tiled_constants(self.tile, self.packed, ranked, neutral)

    def lanes(self, layout: L, nrows: int, kind: int) -> int:
        items, each = layout.work / max(1, -(-nrows // self.tile)), tuning.value("tiles.push_items_per_lane")
        return power_of_two(items / each, tuning.count("tiles.push_least_lanes"), 32)

    def longest(self, lanes: int) -> int:
        return tuning.count("rows.iterations") * lanes


class TilesPush(TiledPush["B2sr"]):
    """Its units on the CPU are words of the output."""

    by_output_word = True


class TilesProduct(TileProduct["B2sr"]):
    """Tiles times tiles."""

    def grid(self, layout: B2sr) -> Csr:
        return layout.grid()

    def multiply(self, left: B2sr, right: B2sr, grid: Csr, ncols: int, count: bool) -> tuple[Layout, Array | None]:
        return left.times(right, grid, ncols, count)


class TilesLines(LinesWalk["B2sr"]):
    """A lane takes the bits of a row in a tile. Rows are not cut: each lane of a warp takes a tile at a time."""

    def __init__(self, tile: int) -> None:
        self.tile = tile

    def constants(self, *, ranked: bool) -> Constants:
        return tiled_constants(self.tile, 0, ranked, False)

    def lanes(self, layout: B2sr) -> int:
        return power_of_two(layout.tiles / max(1, layout.units) / tuning.value("multivector.entries_per_lane"), 1, 32)

    def longest(self, entries: int) -> int:
        return entries

    def hubs(self, layout: B2sr, longest: int, part: int) -> Hubs | None:
        return None


class TiledAdvance(Advance[L]):
    """Also reads single entries if PACKED. Long tile rows are not cut."""

    kernel = "formats/b2sr/advance"
    item = "tile"

    def pushed(self, layout: L, ranked: bool, longest: int) -> Arguments:
        view = layout.format.view
        return view.starts(layout)[0], *view.contents(layout, ranked)

    def pulled(self, layout: L, ranked: bool, *, read: bool = True) -> Arguments:
        return self.pushed(layout, ranked, 0)


class TilesDot(Dot["B2sr"]):
    """Tiles of the operands at the tiles of the mask."""

    indices = DOT_INDICES
    sums_units = True

    def __init__(self, tile: int) -> None:
        self.tile = tile

    def constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        return [("LANES", lanes), ("TILE", self.tile), ("TILE_SUMS", 0)]

    def lanes(self, layout: Layout) -> int:
        per_row, each = layout.work / max(1, layout.units), tuning.value("b2sr.dot_tiles_per_lane")
        return power_of_two(per_row / each, tuning.count("rows.dot_least_lanes"), 32)

    def arguments(self, left: B2sr, right: B2sr, mask: B2sr, ranked: tuple[bool, bool]) -> DotArguments:
        ranks = tuple(layout.rank_argument(some) for layout, some in zip((left, right), ranked, strict=True))
        indices = (left.ptr, left.col, right.ptr, mask.ptr, mask.col, *ranks, mask.ranks())
        types = tuple((name, lookup_dtype(x.dtype)) for name, x in zip(DOT_INDICES, indices, strict=True))
        at = mask.ptr, mask.units, mask.col, mask.bits, mask.ranks()
        operands = ((layout.ptr, layout.col, layout.bits, r) for layout, r in zip((left, right), ranks, strict=True))
        return DotArguments(mask.tiles, types, at, *operands)


def _format(tile: int) -> Format:
    kernels: Kernels = {
        "mxv.pull": TilesPull(tile),
        "mxv.push": TilesPush(tile),
        "advance": TiledAdvance(),
        "advance.cpu": "formats/b2sr/push_frontier",
        "dot": TilesDot(tile),
        "mxm": TilesProduct(),
        "mxm.lines": TilesLines(tile),
    }
    if tile == DEFAULT_TILE:
        kernels["mxv.pull.wide"], kernels["dot.wide"] = [("TILE", tile)], "formats/b2sr/dot_lanes"
    return Format(TilesCost(tile), TilesView(), kernels, default_tile=DEFAULT_TILE)


FORMATS = tuple(map(_format, TILES))
BY_TILE = {format.tile: format for format in FORMATS}
