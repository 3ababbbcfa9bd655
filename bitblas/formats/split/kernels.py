"""Kernel arguments of Split: bit tiles and single entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype

from ..b2sr.kernels import TiledArguments, TiledFormat
from ..contract import Types
from ..schedule import Hubs, cut
from .cost import TILES, SplitCost, column_width, entry_width


class SplitFormat(TiledFormat, SplitCost):
    """Compile-time constants of kernels on tiles with single entries."""

    packs = 1
    indices = ("PTR", "PLACE")

    def kernel(self, name: str) -> str:
        """An advance uses the tile kernel, which also reads single entries if PACKED."""
        return "formats/b2sr/step" if name == "step" else super().kernel(name)


FORMATS = tuple(SplitFormat(tile) for tile in TILES)
BY_TILE = {format.tile: format for format in FORMATS}


class SplitArguments(TiledArguments):
    """Kernel arguments of tiles with single entries."""

    def types(self: Any, ranked: bool) -> Types:
        if ("types", ranked) not in self.cache:
            indices = ("PTR", self.starts), ("PLACE", self.places(ranked))
            self.cache["types", ranked] = tuple((name, lookup_dtype(x.dtype)) for name, x in indices)
        found: Types = self.cache["types", ranked]
        return found

    def unit_starts(self: Any) -> tuple[Any, int]:
        return self.starts, self.parts

    def unit_contents(self: Any, ranked: bool) -> tuple[Any, ...]:
        near, far = self.range_words()
        width = entry_width(self.ncols, self.tile)
        rest = near, self.near_width, far, width, self.in_tiles, self.in_near, self.parts
        return self.col, column_width(self.ncols, self.tile), self.bits, self.places(ranked), *rest

    def pulled(self, ranked: bool, *, read: bool = True) -> tuple[Any, ...]:
        return self.unit_starts()[0], *self.unit_contents(ranked)

    def hubs(self: Any, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """A tile costs as much as `share` single entries; a segment of a tile row takes the same fraction of its tiles
        and of each range of single entries. begin, end: as many numbers per unit as `starts` has."""
        key, size = ("hubs", longest, part or longest, share), part or longest
        if key not in self.cache:
            starts = self.starts.reshape(-1, self.parts)
            length = (starts[1:] - starts[:-1]).astype(np.int64)

            def limits(rows: Any, hub: Any, number: Any, count: Any) -> tuple[Any, Any]:
                start, whole, at, of = starts[rows][hub], length[rows][hub], number[:, None], count[:, None]
                both = start + whole * at // of, start + whole * (at + 1) // of
                begin, end = (limit.astype(starts.dtype).reshape(-1) for limit in both)
                return begin, end

            work = length.sum(axis=1) + length[:, 0] * (share - 1)
            self.cache[key] = cut(self.device.xp, work, longest, size, limits)
        found: Hubs | None = self.cache[key]
        return found
