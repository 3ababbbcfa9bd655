"""networkx.algorithms.core: core numbers and k-truss."""

from __future__ import annotations

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas import algorithms

from .graph import Graph, entries_at
from .searches import host
from .typing import Node


def core_number(G: Graph) -> dict[Node, int]:
    _loopless(G)
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


def _loopless(G: Graph) -> None:
    if (G.rows == G.cols).any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )


def k_truss(G: Graph, k: int) -> Graph:
    _loopless(G)
    if k < 3:  # every edge qualifies; nodes without edges are dropped
        kept = np.ones(len(G.cols), bool)
    else:
        T = algorithms.k_truss(G.structure, int(np.ceil(k)))
        rows, cols, _ = (T.device.to_host(x).astype(np.int64) for x in T.to_coo())
        kept = entries_at(G, rows, cols)
    return G.part(np.bincount(G.rows[kept], minlength=len(G)) > 0, kept)
