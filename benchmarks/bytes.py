"""python -m benchmarks.bytes: bytes per stored edge of every form, pointers included, a permutation not; exact, and
without a device. Also of forms that are not built, to see what they would save:

packed    B2SR with packed tile columns, the best T
low       the best Split, whose rest holds columns below 2^16 in 16 bits, as a part with pointers of its own
slices    the best Split of 1 x W slices (W = 8, 16, 32) in the place of tiles
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bitblas.formats import packing
from bitblas.formats.b2sr.format import TILES, B2sr
from bitblas.formats.csr.format import Csr
from bitblas.formats.split import format as split

from . import graphs, table

GRAPHS = (
    "rmat16", "rmat16+degree", "delaunay_n16", "delaunay_n16_random", "grid2d_512", "stencil27_50", "mycielskian12",
    "road_ny",
)  # fmt: skip
HEADS = (
    "graph", "edges", "csr", "mplg", *(f"b2sr{t}" for t in TILES), "packed", *(f"split{t}" for t in split.TILES), "low",
    "slices", "smallest",
)  # fmt: skip
LOW = 16  # bits


class Pattern:
    """Where the entries are: rows and columns (INT64), each place once."""

    def __init__(self, nrows: int, ncols: int, rows: Any, cols: Any) -> None:
        self.nrows, self.ncols, self.rows, self.cols = nrows, ncols, rows, cols

    def tiles(self, height: int, width: int) -> Any:
        """The number of the tile of that shape that each entry is in."""
        return self.rows // height * -(-self.ncols // width) + self.cols // width

    def counts(self, height: int, width: int) -> Any:
        """Entries of each non-empty tile of that shape, by its number."""
        keys = np.sort(self.tiles(height, width))
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
        return np.diff(starts, append=len(keys))


def mplg(of: Pattern) -> int:
    """CSR with packed columns."""
    return 4 * (of.nrows + 1) + 4 * packing.packed_words(len(of.rows), packing.width_of(of.ncols))


def packed_b2sr(of: Pattern, tile: int, tiles: int) -> int:
    columns = 4 * packing.packed_words(tiles, split.column_width(of.ncols, tile))
    return 4 * (-(-of.nrows // tile) + 1) + columns + tiles * max(2, tile * tile // 8)


def low_split(of: Pattern, tile: int, count: Any) -> int:
    """A Split whose rest is two parts: columns below 2^16, and the others."""
    pays = count >= split.least_entries(of.ncols, tile)
    in_rest = ~pays[np.unique(of.tiles(tile, tile), return_inverse=True)[1]]
    low = int((of.cols[in_rest] < 1 << LOW).sum())
    high, tiles = int(in_rest.sum()) - low, int(pays.sum())
    plain = split.Split.predict_bytes(of.nrows, of.ncols, tiles, high, tile)
    bits = LOW + tile.bit_length() - 1
    return plain + 4 * (-(-of.nrows // tile) + 1) + 4 * packing.packed_words(low, bits)


def sliced(of: Pattern, width: int, tile: int = 8) -> int:
    """A Split with slices of one row, W columns wide, by tile rows of `tile` rows: a slice is W bits, its row in the
    tile row and its place in it."""
    count = of.counts(1, width)
    inner = tile.bit_length() - 1
    entry = inner + packing.width_of(of.ncols)
    slice_bits = width + inner + packing.width_of(-(-of.ncols // width))
    pays = count * entry > slice_bits
    words = packing.packed_words(int(pays.sum()), slice_bits) + packing.packed_words(int(count[~pays].sum()), entry)
    return 8 * (-(-of.nrows // tile) + 1) + 4 * words


def sizes(of: Pattern) -> dict[str, int]:
    """Bytes of the structure in every form."""
    found = {"csr": Csr.predict_bytes(of.nrows, of.ncols, len(of.rows)), "mplg": mplg(of)}
    packed, low = [], []
    for tile in TILES:
        count = of.counts(tile, tile)
        found[f"b2sr{tile}"] = B2sr.predict_bytes(of.nrows, of.ncols, max(1, len(count)), tile)
        packed.append(packed_b2sr(of, tile, len(count)))
        if tile in split.TILES:
            pays = count >= split.least_entries(of.ncols, tile)
            parts = int(pays.sum()), int(count[~pays].sum())
            found[f"split{tile}"] = split.Split.predict_bytes(of.nrows, of.ncols, *parts, tile)
            low.append(low_split(of, tile, count))
    return found | {"packed": min(packed), "low": min(low), "slices": min(sliced(of, w) for w in (8, 16, 32))}


def generated(name: str) -> Pattern:
    """A graph of `graphs.make`."""
    graph = graphs.make(name)
    return Pattern(graph.n, graph.n, graph.rows, graph.col.astype(np.int64))


def of_folder(folder: Path, least: int) -> Iterator[tuple[str, Pattern]]:
    """The Matrix Market files of a folder with at least that many entries, as they are."""
    import bitblas
    from bitblas.io import mmread

    for path in sorted([*folder.glob("*.mtx"), *folder.glob("*.mtx.gz")]):
        A = mmread(path, device="cpu", dup_op=bitblas.binary.any)
        if A.nvals >= least:
            rows, cols = (np.asarray(x).astype(np.int64) for x in A.to_coo()[:2])
            yield path.name.partition(".mtx")[0], Pattern(A.nrows, A.ncols, rows, cols)


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.bytes", description=__doc__.partition(";")[0])
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py), with commas")
    p.add_argument("--folder", type=Path, help="a folder of Matrix Market files")
    p.add_argument("--least", type=int, default=1 << 14, help="entries that a file must have (16384)")
    args = p.parse_args(argv)
    rows = []
    try:
        named = ((name, generated(name)) for name in args.graphs.split(",") if name)
        for source in (named, of_folder(args.folder, args.least) if args.folder else ()):
            for name, pattern in source:
                found, edges = sizes(pattern), max(1, len(pattern.rows))
                numbers = [found[h] / edges for h in HEADS[2:-1]]
                rows.append([name, len(pattern.rows), *numbers, min(found, key=lambda form: found[form])])
    except (OSError, ValueError) as error:
        print(f"benchmarks.bytes: {error}", file=sys.stderr)
        return 2
    print(table.table(HEADS, rows, left=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
