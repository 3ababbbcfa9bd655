"""networkx.algorithms.centrality.katz: all walks to a node, shorter by a factor of alpha per edge."""

from __future__ import annotations

from typing import Any

import networkx as nx

import bitblas as gb

from ..graph import Graph
from ..powers import given, length, power_iteration, vector
from ..walk import host


def katz_centrality(
    G: Graph, alpha: float = 0.1, beta: Any = 1.0, max_iter: int = 1000, tol: float = 1e-6, nstart: Any = None,
    normalized: bool = True, weight: str | None = None,
) -> dict[Any, float]:  # fmt: skip
    if not len(G):
        return {}
    try:
        own = vector(given(G, dict.fromkeys(G, float(beta))))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        own = vector(given(G, beta))
    A = G.matrix(weight)

    def step(x: Any) -> Any:
        # y = beta; y += alpha (x plus.times A)
        y = own.dup()
        y(gb.binary.plus) << x.apply(gb.binary.times, right=alpha).new().vxm(A, gb.semiring.plus_times)
        return y

    found = host(power_iteration(vector(given(G, nstart or {})), step, tol, max_iter))
    norm = length(vector(found)) if normalized else 1.0
    return G.by_node(found / (norm or 1.0))
