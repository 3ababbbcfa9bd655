"""k-trusses: the k-truss is the largest subgraph in which every edge is in at least k - 2 triangles.

Method: C<C> = C plus.pair C' counts the triangles of each edge, and a selection drops the edges that are in too few,
until none is. After some rounds the triangles are listed, if no vertex has many neighbours: a graph G has a vertex for
each edge and for each triangle, and edges from a triangle to its three. Peeling takes an edge away when too few of its
triangles are left, and a triangle when one of its edges is gone; each round looks at what is next to the last one's.
python-graphblas, whose statements look at whole vectors, goes on as before.

State: C holds the edges that are left, with the number of triangles of each, INT64. spare[v] is how many neighbours the
vertex v of G can lose, q holds those that have lost more.

Input: A with a symmetric structure; values, dtype and self loops do not matter.

Check: NetworkX's k_truss, with the triangles of each edge.

Cohen: Trusses, cohesive subgraphs for social network analysis. National Security Agency 2008.
Davis: Graph algorithms via SuiteSparse:GraphBLAS, triangle counting and k-truss. HPEC 2018.
"""

from .. import _check as check
from .. import _watch as watch
from .._memory import room
from .._parts import degrees, numbers

PATIENCE = 8  # rounds over all edges, which take as long as listing their triangles
FEW = 16  # neighbours of smaller number that a vertex has, as edges see them, up to which triangles are listed


@check.on_its_device
def k_truss(A, k, *, gb=None):
    """The k-truss of an undirected graph, as a graph of the same vertices.

    A: Matrix, n x n, any dtype, symmetric structure (checked). k: int >= 3. gb: the library, bitblas if None.
    Returns a Matrix, n x n, INT64: the edges of the k-truss, both ways, with the number of its triangles each is in.
    Raises InvalidValue (A not symmetric, k below 3), DimensionMismatch (A not square), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.symmetric(gb, A)
    k = min(n + 3, check.count(gb, "k", k, "every edge is in the 2-truss", least=3))  # no edge is in n triangles
    INT64 = gb.dtypes.INT64
    C = A.select(gb.select.offdiag).new()
    for turn in range(C.nvals + 2):  # each round but the last drops an edge
        # C<C> = C plus.pair C'
        S = C.mxm(C.T, gb.semiring.plus_pair[INT64]).new(mask=C.S)
        # S = S<S >= k - 2>
        S << S.select(gb.select.valuege, k - 2)
        watch.tell()
        if S.nvals in (0, C.nvals):
            return S
        if turn == PATIENCE and check.fuses(A):
            L = S.select(gb.select.tril, -1).new()
            if int((degrees(L, gb) ** 2).sum()) <= FEW * L.nvals:
                return _peeled(L, k - 2, gb)
        C = S


def _peeled(L, least, gb):
    """The edges, both ways, that are left of those below the diagonal when each is in so many triangles of them."""
    INT64, binary = gb.dtypes.INT64, gb.binary
    i, j, _ = L.to_coo()
    m, edge = len(i), numbers(len(i), gb)
    # the triangles of edge e = (i, j): N holds edges by number, and f = N[i, x], g = N[j, x] are the two others
    N = gb.Matrix.from_coo(i, j, edge, nrows=L.nrows, ncols=L.ncols)
    X, Y = N[i, :].new(), N[j, :].new()
    e, _, f = binary.first(X & Y).new().to_coo()
    g = binary.second(X & Y).new().to_coo()[2]
    t = len(e)
    room(L, f"k_truss: the graph of {m} edges and {t} triangles", 120 * t)
    # G[triangle, edge] = true, and back
    rows, cols = numbers(3 * t, gb), numbers(3 * t, gb)
    for part, its in enumerate((e, f, g)):
        rows[part * t : (part + 1) * t] = numbers(t, gb) + m
        cols[part * t : (part + 1) * t] = its
    G = gb.Matrix.from_coo(rows, cols, True, nrows=m + t, ncols=m + t)
    G << binary.pair[gb.dtypes.BOOL](G | G.T)
    # spare = G plus.pair 1, less what each needs: three edges, so many triangles
    need = numbers(m + t, gb) * 0 + 3
    need[:m] = least
    loop = check.loop(_peeling, G, gb)
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
        # spare -= G plus.pair q, where it is left
        lost(spare.S, gb.replace) << G.mxv(q, gb.semiring.plus_pair[INT64])
        spare(gb.binary.minus) << lost
        # q = spare<spare < 0>
        q << spare.select(gb.select.valuelt, 0)

    return {"body": body, "while_": q, "spare": spare}
