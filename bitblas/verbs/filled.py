"""Sentinel-filled vectors for pulls on the CPU (csr/pull.cpu.py): missing entries become NaN or an unused integer.

A product with the sentinel adds the identity of the monoid, so the sum needs no test of the vector's bitset.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import DataType

from ..device import Device
from ..kernels.prologue import Variant
from ..plan.product import VALUES, Plan
from ..store import VectorStore
from .operands import ZERO, Values, make
from .variants import algebra_of, fills

# A copy of the vector is amortized by this number of entries a row, and if the vector has this share of all entries.
# EPYC, one thread, plus_times: with 0.8 of all entries rmat16 takes 7.1 ms without and 3.6 ms with NaN; with 0.3 4.4
# and 4.2; a road network (2.8 entries a row) with 0.99 3.9 and 3.2, min_plus of INT64 with 0.5 4.0 and 5.4. A mask
# leaves about half of the rows.
ROW, MASKED, LONG, SHARE, MOST = 2, 4, 6, 0.25, 0.75
LEAST = 1 << 12  # entries of a matrix; calls to make the copy take some us
FILLED = 2  # a stride that marks filled values


def length(plan: Plan, form: Any, semiring: Typed[Semiring], u: DataType) -> float:
    """Mean entries of a row if a pull may use filled vectors, else 0: amortized from ROW on, from MASKED on under a
    mask. Known before the vector is, because the plan's kernel has to support it."""
    pulls = plan.direction == "pull" and plan.kind == VALUES and not plan.wide
    if not pulls or form.device.shares_rows or not form.format.reads_nan or form.nvals < LEAST:
        return 0.0
    op, _, monoid, z = algebra_of(semiring)
    return form.nvals / max(1, form.nrows) if fills(op, monoid, z, u) else 0.0


def values_of(u: VectorStore, row_length: float) -> Values:
    """The values of a vector that is not iso, for a pull along rows of this mean length: unchanged if few entries
    are present, or if the sentinel is one of the values."""
    x, zero, share = u.values, ZERO[u.dtype.name], SHARE if row_length >= LONG else MOST
    if (u.count or 0) >= share * u.size:
        filled, others, nothing = np.empty_like(x), np.zeros(1, np.int64), _nothing(u.dtype)
        _lacking(u.device, u.dtype)(len(u.present), u.size, u.present, x, nothing, filled, others)
        if not others[0]:
            return make(Values, (filled, nothing, FILLED))
    return make(Values, (x, zero, 1))


@functools.cache
def _nothing(of: DataType) -> Any:
    """The sentinel of missing entries: NaN, or the integer that programs use least."""
    kind = of.np_type.type
    return kind(np.nan if of.kind == "f" else np.iinfo(kind).min if of.kind == "i" else np.iinfo(kind).max)


@functools.cache
def _lacking(device: Device, of: DataType) -> Any:
    return device.kernel(Variant("kernels/lacking", (("T", of),)))
