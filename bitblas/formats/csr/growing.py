"""Incremental CSR builder: append bands of rows; columns are stored at their final position."""

from __future__ import annotations

from typing import Any

from ...device import Device
from .choice import index_type, pointer_type, rows_bytes
from .format import Csr, from_arrays


class Pointers:
    """What forms by rows have in common: row pointers, which are there from the beginning."""

    together = 32  # rows that no band parts
    guesses = False  # whether it is known only at the end how much room it takes

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        """entries: that are to come, those that fall together counted as often as they come."""
        self.device, self.nrows, self.ncols, self.entries = device, nrows, ncols, entries
        self.rows = self.nvals = 0  # those that came
        self.ptr = device.xp.zeros(nrows + 1, pointer_type(entries))

    def expect(self, ptr: Any, col: Any, given: Any, rows: Any) -> None:
        """It is known how much room it takes."""

    def _point(self, ptr: Any, entries: int) -> None:
        rows = len(ptr) - 1
        self.ptr[self.rows + 1 : self.rows + rows + 1] = ptr[1:] + self.nvals
        self.rows, self.nvals = self.rows + rows, self.nvals + entries

    def _pointers(self) -> Any:
        return self.ptr.astype(pointer_type(self.nvals), copy=False)


class GrowingRows(Pointers):
    """Plain columns."""

    bands = False  # whether it takes less than plain columns do, so that bands pay

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        super().__init__(device, nrows, ncols, entries)
        self.col = device.xp.empty(entries, index_type(ncols))

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        """Bytes that it takes, of which it is known at the beginning that they are not less."""
        return rows_bytes(nrows, ncols, entries)

    def room(self, entries: int) -> Any:
        """Where the columns of the next rows may stand until they are sorted."""
        return self.col[self.nvals : self.nvals + entries]

    def append(self, ptr: Any, col: Any, given: int) -> None:
        """The next rows, INT64 pointers from 0 and ascending columns, in memory that `room` gave; of so many entries
        as were given."""
        self._point(ptr, len(col))

    def finish(self) -> Csr:
        """The form of all rows that came."""
        col = self.col if self.nvals == self.entries else self.col[: self.nvals].copy()
        del self.col
        return from_arrays(self.device, self.nrows, self.ncols, self._pointers(), col)


def trimmed(device: Device, array: Any, size: int) -> Any:
    """The beginning of an array: alone, where what is left would be more than a sixteenth and there is room for it."""
    wasted = (len(array) - size) * array.itemsize
    small = 16 * wasted <= array.nbytes and wasted > 0
    if wasted == 0 or small or device.missing(size * array.itemsize):
        return array[:size]
    return array[:size].copy()
