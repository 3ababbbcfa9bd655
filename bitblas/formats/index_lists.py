"""Sorted lists of distinct numbers (INT64): positions of a sparse vector, rows and columns of a hypersparse matrix."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from ..typing import Array


def union(xp: ModuleType, a: Array, b: Array) -> Array:
    """The union of two lists; returns one of them unchanged if both are equal or the other is empty."""
    if a is b or not len(b) or (len(a) == len(b) and bool((a == b).all())):
        return a
    return xp.union1d(a, b) if len(a) else b


def placed(xp: ModuleType, index: Array, numbers: Array) -> tuple[Array, Array]:
    """The position of each wanted number in a list (arbitrary if missing), and whether it is there."""
    if not len(index):
        return xp.zeros(len(numbers), np.int64), xp.zeros(len(numbers), bool)
    place = xp.searchsorted(index, numbers)
    place[place == len(index)] = 0
    return place, index[place] == numbers


def within(index: Array, region: range) -> tuple[Array, Array]:
    """The numbers inside a range, as ascending offsets into it, and their positions in the list."""
    rank, up = index - region.start, region.step > 0
    rank = rank if up else rank[::-1]
    inside = (rank % region.step == 0) & (rank // region.step >= 0) & (rank // region.step < len(region))
    at = inside.nonzero()[0]
    return rank[inside] // region.step, at if up else len(index) - 1 - at
