"""Projections of a bipartite graph: who shares neighbours on the other side, and how many.

Input: A symmetric, of which the values do not matter; a set of vertices without edges between them.

Check: sets of neighbours, pair by pair.

Newman: Scientific collaboration networks, II. Physical Review E 64 (2001).
Zhou, Ren, Medo, Zhang: Bipartite network projection and personal recommendation. Physical Review E 76 (2007).
"""

from .. import _check as check
from .._parts import numbers


@check.on_its_device
def bipartite_projection(A, vertices, *, gb=None):
    """The graph of the vertices on one side of a bipartite graph: an edge says how many neighbours two of them share.

    A: Matrix, n x n, any dtype, symmetric structure (not checked). vertices: one side, or a part of it. gb: the
    library, bitblas if None.
    Returns a Matrix, INT64, n x n, with entries between different ones of `vertices` that share a neighbour.
    Raises InvalidValue (an edge between two of `vertices`), DimensionMismatch (A not square), IndexOutOfBound (a vertex
    out of range), TypeError (wrong kinds).
    """
    gb = check.library(gb)
    n = check.square(gb, A)
    vertices = check.vertices(gb, "vertices", vertices, n)
    side = numbers(n, gb) < 0
    side[vertices] = True
    i, j, _ = A.to_coo()
    rows = side[i]
    if bool((rows & side[j]).any()):
        raise gb.exceptions.InvalidValue(
            "argument vertices: expected no edge between two of them, got one. Hint: bipartite_sides says which side "
            "each vertex is on."
        )
    # P = S plus.pair S', without its diagonal; S = the rows of A that belong to the vertices
    S = gb.Matrix.from_coo(i[rows], j[rows], True, nrows=n, ncols=n)
    P = S.mxm(S.T, gb.semiring.plus_pair[gb.dtypes.INT64]).new()
    P << P.select(gb.select.offdiag)
    return P
