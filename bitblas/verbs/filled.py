"""Vectors of floats with NaN in the place of what they lack, for pulls on the CPU (csr/pull.cpu.py).

Products are summed without a look at which entries the vector has: one that is NaN adds what is neutral.
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

# A copy of the vector is repaid by so many entries a row, and where the vector has that share of all entries. EPYC, one
# thread, plus_times: with 0.8 of all entries rmat16 takes 7.1 ms without and 3.6 ms with NaN; with 0.3 4.4 and 4.2; a
# road network (2.8 entries a row) with 0.99 3.9 and 3.2.
ROW, SHARE = 2, 0.25
LEAST = 1 << 12  # entries of a matrix; making the copy takes some us of calls
NAN = 2  # a stride that says so


def is_repaid(plan: Plan, form: Any, semiring: Typed[Semiring], u: DataType) -> bool:
    """Whether a pull takes vectors so, which is known before one is: the plan's kernel has to read it."""
    pulls = plan.direction == "pull" and plan.kind == VALUES and not plan.wide
    if not pulls or form.device.shares_rows or not form.format.reads_nan or form.nvals < max(LEAST, ROW * form.nrows):
        return False
    op, _, monoid, z = algebra_of(semiring)
    return fills(op, monoid, z, u)


def values_of(u: VectorStore) -> Values:
    """The values of a vector that is not iso, for a pull that is repaid: as they are, where few are there, and where
    NaN is among them."""
    x, zero = u.values, ZERO[u.dtype.name]
    if (u.count or 0) >= SHARE * u.size:
        filled, nans = np.empty_like(x), np.zeros(1, np.int64)
        _lacking(u.device, u.dtype)(len(u.present), u.size, u.present, x, x.dtype.type(np.nan), filled, nans)
        if not nans[0]:
            return make(Values, (filled, zero, NAN))
    return make(Values, (x, zero, 1))


@functools.cache
def _lacking(device: Device, of: DataType) -> Any:
    return device.kernel(Variant("kernels/lacking", (("T", of),)))
