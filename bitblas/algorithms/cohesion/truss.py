"""Trusses: the k-truss is the largest part of a graph in which every edge is in k - 2 triangles or more.

Method: C<C> = C plus.pair C' counts the triangles of each edge, and a selection drops the edges that are in too few,
until none is.

State: C holds the edges that are left, with the number of triangles of each, INT64.

Input: A with a symmetric structure; values, dtype and self loops do not matter.

Check: NetworkX's k_truss, with the triangles of each edge.

Cohen: Trusses, cohesive subgraphs for social network analysis. National Security Agency 2008.
Davis: Graph algorithms via SuiteSparse:GraphBLAS, triangle counting and k-truss. HPEC 2018.
"""

from .. import _check as check
from .. import _watch as watch


@check.on_its_device
def k_truss(A, k, *, gb=None):
    """The k-truss of an undirected graph, as a graph of the same vertices.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). k: int >= 3. gb: the library, bitblas if None.
    Returns a Matrix, n x n, INT64: the edges of the k-truss, both ways, with the number of its triangles each is in.
    Raises InvalidValue (k below 3), DimensionMismatch (A not square), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    check.square(gb, A)
    k = check.count(gb, "k", k, "every edge is in the 2-truss", least=3)
    INT64 = gb.dtypes.INT64
    C = A.select(gb.select.offdiag).new()
    while True:
        # C<C> = C plus.pair C'
        S = C.mxm(C.T, gb.semiring.plus_pair[INT64]).new(mask=C.S)
        # S = S<S >= k - 2>
        S << S.select(gb.select.valuege, k - 2)
        watch.tell()
        if S.nvals == C.nvals:
            return S
        C = S
