"""Maximal matching: edges of which no two meet, and to which none can be added.

Method: edges have an order, the heaviest first, or a random one. In a round every vertex chooses the first edge at it
that is left; an edge that both ends choose is matched, and all edges at its ends go. The result is that of the greedy
search in this order: maximal, with at least half of the edges of a largest matching, and, by weight, at least half of
the largest weight.

State: the edges that are left, as arrays of their place k in the order and their ends u and v.

Input: A with symmetric structure and values; self loops do not matter. A bipartite graph is the undirected graph of
both its sides.

Check: NetworkX's is_maximal_matching; the greedy one by weight.

Blelloch, Fineman, Shun: Greedy sequential maximal independent set and matching are parallel on average. SPAA 2012.
Preis: Linear time 1/2-approximation algorithm for maximum weighted matching in general graphs. STACS 1999.
"""

from .. import _check as check
from .. import _watch as watch
from .._parts import numbers
from .._scores import drawn


@check.on_its_device
def maximal_matching(A, *, weighted=False, seed=None, gb=None):
    """A maximal matching of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric (not checked). weighted: bool, whether heavy edges come first; else edges
    come in a random order. seed: int, or None for 0: the same seed gives the same matching, on every device and
    library. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n: at each matched vertex the one that it is matched with, no entry elsewhere.
    Raises InvalidValue (a weight is NaN), DimensionMismatch (A not square), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    check.flag("weighted", weighted)
    seed = 0 if seed is None else check.integer("seed", seed)
    minimum = gb.binary.min

    # u, v: the edges, each once, in their order
    u, v, w = A.select(gb.select.tril, -1).new().to_coo()
    u, v = u.astype("int64"), v.astype("int64")
    order = drawn(u, seed, 1) << 16 ^ drawn(v, seed, 2)
    order = order.argsort(kind="stable")
    if weighted:
        check.numbers(gb, "A", not (w != w).any())
        w = w.astype("float64") if A.dtype == gb.dtypes.BOOL else w
        order = order[w[order].argsort(kind="stable")[::-1]]
    u, v = u[order], v[order]
    k, mate = numbers(len(u), gb), gb.Vector(gb.dtypes.INT64, n)
    while len(k):
        # first[x] = min k over the edges at x
        first = gb.Vector.from_coo(u, k, size=n, dup_op=minimum)
        first(minimum) << gb.Vector.from_coo(v, k, size=n, dup_op=minimum)
        first = first.to_dense(0)
        # mate[u] = v and mate[v] = u where both ends choose the edge
        (both,) = ((first[u] == k) & (first[v] == k)).nonzero()
        mate[u[both]] = v[both]
        mate[v[both]] = u[both]
        # what is left: edges between vertices without a mate
        free = mate.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False) ^ True
        (left,) = (free[u] & free[v]).nonzero()
        u, v, k = u[left], v[left], k[left]
        watch.tell()
    return mate
