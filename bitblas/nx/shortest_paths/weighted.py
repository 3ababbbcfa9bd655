"""networkx.algorithms.shortest_paths.weighted: Dijkstra and Bellman-Ford, paths and lengths."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

import bitblas as gb

from ..graph import Graph
from ..searches import distances, is_cyclic, require_ends, require_node, weights
from ..typing import Node, Nodes, Number, Scores
from .bidirectional import least_weight_path
from .path_trees import bellman_ford_tree, dijkstra_tree, path_to, paths_to_all

# One node: its distance and path; all: the distances and paths by node.
Found = tuple[Number, list[Node]] | tuple[Scores, dict[Node, list[Node]]]


def _lengths(G: Graph, sources: Nodes, cutoff: float | None, weight: str, negative: bool = False) -> Scores:
    at, lengths = distances(G, G.numbers(sources).tolist(), weight, cutoff, negative=negative)
    return dict(zip(G.nodes_at(at), lengths.tolist()))


def _length(G: Graph, source: Node, target: Node, weight: str, word: str, negative: bool) -> Number:
    found = _lengths(G, [source], None, weight, negative)
    if target not in found:
        raise nx.NetworkXNoPath(f"{word} {target} not reachable from {source}")
    return found[target]


def _require_sources(G: Graph, sources: Nodes) -> None:
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        require_node(G, source, f"Node {source} not found in graph")


def _found(G: Graph, tree: tuple[np.ndarray, np.ndarray, np.ndarray], target: Node, no_path: str) -> Found:
    """The answer for a target, or for all nodes, from nodes, distances and predecessors."""
    nodes, lengths, parents = tree
    if target is None:
        return dict(zip(G.nodes_at(nodes), lengths.tolist())), paths_to_all(G, nodes, parents)
    length = lengths[nodes == G.number.get(target, -1)]
    if not len(length):
        raise nx.NetworkXNoPath(no_path)
    return length[0].item(), path_to(G, nodes.tolist(), parents.tolist(), G.number[target])


def multi_source_dijkstra_path_length(
    G: Graph, sources: Nodes, cutoff: float | None = None, weight: str = "weight"
) -> Scores:
    _require_sources(G, sources)
    return _lengths(G, sources, cutoff, weight)


def multi_source_dijkstra(
    G: Graph, sources: Nodes, target: Node = None, cutoff: float | None = None, weight: str = "weight"
) -> Found:
    _require_sources(G, sources)
    if target in sources:
        return 0, [target]
    tree = dijkstra_tree(G, G.numbers(sources).tolist(), weight, cutoff)
    return _found(G, tree, target, f"No path to {target}.")


def bidirectional_dijkstra(G: Graph, source: Node, target: Node, weight: str = "weight") -> tuple[Number, list[Node]]:
    require_ends(G, source, target)
    if source == target:
        return 0, [source]
    found = least_weight_path(G, G.number[source], G.number[target], weight)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    length, path = found
    return length, [G.labels[node] for node in path]


def single_source_bellman_ford(G: Graph, source: Node, target: Node = None, weight: str = "weight") -> Found:
    if source == target:
        require_node(G, source, f"Node {source} is not found in the graph")
        return 0, [source]
    tree = bellman_ford_tree(G, require_node(G, source, f"Source {source} not in G"), weight)
    return _found(G, tree, target, f"Target {target} cannot be reached from given sources")


def single_source_dijkstra_path_length(
    G: Graph, source: Node, cutoff: float | None = None, weight: str = "weight"
) -> Scores:
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


def dijkstra_path_length(G: Graph, source: Node, target: Node, weight: str = "weight") -> Number:
    require_node(G, source, f"Node {source} not found in graph")
    return 0 if source == target else _length(G, source, target, weight, "Node", False)


def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: str = "weight"
) -> Iterator[tuple[Node, Scores]]:
    weights(G, weight)  # raises Refused at the call, not during iteration
    return ((node, _lengths(G, [node], cutoff, weight)) for node in G)


def single_source_bellman_ford_path_length(G: Graph, source: Node, weight: str = "weight") -> Scores:
    require_node(G, source, f"Source {source} not in G")
    return _lengths(G, [source], None, weight, negative=True)


def bellman_ford_path_length(G: Graph, source: Node, target: Node, weight: str = "weight") -> Number:
    if source == target:
        require_node(G, source, f"Node {source} not found in graph")
        return 0
    require_node(G, source, f"Source {source} not in G")
    return _length(G, source, target, weight, "node", True)


def all_pairs_bellman_ford_path_length(G: Graph, weight: str = "weight") -> Iterator[tuple[Node, Scores]]:
    weights(G, weight, negative=True)
    return ((node, _lengths(G, [node], None, weight, negative=True)) for node in G)


def negative_edge_cycle(G: Graph, weight: str = "weight", heuristic: bool = True) -> bool:
    values = G.values_of(weight)
    if not (values < 0).any():
        return False
    if not G.directed:  # the edge in both directions is a negative cycle
        return True
    # an extra node with an edge of weight 0 to every node reaches every cycle
    n = len(G)
    rows, cols = G.edge_ends
    A = gb.Matrix.from_coo(
        np.concatenate([rows, np.full(n, n)]),
        np.concatenate([cols, np.arange(n)]),
        np.concatenate([values, np.zeros(n, values.dtype)]),
        nrows=n + 1,
        ncols=n + 1,
        dup_op=gb.binary.min,
    )
    return is_cyclic(A, n)
