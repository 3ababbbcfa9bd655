"""networkx.algorithms.tree.mst: minimum and maximum spanning trees, in the order of Kruskal's algorithm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import bitblas as gb
from bitblas.algorithms import minimum_spanning_forest

from .exceptions import Refused
from .graph import Graph, edges_of, of_entries
from .typing import Node


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
    in_forest[F.device.to_host(F.to_coo()[2])] = True
    return order[in_forest]


def _edges(G: Graph, sign: int, weight: str, data: bool) -> Iterator[Node]:
    chosen = _kruskal_edges(G, weight, sign)
    ends = zip(*(G.nodes_at(at[chosen]) for at in G.edge_ends))
    if not data:
        return ends
    held = G.data
    return ((u, v, {} if held is None else dict(held[k])) for (u, v), k in zip(ends, chosen.tolist()))


def minimum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Node]:
    return _edges(G, 1, weight, data)


def maximum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Node]:
    return _edges(G, -1, weight, data)


def _tree(G: Graph, weight: str | None, sign: int) -> Graph:
    in_tree = np.zeros(len(G.edge_ends[0]), bool)
    in_tree[_kruskal_edges(G, weight, sign)] = True
    return G.part(np.ones(len(G), bool), in_tree[edges_of(G)])


def minimum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Graph:
    return _tree(G, weight, 1)


def maximum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Graph:
    return _tree(G, weight, -1)
