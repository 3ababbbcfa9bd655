"""Orders of the vertices of a graph: degree(A), rcm(A), community(A). docs/orders.md says which one is for what.

Each takes a square Matrix, whose entry (i, j) is an edge, and gives an array (INT64, on A's device): perm[new] = old.
Directions and values do not count: an unsymmetric matrix is read as the pattern of A + A'. The same A gives the same
order, on every device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..exceptions import InvalidValue
from .community import community
from .degree import degree
from .rcm import rcm

ORDERS: dict[str, Callable[[Any], Any]] = {f.__name__: f for f in (degree, rcm, community)}


def by_name(name: str) -> Callable[[Any], Any]:
    """The function of that name. InvalidValue for another one."""
    if name not in ORDERS:
        raise InvalidValue(f"order: expected {', '.join(map(repr, ORDERS))} or a permutation, got {name!r}")
    return ORDERS[name]


__all__ = ["ORDERS", "by_name", "community", "degree", "rcm"]
