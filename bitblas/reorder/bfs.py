"""Breadth-first order: vertices sorted by the position of their first neighbour, which keeps neighbour numbers close.

Gap codes profit: neighbours of consecutive vertices are found together, so their lists share runs of numbers. Each
component starts at its vertex of the smallest number, where a crawl of it may have begun.

Apostolico, Drovandi: Graph compression by BFS. Algorithms 2 (2009).
"""

from __future__ import annotations

import numpy as np

from semirings import semiring
from semirings.dtypes import INT64

from ..algorithms import connected_components
from ..core import Matrix, Vector
from ..core.matrix.views import MatrixRead
from ..core.statement.running import guarded
from ..typing import Array
from ._graph import firsts, square, undirected
from .rcm import searched


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
    label = connected_components(G).to_dense()
    degree = G.mxv(Vector.from_scalar(True, n, device=G.device), semiring.plus_pair[INT64]).new().to_dense(0)
    together = xp.argsort(label, kind="stable")
    return searched(G, together[firsts(xp, label[together])], label, degree)
