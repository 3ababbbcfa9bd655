"""networkx.algorithms.link_analysis: PageRank, hubs and authorities."""

from __future__ import annotations

import networkx as nx
import numpy as np

import bitblas as gb

from .exceptions import Refused
from .graph import Graph
from .power_iteration import as_array, power_iteration, vector
from .searches import host
from .typing import Scores, Start

# ---- networkx.algorithms.link_analysis.hits_alg: hubs and authorities.

# NetworkX computes the dominant singular vector with ARPACK, exact to rounding for any tol. Power iteration only gets
# close if the next singular value is clearly smaller.
ROUNDS = 1000


def hits(
    G: Graph, max_iter: int = 100, tol: float = 1e-8, nstart: Start | None = None, normalized: bool = True
) -> tuple[Scores, Scores]:
    if not len(G):
        return {}, {}
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    start = np.ones(len(G)) if nstart is None else np.array(list(nstart.values()))
    clear = start.shape == (len(G),) and start.dtype.kind == "f" and np.isfinite(start).all() and start.any()
    if len(G) == 1 or not clear or not 0 <= tol < np.inf or not G.values_of("weight").any():
        return nx.hits.orig_func(G, max_iter, tol, nstart, normalized)  # SciPy raises its own errors for these
    A, a = G.matrix("weight").dup(gb.dtypes.FP64), vector(start)
    for _ in range(ROUNDS):
        # h = A plus.times a; a = A' plus.times h; a = a / |a|
        before, h = a, A.mxv(a, gb.semiring.plus_times).new()
        a = vector(_unit(host(h.vxm(A, gb.semiring.plus_times).new(), 0.0)))
        if np.abs(host(a) - host(before)).max() < 1e-15:
            break
    else:
        raise Refused(f"singular values too close to separate in {ROUNDS} rounds")
    hubs, authorities = host(A.mxv(a, gb.semiring.plus_times).new(), 0.0), host(a)
    if normalized:
        hubs, authorities = hubs / hubs.sum(), authorities / authorities.sum()
    return G.by_node(hubs), G.by_node(authorities)


def _unit(x: np.ndarray) -> np.ndarray:
    return x / (np.sqrt(x @ x) or 1.0)


# ---- networkx.algorithms.link_analysis.pagerank_alg: PageRank.


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Start | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Start | None = None,
    weight: str | None = "weight",
    dangling: Start | None = None,
) -> Scores:
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

    def step(x: gb.Vector) -> gb.Vector:
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
