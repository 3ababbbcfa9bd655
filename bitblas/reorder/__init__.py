"""Vertex orders: degree(A), bfs(A), rcm(A), community(A), llp(A), gorder(A); docs/orders.md compares them.

Each takes a square Matrix, whose entry (i, j) is an edge, and returns an array (INT64, on A's device): perm[new] = old.
Directions and values are ignored: an unsymmetric matrix is read as the pattern of A + A'. The same A gives the same
order on every device.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.matrix.views import MatrixRead
from ..typing import Array
from ._graph import degree
from .community import community
from .gorder import gorder
from .llp import llp
from .rcm import bfs, rcm

ORDERS: dict[str, Callable[[MatrixRead], Array]] = {f.__name__: f for f in (degree, bfs, rcm, community, llp, gorder)}


__all__ = ["ORDERS", "bfs", "community", "degree", "gorder", "llp", "rcm"]
