"""Sort entries in any order and combine duplicates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType

from ..device import Device
from ..formats.csr import layout
from ..store import PlainValues
from ..typing import Array


class Entries(NamedTuple):
    """Entries of a matrix in any order. values: an array in that order, or one for all entries. dup combines
    duplicates in input order (None: they are an error)."""

    device: Device
    nrows: int
    ncols: int
    rows: Array
    cols: Array
    values: PlainValues
    dtype: DataType
    dup: Typed | None = None


def _combined(entries: Entries, values: Array, ends: Array) -> Array:
    """The values of each run of duplicates, combined. ValueError without an operator."""
    from . import value_arrays

    if entries.dup is None:
        raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")
    return value_arrays.fold_segments(entries.device, entries.dup, values, entries.dtype, ends)


def ordered(entries: Entries) -> tuple[Array, Array, PlainValues]:
    """The entries by row, then column, duplicates combined by `dup` in input order."""
    device, nrows, ncols, rows, cols, values, *_ = entries
    xp, iso = device.xp, isinstance(values, np.generic)
    if iso and device.prefers_sorting and nrows * ncols < 1 << 63:  # keys alone are sorted
        keys = rows * ncols
        keys += cols
        keys.sort()
        keys = xp.append(keys[:1], keys[1:][keys[1:] > keys[:-1]])
        rows = keys // max(1, ncols)
        keys -= rows * ncols
        return rows, keys, values
    order = layout.sort_entries(device, rows, cols, nrows, ncols)
    rows, cols = rows[order], cols[order]
    fresh = xp.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1])
    if not isinstance(values, np.generic):
        values = values[order]
    starts = xp.flatnonzero(fresh)
    if len(starts) < len(rows):
        if not isinstance(values, np.generic):
            values = _combined(entries, values, xp.append(starts, len(rows)))
        rows, cols = rows[starts], cols[starts]
    return rows, cols, values


def counted(entries: Entries) -> tuple[Array, Array, PlainValues]:
    """The same by counting sort: row pointers, columns and values, in new arrays."""
    device, nrows, ncols, rows, cols, values, *_ = entries
    nvals = len(rows)
    csr, order = layout.counting_sort(device, nrows, ncols, rows, cols, not isinstance(values, np.generic))
    ptr, col = csr.ptr, csr.col
    if not isinstance(values, np.generic):
        values = values[order]
    fresh = np.ones(nvals, bool)
    np.not_equal(col[1:], col[:-1], out=fresh[1:])
    fresh[ptr[ptr < nvals]] = True  # the first of a row
    if fresh.all():
        return ptr, col, values
    starts = np.flatnonzero(fresh)
    if not isinstance(values, np.generic):
        values = _combined(entries, values, np.append(starts, nvals))
    return np.searchsorted(starts, ptr), col[starts], values
