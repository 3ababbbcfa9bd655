"""Pattern classes of a matrix, as Bit-GraphBLAS sorts its matrices (Table V): what a picture of the entries shows.

The paper sorts by eye. Here up to 2^14 evenly spaced entries are counted in a grid of K x K cells, where K is the
largest power of two, at most 64, for which a cell has four of them on average. A cell is *dense* if it has twice the
mean, and more than chance explains (the mean plus three standard deviations of a Poisson variable).

- diagonal: entries in dense cells on the diagonal or next to it
- stripe: entries in other dense cells with at most four dense neighbours of eight: lines in any direction
- block: entries in dense cells with more dense neighbours
- dot: all others, scattered
- road: rows of similar, small length (at most four entries on average, none longer than four times the mean), whose
  entries are on more than a few diagonals: the paper's "regular distribution"
- hybrid: two or more of these. The shares of the paper's five classes add up to 125.7 %, and 25.7 % of its matrices are
  hybrid: those have two classes

A matrix has a class if a fifth of its entries are in it. The shares of the first four add up to 1.

Chen, Sung, Shen, Tallent, Barker, Li: Bit-GraphBLAS: Bit-Level Optimizations of Matrix-Centric Graph Processing on GPU.
IPDPS 2022, section VI.A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..formats import Structure
from ..formats.structure import is_by_rows

SAMPLES = 1 << 14  # entries
LARGEST, LEAST = 64, 8  # cells along a side
PER_CELL = 4  # samples, on average
SHARE = 0.2  # of the entries, from which on a matrix has a class
LINE = 4  # dense neighbours of a cell on a line, at most
ROAD_MEAN, ROAD_LONGEST = 4.0, 4.0  # entries per row, at most; the longest row over the mean
DIAGONALS, ON_DIAGONALS = 8, 0.9  # a road has less than this share of its entries on so many diagonals


class Pattern(NamedTuple):
    """Classes of a matrix, the largest share first; with "hybrid" if there are two or more. shares: of the entries, by
    class, of diagonal, stripe, block and dot. road: whether rows are short and of similar length."""

    classes: tuple[str, ...]
    shares: dict[str, float]
    road: bool

    def __str__(self) -> str:
        kinds = [kind for kind in self.classes if kind != "hybrid"]
        listed = [f"{kind} ({100 * self.shares[kind]:.0f} %)" if kind in self.shares else kind for kind in kinds]
        return ("hybrid: " if "hybrid" in self.classes else "") + ", ".join(listed)


NO_PATTERN = Pattern((), {}, road=False)  # of a matrix without entries


def pattern_of(structure: Structure) -> Pattern:
    """The pattern of a structure, found once. Reads the row pointers and up to 2^14 columns."""
    cache = structure.primary.cache
    if "pattern" not in cache:
        cache["pattern"] = _pattern(structure) if structure.nvals else NO_PATTERN
    found: Pattern = cache["pattern"]
    return found


def _pattern(structure: Structure) -> Pattern:
    primary = structure.primary
    layout = primary if is_by_rows(primary) else structure.plain_rows()
    device, nvals, count = layout.device, layout.nvals, min(SAMPLES, layout.nvals)
    # The division is exact in Python's integers: count * nvals may exceed 64 bits.
    places = np.array([k * nvals // count for k in range(count)], np.int64)
    at = device.asarray(places)
    rows = device.to_host(layout.device.xp.searchsorted(layout.ptr, at, side="right")).astype(np.int64) - 1
    cols = device.to_host(layout.columns_at(at)).astype(np.int64)
    shares = _shares(_cells(rows, cols, layout.nrows, layout.ncols))
    mean, longest = nvals / layout.nrows, int((layout.ptr[1:] - layout.ptr[:-1]).max())
    road = mean <= ROAD_MEAN and longest <= max(ROAD_LONGEST * mean, 1) and _on_diagonals(rows, cols) < ON_DIAGONALS
    kinds = [kind for kind in sorted(shares, key=lambda kind: -shares[kind]) if shares[kind] >= SHARE]
    kinds += ["road"] * road
    return Pattern((*kinds, *["hybrid"] * (len(kinds) > 1)), shares, road)


def _cells(rows: np.ndarray, cols: np.ndarray, nrows: int, ncols: int) -> np.ndarray:
    """The number of samples in each cell of the grid."""
    side = LARGEST
    while side > LEAST and PER_CELL * side * side > len(rows):
        side //= 2
    i, j = ((at / size * side).astype(np.int64).clip(max=side - 1) for at, size in ((rows, nrows), (cols, ncols)))
    return np.bincount(i * side + j, minlength=side * side).reshape(side, side)


def _shares(cells: np.ndarray) -> dict[str, float]:
    """The share of the samples in each class."""
    mean, side = cells.mean(), len(cells)
    dense = cells >= max(2 * mean, mean + 3 * np.sqrt(mean))
    around = np.pad(dense, 1).astype(np.int64)
    neighbours = sum(around[i : i + side, j : j + side] for i in range(3) for j in range(3)) - dense
    i, j = np.indices(cells.shape)
    diagonal = dense & (abs(i - j) <= 1)
    line = dense & ~diagonal & (neighbours <= LINE)
    parts = {"diagonal": diagonal, "stripe": line, "block": dense & ~diagonal & ~line, "dot": ~dense}
    return {kind: float(cells[part].sum() / cells.sum()) for kind, part in parts.items()}


def _on_diagonals(rows: np.ndarray, cols: np.ndarray) -> float:
    """The share of the samples on the diagonals that have most of them."""
    _, counts = np.unique(cols - rows, return_counts=True)
    return float(np.sort(counts)[-DIAGONALS:].sum() / len(rows))
