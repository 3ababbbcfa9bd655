"""Ego networks: the subgraph induced by the vertices within a radius of a centre.

Method: a breadth-first search limited to `radius` levels, then the entries of A between the vertices found.

State: the levels of the search.

Input: any square A. A stored entry A[i, j] is the edge i -> j, and searches follow its direction; join A with its
transpose to ignore directions.

Check: NetworkX's ego_graph.

Everett, Borgatti: Ego network betweenness. Social Networks 27 (2005).
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import induced_subgraph
from .bfs import bfs_levels


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
