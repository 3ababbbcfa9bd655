"""Checks of algorithms' answers, by equations over all edges or by SciPy's answer.

Each check takes the graph, the answer and the source, and returns whether the answer is right.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .graphs import Graph
from .verbs import VERBS, answer_of, difference

NEVER = np.int64(1) << 40


def host(array: Any) -> np.ndarray:
    return np.asarray(array.get() if hasattr(array, "get") else array)


def dense(answer: Any, n: int, missing: Any, dtype: Any) -> np.ndarray:
    """A vector of any library as a dense array on the host."""
    out = np.full(n, missing, dtype)
    places, values = map(host, answer.to_coo())
    out[places.astype(np.int64)] = values
    return out


def least_beside(graph: Graph, value: np.ndarray, never: Any) -> np.ndarray:
    """For each vertex the least of `value`, which has one number per edge; `never` for vertices without edges."""
    least = np.full(graph.n, never)
    filled = np.flatnonzero(np.diff(graph.ptr))
    least[filled] = np.minimum.reduceat(value, graph.ptr[filled])
    return least


def are_levels(graph: Graph, level: np.ndarray, source: int) -> bool:
    """level[source] = 0, all others one more than the least level of their neighbours; NEVER if not reached."""
    expected = np.minimum(least_beside(graph, level[graph.col], NEVER) + 1, NEVER)
    expected[source] = 0
    return np.array_equal(expected, level)


def levels(graph: Graph, answer: Any, source: int) -> bool:
    return are_levels(graph, dense(answer, graph.n, NEVER, np.int64), source)


def is_tree(graph: Graph, level: np.ndarray, parent: np.ndarray, source: int) -> bool:
    """Every vertex with a level (-1: none) has a parent one level closer, to which it has an edge."""
    found = np.flatnonzero(level >= 0)
    child = found[found != source]
    if not np.array_equal(found, np.flatnonzero(parent >= 0)) or parent[source] != source:
        return False
    keys = graph.rows * graph.n + graph.col
    edges = parent[child].astype(np.int64) * graph.n + child
    at = np.searchsorted(keys, edges)
    return bool(
        (keys[np.minimum(at, len(keys) - 1)] == edges).all() and (level[parent[child]] + 1 == level[child]).all()
    )


def distances(graph: Graph, answer: Any, source: int) -> bool:
    """d[source] = 0, all others the least d + weight over their edges. Weights are positive and symmetric."""
    found = dense(answer, graph.n, np.inf, np.float64)
    expected = least_beside(graph, graph.weights + found[graph.col], np.inf)
    expected[source] = 0
    return np.array_equal(expected, found)


def ranks(graph: Graph, answer: Any, source: int) -> bool:
    """Ranks of all vertices sum to one."""
    return abs(float(dense(answer, graph.n, 0, np.float64).sum()) - 1) < 1e-4


def independent(graph: Graph, answer: Any, source: int) -> bool:
    """No edge joins two members, and each other vertex has a neighbour that is one."""
    member = dense(answer, graph.n, False, bool)
    beside = np.zeros(graph.n, bool)
    beside[graph.rows[member[graph.col]]] = True
    return not (member & beside).any() and bool((member | beside).all())


def colors(graph: Graph, answer: Any, source: int) -> bool:
    """No edge joins two vertices of one color, and each vertex has a color."""
    color = dense(answer, graph.n, -1, np.int64)
    return bool((color >= 0).all()) and not (color[graph.rows] == color[graph.col]).any()


def forest(graph: Graph, answer: Any, source: int) -> bool:
    """The weight is that of SciPy's forest, and the number of edges is vertices minus components."""
    from scipy.sparse.csgraph import connected_components

    weights = host(answer.to_coo()[2])
    parts = connected_components(graph.scipy(), directed=False)[0]
    expected = VERBS["msf"].reference(graph)[1][0]
    return bool(len(weights) == 2 * (graph.n - parts) and int(weights.sum(dtype=np.float64)) // 2 == expected)


def most_frequent(graph: Graph, vertices: Any, before: np.ndarray, after: np.ndarray) -> bool:
    """Whether the label of each of these vertices is the most frequent one that their neighbours had before, of equally
    frequent ones the smallest."""
    for v in vertices:
        label, count = np.unique(before[graph.col[graph.ptr[v] : graph.ptr[v + 1]]], return_counts=True)
        if label[count.argmax()] != after[v]:
            return False
    return True


def modularity(graph: Graph, label: np.ndarray) -> float:
    """The share of edges inside of communities less what it would be at random."""
    total = graph.nvals
    inside = int((label[graph.rows] == label[graph.col]).sum())
    weight = np.bincount(label, weights=np.diff(graph.ptr))
    return inside / total - float(((weight / total) ** 2).sum())


def communities(graph: Graph, answer: Any, source: int) -> bool:
    """Communities are connected, have numbers from 0, and more edges inside than at random."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    label = dense(answer, graph.n, -1, np.int64)
    if label.min() < 0 or modularity(graph, label) <= 0:
        return False
    inside = label[graph.rows] == label[graph.col]
    ptr = np.concatenate([[0], np.cumsum(inside)])[graph.ptr]
    A = csr_array((np.ones(int(ptr[-1]), np.int8), graph.col[inside], ptr), shape=(graph.n, graph.n))
    parts = connected_components(A, directed=False)[0]
    return bool(parts == label.max() + 1 == len(np.unique(label)))


def cores(graph: Graph, answer: Any, source: int) -> bool:
    """A vertex of core number k has at least k neighbours of numbers of at least k, and at most k of larger ones."""
    core = dense(answer, graph.n, -1, np.int64)
    near, own = core[graph.col], core[graph.rows]
    as_large, larger = (np.bincount(graph.rows[near >= own + k], minlength=graph.n) for k in (0, 1))
    return bool((as_large >= core).all() and (larger <= core).all())


def strong(graph: Graph, answer: Any, source: int) -> bool:
    """Each vertex has the smallest vertex of its strong component, as SciPy finds them."""
    from scipy.sparse.csgraph import connected_components

    label = connected_components(graph.scipy(dtype=np.int8), directed=True, connection="strong")[1]
    expected = np.unique(label, return_index=True)[1][label]
    return np.array_equal(expected, dense(answer, graph.n, -1, np.int64))


def same(name: str) -> Any:
    """A check that the answer is exactly SciPy's."""

    def check(graph: Graph, answer: Any, source: int) -> bool:
        places, values = map(host, answer_of(answer))
        return difference((places, values), VERBS[name].reference(graph)) == 0

    return check


def betweenness(graph: Graph, answer: Any, levels_of: Iterable[np.ndarray]) -> bool:
    """The sum over all vertices equals the sum of distance - 1 over all pairs of a source and a vertex that it reaches,
    because a pair contributes 1 to each level between its ends. levels_of: of all sources, -1 if not reached."""
    total = float(dense(answer, graph.n, 0, np.float64).sum())
    expected = float(sum(int(np.maximum(level - 1, 0).sum()) for level in levels_of))
    return bool(abs(total - expected) <= 1e-6 * max(expected, 1))


CHECKS = {
    "bfs": levels,
    "sssp": distances,
    "pagerank": ranks,
    "components": same("components"),
    "triangles": same("triangles"),
    "mis": independent,
    "coloring": colors,
    "forest": forest,
    "louvain": communities,
    "leiden": communities,
    "cores": cores,
}
