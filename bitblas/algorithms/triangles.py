"""Triangle count: how many sets of three vertices are pairwise adjacent.

Method: let L be the part of A strictly below the diagonal, so that each edge is kept once, from the higher number to
the lower. An edge i -> j closes a triangle with every k that both i and j point to; L L' counts those k, and the mask
keeps the counts that stand on an edge. Each triangle i > j > k is counted once.

State: C has the structure of L and holds the number of triangles that each edge closes.

Input: A with a symmetric structure (each edge stored both ways); only its lower half is read. Values, dtype and self
loops do not matter. On graphs with hubs a numbering by falling degree saves much time: no row of L is then long.

Wolf, Deveci, Berry, Hammond, Rajamanickam: Fast linear algebra-based triangle counting with KokkosKernels. HPEC 2017.
"""

from . import _check as check


@check.on_its_device
def triangle_count(A, *, gb=None):
    """The number of triangles of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). gb: the library, bitblas if None.
    Returns a Python int.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    INT64 = gb.dtypes.INT64

    # L = tril(A, -1)
    L = A.select(gb.select.tril, -1).new()
    # C<L> = L plus.pair L'
    C = gb.Matrix(INT64, n, n)
    C(L.S) << L.mxm(L.T, gb.semiring.plus_pair[INT64])
    return int(C.reduce_scalar(gb.monoid.plus, allow_empty=False).value)
