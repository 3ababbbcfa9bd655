"""Leiden: connected communities of high modularity.

Method: like Louvain, but the vertices of the next level are well-connected parts of the communities, not the
communities. Each part starts in the community that contains it and may leave later. Parts grow from single vertices,
which join where modularity gains most (`_local_moves.py`). Finally, disconnected communities are split into components,
which only raises modularity.

State: as for `louvain`.

Input: A with symmetric structure and values; a self loop counts as both directions.

Check: modularity of NetworkX's louvain_communities less 1 %; each community is connected.

Traag, Waltman, van Eck: From Louvain to Leiden, guaranteeing well-connected communities. Scientific Reports 9 (2019).
"""

from .._algorithm import algorithm
from .._parts import renumber
from ..connectivity.components import connected_components
from .louvain import communities


@algorithm(graph="undirected", answer="class per vertex", arrays=(96, 44))
def leiden(A, *, weighted=False, resolution=1.0, tol=1e-4, seed=None, gb=None):
    """Connected communities of high modularity in an undirected graph.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). weighted: bool, whether the values of A (0 or
    more) are weights. resolution: float >= 0; above 1 communities are smaller. tol: float > 0, the least modularity
    gain that is worth a round. seed: int, or None for 0: the same seed gives the same communities. gb: the library,
    bitblas if None.
    Returns a Vector, INT64, size n, full: communities numbered from 0 without gaps, each connected.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError.
    """
    label = communities(A, weighted, resolution, tol, seed, True, gb)
    # B = A<label[i] == label[j]>; communities = components of B
    i, j, _ = A.to_coo(values=False)
    same = label[i] == label[j]
    B = gb.Matrix.from_coo(i[same], j[same], True, nrows=A.nrows, ncols=A.ncols)
    label, _ = renumber(connected_components(B, gb=gb).to_dense(), gb)
    return gb.Vector.from_dense(label.astype("int64"))
