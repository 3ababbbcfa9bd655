"""B2SR: the non-empty T x T tiles of a matrix as bits, tile rows as in CSR (Chen et al., Bit-GraphBLAS, section III).

A tile is T*T bits, row-major: the bit of (r, c) is bit r*T + c of a little-endian bit string. T = 4 is one uint16,
T = 8 one uint64, T = 16, 32, 64 are 4, 16, 64 uint64. Padding bits past nrows and ncols are zero. Entry order: tile
row, tile, bit. With a value array, the rank of a bit is value_ptr[tile] + the number of lower bits of its tile.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype

from ...device import Device, balanced_bounds, even_bounds
from ...kernels.prologue import Variant
from .. import Region
from ..csr.format import PARALLEL_ENTRIES, Csr, from_arrays, index_type, numbers_of

TILES = (4, 8, 16, 32, 64)


def words_per_tile(tile: int) -> int:
    """Array elements per tile: uint16 for T = 4, uint64 else."""
    return max(1, tile * tile // 64)


def word_type(tile: int) -> Any:
    return np.uint16 if tile == 4 else np.uint64


@dataclass(eq=False)
class B2sr:
    """Tile row I holds tiles ptr[I] .. ptr[I + 1]; tile t stands in tile column col[t]."""

    device: Device
    nrows: int
    ncols: int
    tile: int
    ptr: Any  # tile rows + 1
    col: Any  # tiles (the arrays hold at least one tile, so that each has an address)
    bits: Any  # tiles * words_per_tile
    tiles: int
    nvals: int
    value_ptr: Any = None  # tiles: rank of the first bit of each; only where values are stored in this order
    cache: dict[Any, Any] = field(default_factory=dict)  # schedules of kernels: hubs, parallel bounds

    @property
    def key(self) -> str:
        return f"b2sr{self.tile}"

    @property
    def rows_per_unit(self) -> int:
        return self.tile

    @property
    def units(self) -> int:
        """What kernels count: tile rows."""
        return self.tile_rows

    @property
    def tile_rows(self) -> int:
        return len(self.ptr) - 1

    @property
    def nbytes(self) -> int:
        ranks = 0 if self.value_ptr is None else int(self.value_ptr.nbytes)
        return int(self.ptr.nbytes + self.col.nbytes + self.bits.nbytes) + ranks

    @staticmethod
    def predict_bytes(nrows: int, ncols: int, tiles: int, tile: int) -> int:
        pointers = (-(-nrows // tile) + 1) * index_type(tiles)().itemsize
        return pointers + tiles * (index_type(-(-ncols // tile))().itemsize + max(2, tile * tile // 8))

    def coo(self) -> tuple[Any, Any]:
        """Rows and columns (INT64) of the entries in the order of the tiles' bits."""
        xp, ranks = self.device.xp, self.ranks()
        rows, cols = xp.empty(max(1, self.nvals), np.int64), xp.empty(max(1, self.nvals), np.int64)
        kernel = self.device.kernel(_variant("coo", self.tile, self.ptr, self.col, ranks))
        kernel(self.tile_rows, self.ptr, self.col, self.bits, ranks, rows, cols, bounds=self._bounds())
        return rows[: self.nvals], cols[: self.nvals]

    def _bounds(self) -> Any:
        """Parallel ranges of tile rows on the CPU, for passes over the structure."""
        if self.device.is_gpu or self.nvals <= PARALLEL_ENTRIES:
            return None
        if "passes" not in self.cache:
            self.cache["passes"] = balanced_bounds(self.ptr, 4 * self.device.threads)
        return self.cache["passes"]

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        """The same entries row by row; order[e]: the place of entry e in this form."""
        xp, device = self.device.xp, self.device
        counts = xp.zeros(self.nrows, np.int64)
        self._walk(False, counts, xp.zeros(1, np.int32), xp.zeros(1, np.int32))
        ptr = xp.zeros(self.nrows + 1, np.int64)
        xp.cumsum(counts, out=ptr[1:])
        col = xp.empty(max(1, self.nvals), index_type(self.ncols))
        places = xp.empty(max(1, self.nvals) if order else 1, index_type(self.nvals))
        self._walk(True, ptr, col, places, order)
        rows = from_arrays(device, self.nrows, self.ncols, ptr, col[: self.nvals])
        return rows, places[: self.nvals] if order else None

    def tile_row_numbers(self) -> Any:
        """The tile row of every tile, INT64."""
        return numbers_of(self.ptr, self.tiles, self.device)

    def adopt(self, twin: B2sr) -> None:
        if self.value_ptr is None:
            self.value_ptr = twin.value_ptr

    def _walk(self, fill: bool, ptr: Any, col: Any, places: Any, order: bool = False) -> None:
        """One pass over the bits of every row: count them, or write their columns (and places) in order."""
        if order:
            self.ranks()
        variant = _variant("unbuild", self.tile, self.ptr, col, places, FILL=int(fill), ORDER=int(order))
        ranks = self.value_ptr if order else self.device.xp.zeros(1, places.dtype)
        kernel = self.device.kernel(variant)
        kernel(
            self.tile_rows, self.nrows, self.ptr, self.col, self.bits, ranks, ptr, col, places, bounds=self._bounds()
        )

    def filter(self, keep: Any) -> B2sr:
        """The entries for which `keep` (bools in entry order) is true; tiles that become empty go."""
        xp, device = self.device.xp, self.device
        bits, some = xp.empty_like(self.bits), xp.zeros(max(1, self.tiles), np.uint8)
        flags = keep.view(np.uint8) if len(keep) else xp.zeros(1, np.uint8)
        ranks = self.ranks()
        variant = _variant("filter", self.tile, places=ranks)
        bounds = even_bounds(self.tiles, device.threads) if self._bounds() is not None else None
        device.kernel(variant)(self.tiles, self.bits, ranks, flags, bits, some, bounds=bounds)
        return self._without_empty(bits, some, int(keep.sum()))

    def clip(self, region: Region, order: bool) -> tuple[B2sr, Any]:
        """The entries in a region; order[e]: the place of its entry e in this form."""
        if order:
            keep = region.covers(*self.coo())
            return self.filter(keep), self.device.xp.flatnonzero(keep)
        xp, device, rows = self.device.xp, self.device, self.tile_rows
        sums, bounds = xp.zeros(2 * rows + 1, np.int64), self._bounds()  # 0, tiles by tile row, entries by tile row
        out: tuple[Any, Any, Any] = self.col, self.bits, sums  # not written by the first pass
        for fill in (0, 1):
            kernel = device.kernel(_variant("clip", self.tile, self.ptr, self.col, out[2], FILL=fill))
            kernel(rows, self.ptr, self.col, self.bits, *region, sums, sums[rows:], *out, bounds=bounds)
            if not fill:
                xp.cumsum(sums, out=sums)
                tiles, both = device.to_host(sums[rows :: max(1, rows)]).tolist() if rows else (0, 0)
                nvals = both - tiles
                if nvals in (0, self.nvals):
                    break
                words, ranks = tiles * words_per_tile(self.tile), index_type(nvals)
                out = xp.empty(tiles, self.col.dtype), xp.empty(words, self.bits.dtype), xp.empty(tiles, ranks)
        if nvals == self.nvals:
            return self, None
        if not nvals:
            out = xp.zeros(1, self.col.dtype), xp.zeros(words_per_tile(self.tile), self.bits.dtype), None
        ptr = sums[: rows + 1].astype(index_type(tiles))
        return B2sr(device, self.nrows, self.ncols, self.tile, ptr, out[0], out[1], tiles, nvals, out[2]), None

    def _without_empty(self, bits: Any, count: Any, nvals: int) -> B2sr:
        """The same tiles with other bits; those whose count is 0 go."""
        xp = self.device.xp
        full = xp.flatnonzero(count[: self.tiles])
        tiles = len(full)
        if tiles == self.tiles:
            return B2sr(self.device, self.nrows, self.ncols, self.tile, self.ptr, self.col, bits, tiles, nvals)
        before = xp.zeros(self.tiles + 1, index_type(tiles))  # tiles left before each tile
        xp.cumsum(count[: self.tiles] != 0, out=before[1:])
        ptr = before[self.ptr]
        col, left = self.col[full], bits.reshape(-1, words_per_tile(self.tile))[full].reshape(-1)
        if not tiles:
            col, left = xp.zeros(1, self.col.dtype), xp.zeros(words_per_tile(self.tile), bits.dtype)
        return B2sr(self.device, self.nrows, self.ncols, self.tile, ptr, col, left, tiles, nvals)

    def ranks(self) -> Any:
        """value_ptr, made at first need: the running sum of the tiles' population counts."""
        if self.value_ptr is None:
            xp = self.device.xp
            per_tile = xp.zeros(max(1, self.tiles), np.int64)
            self.device.kernel(_variant("ranks", self.tile))(self.tiles, self.bits, per_tile)
            self.value_ptr = (xp.cumsum(per_tile) - per_tile).astype(index_type(self.nvals))
        return self.value_ptr


