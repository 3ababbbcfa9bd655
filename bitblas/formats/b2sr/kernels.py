"""Kernels of bit tiles: arguments and constants of products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semirings.dtypes import lookup_dtype

from ...typing import Array
from ..contract import Arguments, Constants, Dot, Format, L, LayoutBase, Types
from ..csr import kernels as rows
from ..schedule import Hubs, hubs_of
from .cost import TILES, TilesCost

if TYPE_CHECKING:
    from .layout import B2sr

# ---- Kernel arguments of bit tiles.

DOT_INDICES = (*rows.DOT_INDICES, "PLACE", "BPLACE", "MPLACE")  # plus ranks


class TiledFormat(Format[L]):
    """Compile-time constants of kernels on tiles. For Split these read packed tile columns and single entries."""

    packs: int  # whether tile columns are packed

    def pull_constants(
        self, *, ranked: bool, neutral: bool, padded: bool, many_blocks: bool, staged: int, width: int
    ) -> Constants:
        head = self.push_constants(ranked=ranked, neutral=neutral)
        return [*head[:-1], ("PADDED", int(padded)), head[-1]]

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        tile = ("TILE", self.rows_per_unit)
        return [tile, ("RANKED", int(ranked)), ("NEUTRAL", int(neutral)), ("PACKED", self.packs)]


class TilesFormat(TiledFormat["B2sr"], TilesCost):
    """Bit tiles without single entries."""

    packs = 0
    indices = ("PTR", "COL", "PLACE")
    dot_indices = DOT_INDICES

    def wide_constants(self) -> Constants:
        return [("TILE", self.tile)]

    def dot_constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        return [("LANES", lanes), ("TILE", self.tile)]

    def dot(self, left: B2sr, right: B2sr, mask: B2sr, ranked: tuple[bool, bool]) -> Dot:
        ranks = tuple(layout.rank_argument(some) for layout, some in zip((left, right), ranked, strict=True))
        indices = (left.ptr, left.col, right.ptr, mask.ptr, mask.col, *ranks, mask.ranks())
        types = tuple((name, lookup_dtype(x.dtype)) for name, x in zip(DOT_INDICES, indices, strict=True))
        at = mask.ptr, mask.tile_rows, mask.col, mask.bits, mask.ranks()
        operands = ((layout.ptr, layout.col, layout.bits, r) for layout, r in zip((left, right), ranks, strict=True))
        return Dot(mask.tiles, types, at, *operands)


FORMATS = tuple(TilesFormat(tile) for tile in TILES)
BY_TILE = {format.tile: format for format in FORMATS}


class TiledArguments(LayoutBase):
    """Kernel arguments shared by B2SR and Split."""

    tile: int
    bits: Array

    if TYPE_CHECKING:

        def ranks(self) -> Array: ...

    def segments(self, longest: int) -> int:
        return 0

    def pushed(self, ranked: bool, longest: int) -> Arguments:
        return self.unit_starts()[0], *self.unit_contents(ranked)


class TilesArguments(TiledArguments):
    """Kernel arguments of B2SR."""

    def types(self, ranked: bool) -> Types:
        if ("types", ranked) not in self.cache:
            indices = ("PTR", self.ptr), ("COL", self.col), ("PLACE", self.rank_argument(ranked))
            self.cache["types", ranked] = tuple((name, lookup_dtype(x.dtype)) for name, x in indices)
        found: Types = self.cache["types", ranked]
        return found

    def unit_starts(self) -> tuple[Array, int]:
        return self.ptr, 1

    def unit_contents(self, ranked: bool) -> Arguments:
        return self.col, self.bits, self.rank_argument(ranked)

    def pulled(self, ranked: bool, *, read: bool = True) -> Arguments:
        return self.ptr, *self.unit_contents(ranked)

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        return hubs_of(self, longest, part)
