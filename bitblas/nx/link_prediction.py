"""networkx.algorithms.link_prediction: similarity scores of node pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import networkx as nx
import numpy as np

import bitblas as gb

from .arrays import Edge, Node
from .graph import Graph

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
    device, (rows, cols, values) = C.device, C.to_coo()
    rows, cols, values = device.to_host(rows), device.to_host(cols), device.to_host(values)
    keys, pair_keys = rows * n + cols, u * n + v
    found = np.minimum(np.searchsorted(keys, pair_keys), max(0, len(keys) - 1))
    present = keys[found] == pair_keys if len(keys) else np.zeros(len(u), bool)
    return np.where(present, values[found] if len(keys) else 0, 0)


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
    keys = np.sort(G.rows * len(G) + G.cols)
    pair_keys = u * len(G) + v
    found = np.searchsorted(keys, pair_keys)
    edge = (keys[np.minimum(found, len(keys) - 1)] == pair_keys) if len(keys) else np.zeros(len(u), bool)
    same = u == v
    return np.where(same, np.diff(G.ptr)[u], _common(G, u, v) + edge * (loop[u].astype(int) + loop[v]))


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
