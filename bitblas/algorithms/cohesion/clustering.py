"""Clustering coefficients: the fraction of pairs of neighbours that are adjacent.

Method: C<U> = A plus.pair U' counts, for each edge (i, v) of the graph, how many neighbours of v the vertex i has edges
to; summed over the neighbours i of v these are the edges among the neighbours of v. U is A, or A with its transpose
where edges have a direction.

State: C has the structure of U, INT64. Self loops are dropped before.

Input: A with a symmetric structure, or any square A if directed. Values and dtype do not matter.

Check: NetworkX's triangles, clustering, average_clustering, transitivity; sets of neighbours, edge by edge; LDBC's
example.

Watts, Strogatz: Collective dynamics of small-world networks. Nature 393 (1998).
Iosup et al: LDBC Graphalytics. PVLDB 9 (2016), for directed graphs: LCC.
"""

from .. import _check as check
from .._parts import degrees


@check.on_its_device
def triangles_per_vertex(A, *, gb=None):
    """The number of triangles of an undirected graph that each vertex is a corner of.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full; its sum is three times `triangle_count`.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    check.symmetric(gb, A)
    closed, _ = _closed(A, False, gb)
    # t = closed / 2: an edge between neighbours was counted from either end
    return gb.Vector.from_dense(closed // 2)


@check.on_its_device
def triangles_per_edge(A, *, gb=None):
    """The number of triangles of an undirected graph that each edge is a side of.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Matrix, INT64, n x n, of the structure of A without its diagonal: A[i, j] and A[j, i] are one edge; its
    sum is six times `triangle_count`.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    n = check.symmetric(gb, A)
    plus, INT64 = gb.monoid.plus, gb.dtypes.INT64
    A = A.select(gb.select.offdiag).new()
    # C<A> = 0; C<A> += A plus.pair A'
    C = gb.Matrix(INT64, n, n)
    C(A.S) << 0
    C(A.S, accum=plus) << A.mxm(A.T, gb.semiring.plus_pair[INT64])
    return C


@check.on_its_device
def local_clustering(A, *, directed=False, gb=None):
    """The local clustering coefficient (LCC) of each vertex.

    A: Matrix, n x n, any dtype; symmetric structure (checked) unless directed. directed: bool, whether edges have a
    direction: the neighbours of v are then those at the other end of any edge of v, and each of the d (d - 1) edges
    that d of them may have among each other counts. gb: the library, bitblas if None.
    Returns a Vector, FP64, size n, full: 0 at vertices with fewer than two neighbours.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    check.square(gb, A) if check.flag("directed", directed) else check.symmetric(gb, A)
    closed, pairs = _closed(A, directed, gb)
    # c = closed / pairs, 0 where that is 0
    return gb.Vector.from_dense(closed / pairs.clip(1))


@check.on_its_device
def average_clustering(A, *, directed=False, gb=None):
    """The mean of the local clustering coefficients of all vertices.

    A: Matrix, n x n, any dtype; symmetric structure (checked) unless directed. directed: bool, as for
    `local_clustering`. gb: the library, bitblas if None.
    Returns a Python float; 0 for a graph without vertices.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A) if check.flag("directed", directed) else check.symmetric(gb, A)
    closed, pairs = _closed(A, directed, gb)
    return float((closed / pairs.clip(1)).sum()) / max(1, n)


@check.on_its_device
def transitivity(A, *, gb=None):
    """How many of the pairs of edges that meet in a vertex are closed to a triangle, in all of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Python float: three times the triangles over the pairs; 0 where no edges meet.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    check.symmetric(gb, A)
    closed, pairs = _closed(A, False, gb)
    return int(closed.sum()) / max(1, int(pairs.sum()))


def _closed(A, directed, gb):
    """For each vertex the ordered pairs of neighbours that have an edge, and all ordered pairs: two arrays of INT64."""
    plus, plus_pair = gb.monoid.plus, gb.semiring.plus_pair[gb.dtypes.INT64]
    A = A.select(gb.select.offdiag).new()
    # U = A or A'
    U = gb.binary.pair[gb.dtypes.BOOL](A | A.T).new() if directed else A
    d = degrees(U, gb)
    # C<M> = A plus.pair U', M being U, or one triangle of it where C is symmetric
    M = U if directed else A.select(gb.select.tril).new()
    C = A.mxm(U.T, plus_pair).new(mask=M.S)
    # closed = the sums of the columns of C, and of its rows where those stand for the columns of the other triangle
    closed = C.reduce_columnwise(plus).new().to_dense(0)
    if not directed:
        closed = closed + C.reduce_rowwise(plus).new().to_dense(0)
    return closed, d * (d - 1)
