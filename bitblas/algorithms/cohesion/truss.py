"""k-trusses: the k-truss is the largest subgraph in which every edge is in at least k - 2 triangles.

Method: C<C> = C plus.pair C' counts the triangles of each edge, and a selection drops edges in too few triangles, until
no edge is dropped. After some rounds the triangles are listed instead, if no vertex has many neighbours: a graph G has
a vertex per edge and per triangle, and joins each triangle to its three edges. Peeling removes an edge when too few of
its triangles remain, and a triangle when one of its edges is gone; a round only visits the neighbours of vertices
removed in the last one. python-graphblas, whose statements visit whole vectors, keeps to the first method.

State: C holds the remaining edges with their triangle counts, INT64. spare[v] is the number of neighbours that vertex v
of G can still lose; q holds the vertices that have lost more.

Input: A with a symmetric structure; values, dtype and self loops are ignored.

Check: NetworkX's k_truss, with the triangles of each edge.

Cohen: Trusses, cohesive subgraphs for social network analysis. National Security Agency 2008.
Davis: Graph algorithms via SuiteSparse:GraphBLAS, triangle counting and k-truss. HPEC 2018.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import degrees, index_range


@algorithm(graph="undirected", answer="undirected graph", arrays=(8, 40))
def k_truss(A, k, *, gb=None):
    """The k-truss of an undirected graph, on the same vertices.

    A: Matrix, n x n, any dtype, symmetric structure (checked). k: int >= 2; the 2-truss has all edges but self loops.
    gb: the library, bitblas if None.
    Returns a Matrix, n x n, INT64: the edges of the k-truss, both ways, with the number of its triangles that contain
    each.
    Raises InvalidValue (A not symmetric, k below 2), DimensionMismatch (A not square), TypeError (wrong types).
    """
    n = A.nrows
    k = min(n + 3, check.count(gb, "k", k, "every edge is in the 2-truss", least=2))  # no edge is in n triangles
    INT64 = gb.dtypes.INT64
    C = A.select(gb.select.offdiag).new()
    for turn in range(C.nvals + 2):  # every round except the last drops an edge
        # C<C> = C plus.pair C'
        S = C.mxm(C.T, gb.semiring.plus_pair[INT64]).new(mask=C.S)
        if k == 2:
            # S += 0 at every edge
            S(gb.binary.plus) << C.apply(gb.binary.second[INT64], right=0).new()
            return S
        # S = S<S >= k - 2>
        S << S.select(gb.select.valuege, k - 2)
        loops.report()
        if S.nvals in (0, C.nvals):
            return S
        if turn == tuning.count("truss.rounds") and loops.runs_fused(A):
            L = S.select(gb.select.tril, -1).new()
            if int((degrees(L, gb) ** 2).sum()) <= tuning.value("truss.neighbours") * L.nvals:
                return _peeled(L, k - 2, gb)
        C = S


def _peeled(L, least, gb):
    """The edges, both ways, that remain of L (below the diagonal) when each must be in at least `least` remaining
    triangles.
    """
    INT64, binary = gb.dtypes.INT64, gb.binary
    i, j, _ = L.to_coo()
    m, edge = len(i), index_range(len(i), gb)
    # triangles of edge e = (i, j): N holds edge numbers; f = N[i, x] and g = N[j, x] are the other two edges
    N = gb.Matrix.from_coo(i, j, edge, nrows=L.nrows, ncols=L.ncols)
    X, Y = N[i, :].new(), N[j, :].new()
    e, _, f = binary.first(X & Y).new().to_coo()
    g = binary.second(X & Y).new().to_coo()[2]
    t = len(e)
    check.memory(L, f"k_truss: the graph of {m} edges and {t} triangles", 120 * t)
    # G[triangle, edge] = true; G = G or G'
    rows, cols = index_range(3 * t, gb), index_range(3 * t, gb)
    for part, its in enumerate((e, f, g)):
        rows[part * t : (part + 1) * t] = index_range(t, gb) + m
        cols[part * t : (part + 1) * t] = its
    G = gb.Matrix.from_coo(rows, cols, True, nrows=m + t, ncols=m + t)
    G << binary.pair[gb.dtypes.BOOL](G | G.T)
    # spare = G plus.pair 1 - need; a triangle needs its three edges, an edge `least` triangles
    need = index_range(m + t, gb) * 0 + 3
    need[:m] = least
    loop = loops.cached_loop(_peeling, G, gb)
    spare, q = loop.state["spare"], loop.state["while_"]
    spare << gb.Vector.from_dense(degrees(G, gb) - need)
    q << spare.select(gb.select.valuelt, 0)
    loop.run()
    v, left = loop.result(spare).to_coo()
    kept = v[v < m].astype("int64")
    i, j, left = i[kept], j[kept], left[: len(kept)] + least
    S = gb.Matrix.from_coo(i, j, left, INT64, nrows=L.nrows, ncols=L.ncols)
    return S.ewise_add(S.T, binary.plus).new()


def _peeling(G, gb):
    INT64 = gb.dtypes.INT64
    spare, q, lost = (gb.Vector(INT64, G.nrows) for _ in range(3))

    def body(_):
        # spare<!q, replace> = spare
        spare(~q.S, gb.replace) << spare
        # spare -= G plus.pair q, at the remaining vertices
        lost(spare.S, gb.replace) << G.mxv(q, gb.semiring.plus_pair[INT64])
        spare(gb.binary.minus) << lost
        # q = spare<spare < 0>
        q << spare.select(gb.select.valuelt, 0)

    return {"body": body, "while_": q, "spare": spare}
