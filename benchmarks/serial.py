"""Serial programs on row pointers and columns, compiled by Numba: what the verifiers of GAP and Graphalytics compare
with. They share nothing with bitblas."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def depths(ptr: Any, col: Any, source: int) -> Any:
    """Hops from the source to each vertex, -1 if it is not reached, by a queue."""
    depth = np.full(len(ptr) - 1, -1, np.int64)
    queue = np.empty(len(ptr) - 1, np.int64)
    depth[source], queue[0], first, last = 0, source, 0, 1
    while first < last:
        u = queue[first]
        first += 1
        for e in range(ptr[u], ptr[u + 1]):
            v = col[e]
            if depth[v] < 0:
                depth[v], queue[last] = depth[u] + 1, v
                last += 1
    return depth


@njit(cache=True)
def is_tree(ptr: Any, col: Any, source: int, parent: Any, depth: Any) -> bool:
    """Whether a parent is one level above its child and has an edge to it, and exactly the reached vertices have one.
    parent: -1 for vertices without."""
    n = len(ptr) - 1
    if parent[source] != source:
        return False
    found = np.zeros(n, np.bool_)
    for u in range(n):
        for e in range(ptr[u], ptr[u + 1]):
            if parent[col[e]] == u:
                found[col[e]] = True
    for v in range(n):
        if (parent[v] >= 0) != (depth[v] >= 0):
            return False
        if parent[v] >= 0 and v != source and not (found[v] and depth[parent[v]] == depth[v] - 1):
            return False
    return True


@njit(cache=True)
def is_shortest(ptr: Any, col: Any, weight: Any, source: int, distance: Any) -> bool:
    """Whether these are the distances, -1 for vertices that are not reached: no edge shortens one, and each is reached
    by an edge that gives it exactly. Weights are positive, so this has one solution."""
    n = len(ptr) - 1
    tight = np.zeros(n, np.bool_)
    tight[source] = True
    for u in range(n):
        if distance[u] < 0:
            continue
        for e in range(ptr[u], ptr[u + 1]):
            v, d = col[e], distance[u] + weight[e]
            if distance[v] < 0 or d < distance[v]:
                return False
            if d == distance[v]:
                tight[v] = True
    for v in range(n):
        if distance[v] >= 0 and not tight[v]:
            return False
    return distance[source] == 0


@njit(cache=True)
def page_rank_error(ptr: Any, col: Any, score: Any, damping: float) -> float:
    """The sum of absolute changes of one more iteration, along out-edges; rank of vertices without edges is lost."""
    n = len(ptr) - 1
    sums = np.zeros(n)
    for u in range(n):
        if ptr[u + 1] > ptr[u]:
            part = score[u] / (ptr[u + 1] - ptr[u])
            for e in range(ptr[u], ptr[u + 1]):
                sums[col[e]] += part
    error = 0.0
    for v in range(n):
        error += abs((1 - damping) / n + damping * sums[v] - score[v])
    return error


@njit(cache=True)
def are_components(ptr: Any, col: Any, label: Any) -> bool:
    """Whether labels, which are vertices, are those of the components: the ends of each edge have the same label, and a
    search from the vertices that are labels reaches all. Edges are present in both directions."""
    n = len(ptr) - 1
    queue, seen, last = np.empty(n, np.int64), np.zeros(n, np.bool_), 0
    for v in range(n):
        if label[label[v]] != label[v]:
            return False
        if label[v] == v:
            queue[last], seen[v] = v, True
            last += 1
    first = 0
    while first < last:
        u = queue[first]
        first += 1
        for e in range(ptr[u], ptr[u + 1]):
            v = col[e]
            if label[v] != label[u]:
                return False
            if not seen[v]:
                seen[v], queue[last] = True, v
                last += 1
    return last == n


@njit(cache=True)
def dependencies(ptr: Any, col: Any, source: int, score: Any) -> None:
    """Brandes' algorithm from one source: add the dependency of each vertex other than the source to its score."""
    n = len(ptr) - 1
    depth, paths, delta = np.full(n, -1, np.int64), np.zeros(n), np.zeros(n)
    queue = np.empty(n, np.int64)
    depth[source], paths[source], queue[0], first, last = 0, 1.0, source, 0, 1
    while first < last:
        u = queue[first]
        first += 1
        for e in range(ptr[u], ptr[u + 1]):
            v = col[e]
            if depth[v] < 0:
                depth[v], queue[last] = depth[u] + 1, v
                last += 1
            if depth[v] == depth[u] + 1:
                paths[v] += paths[u]
    for k in range(last - 1, -1, -1):
        u = queue[k]
        for e in range(ptr[u], ptr[u + 1]):
            v = col[e]
            if depth[v] == depth[u] + 1:
                delta[u] += paths[u] / paths[v] * (1 + delta[v])
        if u != source:
            score[u] += delta[u]


