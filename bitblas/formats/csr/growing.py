"""Incremental CSR builder: append bands of rows; columns are stored at their final position."""

from __future__ import annotations

from typing import Any

from ...device import Device
from .choice import index_type, pointer_type, rows_bytes
from .format import Csr, from_arrays


class Pointers:
    """Shared by builders of layouts by rows: the array of row pointers, allocated at the start."""

    together = 32  # rows that must be in the same band
    guesses = False  # whether its final size is only known at the end

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        """entries: number of entries to come, duplicates included."""
        self.device, self.nrows, self.ncols, self.entries = device, nrows, ncols, entries
        self.rows = self.nvals = 0  # appended so far
        self.ptr = device.xp.zeros(nrows + 1, pointer_type(entries))

    def expect(self, ptr: Any, col: Any, given: Any, rows: Any) -> None:
        """Nothing: the size is known in advance."""

    def _point(self, ptr: Any, entries: int) -> None:
        rows = len(ptr) - 1
        self.ptr[self.rows + 1 : self.rows + rows + 1] = ptr[1:] + self.nvals
        self.rows, self.nvals = self.rows + rows, self.nvals + entries

    def _pointers(self) -> Any:
        return self.ptr.astype(pointer_type(self.nvals), copy=False)


class GrowingRows(Pointers):
    """Builder of a CSR."""

    bands = False  # whether it is smaller than plain columns, so that bands pay off

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        super().__init__(device, nrows, ncols, entries)
        self.col = device.xp.empty(entries, index_type(ncols))

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        """A lower bound of its size in bytes, known in advance."""
        return rows_bytes(nrows, ncols, entries)

    def room(self, entries: int) -> Any:
        """Memory for the columns of the next rows until they are sorted."""
        return self.col[self.nvals : self.nvals + entries]

    def append(self, ptr: Any, col: Any, given: int) -> None:
        """Append rows: INT64 pointers from 0, ascending columns in the memory that `room` returned; given: number of
        entries before duplicates were combined."""
        self._point(ptr, len(col))

    def finish(self) -> Csr:
        """The layout of all appended rows."""
        col = self.col if self.nvals == self.entries else self.col[: self.nvals].copy()
        del self.col
        return from_arrays(self.device, self.nrows, self.ncols, self._pointers(), col)


def trimmed(device: Device, array: Any, size: int) -> Any:
    """The beginning of an array, copied if this frees more than a sixteenth and there is memory for the copy."""
    wasted = (len(array) - size) * array.itemsize
    small = 16 * wasted <= array.nbytes and wasted > 0
    if wasted == 0 or small or device.missing(size * array.itemsize):
        return array[:size]
    return array[:size].copy()
