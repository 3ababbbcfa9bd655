"""networkx.algorithms.distance_measures: how far the farthest node is."""

from __future__ import annotations

from typing import Any

import networkx as nx

from .graph import Graph
from .walk import distances


def eccentricity(G: Graph, v: Any = None, sp: Any = None, weight: str | None = None) -> Any:
    found = {}
    for node in G.nbunch_iter(v):
        at, lengths = distances(G, G.number[node], weight)
        if len(at) != len(G):
            because = "the digraph is not strongly connected" if G.directed else "the graph is not connected"
            raise nx.NetworkXError(f"Found infinite path length because {because}")
        found[node] = lengths[-1].item()
    return found[v] if v in G else found


def diameter(G: Graph, e: Any = None, usebounds: bool = False, weight: str | None = None) -> Any:
    return max(_all(G, e, weight).values())


def radius(G: Graph, e: Any = None, usebounds: bool = False, weight: str | None = None) -> Any:
    return min(_all(G, e, weight).values())


def center(G: Graph, e: Any = None, usebounds: bool = False, weight: str | None = None) -> list[Any]:
    if e is None and weight is None and not G.directed and not len(G):
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    far = _all(G, e, weight)
    least = min(far.values())
    return [node for node in far if far[node] == least]


def periphery(G: Graph, e: Any = None, usebounds: bool = False, weight: str | None = None) -> list[Any]:
    far = _all(G, e, weight)
    most = max(far.values())
    return [node for node in far if far[node] == most]


def _all(G: Graph, e: Any, weight: str | None) -> dict[Any, Any]:
    return eccentricity(G, weight=weight) if e is None else e
