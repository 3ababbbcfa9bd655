"""Pushes along CGR by schedules of Sha, Li and Tan (GPU-based graph traversal on compressed graphs, SIGMOD 2019).

two-phase       all threads of a warp decode their intervals, whose columns they share, before any decodes residuals
+ warp-centric  the threads of a warp decode the residuals of a long row together, each from a nibble of its own
+ segments      of 256 bits, one per thread of a warp; without them a row has one segment of each kind
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import bitblas
from bitblas import tuning
from bitblas.device import dummy
from bitblas.formats.cgr.encoding import ENDLESS, SEGMENT
from bitblas.formats.cgr.layout import Cgr
from bitblas.formats.csr.layout import Csr
from bitblas.operations.variants import push_variant
from bitblas.plan.product import VALUES
from semirings.dtypes import BOOL, INT32

ALL = (1 << 64) - 1
WHOLE = 1 << 40  # words of a part: all of a row


class Schedule(NamedTuple):
    """segment: its bits. part: words of a part of a long row, which a warp takes; 0: long rows are rows as others."""

    segment: int
    part: int


SCHEDULES = {
    "two-phase": Schedule(ENDLESS, 0),
    "+ warp-centric": Schedule(ENDLESS, WHOLE),
    "+ segments": Schedule(SEGMENT, 8 * 32),
}


class Pushes:
    """t = A' (+).(x) u for a full u, by any schedule."""

    def __init__(self, rows: Csr, kind: int) -> None:
        self.device, self.kind, self.n = rows.device, kind, rows.nrows
        xp, words = self.device.xp, -(-self.n // 64)
        self.forms = {size: Cgr.of_segments(rows, size, False)[0] for size in (SEGMENT, ENDLESS)}
        self.u_bits = xp.full(words, ALL, np.uint64)
        self.u_values = xp.arange(self.n, dtype=np.int32)
        self.bits = xp.zeros(-(-rows.ncols // 64), np.uint64)
        self.values = xp.zeros(rows.ncols, np.int32)
        self.mask = xp.zeros(1, np.uint64)

    def kernel(self, lanes: int) -> Any:
        semiring, t = (bitblas.semiring.min_second[INT32], INT32) if self.kind == VALUES else (None, BOOL)
        types = (("PLACE", INT32),)
        made = push_variant("cgr", types, semiring, self.kind, BOOL, t, flip=False, ranked=False, lanes=lanes)
        return self.device.kernel(made)

    def clear(self) -> None:
        self.bits.fill(0)
        self.values.fill(np.iinfo(np.int32).max)

    def run(self, how: Schedule) -> Any:
        """What pushes by this schedule, once."""
        d, form = self.device, self.forms[how.segment]
        wide = form.hubs(tuning.count("cgr.longest"), how.part) if how.part else None
        contents = form.words, form.segment, dummy(d, "int32"), dummy(d, "bool_"), np.True_, 0
        iso, stride = (np.int32(0), 1) if self.kind == VALUES else (np.False_, 0)
        u = self.u_bits, self.u_values if stride else dummy(d, "uint64"), iso, stride, self.mask, 0, np.uint64(ALL)
        tail = *contents, *u, iso, dummy(d, "int64"), self.bits, self.values
        none, whole = dummy(d, "int64"), self.kernel(1)
        parts = None if wide is None else self.kernel(32)

        def run() -> None:
            whole(self.n, 1 << 60 if wide is None else tuning.count("cgr.longest"), form.heads, none, none, 0, *tail)
            if wide is not None and parts is not None:
                parts(wide.segments, 1 << 60, wide.begin, wide.end, wide.row_of, 1, *tail)

        return run
