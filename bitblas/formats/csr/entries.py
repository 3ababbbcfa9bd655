"""Entries as lists of rows and columns, or of keys: sorted, and as row pointers."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype

from ...device import Device
from ...kernels.prologue import Variant

FEW = 1 << 13  # entries below which the CPU sorts keys: importing SciPy, which counts, takes some 0.13 s


def numbers_of(ptr: Any, n: int, device: Device) -> Any:
    """The row of each of n entries, INT64: row i holds ptr[i] .. ptr[i + 1]."""
    xp, rows = device.xp, len(ptr) - 1
    if not n or rows == 1:
        return xp.zeros(n, np.int64)
    if device.host_memory:
        return np.repeat(np.arange(rows), ptr[1:] - ptr[:-1])
    out = xp.empty(n, np.int64)
    device.kernel(Variant("formats/csr/rows", (("PTR", lookup_dtype(ptr.dtype)),)))(n, rows, ptr, out)
    return out


def pointers_of(rows: Any, nrows: int, device: Device) -> Any:
    """Where each row begins, and the end, INT64: of ascending row numbers."""
    xp = device.xp
    if not device.host_memory:  # counting would add to one number again and again where a row is long
        return xp.searchsorted(rows, xp.arange(nrows + 1, dtype=rows.dtype))
    ptr = np.zeros(nrows + 1, np.int64)
    np.cumsum(np.bincount(rows.view(np.int64), minlength=nrows), out=ptr[1:])
    return ptr


def sort_entries(device: Device, rows: Any, cols: Any, nrows: int, ncols: int) -> Any:
    """The order of the entries by row, then column; equal ones stay in input order."""
    # Counting sorts would pass over rows and columns that have no entry.
    if device.sorts_keys or len(rows) < FEW or max(nrows, ncols) > 8 * len(rows):
        if nrows * ncols < 1 << 63:
            return device.xp.argsort(rows * ncols + cols, kind="stable")
        by_col = device.xp.argsort(cols, kind="stable")
        return by_col[device.xp.argsort(rows[by_col], kind="stable")]
    from scipy.sparse import coo_array

    # Three counting sorts in compiled code: by row, then to columns and back, each stable.
    numbered = coo_array((np.arange(len(rows)), (rows, cols)), shape=(nrows, ncols))
    numbered.has_canonical_format = True  # duplicates are ours to combine
    return numbered.tocsr().tocsc().tocsr().data


def sort_bytes(device: Device, alone: bool) -> int:
    """Bytes an entry that sorting takes; alone: nothing has to follow the entries."""
    return 80 if not device.sorts_keys else 16 if alone else 40


def split_keys(device: Device, keys: Any, nrows: int, ncols: int) -> tuple[Any, Any]:
    """Pointers (INT64) and columns of entries by their keys row * ncols + column, which ascend."""
    if device.host_memory and len(keys) < nrows:
        return pointers_of(keys // max(1, ncols), nrows, device), keys % max(1, ncols)
    first = device.xp.arange(nrows + 1) * ncols  # the least key of each row
    ptr = device.xp.searchsorted(keys, first)
    if device.host_memory:  # NumPy finds the least keys cheaper than it divides
        return ptr, keys - first[numbers_of(ptr, len(keys), device)]
    return ptr, keys % max(1, ncols)
