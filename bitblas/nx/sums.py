"""Overflow-free sums of weights: exact for integers beyond 64 bits, as in Python.

INT64 arrays are summed directly if the sum of all magnitudes fits. Otherwise each number is split into two words, which
are summed separately; the sums are joined as Python ints in object arrays.
"""

from __future__ import annotations

import numpy as np

from .typing import Number

LIMIT = 2.0**62  # half of INT64's range, because the bound is summed in FP64 and rounded
WORD = 32  # bits of the lower word


def fits_int64(values: np.ndarray, times: float = 1) -> bool:
    """Whether no sum of these values, each taken up to `times` times, overflows INT64; True for other dtypes."""
    if values.dtype.kind != "i" or not len(values):
        return True
    largest = max(int(values.max()), -int(values.min()))
    return largest * len(values) * times < LIMIT or float(np.abs(values.astype(np.float64)).sum()) * times < LIMIT


def exact_sum(values: np.ndarray) -> Number:
    """The sum as a Python number, exact for integers and for object arrays of Python ints."""
    if values.dtype.kind != "i" or fits_int64(values):
        found = values.sum()
        return found.item() if isinstance(found, np.generic) else found
    high, low = split_words(values)
    return (int(high.sum()) << WORD) + int(low.sum())


def sum_by_group(values: np.ndarray, groups: np.ndarray, count: int) -> np.ndarray:
    """The sums of the values per group number below `count`: INT64, FP64, or Python ints if sums may exceed INT64."""
    if fits_int64(values):
        found = np.zeros(count, values.dtype)
        np.add.at(found, groups, values)
        return found
    return join_words(*(sum_by_group(word, groups, count) for word in split_words(values)))


def split_words(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The upper and lower word of each integer: values = upper * 2^32 + lower, INT64."""
    return values >> WORD, values & ((1 << WORD) - 1)


def join_words(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The Python ints of these words, or of sums of them."""
    return high.astype(object) * (1 << WORD) + low.astype(object)
