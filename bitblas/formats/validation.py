"""Validation of layout arrays that come from outside.

Each check raises ValueError with the argument, what is expected, and what was given.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np

from ..typing import Array

INDEX = (np.int32, np.int64)


def expect_arrays(arrays: dict[str, Array], **expected: tuple[Sequence[type[np.generic]], int]) -> list[Array]:
    """The named arrays in order. ValueError unless exactly these are given, one-dimensional, with a permitted type and
    the expected length."""
    if set(arrays) != set(expected):
        raise ValueError(f"arrays: expected {', '.join(expected)}, got {', '.join(arrays) or 'none'}")
    for name, (types, length) in expected.items():
        array = arrays[name]
        if array.dtype not in [np.dtype(t) for t in types] or array.shape != (length,):
            kinds = " or ".join(np.dtype(t).name for t in types)
            raise ValueError(f"{name}: expected {length} numbers of {kinds}, got {array.dtype} of shape {array.shape}")
    return [arrays[name] for name in expected]


def expect_numbers(numbers: dict[str, int], *names: str) -> list[int]:
    """The named numbers in order. ValueError unless exactly these are given, integers from 0 to 2**60."""
    if set(numbers) != set(names):
        raise ValueError(f"numbers: expected {', '.join(names)}, got {', '.join(numbers) or 'none'}")
    for name, value in numbers.items():
        if type(value) is not int or not 0 <= value <= 1 << 60:
            raise ValueError(f"{name}: expected an integer from 0 to 2**60, got {value!r}")
    return [numbers[name] for name in names]


def check_pointers(ptr: Array, count: int) -> None:
    """ValueError unless pointers go from 0 to `count` without decreasing."""
    if not (bool((ptr[:1] == 0).all() & (ptr[-1:] == count).all()) and bool((ptr[1:] >= ptr[:-1]).all())):
        raise ValueError(f"ptr: expected numbers from 0 to {count} that do not decrease")


def check_rows(xp: ModuleType, ptr: Array, col: Array, count: int, limit: int) -> None:
    """ValueError unless pointers go from 0 to `count` without decreasing, and `col` ascends between them, from 0 to
    below `limit`."""
    check_pointers(ptr, count)
    check_columns(xp, ptr, lambda low, high: col[low:high], [0, count], limit)


def check_columns(
    xp: ModuleType, ptr: Array, columns: Callable[[int, int], Array], limits: list[int], limit: int
) -> None:
    """ValueError unless columns ascend within each row, from 0 to below `limit`. `columns` returns those of entries low
    .. high, and is called for each interval of `limits`. Pointers must have been checked."""
    first = xp.zeros(limits[-1] + 1, bool)
    first[ptr] = True  # the first entry of a row has no predecessor
    for low, high in itertools.pairwise(limits):
        low = max(0, low - 1)  # include the previous entry
        piece = columns(low, high)
        if not len(piece):
            continue
        ascends = piece[1:] > piece[:-1]
        ascends |= first[low + 1 : high]
        if not bool(ascends.all()) or int(piece.min()) < 0 or int(piece.max()) >= limit:
            raise ValueError(f"col: expected numbers from 0 to {limit - 1} that ascend in each row")
