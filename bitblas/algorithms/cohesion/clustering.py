"""Clustering coefficients: the fraction of pairs of neighbours that are adjacent.

Method: C<U> = A plus.pair U' counts, for each edge (i, v), the neighbours of v to which i has an edge. The sum over the
neighbours i of v is the number of edges among the neighbours of v. U is A, or A or A' if edges are directed.

State: C has the structure of U, INT64. Self loops are dropped first.

Input: A with a symmetric structure, or any square A if directed. Values and dtype are ignored.

Check: NetworkX's triangles, clustering, average_clustering, transitivity; neighbour sets; LDBC's example.

Watts, Strogatz: Collective dynamics of small-world networks. Nature 393 (1998).
Iosup et al: LDBC Graphalytics. PVLDB 9 (2016), for directed graphs: LCC.
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import degrees


@algorithm(graph="undirected", answer="value per vertex", arrays=(32, 24))
def triangles_per_vertex(A, *, gb=None):
    """The number of triangles that contain each vertex of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full; its sum is three times `triangle_count`.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    closed, _ = _closed(A, False, gb)
    # t = closed / 2: each edge between neighbours is counted from both ends
    return gb.Vector.from_dense(closed // 2)


@algorithm(graph="undirected", answer="undirected graph", arrays=(8, 36))
def triangles_per_edge(A, *, gb=None):
    """The number of triangles that contain each edge of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Matrix, INT64, n x n, with the structure of A minus its diagonal, each edge both ways; its sum is six
    times `triangle_count`.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    n = A.nrows
    plus, INT64 = gb.monoid.plus, gb.dtypes.INT64
    A = A.select(gb.select.offdiag).new()
    # C<A> = 0; C<A> += A plus.pair A'
    C = gb.Matrix(INT64, n, n)
    C(A.S) << 0
    C(A.S, accum=plus) << A.mxm(A.T, gb.semiring.plus_pair[INT64])
    return C


@algorithm(answer="value per vertex", arrays=(32, 24))
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


@algorithm(answer="number", arrays=(32, 24))
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


@algorithm(graph="undirected", answer="number", arrays=(32, 24))
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
    A = A.select(gb.select.offdiag).new()
    # U = A or A'
    U = gb.binary.pair[gb.dtypes.BOOL](A | A.T).new() if directed else A
    d = degrees(U, gb)
    # C<M> = A plus.pair U'; M = U, or its lower triangle if C is symmetric
    M = U if directed else A.select(gb.select.tril).new()
    C = A.mxm(U.T, plus_pair).new(mask=M.S)
    # closed = the column sums of C; plus its row sums if C holds only the lower triangle
    closed = C.reduce_columnwise(plus).new().to_dense(0)
    if not directed:
        closed = closed + C.reduce_rowwise(plus).new().to_dense(0)
    return closed, d * (d - 1)
