"""Kernel arguments of Split: bit tiles and single entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import lookup_dtype

from ...typing import Array
from ..b2sr.kernels import TiledArguments, TiledFormat
from ..contract import Arguments, Types
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

    starts: Array
    in_tiles: int
    in_near: int
    near_width: int

    if TYPE_CHECKING:

        @property
        def parts(self) -> int: ...

        def range_words(self) -> tuple[Array, Array]: ...

    def types(self, ranked: bool) -> Types:
        if ("types", ranked) not in self.cache:
            indices = ("PTR", self.starts), ("PLACE", self.rank_argument(ranked))
            self.cache["types", ranked] = tuple((name, lookup_dtype(x.dtype)) for name, x in indices)
        found: Types = self.cache["types", ranked]
        return found

    def unit_starts(self) -> tuple[Array, int]:
        return self.starts, self.parts

    def unit_contents(self, ranked: bool) -> Arguments:
        near, far = self.range_words()
        width = entry_width(self.ncols, self.tile)
        rest = near, self.near_width, far, width, self.in_tiles, self.in_near, self.parts
        return self.col, column_width(self.ncols, self.tile), self.bits, self.rank_argument(ranked), *rest

    def pulled(self, ranked: bool, *, read: bool = True) -> Arguments:
        return self.unit_starts()[0], *self.unit_contents(ranked)

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """A tile costs as much as `share` single entries; a segment of a tile row takes the same fraction of its tiles
        and of each range of single entries. begin, end: as many numbers per unit as `starts` has."""
        key, size = ("hubs", longest, part or longest, share), part or longest
        if key not in self.cache:
            starts = self.starts.reshape(-1, self.parts)
            length = (starts[1:] - starts[:-1]).astype(np.int64)

            def limits(rows: Array, hub: Array, number: Array, count: Array) -> tuple[Array, Array]:
                start, whole, at, of = starts[rows][hub], length[rows][hub], number[:, None], count[:, None]
                both = start + whole * at // of, start + whole * (at + 1) // of
                begin, end = (limit.astype(starts.dtype).reshape(-1) for limit in both)
                return begin, end

            work = length.sum(axis=1) + length[:, 0] * (share - 1)
            self.cache[key] = cut(self.device.xp, work, longest, size, limits)
        found: Hubs | None = self.cache[key]
        return found
