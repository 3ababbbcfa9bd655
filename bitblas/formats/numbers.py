"""Sorted lists of distinct numbers (INT64): positions of a sparse vector, rows and columns of a hypersparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np


def union(xp: Any, a: Any, b: Any) -> Any:
    """The numbers in either list; one of the two itself, where it has them all because they are the same."""
    if a is b or not len(b) or (len(a) == len(b) and bool((a == b).all())):
        return a
    return xp.union1d(a, b) if len(a) else b


def placed(xp: Any, index: Any, wanted: Any) -> tuple[Any, Any]:
    """For each wanted number its place in a list (some place, if it is not there), and whether it is there."""
    if not len(index):
        return xp.zeros(len(wanted), np.int64), xp.zeros(len(wanted), bool)
    place = xp.searchsorted(index, wanted)
    place[place == len(index)] = 0
    return place, index[place] == wanted


def within(index: Any, region: range) -> tuple[Any, Any]:
    """The numbers in a region by their places there, ascending; and their places in the list."""
    rank, up = index - region.start, region.step > 0
    rank = rank if up else rank[::-1]
    inside = (rank % region.step == 0) & (rank // region.step >= 0) & (rank // region.step < len(region))
    at = inside.nonzero()[0]
    return rank[inside] // region.step, at if up else len(index) - 1 - at
