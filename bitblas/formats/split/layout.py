"""Split: dense tiles as bits, all other entries as packed numbers by tile row.

cost.py decides which entries go where and the bits per number: tiles that save space, near entries (low columns, short
numbers), far entries. Numbers are packed to the bits that the largest needs (kernels/views.cuh): tile columns in one
string, single entries in two, near entries first, the far ones from a new word on.

The starts of all parts of tile row I are next to each other in `starts`, so that a kernel finds them, and their ends,
in 16 to 24 consecutive bytes.

Entry order: first the entries of all tiles (tile row, tile, bit), then the near ones, then the far ones (tile row,
number: the order that they would have in tiles). Single entry k has the rank `in_tiles` + k, so only tiles need a
`value_ptr`. Transposes, parts and selections are built again, because tiles may no longer save space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ... import tuning
from ...device import Device
from ...typing import Array
from .. import validation
from ..b2sr.cost import word_type, words_per_tile
from ..b2sr.layout import B2sr
from ..contract import Format, Layout, LazyDict, Order
from ..csr.layout import (
    Csr,
    from_arrays,
    index_type,
    mirror_hash_of,
    numbers_of,
    pointer_type,
    pointers_of,
    rows_bytes,
    sort_entries,
)
from ..packing import pack, pack_into, packed_words, unpack
from . import cost
from .cost import TILES, column_width, counted, entry_width, near_words
from .kernels import BY_TILE

NUMBERS = ("nrows", "ncols", "nvals", "tile", "tiles", "in_tiles", "in_near", "near_width")


class Range(NamedTuple):
    """A range of single entries: their packed string, number and width; how many precede each tile row, and their
    total; and the least permitted number."""

    string: Array
    size: int
    width: int
    ends: Array
    least: int


@dataclass(eq=False)
class Split(Layout):
    """Tile row I has the tiles starts[P * I] .. starts[P * (I + 1)] and, of the P - 1 ranges of single entries, in
    range p those from starts[P * I + p] to starts[P * (I + 1) + p]: near entries, if there are any, and far ones."""

    device: Device
    nrows: int
    ncols: int
    tile: int
    starts: Array  # P * (tile rows + 1), P = 2 or 3
    col: Array  # packed tile columns
    bits: Array  # tiles * words_per_tile (at least one tile)
    rest: Array  # packed entries
    tiles: int
    in_tiles: int  # entries in tiles
    in_near: int
    near_width: int  # bits per near entry; 0: there are none, P = 2
    nvals: int
    value_ptr: Array | None = None  # tiles: rank of the first bit of each; only if values are stored in this order
    cache = LazyDict()  # schedules of kernels: hubs, parallel bounds

    compact = True

    @property
    def format(self) -> Format:
        return BY_TILE[self.tile]

    @property
    def parts(self) -> int:
        """P: numbers per tile row in `starts`."""
        return 3 if self.near_width else 2

    @property
    def units(self) -> int:
        """Number of units that kernels iterate over: tile rows."""
        return len(self.starts) // self.parts - 1

    @property
    def ptr(self) -> Array:
        """Tiles and single entries before each tile row, as a measure of work. Computed at every call."""
        return self.starts.reshape(-1, self.parts).sum(axis=1, dtype=pointer_type(self.work))

    @property
    def work(self) -> int:
        return self.tiles + self.in_rest

    @property
    def in_rest(self) -> int:
        """Number of single entries."""
        return self.nvals - self.in_tiles

    def arrays(self) -> dict[str, Array]:
        return {"starts": self.starts, "col": self.col, "bits": self.bits, "rest": self.rest}

    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in NUMBERS}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Split:
        nrows, ncols, nvals, tile, tiles, in_tiles, in_near, near_width = validation.expect_numbers(numbers, *NUMBERS)
        if tile not in TILES or not cost.fits_32_bits(ncols, tile) or in_tiles + in_near > nvals:
            got = f"{in_tiles} of {nvals} entries in tiles, {in_near} near"
            raise ValueError(f"numbers: expected those of a Split, got a tile of {tile}, {ncols} columns, {got}")
        least, most = 2 * cost.log_of(tile), entry_width(ncols, tile)
        if not least <= near_width < most and (near_width or in_near):
            got = f"{near_width} for {in_near} entries"
            raise ValueError(f"near_width: expected 0, or {least} to {most - 1} bits, got {got}")
        in_far = nvals - in_tiles - in_near
        starts, col, bits, rest = validation.expect_arrays(
            arrays,
            starts=(validation.INDEX, (3 if near_width else 2) * (-(-nrows // tile) + 1)),
            col=((np.uint32,), packed_words(tiles, column_width(ncols, tile))),
            bits=((word_type(tile),), max(1, tiles) * words_per_tile(tile)),
            rest=((np.uint32,), cost.rest_words(in_near, in_far, near_width, ncols, tile)),
        )
        counts = tiles, in_tiles, in_near, near_width, nvals
        return cls(device, nrows, ncols, tile, starts, col, bits, rest, *counts)

    def check(self) -> None:
        """ValueError unless the tiles are valid, and the numbers of each range of single entries ascend in each tile
        row, are inside the matrix and their range, and repeat no entry."""
        self.tile_part().check()
        xp = self.device.xp
        for part in self.ranges():
            validation.check_pointers(part.ends, part.size)
        rows, cols = self.coo()
        if self.nvals and (int(rows.max()) >= self.nrows or int(cols.max()) >= self.ncols):
            raise ValueError(f"rest: expected entries of a matrix of {self.nrows} x {self.ncols}")
        for part in self.ranges():
            codes = self.codes(part)
            after = xp.ones(part.size + 1, bool)
            xp.greater(codes[1:], codes[:-1], out=after[1:-1])
            after[part.ends] = True  # the first number of a tile row has no predecessor
            if part.size and (not bool(after.all()) or int(codes.min()) < part.least):
                raise ValueError(f"rest: expected numbers from {part.least} on that ascend in each tile row")
        self.to_csr(False)[0].check()  # no entry is in both parts

    def range_words(self) -> tuple[Array, Array]:
        """The strings of near and far entries."""
        near = near_words(self.in_near, self.near_width)
        return self.rest[: near + 1], self.rest[near:]

    def ranges(self) -> Iterator[Range]:
        """The ranges of single entries."""
        xp, of = self.device.xp, self.starts.reshape(-1, self.parts)
        near, far = self.range_words()
        if self.near_width:
            yield Range(near, self.in_near, self.near_width, xp.ascontiguousarray(of[:, 1]), 0)
        least = 1 << self.near_width if self.near_width else 0
        in_far, width = self.in_rest - self.in_near, entry_width(self.ncols, self.tile)
        yield Range(far, in_far, width, xp.ascontiguousarray(of[:, -1]), least)

    def codes(self, part: Range) -> Array:
        """The numbers of a range of single entries, uint32."""
        return unpack(self.device, part.string, part.size, part.width, np.uint32)

    def tile_part(self) -> B2sr:
        """The tiles alone, with plain columns."""
        xp, kind = self.device.xp, index_type(-(-self.ncols // self.tile))
        col = unpack(self.device, self.col, self.tiles, column_width(self.ncols, self.tile), kind)
        col = col if self.tiles else xp.zeros(1, kind)
        ptr = xp.ascontiguousarray(self.starts[:: self.parts])
        shape = (self.device, self.nrows, self.ncols, self.tile)
        return B2sr(*shape, ptr, col, self.bits, self.tiles, self.in_tiles, self.value_ptr)

    def ranks(self) -> Array:
        """value_ptr, computed on first use."""
        if self.value_ptr is None:
            self.value_ptr = self.tile_part().ranks()
        return self.value_ptr

    def coo(self) -> tuple[Array, Array]:
        """Rows and columns (INT64) of the entries: those in tiles, then single ones."""
        xp, at = self.device.xp, self.in_tiles
        rows, cols = xp.empty(self.nvals, np.int64), xp.empty(self.nvals, np.int64)
        if self.tiles:
            rows[:at], cols[:at] = self.tile_part().coo()
        for part in self.ranges():
            code, end = self.codes(part), at + part.size
            rows[at:end], cols[at:end] = self._position(code, numbers_of(part.ends, part.size, self.device))
            at = end
        return rows, cols

    def _position(self, code: Array, tile_row: Array) -> tuple[Array, Array]:
        """Rows and columns of single entries with these numbers, in these tile rows (INT64)."""
        tile, log = self.tile, cost.log_of(self.tile)
        return tile_row * tile + (code >> log & (tile - 1)), code >> 2 * log << log | code & (tile - 1)

    def is_symmetric(self) -> bool:
        """By hashes of all positions (csr/layout.py). Peak memory: columns of the tiles, pointers of the tile rows, and
        80 bytes per entry of symmetry.band."""
        xp, band = self.device.xp, tuning.count("symmetry.band")
        total = self.tile_part().mirror_hash() if self.tiles else 0
        for part in self.ranges():
            for first in range(0, part.size, band):
                last = min(first + band, part.size)
                code = unpack(self.device, part.string, last, part.width, np.uint32, first=first)
                tile_row = xp.searchsorted(part.ends, xp.arange(first, last), side="right") - 1
                total += mirror_hash_of(*self._position(code, tile_row))
        return total % (1 << 64) == 0

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Split, Order]:
        """Build a Split: the T rows of each tile row are merged by tile column, first to count (for up to three limits
        of near columns), then to fill tiles or single entries.

        order[e]: the position of the Split's entry e in `rows`. Peak memory: the result, the order if requested, 4
        bytes per tile and per single entry, which are packed afterwards, 1 byte per entry, and 100 bytes per tile row,
        on a GPU 100 more per T * b2sr.cut_entries entries. Raises ValueError for more columns than 32 bits can number
        (`entry_width`).
        """
        assert tile is not None
        xp, device, width = rows.device.xp, rows.device, entry_width(rows.ncols, tile)
        parts, merge, out = counted(rows, tile)
        tiles, in_far, in_near, near_width = (int(x) for x in parts)
        in_rest, kind = in_near + in_far, pointer_type(rows.nvals)
        in_tiles = rows.nvals - in_rest
        needed = cost.predict_bytes(rows.nrows, rows.ncols, tile, parts) + 4 * (tiles + in_rest)
        device.foresee(f"Split-{tile} of {rows.nvals} entries", needed + order * (tiles + rows.nvals) * kind.itemsize)
        col, codes = xp.empty(max(1, tiles), merge.tile_col), xp.empty(max(1, in_rest), np.uint32)
        bits = xp.zeros(max(1, tiles) * words_per_tile(tile), word_type(tile))
        ranks = xp.empty(max(1, tiles) if order else 1, kind)
        places = xp.empty(max(1, rows.nvals) if order else 1, kind)
        rule = cost.rule_of(rows.ncols, tile, near_width)
        merge.fill(order, out, (col, bits, ranks, places), rule, codes, in_tiles)
        starts = xp.empty(parts.kinds * (merge.tile_rows + 1), pointer_type(max(tiles, in_near, in_far)))
        for k, part in enumerate((0, 1, 2) if near_width else (0, 2)):
            starts[k :: parts.kinds] = merge.tile_rows_of(out[part])
        columns = pack(device, col[:tiles], column_width(rows.ncols, tile))
        near = near_words(in_near, near_width)
        rest = xp.empty(cost.rest_words(in_near, in_far, near_width, rows.ncols, tile), np.uint32)
        pack_into(device, codes[:in_near], near_width, rest[:near])
        pack_into(device, codes[in_near:in_rest], width, rest[near:])
        shape = (device, rows.nrows, rows.ncols, tile)
        layout = Split(*shape, starts, columns, bits, rest, tiles, in_tiles, in_near, near_width, rows.nvals)
        if not order:
            return layout, None
        layout.value_ptr = ranks
        return layout, places[: rows.nvals]

    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        """The same entries row by row; order[e]: the position of entry e in this layout. The entries are sorted.
        Peak memory: the result, 48 bytes per entry, and 8 per row."""
        device, nrows, ncols = self.device, self.nrows, self.ncols
        needed = rows_bytes(nrows, ncols, self.nvals) + 48 * self.nvals + 8 * nrows
        device.foresee(f"CSR of {self.nvals} entries", needed)
        rows, cols = self.coo()
        places = sort_entries(device, rows, cols, nrows, ncols)
        made = from_arrays(device, nrows, ncols, pointers_of(rows[places], nrows, device), cols[places])
        return made, places.astype(pointer_type(self.nvals)) if order else None
