"""Eccentricity and diameter: distance to the farthest vertex, per vertex and for the whole graph.

Method: for all vertices, breadth-first searches against the edges, 64 at once (`_words.py`): the last round that brings
anything new to a vertex is its eccentricity. For the diameter few searches suffice: one from v, of eccentricity e, says
that w at the distance d has at least max(d, e - d) and at most e + d. Searches begin where most is open, by turns at
the highest upper and the lowest lower bound, until no upper bound is above the highest lower one.

State: far holds the eccentricities, FP64; low and high the bounds, arrays.

Input: any square A for the eccentricity, with a symmetric structure for the diameter; values and dtype do not matter.

Check: searches from every vertex.

Takes, Kosters: Determining the diameter of small world networks. CIKM 2011.
"""

from .. import _check as check
from .. import _watch as watch
from .._parts import degrees
from .._words import Searches, batches
from ..connectivity.components import connected_components
from .bfs import bfs_levels


@check.on_its_device
def eccentricity(A, *, gb=None):
    """The number of edges to the farthest vertex that each vertex reaches.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full: vertices that are not reached do not count.
    Raises DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    loop = check.loop(_searching, A, gb)
    searches, far = loop.state["searches"], loop.state["far"]
    # most = max(most, far) over all batches
    most = gb.Vector.from_scalar(0.0, n)
    for sources in batches(n):
        searches.start(sources)
        far << 0.0
        loop.run()
        most(gb.binary.max) << far
    return most.dup(gb.dtypes.INT64)


def _searching(A, gb):
    searches, far = Searches(A, gb), gb.Vector(gb.dtypes.FP64, A.nrows)

    def body(_):
        searches.step(back=True)
        # far<fresh> = depth
        far(searches.fresh.V) << searches.depth

    return {"body": body, "while_": searches.going, "searches": searches, "far": far}


@check.on_its_device
def diameter_bounds(A, *, searches=8, gb=None):
    """Bounds of the diameter of an undirected graph, from few searches.

    A: Matrix, n x n, any dtype, symmetric structure (checked). searches: int >= 1, how many at most. gb: the
    library, bitblas if None.
    Returns two Python ints: the diameter is at least the first and at most the second one. What is not connected does
    not count: it is the largest diameter of a component; 0 and 0 for a graph without edges.
    Raises InvalidValue (A not symmetric, searches out of range), DimensionMismatch (A not square), TypeError (wrong
    types).
    """
    gb = check.library(gb)
    check.symmetric(gb, A)
    return _bounds(A, check.count(gb, "searches", searches, "8 is the default"), gb)


@check.on_its_device
def diameter(A, *, gb=None):
    """The longest of the shortest paths of an undirected graph, in edges.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Python int. What is not connected does not count: it is the largest diameter of a component.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    gb = check.library(gb)
    return _bounds(A, check.symmetric(gb, A), gb)[0]


def _bounds(A, searches, gb):
    n = A.nrows
    if n == 0:
        return 0, 0
    label = connected_components(A, gb=gb).to_dense()
    # high = the vertices of the component less one; low = 0
    size = gb.Vector.from_coo(label, label * 0 + 1, size=n, dup_op=gb.binary.plus).to_dense(0)
    high, low, lowest = size[label] - 1, label * 0, False
    # first the vertex of the highest degree in the largest component
    start = (high * (n + 1) + degrees(A, gb)).argmax()
    for _ in range(searches):
        # d = the distances from start; e = the largest one
        start = int(start)
        v, d = bfs_levels(A, start, gb=gb).to_coo()
        e = d.max()
        low[v], high[v] = low[v].clip(d.clip(e - d)), high[v].clip(max=e + d)
        high[start] = low[start] = e
        watch.tell()
        open_ = high > low.max()
        if not open_.any():
            break
        # the next one: the lowest lower bound, or the highest upper one, of the vertices that are open
        start = (low + n * ~open_).argmin() if lowest else (high * open_).argmax()
        lowest = not lowest
    return int(low.max()), int(high.max().clip(low.max()))
