"""A Vector where an element-wise operation expects a Matrix: repeated in every row, or in every column."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import binary
from semirings.dtypes import BOOL, DataType

from ...device import Device
from ...exceptions import DimensionMismatch
from ...store import MatrixStore, full_vector
from ...verbs import submatrix
from ..convert import same_device
from ..matrix.read import MatrixRead
from .base import Operand


class Broadcast(MatrixRead, Operand):
    """`vector` with the shape of `partner`. columns: it stands left of it and is one of its columns, else a row.

    restrict: it is needed only where the partner has entries.
    """

    __slots__ = ("columns", "partner", "restrict", "vector")
    _transposed = False
    _order = None  # made in the user's order

    def __init__(self, vector: Any, partner: Any, where: str, *, columns: bool, restrict: bool) -> None:
        self.vector, self.partner, self.columns, self.restrict = vector, partner, columns, restrict
        size = partner.shape[0 if columns else 1]
        if vector.size != size:
            raise DimensionMismatch(
                f"{where}: expected a Vector of size {size}, as many as the matrix of {partner.shape} has "
                f"{'rows' if columns else 'columns'}, got {vector.size}"
            )
        same_device(where, vector, partner)

    @property
    def name(self) -> str:
        return self.vector.name

    @property
    def dtype(self) -> DataType:
        return self.vector.dtype

    @property
    def device(self) -> Device:
        return self.vector.device

    @property
    def nrows(self) -> int:
        return self.partner.nrows

    @property
    def ncols(self) -> int:
        return self.partner.ncols

    @property
    def _store(self) -> MatrixStore:
        u = self.vector._store
        if self.restrict:
            return submatrix.spread(self.partner._store, u, columns=self.columns)
        ones = full_vector(u.device, self.ncols if self.columns else self.nrows, np.bool_(True), BOOL)
        if self.columns:
            return submatrix.outer(u, ones, binary.first[u.dtype])
        return submatrix.outer(ones, u, binary.second[u.dtype])
