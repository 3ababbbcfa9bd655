"""The undirected pattern of a matrix that the orders read, without values and self loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import binary
from semirings.dtypes import BOOL

from ..core import Matrix
from ..core.matrix.read import MatrixRead
from ..exceptions import DimensionMismatch
from ..formats import Structure
from ..store import MatrixStore


def square(A: Any) -> Any:
    """A Matrix whose rows and columns are the same vertices. TypeError, DimensionMismatch for anything else."""
    if not isinstance(A, MatrixRead):
        raise TypeError(f"A: expected a Matrix, got {type(A).__qualname__}; Matrix.from_coo makes one")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"A: expected a square matrix, whose rows and columns are the same vertices, got {A.shape}; a bipartite "
            "graph is one of nrows + ncols vertices"
        )
    return A._matrix  # the transpose has the same edges


def undirected(A: Any) -> Any:
    """The pattern of A + A', in the user's order; what is computed for it does not stay with A."""
    pattern = A._in_users_order.structure
    G = Matrix._from_store(MatrixStore(Structure(pattern.primary), BOOL, np.True_))
    if pattern.symmetric:
        return G
    return G.ewise_add(G.T, binary.lor).new()


def firsts(xp: Any, ascending: Any) -> Any:
    """Where each run of equal numbers begins."""
    fresh = xp.ones(len(ascending), bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return xp.flatnonzero(fresh)


def inverse(xp: Any, perm: Any) -> Any:
    """The place of each number in a permutation."""
    places = xp.empty_like(perm)
    places[perm] = xp.arange(len(perm), dtype=perm.dtype)
    return places


def by(xp: Any, *keys: Any) -> Any:
    """The order of the places by the first key, equal ones by the next, then by number."""
    order = xp.argsort(keys[-1], kind="stable")
    for key in keys[-2::-1]:
        order = order[xp.argsort(key[order], kind="stable")]
    return order
