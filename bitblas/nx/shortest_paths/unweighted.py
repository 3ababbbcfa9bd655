"""networkx.algorithms.shortest_paths.unweighted: breadth-first search from one node or from all."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from ..graph import Graph
from ..searches import levels, require_ends, require_node
from ..typing import Node
from .bidirectional import fewest_edges_path


def _lengths(G: Graph, node: Node, cutoff: float | None) -> dict[Node, int]:
    found: dict[Node, int] = {}
    for length, (level, _) in enumerate(levels(G, G.numbers([node]), cutoff)):
        found.update(dict.fromkeys(G.nodes_at(level), length))
    return found


def single_source_shortest_path_length(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, int]:
    require_node(G, source, f"Source {source} is not in G")
    return _lengths(G, source, cutoff)


def single_target_shortest_path_length(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, int]:
    require_node(G, target, f"Target {target} is not in G")
    return _lengths(G.transposed, target, cutoff)


def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, int]]]:
    return ((node, _lengths(G, node, cutoff)) for node in G)


def _paths(G: Graph, source: Node, cutoff: float | None) -> dict[Node, list[Node]]:
    found = {source: [source]}
    for level, parents in levels(G, G.numbers([source]), cutoff):
        for node, parent in zip(G.nodes_at(level), G.nodes_at(parents)):
            if node is not source:
                found[node] = [*found[parent], node]
    return found


def single_source_shortest_path(G: Graph, source: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    require_node(G, source, f"Source {source} not in G")
    return _paths(G, source, cutoff)


def single_target_shortest_path(G: Graph, target: Node, cutoff: float | None = None) -> dict[Node, list[Node]]:
    require_node(G, target, f"Target {target} not in G")
    return {node: path[::-1] for node, path in _paths(G.transposed, target, cutoff).items()}


def bidirectional_shortest_path(G: Graph, source: Node, target: Node) -> list[Node]:
    require_ends(G, source, target)
    path = fewest_edges_path(G, G.number[source], G.number[target])
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return [G.labels[node] for node in path]


def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    return ((node, _paths(G, node, cutoff)) for node in G)
