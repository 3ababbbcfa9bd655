"""Split a kernel's units (rows, tile rows, words) into consecutive ranges for CPU threads."""

from __future__ import annotations

import bisect
import functools
from typing import Any

import numpy as np

Bounds = np.ndarray | None  # None: one range

# Work (entries, products) from which a CPU launch runs only some of its ranges at a time, so that Python can handle
# signals in between, and the work of each range, which then takes 2 to 20 ms. Less work finishes in about 0.2 s.
LONG = 1 << 25
CHUNK = 1 << 21


class Chunks(np.ndarray):
    """The limits of ranges of long work. Ctrl-C may end a launch between two of them; its outputs must be new arrays,
    which are then discarded."""


class InTurn(Chunks):
    """The same for a kernel whose ranges write to the same positions: one range at a time, in order."""


def chunked(limits: np.ndarray, kind: type[Chunks] = Chunks) -> Chunks:
    """The limits of ranges, marked as long work."""
    return limits.view(kind)


def chunks_of(work: int, least: int = 0) -> int:
    """Number of ranges that long work is split into; 1 if it is not long. least: minimum work of a range, if larger
    than CHUNK."""
    return -(-work // max(CHUNK, least)) if work >= LONG else 1


@functools.lru_cache(1 << 8)  # statements on vectors of one size use the same ranges each time
def even(n: int, parts: int) -> np.ndarray:
    """`parts` even ranges of n units, read-only."""
    limits: np.ndarray = np.minimum(np.arange(parts + 1, dtype=np.int64) * -(-n // parts), n)
    limits.setflags(write=False)
    return limits


def balanced(pointers: Any, parts: int, align: int = 1) -> np.ndarray:
    """`parts` ranges of rows with about equal numbers of entries; their limits are multiples of `align`."""
    rows = len(pointers) - 1
    work = np.linspace(0, float(pointers[-1]) + rows, parts + 1).tolist()
    before = lambda i: pointers.item(i) + i  # evaluated for few rows: summing all takes longer than sharing saves
    found = np.array([bisect.bisect_left(range(rows + 1), some, key=before) for some in work])
    limits = np.minimum(-(-found // align) * align, rows).astype(np.int64)
    limits[0], limits[-1] = 0, rows
    return np.maximum.accumulate(limits)


def by_work(done: Any, parts: int) -> np.ndarray:
    """`parts` ranges of units with equal work. `done`: inclusive prefix sums of the work per unit."""
    wanted = np.linspace(0, done[-1], parts + 1)[1:-1]
    return np.concatenate(([0], np.searchsorted(done, wanted), [len(done)])).astype(np.int64)
