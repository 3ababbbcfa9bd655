"""Reachability: descendants and ancestors of a vertex, optionally within k hops.

Method: a breadth-first search along the edges, or against them.

State: the levels of the search.

Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.

Check: NetworkX's descendants and ancestors.

Purdom: A transitive closure algorithm. BIT 10 (1970).
"""

from .. import _loops as loops
from .._algorithm import algorithm
from .bfs import bfs_levels


@algorithm(answer="value per vertex")
def descendants(A, source, *, depth_limit=None, gb=None):
    """The vertices reachable from `source`, by any number of edges or at most `depth_limit` (k hops).

    A: Matrix, n x n, any dtype. source: int, 0 <= source < n, or several: paths start at any of them. depth_limit:
    int >= 0; None: no limit. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at these vertices, excluding the source, no entry elsewhere.
    Raises DimensionMismatch (A not square), IndexOutOfBound (source out of range), InvalidValue (depth_limit below 0),
    TypeError (wrong types).
    """
    # v<level > 0> = true
    level = bfs_levels(A, source, depth_limit=depth_limit, gb=gb)
    return level.select(gb.select.valuegt, 0).new().apply(gb.unary.one[gb.dtypes.BOOL]).new()


@algorithm(answer="value per vertex")
def ancestors(A, source, *, depth_limit=None, gb=None):
    """The vertices from which `source` is reachable, by any number of edges or at most `depth_limit`.

    A: Matrix, n x n, any dtype. source: int, 0 <= source < n, or several: paths end at any of them. depth_limit:
    int >= 0; None: no limit. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at these vertices, excluding the source, no entry elsewhere.
    Raises as `descendants` does.
    """
    # descendants in A', which is cached
    return descendants(loops.cached(_turned, A, gb), source, depth_limit=depth_limit, gb=gb)


def _turned(A, gb):
    T = A.T
    return T if isinstance(T, gb.Matrix) else T.new()  # the transpose of a transposed matrix is a Matrix
