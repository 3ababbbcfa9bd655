"""Split: the tiles that pay for themselves as bits, all other entries as packed numbers by tile row.

A tile of n entries is kept as bits where these and its tile column need fewer bits than the entries would in the rest:
T*T + bits of a tile column < n * bits of an entry (`least_entries`). With T = 2^L, an entry of the rest is one number,
J << 2L | r << L | c: tile column, row and column in the tile; that is L bits more than a column has. Numbers of both
kinds are packed to the bits that the largest needs (kernels/packed.cuh), at most 32.

Pointers are pairs: tiles and entries of the rest before tile row I stand side by side, so that a kernel finds both
parts of a tile row, and their ends, in 16 consecutive bytes.

Entry order: first the entries of all tiles (tile row, tile, bit), then those of the rest (tile row, number: the order
that they would have in tiles). So entry k of the rest has the rank `in_tiles` + k, and only tiles need a `value_ptr`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...device import Device
from .. import Region, sound
from ..b2sr.format import B2sr, word_type, words_per_tile
from ..b2sr.merging import Merge
from ..csr.format import Csr, from_arrays, index_type, numbers_of, pointers_of, sort_entries
from ..packing import pack, packed_words, unpack, width_of

TILES = (4, 8, 16)


def column_width(ncols: int, tile: int) -> int:
    """Bits of a tile column."""
    return width_of(-(-ncols // tile))


def fits(ncols: int, tile: int) -> bool:
    """Whether 32 bits can number the entries of a tile row."""
    return ncols * tile <= 1 << 32


def entry_width(ncols: int, tile: int) -> int:
    """Bits of an entry of the rest. ValueError where they are more than 32."""
    if not fits(ncols, tile):
        raise ValueError(f"ncols: format 'split' with tile={tile} holds up to {(1 << 32) // tile} columns, got {ncols}")
    return width_of(-(-ncols // tile) * tile * tile)


def least_entries(ncols: int, tile: int) -> int:
    """Entries from which on a tile is kept as bits."""
    return (tile * tile + column_width(ncols, tile)) // entry_width(ncols, tile) + 1


def key_of(tile: int) -> str:
    return f"split{tile}"


@dataclass(eq=False)
class Split:
    """Tile row I holds tiles pairs[2I] .. pairs[2I + 2] and entries pairs[2I + 1] .. pairs[2I + 3] of the rest."""

    device: Device
    nrows: int
    ncols: int
    tile: int
    pairs: Any  # 2 * (tile rows + 1)
    col: Any  # packed tile columns
    bits: Any  # tiles * words_per_tile (of one tile at least)
    rest: Any  # packed entries
    tiles: int
    in_tiles: int  # entries in tiles
    nvals: int
    value_ptr: Any = None  # tiles: rank of the first bit of each; only where values are stored in this order
    cache: dict[Any, Any] = field(default_factory=dict)  # schedules of kernels: hubs, parallel bounds

    compact = True

    @property
    def key(self) -> str:
        return key_of(self.tile)

    @property
    def rows_per_unit(self) -> int:
        return self.tile

    @property
    def units(self) -> int:
        """What kernels count: tile rows."""
        return len(self.pairs) // 2 - 1

    @property
    def ptr(self) -> Any:
        """Tiles and entries of the rest before each tile row, together: the work there. Made at every call."""
        return self.pairs[::2] + self.pairs[1::2]

    @property
    def work(self) -> int:
        return self.tiles + self.in_rest

    @property
    def in_rest(self) -> int:
        """Entries of the rest."""
        return self.nvals - self.in_tiles

    @property
    def nbytes(self) -> int:
        ranks = 0 if self.value_ptr is None else int(self.value_ptr.nbytes)
        return sum(int(a.nbytes) for a in (self.pairs, self.col, self.bits, self.rest)) + ranks

    @staticmethod
    def predict_bytes(nrows: int, ncols: int, tiles: int, in_rest: int, tile: int) -> int:
        """tiles: those that pay; in_rest: the entries of the others."""
        pointers = 2 * (-(-nrows // tile) + 1) * index_type(max(tiles, in_rest))().itemsize
        words = packed_words(tiles, column_width(ncols, tile)) + packed_words(in_rest, entry_width(ncols, tile))
        return pointers + 4 * words + max(1, tiles) * max(2, tile * tile // 8)

    def arrays(self) -> dict[str, Any]:
        return {"pairs": self.pairs, "col": self.col, "bits": self.bits, "rest": self.rest}

    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("nrows", "ncols", "nvals", "tile", "tiles", "in_tiles")}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Split:
        names = ("nrows", "ncols", "nvals", "tile", "tiles", "in_tiles")
        nrows, ncols, nvals, tile, tiles, in_tiles = sound.counts(numbers, *names)
        if tile not in TILES or not fits(ncols, tile) or in_tiles > nvals:
            raise ValueError(f"numbers: a tile of {tile}, {ncols} columns, {in_tiles} of {nvals} entries in tiles")
        pairs, col, bits, rest = sound.expect(
            arrays,
            pairs=(sound.INDEX, 2 * (-(-nrows // tile) + 1)),
            col=((np.uint32,), packed_words(tiles, column_width(ncols, tile))),
            bits=((word_type(tile),), max(1, tiles) * words_per_tile(tile)),
            rest=((np.uint32,), packed_words(nvals - in_tiles, entry_width(ncols, tile))),
        )
        return cls(device, nrows, ncols, tile, pairs, col, bits, rest, tiles, in_tiles, nvals)

    def check(self) -> None:
        self.tile_part().check()
        xp, ends = self.device.xp, self.pairs[1::2]
        sound.check_pointers(ends, self.in_rest)
        rows, cols = self.coo()
        if self.nvals and (int(rows.max()) >= self.nrows or int(cols.max()) >= self.ncols):
            raise ValueError(f"rest: expected entries of a matrix of {self.nrows} x {self.ncols}")
        codes = unpack(self.device, self.rest, self.in_rest, entry_width(self.ncols, self.tile), np.uint32)
        after = xp.ones(self.in_rest + 1, bool)
        xp.greater(codes[1:], codes[:-1], out=after[1:-1])
        after[ends] = True  # the first of a tile row comes after nothing
        if self.in_rest and not bool(after.all()):
            raise ValueError("rest: expected numbers that ascend in each tile row")
        self.to_csr(False)[0].check()  # no entry stands in both parts

    def tile_part(self) -> B2sr:
        """The tiles alone, with plain columns."""
        xp, kind = self.device.xp, index_type(-(-self.ncols // self.tile))
        col = unpack(self.device, self.col, self.tiles, column_width(self.ncols, self.tile), kind)
        col = col if self.tiles else xp.zeros(1, kind)
        ptr = xp.ascontiguousarray(self.pairs[::2])
        shape = (self.device, self.nrows, self.ncols, self.tile)
        return B2sr(*shape, ptr, col, self.bits, self.tiles, self.in_tiles, self.value_ptr)

    def ranks(self) -> Any:
        """value_ptr, made at first need."""
        if self.value_ptr is None:
            self.value_ptr = self.tile_part().ranks()
        return self.value_ptr

    def adopt(self, twin: Split) -> None:
        if self.value_ptr is None:
            self.value_ptr = twin.value_ptr

    def coo(self) -> tuple[Any, Any]:
        """Rows and columns (INT64) of the entries: those of the tiles, then those of the rest."""
        xp, tile, log = self.device.xp, self.tile, self.tile.bit_length() - 1
        rows, cols = xp.empty(self.nvals, np.int64), xp.empty(self.nvals, np.int64)
        if self.tiles:
            rows[: self.in_tiles], cols[: self.in_tiles] = self.tile_part().coo()
        if self.in_rest:
            r, c, width = rows[self.in_tiles :], cols[self.in_tiles :], entry_width(self.ncols, tile)
            r[:] = numbers_of(xp.ascontiguousarray(self.pairs[1::2]), self.in_rest, self.device)
            r *= tile
            c[:] = unpack(self.device, self.rest, self.in_rest, width, np.uint32)
            r += c >> log & (tile - 1)
            low = c & (tile - 1)
            c >>= 2 * log
            c <<= log
            c += low
        return rows, cols

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        """The same entries row by row; order[e]: the place of entry e in this form. Entries are sorted; peak memory:
        the result, 48 bytes per entry, and 8 per row."""
        needed = Csr.predict_bytes(self.nrows, self.ncols, self.nvals) + 48 * self.nvals + 8 * self.nrows
        self.device.foresee(f"CSR of {self.nvals} entries", needed)
        rows, cols = self.coo()
        places = sort_entries(self.device, rows, cols, self.nrows, self.ncols)
        ptr = pointers_of(rows[places], self.nrows, self.device)
        made = from_arrays(self.device, self.nrows, self.ncols, ptr, cols[places])
        return made, places.astype(index_type(self.nvals)) if order else None

    def _through_rows(self, change: Any, order: bool) -> tuple[Split, Any]:
        """What `change` makes of the rows (a Csr, and with `order` the places of its entries in them) as a Split."""
        rows, first = self.to_csr(order)
        changed, second = change(rows, first)
        made, third = from_csr(changed, self.tile, order)
        return made, first[second[third]] if order else None

    def transpose(self, order: bool) -> tuple[Split, Any]:
        """The form of the transpose; order[e]: the place of its entry e in this form. Peak memory: that of `to_csr`,
        of a CSR's transpose, and of `from_csr`."""
        return self._through_rows(lambda rows, _: rows.transpose(order), order)

    def clip(self, region: Region, order: bool) -> tuple[Split, Any]:
        """The entries in a region; order[e]: the place of its entry e in this form."""

        def cut(rows: Csr, _: Any) -> tuple[Csr, Any]:
            kept, places = rows.clip(region, order)
            return kept, places

        return self._through_rows(cut, order)

    def filter(self, keep: Any) -> tuple[Split, Any]:
        """The entries for which `keep` (bools in entry order) is true; order[e]: the place of its entry e in this form.
        A tile that does not pay any more joins the rest."""
        xp = self.device.xp

        def drop(rows: Csr, places: Any) -> tuple[Csr, Any]:
            keep_row = keep[places]
            before = xp.zeros(rows.nvals + 1, np.int64)  # entries kept before each entry
            xp.cumsum(keep_row, out=before[1:])
            col = rows.col[: rows.nvals][keep_row]
            kept = from_arrays(self.device, self.nrows, self.ncols, before[rows.ptr], col)
            return kept, xp.flatnonzero(keep_row)

        return self._through_rows(drop, True)

    def equals(self, other: Split) -> bool:
        """Whether both hold the same entries."""
        pairs = ((self.pairs, other.pairs), (self.col, other.col), (self.bits, other.bits), (self.rest, other.rest))
        if any(a.shape != b.shape for a, b in pairs):
            return False
        same = [(a == b).all() for a, b in pairs]
        return bool(same[0] & same[1] & same[2] & same[3])  # the host waits once


