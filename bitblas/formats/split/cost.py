"""Cost model of Split: which entries are stored in tiles, and the bits that each part takes.

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

import numpy as np

from ... import tuning
from ...typing import Array
from ..b2sr.layout import Merge, TileRule
from ..contract import Cost, ItemCounts, StructureFacts, compute_once
from ..csr.kernels import pointer_type
from ..csr.layout import Csr
from ..packing import packed_words, width_of
from ..sampling import SIZES, Sample

# ---- Which entries of a Split are stored in tiles, and the bits that each part takes: pure functions of counts.

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


def fits_32_bits(ncols: int, tile: int) -> bool:
    """Whether 32 bits suffice for a far entry."""
    return ncols * tile <= 1 << 32


@functools.lru_cache(256)
def entry_width(ncols: int, tile: int) -> int:
    """Bits per far entry. ValueError above 32."""
    if not fits_32_bits(ncols, tile):
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
    in_columns = below()
    first = max(widths, key=lambda w: in_columns[w - log] * (width - w))
    if min(in_columns[first - log], best.in_rest) * (width - first) <= pointers:
        return best
    tried = count(first)
    # Tiles hold more near entries than far ones, so the share of single entries beyond `first` is used for all limits.
    share = tried.far / max(1, in_columns[-1] - in_columns[first - log])
    second = max(widths, key=lambda w: (tried.in_rest - share * (in_columns[-1] - in_columns[w - log])) * (width - w))
    found = [best, tried] if second == first else [best, tried, count(second)]
    return min(found, key=lambda parts: predict_bytes(nrows, ncols, tile, parts))


# ---- Sizes of the parts of a Split, counted or estimated.


def columns_below(csr: Csr) -> list[int]:
    """Entries in columns below 1, 2, 4, .. up to the first power of two above all columns; counted once. Peak memory: a
    byte per entry."""

    def compute() -> list[int]:
        limits, col = [1 << k for k in range((csr.ncols - 1).bit_length() + 1)], csr.col[: csr.nvals]
        below: list[int] = csr.device.to_host(csr.device.xp.stack([(col < limit).sum() for limit in limits])).tolist()
        return below

    return compute_once(csr.cache, "columns below", compute)


def counted(csr: Csr, tile: int) -> tuple[Parts, Merge, Array]:
    """The parts of the Split of these rows, and the Merge and counts that were computed for it."""
    merge, counts = Merge(csr, tile), {}

    def count(near_width: int) -> Parts:
        out = counts[near_width] = merge.count(rule_of(csr.ncols, tile, near_width))
        tiles, near, far = csr.device.to_host(out[:, -1]).tolist()
        return Parts(tiles, far, near, near_width)

    parts = best_parts(count, lambda: columns_below(csr), csr.nrows, csr.ncols, tile)
    return parts, merge, counts[parts.near_width]


def paying(of: Sample, tile: int) -> float:
    """The share of the entries in tiles that save space, without near entries."""
    return float(np.count_nonzero(of.fills[SIZES.index(tile)] >= rule_of(of.ncols, tile, 0).far) / len(of.bits))


def sampled_parts(of: Sample, tile: int) -> Parts:
    """The parts of a Split, estimated from a sample of entries."""
    size = SIZES.index(tile)
    fill, tiles, whole = of.fills[size], of.share[size], of.tiles[size]

    def count(near_width: int) -> Parts:
        rule = rule_of(of.ncols, tile, near_width)
        listed = near = fill < rule.far
        if near_width:
            is_near = of.bits <= near_width - log_of(tile)
            near = (fill < rule.near) & is_near
            listed = near | (listed & ~is_near)
        in_near, in_rest = np.count_nonzero(near) if near_width else 0, np.count_nonzero(listed)
        return Parts(whole - float(tiles[listed].sum()), of.each * (in_rest - in_near), of.each * in_near, near_width)

    return best_parts(count, lambda: of.below, of.nrows, of.ncols, tile)


# ---- Cost model of Split (bit tiles and single entries). layout.py decides which entries go into tiles.


class SplitCost(Cost):
    """Dense tiles and single entries."""

    name = "split"
    counts, nothing = "own", Parts(0.0, 0.0)
    tile: int

    @property
    def margin(self) -> float:
        return tuning.value("formats.margin")

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = fits_32_bits(ncols, self.tile)
        return "" if fits else f"holds up to {(1 << 32) // self.tile} columns with tiles of {self.tile}, got {ncols}"

    def count(self, rows: Csr) -> Parts:
        return counted(rows, self.tile)[0]

    def may_be_fast(self, of: Sample) -> bool:
        """If dense tiles hold some of the entries, but not so many that all might as well be in tiles."""
        return tuning.value("split.least_dense") <= paying(of, self.tile) <= tuning.value("split.most_dense")

    def sample(self, of: Sample) -> Parts:
        return sampled_parts(of, self.tile)

    def listing(self, facts: StructureFacts) -> ItemCounts:
        parts = facts.own_of[self.key]
        return ItemCounts(parts.tiles, facts.nvals - parts.in_rest, parts.in_rest)

    def predict_bytes(self, facts: StructureFacts) -> int:
        return predict_bytes(facts.nrows, facts.ncols, self.tile, facts.own_of[self.key])

    def scratch(self, facts: StructureFacts) -> int:
        return 100 * -(-facts.nrows // self.tile) + facts.nvals + 4 * round(self.listing(facts).items)
