"""networkx.algorithms.cluster, core, assortativity, reciprocity, link_prediction: triangles, core numbers, degrees of
neighbours, reverse edges, similarity of node pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas import algorithms

from .arrays import Edge, Node, NodeOrNodes, Nodes, Refused, Scores, fits_int64, join_words, split_words, sum_by_group
from .graph import Degrees, Graph, entries_at, entry_values
from .searches import entries, host

# ---- networkx.algorithms.cluster: triangles, squares, clustering coefficients, transitivity.


def _rows(C: gb.Matrix) -> np.ndarray:
    """The sum of each row."""
    return host(C.reduce_rowwise(gb.monoid.plus).new(), 0)


def _walks(G: Graph) -> np.ndarray:
    """Twice the number of triangles at each node of an undirected graph, cached."""
    return G._cached_as("walks", lambda: _rows(_edge_triangles(G)))


def _edge_triangles(G: Graph) -> gb.Matrix:
    """C<A> = A plus.pair A: the number of triangles on each edge."""
    A = G.loopless
    return A.mxm(A.T, gb.semiring.plus_pair[gb.dtypes.INT64]).new(mask=A.S)


def _by_nodes(G: Graph, values: list[Any], nodes: NodeOrNodes) -> Any:
    """The value of one node, or a dictionary for `nodes`, or for all nodes."""
    if nodes is None:
        return dict(zip(G.labels, values))
    if nodes in G:
        return values[G.number[nodes]]
    return {node: values[G.number[node]] for node in G.nbunch_iter(nodes)}


def _require_simple(G: Graph) -> None:
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def triangles(G: Graph, nodes: NodeOrNodes = None) -> Any:
    if nodes is not None:
        _require_simple(G)
    return _by_nodes(G, (_walks(G) // 2).tolist(), nodes)


def generalized_degree(G: Graph, nodes: NodeOrNodes = None) -> Any:
    _require_simple(G)
    A = G.loopless
    # C = 0 A; C += A plus.pair A': triangles on each edge
    C = A.apply(gb.binary.times, right=0).new(gb.dtypes.INT64)
    C(gb.binary.plus) << _edge_triangles(G)
    rows, _, counts = entries(C)
    parts = np.split(counts, np.searchsorted(rows, np.arange(1, len(G)))) if len(G) else []
    return _by_nodes(G, [Counter(part.tolist()) for part in parts], nodes)


def transitivity(G: Graph) -> float:
    _require_simple(G)
    if G.directed:  # NetworkX counts pairs of adjacent out-neighbours here, not directed triangles
        raise Refused("directed graphs")
    degree = np.diff(G.ptr) - np.bincount(G.rows[G.rows == G.cols], minlength=len(G))
    closed, pairs = _walks(G).sum(), (degree * (degree - 1)).sum()
    return 0 if not closed else (closed / pairs).item()


def clustering(G: Graph, nodes: NodeOrNodes = None, weight: str | None = None) -> Any:
    _require_simple(G)
    return _by_nodes(G, [share or 0 for share in _clustering_coefficients(G, weight).tolist()], nodes)


def average_clustering(
    G: Graph, nodes: NodeOrNodes = None, weight: str | None = None, count_zeros: bool = True
) -> float:
    shares = list(clustering(G, nodes, weight).values())
    if not count_zeros:
        shares = [share for share in shares if abs(share) > 0]
    return sum(shares) / len(shares)


def _clustering_coefficients(G: Graph, weight: str | None) -> np.ndarray:
    """The local clustering coefficient of each node; with weights, a triangle counts the cube root of its weight
    product.

    Fagiolo: Clustering in complex directed networks. Physical Review E 76 (2007), for directed graphs.
    """
    W = G.loopless
    if not len(G.cols):
        return np.zeros(len(G))
    if weight is not None:
        # W = cbrt(weights / the largest)
        W = G.matrix(weight).select(gb.select.offdiag).new()
        W = W.apply(gb.binary.truediv, right=float(G.values_of(weight).max())).new().apply(gb.unary.cbrt).new()
    if not G.directed:
        walks = _walks(G) if weight is None else _rows(_closed_at(W))
        degree = _rows(G.loopless.apply(gb.unary.one).new(gb.dtypes.INT64))
        return _divided(walks, degree * (degree - 1))
    # S = W + W'; c = diag(S^3) / (2 (d (d - 1) - 2 b)), d = in + out degree, b = reciprocal edges
    kind = gb.dtypes.INT64 if weight is None else gb.dtypes.FP64
    one = lambda X: X.apply(gb.unary.one).new(gb.dtypes.INT64)
    W, A = (one(W) if weight is None else W), one(G.loopless)
    S = W.ewise_add(W.T, gb.binary.plus).new(kind)
    degree = _rows(A) + _rows(A.T.new())
    both = _rows(A.ewise_mult(A.T, gb.binary.times).new())
    return _divided(_rows(_closed_at(S)), (degree * (degree - 1) - 2 * both) * 2)


def _closed_at(S: gb.Matrix) -> gb.Matrix:
    """C = (S S)<S> .* S; for a symmetric S its row sums are diag(S^3). (S S)<S> are the two-step walks between the ends
    of each edge, which close a triangle."""
    return S.mxm(S, gb.semiring.plus_times).new(mask=S.S).ewise_mult(S, gb.binary.times).new()


def _divided(walks: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    return np.divide(walks, pairs, out=np.zeros(len(walks)), where=walks != 0)


def square_clustering(G: Graph, nodes: NodeOrNodes = None) -> Any:
    A = G.loopless
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    degree = _rows(A.apply(gb.unary.one).new(gb.dtypes.INT64))
    # P = A plus.pair A' off the diagonal: common neighbours of each pair of nodes
    P = A.mxm(A.T, plus_pair).new().select(gb.select.offdiag).new()
    # squares = row sums of P (P - 1) / 2; potential = (A d - d) (d - 1) - 2 triangles - squares
    pairs = P.ewise_mult(P.apply(gb.binary.minus, right=1).new(), gb.binary.times).new()
    squares = _rows(pairs) // 2
    triangles = _walks(G)
    around = host(A.mxv(gb.Vector.from_dense(degree), gb.semiring.plus_second[gb.dtypes.INT64]).new(), 0)
    potential = (around - degree) * (degree - 1) - triangles - squares
    found = np.divide(squares, potential, out=np.zeros(len(G)), where=(potential > 0) & (degree > 1))
    return _by_nodes(G, [share or 0 for share in found.tolist()], nodes)


# ---- networkx.algorithms.core: core numbers and k-truss.


def core_number(G: Graph) -> dict[Node, int]:
    _require_loopless(G)
    if not len(G):
        return {}
    INT64 = gb.dtypes.INT64
    A = G.matrix()
    S = A.ewise_add(A.T, gb.binary.plus).new() if G.directed else A
    core, k = gb.Vector(INT64, len(G)), 0
    # d = S plus.first 1: the degree of each remaining node
    d = gb.Vector.from_dense(G.degree.array)
    while d.nvals:
        k = max(k, d.reduce(gb.monoid.min, allow_empty=False).new().value)
        # q = d<d <= k>; core<q> = k
        q = d.select(gb.select.valuele, k).new()
        core(q.S) << k
        # left<!q> = d; left -= q plus.times S, at the remaining nodes; d = left
        left = gb.Vector(INT64, len(G))
        left(~q.S) << d
        lost = gb.Vector(INT64, len(G))
        lost(left.S) << q.apply(gb.unary.one).new().vxm(S, gb.semiring.plus_times[INT64])
        left(gb.binary.minus) << lost
        d = left
    return G.by_node(host(core))


def _require_loopless(G: Graph) -> None:
    if (G.rows == G.cols).any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )


def k_truss(G: Graph, k: int) -> Graph:
    _require_loopless(G)
    if k < 3:  # every edge qualifies; nodes without edges are dropped
        kept = np.ones(len(G.cols), bool)
    else:
        T = algorithms.k_truss(G.structure, int(np.ceil(k)))
        rows, cols = (ends.astype(np.int64) for ends in entries(T)[:2])
        kept = np.zeros(len(G.cols), bool)
        kept[entries_at(G, rows, cols)] = True
    return G.part(np.bincount(G.rows[kept], minlength=len(G)) > 0, kept)


# ---- networkx.algorithms.assortativity: average neighbour degree.


def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: Nodes | None = None, weight: str | None = None
) -> Scores:
    for name, side in (("source", source), ("target", target)) if G.directed else ():
        if side not in ("in", "out", "in+out"):
            raise nx.NetworkXError(f"{name} argument {side} must be 'in', 'out' or 'in+out'")
    if not G.directed and (source, target) != ("out", "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    source_degrees, target_degrees = (Degrees(G, side if G.directed else "all") for side in (source, target))
    count, degree = source_degrees(weight=weight).array, target_degrees.array
    if weight is None or fits_int64(G.values_of(weight), 2 * int(degree.max(initial=0))):
        sums = _neighbor_sums(G, source, weight, degree)
    else:
        sums = _long_sums(G, source, weight, degree)
    found = [one / k if k else 0.0 for one, k in zip(sums.tolist(), count.tolist())]
    return {node: found[G.number[node]] for node in G.nbunch_iter(nodes)}


def _neighbor_sums(G: Graph, source: str, weight: str | None, degree: np.ndarray) -> np.ndarray:
    """For each node, the sum of its neighbours' degrees times the edge weights."""
    A, d = G.matrix(weight), gb.Vector.from_dense(degree)
    plus_times = gb.semiring.plus_times
    # sum = A plus.times d over successors, A' plus.times d over predecessors
    behind = host(A.mxv(d, plus_times).new(), 0) if "out" in source else 0
    before = host(d.vxm(A, plus_times).new(), 0) if "in" in source and G.directed else 0
    return np.zeros(len(G), A.dtype.np_type) + behind + before


