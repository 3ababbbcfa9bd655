"""networkx.algorithms.shortest_paths.generic: by source, target, weight and method, as NetworkX divides the cases."""

from __future__ import annotations

from typing import Any

import networkx as nx

from ..graph import Graph
from ..walk import distances, number, reached
from . import unweighted, weighted


def has_path(G: Graph, source: Any, target: Any) -> bool:
    for node, kind in ((source, "Source"), (target, "Target")):
        number(G, node, f"{kind} {node} is not in G")
    return bool((reached(G, G.number[source]) == G.number[target]).any())


def shortest_path(
    G: Graph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    _method(method)
    if source is None:
        return unweighted.all_pairs_shortest_path(G)
    return unweighted.single_source_shortest_path(G, source)


def shortest_path_length(
    G: Graph, source: Any = None, target: Any = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    _method(method)
    bellman = method == "bellman-ford"
    if source is not None and target is not None:
        if weight is not None:
            lengths = weighted.bellman_ford_path_length if bellman else weighted.dijkstra_path_length
            return lengths(G, source, target, weight)
        for node, kind in ((source, "Source"), (target, "Target")):
            number(G, node, f"{kind} {node} is not in G")
        at, found = distances(G, G.number[source])
        length = found[at == G.number[target]]
        if not len(length):
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return int(length[0])
    if source is None and target is None:
        if weight is None:
            return unweighted.all_pairs_shortest_path_length(G)
        pairs = weighted.all_pairs_bellman_ford_path_length if bellman else weighted.all_pairs_dijkstra_path_length
        return pairs(G, weight=weight)
    H, node = (G, source) if target is None else (G.turned, target)
    if weight is None:
        return unweighted.single_source_shortest_path_length(H, node)
    single = weighted.single_source_bellman_ford_path_length if bellman else weighted.single_source_dijkstra_path_length
    return single(H, node, weight=weight)


def _method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
