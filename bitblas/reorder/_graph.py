"""The undirected pattern of a matrix that the orders read, without values and self loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import binary
from semirings.dtypes import BOOL

from ..core import Matrix
from ..core.matrix.views import MatrixRead
from ..exceptions import DimensionMismatch
from ..formats import Structure
from ..store import MatrixStore


def square(A: Any) -> Any:
    """Validate a square Matrix. Raises TypeError, DimensionMismatch."""
    if not isinstance(A, MatrixRead):
        raise TypeError(f"A: expected a Matrix, got {type(A).__qualname__}. Hint: Matrix.from_coo makes one")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"A: expected a square matrix, whose rows and columns are the same vertices, got {A.shape}. Hint: store a "
            "bipartite graph with nrows + ncols vertices"
        )
    return A._matrix  # the transpose has the same edges


def undirected(A: Any) -> Any:
    """The pattern of A + A' in the user's order; nothing is cached in A."""
    pattern = A._in_users_order.structure
    G = Matrix._from_store(MatrixStore(Structure(pattern.primary), BOOL, np.True_))
    if pattern.symmetric:
        return G
    return G.ewise_add(G.T, binary.lor).new()


def firsts(xp: Any, ascending: Any) -> Any:
    """The start of each run of equal numbers."""
    fresh = xp.ones(len(ascending), bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return xp.flatnonzero(fresh)


def inverse(xp: Any, perm: Any) -> Any:
    """The inverse permutation."""
    places = xp.empty_like(perm)
    places[perm] = xp.arange(len(perm), dtype=perm.dtype)
    return places


def by(xp: Any, *keys: Any) -> Any:
    """Sort positions by the first key, ties by the next keys, then by position."""
    order = xp.argsort(keys[-1], kind="stable")
    for key in keys[-2::-1]:
        order = order[xp.argsort(key[order], kind="stable")]
    return order
