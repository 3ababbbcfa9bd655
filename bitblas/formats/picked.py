"""Decode coded rows (coded.py) to plain rows: all of them, or only those requested."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..device import dummy
from .csr.format import PARALLEL_ENTRIES, numbers_of


class Some(NamedTuple):
    """Rows to decode, as kernel arguments."""

    size: int
    rows: Any  # row numbers, INT64, read if `stride` is 1; otherwise all rows
    stride: int
    bounds: Any  # parallel ranges on the CPU


def all_of(form: Any) -> Some:
    return Some(form.nrows, dummy(form.device, "int64"), 0, form.bounds(form.nvals))


def some_of(form: Any, rows: Any) -> Some:
    work = form.nvals * len(rows) // max(1, form.nrows)
    return Some(len(rows), rows, 1, form.device.ranges(len(rows), PARALLEL_ENTRIES, work=work))


def pointers(form: Any, some: Some) -> Any:
    """The number of the first entry of each of these rows, and the total. Peak memory: the result, and 8 bytes per
    row."""
    xp = form.device.xp
    ptr, counts = xp.zeros(some.size + 1, np.int64), xp.zeros(max(1, some.size), np.int64)
    form.decode(0, counts, dummy(form.device, "int32"), None, some)
    counts[: some.size].cumsum(out=ptr[1:])
    return ptr


def decoded(form: Any, ptr: Any, order: bool, some: Some) -> tuple[Any, Any]:
    """The columns of these rows, whose pointers are given; and the position of each entry among them in the layout's
    own order (None: the same order)."""
    xp, nvals = form.device.xp, int(ptr[-1])
    col = xp.empty(max(1, nvals), np.int32)
    place = xp.empty(max(1, nvals), np.int64) if order and not form.in_order else None
    form.decode(1, ptr, col, place, some)
    return col, None if place is None else place[:nvals]


def moved(form: Any, ptr: Any, place: Any, rows: Any) -> Any:
    """The positions in the layout of the entries of these rows, from the positions among them that `decoded`
    returned."""
    xp, nvals = form.device.xp, int(ptr[-1])
    owner = numbers_of(ptr, nvals, form.device)
    apart = form.ranks()[rows] - ptr[:-1]
    return (xp.arange(nvals) if place is None else place) + apart[owner]
