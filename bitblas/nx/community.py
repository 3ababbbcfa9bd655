"""networkx.algorithms.community: community detection and quality of partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from networkx.algorithms.community.quality import NotAPartition

import bitblas as gb
from bitblas import algorithms

from .components import grouped
from .exceptions import Refused
from .graph import Graph
from .searches import host
from .sums import exact_sum, sum_by_group
from .typing import Node

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
    return list(grouped(G, host(find(A, weighted=True, resolution=resolution, seed=number, **options))))


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
