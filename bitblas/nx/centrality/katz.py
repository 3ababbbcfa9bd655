"""networkx.algorithms.centrality.katz: Katz centrality."""

from __future__ import annotations

from typing import Any

import networkx as nx

import bitblas as gb

from ..graph import Graph
from ..power_iteration import as_array, check_start, power_iteration, two_norm, vector
from ..searches import host


def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    if not len(G):
        return {}
    start = dict.fromkeys(G, 0) if nstart is None else nstart
    try:
        own = dict.fromkeys(G, float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        own = beta
    if max_iter > 0:
        check_start(G, start)
    own = vector(as_array(G, {node: own[node] for node in start if node in own}))  # 0 at other nodes
    A = G.matrix(weight)

    def step(x: Any) -> Any:
        # y = beta; y += alpha (x plus.times A)
        y = own.dup()
        y(gb.binary.plus) << x.apply(gb.binary.times, right=alpha).new().vxm(A, gb.semiring.plus_times)
        return y

    scores = host(power_iteration(vector(as_array(G, start)), step, tol, max_iter))
    norm = two_norm(vector(scores)) if normalized else 1.0
    found = G.by_node(scores / (norm or 1.0))
    return {node: found[node] for node in start}