def _long_sums(G: Graph, source: str, weight: str, degree: np.ndarray) -> np.ndarray:
    """The same as Python ints, for integer sums that may exceed INT64."""
    values = split_words(entry_values(G, weight))

    def over(ends: np.ndarray, at: np.ndarray) -> np.ndarray:
        return join_words(*(sum_by_group(word * degree[ends], at, len(G)) for word in values))

    none = np.zeros(len(G), object)
    behind = over(G.cols, G.rows) if "out" in source else none
    before = over(G.rows, G.cols) if "in" in source and G.directed else none
    return behind + before


# ---- networkx.algorithms.reciprocity: the fraction of edges whose reverse exists.


def reciprocity(G: Graph, nodes: NodeOrNodes = None) -> float | dict[Node, float | None] | None:
    if nodes is None:
        return overall_reciprocity(G)
    A = G.structure
    # r = 2 * row sums of (A .* A') / (out-degree + in-degree)
    both = A.ewise_mult(A.T, gb.binary.pair).new().reduce_rowwise(gb.monoid.plus[gb.dtypes.INT64]).new()
    there, edges = host(both, 0).tolist(), (np.diff(G.ptr) + np.diff(G.transposed.ptr)).tolist()
    share = lambda k: 2 * there[k] / edges[k] if edges[k] else None
    if nodes not in G:
        return {node: share(G.number[node]) for node in G.nbunch_iter(nodes)}
    if not edges[G.number[nodes]]:
        raise nx.NetworkXError("Not defined for isolated nodes.")
    return share(G.number[nodes])


