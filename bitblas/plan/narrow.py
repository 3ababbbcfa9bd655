"""When a product with a multivector (tall-skinny matrix) runs on bitmaps (formats/bitmap), and in which direction."""

from __future__ import annotations

from ..formats.bitmap.layout import lines_of
from ..formats.contract import CSR
from ..formats.structure import Structure

# Shapes for which a bitmap is built automatically: lines of up to eight words, and enough of them to be a graph's
# vertices.
WIDEST = 512
FEWEST = 1 << 12
RATIO = 16  # lines per position of a line: with fewer the matrix is no multivector
# Lines per entry from which on the CPU keeps a multivector by rows: products along few entries read only these, and
# bitmaps all words. A GPU reads all words in the time of a launch.
SPARSE = {"cpu": 64, "gpu": 1 << 62}
MOST_BYTES = {"cpu": 1 << 31, "gpu": 1 << 33}  # for the values of a result that the user did not request as a bitmap
# Lines per non-empty line from which on products push along the non-empty lines. On a CPU, levels from 64 sources, one
# thread: road_ny 2.2 s with 16, 1.8 with 6, 1.3 with 3 and with 1; grid2d_256 .30, .16, .14 and .13; rmat14 the same.
# Two threads share a pull, but not a push. A GPU: csr/choice.py.
ALPHA = {"cpu": 4, "gpu": 16}


def is_narrow(nrows: int, ncols: int, nvals: int, kind: str, itemsize: int) -> bool:
    """Whether a matrix is converted to a bitmap for a product, and its result too, with values of `itemsize` bytes."""
    lines = lines_of(nrows, ncols)
    shape = 1 < lines.width <= WIDEST and lines.number >= max(FEWEST, RATIO * lines.width)
    return shape and nvals * SPARSE[kind] >= lines.number and lines.places * itemsize <= MOST_BYTES[kind]


def pushes(structure: Structure, transposed: bool, lines: int, count: int | None, may: bool) -> bool:
    """Whether a product T = A X pushes along the non-empty lines of X, by rows of A', instead of pulling by rows of A:
    if they are few and the rows of A' exist. count: number of non-empty lines (None: not counted). transposed: A is the
    transpose of the structure. may: the kernel exists."""
    held = lambda other: structure.held(CSR, transposed=other) is not None
    few = count is not None and count * ALPHA[structure.device.kind] < lines
    return may and few and (held(not transposed) or not held(transposed))
