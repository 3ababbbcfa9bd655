"""Overflow-free sums of weights: exact for integers beyond 64 bits, as in Python.

Arrays of INT64 are summed as such where the sum of all magnitudes fits. Else each number is split into two words, which
are summed apart, and the sums are joined as Python's integers, in arrays of objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LIMIT = 2.0**62  # half of what INT64 holds: a bound that is added up in FP64 is rounded
WORD = 32  # bits of the lower word


def fits(values: np.ndarray, times: float = 1) -> bool:
    """Whether no sum of these values, each taken up to `times` times, leaves INT64; true of what is not INT64."""
    if values.dtype.kind != "i" or not len(values):
        return True
    largest = max(int(values.max()), -int(values.min()))
    return largest * len(values) * times < LIMIT or float(np.abs(values.astype(np.float64)).sum()) * times < LIMIT


def total(values: np.ndarray) -> Any:
    """The sum as a Python number; of integers, also of an array of Python's, it is exact."""
    if values.dtype.kind != "i" or fits(values):
        found = values.sum()
        return found.item() if isinstance(found, np.generic) else found
    high, low = words(values)
    return (int(high.sum()) << WORD) + int(low.sum())


def by_group(values: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """The sums of the values by their group, a number below `count`: INT64, FP64, or Python's integers where INT64 may
    not hold them."""
    if fits(values):
        found = np.zeros(count, values.dtype)
        np.add.at(found, groups, values)
        return found
    return joined(*(by_group(word, groups, count) for word in words(values)))


def words(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The upper and the lower word of each integer, so that values = upper * 2^32 + lower: INT64."""
    return values >> WORD, values & ((1 << WORD) - 1)


def joined(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The integers of these words, which may be sums of them, as Python's."""
    return high.astype(object) * (1 << WORD) + low.astype(object)
