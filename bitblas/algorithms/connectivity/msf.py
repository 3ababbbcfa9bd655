"""Minimum spanning forest: the lightest edges that connect all that an undirected graph connects.

Method: Boruvka. In a round every component chooses the lightest edge that leaves it, and components that chose a
common edge become one. Edges are numbered from the lightest to the heaviest, equal weights in the order of their
places: with one number for each edge no two are equally light, so the chosen edges never close a cycle.

State: f[u] is the smallest vertex of the component of u. The edges that still leave a component are kept as arrays of
their numbers k, lightest first, and of the components u and v that they join. p[c] is the component that c joins, c
itself where it stays.

Input: A with symmetric structure and values; only its part below the diagonal is read. Weights may be negative or
infinite; False is lighter than True.

Check: Kruskal's algorithm.

Boruvka: O jistem problemu minimalnim. Prace Moravske Prirodovedecke Spolecnosti 3 (1926).
Chung, Condon: Parallel implementation of Boruvka's minimum spanning tree algorithm. IPPS 1996.
"""

from .. import _check as check
from .. import _watch as watch
from .._roots import at, roots


@check.on_its_device
def minimum_spanning_forest(A, *, gb=None):
    """A spanning forest of least total weight.

    A: Matrix, n x n, any dtype, symmetric (not checked). gb: the library, bitblas if None.
    Returns a Matrix, n x n, of A's dtype: the chosen edges with their weights, each both ways, so that it is an
    undirected graph again. It has 2 (n - number of components) entries, and the sum of all is twice the total weight.
    Raises InvalidValue (a weight is NaN), DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    index, minimum = gb.indexunary.index, gb.binary.min

    # i, j, w: L = tril(A, -1), its entries from the lightest on
    i, j, w = A.select(gb.select.tril, -1).new().to_coo()
    order = w.argsort(kind="stable")
    i, j, w = i[order], j[order], w[order]
    check.numbers(gb, "A", not (w[-1:] != w[-1:]).any())  # NaN is sorted last
    k, u, v = gb.Vector.from_scalar(True, len(w)).to_coo()[0].astype("int64"), i, j
    # f[u] = p[u] = u
    f = gb.Vector.from_scalar(0, n).apply(index).new()
    alone = f.dup()
    chosen = gb.Vector(gb.dtypes.BOOL, len(w))

    while True:
        # u = f[u], v = f[v]: an edge of components; keep those for which u != v
        label = f.to_dense()
        u, v = label[u], label[v]
        (leaving,) = (u != v).nonzero()
        u, v, k = u[leaving], v[leaving], k[leaving]
        if not len(k):
            break
        # best[c] = min k over the edges at c
        best = gb.Vector.from_coo(u, k, size=n, dup_op=minimum)
        best(minimum) << gb.Vector.from_coo(v, k, size=n, dup_op=minimum)
        # chosen[best] = true
        c, edge = best.to_coo()
        chosen(gb.Vector.from_coo(edge, True, size=len(w)).S) << True
        # p[c] = the component at the other end
        p = alone.dup()
        p[c] = label[i[edge]] + label[j[edge]] - c.astype("int64")
        # p<p[p] == u> min= u: of two that chose each other, the smaller one stays
        mutual = gb.binary.eq(at(p, p) & alone).new()
        p(mutual.V, minimum) << alone
        # p = p[p] until nothing changes; f = p[f]
        f = at(roots(p), f)
        watch.tell()

    # F = the chosen edges, and their transposes
    kept = chosen.to_coo()[0]
    F = gb.Matrix.from_coo(i[kept], j[kept], w[kept], A.dtype, nrows=n, ncols=n)
    F << gb.binary.first(F | F.T)
    return F
