"""Leiden: connected communities of high modularity.

Method: Louvain's, but the vertices of the next level are not the communities: each is divided into well-connected parts
before, which begin there in the community that they are part of, so that a part may still leave. A part grows from
single vertices that join it where the modularity gains most (`_moves.py`). What is not connected at the end is divided
by components, which only gains.

State: as for `louvain`.

Input: A with symmetric structure and values; a self loop counts as both directions.

Check: modularity of NetworkX's louvain_communities less 1 %; each community is connected.

Traag, Waltman, van Eck: From Louvain to Leiden, guaranteeing well-connected communities. Scientific Reports 9 (2019).
"""

from .. import _check as check
from .._parts import numbered
from ..connectivity.components import connected_components
from .louvain import communities


@check.on_its_device
def leiden(A, *, weighted=False, resolution=1.0, tol=1e-4, seed=None, gb=None):
    """A division of an undirected graph into connected communities, of high modularity.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). weighted: bool, whether the values of A (0 or
    more) are weights. resolution: float >= 0; above 1 communities are smaller. tol: float > 0, the gain of modularity
    that is worth a round. seed: int, or None for 0: the same seed gives the same communities. gb: the library, bitblas
    if None.
    Returns a Vector, INT64, size n, full: communities from 0, without gaps, each connected.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError.
    """
    gb = check.library(gb)
    label = communities(A, weighted, resolution, tol, seed, True, gb)
    # B = the edges inside of communities; what it connects is a community
    i, j, _ = A.to_coo(values=False)
    same = label[i] == label[j]
    B = gb.Matrix.from_coo(i[same], j[same], True, nrows=A.nrows, ncols=A.ncols)
    label, _ = numbered(connected_components(B, gb=gb).to_dense(), gb)
    return gb.Vector.from_dense(label.astype("int64"))
