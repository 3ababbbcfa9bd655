"""Utility kernels of bit tiles (all but products), as registry/ compiles them ahead of time."""

from __future__ import annotations

from collections.abc import Iterator

from semirings.dtypes import INT32, INT64

from ...kernels.prologue import Variant
from ..csr.samples import PLACES, TYPES
from ..mirror import CHUNK
from .choice import DEFAULT_TILE, TILES

BOTH = (*PLACES, ("TILE_COL", INT32))


def builds(tile: int, parts: int, *passes: tuple[int, int]) -> Iterator[Variant]:
    """Kernels that build tiles from rows; parts 1: only tiles that save space (formats/split)."""
    for fill, order in passes:
        shape = (("TILE", tile), ("LANES", min(tile, 32)), ("FILL", fill), ("ORDER", order), ("SPLIT", parts))
        yield Variant("formats/b2sr/build", BOTH, shape)


def samples() -> Iterator[Variant]:
    """The same for all tile sizes."""
    for tile in TILES:
        lanes = ("LANES", min(tile, 32))
        yield from builds(tile, 0, (0, 0), (1, 0), (1, 1))
        for fill, order in ((0, 0), (1, 0), (1, 1)):
            yield Variant("formats/b2sr/unbuild", BOTH, (("TILE", tile), lanes, ("FILL", fill), ("ORDER", order)))
        for order in (0, 1):
            yield Variant("formats/b2sr/transpose", (PLACES[0], PLACES[2]), (("TILE", tile), lanes, ("ORDER", order)))
        yield Variant("formats/b2sr/cut", TYPES, (("TILE", tile), lanes))
        yield Variant("formats/b2sr/coo", PLACES, (("TILE", tile), lanes))
        yield Variant("formats/b2sr/mirror", TYPES, (("TILE", tile), ("CHUNK", CHUNK["b2sr"]), ("LANES", 32)))
        yield Variant("formats/b2sr/ranks", (), (("TILE", tile), ("LANES", 1)))
        yield Variant("formats/b2sr/filter", PLACES[2:], (("TILE", tile), ("LANES", 1)))
        # The first pass writes no positions, and gets its sums as that argument.
        for fill, place in ((0, INT64), (1, INT32)):
            yield Variant("formats/b2sr/clip", (*TYPES, ("PLACE", place)), (("TILE", tile), lanes, ("FILL", fill)))


def parts_samples(tiles: tuple[int, ...]) -> Iterator[Variant]:
    """Kernels that build a Split: all for the default tile size, only the last pass for others."""
    for tile in tiles:
        passes = ((0, 0), (1, 0), (1, 1)) if tile == DEFAULT_TILE else ((1, 1),)
        yield from builds(tile, 1, *passes)
