"""networkx.algorithms.cluster and core: triangles, squares, clustering, transitivity, core numbers, k-truss."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas import algorithms

from .arrays import Node, NodeOrNodes, Refused
from .graph import Graph, entries_at
from .searches import host

# ---- networkx.algorithms.cluster: triangles, squares, clustering coefficients, transitivity.


def _closed(S: gb.Matrix) -> gb.Matrix:
    """C<S> = S plus.times S: two-step walks between the ends of each edge, which close a triangle."""
    return S.mxm(S, gb.semiring.plus_times).new(mask=S.S)


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
    device, (rows, _, counts) = C.device, C.to_coo()
    rows, counts = device.to_host(rows), device.to_host(counts).tolist()
    limits = np.searchsorted(rows, np.arange(len(G) + 1)).tolist()
    return _by_nodes(G, [Counter(counts[low:high]) for low, high in pairwise(limits)], nodes)


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
    """C = (S S)<S> .* S; for a symmetric S its row sums are diag(S^3)."""
    return _closed(S).ewise_mult(S, gb.binary.times).new()


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
        rows, cols, _ = (T.device.to_host(x).astype(np.int64) for x in T.to_coo())
        kept = entries_at(G, rows, cols)
    return G.part(np.bincount(G.rows[kept], minlength=len(G)) > 0, kept)
