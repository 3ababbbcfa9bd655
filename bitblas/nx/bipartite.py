"""networkx.algorithms.bipartite.basic: bipartite test and two-coloring."""

from __future__ import annotations

import networkx as nx
import numpy as np

from .components import labelled
from .graph import Graph
from .searches import distances
from .typing import Node


def sides(G: Graph) -> np.ndarray | None:
    """The parity of the distance from the first node of each component; None if an edge joins nodes of equal parity."""
    parity = np.zeros(len(G), np.int64)
    H = G if not G.directed else _both(G)
    first = labelled(G)
    for root in np.unique(first[np.diff(H.ptr) > 0]).tolist():
        at, lengths = distances(H, root)
        parity[at] = lengths % 2
    return None if (parity[G.rows] == parity[G.cols]).any() else parity


def _both(G: Graph) -> Graph:
    """The graph with every edge in both directions."""
    device, (rows, cols, _) = G.both_ways.device, G.both_ways.to_coo()
    ptr = np.searchsorted(device.to_host(rows), np.arange(len(G) + 1))
    return Graph(G.labels, ptr, device.to_host(cols), directed=True)


def is_bipartite(G: Graph) -> bool:
    return sides(G) is not None


def color(G: Graph) -> dict[Node, int]:
    parity = sides(G)
    if parity is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    isolated = G.degree.array == 0
    return G.by_node(np.where(isolated, 0, 1 - parity))
