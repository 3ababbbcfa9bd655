"""What orders share: the undirected pattern of a matrix, sorting, hashes; and the order by degree."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from semirings import binary
from semirings.dtypes import BOOL

from ..core import Matrix
from ..core.matrix.views import MatrixRead
from ..core.statement.running import guarded
from ..exceptions import DimensionMismatch
from ..formats import Structure
from ..store import MatrixStore
from ..typing import Array


def square(A: MatrixRead) -> Matrix:
    """Validate a square Matrix. Raises TypeError, DimensionMismatch."""
    if not isinstance(A, MatrixRead):
        raise TypeError(f"A: expected a Matrix, got {type(A).__qualname__}. Hint: Matrix.from_coo makes one")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"A: expected a square matrix, whose rows and columns are the same vertices, got {A.shape}. Hint: store a "
            "bipartite graph with nrows + ncols vertices"
        )
    return A._matrix  # the transpose has the same edges


def undirected(A: Matrix) -> Matrix:
    """The pattern of A + A' in the user's order; nothing is cached in A."""
    pattern = A._in_users_order.structure
    G = Matrix._from_store(MatrixStore(Structure(pattern.primary), BOOL, np.True_))
    if pattern.symmetric:
        return G
    return G.ewise_add(G.T, binary.lor).new()


def firsts(xp: ModuleType, ascending: Array) -> Array:
    """The start of each run of equal numbers."""
    fresh = xp.ones(len(ascending), bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return xp.flatnonzero(fresh)


def inverse(xp: ModuleType, perm: Array) -> Array:
    """The inverse permutation."""
    places = xp.empty_like(perm)
    places[perm] = xp.arange(len(perm), dtype=perm.dtype)
    return places


def by(xp: ModuleType, *keys: Array) -> Array:
    """Sort positions by the first key, ties by the next keys, then by position."""
    order = xp.argsort(keys[-1], kind="stable")
    for key in keys[-2::-1]:
        order = order[xp.argsort(key[order], kind="stable")]
    return order


def hash16(x: Array) -> Array:
    """A 16-bit hash of integers."""
    x = x & 0xFFFFFFFF
    x = ((x ^ x >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    return (x ^ x >> 13) & 0xFFFF


def degree(A: MatrixRead) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n): descending degree, ties by ascending number. On
    power-law graphs most entries then are in few rows and columns: small column numbers, and tiles that share hubs.

    Raises DimensionMismatch, TypeError.
    """
    return _degree(square(A))


@guarded
def _degree(A: Matrix) -> Array:
    xp, n = A.device.xp, A.nrows
    rows, cols = A._stored.coo()
    return xp.argsort(-(xp.bincount(rows, minlength=n) + xp.bincount(cols, minlength=n)), kind="stable")
