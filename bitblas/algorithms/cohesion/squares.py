"""Square clustering: the fraction of possible squares (4-cycles) at each vertex that exist.

Method: P = A plus.pair A' holds the number of common neighbours of each pair of vertices. The squares with u and x at
opposite corners are the pairs of their P[u, x] common neighbours. The number of possible squares follows from the
degrees d of the neighbours of u, its squares s, and its triangles t: (d[u] - 1) (A (d - 1))[u] - s[u] - 2 t[u].

State: P is the largest object: an entry for each pair of vertices with a common neighbour.

Input: A with a symmetric structure; values, dtype and self loops are ignored.

Check: NetworkX's square_clustering.

Lind, Gonzalez, Herrmann: Cycles and clustering in bipartite networks. Physical Review E 72 (2005).
Burkhardt, Harris: Simple and efficient four-cycle counting on sparse graphs. arXiv 2303.06090, for the count by P.
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import degrees
from .clustering import triangles_per_vertex


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
