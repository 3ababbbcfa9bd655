"""A stored form that is no part of bitblas: coordinate lists by row. test_toy_form.py puts it into a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...device import Device
from .. import validation
from ..contract import Format, LazyDict
from ..csr import layout as csr
from .kernels import FORMATS


@dataclass(eq=False)
class Toy(csr.Rows):
    """Entry e is in row row[e] and column col[e]; sorted by both."""

    device: Device
    nrows: int
    ncols: int
    row: Any  # at least one element each, so that every array has an address
    col: Any
    nvals: int
    cache = LazyDict()

    formats: ClassVar[tuple[Format, ...]] = FORMATS
    format = FORMATS[0]
    key = format.key
    width = 0

    @property
    def ptr(self) -> Any:
        """Where each row begins: what kernels ask for, and no array of the form."""
        if "ptr" not in self.cache:
            ptr = csr.pointers_of(self.row[: self.nvals].astype(np.int64), self.nrows, self.device)
            self.cache["ptr"] = ptr.astype(csr.pointer_type(self.nvals))
        return self.cache["ptr"]

    @property
    def nbytes(self) -> int:
        return int(self.row.nbytes + self.col.nbytes)

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Toy, Any]:
        kind, row = csr.index_type(rows.nrows), rows.coo()[0]
        row = row.astype(kind) if rows.nvals else rows.device.xp.zeros(1, kind)
        return cls(rows.device, rows.nrows, rows.ncols, row, rows.col, rows.nvals), None

    def to_csr(self, order: bool) -> tuple[csr.Csr, Any]:
        return csr.from_arrays(self.device, self.nrows, self.ncols, self.ptr, self.columns()), None

    def columns(self, low: int = 0, high: int | None = None) -> Any:
        return self.col[low : self.nvals if high is None else high]

    def columns_at(self, places: Any) -> Any:
        return self.col[places]

    def coo(self) -> tuple[Any, Any]:
        return self.row[: self.nvals].astype(np.int64), self.columns().astype(np.int64)

    def arrays(self) -> dict[str, Any]:
        return {"row": self.row, "col": self.col}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Toy:
        nrows, ncols, nvals = validation.expect_numbers(numbers, "nrows", "ncols", "nvals")
        size = validation.INDEX, max(1, nvals)
        return cls(device, nrows, ncols, *validation.expect_arrays(arrays, row=size, col=size), nvals)

    def check(self) -> None:
        row = self.row[: self.nvals]
        if self.nvals and not (bool((row[1:] >= row[:-1]).all()) and 0 <= int(row[0]) <= int(row[-1]) < self.nrows):
            raise ValueError(f"row: expected numbers from 0 to {self.nrows - 1} that do not fall")
        validation.check_rows(self.device.xp, self.ptr, self.col, self.nvals, self.ncols)
