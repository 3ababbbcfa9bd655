"""Incremental MPLG builder: append bands of rows; their columns are packed at their final position."""

from __future__ import annotations

from typing import Any

from ...device import Device
from .. import packing
from ..csr.choice import index_type
from ..csr.growing import Pointers, trimmed
from .choice import packed_bytes
from .format import Mplg

WORD = 32  # this many numbers end at a word boundary, whatever their width


class GrowingPacked(Pointers):
    """Builder of packed columns. The last numbers of a band that end within a word are kept for the next band."""

    bands = True

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        super().__init__(device, nrows, ncols, entries)
        self.width = packing.width_of(ncols)
        self.string = device.xp.empty(packing.packed_words(entries, self.width), "uint32")
        self.waiting = device.xp.empty(0, index_type(ncols))

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        """A lower bound of its size in bytes, known in advance."""
        return packed_bytes(nrows, ncols, entries)

    def room(self, entries: int) -> Any:
        """Memory for the columns of the next rows until they are sorted."""
        return self.device.xp.empty(entries, self.waiting.dtype)

    def append(self, ptr: Any, col: Any, given: int) -> None:
        """Append rows: INT64 pointers from 0 and ascending columns; given: number of entries before duplicates were
        combined."""
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

    def _pack(self, numbers: Any, at: int) -> None:
        begin, end = at // WORD * self.width, (at + len(numbers)) // WORD * self.width
        packing.pack_into(self.device, numbers, self.width, self.string[begin:end])

    def finish(self) -> Mplg:
        """The layout of all appended rows."""
        at = self.nvals // WORD * self.width
        string = trimmed(self.device, self.string, packing.packed_words(self.nvals, self.width))
        packing.pack_into(self.device, self.waiting, self.width, string[at:])
        return Mplg(self.device, self.nrows, self.ncols, self._pointers(), string, self.nvals)
