"""Shortest paths as node lists: the same paths that NetworkX's searches return."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bitblas.algorithms import sssp_tree

from ..exceptions import Refused
from ..graph import Graph, entry_values
from ..searches import bounded, distances, entries, weights
from ..typing import Node


def dijkstra_tree(
    G: Graph, sources: list[int], weight: str, cutoff: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, distances and predecessors (a source: itself), in the order of NetworkX's Dijkstra.

    Dijkstra pops a node of least distance, ties to the one found first; the predecessor of v is the first popped node
    that gives v its distance. Raises Refused if an edge of length 0 is on a shortest path.
    """
    n = len(G)
    at, values = distances(G, sources, weight)
    d, reached = np.zeros(n, values.dtype), np.zeros(n, bool)
    d[at], reached[at] = values, True
    sources_too = np.zeros(n, bool)
    sources_too[sources] = True
    tight = reached[G.rows] & (d[G.rows] + entry_values(G, weight, "min") == d[G.cols]) & ~sources_too[G.cols]
    u, v = G.rows[tight], G.cols[tight]
    if (d[u] == d[v]).any():
        raise Refused("edges of no length on shortest paths")
    # key[v] = n * rank of d[v] + position of v among nodes at the same distance
    rank = np.unique(values, return_inverse=True)[1]
    key = np.zeros(n, np.int64)
    key[at] = rank * n
    key[sources] = np.arange(len(sources))
    several = np.flatnonzero(np.bincount(rank, minlength=1)[1:] > 1) + 1
    if len(several):
        by_rank = np.argsort(key[v], kind="stable")
        first, end = np.searchsorted(key[v][by_rank], [several * n, (several + 1) * n])
        for begin, stop in zip(first.tolist(), end.tolist()):
            some = by_rank[begin:stop]
            some = some[np.argsort(key[u[some]], kind="stable")]  # the edges of a node are in NetworkX's order
            found = v[some]
            _, places = np.unique(found, return_index=True)
            key[found[np.sort(places)]] += np.arange(len(places))
    parents = np.arange(n)
    order = np.lexsort((key[u], v))
    u, v = u[order], v[order]
    fresh = np.diff(v, prepend=-1) > 0
    parents[v[fresh]] = u[fresh]
    at = at[np.argsort(key[at])]
    nodes, lengths = bounded(at, d[at], cutoff)
    return nodes, lengths, parents[nodes]


def bellman_ford_tree(G: Graph, source: int, weight: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for any weights, nearest nodes first, along arbitrary shortest paths. NetworkXUnbounded for a negative
    cycle.
    """
    at, values = distances(G, source, weight, negative=True)
    parents = np.zeros(len(G), np.int64)
    found, before = entries(sssp_tree(weights(G, weight, negative=True), source)[1])
    parents[found] = before
    return at, values, parents[at]


def paths_to_all(G: Graph, nodes: np.ndarray, parents: np.ndarray) -> dict[Node, list[Node]]:
    """The path to each node, from the predecessors."""
    before = dict(zip(nodes.tolist(), parents.tolist()))
    found: dict[int, list[Node]] = {}
    for node in before:
        open_: list[int] = []
        while node not in found and before[node] != node:
            open_.append(node)
            node = before[node]
        path = found.setdefault(node, [G.labels[node]])
        for node in reversed(open_):
            path = found[node] = [*path, G.labels[node]]
    return {G.labels[node]: found[node] for node in before}


def path_to(G: Graph, nodes: Iterable[int], parents: Iterable[int], target: int) -> list[Node]:
    """The path to one node."""
    before = dict(zip(nodes, parents))
    path = [target]
    while before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return [G.labels[node] for node in reversed(path)]