@njit(cache=True)
def _upward(ptr: Any, col: Any) -> Any:
    """The edges from the lower to the higher degree: row pointers and columns, ascending."""
    n = len(ptr) - 1
    out, to = np.zeros(n + 1, np.int64), np.empty(len(col) // 2, np.int64)
    for u in range(n):
        last = out[u]
        for e in range(ptr[u], ptr[u + 1]):
            v, more = col[e], (ptr[col[e] + 1] - ptr[col[e]]) - (ptr[u + 1] - ptr[u])
            if more > 0 or (more == 0 and v > u):
                to[last] = v
                last += 1
        out[u + 1] = last
    return out, to


@njit(cache=True, nogil=True)
def _merged(out: Any, to: Any, first: int, stop: int) -> int:
    """The common columns of both ends of the edges of some rows."""
    total = 0
    for u in range(first, stop):
        for e in range(out[u], out[u + 1]):
            i, j = out[u], out[to[e]]
            while i < out[u + 1] and j < out[to[e] + 1]:
                x, y = to[i], to[j]
                total += x == y
                i, j = i + (x <= y), j + (y <= x)
    return total


def triangles(ptr: Any, col: Any) -> int:
    """The number of triangles of a graph with edges in both directions, columns ascending: the lists of both ends of
    each edge are merged, by threads."""
    out, to = _upward(ptr, col)
    bounds = np.linspace(0, len(ptr) - 1, 257).astype(int).tolist()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return sum(pool.map(lambda ends: int(_merged(out, to, *ends)), pairwise(bounds)))


@njit(cache=True)
def propagated_labels(ptr: Any, col: Any, rounds: int) -> Any:
    """Label propagation as LDBC defines it, on edges in both directions (opposite edges of a directed graph twice): the
    most frequent label of the neighbours, of several the smallest."""
    n = len(ptr) - 1
    label = np.arange(n)
    for _ in range(rounds):
        last = label.copy()
        for v in range(n):
            around = np.sort(last[col[ptr[v] : ptr[v + 1]]])
            best, start = 0, 0
            for e in range(len(around)):
                if around[e] != around[start]:
                    start = e
                if e - start + 1 > best:
                    best, label[v] = e - start + 1, around[e]
    return label


@njit(cache=True)
def closed_shares(ptr: Any, col: Any, out_ptr: Any, out_col: Any) -> Any:
    """Local clustering coefficients as LDBC defines them: of the pairs of different neighbours, in either direction
    (ptr, col, columns ascending, without duplicates), the share with an edge (out_ptr, out_col)."""
    n = len(ptr) - 1
    share, near = np.zeros(n), np.zeros(n, np.bool_)
    for v in range(n):
        degree = ptr[v + 1] - ptr[v]
        if degree < 2:
            continue
        near[col[ptr[v] : ptr[v + 1]]] = True
        count = 0
        for e in range(ptr[v], ptr[v + 1]):
            u = col[e]
            for f in range(out_ptr[u], out_ptr[u + 1]):
                count += near[out_col[f]]
        near[col[ptr[v] : ptr[v + 1]]] = False
        share[v] = count / (degree * (degree - 1))
    return share
