"""When a product with a multivector (tall-skinny matrix) runs on bitmaps (formats/bitmap), and in which direction."""

from __future__ import annotations

from ..formats.bitmap.layout import lines_of
from ..formats.contract import CSR
from ..formats.structure import Structure

# Shapes for which a bitmap is made unasked: lines of up to eight words, so many that they are a graph's vertices.
WIDEST = 512
FEWEST = 1 << 12
RATIO = 16  # lines for each position of one: else a matrix is no narrow one
# Lines for each entry from which on the CPU leaves a narrow matrix by rows: products along few entries read these
# alone, and bitmaps all words. A GPU reads words in the time of a launch.
SPARSE = {"cpu": 64, "gpu": 1 << 62}
MOST_BYTES = {"cpu": 1 << 31, "gpu": 1 << 33}  # of the places' values of a result that was not asked for
# Lines for each entry from which on products go along the lines that have entries. On a CPU, levels from 64 sources,
# one thread: road_ny 2.2 s with 16, 1.8 with 6, 1.3 with 3 and with 1; grid2d_256 .30, .16, .14 and .13; rmat14 the
# same. Two threads share a pull, and no push. A GPU: csr/choice.py.
ALPHA = {"cpu": 4, "gpu": 16}


def is_narrow(nrows: int, ncols: int, nvals: int, kind: str, itemsize: int) -> bool:
    """Whether a bitmap of a matrix is made for a product, and for its result, with values of so many bytes."""
    lines = lines_of(nrows, ncols)
    shape = 1 < lines.width <= WIDEST and lines.number >= max(FEWEST, RATIO * lines.width)
    return shape and nvals * SPARSE[kind] >= lines.number and lines.places * itemsize <= MOST_BYTES[kind]


def pushes(structure: Structure, transposed: bool, lines: int, count: int | None, may: bool) -> bool:
    """Whether a product T = A X goes along the lines of X, by rows of A', not by rows of A: where few of them have
    entries, of which there are `count` (None: nobody has counted), and the rows for it are there. transposed: A is the
    transpose of the structure. may: the kernel is there."""
    held = lambda other: structure.held(CSR, transposed=other) is not None
    few = count is not None and count * ALPHA[structure.device.kind] < lines
    return may and few and (held(not transposed) or not held(transposed))
