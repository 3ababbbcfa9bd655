"""Degree order: vertices by descending degree, ties by number.

On power-law graphs most entries then are in few rows and columns: small column numbers, and tiles that share hubs.
"""

from __future__ import annotations

from ..core import Matrix
from ..core.matrix.views import MatrixRead
from ..core.statement.running import guarded
from ..typing import Array
from ._graph import square


def degrees(A: Matrix) -> Array:
    """The number of entries in the row and column of each vertex (INT64)."""
    xp, n = A.device.xp, A.nrows
    rows, cols = A._stored.coo()
    return xp.bincount(rows, minlength=n) + xp.bincount(cols, minlength=n)


def degree(A: MatrixRead) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n): descending degree, ties by ascending number.

    Raises DimensionMismatch, TypeError.
    """
    return _degree(square(A))


@guarded
def _degree(A: Matrix) -> Array:
    return A.device.xp.argsort(-degrees(A), kind="stable")
