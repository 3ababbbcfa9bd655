"""MPLG: CSR with bit-packed column numbers. The smallest layout of scattered entries.

Azami and Burtscher, Compressed In-memory Graphs for Accelerating GPU-based Analytics, section IV. Row pointers stay
plain, so every row is reached directly. The kernels are those of CSR, which also read packed columns (call.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...device import Device
from ...kernels.prologue import Variant
from .. import packing, sound
from ..choice import Format
from ..contract import Later
from ..csr import format as csr
from ..csr import samples
from ..csr.call import pieces
from .call import FORMATS


@dataclass(eq=False)
class Mplg(csr.Rows):
    """Row i has the entries ptr[i] .. ptr[i + 1]; number k of the packed string `col` is entry k's column. Entry order:
    row, column."""

    device: Device
    nrows: int
    ncols: int
    ptr: Any  # nrows + 1
    col: Any  # uint32 words: packing.packed_words(nvals, width)
    nvals: int
    cache = Later()  # schedules of kernels: hubs, parallel bounds

    formats: ClassVar[tuple[Format, ...]] = FORMATS
    format = FORMATS[0]
    key = format.key

    @property
    def width(self) -> int:
        """Bits of a column number."""
        return packing.width_of(self.ncols)

    @property
    def nbytes(self) -> int:
        return int(self.ptr.nbytes + self.col.nbytes)

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Mplg:
        nrows, ncols, nvals = sound.counts(numbers, "nrows", "ncols", "nvals")
        words = packing.packed_words(nvals, packing.width_of(ncols))
        ptr, col = sound.expect(arrays, ptr=(sound.INDEX, nrows + 1), col=((np.uint32,), words))
        return cls(device, nrows, ncols, ptr, col, nvals)

    def check(self) -> None:
        sound.check_pointers(self.ptr, self.nvals)
        sound.check_columns(self.device.xp, self.ptr, self.columns, pieces(self), self.ncols)

    def columns(self, low: int = 0, high: int | None = None) -> Any:
        """The columns of entries low .. high, in the type that a CSR would use."""
        high = self.nvals if high is None else high
        return packing.unpack(self.device, self.col, high, self.width, csr.index_type(self.ncols), first=low)

    def columns_at(self, places: Any) -> Any:
        """The columns of these entries."""
        return packing.unpack_at(self.device, self.col, places, self.width, csr.index_type(self.ncols))

    def coo(self) -> tuple[Any, Any]:
        columns = packing.unpack(self.device, self.col, self.nvals, self.width, np.int64)
        return csr.numbers_of(self.ptr, self.nvals, self.device), columns

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Mplg, Any]:
        return from_csr(rows, order)

    def to_csr(self, order: bool) -> tuple[csr.Csr, Any]:
        """The same entries with plain columns, in the same order. Peak memory: the plain columns."""
        needed = self.nvals * csr.index_type(self.ncols).itemsize
        self.device.foresee(f"plain columns of {self.nvals} entries", needed)
        return csr.from_arrays(self.device, self.nrows, self.ncols, self.ptr, self.columns()), None

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        return samples.packed_samples()


def from_csr(rows: csr.Csr, order: bool) -> tuple[Mplg, Any]:
    """Pack the columns of a CSR and share its row pointers; the entries keep their order. ValueError for more than
    2**32 columns. Peak memory: the result."""
    width = packing.width_of(rows.ncols)
    words = packing.packed_words(rows.nvals, width)
    rows.device.foresee(f"packed columns of {rows.nvals} entries", 4 * words)
    string = packing.pack(rows.device, rows.columns(), width)
    return Mplg(rows.device, rows.nrows, rows.ncols, rows.ptr, string, rows.nvals), None
