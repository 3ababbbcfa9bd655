"""networkx.algorithms.assortativity, reciprocity, tournament, triads: degrees of neighbours, edges and their
reverses."""

from __future__ import annotations

import networkx as nx
import numpy as np

import bitblas as gb

from .arrays import Node, NodeOrNodes, Nodes, Scores, fits_int64, join_words, split_words, sum_by_group
from .graph import Degrees, Graph, entry_values
from .searches import host

# ---- networkx.algorithms.assortativity: average neighbour degree.


def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: Nodes | None = None, weight: str | None = None
) -> Scores:
    for name, side in (("source", source), ("target", target)) if G.directed else ():
        if side not in ("in", "out", "in+out"):
            raise nx.NetworkXError(f"{name} argument {side} must be 'in', 'out' or 'in+out'")
    if not G.directed and (source, target) != ("out", "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    source_degrees, target_degrees = (Degrees(G, side if G.directed else "all") for side in (source, target))
    count, degree = source_degrees(weight=weight).array, target_degrees.array
    if weight is None or fits_int64(G.values_of(weight), 2 * int(degree.max(initial=0))):
        sums = _neighbor_sums(G, source, weight, degree)
    else:
        sums = _long_sums(G, source, weight, degree)
    found = [one / k if k else 0.0 for one, k in zip(sums.tolist(), count.tolist())]
    return {node: found[G.number[node]] for node in G.nbunch_iter(nodes)}


def _neighbor_sums(G: Graph, source: str, weight: str | None, degree: np.ndarray) -> np.ndarray:
    """For each node, the sum of its neighbours' degrees times the edge weights."""
    A, d = G.matrix(weight), gb.Vector.from_dense(degree)
    plus_times = gb.semiring.plus_times
    # sum = A plus.times d over successors, A' plus.times d over predecessors
    behind = host(A.mxv(d, plus_times).new(), 0) if "out" in source else 0
    before = host(d.vxm(A, plus_times).new(), 0) if "in" in source and G.directed else 0
    return np.zeros(len(G), A.dtype.np_type) + behind + before


def _long_sums(G: Graph, source: str, weight: str, degree: np.ndarray) -> np.ndarray:
    """The same as Python ints, for integer sums that may exceed INT64."""
    values = split_words(entry_values(G, weight))

    def over(ends: np.ndarray, at: np.ndarray) -> np.ndarray:
        return join_words(*(sum_by_group(word * degree[ends], at, len(G)) for word in values))

    none = np.zeros(len(G), object)
    behind = over(G.cols, G.rows) if "out" in source else none
    before = over(G.rows, G.cols) if "in" in source and G.directed else none
    return behind + before


# ---- networkx.algorithms.reciprocity: the fraction of edges whose reverse exists.


def reciprocity(G: Graph, nodes: NodeOrNodes = None) -> float | dict[Node, float | None] | None:
    if nodes is None:
        return overall_reciprocity(G)
    A = G.structure
    # r = 2 * row sums of (A .* A') / (out-degree + in-degree)
    both = A.ewise_mult(A.T, gb.binary.pair).new().reduce_rowwise(gb.monoid.plus[gb.dtypes.INT64]).new()
    there, edges = host(both, 0).tolist(), (np.diff(G.ptr) + np.diff(G.transposed.ptr)).tolist()
    share = lambda k: 2 * there[k] / edges[k] if edges[k] else None
    if nodes not in G:
        return {node: share(G.number[node]) for node in G.nbunch_iter(nodes)}
    if not edges[G.number[nodes]]:
        raise nx.NetworkXError("Not defined for isolated nodes.")
    return share(G.number[nodes])


def overall_reciprocity(G: Graph) -> float:
    if not len(G.cols):
        raise nx.NetworkXError("Not defined for empty graphs")
    A, edges = G.structure, len(G.cols)
    loops = int((G.rows == G.cols).sum())
    # r = (nvals(A .* A') - loops) / nvals(A); in NetworkX's undirected copy a self loop is one edge, not two
    both = A.ewise_mult(A.T, gb.binary.pair).new().nvals
    return (both - loops) / edges


# ---- networkx.algorithms.tournament: exactly one directed edge between every two nodes.


def is_tournament(G: Graph) -> bool:
    n = len(G)
    # nvals(A) = n (n - 1) / 2, no loops, and nvals(A .* A') = 0
    A = G.loopless
    return len(G.cols) == A.nvals == n * (n - 1) // 2 and A.ewise_mult(A.T, gb.binary.pair).new().nvals == 0


# ---- networkx.algorithms.triads: directed graphs of three nodes.


def is_triad(G: Graph) -> bool:
    return len(G) == 3 and G.directed and not (G.rows == G.cols).any()
