"""networkx.algorithms.shortest_paths.dense: Floyd-Warshall, infinite distance where no path exists."""

from __future__ import annotations

from collections.abc import Collection

import networkx as nx
import numpy as np

from ..graph import Graph
from ..searches import distances, weights
from ..typing import Node, Scores
from .path_trees import dijkstra_tree


def floyd_warshall(G: Graph, weight: str = "weight") -> dict[Node, Scores]:
    found = {}
    for at, node in enumerate(G):
        near, lengths = distances(G, at, weight)
        of = dict(zip(G.nodes_at(near), lengths.tolist()))  # integers stay integers
        found[node] = {other: of.get(other, np.inf) for other in G}
    return found


def floyd_warshall_numpy(G: Graph, nodelist: Collection[Node] | None = None, weight: str = "weight") -> np.ndarray:
    if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    order = np.arange(len(G)) if nodelist is None else G.numbers(nodelist)
    found = np.array([_row(G, at, weight)[order] for at in order.tolist()], np.float64)
    return found.reshape(len(G), len(G))


def floyd_warshall_predecessor_and_distance(
    G: Graph, weight: str = "weight"
) -> tuple[dict[Node, dict[Node, Node]], dict[Node, Scores]]:
    before: dict[Node, dict[Node, Node]] = {}
    loops = set(G.rows[G.rows == G.cols].tolist())  # NetworkX lists the predecessor of a node with a self loop
    for at, node in enumerate(G):
        nodes, _, parents = dijkstra_tree(G, [at], weight)
        found = dict(zip(G.nodes_at(nodes), G.nodes_at(parents)))
        if at not in loops:
            del found[node]
        if found:
            before[node] = found
    return before, floyd_warshall(G, weight)


def _row(G: Graph, source: int, weight: str) -> np.ndarray:
    """The distances to every node."""
    weights(G, weight)
    at, values = distances(G, source, weight)
    row = np.full(len(G), np.inf)
    row[at] = values
    return row
