"""networkx.algorithms.centrality and link_analysis: betweenness, closeness, eigenvector, Katz, PageRank, HITS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import bitblas as gb
from bitblas import algorithms

from .arrays import Node, Nodes, Refused, Scores, Start, exact_sum
from .graph import Graph, ascending_order
from .searches import distance_weights, distances, entries, host, require_node

# ---- Power iteration with NetworkX's stopping rule: the sum of absolute changes is below n tol.


def vector(values: np.ndarray) -> gb.Vector:
    """A full Vector, FP64."""
    return gb.Vector.from_dense(np.asarray(values, np.float64))


def as_array(G: Graph, values: Start, absent: float = 0.0) -> np.ndarray:
    """A dictionary by node as an array, `absent` where missing."""
    return np.array([values.get(node, absent) for node in G], np.float64)


def check_start(G: Graph, nstart: Start) -> None:
    """Raise KeyError like NetworkX's loops over `nstart`: for a node that is not in the graph, and for a neighbour that
    is not in `nstart`.
    """
    if len(nstart) == len(G) and all(node in nstart for node in G):
        return
    for node in nstart:
        if node not in G:
            raise KeyError(node)
        at = G.number[node]
        for near in G.nodes_at(G.cols[G.ptr[at] : G.ptr[at + 1]]):
            if near not in nstart:
                raise KeyError(near)


def power_iteration(x: gb.Vector, step: Callable[[gb.Vector], gb.Vector], tol: float, max_iter: int) -> gb.Vector:
    """x = step(x) until sum |change| < n tol. PowerIterationFailedConvergence after max_iter rounds."""
    for _ in range(max_iter):
        before, x = x, step(x)
        # error = sum |x - before|
        change = gb.binary.minus(x & before).new().apply(gb.unary.abs).new()
        if change.reduce(gb.monoid.plus, allow_empty=False).new().value < x.size * tol:
            return x
    raise nx.PowerIterationFailedConvergence(max_iter)


def two_norm(x: gb.Vector) -> float:
    """sqrt(x . x)"""
    return float(x.inner(x, gb.semiring.plus_times).new().value or 0.0) ** 0.5


# ---- networkx.algorithms.centrality: betweenness, closeness, harmonic, eigenvector and Katz centrality.

# ---- networkx.algorithms.centrality.betweenness: betweenness of nodes and edges.


def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> Scores:
    n = len(G)
    chosen = None if k is None or k == n else G.numbers(seed.sample(G.labels, k))
    if not n:
        return {}
    sources = range(n) if chosen is None else chosen.tolist()
    A, by_length = G.structure if weight is None else edge_lengths(G, weight), weight is not None
    found = host(algorithms.betweenness_centrality(A, list(sources), weighted=by_length, endpoints=endpoints), 0.0)
    scale = scales(n, chosen, normalized, G.directed, endpoints)
    return G.by_node(found if scale is None else found * scale)


def edge_lengths(G: Graph, weight: str) -> gb.Matrix:
    """The weight matrix. Raises Refused unless all weights are above 0."""
    if not (G.values_of(weight) > 0).all():
        raise Refused("weights of 0 and less")
    return distance_weights(G, weight)


def scales(n: int, sources: np.ndarray | None, normalized: bool, directed: bool, endpoints: bool) -> np.ndarray | None:
    """NetworkX's normalisation factor of the sum over the sources, per node; None for 1.

    A sum over k of the n sources is extrapolated to all of them. Without end points, a source lies on paths from one
    source fewer than other nodes do.
    """
    others = n if endpoints else n - 1  # possible ends, on either side, of a path through a node
    if others < 2:
        return None
    k = others if sources is None else len(sources)
    pairs = lambda k: k * (others - 1) if normalized else k * (1 if directed else 2) / others
    scale = np.full(n, 1 / pairs(k))
    if sources is not None and not endpoints:
        scale[sources] = 1 / pairs(k - 1) if k > 1 else np.nan
    return scale


def edge_betweenness_centrality(
    G: Graph, k: int | None = None, normalized: bool = True, weight: str | None = None, seed: Any = None
) -> Scores:
    n = len(G)
    sources = None if k is None or k == n else G.numbers(seed.sample(G.labels, k)).tolist()
    A = G.structure if weight is None else edge_lengths(G, weight)
    found = algorithms.edge_betweenness_centrality(A, sources, weighted=weight is not None)
    rows, cols, values = entries(found)
    if not G.directed:  # NetworkX sums both directions of an edge
        values = values + values[np.lexsort((rows, cols))]
    of_entry = np.empty(len(values))
    of_entry[ascending_order(G)[0]] = values
    scale = 1 / (n * (n - 1)) if normalized and n > 1 else 1 if G.directed or normalized else 0.5
    if sources is not None:
        scale *= n / len(sources)
    ends = zip(*(G.nodes_at(at) for at in G.edge_ends))
    return dict(zip(ends, (of_entry[slice(None) if G.kept is None else G.kept] * scale).tolist()))


# ---- networkx.algorithms.centrality.closeness and .harmonic: closeness and harmonic centrality.


def closeness_centrality(
    G: Graph, u: Node = None, distance: str | None = None, wf_improved: bool = True
) -> float | Scores:
    H, n = G.transposed, len(G)
    if u is None and distance is None and n:
        return G.by_node(host(algorithms.closeness_centrality(G.structure, improved=wf_improved)))
    found = {}
    for node in G if u is None else [u]:
        _, lengths = distances(H, require_node(G, node, f"Source {node} is not in G"), distance)
        far, others = exact_sum(lengths), len(lengths) - 1.0
        found[node] = 0.0
        if far > 0.0 and n > 1:
            found[node] = others / far * (others / (n - 1) if wf_improved else 1)
    return found if u is None else found[u]


def harmonic_centrality(
    G: Graph, nbunch: Nodes | None = None, distance: str | None = None, sources: Nodes | None = None
) -> Scores:
    if nbunch is None and distance is None and sources is None and len(G):
        return G.by_node(host(algorithms.harmonic_centrality(G.structure)))
    targets = set(G.nbunch_iter(nbunch))
    starts = set(G.nbunch_iter(sources))
    sums, few = np.zeros(len(G)), len(targets) < len(starts)
    # search from the smaller set, backwards if that is the targets
    H, ends = (G.transposed, G.numbers(starts)) if few else (G, np.zeros(0, np.int64))
    for source in G.numbers(targets if few else starts).tolist():
        at, lengths = distances(H, source, distance)
        at, lengths = at[lengths != 0], lengths[lengths != 0]
        if few:
            sums[source] = (1 / lengths[np.isin(at, ends)]).sum()
        else:
            sums[at] += 1 / lengths
    return {node: sums[G.number[node]].item() for node in targets}


# ---- networkx.algorithms.centrality.eigenvector: eigenvector centrality.


def eigenvector_centrality(
    G: Graph, max_iter: int = 100, tol: float = 1e-6, nstart: Start | None = None, weight: str | None = None
) -> Scores:
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

    def step(x: gb.Vector) -> gb.Vector:
        # y = x + x plus.times A; y = y / |y|
        y = x.dup()
        y(gb.binary.plus) << x.vxm(A, gb.semiring.plus_times)
        return y.apply(gb.binary.truediv, right=two_norm(y) or 1.0).new()

    found = G.by_node(host(power_iteration(vector(as_array(G, x)), step, tol, max_iter)))
    return {node: found[node] for node in start}


# ---- networkx.algorithms.centrality.katz: Katz centrality.


def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Start | None = None,
    normalized: bool = True,
    weight: str | None = None,
) -> Scores:
    if not len(G):
        return {}
    start = dict.fromkeys(G, 0) if nstart is None else nstart
    try:
        betas = dict.fromkeys(G, float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        betas = beta
    if max_iter > 0:
        check_start(G, start)
    constant = vector(as_array(G, {node: betas[node] for node in start if node in betas}))  # 0 at other nodes
    A = G.matrix(weight)

    def step(x: gb.Vector) -> gb.Vector:
        # y = beta; y += alpha (x plus.times A)
        y = constant.dup()
        y(gb.binary.plus) << x.apply(gb.binary.times, right=alpha).new().vxm(A, gb.semiring.plus_times)
        return y

    scores = host(power_iteration(vector(as_array(G, start)), step, tol, max_iter))
    norm = two_norm(vector(scores)) if normalized else 1.0
    found = G.by_node(scores / (norm or 1.0))
    return {node: found[node] for node in start}


# ---- networkx.algorithms.link_analysis: PageRank, hubs and authorities.

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
