"""networkx.algorithms.shortest_paths.dense: the distances between all pairs, infinite where there is no path."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from ..graph import Graph
from ..walk import distances, weights


def floyd_warshall(G: Graph, weight: str = "weight") -> dict[Any, dict[Any, Any]]:
    return {node: G.by_node(_row(G, at, weight)) for at, node in enumerate(G)}


def floyd_warshall_numpy(G: Graph, nodelist: Any = None, weight: str = "weight") -> np.ndarray:
    if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats."
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    order = np.arange(len(G)) if nodelist is None else G.numbers(nodelist)
    found = np.array([_row(G, at, weight)[order] for at in order.tolist()], np.float64)
    return found.reshape(len(G), len(G))


def _row(G: Graph, source: int, weight: str) -> np.ndarray:
    """The distances to every node."""
    weights(G, weight)
    at, values = distances(G, source, weight)
    row = np.full(len(G), np.inf)
    row[at] = values
    return row
