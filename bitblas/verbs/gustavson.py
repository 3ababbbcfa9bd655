"""General mxm on the CPU, row by row: see formats/csr/gustavson.cpu.py. Two passes: sizes, then entries.

Beside the result it takes, per thread, a dense row of sums and two bitsets of the width of C.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL

from ..device import Device
from ..formats import Structure
from ..formats.build import with_format
from ..formats.csr.format import from_arrays, index_type
from ..kernels.prologue import Variant
from ..plan import VALUES, WORDS, Plan
from ..store import MatrixStore
from .operands import dummy, entry_values
from .schedule import PARALLEL_ENTRIES, ranges_of_work
from .variants import gustavson_variant


def row_by_row(
    plan: Plan, product: Any, A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], transpose_a: bool,
    transpose_b: bool, mask: Any,
) -> MatrixStore:  # fmt: skip
    """C<mask> = A (+).(x) B, of the transposes where asked for."""
    device, kind, true = A.device, plan.kind, BOOL.np_type.type(True)
    a: Any = A.structure.form("csr", transposed=transpose_a)
    b: Any = B.structure.form("csr", transposed=transpose_b)
    valued = kind == VALUES
    a_val, b_val = (A.values_for("csr", transpose_a), B.values_for("csr", transpose_b)) if valued else (true, true)
    a_type, b_type = (A.dtype, B.dtype) if valued else (BOOL, BOOL)
    z = semiring.return_type if kind != WORDS else BOOL
    m: Any = a if mask is None else mask.structure.form("csr")
    value = z.np_type.type(0 if product is None else product)
    operands = (
        a.ptr, a.col, *entry_values(device, a_type, a_val), b.ptr, b.col, *entry_values(device, b_type, b_val),
        b.ncols, m.ptr, m.col, 0 if mask is None else 1 + int(mask.complement), value,
    )  # fmt: skip
    bounds = _bounds(a, b, device)
    ptr, col, sums = np.zeros(a.nrows + 1, np.int64), np.empty(1, index_type(b.ncols)), dummy(device, z.np_type.char)
    for fill in (0, 1):
        variant = gustavson_variant(None if kind == WORDS else semiring, kind, a_type, b_type, fill)
        _kernel(device, variant)(a.nrows, *operands, ptr, col, sums, bounds=bounds)
        if not fill:
            np.cumsum(ptr, out=ptr)
            nvals = int(ptr[-1])
            col, sums = np.empty(max(1, nvals), col.dtype), np.empty(max(1, nvals) if kind != WORDS else 1, z.np_type)
    values = semiring.return_type.np_type.type(product) if kind == WORDS else sums[:nvals]
    C = from_arrays(device, a.nrows, b.ncols, ptr, col[:nvals])
    return with_format(MatrixStore(Structure(C), semiring.return_type, values))


def _bounds(a: Any, b: Any, device: Device) -> Any:
    """Parallel ranges of rows with about equal numbers of products."""
    if a.nvals + b.nvals < PARALLEL_ENTRIES:
        return None
    before = np.zeros(a.nvals + 1, np.int64)
    np.cumsum(np.diff(b.ptr)[a.col[: a.nvals]] + 1, out=before[1:])
    return ranges_of_work(before[a.ptr][1:], device)


@functools.cache
def _kernel(device: Device, variant: Variant) -> Any:
    return device.kernel(variant)
