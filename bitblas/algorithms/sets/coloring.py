"""Coloring: numbers for the vertices, as few as possible, such that neighbours have different ones.

Method: one color after the other. Among the vertices that have none yet, a greedy independent set, in the order of
falling degree (equal ones: random), gets the next color. So a vertex takes the lowest color that no neighbour before
it in this order has: the result is that of the sequential greedy coloring, largest degree first. It needs at most one
color more than the highest degree, and mostly far fewer.

State: s holds the scores (the order) of the vertices without a color, INT64; no entry stands for "has one".

Input: A with a symmetric structure (each edge stored both ways); values, dtype and self loops do not matter.

Check: greedy coloring, vertex by vertex.

Welsh, Powell: An upper bound for the chromatic number of a graph. The Computer Journal 10 (1967), for the order.
Jones, Plassmann: A parallel graph coloring heuristic. SIAM J. on Scientific Computing 14 (1993).
"""

from .. import _check as check
from .._parts import numbers
from .._scores import hashes
from .mis import add_greedily


@check.on_its_device
def coloring(A, *, seed=None, gb=None):
    """A proper coloring of an undirected graph.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). seed: int, or None for 0: the same seed gives the
    same colors, on every device and library. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: colors from 0, without gaps.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library, seed no integer).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    seed = 0 if seed is None else check.integer("seed", seed)

    # s = (degree, random)
    degree, random = hashes(A, seed, gb)
    s = gb.Vector.from_dense(degree << 32 | random)
    colors, fresh = gb.Vector(gb.dtypes.INT64, n), gb.Vector(gb.dtypes.BOOL, n)
    color = 0
    while s.nvals:
        # fresh = a greedy independent set of s
        fresh.clear()
        add_greedily(fresh, s.dup(), A, gb)
        # colors<fresh> = color
        colors(fresh.S) << color
        # s<!fresh, replace> = s
        s(~fresh.S, gb.replace) << s
        color += 1
    return colors


@check.on_its_device
def color_classes(A, *, seed=None, gb=None):
    """The classes of a proper coloring: sets of vertices of which no two are adjacent.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). seed: int, or None for 0, as for `coloring`. gb: the
    library, bitblas if None.
    Returns a Matrix, BOOL, k x n for k colors: row c has an entry at each vertex of color c.
    Raises DimensionMismatch (A not square), TypeError (A is no Matrix of the library, seed no integer).
    """
    colors = coloring(A, seed=seed, gb=gb)
    gb = check.library(gb)
    color = colors.to_dense(0)
    k = int(color.max()) + 1 if len(color) else 0
    return gb.Matrix.from_coo(color, numbers(len(color), gb), True, nrows=k, ncols=len(color))
