"""Maximal matching: disjoint edges to which no edge can be added.

Method: edges are ordered by falling weight or at random. In a round every vertex chooses its first remaining edge; an
edge chosen by both ends is matched, and all edges at its ends are removed. The result is that of the greedy algorithm
in this order: maximal, with at least half the edges of a maximum matching or, by weight, half of the maximum weight.

State: i[k] and j[k] are the ends of edge k, numbered in order; near[k] = k for remaining edges. free marks the
unmatched vertices.

Input: A with symmetric structure and values; self loops are ignored. A bipartite graph is given as an undirected graph.

Check: NetworkX's is_maximal_matching; the greedy algorithm by weight.

Blelloch, Fineman, Shun: Greedy sequential maximal independent set and matching are parallel on average. SPAA 2012.
Preis: Linear time 1/2-approximation algorithm for maximum weighted matching in general graphs. STACS 1999.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import gather_values, random_hash


@algorithm(graph="undirected", answer="vertex per vertex", arrays=(8, 20))
def maximal_matching(A, *, weighted=False, seed=None, gb=None):
    """A maximal matching of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). weighted: bool, order edges by falling weight;
    else at random. seed: int, or None for 0: the same seed gives the same matching on every device and library. gb: the
    library, bitblas if None.
    Returns a Vector, INT64, size n: the partner of each matched vertex, no entry elsewhere.
    Raises InvalidValue (A not symmetric, a weight is NaN), DimensionMismatch (A not square), TypeError (wrong types).
    """
    check.flag("weighted", weighted)
    seed = 0 if seed is None else check.integer("seed", seed)
    loop = loops.cached_loop(_choosing, A, gb, weighted, seed)
    return loop.evaluate("mate", gb)


def _choosing(A, gb, weighted, seed):
    n, minimum = A.nrows, gb.binary.min
    # i, j = tril(A, -1), in the order of matching
    i, j, w = A.select(gb.select.tril, -1).new().to_coo()
    i, j = i.astype("int64"), j.astype("int64")
    order = random_hash(i, seed, 1) << 16 ^ random_hash(j, seed, 2)
    order = order.argsort(kind="stable")
    if weighted:
        check.no_nan(gb, "A", not (w != w).any())
        w = w.astype("float64") if A.dtype == gb.dtypes.BOOL else w
        order = order[w[order].argsort(kind="stable")[::-1]]
    m = len(i)
    kind = gb.dtypes.INT32 if max(n, m) < 2**31 - 1 else gb.dtypes.INT64  # half the bytes if INT32 suffices
    i, j = (gb.Vector.from_dense(x[order].astype(kind.np_type)) for x in (i, j))
    edge = gb.Vector.from_scalar(0, m).apply(gb.indexunary.index).new(kind)
    mate, near = gb.Vector(gb.dtypes.INT64, n), gb.Vector(kind, m)

    def begin():
        # free = all; mate = none; near = k
        free = gb.Vector(gb.dtypes.BOOL, n)
        free << True
        mate.clear()
        near << edge
        return (free,)

    def body(_, free):
        # first[v] = min k over the edges at v
        edges, k = near.to_coo()
        u, v = i.to_dense()[edges], j.to_dense()[edges]
        first = gb.Vector.from_scalar(m, n, dtype=kind)
        first(minimum) << gb.Vector.from_coo(u, k, size=n, dup_op=minimum)
        first(minimum) << gb.Vector.from_coo(v, k, size=n, dup_op=minimum)
        # both<k == min(first[i[k]], first[j[k]])> = k; mate[i] = j; mate[j] = i
        both = gb.Vector(kind, m)
        both(near.S) << gb.binary.min(gather_values(first, i) & gather_values(first, j)).new()
        both(gb.binary.eq(both & near).new().V, gb.replace) << both
        edges, _ = both.to_coo()
        u, v = i.to_dense()[edges], j.to_dense()[edges]
        mate(minimum) << gb.Vector.from_coo(u, v, gb.dtypes.INT64, size=n, dup_op=minimum)
        mate(minimum) << gb.Vector.from_coo(v, u, gb.dtypes.INT64, size=n, dup_op=minimum)
        # free = !mate; near<free[i] & free[j], replace> = near
        free << True
        free(mate.S) << False
        near(gb.binary.land(gather_values(free, i) & gather_values(free, j)).new().V, gb.replace) << near

    return {"begin": begin, "body": body, "while_": near, "mate": mate}
