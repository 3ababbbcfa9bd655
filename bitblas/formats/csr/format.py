"""CSR: row pointers and sorted column numbers. The plain form, and the one through which the others convert."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...device import Device

KEY = "csr"


def index_type(limit: int) -> Any:
    """32-bit indices where they fit, else 64-bit ones."""
    return np.int32 if limit < 1 << 31 else np.int64


@dataclass(eq=False)
class Csr:
    """Row i holds entries ptr[i] .. ptr[i + 1]; `col` ascends within a row. Entry order: row, column."""

    device: Device
    nrows: int
    ncols: int
    ptr: Any  # nrows + 1
    col: Any  # nvals (at least 1 element, so that every array has an address)
    nvals: int
    cache: dict[Any, Any] = field(default_factory=dict)  # schedules of kernels: hubs, parallel bounds

    key = KEY
    rows_per_unit = 1  # a row is a unit

    @property
    def nbytes(self) -> int:
        return int(self.ptr.nbytes) + self.nvals * int(self.col.itemsize)

    @staticmethod
    def predict_bytes(nrows: int, ncols: int, nvals: int) -> int:
        return (nrows + 1) * index_type(nvals)().itemsize + nvals * index_type(ncols)().itemsize

    @property
    def units(self) -> int:
        """What kernels count: rows."""
        return self.nrows

    def rows(self) -> Any:
        """The row of every entry, INT64."""
        xp = self.device.xp
        if not self.nvals or self.nrows == 1:
            return xp.zeros(self.nvals, np.int64)
        # The rows that start at an entry are counted there; their running sum is the row number.
        starts = xp.bincount(self.ptr[1:-1], minlength=self.nvals + 1)[: self.nvals]
        return xp.cumsum(starts, dtype=np.int64)

    def coo(self) -> tuple[Any, Any]:
        return self.rows(), self.col[: self.nvals].astype(np.int64)

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        return self, None

    def adopt(self, twin: Csr) -> None:
        pass

    def transpose(self, order: bool) -> tuple[Csr, Any]:
        """The CSR of the transpose; order[e]: the place of its entry e in this form."""
        xp, nvals = self.device.xp, self.nvals
        ptr = xp.zeros(self.ncols + 1, index_type(nvals))
        xp.cumsum(xp.bincount(self.col[:nvals], minlength=self.ncols), out=ptr[1:])
        if self.device.is_gpu:
            places = xp.argsort(self.col[:nvals], kind="stable")
            col = self.rows()[places]
        else:
            from scipy.sparse import csr_array

            numbered = csr_array((np.arange(nvals), self.col[:nvals], self.ptr), shape=(self.nrows, self.ncols)).tocsc()
            places, col = numbered.data, numbered.indices
        turned = from_arrays(self.device, self.ncols, self.nrows, ptr, col)
        return turned, places.astype(index_type(nvals)) if order else None


def from_arrays(device: Device, nrows: int, ncols: int, ptr: Any, col: Any) -> Csr:
    """A Csr of arrays that are already right, in the index types that fit; `col` keeps at least one element."""
    nvals = len(col)
    col = col.astype(index_type(ncols), copy=False)
    if nvals == 0:
        col = device.xp.zeros(1, col.dtype)
    return Csr(device, nrows, ncols, ptr.astype(index_type(nvals), copy=False), col, nvals)
