"""k-trusses: the k-truss is the largest subgraph in which every edge is in at least k - 2 triangles.

The truss number of an edge is the largest k for which it is in the k-truss; 2 if it is in no triangle.

Method: C<C> = C plus.pair C' counts the triangles of each edge, and a selection drops edges in too few triangles, until
no edge is dropped. Only edges that share a triangle with a dropped one change their counts. So bitblas counts once;
then each dropped edge intersects the rows of its ends and lowers the counts of the other edges of its triangles, round
by round on the device. python-graphblas and ranks count again in every round.

State: C holds the remaining edges with their triangle counts, INT64. bitblas caches the numbers of the edges with A:
about 8 bytes an entry.

Input: A with a symmetric structure; values, dtype and self loops are ignored.

Check: NetworkX's k_truss for every k, with the triangles of each edge.

Cohen: Trusses, cohesive subgraphs for social network analysis. National Security Agency 2008.
Davis: Graph algorithms via SuiteSparse:GraphBLAS, triangle counting and k-truss. HPEC 2018.
Wang, Cheng: Truss decomposition in massive networks. PVLDB 5(9), 2012.
Kabir, Madduri: Shared-memory graph truss decomposition. HiPC 2017.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import has_peeling, truss_edges, truss_levels


@algorithm(graph="undirected", answer="undirected graph", arrays=(8, 24))
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
    if has_peeling(A):
        return truss_edges(A, k - 2, gb)
    C = A.select(gb.select.offdiag).new()
    while True:
        S = _supports(C, gb)
        # S = S<S >= k - 2>
        S << S.select(gb.select.valuege, k - 2)
        loops.report()
        if S.nvals in (0, C.nvals):
            return S
        C = S


@algorithm(graph="undirected", answer="undirected graph", arrays=(8, 24))
def truss_numbers(A, *, gb=None):
    """The truss number of each edge of an undirected graph: the largest k for which it is in the k-truss.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Matrix, INT64, n x n, with the structure of A minus its diagonal, each edge both ways; 2 for an edge in no
    triangle.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    if has_peeling(A):
        return truss_levels(A, gb)
    INT64 = gb.dtypes.INT64
    T = gb.Matrix(INT64, A.nrows, A.ncols)
    C, k = A.select(gb.select.offdiag).new(), 2
    while C.nvals:
        S = _supports(C, gb)
        # T<C> = the largest k whose truss has C; every edge of it is in so many triangles or more
        if int(S.reduce_scalar(gb.monoid.min, allow_empty=False).new().value) >= k - 2:
            k = int(S.reduce_scalar(gb.monoid.min, allow_empty=False).new().value) + 2
            T(C.S) << k
            k += 1
        # C = S<S >= k - 2>
        C = S.select(gb.select.valuege, k - 2).new()
        loops.report()
    return T


def _supports(C, gb):
    """The number of triangles of each edge of C, also 0."""
    INT64 = gb.dtypes.INT64
    # S<C> = 0; S<C> += C plus.pair C'
    S = gb.Matrix(INT64, C.nrows, C.ncols)
    S(C.S) << 0
    S(C.S, accum=gb.monoid.plus) << C.mxm(C.T, gb.semiring.plus_pair[INT64])
    return S
