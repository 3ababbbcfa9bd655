"""Minimum spanning forest: the lightest edges that connect all that an undirected graph connects.

Method: Boruvka. In a round every component chooses the lightest edge that leaves it, and components that chose a
common edge become one. Edges are numbered from the lightest to the heaviest, equal weights in the order of their
places: with one number for each edge no two are equally light, so the chosen edges never close a cycle.

State: near[k] = k for the edges that still leave a component; u[k] and v[k] are the components that they join, named
by one of their vertices. p[c] is the component that c joins, c itself where it stays.

Input: A with symmetric structure and values; only its part below the diagonal is read. Weights may be negative or
infinite; False is lighter than True.

Check: Kruskal's algorithm.

Boruvka: O jistem problemu minimalnim. Prace Moravske Prirodovedecke Spolecnosti 3 (1926).
Chung, Condon: Parallel implementation of Boruvka's minimum spanning tree algorithm. IPPS 1996.
"""

from .. import _check as check
from .._roots import at


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
    loop = check.loop(_boruvka, A, gb)
    i, j, w, chosen = (loop.state[name] for name in ("rows", "columns", "weights", "chosen"))
    if i.size:
        loop.run()
    # F = the chosen edges, and their transposes
    kept = chosen.to_coo()[0]
    i, j = i.to_dense()[kept], j.to_dense()[kept]
    F = gb.Matrix.from_coo(i, j, w[kept], A.dtype, nrows=n, ncols=n)
    F << gb.binary.first(F | F.T)
    return F


def _boruvka(A, gb):
    n, index, minimum = A.nrows, gb.indexunary.index, gb.binary.min
    # i, j, w: L = tril(A, -1), its entries from the lightest on
    i, j, w = A.select(gb.select.tril, -1).new().to_coo()
    order = w.argsort(kind="stable")
    w = w[order]
    check.numbers(gb, "A", not (w[-1:] != w[-1:]).any())  # NaN is sorted last
    m = len(w)
    kind = gb.dtypes.INT32 if max(n, m) < 2**31 - 1 else gb.dtypes.INT64  # half the bytes where they suffice
    i, j = (gb.Vector.from_dense(x[order].astype(kind.np_type)) for x in (i, j))
    edge, vertex = (gb.Vector.from_scalar(0, size).apply(index).new(kind) for size in (m, n))
    near, chosen, moved = gb.Vector(kind, m), gb.Vector(gb.dtypes.BOOL, m), gb.Vector(gb.dtypes.BOOL, n)

    def begin():
        u, v = gb.Vector(kind, m), gb.Vector(kind, m)
        u << i
        v << j
        near << edge
        chosen.clear()
        return u, v

    def body(_, u, v):
        # best[c] = min k over the edges at c; chosen[best] = true
        edges, k = near.to_coo()
        best = gb.Vector.from_coo(u.to_dense()[edges], k, size=n, dup_op=minimum)
        best(minimum) << gb.Vector.from_coo(v.to_dense()[edges], k, size=n, dup_op=minimum)
        chosen(gb.Vector.from_coo(best.to_coo()[1], True, size=m).S) << True
        # p[c] = the component at the other end of best[c]
        first = gb.Vector.from_scalar(0, n, dtype=kind)
        first(best.S) << best
        p = vertex.dup()
        p(best.S) << gb.binary.minus(gb.binary.plus(at(u, first) & at(v, first)).new() & vertex)
        # p<p[p] == c> min= c: of two that chose each other, the smaller one stays
        p(gb.binary.eq(at(p, p) & vertex).new().V, minimum) << vertex
        # p = p[p] until nothing changes
        moved << True
        check.repeat(lambda _: jump(p), while_=moved)
        # u<near> = p[u]; v<near> = p[v]; near<u != v, replace> = near
        u(near.S) << at(p, u)
        v(near.S) << at(p, v)
        near(gb.binary.ne(u & v).new().V, gb.replace) << near

    def jump(p):
        q = at(p, at(p, p))
        moved(gb.binary.ne(p & q).new().V, gb.replace) << True
        p << q

    return {
        "begin": begin, "body": body, "while_": near,
        "rows": i, "columns": j, "weights": w, "chosen": chosen,
    }  # fmt: skip
