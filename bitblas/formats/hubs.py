"""Long rows (hubs): rows or tile rows too long for one group of GPU lanes, cut into segments.

Computed once per layout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Hubs(NamedTuple):
    """Rows (or tile rows) too long for one group of lanes, cut into segments that are processed as rows of a separate
    launch."""

    rows: Any
    first: Any  # hub h has the segments first[h] .. first[h + 1]
    begin: Any
    end: Any
    row_of: Any

    @property
    def segments(self) -> int:
        return len(self.row_of)


def longest_unit(form: Any) -> int:
    """Entries (tiles) of the longest row (tile row)."""
    if "longest" not in form.cache:
        form.cache["longest"] = int((form.ptr[1:] - form.ptr[:-1]).max()) if form.units else 0
    return int(form.cache["longest"])


def cut(xp: Any, work: Any, longest: int, part: int, limits: Callable[[Any, Any, Any, Any], Any]) -> Hubs | None:
    """Cut the units with more work than `longest` into segments of `part`; None if there are none. limits: function
    that returns the begin and end of segments, from their hub, number within it, the hub's segment count, and the rows
    of the hubs."""
    rows = xp.flatnonzero(work > longest)
    if not len(rows):
        return None
    count = -(-work[rows].astype(np.int64) // part)
    first = xp.zeros(len(rows) + 1, np.int64)
    xp.cumsum(count, out=first[1:])
    segment = xp.arange(int(first[-1]))
    hub = xp.searchsorted(first, segment, side="right") - 1
    begin, end = limits(rows, hub, segment - first[hub], count[hub])
    return Hubs(rows, first, begin, end, rows[hub])


def hubs_of(form: Any, longest: int, part: int | None = None) -> Hubs | None:
    """The rows of a layout with more than `longest` entries (or tiles), in segments of `part` (default: `longest`);
    None if there are none."""
    size = part or longest

    def limits(rows: Any, hub: Any, number: Any, count: Any) -> tuple[Any, Any]:
        begin = form.ptr[rows][hub] + number * size
        end = form.device.xp.minimum(begin + size, form.ptr[rows + 1][hub])
        return begin.astype(form.ptr.dtype), end.astype(form.ptr.dtype)

    if ("hubs", longest, size) not in form.cache:
        ptr = form.ptr
        form.cache["hubs", longest, size] = cut(form.device.xp, ptr[1:] - ptr[:-1], longest, size, limits)
    found: Hubs | None = form.cache["hubs", longest, size]
    return found
