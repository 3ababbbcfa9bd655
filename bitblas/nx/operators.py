"""networkx.algorithms.operators: complement and reverse."""

from __future__ import annotations

import numpy as np

from .graph import Graph


def reverse(G: Graph, copy: bool = True) -> Graph:
    return G.reverse(copy)


def complement(G: Graph) -> Graph:
    n = len(G)
    missing = ~np.eye(n, dtype=bool)
    missing[G.rows, G.cols] = False
    ptr = np.concatenate([[0], np.cumsum(missing.sum(1))]).astype(np.int64)
    cols = np.nonzero(missing)[1]
    # NetworkX adds each pair from both ends, so an undirected multigraph gets it twice
    counts = np.full(len(cols), 1 if G.directed else 2) if G.is_multigraph() else None
    return Graph(list(G.labels), ptr, cols, directed=G.directed, counts=counts)
