"""How threads of the host share the units of a kernel (rows, tile rows, words): consecutive ranges, by their limits."""

from __future__ import annotations

from typing import Any

import numpy as np

Bounds = np.ndarray | None  # None: one range


def even(n: int, parts: int) -> np.ndarray:
    """`parts` ranges of n units."""
    return np.minimum(np.arange(parts + 1, dtype=np.int64) * -(-n // parts), n)


def balanced(pointers: Any, parts: int, align: int = 1) -> np.ndarray:
    """`parts` ranges of rows with about equal numbers of entries, their limits multiples of `align`."""
    rows = len(pointers) - 1
    work = np.linspace(0, float(pointers[-1]) + rows, parts + 1)
    found = np.searchsorted(np.asarray(pointers, np.float64) + np.arange(rows + 1), work)
    limits = np.minimum(-(-found // align) * align, rows).astype(np.int64)
    limits[0], limits[-1] = 0, rows
    return np.maximum.accumulate(limits)


def by_work(done: Any, parts: int) -> np.ndarray:
    """`parts` ranges of units whose work, summed up to and with each, is `done`."""
    wanted = np.linspace(0, done[-1], parts + 1)[1:-1]
    return np.concatenate(([0], np.searchsorted(done, wanted), [len(done)])).astype(np.int64)
