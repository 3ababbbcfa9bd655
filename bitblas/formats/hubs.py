"""Long rows (hubs): rows or tile rows too long for one group of GPU lanes, cut into segments.

Computed once per layout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Hubs(NamedTuple):
    """Rows (or tile rows) too long for one group of lanes, cut into segments: rows of a launch of their own."""

    rows: Any
    first: Any  # segments of hub h: first[h] .. first[h + 1]
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
    """The units of more work than `longest` in segments of `part`; None where there are none. limits: where segments
    begin and end, by hub, number in it, segments of it, and the rows of the hubs."""
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
    """The rows of a form with more than `longest` entries (or tiles), None where there are none, in segments of `part`
    (`longest`, unless given)."""
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
