"""networkx.algorithms.centrality.eigenvector: a node is as central as those before it, summed."""

from __future__ import annotations

from typing import Any

import networkx as nx

import bitblas as gb

from ..graph import Graph
from ..powers import given, length, power_iteration, vector
from ..walk import host


def eigenvector_centrality(
    G: Graph, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, weight: str | None = None
) -> dict[Any, float]:
    if not len(G):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    start = given(G, nstart if nstart is not None else dict.fromkeys(G, 1))
    if not start.any():
        raise nx.NetworkXError("initial vector cannot have all zero values")
    A = G.matrix(weight)

    def step(x: Any) -> Any:
        # x += x plus.times A; x = x / |x|
        y = x.dup()
        y(gb.binary.plus) << x.vxm(A, gb.semiring.plus_times)
        return y.apply(gb.binary.truediv, right=length(y) or 1.0).new()

    return G.by_node(host(power_iteration(vector(start / start.sum()), step, tol, max_iter)))
