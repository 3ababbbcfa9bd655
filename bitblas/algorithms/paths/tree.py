"""Shortest-path trees: distances from a source and the predecessor of each vertex.

Method: an edge is tight if the distance of its end equals that of its start plus its weight. A breadth-first tree of
the tight edges contains shortest paths only. The comparison repeats the sums that gave the distances, so rounding is
exact; cycles of weight 0 among tight edges cannot occur in a tree.

State: T holds the tight edges.

Input: as for `sssp`: weights may be negative, zero or infinite.

Check: every edge of the tree is on a shortest path from the source.

Bellman: On a routing problem. Quarterly of Applied Mathematics 16 (1958).
"""

from .._algorithm import algorithm
from .bfs import bfs_parents
from .sssp import sssp


@algorithm(answer=("distance per vertex", "parent per vertex"), weighted=True, arrays=(24, 40))
def sssp_tree(A, source, *, delta=None, gb=None):
    """The distance from `source` to each vertex, and its predecessor on a shortest path.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. source: int, 0 <= source < n,
    or several: paths start at any of them. delta: float > 0, as for `sssp`. gb: the library, bitblas if None.
    Returns two Vectors of size n: the distances, FP32 or FP64 if A is, else INT64, and the parents, INT64, any one of
    several candidates; a source is its own parent; no entry at an unreachable vertex.
    Raises InvalidValue (a weight is NaN or -infinity; delta out of range; a reachable negative cycle),
    DimensionMismatch (A not square), IndexOutOfBound (source out of range), TypeError (wrong types).
    """
    d = sssp(A, source, delta=delta, gb=gb)
    if A.dtype == gb.dtypes.BOOL:
        return d, bfs_parents(A, source, gb=gb)
    # T = A<d[i] + A[i, j] == d[j]>
    distance = d.to_dense(0)
    reached = d.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)
    i, j, w = A.to_coo()
    tight = reached[i] & (distance[i] + w.astype(distance.dtype) == distance[j])
    T = gb.Matrix.from_coo(i[tight], j[tight], True, nrows=A.nrows, ncols=A.ncols)
    return d, bfs_parents(T, source, gb=gb)
