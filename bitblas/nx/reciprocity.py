"""networkx.algorithms.reciprocity: which edges lead back as well."""

from __future__ import annotations

import networkx as nx

import bitblas as gb

from .graph import Graph


def overall_reciprocity(G: Graph) -> float:
    if not len(G.cols):
        raise nx.NetworkXError("Not defined for empty graphs")
    A, edges = G.structure, len(G.cols)
    loops = int((G.rows == G.cols).sum())
    # C = A .* A'; of an undirected copy a self loop is one edge, so it overlaps with none
    both = A.ewise_mult(A.T, gb.binary.pair).new().nvals
    return (both - loops) / edges