def from_csr(csr: Csr, tile: int, order: bool) -> tuple[B2sr, Any]:
    """Tiles from rows: each tile row merges its T rows by tile column, once to count and once to fill.

    order[e]: the place of entry e of the B2SR in `csr`. Peak memory: the result, the order where asked for, and
    8 bytes per tile row.
    """
    xp, device = csr.device.xp, csr.device
    tile_rows, words = -(-csr.nrows // tile), words_per_tile(tile)
    kinds = index_type(csr.nvals)
    counts, ptr = xp.zeros(max(1, tile_rows), np.int64), xp.zeros(tile_rows + 1, np.int64)
    none_bits, none = xp.zeros(1, word_type(tile)), xp.zeros(1, kinds)
    bounds = None
    if not device.is_gpu and csr.nvals > PARALLEL_ENTRIES:
        limits = csr.ptr[::tile] if csr.nrows % tile == 0 else np.append(csr.ptr[::tile], csr.ptr[-1])
        bounds = balanced_bounds(limits, 4 * device.threads)
    variant = _variant("build", tile, csr.ptr, csr.col, none, FILL=0, ORDER=0)
    rows = (tile_rows, csr.nrows, csr.ptr, csr.col, ptr, counts)
    device.kernel(variant)(*rows, none, none_bits, none, none, bounds=bounds)
    xp.cumsum(counts[:tile_rows], out=ptr[1:])
    tiles = int(ptr[-1])
    col = xp.empty(max(1, tiles), index_type(-(-csr.ncols // tile)))
    bits = xp.zeros(max(1, tiles) * words, word_type(tile))
    ranks = xp.empty(max(1, tiles) if order else 1, kinds)
    places = xp.empty(max(1, csr.nvals) if order else 1, kinds)
    variant = _variant("build", tile, csr.ptr, csr.col, none, FILL=1, ORDER=int(order))
    device.kernel(variant)(*rows, col, bits, ranks, places, bounds=bounds)
    ptr = ptr.astype(index_type(tiles))
    form = B2sr(device, csr.nrows, csr.ncols, tile, ptr, col, bits, tiles, csr.nvals)
    if not order:
        return form, None
    form.value_ptr = ranks
    return form, places[: csr.nvals]


def _variant(kernel: str, tile: int, ptr: Any = None, col: Any = None, places: Any = None, **constants: int) -> Variant:
    """The structural kernels depend on the tile size and the index types alone."""
    given = (("PTR", ptr), ("COL", col), ("PLACE", places))
    return _made(kernel, tile, tuple((n, a.dtype) for n, a in given if a is not None), tuple(constants.items()))


@functools.cache
def _made(
    kernel: str, tile: int, types: tuple[tuple[str, Any], ...], constants: tuple[tuple[str, int], ...]
) -> Variant:
    shape = (("TILE", tile), ("LANES", 1 if kernel in ("ranks", "filter") else min(tile, 32)))
    return Variant(f"formats/b2sr/{kernel}", tuple((n, lookup_dtype(t)) for n, t in types), shape + constants)
