"""Orders by breadth-first search: plain, and reverse Cuthill-McKee.

In the plain order each component starts at its vertex of the smallest number, where a crawl of it may have begun. Gap
codes profit: neighbours of consecutive vertices are found together, so their lists share runs of numbers.

Reverse Cuthill-McKee searches from a peripheral vertex and reverses the order, which reduces the bandwidth. Neighbours
get close numbers, so the matrix becomes a band. Within a level vertices are sorted by the position of their first
neighbour in the level before, then by degree, then by number, as in the sequential algorithm; so all vertices of a
level, in all components, are placed at once. Each search begins at the last vertex of an earlier search, which began at
a vertex of least degree.

Apostolico, Drovandi: Graph compression by BFS. Algorithms 2 (2009).
Cuthill, McKee: Reducing the bandwidth of sparse symmetric matrices. ACM National Conference 1969.
George, Liu: An implementation of a pseudoperipheral node finder. ACM TOMS 5 (1979), for the beginnings.
"""

from __future__ import annotations

import numpy as np

from semirings import semiring
from semirings.dtypes import BOOL, INT64

from ..algorithms import connected_components
from ..core import Matrix, Vector
from ..core.matrix.views import MatrixRead
from ..core.statement.indexing import replace
from ..core.statement.running import guarded
from ..operations.vector_entries import build
from ..typing import Array
from ._graph import by, firsts, square, undirected


def bfs(A: MatrixRead) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n). Components are contiguous, ordered by their
    smallest vertex. Raises DimensionMismatch, TypeError."""
    return _bfs(square(A))


@guarded
def _bfs(A: Matrix) -> Array:
    G = undirected(A)
    xp, n = G.device.xp, G.nrows
    if not n:
        return xp.zeros(0, np.int64)
    label, degree = _labels_and_degrees(G)
    together = xp.argsort(label, kind="stable")
    return searched(G, together[firsts(xp, label[together])], label, degree)


def _labels_and_degrees(G: Matrix) -> tuple[Array, Array]:
    """The component of each vertex of an undirected graph, and its number of neighbours."""
    degree = G.mxv(Vector.from_scalar(True, G.nrows, device=G.device), semiring.plus_pair[INT64]).new()
    return connected_components(G).to_dense(), degree.to_dense(0)


def rcm(A: MatrixRead) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n). Components are contiguous, the one with the
    smallest vertex last. Raises DimensionMismatch, TypeError."""
    return _rcm(square(A))


@guarded
def _rcm(A: Matrix) -> Array:
    return in_bands(undirected(A))


def in_bands(G: Matrix) -> Array:
    """The reverse Cuthill-McKee order of an undirected graph."""
    xp, n = G.device.xp, G.nrows
    if not n:
        return xp.zeros(0, np.int64)
    label, degree = _labels_and_degrees(G)
    lowest = by(xp, label, degree)
    rim = searched(G, lowest[firsts(xp, label[lowest])], label, degree)
    last = xp.append(firsts(xp, label[rim])[1:], n) - 1
    return xp.ascontiguousarray(searched(G, rim[last], label, degree)[::-1])


def searched(G: Matrix, roots: Array, label: Array, degree: Array) -> Array:
    """The vertices in search order, component by component. roots: one per component, sorted by label."""
    xp, n, place = G.device.xp, G.nrows, 0
    seen, near = Vector(BOOL, n, device=G.device), Vector(INT64, n, device=G.device)
    level, levels, widest = roots, [], int(degree.max()) + 1
    while len(level):
        levels.append(level)
        places = xp.arange(place, place + len(level), dtype=np.int64)
        last = Vector._from_store(build(G.device, n, INT64, level, places, distinct=True))
        seen(last.S) << True
        # near<!seen, replace> = G min.second last: the first neighbour in the last level
        near(~seen.S, replace) << G.mxv(last, semiring.min_second[INT64])
        found, first = near.to_coo()
        found = found.view(np.int64)
        place += len(level)
        level = found[xp.argsort(first * widest + degree[found], kind="stable")]
    order = xp.concatenate(levels)
    return order[xp.argsort(label[order], kind="stable")]
