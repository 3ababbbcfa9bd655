"""networkx.algorithms.centrality.eigenvector: eigenvector centrality."""

from __future__ import annotations

from typing import Any

import networkx as nx

import bitblas as gb

from ..graph import Graph
from ..power_iteration import as_array, check_start, power_iteration, two_norm, vector
from ..searches import host


def eigenvector_centrality(
    G: Graph, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, weight: str | None = None
) -> dict[Any, float]:
    if not len(G):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    start = dict.fromkeys(G, 1) if nstart is None else nstart
    if all(value == 0 for value in start.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    whole = sum(start.values())
    x = {node: value / whole for node, value in start.items()}
    if max_iter > 0:
        check_start(G, start)
    A = G.matrix(weight)

    def step(x: Any) -> Any:
        # y = x + x plus.times A; y = y / |y|
        y = x.dup()
        y(gb.binary.plus) << x.vxm(A, gb.semiring.plus_times)
        return y.apply(gb.binary.truediv, right=two_norm(y) or 1.0).new()

    found = G.by_node(host(power_iteration(vector(as_array(G, x)), step, tol, max_iter)))
    return {node: found[node] for node in start}
