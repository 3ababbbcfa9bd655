"""Submatrices row by row on the CPU: extract A[I, J], the entries outside of it, and assign a small matrix into a large
one. Rows are ascending lists, so the column indices have to ascend; if they do not, submatrix.py sorts keys."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy import generic

from semirings.dtypes import UINT8, UINT16, UINT32, UINT64

from ..build.stores import of_rows
from ..device import Device, held, ranges
from ..formats.csr.format import (
    Csr,
    close_gaps,
    from_arrays,
    index_type,
    numbers_of,
    pointer_type,
    pointers_of,
    rows_bytes,
)
from ..store import MatrixStore
from .keys import take
from .matrix_variants import extract_variant
from .operands import dummy
from .schedule import PARALLEL_ENTRIES

ALIKE = {1: UINT8, 2: UINT16, 4: UINT32, 8: UINT64}  # types for copying values of a given width
SEARCHED = 256  # columns per entry read, from which on entries are searched in the index list
MANY = 1 << 16  # entries from which on available memory is checked


def goes_by_rows(A: MatrixStore) -> bool:
    """Whether the functions below support A."""
    return not A.device.shares_rows and A.dtype.np_type.itemsize in ALIKE and A.dtype.np_type.kind != "V"


def ascends(index: Any) -> bool:
    """Whether an index list (None: all) ascends strictly."""
    return index is None or len(index) < 2 or bool((index[1:] > index[:-1]).all())


@functools.cache
def _kernel(device: Device, wide: int, packed: bool, flagged: bool) -> Any:
    return device.kernel(extract_variant(ALIKE.get(wide), packed=packed, flagged=flagged))


def expanded(device: Device, counts: Any, begin: Any) -> tuple[Any, Any]:
    """For counts (2, 0, 3) from (5, 9, 1) on: owners 0 0 2 2 2 and positions 5 6 1 2 3."""
    xp = device.xp
    ptr = xp.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=ptr[1:])
    host = device.host_memory
    owner = np.repeat(np.arange(len(counts)), counts) if host else numbers_of(ptr, int(ptr[-1]), device)
    return owner, xp.arange(len(owner)) + (begin - ptr[:-1])[owner]


def _moved(
    A: MatrixStore, of: tuple[Any, Any], rows: Any, flagged: bool, place: Any, begin: Any, nrows: int, ncols: int
) -> MatrixStore:
    """The result of extract.cpu.py on A. of: result of A.by_rows(), which may be temporary. begin: number of entries
    read before each row, and in total."""
    device, (a, x) = A.device, of
    # Of one type each, because each new type costs another kernel lookup
    most, none = int(begin[-1]), dummy(device, "uint8")
    no_rows, no_place = dummy(device, "int64"), dummy(device, index_type(A.ncols).char)
    iso = isinstance(x, generic) or not a.nvals
    wide = 0 if iso else x.itemsize
    if most >= MANY or held.limit is not None:
        device.foresee(f"part of {most} entries", rows_bytes(nrows, ncols, most) + wide * most)
    ptr, col = np.zeros(nrows + 1, pointer_type(most)), np.empty(most or 1, index_type(ncols))
    values = x if iso else np.empty(most, x.dtype)
    moved, out = (none, none) if iso else (some.view(ALIKE[wide].np_type) for some in (x, values))
    chunks = device.chunks(most)
    bounds: ranges.Bounds = None
    if chunks > 1:
        bounds = ranges.chunked(ranges.by_work(begin[1:], max(device.parts, chunks)))
    elif device.splits(most, PARALLEL_ENTRIES):
        bounds = ranges.by_work(begin[1:], device.parts)
    _kernel(device, wide, a.width > 0, flagged)(
        nrows, no_rows if rows is None else rows, 0 if rows is None else 1, a.ptr, a.col, a.width,
        moved, no_place if place is None else place, 0 if place is None else 1, begin, ptr,
        col, out, bounds=bounds,
    )  # fmt: skip
    if bounds is not None:
        close_gaps(begin[bounds], bounds, ptr, (col,) if iso else (col, values))
    n = ptr.item(-1)
    col.resize(n or 1, refcheck=False)
    if not iso:
        values.resize(n, refcheck=False)
    return of_rows(Csr(device, nrows, ncols, ptr.astype(pointer_type(n), copy=False), col, n), A.dtype, values)


def extract(A: MatrixStore, I: Any, J: Any) -> MatrixStore:
    """A[I, J] of plain or packed rows; J ascends."""
    form, _ = of = A.by_rows()
    nrows, place = A.nrows if I is None else len(I), None
    if I is None:
        begin = form.ptr.astype(np.int64)
    else:
        begin = np.zeros(nrows + 1, np.int64)
        np.cumsum(form.ptr[I + 1] - form.ptr[I], out=begin[1:])
    if J is not None and begin[-1] * SEARCHED < A.ncols:
        return searched(A, I, J)
    if J is not None:
        place = np.full(A.ncols, -1, index_type(A.ncols))
        place[J] = np.arange(len(J))
    return _moved(A, of, I, False, place, begin, nrows, A.ncols if J is None else len(J))


def searched(A: MatrixStore, I: Any, J: Any) -> MatrixStore:
    """A[I, J], both ascending, if few entries are read: allocates nothing of A's size. On any device."""
    form, device = A.structure.rows(), A.device
    begin, end = (form.ptr[:-1], form.ptr[1:]) if I is None else (form.ptr[I], form.ptr[I + 1])
    rows, at = expanded(device, end - begin, begin)
    cols = form.columns_at(at)
    place = J.searchsorted(cols)
    kept = (J[place.clip(max=len(J) - 1)] == cols).nonzero()[0] if len(J) else place[:0]
    made = from_arrays(device, len(begin), len(J), pointers_of(rows[kept], len(begin), device), place[kept])
    return of_rows(made, A.dtype, take(A.values_for(form.key, False), at[kept]))


def outside(A: MatrixStore, I: Any, J: Any) -> MatrixStore:
    """The entries of A outside of the region I x J."""
    if not A.nvals:
        return A
    of, rows = A.by_rows(), np.full(A.nrows, I is None, np.uint8)
    place = np.arange(A.ncols, dtype=index_type(A.ncols))
    place[slice(None) if J is None else J] = -1
    if I is not None:
        rows[I] = 1
    return _moved(A, of, rows, True, place, of[0].ptr.astype(np.int64), A.nrows, A.ncols)


def placed(T: MatrixStore, I: Any, J: Any, nrows: int, ncols: int) -> MatrixStore:
    """A matrix of that size whose [I, J] is T, and that is empty elsewhere; both ascend. On any device."""
    form, values = T.by_rows()
    ptr, col, device = form.ptr, form.columns(0, form.nvals), T.device
    if I is not None and device.host_memory:
        # Row x begins where the rows of I before x end.
        ptr = np.repeat(ptr, np.diff(I, prepend=-1, append=nrows))
    elif I is not None:
        ptr = pointers_of(I[numbers_of(ptr, form.nvals, device)], nrows, device)
    return of_rows(from_arrays(device, nrows, ncols, ptr, col if J is None else J[col]), T.dtype, values)