def overall_reciprocity(G: Graph) -> float:
    if not len(G.cols):
        raise nx.NetworkXError("Not defined for empty graphs")
    A, edges = G.structure, len(G.cols)
    loops = int((G.rows == G.cols).sum())
    # r = (nvals(A .* A') - loops) / nvals(A); in NetworkX's undirected copy a self loop is one edge, not two
    both = A.ewise_mult(A.T, gb.binary.pair).new().nvals
    return (both - loops) / edges


# ---- networkx.algorithms.tournament: exactly one directed edge between every two nodes.


def is_tournament(G: Graph) -> bool:
    n = len(G)
    # nvals(A) = n (n - 1) / 2, no loops, and nvals(A .* A') = 0
    A = G.loopless
    return len(G.cols) == A.nvals == n * (n - 1) // 2 and A.ewise_mult(A.T, gb.binary.pair).new().nvals == 0


# ---- networkx.algorithms.triads: directed graphs of three nodes.


def is_triad(G: Graph) -> bool:
    return len(G) == 3 and G.directed and not (G.rows == G.cols).any()


# ---- networkx.algorithms.link_prediction: similarity scores of node pairs.

Pairs = Iterator[tuple[Node, Node, float]]


def _pairs(G: Graph, ebunch: Iterable[Edge] | None) -> tuple[list[Edge], np.ndarray, np.ndarray]:
    """The requested pairs and their numbers; all non-adjacent pairs if None."""
    if ebunch is None:
        # pairs = triu(!A, 1)
        missing = np.ones((len(G), len(G)), bool)
        missing[G.rows, G.cols] = False
        u, v = np.nonzero(np.triu(missing, 1))
        return list(zip(G.nodes_at(u), G.nodes_at(v))), u, v
    pairs = list(ebunch)
    for pair in pairs:
        for node in pair:
            if node not in G:
                raise nx.NodeNotFound(f"Node {node} not in G.")
    u, v = (G.numbers(pair[end] for pair in pairs) for end in (0, 1))
    return pairs, u, v


