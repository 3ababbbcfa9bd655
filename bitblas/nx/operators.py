"""Functions of NetworkX that return a graph: complement, reverse, ego graph, spanning trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import bitblas as gb
from bitblas.algorithms import bfs_levels, minimum_spanning_forest

from .arrays import Node, Refused
from .graph import Graph, edges_of, of_entries
from .searches import entries, require_node

# ---- networkx.algorithms.operators: complement and reverse.


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


# ---- networkx.generators.ego: subgraph within a radius of a node.


def ego_graph(
    G: Graph, n: Node, radius: float = 1, center: bool = True, undirected: bool = False, distance: str | None = None
) -> Graph:
    source = require_node(G, n, f"Source {n} is not in G" if not undirected else f"Node {n} not found in graph")
    near = np.zeros(len(G), bool)
    if radius >= 0:
        A = G.both_ways if undirected else G.structure
        near[entries(bfs_levels(A, source, depth_limit=int(min(radius, len(G)))))[0]] = True
    near[source] &= center
    return G.part(near, near[G.rows] & near[G.cols])


# ---- networkx.algorithms.tree.mst: minimum and maximum spanning trees, in the order of Kruskal's algorithm.


def _kruskal_edges(G: Graph, weight: str | None, sign: int) -> np.ndarray:
    """The edges of the tree in the order of Kruskal's algorithm: by weight, ties in the graph's order. Numbered this
    way no two edges are equal, so the tree is unique.
    """
    values = np.ones(len(G.edge_ends[0]), np.int64) if weight is None else G.values_of(weight)
    if (values != values).any():
        raise Refused("NaN as a weight")
    # ~w sorts integers like -w, without overflow
    order = np.argsort(values if sign > 0 else ~values if values.dtype.kind == "i" else -values, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    F = minimum_spanning_forest(of_entries(G, rank[edges_of(G)]).select(gb.select.offdiag).new())
    in_forest = np.zeros(len(order), bool)
    in_forest[entries(F)[2]] = True
    return order[in_forest]


def _spanning_edges(sign: int) -> Callable[..., Iterator[Node]]:
    """The function of the edges of a minimum (1) or maximum (-1) spanning tree."""

    def edges(
        G: Graph,
        algorithm: str = "kruskal",
        weight: str = "weight",
        keys: bool = True,
        data: bool = True,
        ignore_nan: bool = False,
    ) -> Iterator[Node]:
        chosen = _kruskal_edges(G, weight, sign)
        ends = zip(*(G.nodes_at(at[chosen]) for at in G.edge_ends))
        if not data:
            return ends
        attributes = G.data
        return ((u, v, {} if attributes is None else dict(attributes[k])) for (u, v), k in zip(ends, chosen.tolist()))

    return edges


def _spanning_tree(sign: int) -> Callable[..., Graph]:
    """The function of a minimum (1) or maximum (-1) spanning tree."""

    def tree(G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False) -> Graph:
        in_tree = np.zeros(len(G.edge_ends[0]), bool)
        in_tree[_kruskal_edges(G, weight, sign)] = True
        return G.part(np.ones(len(G), bool), in_tree[edges_of(G)])

    return tree


minimum_spanning_edges, maximum_spanning_edges = _spanning_edges(1), _spanning_edges(-1)
minimum_spanning_tree, maximum_spanning_tree = _spanning_tree(1), _spanning_tree(-1)
