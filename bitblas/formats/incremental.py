"""Incremental builders: layouts built from bands of rows.

The plain columns of the whole matrix are never in memory at once.
"""

from __future__ import annotations

from typing import Protocol

from ..device import Device
from ..typing import Array
from .contract import CSR, Layout
from .csr.layout import CsrBuilder
from .mplg.layout import MplgBuilder
from .nib.layout import NibBuilder


class LayoutBuilder(Protocol):
    """Builder that takes rows in ascending order. entries: the number of entries to come, duplicates included."""

    bands: bool  # whether it is smaller than plain columns, so that bands pay off
    together: int  # rows that must be in the same band
    guesses: bool  # whether its final size is only known at the end

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None: ...

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        """A lower bound of its size in bytes, known in advance."""

    def expect(self, ptr: Array, col: Array, input_entries: Array, rows: Array) -> None:
        """Estimate the final size from sampled groups of rows: pointers as in `append`; columns as if each row had the
        number it has here; the number of input entries in each of these rows, and in each row of all."""

    def room(self, entries: int) -> Array:
        """Memory for the columns of the next rows until they are sorted."""

    def append(self, ptr: Array, col: Array, input_entries: int) -> None:
        """Append rows: INT64 pointers from 0, ascending columns in the memory that `room` returned; input_entries:
        number of entries before duplicates were combined."""

    def finish(self) -> Layout:
        """The layout of all appended rows."""


BUILDERS: dict[str, type[LayoutBuilder]] = {CSR: CsrBuilder, "mplg": MplgBuilder, "nib": NibBuilder}
