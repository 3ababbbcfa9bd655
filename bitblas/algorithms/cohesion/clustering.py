"""Triangles, clustering coefficients and square clustering: how many neighbours of a vertex are adjacent.

Method: L holds each edge once, directed from the lower to the higher vertex of some order. An edge i -> j closes a
triangle with every k that both i and j point to. L L' counts these k, and the mask L keeps the counts on edges, so each
triangle is counted once, at the edge between its two lowest vertices. If the graph has hubs, the order is by rising
degree: a vertex of high degree has few neighbours of higher degree, so no row of L is long. Otherwise L is the lower
triangle, which is cheaper to build.

State: C has the structure of L and holds the number of triangles that each edge closes. L, half of A's entries, is
cached with A.

Input: A with a symmetric structure (each edge stored both ways). Values, dtype and self loops are ignored.

Check: trace(A^3) / 6; NetworkX's triangles, clustering, average_clustering, transitivity; neighbour sets; LDBC's
example; NetworkX's square_clustering.

Wolf, Deveci, Berry, Hammond, Rajamanickam: Fast linear algebra-based triangle counting with KokkosKernels. HPEC 2017.
Schank, Wagner: Finding, counting and listing all triangles in large graphs. WEA 2005, for the order by degree.
Watts, Strogatz: Collective dynamics of small-world networks. Nature 393 (1998).
Iosup et al: LDBC Graphalytics. PVLDB 9 (2016), for directed graphs: LCC.
Lind, Gonzalez, Herrmann: Cycles and clustering in bipartite networks. Physical Review E 72 (2005).
Burkhardt, Harris: Simple and efficient four-cycle counting on sparse graphs. arXiv 2303.06090, for the count by P.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._check import tuning
from .._parts import cost_of_rows, degrees, has_peeling, rows_of, triangles_of_edges, triangles_of_vertices


@algorithm(graph="undirected", answer="count", arrays=(0, 4), work="rows")
def triangle_count(A, *, gb=None):
    """The number of triangles of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Python int.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """

    # L = A<i before j>
    L = loops.cached(_directed, A, gb)
    work = loops.shared_work()
    rows = work.rows(A.nrows, lambda: loops.cached(_cost, L, gb))
    M = L if rows.stop - rows.start == A.nrows else loops.cached(_rows, L, gb, rows.start, rows.stop)
    # C<M> = M plus.pair L'; count = sum(C). M = L, or a rank's rows of it
    C = M.mxm(L.T, gb.semiring.plus_pair[gb.dtypes.INT64]).new(mask=M.S)
    return work.total(int(C.reduce_scalar(gb.monoid.plus, allow_empty=False).new().value))


def _rows(L, gb, start, stop):
    return rows_of(L, slice(start, stop))


def _cost(L, gb):
    d = degrees(L, gb)
    return cost_of_rows(L, d, d, gb)


def _directed(A, gb):
    has_hubs = A.nvals > 0 and int(degrees(A, gb).max()) * A.nrows > tuning.value("triangles.skew") * A.nvals
    return _by_degree(A, gb) if has_hubs else A.select(gb.select.tril, -1).new()


def _by_degree(A, gb):
    """The entries of A from a lower to a higher degree; ties go from the lower to the higher vertex number."""
    check.memory(A, f"triangle_count: the order by degree of {A.nvals} entries", 40 * A.nvals)
    i, j, _ = A.to_coo(values=False)
    degree = degrees(A, gb)
    from_, to = degree[i], degree[j]
    kept = (from_ < to) | ((from_ == to) & (i < j))
    return gb.Matrix.from_coo(i[kept], j[kept], True, nrows=A.nrows, ncols=A.ncols)


# ---- Clustering coefficients: the fraction of pairs of neighbours that are adjacent.
#
# Method: C<U> = A plus.pair U' counts, for each edge (i, v), the neighbours of v to which i has an edge. The sum over
# the neighbours i of v is the number of edges among the neighbours of v. U is A, or A or A' if edges are directed.
#
# State: C has the structure of U, INT64. Self loops are dropped first. Of an undirected graph bitblas counts each
# triangle once, at the lowest of its vertices, and adds it to all three: operations/peeling.py.
#
# Input: A with a symmetric structure, or any square A if directed. Values and dtype are ignored.


@algorithm(graph="undirected", answer="value per vertex", arrays=(32, 24), work="rows")
def triangles_per_vertex(A, *, gb=None):
    """The number of triangles that contain each vertex of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full; its sum is three times `triangle_count`.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    closed, _ = _closed(A, False, gb)
    # t = closed / 2: each edge between neighbours is counted from both ends
    return gb.Vector.from_dense(closed // 2)


@algorithm(graph="undirected", answer="undirected graph", arrays=(8, 24), work="rows")
def triangles_per_edge(A, *, gb=None):
    """The number of triangles that contain each edge of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Matrix, INT64, n x n, with the structure of A minus its diagonal, each edge both ways; its sum is six
    times `triangle_count`.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    if has_peeling(A):
        return triangles_of_edges(A, gb)
    n = A.nrows
    plus, INT64 = gb.monoid.plus, gb.dtypes.INT64
    A = A.select(gb.select.offdiag).new()
    work = loops.shared_work()
    M = rows_of(A, work.rows(n, lambda: _cost(A, gb)))
    # C<M> = 0; C<M> += M plus.pair A'. M = A, or a rank's rows of it
    C = gb.Matrix(INT64, M.nrows, n)
    C(M.S) << 0
    C(M.S, accum=plus) << M.mxm(A.T, gb.semiring.plus_pair[INT64])
    return work.stacked(C)


@algorithm(answer="value per vertex", arrays=(32, 24), work="rows")
def local_clustering(A, *, directed=False, gb=None):
    """The local clustering coefficient (LCC) of each vertex.

    A: Matrix, n x n, any dtype; symmetric structure (checked) unless directed. directed: bool, whether edges are
    directed: the d neighbours of v are then the vertices joined to v by an edge of either direction, with d (d - 1)
    possible edges among them. gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full: 0 at vertices with fewer than two neighbours.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (wrong types).
    """
    if not check.flag("directed", directed):
        check.symmetric(gb, A)
    closed, pairs = _closed(A, directed, gb)
    # c = closed / pairs, 0 where pairs is 0
    return gb.Vector.from_dense(closed / pairs.clip(1))


@algorithm(answer="number", arrays=(32, 24), work="rows")
def average_clustering(A, *, directed=False, gb=None):
    """The mean local clustering coefficient over all vertices.

    A: Matrix, n x n, any dtype; symmetric structure (checked) unless directed. directed: bool, as for
    `local_clustering`. gb: the library, bitblas if None.
    Returns a Python float; 0 for a graph without vertices.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (wrong types).
    """
    n = A.nrows
    if not check.flag("directed", directed):
        check.symmetric(gb, A)
    closed, pairs = _closed(A, directed, gb)
    return float((closed / pairs.clip(1)).sum()) / max(1, n)


@algorithm(graph="undirected", answer="number", arrays=(32, 24), work="rows")
def transitivity(A, *, gb=None):
    """The fraction of pairs of edges with a common vertex that are closed to a triangle, in an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Python float: three times the number of triangles over the number of such pairs; 0 if there are none.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    closed, pairs = _closed(A, False, gb)
    return int(closed.sum()) / max(1, int(pairs.sum()))


def _closed(A, directed, gb):
    """For each vertex, the number of ordered pairs of adjacent neighbours and of all ordered pairs: two INT64
    arrays.
    """
    plus, plus_pair = gb.monoid.plus, gb.semiring.plus_pair[gb.dtypes.INT64]
    if not directed and has_peeling(A):
        t, d = triangles_of_vertices(A, gb)
        return 2 * t, d * (d - 1)
    A = A.select(gb.select.offdiag).new()
    # U = A or A'
    U = gb.binary.pair[gb.dtypes.BOOL](A | A.T).new() if directed else A
    d = degrees(U, gb)
    # C<M> = A plus.pair U'; M = U, or its lower triangle if C is symmetric
    M = U if directed else A.select(gb.select.tril).new()
    work = loops.shared_work()
    rows = work.rows(A.nrows, lambda: cost_of_rows(M, degrees(A, gb), d, gb))
    C = rows_of(A, rows).mxm(U.T, plus_pair).new(mask=rows_of(M, rows).S)
    # closed = the column sums of C; plus its row sums if C holds only the lower triangle
    closed = C.reduce_columnwise(plus).new().to_dense(0)
    if not directed:
        closed[rows] += C.reduce_rowwise(plus).new().to_dense(0)
    return work.total(closed), d * (d - 1)


# ---- Square clustering: the fraction of possible squares (4-cycles) at each vertex that exist.
#
# Method: P = A plus.pair A' holds the number of common neighbours of each pair of vertices. The squares with u and x at
# opposite corners are the pairs of their P[u, x] common neighbours. The number of possible squares follows from the
# degrees d of the neighbours of u, its squares s, and its triangles t: (d[u] - 1) (A (d - 1))[u] - s[u] - 2 t[u].
#
# State: P is the largest object: an entry for each pair of vertices with a common neighbour.
#
# Input: A with a symmetric structure; values, dtype and self loops are ignored.


@algorithm(graph="undirected", answer="value per vertex", arrays=(16, 40))
def square_clustering(A, *, gb=None):
    """The fraction of possible squares at each vertex that exist.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full: 0 where no square is possible.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    n = A.nrows
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    A = A.select(gb.select.offdiag).new()

    # P = A plus.pair A', off the diagonal
    P = A.mxm(A.T, plus_pair).new()
    P << P.select(gb.select.offdiag)
    check.memory(A, f"square_clustering: {P.nvals} pairs of vertices with a common neighbour", 48 * P.nvals)
    # s = the row sums of P (P - 1) / 2: squares with u and x at opposite corners
    u, _, common = P.to_coo()
    s = gb.Vector.from_coo(u, common * (common - 1) // 2, size=n, dup_op=gb.binary.plus).to_dense(0)
    # d = A plus.pair 1; near = A plus.second (d - 1)
    d = degrees(A, gb)
    near = A.mxv(gb.Vector.from_dense(d - 1), gb.semiring.plus_second[gb.dtypes.INT64]).new().to_dense(0)
    # c = s / ((d - 1) near - s - 2 t), 0 where no square is possible
    t = triangles_per_vertex(A, gb=gb).to_dense()
    return gb.Vector.from_dense(s / ((d - 1) * near - s - 2 * t).clip(1))
