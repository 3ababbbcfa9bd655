"""Conversions between lists of rows and columns, sort keys, and row pointers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings.dtypes import lookup_dtype

from ...device import Device, ranges
from ...device.readback import Readback
from ...kernels.prologue import Variant
from .choice import PARALLEL_ENTRIES, pointer_type


class Wrong(NamedTuple):
    """Faults of pointers and columns from outside."""

    pointers: bool  # not from 0 to the number of columns without decreasing
    columns: bool  # one is outside of `ncols`
    order: bool  # one does not ascend in its row; not tested if pointers are wrong


def are_pointers(ptr: Any, count: int) -> bool:
    """Whether they go from 0 to `count` without decreasing; one synchronization on a GPU."""
    return len(ptr) > 0 and bool((ptr[0] == 0) & (ptr[-1] == count) & (ptr[1:] >= ptr[:-1]).all())


def checked(device: Device, ptr: Any, cols: Any, ncols: int) -> Wrong:
    """Faults of pointers and columns (INT32 or INT64 each); one synchronization on a GPU."""
    nrows, nvals = len(ptr) - 1, len(cols)
    if nrows > 0 and not device.host_memory:
        told, of = Readback(device, 3), (("PTR", lookup_dtype(ptr.dtype)), ("COL", lookup_dtype(cols.dtype)))
        device.kernel(Variant("formats/csr/check", of))(
            max(nrows, nvals), nrows, nvals, ncols, ptr, cols, told.part(np.uint8, 0, 3)
        )
        return Wrong(*map(bool, told.read(np.uint8, 0, 3).tolist()))
    if not (fit := are_pointers(ptr, nvals)) or not nvals:
        return Wrong(not fit, False, False)
    # Viewed as unsigned, negative numbers are large: one pass tests both bounds.
    columns = int(cols.view(f"u{cols.itemsize}").max()) >= min(ncols, 1 << (8 * cols.itemsize - 1))
    after = np.ones(nvals + 1, bool)
    np.greater(cols[1:], cols[:-1], out=after[1:-1])
    after[ptr] = True  # the first column of a row has no predecessor
    return Wrong(False, columns, not bool(after.all()))


def numbers_of(ptr: Any, n: int, device: Device) -> Any:
    """The row of each of n entries, INT64: row i has the entries ptr[i] .. ptr[i + 1]."""
    xp, rows = device.xp, len(ptr) - 1
    if not n or rows == 1:
        return xp.zeros(n, np.int64)
    if device.host_memory:
        return np.repeat(np.arange(rows), ptr[1:] - ptr[:-1])
    out = xp.empty(n, np.int64)
    device.kernel(Variant("formats/csr/rows", (("PTR", lookup_dtype(ptr.dtype)),)))(n, rows, ptr, out)
    return out


IN_ORDER = Variant("formats/csr/in_order")


def in_order(device: Device, nrows: int, ncols: int, rows: Any, cols: Any, kind: Any) -> tuple[Any, Any] | None:
    """Row pointers and columns (of type `kind`) of entries on the host (INT32 or INT64 each) that are sorted by row and
    column without duplicates. None if they are not, or if one is outside of the matrix."""
    nvals = len(rows)
    ends, col, wrong = np.zeros(nrows + 1, pointer_type(nvals)), np.empty(nvals, kind), np.zeros(1, np.uint8)
    bounds, chunks = None, device.chunks(nvals)
    if chunks > 1 or device.splits(nvals, PARALLEL_ENTRIES):
        bounds = ranges.even(nvals, max(device.parts, chunks))
        # Ranges of whole rows; if rows are unsorted, any ascending limits.
        bounds = np.maximum.accumulate(np.searchsorted(rows, rows[np.minimum(bounds, nvals - 1)]))
        bounds[0], bounds[-1] = 0, nvals
        bounds = bounds if chunks == 1 else ranges.chunked(bounds)
    device.kernel(IN_ORDER)(nvals, nrows, ncols, rows, cols, ends, col, wrong, bounds=bounds)
    if wrong[0]:
        return None
    return np.maximum.accumulate(ends, out=ends), col  # an empty row ends where the previous one does


def pointers_of(rows: Any, nrows: int, device: Device) -> Any:
    """Row pointers, INT64, of ascending row numbers."""
    xp = device.xp
    if not device.host_memory:  # counting would contend for one number if a row is long
        return xp.searchsorted(rows, xp.arange(nrows + 1, dtype=rows.dtype))
    ptr = np.zeros(nrows + 1, np.int64)
    np.cumsum(np.bincount(rows.view(np.int64), minlength=nrows), out=ptr[1:])
    return ptr


def split_keys(device: Device, keys: Any, nrows: int, ncols: int) -> tuple[Any, Any]:
    """Pointers (INT64) and columns of entries from their ascending keys row * ncols + column."""
    if device.host_memory and len(keys) < nrows:
        return pointers_of(keys // max(1, ncols), nrows, device), keys % max(1, ncols)
    first = device.xp.arange(nrows + 1) * ncols  # the least key of each row
    ptr = device.xp.searchsorted(keys, first)
    if device.host_memory:  # for NumPy, looking up the least keys is cheaper than dividing
        return ptr, keys - first[numbers_of(ptr, len(keys), device)]
    return ptr, keys % max(1, ncols)
