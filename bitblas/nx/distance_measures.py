"""networkx.algorithms.distance_measures: how far the farthest node is."""

from __future__ import annotations

from typing import Any

import networkx as nx

from bitblas import algorithms

from .graph import Graph
from .walk import distances, host


def eccentricity(G: Graph, v: Any = None, sp: Any = None, weight: str | None = None) -> Any:
    found = {}
    if v is None and weight is None and len(G):
        label = algorithms.strongly_connected_components if G.directed else algorithms.connected_components
        if host(label(G.structure)).any():  # some are not in the component of node 0
            raise _unreachable(G)
        return G.by_node(host(algorithms.eccentricity(G.structure)))
    for node in G.nbunch_iter(v):
        at, lengths = distances(G, G.number[node], weight)
        if len(at) != len(G):
            raise _unreachable(G)
        found[node] = lengths[-1].item()
    return found[v] if v in G else found


def _unreachable(G: Graph) -> nx.NetworkXError:
    because = "the digraph is not strongly connected" if G.directed else "the graph is not connected"
    return nx.NetworkXError(f"Found infinite path length because {because}")


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
