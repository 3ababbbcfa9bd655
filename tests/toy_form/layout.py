"""A stored format that is no part of bitblas: coordinate lists by row. test_toy_form.py puts it into a copy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...device import Device
from ...typing import Array
from .. import validation
from ..contract import LazyDict, Order, compute_once
from ..csr import layout as csr
from .cost import FORMATS


@dataclass(eq=False)
class Toy(csr.RowsOnDemand):
    """Entry e is in row row[e] and column col[e]; sorted by both."""

    device: Device
    nrows: int
    ncols: int
    row: Array  # at least one element each, so that every array has an address
    column: Array
    nvals: int
    cache = LazyDict()

    format = FORMATS[0]

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Toy, Order]:
        kind, row = csr.index_type(rows.nrows), rows.coo()[0]
        row = row.astype(kind) if rows.nvals else rows.device.xp.zeros(1, kind)
        return cls(rows.device, rows.nrows, rows.ncols, row, rows.col, rows.nvals), None

    def plain(self) -> csr.Csr:
        def compute() -> csr.Csr:
            ptr = csr.pointers_of(self.row[: self.nvals].astype(np.int64), self.nrows, self.device)
            return csr.from_arrays(self.device, self.nrows, self.ncols, ptr, self.column[: self.nvals])

        return compute_once(self.cache, "plain", compute)

    def arrays(self) -> dict[str, Array]:
        return {"row": self.row, "column": self.column}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Toy:
        nrows, ncols, nvals = validation.expect_numbers(numbers, "nrows", "ncols", "nvals")
        size = validation.INDEX, max(1, nvals)
        return cls(device, nrows, ncols, *validation.expect_arrays(arrays, row=size, column=size), nvals)

    def check(self) -> None:
        row = self.row[: self.nvals]
        if self.nvals and not (bool((row[1:] >= row[:-1]).all()) and 0 <= int(row[0]) <= int(row[-1]) < self.nrows):
            raise ValueError(f"row: expected numbers from 0 to {self.nrows - 1} that do not fall")
        self.plain().check()
