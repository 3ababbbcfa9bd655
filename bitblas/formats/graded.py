"""Degree binning: what the schedules of csr/grades.py, nib/grades.py and cgr/grades.py share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .hubs import Hubs


class Part(NamedTuple):
    """A subset of a layout's rows, and the positions of their sums."""

    name: str
    rows: Any  # bool per row
    place: Any  # INT64 per row
    size: int  # number of positions


def inside(length: Any, part: Part | None) -> Any:
    """Entries per row; 0 for rows outside of `part`."""
    return length if part is None else length * part.rows


def placed(xp: Any, length: Any, row: Any, hubs: Hubs | None, part: Part | None) -> tuple[Any, Any, Hubs | None]:
    """Positions of the sums of pieces, from their rows; the bits of all positions that get a sum; and the hubs with
    these positions."""
    size = len(length)
    if part is not None:
        size, row = part.size, part.place[row]
        hubs = None if hubs is None else hubs._replace(rows=part.place[hubs.rows])
    some = xp.flatnonzero(length)
    flags = xp.zeros(-(-size // 64) * 64, bool)
    flags[some if part is None else part.place[some]] = True
    return row.astype(np.uint32, copy=False), xp.packbits(flags, bitorder="little").view(np.uint64), hubs


def bits_of(xp: Any, count: int) -> Any:
    """A bitset of that many bits, all set."""
    return xp.full(max(1, -(-count // 64)), ~np.uint64(0), np.uint64)
