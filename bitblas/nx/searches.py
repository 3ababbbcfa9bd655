"""Searches on a `Graph`: breadth-first in NetworkX's order, distances, shortest paths as node lists, bidirectional
search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import count

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas.algorithms import bfs_levels, sssp, sssp_tree
from bitblas.algorithms.paths.sssp import weights_of
from bitblas.exceptions import InvalidValue

from .arrays import Node, Refused
from .graph import Graph, entry_values

# ---- Searches on a `Graph`: breadth-first in NetworkX's order, and distances from a source.


def host(vector: gb.Vector, absent: float | None = None) -> np.ndarray:
    """The values of a Vector as a NumPy array, `absent` where missing."""
    return vector.device.to_host(vector.to_dense(absent))


def entries(of: gb.Vector | gb.Matrix) -> tuple[np.ndarray, ...]:
    """The indices and values of a Vector or Matrix as NumPy arrays."""
    return tuple(map(of.device.to_host, of.to_coo()))


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


def reachable_nodes(G: Graph, source: int) -> np.ndarray:
    """The numbers of the reachable nodes including the source, ascending."""
    return entries(bfs_levels(G.structure, source))[0]


def distances(
    G: Graph,
    source: int | list[int],
    weight: str | None = None,
    cutoff: float | None = None,
    negative: bool = False,
    targets: list[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The reachable nodes and their distances, nearest first, ties in NetworkX's node order. targets: only these.

    source: one, or several, of which the nearest counts. negative: whether negative weights are supported here. Raises
    NetworkXUnbounded for a negative cycle, Refused for unsupported weights including NaN.
    """
    if weight is None:
        found = bfs_levels(G.structure, source, targets=targets)
    else:
        limit = cutoff if cutoff is not None and cutoff >= 0 else None
        found = search_distances(distance_weights(G, weight, negative), source, targets, limit)
    at, values = entries(found)
    order = np.argsort(values, kind="stable")
    return within_cutoff(at[order], values[order], cutoff)


