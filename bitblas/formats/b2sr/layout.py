"""B2SR: the non-empty T x T tiles of a matrix as bits, tile rows as in CSR (Chen et al., Bit-GraphBLAS, section III).

A tile has T*T bits, row-major: (r, c) is bit r*T + c of a little-endian bit string. For T = 4 it is one uint16, for T =
8 one uint64, for T = 16, 32, 64 it is 4, 16, 64 uint64. Padding bits beyond nrows and ncols are zero. Entry order: tile
row, tile, bit. With a value array, the rank of a bit is value_ptr[tile] + the number of lower bits of its tile.

Tiles are built by merging the rows of each tile row by tile column (`Merge`), in a counting pass and a filling pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from semirings.dtypes import lookup_dtype

from ... import tuning
from ...device import Bounds, Device, threads
from ...kernels.variant import COUNT, WORDS, Variant
from ...typing import Array
from .. import validation
from ..contract import Format, Layout, LazyDict, Order, Region, compute_once
from ..csr.layout import Csr, from_arrays, index_type, mirror_hash, pointer_type, rows_bytes
from .cost import TILES, tiles_bytes, word_type, words_per_tile
from .kernels import BY_TILE

# ---- Validate the arrays of bit tiles that come from outside.


def check_tiles(layout: B2sr, counts: Array) -> None:
    """ValueError unless tile columns ascend and are inside the matrix, and bits are too. counts: number of entries per
    tile."""
    tiles, tile_cols, xp = layout.tiles, -(-layout.ncols // layout.tile), layout.device.xp
    validation.check_rows(xp, layout.ptr, layout.col, tiles, tile_cols)
    if int(counts[:tiles].sum()) != layout.nvals or (tiles and not int(counts[:tiles].min())):
        raise ValueError(f"bits: expected {layout.nvals} in {tiles} tiles, at least one in each")
    words = layout.bits.reshape(max(1, tiles), -1)[:tiles]
    below = words[int(layout.ptr[-2:][0]) :]  # the tiles of the last tile row
    right = words[layout.col[:tiles] == tile_cols - 1]
    for some, limit, by_row in ((below, layout.nrows, True), (right, layout.ncols, False)):
        if bool((some & xp.asarray(_beyond(layout.tile, limit, by_row, some.dtype))).any()):
            raise ValueError("bits: expected none beyond the last row and column")


def _beyond(tile: int, limit: int, by_row: bool, word: np.dtype) -> np.ndarray:
    """The bits of the last tile beyond the last of `limit` rows or columns."""
    past = np.arange(tile) > (limit - 1) % tile
    flags = np.broadcast_to(past[:, None] if by_row else past, (tile, tile))
    return np.packbits(flags, bitorder="little").view(word)


# ---- Build tiles from rows: merge the rows of each tile row by tile column, in a counting pass and a filling pass.


class TileRule(NamedTuple):
    """Minimum entries of a stored tile: `near` below tile column `limit`, `far` from it on. Entries of other tiles are
    listed one by one, near and far ones separately (formats/split)."""

    limit: int
    near: int
    far: int


def cuts_of(device: Device, rows: int, items: int, long: int, starts: Array) -> tuple[int, Array]:
    """Cuts of the tile rows with at least `long` items, on devices whose threads share tile rows: an upper bound of
    their number (the exact one is only on the device), and the cuts before each tile row and in total, INT64. starts:
    those of the tile rows, and the end."""
    if not device.is_simt:
        return 0, device.xp.zeros(1, np.int64)
    most, cuts = items // long, device.xp.zeros(rows + 1, np.int64)
    if most:
        device.xp.cumsum((starts[1:] - starts[:-1]) // long, out=cuts[1:])
    return most, cuts


TileArrays: TypeAlias = tuple[Array, Array, Array, Array]  # columns, bits, ranks, and positions of the values


class Merge:
    """Merge the rows of a CSR to tiles, by a counting and a filling pass; a GPU cuts long tile rows into parts."""

    def __init__(self, csr: Csr, tile: int) -> None:
        xp, device = csr.device.xp, csr.device
        self.csr, self.tile, self.tile_rows = csr, tile, -(-csr.nrows // tile)
        self.tile_col = index_type(-(-csr.ncols // tile))  # may be narrower than the type of columns
        self.none, self.no_bits = xp.zeros(1, pointer_type(csr.nvals)), xp.zeros(1, word_type(tile))
        self.no_codes = xp.zeros(1, np.uint32)
        self.cut_cols = xp.zeros(1, np.int64)
        self.bounds = None
        # The entries before each tile row, and in total.
        limits = csr.ptr[::tile] if csr.nrows % tile == 0 else xp.append(csr.ptr[::tile], csr.ptr[-1:])
        long = tuning.count("b2sr.cut_entries") * tile
        most, self.cuts = cuts_of(device, self.tile_rows, csr.nvals, long, limits)
        self.units = self.tile_rows + most
        if device.splits(csr.nvals, tuning.count("formats.parallel_entries")):
            self.bounds = threads.balanced_ranges(limits, device.parts)
        if most:
            self.cut_cols = xp.empty(most, np.int64)
            cut, tile_cols = device.kernel(self._variant("cut")), -(-csr.ncols // tile)
            cut(most, self.tile_rows, csr.nrows, tile_cols, csr.ptr, csr.col, self.cuts, self.cut_cols)

    def count(self, rule: TileRule | None = None) -> Array:
        """The tiles before each part, and in total; with a rule also the near and far single entries. Shape (1 or 3,
        units + 1)."""
        xp, kinds = self.csr.device.xp, 3 if rule else 1
        counts = xp.zeros(kinds * max(1, self.units), np.int64)
        out = xp.zeros((kinds, self.units + 1), np.int64)
        none = xp.zeros(1, self.tile_col), self.no_bits, self.none, self.none
        self.fill(False, out, none, rule, counts=counts)
        for kind in range(kinds):
            xp.cumsum(counts[kind * self.units : (kind + 1) * self.units], out=out[kind, 1:])
        return out

    def fill(
        self,
        order: bool,
        out: Array,
        tiles: TileArrays,
        rule: TileRule | None = None,
        codes: Array | None = None,
        in_tiles: int = 0,
        counts: Array | None = None,
    ) -> None:
        """Write the tiles of each part from the offsets in `out` on, and the codes (uint32) of single entries, near
        ones first; their positions follow those of the `in_tiles` entries of tiles. counts: only count them, into this
        array."""
        csr = self.csr
        constants = {"FILL": int(counts is None), "ORDER": int(order), "SPLIT": int(rule is not None)}
        variant = self._variant("build", *constants.items(), PLACE=self.none, TILE_COL=tiles[0])
        rows = (self.tile_rows, csr.nrows, csr.ptr, csr.col, self.cuts, self.cut_cols, *(rule or TileRule(0, 0, 0)))
        written = self.cuts if counts is None else counts, *tiles, self.no_codes if codes is None else codes
        csr.device.kernel(variant)(self.units, *rows, in_tiles, out.reshape(-1), *written, bounds=self.bounds)

    def tile_rows_of(self, out: Array) -> Array:
        """The counts (a row of `count`) before each tile row, which are those before its first part, and in total."""
        uncut = self.units == self.tile_rows
        return out if uncut else out[self.cuts + self.csr.device.xp.arange(self.tile_rows + 1)]

    def _variant(self, kernel: str, *constants: tuple[str, int], **indices: Array) -> Variant:
        return _variant(kernel, self.tile, *constants, PTR=self.csr.ptr, COL=self.csr.col, **indices)


def count_tiles(csr: Csr, tile: int) -> int:
    """The number of non-empty tiles."""
    return int(Merge(csr, tile).count()[0, -1])


# ---- B2SR: the non-empty T x T tiles of a matrix as bits, tile rows as in CSR (Chen et al., Bit-GraphBLAS, section
# III).


@dataclass(eq=False)
class B2sr(Layout):
    """Tile row I has the tiles ptr[I] .. ptr[I + 1]; tile t is in tile column col[t]."""

    device: Device
    nrows: int
    ncols: int
    tile: int
    ptr: Array  # tile rows + 1
    col: Array  # tiles (the arrays hold at least one tile, so that each has an address)
    bits: Array  # tiles * words_per_tile
    tiles: int
    nvals: int
    value_ptr: Array | None = None  # tiles: rank of the first bit of each; only if values are stored in this order
    cache = LazyDict()  # schedules of kernels: hubs, parallel bounds

    @property
    def format(self) -> Format:
        return BY_TILE[self.tile]

    @property
    def work(self) -> int:
        return self.tiles

    @property
    def units(self) -> int:
        """Number of units that kernels iterate over: tile rows."""
        return len(self.ptr) - 1

    def coo(self) -> tuple[Array, Array]:
        """Rows and columns (INT64) of the entries, in bit order of the tiles."""
        xp, ranks = self.device.xp, self.ranks()
        rows, cols = xp.empty(max(1, self.nvals), np.int64), xp.empty(max(1, self.nvals), np.int64)
        kernel = self.device.kernel(_variant("coo", self.tile, PTR=self.ptr, COL=self.col, PLACE=ranks))
        kernel(self.tiles, self.units, self.ptr, self.col, self.bits, ranks, rows, cols, bounds=self._tile_bounds())
        return rows[: self.nvals], cols[: self.nvals]

    def _bounds(self) -> Bounds:
        """Parallel ranges of tile rows on the CPU, for structural kernels."""
        if not self.device.splits(self.nvals, tuning.count("formats.parallel_entries")):
            return None
        return compute_once(self.cache, "passes", lambda: threads.balanced_ranges(self.ptr, self.device.parts))

    def _tile_bounds(self) -> Bounds:
        """Parallel ranges of tiles on the CPU."""
        least = tuning.count("formats.parallel_entries")
        return self.device.ranges(self.tiles, least, work=self.nvals, parts=self.device.threads)

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[B2sr, Order]:
        """Build tiles from rows: the T rows of each tile row are merged by tile column, once to count and once to fill.

        order[e]: the position of the B2SR's entry e in `rows`. Peak memory: the result, the order if requested, and 24
        bytes per tile row, on a GPU 24 more per T * b2sr.cut_entries entries.
        """
        assert tile is not None
        xp, merge = rows.device.xp, Merge(rows, tile)
        out = merge.count()
        tiles, kinds = int(out[0, -1]), pointer_type(rows.nvals)
        needed = tiles_bytes(rows.nrows, rows.ncols, tiles, tile) + order * (tiles + rows.nvals) * kinds.itemsize
        rows.device.foresee(f"B2SR-{tile} of {rows.nvals} entries in {tiles} tiles", needed)
        col = xp.empty(max(1, tiles), merge.tile_col)
        bits = xp.zeros(max(1, tiles) * words_per_tile(tile), word_type(tile))
        ranks = xp.empty(max(1, tiles) if order else 1, kinds)
        places = xp.empty(max(1, rows.nvals) if order else 1, kinds)
        merge.fill(order, out, (col, bits, ranks, places))
        ptr = merge.tile_rows_of(out[0]).astype(pointer_type(tiles))
        layout = B2sr(rows.device, rows.nrows, rows.ncols, tile, ptr, col, bits, tiles, rows.nvals)
        if order:
            layout.value_ptr = ranks
        return layout, places[: rows.nvals] if order else None

    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        """The same entries row by row; order[e]: the position of entry e in this layout. Peak memory: the result, the
        order if requested, and 24 bytes per row."""
        xp, device = self.device.xp, self.device
        needed = rows_bytes(self.nrows, self.ncols, self.nvals) + order * 4 * self.nvals
        device.foresee(f"CSR of {self.nvals} entries", needed)
        none = xp.zeros(1, pointer_type(self.nvals))
        long = tuning.count("b2sr.cut_tiles")
        most, cuts = cuts_of(device, self.units, self.tiles, long, self.ptr)
        counts = xp.zeros((self.units + most) * self.tile, np.int64)
        col = xp.empty(max(1, self.nvals), index_type(self.ncols))
        places = xp.empty(max(1, self.nvals) if order else 1, none.dtype)
        ptr = xp.full(self.nrows + 1, self.nvals, np.int64)
        ranks = self.ranks() if order else none
        indices = {"PTR": self.ptr, "COL": col, "PLACE": places, "TILE_COL": self.col}
        for fill, ordered in ((0, 0), (1, int(order))):
            out = counts
            if fill:
                out = xp.cumsum(counts)
                out -= counts  # entries before each row of each part
            variant = _variant("unbuild", self.tile, ("FILL", fill), ("ORDER", ordered), **indices)
            tiles = self.units, self.nrows, self.ptr, self.col, self.bits, ranks, cuts
            device.kernel(variant)(self.units + most, *tiles, out, counts, ptr, col, places, bounds=self._bounds())
        rows = from_arrays(device, self.nrows, self.ncols, ptr, col[: self.nvals])
        return rows, places[: self.nvals] if order else None

    def transpose(self, order: bool) -> tuple[B2sr, Order]:
        """The tiles of the transpose; order[e]: the position of the result's entry e in this layout. The tiles are
        transposed as the entries of a CSR, then the bits of each tile. Peak memory: the result, the order, and that of
        the CSR transpose."""
        xp, device = self.device.xp, self.device
        device.foresee(f"transpose of {self.tiles} tiles", self.nbytes + order * 4 * self.nvals)
        tile_cols = -(-self.ncols // self.tile)
        tiles, source = Csr(device, self.units, tile_cols, self.ptr, self.col, self.tiles).transpose(True)
        source = source if self.tiles else xp.zeros(1, self.ptr.dtype)
        bits = xp.zeros_like(self.bits)
        bounds = self._tile_bounds()
        none = xp.zeros(1, pointer_type(self.nvals))
        transposed = B2sr(device, self.ncols, self.nrows, self.tile, tiles.ptr, tiles.col, bits, self.tiles, self.nvals)
        places = xp.empty(max(1, self.nvals), none.dtype) if order else none
        for ordered in range(1 + order):
            ranks = (self.ranks(), transposed.ranks()) if ordered else (none, none)
            variant = _variant("transpose", self.tile, ("ORDER", ordered), PTR=self.ptr, PLACE=none)
            device.kernel(variant)(self.tiles, source, self.bits, *ranks, bits, places, bounds=bounds)
        return transposed, places[: self.nvals] if order else None

    def is_symmetric(self) -> bool:
        return self.mirror_hash() == 0

    def mirror_hash(self) -> int:
        """The hash of a symmetry test (csr/layout.py)."""
        return mirror_hash(self, "b2sr", ("TILE", self.tile), self.col.dtype, self.bits)

    def arrays(self) -> dict[str, Array]:
        return {"ptr": self.ptr, "col": self.col, "bits": self.bits}

    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("nrows", "ncols", "nvals", "tile", "tiles")}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> B2sr:
        nrows, ncols, nvals, tile, tiles = validation.expect_numbers(
            numbers, "nrows", "ncols", "nvals", "tile", "tiles"
        )
        if tile not in TILES:
            raise ValueError(f"tile: expected one of {', '.join(map(str, TILES))}, got {tile}")
        bits = (word_type(tile),), max(1, tiles) * words_per_tile(tile)
        rows, cols = (validation.INDEX, -(-nrows // tile) + 1), (validation.INDEX, max(1, tiles))
        ptr, col, words = validation.expect_arrays(arrays, ptr=rows, col=cols, bits=bits)
        return cls(device, nrows, ncols, tile, ptr, col, words, tiles, nvals)

    def check(self) -> None:
        check_tiles(self, self._counts())

    def grid(self) -> Csr:
        """Where it has tiles: an entry for each."""
        return Csr(self.device, self.units, -(-self.ncols // self.tile), self.ptr, self.col, self.tiles)

    def times(self, right: B2sr, grid: Csr, ncols: int, count: bool) -> tuple[B2sr, Array | None]:
        """The product with a matrix of `ncols` columns, whose tiles are among those of `grid`; with `count` also the
        number of products that each entry sums, INT32. right: on a GPU the transpose. Peak memory: the tiles of the
        grid, and with `count` 4 T^2 bytes for each."""
        xp, device, tile, tiles = self.device.xp, self.device, self.tile, grid.nvals
        needed = tiles_bytes(self.nrows, ncols, tiles, tile) + 4 * tile * tile * tiles * count
        device.foresee(f"B2SR-{tile} of a product in at most {tiles} tiles", needed)
        bits = xp.zeros(max(1, tiles) * words_per_tile(tile), word_type(tile))
        counts = xp.zeros(max(1, tiles) * tile * tile if count else 1, np.int32)
        kinds = {"CPTR": grid.ptr, "CCOL": grid.col, "PTR": self.ptr, "COL": self.col}
        kinds |= {"BPTR": right.ptr, "BCOL": right.col}
        variant = _variant("mxm", tile, ("KIND", COUNT if count else WORDS), **kinds)
        operands = grid.ptr, grid.nrows, grid.col, self.ptr, self.col, self.bits, right.ptr, right.col, right.bits
        units, bounds = (tiles, None) if device.is_simt else (grid.nrows, self._product_bounds(grid))
        device.kernel(variant)(units, *operands, grid.ncols, bits, counts, bounds=bounds)
        found = B2sr(device, self.nrows, ncols, tile, grid.ptr, grid.col, bits, tiles, 0)
        per_tile = found._counts()
        made = found._without_empty(bits, per_tile, int(per_tile[:tiles].sum()))
        return made, counts[counts != 0] if count else None

    def _product_bounds(self, grid: Csr) -> Bounds:
        """Parallel ranges of tile rows on the CPU, with about equal numbers of tiles of the product."""
        if not self.device.splits(grid.nvals * self.tile, tuning.count("formats.parallel_entries")):
            return None
        return threads.balanced_ranges(grid.ptr, self.device.parts)

    def filter(self, keep: Array) -> tuple[B2sr, Array]:
        """The entries for which `keep` (bools in entry order) is true, and `keep`; empty tiles are dropped."""
        xp, device = self.device.xp, self.device
        bits, nonempty = xp.empty_like(self.bits), xp.zeros(max(1, self.tiles), np.uint8)
        flags = keep.view(np.uint8) if len(keep) else xp.zeros(1, np.uint8)
        ranks = self.ranks()
        variant = _variant("filter", self.tile, PLACE=ranks)
        device.kernel(variant)(self.tiles, self.bits, ranks, flags, bits, nonempty, bounds=self._tile_bounds())
        return self._without_empty(bits, nonempty, int(keep.sum())), keep

    def clip(self, region: Region, order: bool) -> tuple[B2sr, Order]:
        """The entries in a region; order[e]: the position of the result's entry e in this layout."""
        if order:
            keep = region.covers(*self.coo())
            return self.filter(keep)[0], self.device.xp.flatnonzero(keep)
        xp, device, rows = self.device.xp, self.device, self.units
        sums, bounds = xp.zeros(2 * rows + 1, np.int64), self._bounds()  # 0, tiles by tile row, entries by tile row
        out: tuple[Array, Array, Array] = self.col, self.bits, sums  # not written by the first pass
        for fill in (0, 1):
            variant = _variant("clip", self.tile, ("FILL", fill), PTR=self.ptr, COL=self.col, PLACE=out[2])
            device.kernel(variant)(rows, self.ptr, self.col, self.bits, *region, sums, sums[rows:], *out, bounds=bounds)
            if not fill:
                xp.cumsum(sums, out=sums)
                tiles, both = device.to_host(sums[rows :: max(1, rows)]).tolist() if rows else (0, 0)
                nvals = both - tiles
                if nvals in (0, self.nvals):
                    break
                words, kind = tiles * words_per_tile(self.tile), pointer_type(nvals)
                out = xp.empty(tiles, self.col.dtype), xp.empty(words, self.bits.dtype), xp.empty(tiles, kind)
        if nvals == self.nvals:
            return self, None
        col, bits, ranks = out if nvals else (*self._no_tiles(), None)
        ptr = sums[: rows + 1].astype(pointer_type(tiles))
        return B2sr(device, self.nrows, self.ncols, self.tile, ptr, col, bits, tiles, nvals, ranks), None

    def _no_tiles(self) -> tuple[Array, Array]:
        """Columns and bits of a layout without tiles; at least one of each, so that the arrays have addresses."""
        xp = self.device.xp
        return xp.zeros(1, self.col.dtype), xp.zeros(words_per_tile(self.tile), self.bits.dtype)

    def _without_empty(self, bits: Array, count: Array, nvals: int) -> B2sr:
        """The same tiles with other bits, without those whose count is 0."""
        xp = self.device.xp
        full = xp.flatnonzero(count[: self.tiles])
        tiles = len(full)
        if tiles == self.tiles:
            return B2sr(self.device, self.nrows, self.ncols, self.tile, self.ptr, self.col, bits, tiles, nvals)
        before = xp.zeros(self.tiles + 1, pointer_type(tiles))  # tiles left before each tile
        xp.cumsum(count[: self.tiles] != 0, out=before[1:])
        ptr = before[self.ptr]
        col, left = self.col[full], bits.reshape(-1, words_per_tile(self.tile))[full].reshape(-1)
        if not tiles:
            col, left = self._no_tiles()
        return B2sr(self.device, self.nrows, self.ncols, self.tile, ptr, col, left, tiles, nvals)

    def ranks(self) -> Array:
        """value_ptr, computed on first use: the prefix sum of the tiles' population counts."""
        if self.value_ptr is None:
            xp, per_tile = self.device.xp, self._counts()
            self.value_ptr = (xp.cumsum(per_tile) - per_tile).astype(pointer_type(self.nvals))
        return self.value_ptr

    def _counts(self) -> Array:
        """The number of entries in each tile."""
        per_tile = self.device.xp.zeros(max(1, self.tiles), np.int64)
        self.device.kernel(_variant("ranks", self.tile))(self.tiles, self.bits, per_tile)
        return per_tile


def _variant(kernel: str, tile: int, *constants: tuple[str, int], **indices: Array) -> Variant:
    """A structural kernel: it depends only on the tile size and the index types."""
    types = tuple((name, lookup_dtype(array.dtype)) for name, array in indices.items())
    shape = (("TILE", tile), ("LANES", 1 if kernel in ("ranks", "filter") else min(tile, 32)))
    return Variant(f"formats/b2sr/{kernel}", types, shape + constants)
