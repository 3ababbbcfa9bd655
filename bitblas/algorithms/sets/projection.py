"""Bipartite projection: connect vertices of one side, weighted by their number of common neighbours.

Method: the rows of these vertices times their transpose: two rows overlap where both vertices have a neighbour.

State: S has a row for each of the vertices.

Input: A symmetric, values are ignored; a set of vertices without edges between them.

Check: neighbour sets, pair by pair.

Newman: Scientific collaboration networks, II. Physical Review E 64 (2001).
Zhou, Ren, Medo, Zhang: Bipartite network projection and personal recommendation. Physical Review E 76 (2007).
"""

from .. import _check as check
from .._algorithm import algorithm


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
