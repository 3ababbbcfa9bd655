"""MPLG: CSR with bit-packed column numbers. The smallest layout of scattered entries.

Azami and Burtscher, Compressed In-memory Graphs for Accelerating GPU-based Analytics, section IV. Row pointers stay
plain, so every row is reached directly. The kernels are those of CSR with PACKED (csr/columns.cuh).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import tuning
from ...device import Device
from ...typing import Array
from .. import packing, validation
from ..contract import Format, LazyDict, Order, StructureFacts
from ..csr import layout as csr
from ..csr.kernels import RowsCost, RowsView, index_type, pieces, pointer_type, rows_kernels
from ..csr.layout import RowPointersBuilder, trimmed


def packed_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and packed columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + 4 * packing.packed_words(nvals, packing.width_of(ncols))


class PackedCost(RowsCost):
    """Rows with packed columns."""

    name = "mplg"

    @property
    def margin(self) -> float:
        return tuning.value("formats.margin")

    def refusal(self, nrows: int, ncols: int) -> str:
        """Columns have at most 32 bits, also those of the transpose."""
        fits = max(nrows, ncols) <= 1 << packing.MOST_BITS
        return "" if fits else f"holds up to 2**{packing.MOST_BITS} rows and columns, got {nrows} x {ncols}"

    def predict_bytes(self, facts: StructureFacts) -> int:
        return packed_bytes(facts.nrows, facts.ncols, facts.nvals)


FORMATS = (
    Format(
        PackedCost(),
        RowsView(),
        rows_kernels(packed=True),
        folder="csr",
        by_rows=True,
        ranked=False,
        packed=True,
    ),
)


@dataclass(eq=False)
class Mplg(csr.Rows):
    """Row i has the entries ptr[i] .. ptr[i + 1]; number k of the packed string `col` is entry k's column. Entry order:
    row, column."""

    device: Device
    nrows: int
    ncols: int
    ptr: Array  # nrows + 1
    col: Array  # uint32 words: packing.packed_words(nvals, width)
    nvals: int
    cache = LazyDict()  # schedules of kernels: hubs, parallel bounds

    format = FORMATS[0]
    key = format.key

    @property
    def width(self) -> int:
        """Bits of a column number."""
        return packing.width_of(self.ncols)

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Mplg:
        nrows, ncols, nvals = validation.expect_numbers(numbers, "nrows", "ncols", "nvals")
        words = packing.packed_words(nvals, packing.width_of(ncols))
        ptr, col = validation.expect_arrays(arrays, ptr=(validation.INDEX, nrows + 1), col=((np.uint32,), words))
        return cls(device, nrows, ncols, ptr, col, nvals)

    def check(self) -> None:
        validation.check_pointers(self.ptr, self.nvals)
        validation.check_columns(self.device.xp, self.ptr, self.columns, pieces(self), self.ncols)

    def columns(self, low: int = 0, high: int | None = None) -> Array:
        """The columns of entries low .. high, in the type that a CSR would use."""
        high = self.nvals if high is None else high
        return packing.unpack(self.device, self.col, high, self.width, csr.index_type(self.ncols), first=low)

    def columns_at(self, places: Array) -> Array:
        """The columns of these entries."""
        return packing.unpack_at(self.device, self.col, places, self.width, csr.index_type(self.ncols))

    def coo(self) -> tuple[Array, Array]:
        columns = packing.unpack(self.device, self.col, self.nvals, self.width, np.int64)
        return csr.numbers_of(self.ptr, self.nvals, self.device), columns

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Mplg, Order]:
        """Pack the columns of a CSR and share its row pointers; the entries keep their order. ValueError for more than
        2**32 columns. Peak memory: the result."""
        width = packing.width_of(rows.ncols)
        words = packing.packed_words(rows.nvals, width)
        rows.device.foresee(f"packed columns of {rows.nvals} entries", 4 * words)
        string = packing.pack(rows.device, rows.columns(), width)
        return cls(rows.device, rows.nrows, rows.ncols, rows.ptr, string, rows.nvals), None

    def to_csr(self, order: bool) -> tuple[csr.Csr, Order]:
        """The same entries with plain columns, in the same order. Peak memory: the plain columns."""
        needed = self.nvals * csr.index_type(self.ncols).itemsize
        self.device.foresee(f"plain columns of {self.nvals} entries", needed)
        return csr.from_arrays(self.device, self.nrows, self.ncols, self.ptr, self.columns()), None


# ---- Incremental MPLG builder: append bands of rows; their columns are packed at their final position.

WORD = 32  # this many numbers end at a word boundary, whatever their width


class MplgBuilder(RowPointersBuilder):
    """Builder of packed columns. The last numbers of a band that end within a word are kept for the next band."""

    bands = True

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        super().__init__(device, nrows, ncols, entries)
        self.width = packing.width_of(ncols)
        self.string = device.xp.empty(packing.packed_words(entries, self.width), "uint32")
        self.waiting = device.xp.empty(0, index_type(ncols))

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        return packed_bytes(nrows, ncols, entries)

    def append(self, ptr: Array, col: Array, input_entries: int) -> None:
        xp, packed = self.device.xp, self.nvals - len(self.waiting)
        self._point(ptr, len(col))
        first = xp.concatenate((self.waiting, col[: WORD - len(self.waiting)]))  # fill up the unfinished words
        if len(first) == WORD:
            col = col[WORD - len(self.waiting) :]
            self._pack(first, packed)
            whole = len(col) // WORD * WORD
            self._pack(col[:whole], packed + WORD)
            first = col[whole:].copy()
        self.waiting = first

    def _pack(self, numbers: Array, at: int) -> None:
        begin, end = at // WORD * self.width, (at + len(numbers)) // WORD * self.width
        packing.pack_into(self.device, numbers, self.width, self.string[begin:end])

    def finish(self) -> Mplg:
        at = self.nvals // WORD * self.width
        string = trimmed(self.device, self.string, packing.packed_words(self.nvals, self.width))
        packing.pack_into(self.device, self.waiting, self.width, string[at:])
        return Mplg(self.device, self.nrows, self.ncols, self._pointers(), string, self.nvals)


Mplg.builder = MplgBuilder
