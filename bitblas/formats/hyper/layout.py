"""Hypersparse: lists of the rows and columns that have entries, and a small CSR in which these are renumbered.

Ten entries of a 2^60 x 2^60 matrix take about 300 bytes. Every kernel runs on the small matrix unchanged, and the lists
translate results back to the original numbers. (SuiteSparse's hypersparse format lists rows only: its columns stay as
wide as the matrix, and so would the vectors that kernels read.) Lists ascend, so entries are in CSR order. Every listed
row and column has an entry, so equal matrices have equal arrays.

Products run on the rows inside (operations/hypersparse.py). Code that needs all rows, such as a captured loop, gets
plain ones, which are built for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ... import tuning
from ...device import Device
from ...typing import Array
from .. import validation
from ..contract import LazyDict, Order, Region, StructureFacts
from ..csr import layout as csr
from ..csr.kernels import RowsCost, rows_bytes, rows_format

# ---- Sorted lists of distinct numbers (INT64): rows and columns here, and positions of a sparse vector.


def merge_lists(xp: ModuleType, a: Array, b: Array) -> Array:
    """The union of two lists; returns one of them unchanged if both are equal or the other is empty."""
    if a is b or not len(b) or (len(a) == len(b) and bool((a == b).all())):
        return a
    return xp.union1d(a, b) if len(a) else b


def placed(xp: ModuleType, index: Array, numbers: Array) -> tuple[Array, Array]:
    """The position of each wanted number in a list (arbitrary if missing), and whether it is there."""
    if not len(index):
        return xp.zeros(len(numbers), np.int64), xp.zeros(len(numbers), bool)
    place = xp.searchsorted(index, numbers)
    place[place == len(index)] = 0
    return place, index[place] == numbers


def within(index: Array, region: range) -> tuple[Array, Array]:
    """The numbers inside a range, as ascending offsets into it, and their positions in the list."""
    rank, up = index - region.start, region.step > 0
    rank = rank if up else rank[::-1]
    inside = (rank % region.step == 0) & (rank // region.step >= 0) & (rank // region.step < len(region))
    at = inside.nonzero()[0]
    return rank[inside] // region.step, at if up else len(index) - 1 - at


# ---- Cost: used if few rows or columns have entries, or on request.


def is_hyper(nrows: int, ncols: int, nvals: int) -> bool:
    """Whether empty rows and columns are too many to store a pointer, or a bit, for each."""
    most = max(nrows, ncols)
    return most >= tuning.count("hyper.floor") and nvals * tuning.count("hyper.share") < most


class HyperCost(RowsCost):
    """Lists of the rows and columns that have entries, and plain rows of that many."""

    name = "hyper"
    timed = False

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        """The shape alone decides whether it is used (`is_hyper`)."""
        return False

    def predict_bytes(self, facts: StructureFacts) -> int:
        rows, cols = min(facts.nrows, facts.nvals), min(facts.ncols, facts.nvals)
        return 8 * (rows + cols) + rows_bytes(rows, cols, facts.nvals)

    def scratch(self, facts: StructureFacts) -> int:
        return 24 * facts.nvals


FORMATS = (rows_format(HyperCost(), {"mxv": "hypersparse"}),)


# ---- The layout.


@dataclass(eq=False)
class Hyper(csr.RowsOnDemand):
    """Row k of `inner` is row rows[k], its column c is column cols[c]."""

    device: Device
    nrows: int
    ncols: int
    rows: Array  # INT64, ascending
    cols: Array
    inner: csr.Csr  # len(rows) x len(cols)
    cache = LazyDict()

    format = FORMATS[0]
    key = format.key

    @property
    def nvals(self) -> int:
        return self.inner.nvals

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes + self.cols.nbytes) + self.inner.nbytes

    def plain(self) -> csr.Csr:
        """All rows, for kernels that need them; OutOfMemory if their pointers do not fit."""
        if "plain" not in self.cache:
            xp, inner = self.device.xp, self.inner
            needed = csr.rows_bytes(self.nrows, self.ncols, self.nvals) + 8 * self.nrows
            self.device.foresee(f"matrix: the pointers of {self.nrows} rows that this operation needs", needed)
            ptr = xp.zeros(self.nrows + 1, csr.pointer_type(self.nvals))
            ptr[self.rows + 1] = inner.ptr[1:] - inner.ptr[:-1]
            xp.cumsum(ptr, out=ptr)
            self.cache["plain"] = csr.from_arrays(self.device, self.nrows, self.ncols, ptr, self.columns())
        found: csr.Csr = self.cache["plain"]
        return found

    def columns(self, low: int = 0, high: int | None = None) -> Array:
        return self.cols[self.inner.columns(low, high)]

    def columns_at(self, places: Array) -> Array:
        return self.cols[self.inner.columns_at(places)]

    def coo(self) -> tuple[Array, Array]:
        rows, cols = self.inner.coo()
        return self.rows[rows], self.cols[cols]

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Hyper, Order]:
        xp, length = rows.device.xp, rows.ptr[1:] - rows.ptr[:-1]
        nonempty = xp.flatnonzero(length).astype(np.int64)
        cols, col = xp.unique(rows.columns(), return_inverse=True)
        ptr = xp.append(rows.ptr[nonempty], rows.ptr[-1:])
        inner = csr.from_arrays(rows.device, len(nonempty), len(cols), ptr, col)
        return cls(rows.device, rows.nrows, rows.ncols, nonempty, cols.astype(np.int64), inner), None

    def clip(self, region: Region, order: bool) -> tuple[Hyper, Order]:
        keep = region.covers(*self.coo())
        return self.filter(keep)[0], self.device.xp.flatnonzero(keep) if order else None

    def filter(self, keep: Array) -> tuple[Hyper, Array]:
        return widened(self.inner.filter(keep)[0], self.rows, self.cols, self.nrows, self.ncols), keep

    def transpose(self, order: bool) -> tuple[Hyper, Order]:
        inner, places = self.inner.transpose(order)
        return Hyper(self.device, self.ncols, self.nrows, self.cols, self.rows, inner), places

    def is_symmetric(self) -> bool:
        same = len(self.rows) == len(self.cols) and bool((self.rows == self.cols).all())
        return same and self.inner.is_symmetric()

    def arrays(self) -> dict[str, Array]:
        return {"rows": self.rows, "cols": self.cols, "ptr": self.inner.ptr, "col": self.inner.col}

    def numbers(self) -> dict[str, int]:
        return super().numbers() | {"listed_rows": len(self.rows), "listed_cols": len(self.cols)}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Hyper:
        names = "nrows", "ncols", "nvals", "listed_rows", "listed_cols"
        nrows, ncols, nvals, m, n = validation.expect_numbers(numbers, *names)
        lists = {"rows": ((np.int64,), m), "cols": ((np.int64,), n)}
        parts = {"ptr": (validation.INDEX, m + 1), "col": (validation.INDEX, max(1, nvals))}
        rows, cols, ptr, col = validation.expect_arrays(arrays, **lists, **parts)
        return cls(device, nrows, ncols, rows, cols, csr.Csr(device, m, n, ptr, col, nvals))

    def check(self) -> None:
        self.inner.check()
        for name, numbers, limit in (("rows", self.rows, self.nrows), ("cols", self.cols, self.ncols)):
            ascends = bool((numbers[1:] > numbers[:-1]).all())
            if len(numbers) and not (ascends and 0 <= int(numbers[0]) and int(numbers[-1]) < limit):
                raise ValueError(f"{name}: expected numbers from 0 to {limit - 1} that ascend")
        if widened(self.inner, self.rows, self.cols, self.nrows, self.ncols).numbers() != self.numbers():
            raise ValueError("rows, cols: expected only rows and columns that have entries")


def widened(inner: csr.Csr, rows: Array, cols: Array, nrows: int, ncols: int) -> Hyper:
    """The hypersparse layout of `inner`, whose rows and columns have the numbers in these lists; those without entries
    are dropped."""
    device, xp = inner.device, inner.device.xp
    nonempty, used = inner.ptr[1:] > inner.ptr[:-1], xp.zeros(len(cols), bool)
    used[inner.columns()] = True
    if not bool(nonempty.all() & used.all()):
        ptr = xp.append(inner.ptr[:-1][nonempty], inner.ptr[-1:])
        numbers = xp.cumsum(used, dtype=np.int64) - 1
        rows, cols = rows[nonempty], cols[used]
        inner = csr.from_arrays(device, len(rows), len(cols), ptr, numbers[inner.columns()])
    return Hyper(device, nrows, ncols, rows, cols, inner)


def empty(device: Device, nrows: int, ncols: int) -> Hyper:
    """The layout without entries."""
    none = device.xp.zeros(0, np.int64)
    inner = csr.from_arrays(device, 0, 0, device.xp.zeros(1, np.int32), device.xp.zeros(0, np.int32))
    return Hyper(device, nrows, ncols, none, none, inner)


def narrowed(layout: Hyper, rows: Array, cols: Array) -> tuple[csr.Csr, Order]:
    """The entries in these rows and columns (ascending lists, which may lack some of the layout's and have others),
    renumbered by their positions in the lists; and bools that select their values (None: all). The inverse of
    `widened`."""
    xp, device, inner = layout.device.xp, layout.device, layout.inner
    if rows is layout.rows and cols is layout.cols:
        return inner, None
    row, has_row = placed(xp, rows, layout.rows)
    col, has_col = placed(xp, cols, layout.cols)
    keep = None
    if not bool(has_row.all() & has_col.all()):
        i, j = inner.coo()
        keep = has_row[i] & has_col[j]
        inner = inner.filter(keep)[0]
    length = xp.zeros(len(rows) + 1, np.int64)
    length[row[has_row] + 1] = (inner.ptr[1:] - inner.ptr[:-1])[has_row]
    return csr.from_arrays(device, len(rows), len(cols), xp.cumsum(length), col[inner.columns()]), keep
