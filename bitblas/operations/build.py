"""From entries to a structure, on the device that holds the data.

Every build reports the memory that it needs in addition to its input before it allocates (`Device.foresee`).
"""

from __future__ import annotations

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType

from .. import tuning
from ..device import Device
from ..formats.csr import layout as csr
from ..formats.hyper.layout import is_hyper
from ..store import MatrixStore, PlainValues
from ..typing import Array
from . import convert, duplicates
from .duplicates import Entries


def in_order(
    device: Device, nrows: int, ncols: int, rows: Array, cols: Array, values: PlainValues
) -> tuple[Array, Array] | None:
    """Row pointers and columns of many entries on the host, if they are ordered by row and column, without duplicates,
    and within the matrix: one pass checks and builds all of that. None otherwise, or if memory may not suffice."""
    few = len(rows) < tuning.count("csr.counting_sort_from")
    if not device.host_memory or few or _is_hypersparse("auto", nrows, ncols, len(rows)):
        return None
    if device.missing(_rows_bytes(nrows, ncols, len(rows), values, 0)):
        return None
    return csr.in_order(device, nrows, ncols, rows, cols, csr.index_type(ncols))


def from_coo(
    entries: Entries, *, format: str = "auto", tile: int | None = None, ready: tuple[Array, Array] | None = None
) -> MatrixStore:
    """The matrix of entries in any order; ValueError for duplicates without an operator, unless all values are one. The
    arrays stay the caller's. ready: the result of `in_order` for them."""
    device, nrows, ncols, rows, cols, values, dtype, _ = entries
    if ready is not None:
        rows_of = csr.from_arrays(device, nrows, ncols, *ready)
        return convert.of_rows(rows_of, dtype, _copied(values), format, tile)
    xp, iso = device.xp, isinstance(values, np.generic)
    if _is_hypersparse(format, nrows, ncols, len(rows)):
        (row, i), (col, j) = (xp.unique(x.astype(np.int64, copy=False), return_inverse=True) for x in (rows, cols))
        small = from_coo(entries._replace(nrows=len(row), ncols=len(col), rows=i, cols=j), format="csr")
        return convert.widened(small, row, col, nrows, ncols)
    sorts = csr.sort_bytes(device, nrows, ncols, len(rows), iso)
    many = csr.uses_counting_sort(device, nrows, ncols, len(rows))
    if many and not device.missing(_rows_bytes(nrows, ncols, len(rows), values, 0) + sorts):
        ptr, cols, values = duplicates.counted(entries)
        return convert.of_rows(csr.from_arrays(device, nrows, ncols, ptr, cols), dtype, values, format, tile)
    rows, cols = rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)
    entries = entries._replace(rows=rows, cols=cols)
    keys: Array | None = None
    ascending: Array | None
    if nrows * ncols < 1 << 63:
        keys = rows * ncols
        keys += cols
        ascending = keys[1:] > keys[:-1]
    else:
        ascending = (rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (cols[1:] > cols[:-1]))
    is_sorted = bool(ascending.all())  # also without duplicates, as from `to_coo`
    most = _rows_bytes(nrows, ncols, len(rows), values, 9 if is_sorted else 0) + (0 if is_sorted else sorts)
    if device.missing(most):
        from . import build_chunks  # imports all formats that grow: 2 ms

        itemsize = 0 if iso else int(values.itemsize)
        if build_chunks.peak(device, len(rows), 0, 0, nrows, ncols, itemsize) >= most:
            device.foresee(f"{len(rows)} entries", most)
        keys = ascending = None
        return build_chunks.from_entries(entries, format=format, tile=tile)
    if not is_sorted and keys is not None and iso and device.prefers_sorting:  # only keys are sorted
        keys.sort()
        xp.greater(keys[1:], keys[:-1], out=ascending)
        if not bool(ascending.all()):
            keys = xp.append(keys[:1], keys[1:][ascending])
        return from_sorted_keys(device, nrows, ncols, keys, values, dtype, format=format, tile=tile)
    keys = ascending = None
    if is_sorted:
        cols, values = cols.astype(csr.index_type(ncols)), _copied(values)  # copies, which are not shared
    else:
        rows, cols, values = duplicates.ordered(entries)
    convert.check_rows(device, nrows)
    rows_of = csr.from_arrays(device, nrows, ncols, csr.pointers_of(rows, nrows, device), cols)
    return convert.of_rows(rows_of, dtype, values, format, tile)


def _is_hypersparse(format: str, nrows: int, ncols: int, nvals: int) -> bool:
    """Whether to list the rows and columns that have entries, because there are too many rows or columns."""
    return convert.lists_rows(format) and is_hyper(nrows, ncols, nvals)


def _rows_bytes(nrows: int, ncols: int, nvals: int, values: PlainValues, besides: int) -> int:
    """Bytes of CSR with values, and of temporary memory per entry."""
    value = 0 if isinstance(values, np.generic) else int(values.itemsize)
    return csr.rows_bytes(nrows, ncols, nvals) + 16 * (nrows + 1) + (value + besides) * nvals


def _copied(values: PlainValues) -> PlainValues:
    """A copy, because a matrix stores no array that others may write to."""
    return values if isinstance(values, np.generic) else values.copy()


def from_csr(
    device: Device,
    nrows: int,
    ncols: int,
    ptr: Array,
    cols: Array,
    values: PlainValues,
    dtype: DataType,
    dup: Typed | None,
    ascending: bool,
    *,
    format: str = "auto",
    tile: int | None = None,
) -> MatrixStore:
    """Entries row by row; ascending: the columns of every row ascend. Else they are sorted; as in `from_coo`."""
    nvals = len(cols)
    if ascending:
        device.foresee(f"rows of {nvals} entries", _rows_bytes(nrows, ncols, nvals, values, 1))
        # Copies, which are not shared
        ptr, cols = ptr.astype(csr.pointer_type(nvals)), cols.astype(csr.index_type(ncols))
        rows_of = csr.from_arrays(device, nrows, ncols, ptr, cols)
        return convert.of_rows(rows_of, dtype, _copied(values), format, tile)
    rows = csr.numbers_of(ptr, nvals, device)
    return from_coo(Entries(device, nrows, ncols, rows, cols, values, dtype, dup), format=format, tile=tile)


def from_sorted_keys(
    device: Device,
    nrows: int,
    ncols: int,
    keys: Array,
    values: PlainValues,
    dtype: DataType,
    *,
    format: str = "auto",
    tile: int | None = None,
) -> MatrixStore:
    """Entries given by strictly increasing keys row * ncols + column (INT64)."""
    if _is_hypersparse(format, nrows, ncols, len(keys)):
        rows, cols = keys // max(1, ncols), keys % max(1, ncols)
        return from_coo(Entries(device, nrows, ncols, rows, cols, values, dtype), format=format, tile=tile)
    convert.check_rows(device, nrows)
    device.foresee(f"rows of {len(keys)} entries", _rows_bytes(nrows, ncols, len(keys), values, 24))
    ptr, cols = csr.split_keys(device, keys, nrows, ncols)
    return convert.of_rows(csr.from_arrays(device, nrows, ncols, ptr, cols), dtype, values, format, tile)
