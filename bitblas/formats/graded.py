"""Degree binning: what the schedules of csr/grades.py, nib/grades.py and cgr/grades.py share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .hubs import Hubs


class Part(NamedTuple):
    """Some rows of a form, and where their sums go."""

    name: str
    rows: Any  # bool, of each row
    place: Any  # INT64, of each row
    size: int  # places


def inside(length: Any, part: Part | None) -> Any:
    """The entries of each row; none of those that are left out."""
    return length if part is None else length * part.rows


def placed(xp: Any, length: Any, row: Any, hubs: Hubs | None, part: Part | None) -> tuple[Any, Any, Hubs | None]:
    """Where the sums of pieces go, by their rows; the bits of all places that get one; the long rows, with theirs."""
    size = len(length)
    if part is not None:
        size, row = part.size, part.place[row]
        hubs = None if hubs is None else hubs._replace(rows=part.place[hubs.rows])
    some = xp.flatnonzero(length)
    flags = xp.zeros(-(-size // 64) * 64, bool)
    flags[some if part is None else part.place[some]] = True
    return row.astype(np.uint32, copy=False), xp.packbits(flags, bitorder="little").view(np.uint64), hubs


def bits_of(xp: Any, count: int) -> Any:
    """So many bits, all set."""
    return xp.full(max(1, -(-count // 64)), ~np.uint64(0), np.uint64)
