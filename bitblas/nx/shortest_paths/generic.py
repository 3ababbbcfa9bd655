"""networkx.algorithms.shortest_paths.generic: dispatch by source, target, weight and method."""

from __future__ import annotations

from typing import Any

import networkx as nx

from bitblas.algorithms.centrality.closeness import distance_sums

from ..graph import Graph
from ..searches import distances, host, reached, require_ends
from ..sums import exact_sum
from ..typing import Node, Number
from . import unweighted, weighted


def has_path(G: Graph, source: Node, target: Node) -> bool:
    require_ends(G, source, target)
    return bool((reached(G, G.number[source]) == G.number[target]).any())


def shortest_path_length(
    G: Graph, source: Node = None, target: Node = None, weight: str | None = None, method: str = "dijkstra"
) -> Any:
    _method(method)
    bellman = method == "bellman-ford"
    if source is not None and target is not None:
        if weight is not None:
            lengths = weighted.bellman_ford_path_length if bellman else weighted.dijkstra_path_length
            return lengths(G, source, target, weight)
        require_ends(G, source, target)
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
    H, node = (G, source) if target is None else (G.transposed, target)
    if weight is None:
        return unweighted.single_source_shortest_path_length(H, node)
    single = weighted.single_source_bellman_ford_path_length if bellman else weighted.single_source_dijkstra_path_length
    return single(H, node, weight=weight)


def average_shortest_path_length(G: Graph, weight: str | None = None, method: str | None = None) -> float:
    n = len(G)
    if method not in (None, "unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"):
        raise ValueError(f"method not supported: {method}")
    if not n:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    length = _total(G, None if method == "unweighted" else weight, negative=method == "bellman-ford")
    if length is None:
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    return length / (n * (n - 1))


def wiener_index(G: Graph, weight: str | None = None) -> float:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    length = _total(G, weight)
    if length is None:
        return float("inf")
    return length if G.directed else length / 2


def _total(G: Graph, weight: str | None, negative: bool = False) -> Number | None:
    """The sum of the distances between all pairs; None if some pair has no path."""
    if weight is None:
        pairs, far = (host(each).sum() for each in distance_sums(G.structure))
        return int(far) if pairs == len(G) * (len(G) - 1) else None
    found: Number = 0
    for source in range(len(G)):
        at, lengths = distances(G, source, weight, negative=negative)
        if len(at) < len(G):
            return None
        found += exact_sum(lengths)
    return found


def _method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
