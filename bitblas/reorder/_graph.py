"""The graph that an order looks at."""

from __future__ import annotations

from typing import Any

from ..core import Matrix
from ..core.matrix_read import MatrixRead
from ..exceptions import DimensionMismatch


def square(A: Any) -> Matrix:
    """A Matrix whose rows and columns are the same vertices. TypeError, DimensionMismatch for anything else."""
    if not isinstance(A, MatrixRead):
        raise TypeError(f"A: expected a Matrix, got {type(A).__qualname__}; Matrix.from_coo makes one")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"A: expected a square matrix, whose rows and columns are the same vertices, got {A.shape}; for a bipartite "
            "graph make one of nrows + ncols vertices"
        )
    return A._matrix  # the transpose has the same edges
