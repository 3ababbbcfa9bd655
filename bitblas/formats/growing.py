"""Incremental builders: layouts built from bands of rows.

The plain columns of the whole matrix are never in memory at once.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..device import Device
from .contract import CSR
from .csr.growing import GrowingRows
from .mplg.growing import GrowingPacked
from .nib.growing import GrowingNibbles


class Growing(Protocol):
    """What takes rows in ascending order: of `entries` that are to come, those that fall together counted as often as
    they come."""

    bands: bool  # whether it takes less than plain columns do, so that bands pay
    together: int  # rows that no band parts
    guesses: bool  # whether it is known only at the end how much room it takes

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None: ...

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        """Bytes that it takes, of which it is known at the beginning that they are not less."""

    def expect(self, ptr: Any, col: Any, given: Any, rows: Any) -> None:
        """Some groups of rows tell of all: pointers as `append` takes them; columns by how far they are from the row
        itself, where that has the number that it has here; the entries that were given in each, and in each of all."""

    def room(self, entries: int) -> Any:
        """Where the columns of the next rows may stand until they are sorted."""

    def append(self, ptr: Any, col: Any, given: int) -> None:
        """The next rows, INT64 pointers from 0 and ascending columns, which stand in what `room` gave; of so many
        entries as were given."""

    def finish(self) -> Any:
        """The form of all rows that came."""


GROWING: dict[str, type[Growing]] = {CSR: GrowingRows, "mplg": GrowingPacked, "nib": GrowingNibbles}
