"""Kernels of Split: bit tiles and single entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import lookup_dtype

from ... import tuning
from ...kernels.variant import WORDS
from ...typing import Array
from ..b2sr.kernels import TiledAdvance, TiledPull, TiledPush, tiled_constants
from ..contract import Arguments, Constants, Format, Kernels, LinesWalk, Types, View, compute_once
from ..csr.kernels import UNROLL
from ..schedule import Hubs, cut, power_of_two
from .cost import TILES, SplitCost, column_width, entry_width

if TYPE_CHECKING:
    from .layout import Split


class SplitView(View["Split"]):
    """Packed tile columns, bits, and single entries in two ranges."""

    indices = ("PTR", "PLACE")

    def types(self, layout: Split, ranked: bool) -> Types:
        indices = ("PTR", layout.starts), ("PLACE", layout.rank_argument(ranked))
        return tuple((name, lookup_dtype(x.dtype)) for name, x in indices)

    def starts(self, layout: Split) -> tuple[Array, int]:
        return layout.starts, layout.parts

    def contents(self, layout: Split, ranked: bool) -> Arguments:
        near, far = layout.range_words()
        width = entry_width(layout.ncols, layout.tile)
        rest = near, layout.near_width, far, width, layout.in_tiles, layout.in_near, layout.parts
        return layout.col, column_width(layout.ncols, layout.tile), layout.bits, layout.rank_argument(ranked), *rest

    def hubs(self, layout: Split, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """A tile costs as much as `share` single entries; a segment of a tile row takes the same fraction of its tiles
        and of each range of single entries. begin, end: as many numbers per unit as `starts` has."""

        def compute() -> Hubs | None:
            starts = layout.starts.reshape(-1, layout.parts)
            length = (starts[1:] - starts[:-1]).astype(np.int64)

            def limits(rows: Array, hub: Array, number: Array, count: Array) -> tuple[Array, Array]:
                start, whole, at, of = starts[rows][hub], length[rows][hub], number[:, None], count[:, None]
                both = start + whole * at // of, start + whole * (at + 1) // of
                begin, end = (limit.astype(starts.dtype).reshape(-1) for limit in both)
                return begin, end

            work = length.sum(axis=1) + length[:, 0] * (share - 1)
            return cut(layout.device.xp, work, longest, part or longest, limits)

        return compute_once(layout.cache, ("hubs", longest, part or longest, share), compute)


class SplitPull(TiledPull["Split"]):
    """As many loads per lane as for tiles."""

    packed = 1

    def lanes(self, layout: Split, nrows: int, kind: int) -> int:
        units = max(1, -(-nrows // self.tile))
        share, each = self.share(kind), tuning.value("tiles.pull_loads_per_lane")
        fewest = 4 if self.tile == 4 and kind == WORDS else share
        return power_of_two((layout.tiles * share + layout.in_rest) / units / each, fewest, 32)

    def longest(self, kind: int, lanes: int) -> int:
        """In single entries; a tile counts as many as it costs."""
        return tuning.count("rows.iterations") * self.steps(kind) * lanes

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * UNROLL * 32


class SplitPush(TiledPush["Split"]):
    """Tiles and single entries."""

    packed = 1


class SplitLines(LinesWalk["Split"]):
    """A lane takes the bits of a row in a tile, then single entries of the tile row. Items are those of a tile row."""

    def __init__(self, tile: int) -> None:
        self.tile = tile

    def constants(self, *, ranked: bool) -> Constants:
        return tiled_constants(self.tile, 1, ranked, False)

    def lanes(self, layout: Split) -> int:
        """As for plain rows: a row is done once a lane has found all. The rows of a tile row read the same items."""
        return power_of_two(layout.work / max(1, layout.nrows) / tuning.value("multivector.entries_per_lane"), 1, 32)

    def longest(self, entries: int) -> int:
        return entries

    def hubs(self, layout: Split, longest: int, part: int) -> Hubs | None:
        """The segments of long tile rows, for each of their rows."""

        def compute() -> Hubs | None:
            tile_rows, xp = layout.format.view.hubs(layout, longest, part), layout.device.xp
            if tile_rows is None:
                return None
            rows = (tile_rows.rows[:, None] * self.tile + xp.arange(self.tile)).ravel()
            hub = xp.arange(len(rows)) // self.tile
            hub, rows = hub[rows < layout.nrows], rows[rows < layout.nrows]
            first = xp.zeros(len(rows) + 1, np.int64)
            xp.cumsum((tile_rows.first[1:] - tile_rows.first[:-1])[hub], out=first[1:])
            segment = xp.arange(int(first[-1]))
            row = xp.searchsorted(first, segment, side="right") - 1
            segment += tile_rows.first[:-1][hub[row]] - first[row]
            begin, end = (x.reshape(-1, layout.parts)[segment].ravel() for x in (tile_rows.begin, tile_rows.end))
            return Hubs(rows, first, begin, end, rows[row])

        return compute_once(layout.cache, ("hubs of rows", longest, part), compute)


def _format(tile: int) -> Format:
    kernels: Kernels = {
        "mxv.pull": SplitPull(tile),
        "mxv.push": SplitPush(tile),
        "advance": TiledAdvance(),
        "mxm.lines": SplitLines(tile),
    }
    return Format(SplitCost(tile), SplitView(), kernels)


FORMATS = tuple(map(_format, TILES))
BY_TILE = {format.tile: format for format in FORMATS}
