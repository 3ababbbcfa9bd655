"""Test whether a distributed matrix is symmetric, without its transpose: hashes of the indices (and values) of all
entries, and of their mirror images, must have the same sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from .start import current

CHUNK = 1 << 26  # entries processed at once
FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # constants of splitmix64's finalizer


def is_symmetric(A: Any, values: bool) -> bool:
    """values: whether values are compared too."""
    part, low = A._part, A.shares.low
    if values:
        if A._told().one is not None:  # one value for all entries
            return True
    i, j, x = part.to_coo(values=values)
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        for at in range(0, len(i), CHUNK):
            rows = _mixed(i[at : at + CHUNK] + np.uint64(low))
            columns = _mixed(j[at : at + CHUNK])
            more = np.uint64(1) if x is None else _mixed(_bits(x[at : at + CHUNK])) | np.uint64(1)
            total += np.uint64(int(((_mixed(rows + columns * 3) - _mixed(columns + rows * 3)) * more).sum()))
        sums = current().told(np.array([total]))
        return int(sums.sum(dtype=np.uint64)) == 0


def _mixed(x: Any) -> Any:
    x = x * np.uint64(FACTORS[0])
    x = (x ^ (x >> np.uint64(30))) * np.uint64(FACTORS[1])
    return x ^ (x >> np.uint64(27))


def _bits(x: Any) -> Any:
    """Values as 64-bit numbers, equal if the values are; both zeros are equal."""
    if x.dtype.kind == "c":
        return _bits(x.real) * np.uint64(3) + _bits(x.imag)
    x = x + x.dtype.type(0) if x.dtype.kind == "f" else x
    return x.astype(np.float64).view(np.uint64) if x.dtype.kind == "f" else x.astype(np.uint64)
