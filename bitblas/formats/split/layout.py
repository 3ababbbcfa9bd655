"""Which entries of a Split are stored in tiles, and the bits that each part takes: pure functions of counts.

With T = 2^L, a single entry is one number, J << 2L | r << L | c: tile column, row and column in the tile. Numbers have
as many bits as the largest of their range needs: *near* entries, in tile columns below a limit 2^k, have 2L + k bits,
*far* ones as many as the last column needs, at most 32. Near entries cost a pointer per tile row; without them there is
none (`near_width` 0), and all entries are far.

A tile of n entries is kept as bits if these and its tile column need fewer bits than its entries would in their range:
T*T + bits of a tile column < n * bits of an entry (`least_entries`). So the set of tiles depends on the limit.
`best_parts` finds the limit that would save most bits if all entries were single, counts with it, searches again with
the resulting single entries, and keeps the result of fewest bytes. Near entries are not tried if the single entries are
too few to pay for the pointers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..b2sr.merging import TileRule
from ..csr.choice import pointer_type
from ..packing import packed_words, width_of

TILES = (4, 8, 16)


class Parts(NamedTuple):
    """Sizes of a Split (fractional if sampled): dense tiles, far and near single entries, and bits per near entry (0:
    there are none)."""

    tiles: float
    far: float
    near: float = 0.0
    near_width: int = 0

    @property
    def in_rest(self) -> float:
        return self.near + self.far

    @property
    def kinds(self) -> int:
        """Numbers per tile row in `starts`: 2 or 3."""
        return 3 if self.near_width else 2


def log_of(tile: int) -> int:
    return tile.bit_length() - 1


@functools.lru_cache(256)
def column_width(ncols: int, tile: int) -> int:
    """Bits per tile column."""
    return width_of(-(-ncols // tile))


def fits(ncols: int, tile: int) -> bool:
    """Whether 32 bits suffice for a far entry."""
    return ncols * tile <= 1 << 32


@functools.lru_cache(256)
def entry_width(ncols: int, tile: int) -> int:
    """Bits per far entry. ValueError above 32."""
    if not fits(ncols, tile):
        raise ValueError(f"ncols: format 'split' with tile={tile} holds up to {(1 << 32) // tile} columns, got {ncols}")
    return width_of(-(-ncols // tile) * tile * tile)


def near_limit(near_width: int, tile: int) -> int:
    """The first tile column that is not near."""
    return 1 << (near_width - 2 * log_of(tile)) if near_width else 0


def least_entries(ncols: int, tile: int, width: int) -> int:
    """Entries from which on a tile is stored as bits, if a single entry takes `width` bits."""
    return (tile * tile + column_width(ncols, tile)) // width + 1


def rule_of(ncols: int, tile: int, near_width: int) -> TileRule:
    """The rule that selects the tiles stored as bits."""
    far = least_entries(ncols, tile, entry_width(ncols, tile))
    near = least_entries(ncols, tile, near_width) if near_width else far
    return TileRule(near_limit(near_width, tile), near, far)


def near_words(in_near: int, near_width: int) -> int:
    """Words of the near entries, which precede the far ones."""
    return -(-in_near * near_width // 32)


def rest_words(in_near: int, in_far: int, near_width: int, ncols: int, tile: int) -> int:
    return near_words(in_near, near_width) + packed_words(in_far, entry_width(ncols, tile))


def predict_bytes(nrows: int, ncols: int, tile: int, parts: Parts) -> int:
    tiles, far, near = map(round, parts[:3])
    pointers = parts.kinds * (-(-nrows // tile) + 1) * pointer_type(max(tiles, near, far)).itemsize
    words = packed_words(tiles, column_width(ncols, tile)) + rest_words(near, far, parts.near_width, ncols, tile)
    return pointers + 4 * words + max(1, tiles) * max(2, tile * tile // 8)


def best_parts(
    count: Callable[[int], Parts], below: Callable[[], Sequence[float]], nrows: int, ncols: int, tile: int
) -> Parts:
    """The parts of fewest bytes. count: function from the width of near entries to parts. below: function that returns
    the number of entries in columns below 1, 2, 4, .. up to the first power of two above all columns."""
    best, log, width = count(0), log_of(tile), entry_width(ncols, tile)
    widths, pointers = range(2 * log, width), 32 * (-(-nrows // tile) + 1)
    if best.in_rest * len(widths) <= pointers:
        return best
    some = below()
    first = max(widths, key=lambda w: some[w - log] * (width - w))
    if min(some[first - log], best.in_rest) * (width - first) <= pointers:
        return best
    tried = count(first)
    # Tiles hold more near entries than far ones, so the share of single entries beyond `first` is used for all limits.
    share = tried.far / max(1, some[-1] - some[first - log])
    second = max(widths, key=lambda w: (tried.in_rest - share * (some[-1] - some[w - log])) * (width - w))
    found = [best, tried] if second == first else [best, tried, count(second)]
    return min(found, key=lambda parts: predict_bytes(nrows, ncols, tile, parts))