def within_cutoff(at: np.ndarray, lengths: np.ndarray, cutoff: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and distances up to the cutoff."""
    return (at, lengths) if cutoff is None else (at[lengths <= cutoff], lengths[lengths <= cutoff])


def search_distances(
    A: gb.Matrix, source: int | list[int], targets: list[int] | None = None, limit: float | None = None
) -> gb.Vector:
    """The distances by `sssp`, with its targets and limit. Raises NetworkXUnbounded for a negative cycle, Refused for
    NaN and -infinity."""
    try:
        return sssp(A, source, targets=targets, limit=limit)
    except InvalidValue as error:
        if "cycle" in str(error):
            raise nx.NetworkXUnbounded("Negative cycle detected.") from None
        raise Refused(str(error)) from None


def distance_weights(G: Graph, weight: str, negative: bool = False) -> gb.Matrix:
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


# ---- Shortest paths as node lists: the same paths that NetworkX's searches return.


def dijkstra_tree(
    G: Graph, sources: list[int], weight: str, cutoff: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, distances and predecessors (a source: itself), in the order of NetworkX's Dijkstra.

    Dijkstra pops a node of least distance, ties to the one found first; the predecessor of v is the first popped node
    that gives v its distance. Raises Refused if an edge of length 0 is on a shortest path.
    """
    n = len(G)
    at, values = distances(G, sources, weight, cutoff)
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
    nodes, lengths = within_cutoff(at, d[at], cutoff)
    return nodes, lengths, parents[nodes]


def bellman_ford_tree(G: Graph, source: int, weight: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for any weights, nearest nodes first, along arbitrary shortest paths. NetworkXUnbounded for a negative
    cycle.
    """
    at, values = distances(G, source, weight, negative=True)
    parents = np.zeros(len(G), np.int64)
    found, before = entries(sssp_tree(distance_weights(G, weight, negative=True), source)[1])
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


# ---- Bidirectional search: a shortest path between two nodes, searched from both ends.
#
# The ends advance in turn until they meet, node by node like NetworkX's searches: few rows are read, and among several
# shortest paths the result is NetworkX's if neighbours are in its order (predecessors are in the order of their
# numbers).
#
# Two searches by levels (`walk.levels`) would give the same path: the searches of NetworkX meet at the first node of a
# level that the other search contains. But each level costs a product over all nodes, and this search ends after few
# nodes. CPU milliseconds per path, this search, by levels, NetworkX: 100 000 random edges 0.09, 0.65, 0.17; a path of
# 2000 nodes 1.6, 81, 0.7; the roads of New York 22, 34, 32. For bidirectional Dijkstra the choice among paths of equal
# length depends on the order in which the heaps pop nodes, which levels do not reproduce.

Predecessors = dict[int, int | None]  # the predecessor of each found node, seen from its end


def _rows(G: Graph, values: np.ndarray) -> Callable[[int], list[int]]:
    """Values of the entries, by row."""
    ptr = G.ptr
    return lambda row: values[ptr[row] : ptr[row + 1]].tolist()


def _lengths(G: Graph, weight: str) -> np.ndarray:
    return G._cached_as(("length", weight), lambda: entry_values(G, weight, "min"))


def _joined_path(predecessors: Predecessors, successors: Predecessors, met: int) -> list[int]:
    return [*_path_back(predecessors, met)[::-1], *_path_back(successors, successors[met])]


def _path_back(predecessors: Predecessors, node: int | None) -> list[int]:
    path = []
    while node is not None:
        path.append(node)
        node = predecessors[node]
    return path


def fewest_edges_path(G: Graph, source: int, target: int) -> list[int] | None:
    """The nodes of a path with the fewest edges; None if there is no path."""
    if source == target:
        return [source]
    found: tuple[Predecessors, Predecessors] = {source: None}, {target: None}
    ends = [[source], [target]]
    neighbours = [_rows(H, H.cols) for H in (G, G.transposed)]
    while all(ends):
        side = int(len(ends[0]) > len(ends[1]))
        reached, others = found[side], found[1 - side]
        level, ends[side] = ends[side], []
        for node in level:
            for near in neighbours[side](node):
                if near not in reached:
                    reached[near] = node
                    ends[side].append(near)
                if near in others:
                    return _joined_path(*found, near)
    return None


def least_weight_path(G: Graph, source: int, target: int, weight: str) -> tuple[float, list[int]] | None:
    """The least length and the nodes of such a path; None if there is no path. Raises Refused for negative weights and
    NaN.
    """
    sides = G, G.transposed
    lengths = [_lengths(H, weight) for H in sides]
    if not (lengths[0] >= 0).all():
        raise Refused("negative weights")
    neighbours = [_rows(H, H.cols) for H in sides]
    row_lengths = [_rows(H, values) for H, values in zip(sides, lengths)]
    found: tuple[Predecessors, Predecessors] = {source: None}, {target: None}
    distances: list[dict[int, float]] = [{source: 0}, {target: 0}]
    settled: list[set[int]] = [set(), set()]
    turn = count()
    heaps: list[list[tuple[float, int, int]]] = [[(0, next(turn), source)], [(0, next(turn), target)]]
    least: float | None = None
    met, side = source, 1
    while all(heaps):
        side = 1 - side
        reached, others = distances[side], distances[1 - side]
        length, _, node = heappop(heaps[side])
        if node in settled[side]:
            continue
        settled[side].add(node)
        if node in settled[1 - side] and least is not None:
            return least, _joined_path(*found, met)
        for near, more in zip(neighbours[side](node), row_lengths[side](node)):
            whole = length + more
            if near not in reached or whole < reached[near]:
                reached[near] = whole
                heappush(heaps[side], (whole, next(turn), near))
                found[side][near] = node
                if near in others and (least is None or whole + others[near] < least):
                    least, met = whole + others[near], near
    return None
