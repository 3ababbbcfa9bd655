"""What a plan knows of rows and of searches: how long the longest row is, how many entries stand first in their rows,
and about how many levels a breadth-first search has."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..formats import Structure
from ..formats.csr.format import Csr

SEEDS, HOPS, REACHED = 8, 8, 1 << 16  # balls that are grown, their radius, and edges looked at in a hop
HEAD = 32  # entries of a row that a GPU fetches with the first one: a line of 128 bytes


class Walked(NamedTuple):
    """Levels of a search (0: not square), entries among the first 32 of their row, entries of the longest row."""

    levels: float = 0.0
    heads: float = 0.0
    longest: float = 0.0


def walked(structure: Structure) -> Walked:
    """What is found by walking over all row pointers, and along some edges; looked at once."""
    cache = structure.primary.cache
    if "walked" not in cache:
        rows = structure.plain_rows()
        square = rows.nrows == rows.ncols and rows.nvals
        cache["walked"] = Walked(levels_of(rows.nrows, *balls(rows)) if square else 0.0, *_ends(rows))
    found: Walked = cache["walked"]
    return found


def row_ends(structure: Structure) -> tuple[float, float]:
    """Entries among the first 32 of their row, and of the longest row: what row pointers tell by themselves."""
    cache = structure.primary.cache
    if "walked" in cache:
        return walked(structure)[1:]
    if "ends" not in cache:
        cache["ends"] = _ends(structure.plain_rows())
    found: tuple[float, float] = cache["ends"]
    return found


def _ends(rows: Csr) -> tuple[float, float]:
    length = rows.ptr[1:] - rows.ptr[:-1]
    return float(rows.device.xp.minimum(length, HEAD).sum()), float(length.max() if rows.nvals else 0)


def levels_of(n: int, balls: list[float], ended: bool) -> float:
    """The radius at which a ball has all n vertices, if those of radius 0, 1, 2, .. have as many as `balls` says and go
    on to grow as (radius)^d: d is 1 on a path, 2 on a mesh, and so large in a power-law graph that few levels remain.
    ended: they do not grow any more."""
    last = len(balls) - 1
    if last < 1 or ended:
        return float(last + 1)
    half = max(1, last // 2)
    growth = math.log(balls[last] / balls[half], last / half) if last > 1 else math.log2(balls[1])
    return max(1.0, last * max(1.0, n / balls[last]) ** (1 / max(1.0, growth)))


def balls(rows: Csr) -> tuple[list[float], bool]:
    """The mean number of vertices within 0, 1, 2, .. edges of vertices that evenly spaced edges leave, as far as few
    edges have to be looked at; and whether nothing is left to look at. The host walks, so that a GPU is asked for two
    gathers a hop."""
    n, device = rows.nrows, rows.device

    def gather(array: Any, at: Any) -> Any:
        return device.to_host(array[device.asarray(at)]).astype(np.int64)

    edges = (np.arange(SEEDS) * 2 + 1) * rows.nvals // (2 * SEEDS)
    found = device.to_host(device.xp.searchsorted(rows.ptr, device.asarray(edges.astype(rows.ptr.dtype)), side="right"))
    frontier = np.arange(SEEDS) * n + (found.astype(np.int64) - 1)  # of ball k the vertex v: k * n + v
    seen, sizes = frontier, [1.0]
    while len(frontier) and len(sizes) <= HOPS:
        ball, vertex = np.divmod(frontier, n)
        limits = gather(rows.ptr, np.concatenate([vertex, vertex + 1]))
        begin, length = limits[: len(vertex)], limits[len(vertex) :] - limits[: len(vertex)]
        total = int(length.sum())
        if total > REACHED:
            return sizes, False
        before = np.cumsum(length) - length
        ends = gather(rows.col, np.arange(total) + np.repeat(begin - before, length))
        frontier = np.setdiff1d(np.repeat(ball, length) * n + ends, seen)
        seen = np.concatenate([seen, frontier])
        sizes.append(len(seen) / SEEDS)
    return sizes, not len(frontier)
