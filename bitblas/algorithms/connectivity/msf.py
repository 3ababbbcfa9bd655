"""Minimum spanning forest: a spanning tree of least total weight for each component.

Method: Boruvka. In a round every component chooses its lightest outgoing edge, and components joined by chosen edges
merge. Edges are numbered by weight, ties by position: all numbers differ, so chosen edges never close a cycle. In dense
graphs the light edges are processed alone until none is left; most of the other edges then lie within one component.

State: light edges and other edges are each numbered from 0: near[k] = k if edge k still leaves a component; u[k] and
v[k] are the components that it joins, each named by one of its vertices. p[c] is the component that c joins, c itself
if none; root[x] is the component of vertex x. kept has an entry at the position of each chosen edge among the entries
of the graph with all edges both ways, row by row.

Input: A with symmetric structure and values; only the part below the diagonal is read. Weights may be negative or
infinite; False is lighter than True.

Check: Kruskal's algorithm.

Boruvka: O jistem problemu minimalnim. Prace Moravske Prirodovedecke Spolecnosti 3 (1926).
Chung, Condon: Parallel implementation of Boruvka's minimum spanning tree algorithm. IPPS 1996.
Fallin, Gonzalez, Seo, Burtscher: A high-performance MST implementation for GPUs. SC 2023, for the light edges first.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import gather_values


@algorithm(graph="undirected", answer="undirected graph", weighted=True, arrays=(48, 20))
def minimum_spanning_forest(A, *, gb=None):
    """A spanning forest of least total weight of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). gb: the library, bitblas if None.
    Returns a Matrix, n x n, of A's dtype: the chosen edges with their weights, both ways. It has 2 (n - number of
    components) entries, whose sum is twice the total weight.
    Raises InvalidValue (A not symmetric, a weight is NaN), DimensionMismatch (A not square), TypeError (A is not a
    Matrix).
    """
    n = A.nrows
    loop = loops.cached_loop(_boruvka, A, gb)
    kept, (ptr, columns, w) = loop.state["kept"], loop.state["both_ways"]
    if kept.size:
        loop.run()
    # F = both_ways<kept>
    places = kept.to_coo(values=False)[0].astype("int64")
    return gb.Matrix.from_csr(places.searchsorted(ptr), columns[places], w[places], A.dtype, nrows=n, ncols=n)


def _boruvka(A, gb):
    n, BOOL, minimum = A.nrows, gb.dtypes.BOOL, gb.binary.min
    # i, j, w = tril(A, -1), sorted by weight
    i, j, w = A.select(gb.select.tril, -1).new().to_coo()
    order = w.argsort(kind="stable")
    w = w[order]
    check.no_nan(gb, "A", not (w[-1:] != w[-1:]).any())  # NaN is sorted last
    m, light = len(w), tuning.count("msf.light_edges") * n
    light = light if m > 2 * light and bool(w[0] != w[light]) else 0
    kind = gb.dtypes.INT32 if max(n, 2 * m) < 2**31 - 1 else gb.dtypes.INT64  # half the bytes if INT32 suffices
    i, j = (x[order].astype(kind.np_type) for x in (i, j))
    both_ways, places = _both_ways(i, j, w, kind, n, gb)
    moved, vertex = gb.Vector(BOOL, n), _numbers(gb, n, kind)
    # (i, j, positions of the two entries, number) of the light edges and of the others
    lights, others = (
        (*(gb.Vector.from_dense(x[first:end]) for x in (i, j, *places)), _numbers(gb, end - first, kind))
        for first, end in ((0, light), (light, m))
    )
    near, kept = gb.Vector(kind, m - light), gb.Vector(BOOL, 2 * m)

    def begin():
        u, v, root = gb.Vector(kind, m - light), gb.Vector(kind, m - light), gb.Vector(kind, n)
        chosen = gb.Vector(BOOL, m - light)
        # root = v: every vertex is a component
        root << vertex
        kept.clear()
        if light:
            x, y, left = (gb.Vector(kind, light) for _ in range(3))
            first = gb.Vector(BOOL, light)
            find_edges_between(root, x, y, left, *lights)
            loops.repeat(lambda _: choose(root, x, y, left, first), while_=left)
            keep(first, *lights)
        find_edges_between(root, u, v, near, *others)
        return u, v, root, chosen

    def body(_, u, v, root, chosen):
        choose(root, u, v, near, chosen)

    def end(u, v, root, chosen):
        keep(chosen, *others)

    def find_edges_between(root, u, v, near, i, j, place, mirror, edge):
        # u = root[i]; v = root[j]; near<u != v, replace> = edge
        u << gather_values(root, i)
        v << gather_values(root, j)
        near(gb.binary.ne(u & v).new().V, gb.replace) << edge

    def keep(chosen, i, j, place, mirror, edge):
        # kept[place[chosen]] = true; kept[mirror[chosen]] = true
        edges, _ = chosen.to_coo()
        for entry in (place, mirror):
            kept(gb.Vector.from_coo(entry.to_dense()[edges], True, size=kept.size).S) << True

    def choose(root, u, v, near, chosen):
        # best[c] = min k over the edges at c; chosen[best] = true
        edges, k = near.to_coo()
        best = gb.Vector.from_coo(u.to_dense()[edges], k, size=n, dup_op=minimum)
        best(minimum) << gb.Vector.from_coo(v.to_dense()[edges], k, size=n, dup_op=minimum)
        chosen(gb.Vector.from_coo(best.to_coo()[1], True, size=chosen.size).S) << True
        # p[c] = the component at the other end of best[c]
        first = gb.Vector.from_scalar(0, n, dtype=kind)
        first(best.S) << best
        p = vertex.dup()
        p(best.S) << gb.binary.minus(gb.binary.plus(gather_values(u, first) & gather_values(v, first)).new() & vertex)
        # p<p[p] == c> min= c: of two components that chose each other, the smaller stays
        p(gb.binary.eq(gather_values(p, p) & vertex).new().V, minimum) << vertex
        # p = p[p] until nothing changes
        q = gather_values(p, gather_values(p, p))
        p << gather_values(q, gather_values(q, q))
        jump(p)
        loops.repeat(lambda _: jump(p), while_=moved)
        # u<near> = p[u]; v<near> = p[v]; near<u != v, replace> = near; root = p[root]
        u(near.S) << gather_values(p, u)
        v(near.S) << gather_values(p, v)
        near(gb.binary.ne(u & v).new().V, gb.replace) << near
        if light:
            root << gather_values(p, root)

    def jump(p):
        # p = p[p] four times; moved = p changed in the last two
        q = gather_values(p, gather_values(p, p))
        p << gather_values(q, gather_values(q, q))
        moved(gb.binary.ne(p & q).new().V, gb.replace) << True

    return {"begin": begin, "body": body, "end": end, "while_": near, "kept": kept, "both_ways": both_ways}


def _both_ways(i, j, w, kind, n, gb):
    """CSR arrays (row pointers, columns, weights) of the graph with each edge i - j both ways, and for each edge the
    positions of its two entries. With these a subset of edges needs no sorting.
    """
    rows, columns = i.repeat(2), j.repeat(2)
    rows[1::2], columns[1::2] = j, i
    number = _numbers(gb, len(rows), kind).to_dense()
    ptr, columns, came = gb.Matrix.from_coo(rows, columns, number, kind, nrows=n, ncols=n).to_csr()
    places = number.copy()
    places[came] = number
    both_ways = ptr.astype("int64"), columns.astype(kind.np_type), w.repeat(2)[came]
    return both_ways, (places[::2].copy(), places[1::2].copy())


def _numbers(gb, n, kind):
    """0 to n - 1, a Vector."""
    return gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new(kind)
