"""networkx.algorithms.reciprocity: the fraction of edges whose reverse exists."""

from __future__ import annotations

import networkx as nx
import numpy as np

import bitblas as gb

from .graph import Graph
from .searches import host
from .typing import Node, NodeOrNodes


def reciprocity(G: Graph, nodes: NodeOrNodes = None) -> float | dict[Node, float | None] | None:
    if nodes is None:
        return overall_reciprocity(G)
    A = G.structure
    # r = 2 * row sums of (A .* A') / (out-degree + in-degree)
    both = A.ewise_mult(A.T, gb.binary.pair).new().reduce_rowwise(gb.monoid.plus[gb.dtypes.INT64]).new()
    there, edges = host(both, 0).tolist(), (np.diff(G.ptr) + np.diff(G.transposed.ptr)).tolist()
    share = lambda k: 2 * there[k] / edges[k] if edges[k] else None
    if nodes not in G:
        return {node: share(G.number[node]) for node in G.nbunch_iter(nodes)}
    if not edges[G.number[nodes]]:
        raise nx.NetworkXError("Not defined for isolated nodes.")
    return share(G.number[nodes])


def overall_reciprocity(G: Graph) -> float:
    if not len(G.cols):
        raise nx.NetworkXError("Not defined for empty graphs")
    A, edges = G.structure, len(G.cols)
    loops = int((G.rows == G.cols).sum())
    # r = (nvals(A .* A') - loops) / nvals(A); in NetworkX's undirected copy a self loop is one edge, not two
    both = A.ewise_mult(A.T, gb.binary.pair).new().nvals
    return (both - loops) / edges
