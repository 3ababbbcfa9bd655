"""The verbs timed on the CPU: one program text for both libraries, and SciPy's answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitblas.compare import fixed

from .graphs import Graph, numbers, present

PAGERANK_ROUNDS = 10
# Number of vectors for the untimed runs of a product, and of their positions together. On a single vector the branch
# predictor memorizes which entries are present, and code that branches on each looks up to four times as fast.
OTHERS, POSITIONS = 64, 1 << 20
Answer = tuple[np.ndarray, np.ndarray]  # positions and values; a single number has position 0


@dataclass(frozen=True)
class Turns:
    """A timed call, and the same on other operands for the untimed runs, so that no branch predictor memorizes them."""

    timed: Callable[[], Any]
    other: Callable[[], Any]

    def __call__(self) -> Any:
        return self.timed()


@dataclass(frozen=True)
class Verb:
    """form: the matrix, "pattern" or "weighted". prepare(gb, A, graph): returns the timed call."""

    form: str
    prepare: Callable[[Any, Any, Graph], Callable[[], Any]]
    reference: Callable[[Graph], Answer]
    tolerance: float = 0.0
    explain: Callable[[Any, Any, Graph], Any] | None = None  # the delayed product


def _rolled(gb: Any, u: Any, k: int) -> Any:
    """The vector with its entries moved by some positions."""
    at, values = u.to_coo()
    moved = (at.astype(np.int64) + 64 * k + k) % u.size
    one = bool(len(values)) and bool((values == values[0]).all())  # one value for all stays one
    return gb.Vector.from_coo(moved, values[0] if one else values, u.dtype, size=u.size)


def _product(dtype: str, semiring: str, x: Callable[[Any, Graph], Any]) -> dict[str, Any]:
    def delayed(gb: Any, A: Any, graph: Graph) -> Any:
        return A.mxv(x(gb, graph), getattr(gb.semiring, semiring)[getattr(gb.dtypes, dtype)])

    def prepare(gb: Any, A: Any, graph: Graph) -> Callable[[], Any]:
        u, w = x(gb, graph), gb.Vector(getattr(gb.dtypes, dtype), graph.n)
        op = getattr(gb.semiring, semiring)[getattr(gb.dtypes, dtype)]
        others = itertools.cycle([_rolled(gb, u, k) for k in range(1, 1 + min(OTHERS, POSITIONS // graph.n))] or [u])

        def run(u: Any) -> Any:
            w << A.mxv(u, op)
            return w

        return Turns(lambda: run(u), lambda: run(next(others)))

    return {"prepare": prepare, "explain": delayed}


def _some(gb: Any, graph: Graph) -> Any:
    return gb.Vector.from_coo(np.flatnonzero(present(graph.n)), True, size=graph.n)


def _all(gb: Any, graph: Graph) -> Any:
    return gb.Vector.from_dense(numbers(graph.n))


def _algorithm(call: Callable[[Any, Any, Any, int], Any]) -> Callable[[Any, Any, Graph], Callable[[], Any]]:
    def prepare(gb: Any, A: Any, graph: Graph) -> Callable[[], Any]:
        from bitblas import algorithms

        return lambda: call(algorithms, gb, A, graph.source)

    return prepare


# ---- the answers ----------------------------------------------------------------------------------------------------


def _mxv(graph: Graph) -> Answer:
    hit = np.flatnonzero(graph.scipy(dtype=np.float32) @ present(graph.n).astype(np.float32) > 0)
    return hit, np.ones(len(hit), bool)


def _plus_second(graph: Graph) -> Answer:
    rows = np.flatnonzero(np.diff(graph.ptr))
    return rows, (graph.scipy() @ numbers(graph.n).astype(np.float64))[rows].astype(np.float32)


def _min_plus(graph: Graph) -> Answer:
    rows = np.flatnonzero(np.diff(graph.ptr))
    return rows, np.minimum.reduceat(graph.weights + numbers(graph.n)[graph.col], graph.ptr[rows])


def levels_of(graph: Graph, source: int) -> Answer:
    """The vertices that are reached from a source, and their levels."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(graph.scipy(), source)
    position = np.empty(graph.n, np.int64)
    position[order] = np.arange(len(order))
    parents = position[before[order[1:]]]  # in breadth-first order parents come first, and ascend
    level, start, stop = np.zeros(len(order), np.int64), 0, 1
    while start < stop:  # positions start .. stop are one level; their children follow
        after = 1 + int(np.searchsorted(parents, stop))
        level[stop:after] = level[start] + 1
        start, stop = stop, after
    found = np.sort(order)
    return found, level[position[found]]