def _common(G: Graph, u: np.ndarray, v: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """For each pair, the count or weight sum of the common neighbours, excluding the pair itself."""
    n, A = len(G), G.loopless
    if not len(u):
        return np.zeros(0)
    at = gb.Matrix.from_coo(u, v, True, nrows=n, ncols=n)
    if weights is None:
        # C<pairs> = A plus.pair A'
        C = A.mxm(A.T, gb.semiring.plus_pair[gb.dtypes.INT64]).new(mask=at.S)
    else:
        # C<pairs> = (A plus.first weights) A'
        D = gb.Vector.from_dense(weights).diag()
        C = A.mxm(D, gb.semiring.plus_second).new().mxm(A.T, gb.semiring.plus_first).new(mask=at.S)
    rows, cols, values = entries(C)
    return _values_at(rows * n + cols, values, u * n + v)


def _values_at(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The values of ascending keys at those wanted, 0 where missing."""
    at = np.searchsorted(keys, wanted)
    return np.where(np.append(keys.astype(np.int64), -1)[at] == wanted, np.append(values, 0)[at], 0)


def _scored(G: Graph, ebunch: Iterable[Edge] | None, score: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Pairs:
    pairs, u, v = _pairs(G, ebunch)
    return ((*pair, value) for pair, value in zip(pairs, score(u, v).tolist()))


def jaccard_coefficient(G: Graph, ebunch: Iterable[Edge] | None = None) -> Pairs:
    degree = np.diff(G.ptr)

    def score(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        common = _common(G, u, v)
        joined = degree[u] + degree[v] - _shared(G, u, v)
        return np.divide(common, joined, out=np.zeros(len(u)), where=joined > 0)

    return _scored(G, ebunch, score)


def _shared(G: Graph, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The number of shared neighbours, including the pair itself at self loops."""
    loop = np.zeros(len(G), bool)
    loop[G.rows[G.rows == G.cols]] = True
    edge = _values_at(np.sort(G.rows * len(G) + G.cols), np.ones(len(G.cols), np.int64), u * len(G) + v)
    return np.where(u == v, np.diff(G.ptr)[u], _common(G, u, v) + edge * (loop[u].astype(int) + loop[v]))


def adamic_adar_index(G: Graph, ebunch: Iterable[Edge] | None = None) -> Pairs:
    degree = G.degree.array
    with np.errstate(divide="ignore"):
        share = 1 / np.log(np.where(degree == 1, 1, np.maximum(degree, 2)))

    def score(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        found = _common(G, u, v, share)
        if np.isinf(found).any():  # a pair (v, v) with a neighbour of degree 1
            raise ZeroDivisionError("float division by zero")
        return found

    return _scored(G, ebunch, score)


def resource_allocation_index(G: Graph, ebunch: Iterable[Edge] | None = None) -> Pairs:
    share = 1 / np.maximum(G.degree.array, 1)
    return _scored(G, ebunch, lambda u, v: _common(G, u, v, share))


def preferential_attachment(G: Graph, ebunch: Iterable[Edge] | None = None) -> Pairs:
    degree = G.degree.array
    return _scored(G, ebunch, lambda u, v: degree[u] * degree[v])
