"""Whether what an algorithm found is an answer: by its equations over all edges, or by SciPy's answer.

Each takes the graph, what came out as dense arrays (or a number), and the source; True: it is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .graphs import Graph
from .verbs import VERBS, answer_of, difference

NEVER = np.int64(1) << 40


def host(array: Any) -> np.ndarray:
    return np.asarray(array.get() if hasattr(array, "get") else array)


def dense(answer: Any, n: int, missing: Any, dtype: Any) -> np.ndarray:
    """A vector of any library as an array of the host."""
    out = np.full(n, missing, dtype)
    places, values = map(host, answer.to_coo())
    out[places.astype(np.int64)] = values
    return out


def least_beside(graph: Graph, value: np.ndarray, never: Any) -> np.ndarray:
    """For each vertex the least of `value`, one number an edge; `never` where it has none."""
    least = np.full(graph.n, never)
    filled = np.flatnonzero(np.diff(graph.ptr))
    least[filled] = np.minimum.reduceat(value, graph.ptr[filled])
    return least


def levels(graph: Graph, answer: Any, source: int) -> bool:
    """level[source] = 0, all others one more than the least level beside them."""
    level = dense(answer, graph.n, NEVER, np.int64)
    expected = np.minimum(least_beside(graph, level[graph.col], NEVER) + 1, NEVER)
    expected[source] = 0
    return np.array_equal(expected, level)


def distances(graph: Graph, answer: Any, source: int) -> bool:
    """d[source] = 0, all others the least of d + weight beside them. Weights are above 0 and the same both ways."""
    found = dense(answer, graph.n, np.inf, np.float64)
    expected = least_beside(graph, graph.weights + found[graph.col], np.inf)
    expected[source] = 0
    return np.array_equal(expected, found)


def ranks(graph: Graph, answer: Any, source: int) -> bool:
    """Ranks of all vertices sum to one."""
    return abs(float(dense(answer, graph.n, 0, np.float64).sum()) - 1) < 1e-4


def independent(graph: Graph, answer: Any, source: int) -> bool:
    """No edge joins two members, and each other vertex has a member beside it."""
    member = dense(answer, graph.n, False, bool)
    beside = np.zeros(graph.n, bool)
    beside[graph.rows[member[graph.col]]] = True
    return not (member & beside).any() and bool((member | beside).all())


def colors(graph: Graph, answer: Any, source: int) -> bool:
    """No edge joins two of one color, and each vertex has one."""
    color = dense(answer, graph.n, -1, np.int64)
    return bool((color >= 0).all()) and not (color[graph.rows] == color[graph.col]).any()


def forest(graph: Graph, answer: Any, source: int) -> bool:
    """The weight is that of SciPy's forest, and there are as many edges as vertices less components."""
    from scipy.sparse.csgraph import connected_components

    weights = host(answer.to_coo()[2])
    parts = connected_components(graph.scipy(), directed=False)[0]
    expected = VERBS["msf"].reference(graph)[1][0]
    return bool(len(weights) == 2 * (graph.n - parts) and int(weights.sum(dtype=np.float64)) // 2 == expected)


def same(name: str) -> Any:
    """Exactly SciPy's answer."""

    def check(graph: Graph, answer: Any, source: int) -> bool:
        places, values = map(host, answer_of(answer))
        return difference((places, values), VERBS[name].reference(graph)) == 0

    return check


def betweenness(graph: Graph, answer: Any, levels_of: np.ndarray) -> bool:
    """What all vertices have is, over all pairs of a source and what it reaches, one less than their distance: each
    pair gives one to each level between its ends. levels_of: of all sources, -1 where nothing is reached."""
    total = float(dense(answer, graph.n, 0, np.float64).sum())
    expected = float(np.maximum(levels_of.astype(np.int64) - 1, 0).sum())
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
}
