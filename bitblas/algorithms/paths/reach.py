"""Reachability, ego networks and shortest-path trees: what a search from a vertex finds.

Method: descendants and ancestors: a breadth-first search along the edges, or against them. The others: see below.

State: the levels of the search.

Input: any square A. A stored entry A[i, j] is the edge i -> j; dtype and values are ignored.

Check: NetworkX's descendants and ancestors; NetworkX's ego_graph; every edge of the tree is on a shortest path from the
source.

Purdom: A transitive closure algorithm. BIT 10 (1970).
Everett, Borgatti: Ego network betweenness. Social Networks 27 (2005).
Bellman: On a routing problem. Quarterly of Applied Mathematics 16 (1958).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import induced_subgraph, transposed
from .bfs import bfs_levels, bfs_parents
from .sssp import distances_until


@algorithm(answer="value per vertex", work="search")
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


@algorithm(answer="value per vertex", work="search")
def ancestors(A, source, *, depth_limit=None, gb=None):
    """The vertices from which `source` is reachable, by any number of edges or at most `depth_limit`.

    A: Matrix, n x n, any dtype. source: int, 0 <= source < n, or several: paths end at any of them. depth_limit:
    int >= 0; None: no limit. gb: the library, bitblas if None.
    Returns a Vector, BOOL, size n: True at these vertices, excluding the source, no entry elsewhere.
    Raises as `descendants` does.
    """
    # descendants in A', which is cached
    return descendants(loops.cached(transposed, A, gb), source, depth_limit=depth_limit, gb=gb)


# ---- Ego networks: the subgraph induced by the vertices within a radius of a centre.
#
# Method: a breadth-first search limited to `radius` levels, then the entries of A between the vertices found.
#
# State: the levels of the search.
#
# Input: any square A. A stored entry A[i, j] is the edge i -> j, and searches follow its direction; join A with its
# transpose to ignore directions.


@algorithm(answer="subgraph")
def ego_graph(A, center, radius=1, *, gb=None):
    """The subgraph within `radius` edges of a vertex, on the same vertices.

    A: Matrix, n x n, any dtype. center: int, 0 <= center < n, or several: the distance counts from the nearest. radius:
    int >= 0. gb: the library, bitblas if None.
    Returns a Matrix, n x n, of A's dtype: the entries of A between these vertices.
    Raises InvalidValue (radius below 0), DimensionMismatch (A not square), IndexOutOfBound (center out of range),
    TypeError (wrong types).
    """
    n = A.nrows
    center = check.sources(gb, "center", center, n)
    radius = check.count(gb, "radius", radius, "1 includes the neighbours", least=0)
    # the entries of A between vertices with a level
    return induced_subgraph(A, bfs_levels(A, center, depth_limit=radius, gb=gb), gb)


# ---- Shortest-path trees: distances from a source and the predecessor of each vertex.
#
# Method: an edge is tight if the distance of its end equals that of its start plus its weight. A breadth-first tree of
# the tight edges contains shortest paths only. The comparison repeats the sums that gave the distances, so rounding is
# exact; cycles of weight 0 among tight edges cannot occur in a tree.
#
# State: T holds the tight edges.
#
# Input: as for `sssp`: weights may be negative, zero or infinite.


@algorithm(answer=("distance per vertex", "parent per vertex"), weighted=True, arrays=(24, 40))
def sssp_tree(A, source, *, targets=None, limit=None, delta=None, gb=None):
    """The distance from `source` to each vertex, and its predecessor on a shortest path.

    A: Matrix, n x n; in a BOOL matrix every entry, also False, is an edge of weight 1. source: int, 0 <= source < n,
    or several: paths start at any of them. targets, limit, delta: as for `sssp`, but vertices beyond the targets and
    the limit may have entries too. gb: the library, bitblas if None.
    Returns two Vectors of size n: the distances, FP32 or FP64 if A is, else INT64, and the parents, INT64, any one of
    several candidates; a source is its own parent; no entry at an unreachable vertex.
    Raises InvalidValue (a weight is NaN or -infinity; delta or limit out of range; a reachable negative cycle),
    DimensionMismatch (A not square), IndexOutOfBound (a vertex out of range), TypeError (wrong types).
    """
    source = check.sources(gb, "source", source, A.nrows)
    targets = None if targets is None else check.sources(gb, "targets", targets, A.nrows)
    d, _ = distances_until(A, source, targets, limit, delta, gb)
    if A.dtype == gb.dtypes.BOOL:
        depth = None if targets is None and limit is None else d.reduce(gb.monoid.max).new().value
        return d, bfs_parents(A, source, depth_limit=depth, gb=gb).dup(mask=d.S)
    # T = A<d[i] + A[i, j] == d[j]>
    distance = d.to_dense(0)
    reached = d.apply(gb.unary.one[gb.dtypes.BOOL]).new().to_dense(False)
    i, j, w = A.to_coo()
    tight = reached[i] & (distance[i] + w.astype(distance.dtype) == distance[j])
    T = gb.Matrix.from_coo(i[tight], j[tight], True, nrows=A.nrows, ncols=A.ncols)
    return d, bfs_parents(T, source, gb=gb).dup(mask=d.S)
