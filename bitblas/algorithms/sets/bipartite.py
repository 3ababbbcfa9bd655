"""Bipartite test: the side of each vertex, or None if an odd cycle exists.

Method: breadth-first searches from one vertex of each component; the side of a vertex is the parity of its level. The
graph is bipartite if and only if no edge has both ends on one side.

State: the levels of the search.

Input: A with a symmetric structure; values and dtype are ignored. A graph with a self loop is not bipartite.

Check: NetworkX's is_bipartite.

Konig: Theorie der endlichen und unendlichen Graphen. Leipzig 1936.
"""

from .._algorithm import algorithm
from .._parts import index_range
from ..connectivity.components import connected_components
from ..paths.bfs import bfs_levels


@algorithm(graph="undirected", answer="class per vertex")
def bipartite_sides(A, *, gb=None):
    """The side of each vertex, 0 or 1, if the graph is bipartite.

    A: Matrix, n x n, any dtype, symmetric structure (checked). gb: the library, bitblas if None.
    Returns a Vector, INT64, size n, full; the smallest vertex of each component is on side 0. None if the graph is not
    bipartite.
    Raises InvalidValue (A not symmetric), DimensionMismatch (A not square), TypeError (A is not a Matrix).
    """
    # roots = the smallest vertex of each component
    label = connected_components(A, gb=gb).to_dense()
    (roots,) = (label == index_range(A.nrows, gb)).nonzero()
    # side = level mod 2
    side = gb.Vector.from_dense(bfs_levels(A, roots, gb=gb).to_dense(0) % 2)
    for k in (0, 1):
        # t<u> = A any.pair u: vertices of side k with a neighbour on the same side
        u = side.select(gb.select.valueeq, k).new()
        if A.mxv(u, gb.semiring.any_pair[gb.dtypes.BOOL]).new(mask=u.S).nvals:
            return None
    return side
