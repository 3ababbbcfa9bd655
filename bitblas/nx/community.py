"""networkx.algorithms.community, cuts, boundary, dominating: node sets, partitions and the edges between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.community.quality import NotAPartition

import bitblas as gb
from bitblas import algorithms

from .arrays import Node, Nodes, Number, Refused, exact_sum, sum_by_group
from .components import group_nodes
from .graph import Graph
from .searches import entries, host, require_node

# ---- networkx.algorithms.boundary: nodes adjacent to a node set.


def neighbours(G: Graph, nodes: np.ndarray) -> np.ndarray:
    """The nodes that an edge from one of these leads to: BOOL, by number."""
    found = np.zeros(len(G), bool)
    if len(nodes):
        # q = nodes any.pair A
        q = gb.Vector.from_coo(np.unique(nodes), True, size=len(G))
        found[entries(q.vxm(G.structure, gb.semiring.any_pair[gb.dtypes.BOOL]).new())[0]] = True
    return found


def node_boundary(G: Graph, nbunch1: Nodes, nbunch2: Nodes | None = None) -> set[Node]:
    inner = G.numbers(nbunch1)
    near = neighbours(G, inner)
    near[inner] = False
    found = set(G.nodes_at(np.flatnonzero(near)))
    return found if nbunch2 is None else found & set(nbunch2)


# ---- networkx.algorithms.cuts: cut size and node expansion.


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


# ---- networkx.algorithms.community: community detection and quality of partitions.

Parts = Iterable[Collection[Node]]


def parts(G: Graph, partition: Parts) -> np.ndarray | None:
    """The part number of each node; None unless `partition` is a partition of the nodes."""
    part, seen = np.full(len(G), -1), 0
    for k, nodes in enumerate(partition):
        part[G.numbers(nodes)] = k
        seen += len(nodes)
    return part if seen == len(G) and (part >= 0).all() else None


def modularity(G: Graph, communities: Parts, weight: str | None = "weight", resolution: float = 1) -> float:
    communities = list(communities)
    part = parts(G, communities)
    if part is None:
        raise NotAPartition(G, communities)
    rows, cols = G.edge_ends
    values = np.ones(len(rows), np.int64) if weight is None else G.values_of(weight)
    inside = exact_sum(values[part[rows] == part[cols]])
    sides = (G.out_degree, G.in_degree) if G.directed else (G.degree, G.degree)
    leaving, coming = (side(weight=weight).array for side in sides)
    degrees = exact_sum(leaving)
    norm = 1 / degrees**2
    out, into = (sum_by_group(degree, part, len(communities)).astype(np.float64) for degree in (leaving, coming))
    return float(inside / (degrees / (1 if G.directed else 2)) - resolution * (out * into).sum() * norm)


def intra_community_edges(G: Graph, partition: Parts) -> int:
    part = parts(G, partition)
    if part is None:
        raise Refused("parts that do not form a partition")
    rows, cols = G.edge_ends
    return int((part[rows] == part[cols]).sum())


def inter_community_edges(G: Graph, partition: Parts) -> int:
    inside = intra_community_edges(G, partition)
    return int(G.size()) - inside


def _communities(
    G: Graph, find: Callable[..., gb.Vector], weight: str | None, resolution: float, seed: Any, **options: float
) -> list[set[Node]]:
    """Communities by a bitblas algorithm. As in NetworkX, seed may be a random number generator."""
    if not len(G):
        return []
    if weight is not None and (G.values_of(weight) < 0).any():
        raise Refused("negative weights")
    number = seed if isinstance(seed, int) else seed.randrange(2**31)
    A = G.matrix(weight)
    return list(group_nodes(G, host(find(A, weighted=True, resolution=resolution, seed=number, **options))))


def louvain_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-07,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Node]]:
    return _communities(G, algorithms.louvain, weight, resolution, seed, tol=threshold)


def leiden_communities(
    G: Graph, weight: str | None = "weight", resolution: float = 1, max_level: int | None = None, seed: Any = None
) -> list[set[Node]]:
    return _communities(G, algorithms.leiden, weight, resolution, seed)


# ---- networkx.classes.function and other functions of edges or degrees: regular, s-metric, dominating.


def number_of_selfloops(G: Graph) -> int:
    rows, cols = G.edge_ends
    return int((rows == cols).sum())


def is_empty(G: Graph) -> bool:
    return not len(G.cols)


def is_negatively_weighted(G: Graph, edge: object = None, weight: str = "weight") -> bool:
    return bool((G.values_of(weight) < 0).any())


def s_metric(G: Graph) -> float:
    degree = G.degree.array
    rows, cols = G.edge_ends
    return float((degree[rows] * degree[cols]).sum())


def is_dominating_set(G: Graph, nbunch: Nodes) -> bool:

    chosen = G.numbers(nbunch)
    near = neighbours(G, chosen)
    near[chosen] = True
    return bool(near.all())
