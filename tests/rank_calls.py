"""Calls of the kernel that lists the entries of a vector in captured loops, on arrays of one device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from call_operands import SIZE

import bitblas as gb
from bitblas.device import jit
from bitblas.formats import FORMATS
from bitblas.kernels.variant import Variant
from bitblas.loop.gpu.products import compact_variant
from semirings.dtypes import INT32


def launched(variant: Variant, *args: Any, grid: int = 2) -> None:
    """Launch a kernel on arrays of the device."""
    device = gb.device.get(gb.config.device)
    device.load(variant)((grid,), (jit.BLOCK,), args)
    device.synchronize()


def listed(per: int, *, late: bool) -> None:
    """The entries of a vector, counted and listed: at the end of a round if that ran; of many the count alone."""
    variant = compact_variant(per, 1, INT32, late=late)
    xp = gb.device.get(gb.config.device).xp
    for size, every, most, runs in ((SIZE, 7, 2**64 - 1, 1), (1 << 17, 2, 1000, 1), (SIZE, 7, 2**64 - 1, 0)):
        if not (runs or late):
            continue
        there = np.arange(-(-size // 64) * 64) % every == 0
        there[size:] = False
        at, units, n = np.flatnonzero(there), -(-size // per), np.int64(size)
        bits = xp.asarray(np.packbits(there, bitorder="little").view(np.uint64))
        ptr = xp.asarray(np.arange(units + 1, dtype=np.int32) * 3)
        places, state, segments = xp.zeros(units, np.uint32), xp.zeros(8, np.uint64), xp.zeros(2 * units, np.uint32)
        head = (xp.zeros(1, np.uint64) + np.uint64(runs), xp.asarray(np.array([0, 9, 0])), np.int64(0)) if late else ()
        launched(variant, n, n, np.int64(512), np.uint64(most), bits, ptr, places, state, segments, *head)
        entries, count, _, work, _, remaining, *_ = map(int, state)
        assert entries == remaining == runs * len(at)
        if size == SIZE:
            assert set(places[:count].tolist()) == (set((at // per).tolist()) if runs else set())
        else:
            assert work > most


def statements() -> Iterator[Callable[[], None]]:
    for per in sorted({format.rows_per_unit for format in FORMATS.values()}):
        yield from (partial(listed, per, late=late) for late in (False, True))
