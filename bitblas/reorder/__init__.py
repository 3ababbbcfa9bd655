"""Orders of the vertices of a graph: degree(A), rcm(A), community(A). docs/orders.md says which one is for what.

Each takes a square Matrix, whose entry (i, j) is an edge, and gives an array (INT64, on A's device): perm[new] = old.
Directions and values do not count: an unsymmetric matrix is read as the pattern of A + A'. The same A gives the same
order, on every device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .community import community
from .degree import degree
from .rcm import rcm

ORDERS: dict[str, Callable[[Any], Any]] = {f.__name__: f for f in (degree, rcm, community)}


__all__ = ["ORDERS", "community", "degree", "rcm"]
