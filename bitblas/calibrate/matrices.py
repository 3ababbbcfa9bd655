"""Sample matrices for calibration: small ones of typical kinds, from fixed seeds.

Each function returns rows and columns of a square pattern of about `n` rows; duplicate entries may occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

Entries: TypeAlias = tuple[np.ndarray, np.ndarray]


def grid(n: int) -> Entries:
    """A square grid, row by row: four neighbours."""
    side = int(n**0.5)
    at = np.arange(side * side)
    row, col = at // side, at % side
    steps = ((1, col < side - 1), (-1, col > 0), (side, row < side - 1), (-side, row > 0))
    pairs = [(at[inside], at[inside] + step) for step, inside in steps]
    return np.concatenate([r for r, _ in pairs]), np.concatenate([c for _, c in pairs])


def mesh(n: int, kept: float = 1.0) -> Entries:
    """A triangulated square, numbered along a Z-order curve, like meshes; if `kept` is below 1, that share of the edges
    of a grid, like roads."""
    bits = n.bit_length() - 1
    number = _spread(bits // 2)[:, None] << 1 | _spread(-(-bits // 2))
    edges = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:]), (number[:-1, :-1], number[1:, 1:])]
    a, b = (np.concatenate([pair[k].ravel() for pair in edges[: 3 if kept == 1 else 2]]) for k in (0, 1))
    chosen = np.random.default_rng(3).random(len(a)) < kept
    a, b = a[chosen], b[chosen]
    return np.concatenate([a, b]), np.concatenate([b, a])


def _spread(bits: int) -> np.ndarray:
    """The numbers below 2^bits, with their bits spread to even positions."""
    numbers = np.arange(1 << bits)
    return sum(((numbers >> bit & 1) << 2 * bit for bit in range(bits)), np.zeros_like(numbers))


def stencil(n: int) -> Entries:
    """Runs of three columns at nine offsets: a 27-point stencil."""
    side = max(2, round(n ** (1 / 3)))
    steps = [x + side * (y + side * z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    rows = np.repeat(np.arange(n), len(steps))
    cols = rows + np.tile(steps, n)
    inside = (cols >= 0) & (cols < n)
    return rows[inside], cols[inside]


def near(n: int, degree: int, reach: int) -> Entries:
    """Random columns within `reach` of the diagonal, with wraparound."""
    rng = np.random.default_rng(reach)
    rows = np.repeat(np.arange(n), degree)
    return rows, (rows + rng.integers(-reach, reach + 1, len(rows))) % n


def skewed(n: int, degree: int = 12) -> Entries:
    """Random rows and columns with probability proportional to number^(-2/3), like a power-law graph in degree order;
    every row has an entry. Undirected."""
    rng = np.random.default_rng(2)
    a, b = ((n * rng.random(degree * n // 2) ** 3).astype(np.int64) for _ in range(2))
    return np.concatenate([a, b, np.arange(n)]), np.concatenate([b, a, rng.integers(0, n, n)])


def mycielskian(order: int) -> Entries:
    """The iterated Mycielskian of the graph of two vertices: few long rows, which suit tiles.
    (Sur le coloriage des graphs. Colloquium Mathematicum 3, 1955.)"""
    rows, cols, n = np.array([0, 1]), np.array([1, 0]), 2
    for _ in range(order - 2):
        new, top = np.arange(n) + n, np.full(n, 2 * n)
        rows, cols, n = (
            np.concatenate([rows, rows, cols + n, new, top]),
            np.concatenate([cols, cols + n, rows, top, new]),
            2 * n + 1,
        )
    return rows, cols


def arrow(n: int) -> Entries:
    """A band with a few rows and columns that are one eighth full, like linear programs."""
    rng = np.random.default_rng(4)
    hubs = np.repeat(np.arange(8) * (n // 8), n // 8)
    far = rng.integers(0, n, len(hubs))
    rows, cols = near(n, 3, 500)
    return np.concatenate([rows, hubs, far]), np.concatenate([cols, far, hubs])


def shuffled(n: int, entries: Entries) -> Entries:
    """The same graph with randomly renumbered vertices."""
    number = np.random.default_rng(5).permutation(n)
    return number[entries[0]], number[entries[1]]


def samples(n: int) -> Iterator[tuple[str, int, Entries]]:
    """Name, vertices and entries of each kind."""
    yield "grid", n, grid(n)
    yield "mesh", n, mesh(n)
    yield "mesh, shuffled", n, shuffled(n, mesh(n))
    yield "roads", n, mesh(n, 0.62)
    yield "stencil", n // 2, stencil(n // 2)
    yield "full tiles", n // 8, near(n // 8, 24, 16)
    yield "wide band", n, near(n, 8, 2000)
    yield "random", n, near(n, 8, n)
    yield "skewed", n, skewed(n)
    yield "skewed, shuffled", n, shuffled(n, skewed(n))
    yield "arrow", n, arrow(n)
    yield "few rows", n >> 6, skewed(n >> 6, 200)
    yield "Mycielskian", 3 * (n >> 8) - 1, mycielskian((n >> 8).bit_length() + 1)
    yield "small mesh", n >> 5, mesh(n >> 5)
    yield "tiny", 1 << 10, near(1 << 10, 8, 1 << 10)
