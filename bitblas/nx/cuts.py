"""networkx.algorithms.cuts: cut size and node expansion."""

from __future__ import annotations

from collections.abc import Collection

import networkx as nx
import numpy as np

from .boundary import neighbours
from .graph import Graph
from .searches import require_node
from .sums import exact_sum
from .typing import Node, Nodes, Number


def cut_size(G: Graph, S: Nodes, T: Nodes | None = None, weight: str | None = None) -> Number:
    inner, outer = np.zeros(len(G), bool), np.zeros(len(G), bool)
    inner[G.numbers(S)] = True
    if T is not None:
        outer[G.numbers(T)] = True
    elif G.directed:
        raise TypeError("'NoneType' object is not iterable")  # NetworkX's error: it also iterates over T
    else:
        outer = ~inner
    rows, cols = G.edge_ends
    crossing = inner[rows] & outer[cols] | outer[rows] & inner[cols]
    # NetworkX sums edges out of S and edges out of T: an edge from a node in both sets counts twice
    sides = (crossing & inner[rows], crossing & outer[rows]) if G.directed else (crossing,)
    if weight is None:
        return sum(int(side.sum()) for side in sides)
    values = G.values_of(weight)
    return sum(exact_sum(values[side]) for side in sides)


def node_expansion(G: Graph, S: Collection[Node]) -> float:
    kind = "digraph" if G.directed else "graph"
    at = [require_node(G, node, f"The node {node} is not in the {kind}.", nx.NetworkXError) for node in S]
    return int(neighbours(G, np.array(at, np.int64)).sum()) / len(S)
