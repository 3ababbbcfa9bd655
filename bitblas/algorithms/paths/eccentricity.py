"""Eccentricity and diameter: distance to the farthest vertex, per vertex and for the whole graph.

Method: for all vertices, breadth-first searches against the edges, 64 at once (`_parts.py`): the last round that
adds a bit at a vertex is its eccentricity. For the diameter a few searches suffice: a search from v with eccentricity e
bounds the eccentricity of a vertex at distance d to at least max(d, e - d) and at most e + d. Searches start
alternately at the highest upper and the lowest lower bound of the open vertices, until no upper bound exceeds the
highest lower bound.

State: far holds the eccentricities, FP64; low and high the bounds, arrays.

Input: any square A for the eccentricity, a symmetric structure for the diameter; values and dtype are ignored.

Check: searches from every vertex.

Takes, Kosters: Determining the diameter of small world networks. CIKM 2011.
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import MultiSourceSearch, batches, degrees
from ..connectivity.components import connected_components
from .bfs import bfs_levels


@algorithm(answer="value per vertex", work="sources")
def eccentricity(A, *, gb=None):
    """The number of edges to the farthest vertex reachable from each vertex.

    A: Matrix, n x n, any dtype. gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full; unreachable vertices are ignored.
    Raises DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    n = A.nrows
    loop = loops.cached_loop(_searching, A, gb)
    searches, far = loop.state["searches"], loop.state["far"]
    # most = max(most, far) over all batches
    most = gb.Vector.from_scalar(0.0, n)
    work = loops.shared_work()
    for sources in work.part(batches(n)):
        searches.start(sources)
        far << 0.0
        loop.run()
        most(gb.binary.max) << far
    return work.total(most, "max").dup(gb.dtypes.INT64)


def _searching(A, gb):
    searches, far = MultiSourceSearch(A, gb), gb.Vector(gb.dtypes.FP64, A.nrows)

    def body(_):
        searches.step(back=True)
        # far<fresh> = depth
        far(searches.fresh.V) << searches.depth

    return {"body": body, "while_": searches.going, "searches": searches, "far": far}


@algorithm(graph="undirected", answer=("count", "count"), work="search")
def diameter_bounds(A, *, searches=8, gb=None):
    """Lower and upper bounds of the diameter of an undirected graph, from a few searches.

    A: Matrix, n x n, any dtype, symmetric structure (checked). searches: int >= 1, the maximum number. gb: the library,
    bitblas if None.
    Returns two Python ints: the diameter is at least the first and at most the second, the largest over all components
    if the graph is not connected; 0 and 0 for a graph without edges.
    Raises InvalidValue (A not symmetric, searches out of range), DimensionMismatch (A not square), TypeError (wrong
    types).
    """
    return _bounds(A, check.count(gb, "searches", searches, "8 is the default"), gb)


@algorithm(graph="undirected", answer="count", work="search")
def diameter(A, *, gb=None):
    """The length of the longest shortest path of an undirected graph, in edges.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Python int, the largest diameter of a component if the graph is not connected.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    return _bounds(A, A.nrows, gb)[0]


def _bounds(A, searches, gb):
    n = A.nrows
    if n == 0:
        return 0, 0
    label = connected_components(A, gb=gb).to_dense()
    # high = size of the component - 1; low = 0
    size = gb.Vector.from_coo(label, label * 0 + 1, size=n, dup_op=gb.binary.plus).to_dense(0)
    high, low, lowest = size[label] - 1, label * 0, False
    # start = the vertex of highest degree in the largest component
    start = (high * (n + 1) + degrees(A, gb)).argmax()
    for _ in range(searches):
        # d = distances from start; e = max(d); low max= max(d, e - d); high min= e + d
        start = int(start)
        v, d = bfs_levels(A, start, gb=gb).to_coo()
        e = d.max()
        low[v], high[v] = low[v].clip(d.clip(e - d)), high[v].clip(max=e + d)
        high[start] = low[start] = e
        loops.report()
        open_ = high > low.max()
        if not open_.any():
            break
        # next start: the lowest lower or the highest upper bound of the open vertices
        start = (low + n * ~open_).argmin() if lowest else (high * open_).argmax()
        lowest = not lowest
    return int(low.max()), int(high.max().clip(low.max()))
