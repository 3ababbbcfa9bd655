"""Searches on a `Graph`: breadth-first in NetworkX's order, and distances from a source."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas.algorithms import bfs_levels, sssp
from bitblas.algorithms.paths.sssp import weights_of
from bitblas.exceptions import InvalidValue

from .exceptions import Refused
from .graph import Graph
from .typing import Node


def host(vector: gb.Vector, absent: float | None = None) -> np.ndarray:
    """The values of a Vector as a NumPy array, `absent` where missing."""
    return vector.device.to_host(vector.to_dense(absent))


def entries(vector: gb.Vector) -> tuple[np.ndarray, np.ndarray]:
    """The indices and values of a Vector as NumPy arrays."""
    at, values = vector.to_coo()
    return vector.device.to_host(at), vector.device.to_host(values)


def levels(G: Graph, sources: np.ndarray, limit: float | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The levels of a breadth-first search: the nodes of each in NetworkX's order, and their parents.

    NetworkX's order within a level is by the first discovery: the minimum of rank * width + position over the parents,
    a min.plus product.
    """
    P, width = G.neighbour_positions, int(np.diff(G.ptr).max(initial=1))
    seen = gb.Vector(gb.dtypes.BOOL, len(G))
    found = gb.Vector(gb.dtypes.INT64, len(G))
    level, parents, depth = sources, sources, 0
    while len(level):
        yield level, parents
        if limit is not None and depth >= limit:
            return
        depth += 1
        # q[level] = rank * width; seen<q> = true, where rank is the position within the level
        q = gb.Vector.from_coo(level, np.arange(len(level)) * width, size=len(G))
        seen(q.S) << True
        # found<!seen, replace> = q min.plus P
        found(~seen.S, gb.replace) << q.vxm(P, gb.semiring.min_plus)
        nodes, keys = entries(found)
        order = np.argsort(keys, kind="stable")
        level, parents = nodes[order], level[keys[order] // width]


def require_node(G: Graph, node: Node, message: str, error: type[Exception] = nx.NodeNotFound) -> int:
    """The number of a node; raises `error` with NetworkX's message if it does not exist."""
    if node not in G:
        raise error(message)
    return G.number[node]


def require_ends(G: Graph, source: Node, target: Node) -> None:
    for node, kind in ((source, "Source"), (target, "Target")):
        require_node(G, node, f"{kind} {node} is not in G")


def reached(G: Graph, source: int) -> np.ndarray:
    """The numbers of the reachable nodes including the source, ascending."""
    return entries(bfs_levels(G.structure, source))[0]


def distances(
    G: Graph, source: int | list[int], weight: str | None = None, cutoff: float | None = None, negative: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The reachable nodes and their distances, nearest first, ties in NetworkX's node order.

    source: one, or several, of which the nearest counts. negative: whether negative weights are supported here. Raises
    NetworkXUnbounded for a negative cycle, Refused for unsupported weights including NaN.
    """
    if weight is None:
        found = bfs_levels(G.structure, source)
    else:
        A = weights(G, weight, negative)
        try:
            found = sssp(A, source)
        except InvalidValue as error:
            if "cycle" in str(error):
                raise nx.NetworkXUnbounded("Negative cycle detected.") from None
            raise Refused(str(error)) from None
    at, values = bounded(*entries(found), cutoff)
    order = np.argsort(values, kind="stable")
    return at[order], values[order]


def bounded(at: np.ndarray, lengths: np.ndarray, cutoff: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and distances up to the cutoff."""
    return (at, lengths) if cutoff is None else (at[lengths <= cutoff], lengths[lengths <= cutoff])


def is_cyclic(A: gb.Matrix, source: int) -> bool:
    """Whether the source reaches a cycle of negative weight. Raises Refused for NaN and -infinity."""
    try:
        sssp(A, source)
    except InvalidValue as error:
        if "cycle" in str(error):
            return True
        raise Refused(str(error)) from None
    return False


def weights(G: Graph, weight: str, negative: bool = False) -> gb.Matrix:
    """The weight matrix, with the minimum of parallel edges. Raises Refused for negative weights (unless allowed), NaN,
    and integers for which a path may exceed 2^63.
    """
    if not negative and (G.values_of(weight) < 0).any():
        raise Refused("negative weights")
    A = G.matrix(weight, "min")
    try:
        weights_of(A, gb)
    except InvalidValue as error:
        raise Refused(str(error)) from None
    return A
