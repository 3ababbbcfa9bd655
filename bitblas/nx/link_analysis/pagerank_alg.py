"""networkx.algorithms.link_analysis.pagerank_alg: PageRank."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import bitblas as gb

from ..graph import Graph
from ..power_iteration import as_array, power_iteration, vector
from ..searches import host


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
) -> dict[Any, float]:
    n = len(G)
    if not n:
        return {}
    A = G.matrix(weight)
    even = np.repeat(1 / n, n)
    jumps = even if personalization is None else as_array(G, personalization)
    if not jumps.sum():
        raise ZeroDivisionError
    jumps = _shares(jumps)
    rests = jumps if dangling is None else _shares(as_array(G, dangling))
    start = even if nstart is None else _shares(as_array(G, nstart))
    if not (np.isfinite(start) & np.isfinite(jumps) & np.isfinite(rests)).all():  # NaN never converges
        raise nx.PowerIterationFailedConvergence(max_iter)
    total = host(A.reduce_rowwise(gb.monoid.plus[gb.dtypes.FP64]).new(), 0.0)
    flows = np.flatnonzero(total)
    # w = alpha / row sums of A; dangling nodes have no entry
    w = gb.Vector.from_coo(flows, alpha / total[flows], gb.dtypes.FP64, size=n)
    jump, rest = vector((1 - alpha) * jumps), vector(alpha * rests)
    stuck = vector(total == 0)

    def step(x: Any) -> Any:
        # y = (1 - alpha) jumps + (x . stuck) alpha rests + (x .* w) plus.times A
        y = jump.dup()
        lost = float(x.inner(stuck, gb.semiring.plus_times).new().value or 0.0)
        y(gb.binary.plus) << rest.apply(gb.binary.times, right=lost)
        y(gb.binary.plus) << gb.binary.times(x & w).new().vxm(A, gb.semiring.plus_times)
        return y

    return G.by_node(host(power_iteration(vector(start), step, tol, max_iter)))


def _shares(values: np.ndarray) -> np.ndarray:
    """An array divided by its sum; NaN if the sum is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return values / values.sum()