def _bfs(graph: Graph) -> Answer:
    return levels_of(graph, graph.source)


def _sssp(graph: Graph) -> Answer:
    from scipy.sparse.csgraph import dijkstra

    d = dijkstra(graph.scipy(graph.weights.astype(np.float64)), indices=graph.source)
    found = np.flatnonzero(np.isfinite(d))
    return found, d[found].astype(np.float32)


def _pagerank(graph: Graph) -> Answer:
    n, alpha, degree = graph.n, 0.85, np.diff(graph.ptr)
    A, r = graph.scipy().T.tocsr(), np.full(graph.n, 1 / graph.n)
    for _ in range(PAGERANK_ROUNDS):
        flow = np.divide(alpha * r, degree, out=np.zeros(n), where=degree > 0)
        r = (1 - alpha) / n + alpha * r[degree == 0].sum() / n + A @ flow
    return np.arange(n), r


def _components(graph: Graph) -> Answer:
    from scipy.sparse.csgraph import connected_components

    label = connected_components(graph.scipy(), directed=False)[1]
    return np.arange(graph.n), np.unique(label, return_index=True)[1][label]


def _triangles(graph: Graph) -> Answer:
    from scipy.sparse import csr_array

    rank = np.argsort(np.argsort(np.diff(graph.ptr), kind="stable"), kind="stable")  # ascending degree
    r, c = rank[graph.rows], rank[graph.col]
    up = r < c
    U = csr_array((np.ones(int(up.sum()), np.int64), (r[up], c[up])), shape=(graph.n, graph.n))
    total = 0
    for first in range(0, graph.n, step := 1 << 13):
        part = U[first : first + step]
        total += int((part @ U).multiply(part).sum())
    return np.zeros(1, np.int64), np.array([total])


def _msf(graph: Graph) -> Answer:
    from scipy.sparse.csgraph import minimum_spanning_tree

    return np.zeros(1, np.int64), np.array([int(minimum_spanning_tree(graph.scipy(graph.weights)).sum())])


def _weight(a: Any, gb: Any, A: Any, source: int) -> int:
    F = a.minimum_spanning_forest(A, gb=gb)
    return int(F.reduce_scalar(gb.monoid.plus[gb.dtypes.FP64], allow_empty=False).value) // 2


def _ranks(a: Any, gb: Any, A: Any, source: int) -> Any:
    return fixed(a.pagerank, A, PAGERANK_ROUNDS, gb=gb)


VERBS = {
    "mxv": Verb("pattern", reference=_mxv, **_product("BOOL", "lor_land", _some)),
    "plus_second": Verb("pattern", reference=_plus_second, **_product("FP32", "plus_second", _all)),
    "min_plus": Verb("weighted", reference=_min_plus, **_product("FP32", "min_plus", _all)),
    "bfs": Verb("pattern", _algorithm(lambda a, gb, A, s: a.bfs_levels(A, s, gb=gb)), _bfs),
    "sssp": Verb("weighted", _algorithm(lambda a, gb, A, s: a.sssp(A, s, gb=gb)), _sssp),
    "pagerank": Verb("pattern", _algorithm(_ranks), _pagerank, tolerance=1e-9),
    "components": Verb("pattern", _algorithm(lambda a, gb, A, s: a.connected_components(A, gb=gb)), _components),
    "triangles": Verb("pattern", _algorithm(lambda a, gb, A, s: a.triangle_count(A, gb=gb)), _triangles),
    "msf": Verb("weighted", _algorithm(_weight), _msf),
}


def answer_of(result: Any) -> Answer:
    if isinstance(result, int):
        return np.zeros(1, np.int64), np.array([result])
    places, values = result.to_coo()
    return places, values


def difference(got: Answer, expected: Answer) -> float:
    """The largest relative difference; infinite if positions differ."""
    if not np.array_equal(got[0].astype(np.int64), expected[0]):
        return float("inf")
    if np.array_equal(got[1], expected[1]):
        return 0.0
    x, y = got[1].astype(np.float64), expected[1].astype(np.float64)
    apart = np.abs(x - y)[x != y] / np.maximum(np.abs(x), np.abs(y))[x != y]
    return float("inf") if np.isnan(apart).any() else float(apart.max())