def count_parts(csr: Csr, tile: int) -> tuple[int, int]:
    """The number of tiles that pay, and of entries in the others."""
    merge = Merge(csr, tile, word_type(tile), least_entries(csr.ncols, tile))
    tiles, in_rest = csr.device.to_host(merge.count()[:, -1]).tolist()
    return tiles, in_rest


def from_csr(csr: Csr, tile: int, order: bool) -> tuple[Split, Any]:
    """Each tile row merges its T rows by tile column, once to count and once to fill: a tile, or entries of the rest.

    order[e]: the place of entry e of the Split in `csr`. Peak memory: the result, the order where asked for, 4 bytes
    per tile and per entry of the rest, which are packed afterwards, and 40 bytes per tile row, on a GPU 40 more per
    T * merging.LONG entries. Raises ValueError for more columns than 32 bits can number (`entry_width`).
    """
    xp, device, width = csr.device.xp, csr.device, entry_width(csr.ncols, tile)
    merge = Merge(csr, tile, word_type(tile), least_entries(csr.ncols, tile))
    out = merge.count()
    tiles, in_rest = device.to_host(out[:, -1]).tolist()
    in_tiles, kind = csr.nvals - in_rest, index_type(csr.nvals)
    needed = Split.predict_bytes(csr.nrows, csr.ncols, tiles, in_rest, tile) + 4 * (tiles + in_rest)
    device.foresee(f"Split-{tile} of {csr.nvals} entries", needed + order * (tiles + csr.nvals) * kind().itemsize)
    col, codes = xp.empty(max(1, tiles), merge.tile_col), xp.empty(max(1, in_rest), np.uint32)
    bits = xp.zeros(max(1, tiles) * words_per_tile(tile), word_type(tile))
    ranks = xp.empty(max(1, tiles) if order else 1, kind)
    places = xp.empty(max(1, csr.nvals) if order else 1, kind)
    merge.fill(order, out, col, bits, ranks, places, codes, in_tiles)
    pairs = xp.empty(2 * merge.tile_rows + 2, index_type(max(tiles, in_rest)))
    pairs[::2], pairs[1::2] = merge.tile_rows_of(out[0]), merge.tile_rows_of(out[1])
    columns, rest = pack(device, col[:tiles], column_width(csr.ncols, tile)), pack(device, codes[:in_rest], width)
    shape = (device, csr.nrows, csr.ncols, tile)
    form = Split(*shape, pairs, columns, bits, rest, tiles, in_tiles, csr.nvals)
    if not order:
        return form, None
    form.value_ptr = ranks
    return form, places[: csr.nvals]
