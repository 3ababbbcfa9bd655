"""Reachability: descendants and ancestors of a vertex, optionally within k hops.

Method: a breadth-first search along the edges, or against them.

State: the levels of the search.

Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.

Check: NetworkX's descendants and ancestors.

Purdom: A transitive closure algorithm. BIT 10 (1970).
"""

from .. import _check as check
from .bfs import bfs_levels


@check.on_its_device
def descendants(A, source, *, depth_limit=None, gb=None):
    """The vertices that `source` leads to, by any number of edges or by at most `depth_limit` of them (k hops).

    A: Matrix, n x n, any dtype. source: int, 0 <= source < n, or several: paths begin at any of them. depth_limit:
    int >= 0; None: as many edges as it takes. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at these vertices, the source not among them, no entry at others.
    Raises DimensionMismatch (A not square), IndexOutOfBound (source out of range), InvalidValue (depth_limit below 0),
    TypeError (wrong types).
    """
    gb = check.library(gb)
    # v<level > 0> = true
    level = bfs_levels(A, source, depth_limit=depth_limit, gb=gb)
    return level.select(gb.select.valuegt, 0).new().apply(gb.unary.one[gb.dtypes.BOOL]).new()


@check.on_its_device
def ancestors(A, source, *, depth_limit=None, gb=None):
    """The vertices that lead to `source`, by any number of edges or by at most `depth_limit` of them.

    A: Matrix, n x n, any dtype. source: int, 0 <= source < n, or several: paths end at any of them. depth_limit:
    int >= 0; None: as many edges as it takes. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at these vertices, the source not among them, no entry at others.
    Raises as `descendants` does.
    """
    gb = check.library(gb)
    check.square(gb, A)
    # A' has the edges turned round
    return descendants(check.kept(_turned, A, gb), source, depth_limit=depth_limit, gb=gb)


def _turned(A, gb):
    T = A.T
    return T if isinstance(T, gb.Matrix) else T.new()  # that of a transposed matrix is one of its own
