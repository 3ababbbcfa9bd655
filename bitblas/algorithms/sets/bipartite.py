"""Bipartite graphs: the side of each vertex, or None if an odd cycle exists; projection to one side.

Method: breadth-first searches from one vertex of each component; the side of a vertex is the parity of its level. The
graph is bipartite if and only if no edge has both ends on one side.

State: the levels of the search.

Input: A with a symmetric structure; values and dtype are ignored. A graph with a self loop is not bipartite.

Check: NetworkX's is_bipartite; neighbour sets, pair by pair.

Konig: Theorie der endlichen und unendlichen Graphen. Leipzig 1936.
Newman: Scientific collaboration networks, II. Physical Review E 64 (2001).
Zhou, Ren, Medo, Zhang: Bipartite network projection and personal recommendation. Physical Review E 76 (2007).
"""

from .. import _check as check
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


# ---- Bipartite projection: connect vertices of one side, weighted by their number of common neighbours.
#
# Method: the rows of these vertices times their transpose: two rows overlap where both vertices have a neighbour.
#
# State: S has a row for each of the vertices.
#
# Input: A symmetric, values are ignored; a set of vertices without edges between them.


@algorithm(graph="bipartite", answer="undirected graph")
def bipartite_projection(A, vertices, *, gb=None):
    """The graph on one side of a bipartite graph, with the number of common neighbours as weight.

    A: Matrix, n x n, any dtype, symmetric structure (checked). vertices: one side, or a part of it. gb: the library,
    bitblas if None.
    Returns a Matrix, INT64, n x n, with entries between distinct `vertices` that share a neighbour.
    Raises InvalidValue (A not symmetric, an edge between two of `vertices`), DimensionMismatch (A not square),
    IndexOutOfBound (a vertex out of range), TypeError (wrong types).
    """
    n = A.nrows
    vertices = check.vertices(gb, "vertices", vertices, n)
    v, INT64 = sorted(set(vertices)), gb.dtypes.INT64
    P = gb.Matrix(INT64, n, n)
    if not v:
        return P
    # S = A[v, :]
    S = A[v, :].new()
    if S[:, v].new().nvals:
        raise gb.exceptions.InvalidValue(
            "argument vertices: expected no edge between two of them, got one. Hint: bipartite_sides returns the side "
            "of each vertex."
        )
    # P[v, v] = S plus.pair S', off the diagonal
    P[v, v] << S.mxm(S.T, gb.semiring.plus_pair[INT64]).new().select(gb.select.offdiag).new()
    return P
