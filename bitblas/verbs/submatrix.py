"""Matrices by index: extract, assign, single entries, rows, diagonals; and matrices made of vectors.

They work on sorted linear keys (keys.py). Indices are INT64 arrays, None for all. GraphBLAS C API 2.1, sections
4.3.6 and 4.3.7.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Operator, Typed
from semirings.dtypes import DataType

from ..build import entries as build
from ..build import stores
from ..device import Device
from ..exceptions import OutOfMemory
from ..flat import FlatStore
from ..formats import Region, Structure, numbers
from ..formats.csr.format import from_arrays, pointer_type
from ..formats.hyper.choice import is_hyper as hyper_shape
from ..formats.values import PackedValues
from ..store import MatrixStore, VectorStore
from ..store import plain as unpacked
from . import arrays, elements, hyper, reading, regions, vector_build
from .keys import cast, check_keys, coo, entries, find, joined, keys_of, same_iso, store, take
from .matrix import SECOND, merge

DENSE_LIMIT = 1 << 32  # maximum entries of a full matrix that one assignment may create


def extract(A: MatrixStore, I: Any, J: Any) -> MatrixStore:
    """A[I, J]; indices may repeat. Of a hypersparse A they may be ranges too."""
    if not A.usual and A.structure.renumbers:
        (rows, cols), xp = hyper.lists(A), A.device.xp
        (i, row, m), (j, col, n) = hyper.asked(I, rows, A.nrows, xp), hyper.asked(J, cols, A.ncols, xp)
        return hyper.widened(extract(hyper.own(A), i, j), row, col, m, n)
    if I is not None and A.structure.primary.format.picks:
        A, I = _picked(A, I), None
        if J is None:
            return A
    if regions.goes_by_rows(A) and regions.ascends(J):
        return regions.extract(A, I, J)
    if I is not None and J is not None and regions.ascends(I) and (J is I or regions.ascends(J)):
        return regions.searched(A, I, J)
    xp, device = A.device.xp, A.device
    nrows, ncols = A.nrows if I is None else len(I), A.ncols if J is None else len(J)
    form = A.structure.rows()
    values = A.values_for(form.key, False)
    if I is None:
        rows, cols = form.coo()
    else:
        begin = form.ptr[I]
        rows, at = regions.expanded(device, form.ptr[I + 1] - begin, begin)
        cols, values = form.columns_at(at).astype(np.int64), take(values, at)
    if J is not None:
        place, numbers = xp.empty(A.ncols, np.int64), xp.arange(ncols)
        place.fill(-1)
        place[J] = numbers
        if bool((place[J] == numbers).all()):
            cols = place[cols]
            kept = (cols >= 0).nonzero()[0]
            rows, cols, values = rows[kept], cols[kept], take(values, kept)
        else:  # a column is requested twice
            order = xp.argsort(J, kind="stable")
            low = xp.searchsorted(J[order], cols)
            owner, place = regions.expanded(device, xp.searchsorted(J[order], cols, side="right") - low, low)
            rows, cols, values = rows[owner], order[place], take(values, owner)
    return build.from_coo(device, nrows, ncols, rows, cols, values, A.dtype)


def _picked(A: MatrixStore, rows: Any) -> MatrixStore:
    """Some rows of a format that can decode them without the others."""
    primary: Any = A.structure.primary
    form, places = primary.some_rows(rows, not A.iso)
    return stores.of_rows(form, A.dtype, unpacked(A.taken(places)))


def _row(A: MatrixStore, i: int) -> tuple[Any, int, int, Any]:
    """CSR in which row i is entries low .. high, and the positions of their values (None: the same)."""
    form: Any = A.structure.primary
    device = A.device
    if form.format.picks:
        rows, order = form.some_rows(device.asarray([i], np.int64), not A.iso)
        return rows, 0, rows.nvals, order
    form = A.structure.rows()
    low, high = device.to_host(form.ptr[i : i + 2]).tolist()
    return form, low, high, None if A.iso else A.structure.order("csr")


def _ordered(xp: Any, keys: Any, values: Any) -> tuple[Any, Any]:
    """Sort keys; of equal keys the last counts, as in an assignment to a repeated index."""
    if len(keys) < 2 or bool((keys[1:] > keys[:-1]).all()):
        return keys, values
    order = xp.argsort(keys, kind="stable")
    keys, values = keys[order], take(values, order)
    last = xp.ones(len(keys), bool)
    last[:-1] = keys[1:] != keys[:-1]
    return keys[last], take(values, last)


def in_order(device: Device, nrows: int, ncols: int, keys: Any, values: Any, dtype: DataType) -> MatrixStore:
    return build.from_sorted_keys(device, nrows, ncols, *_ordered(device.xp, keys, values), dtype)


def place(A: MatrixStore, row_offset: int, col_offset: int, nrows: int, ncols: int) -> MatrixStore:
    """A matrix of nrows x ncols with A's entries shifted by the offsets; entries that fall outside are dropped."""
    if A.structure.renumbers or hyper_shape(nrows, ncols, A.nvals):
        rows, cols, values = coo(A)
        rows, cols = rows + row_offset, cols + col_offset
        inside = (rows >= 0) & (rows < nrows) & (cols >= 0) & (cols < ncols)
        values = A.values if A.iso else values[inside]
        return build.from_coo(A.device, nrows, ncols, rows[inside], cols[inside], values, A.dtype)
    check_keys(nrows, ncols)
    keys, values = entries(A)
    rows, cols = keys // max(1, A.ncols) + row_offset, keys % max(1, A.ncols) + col_offset
    inside = (rows >= 0) & (rows < nrows) & (cols >= 0) & (cols < ncols)
    keys = rows[inside] * ncols + cols[inside]
    return build.from_sorted_keys(A.device, nrows, ncols, keys, take(values, inside), A.dtype)


def line(A: MatrixStore, i: int, *, column: bool) -> VectorStore:
    """Row i, or column i, as a vector."""
    xp = A.device.xp
    if column:
        (at, _), values = _part(A, Region(col_low=i, col_high=i + 1))
    elif not A.usual and A.structure.renumbers:
        (_, at), values = _part(A, Region(row_low=i, row_high=i + 1))
    else:
        form, low, high, order = _row(A, i)
        places = xp.arange(low, high) if order is None else order[low:high]
        at, values = form.columns(low, high).astype(np.int64), unpacked(A.taken(places))
    return vector_build.build(A.device, A.nrows if column else A.ncols, A.dtype, at, values)


def _part(A: MatrixStore, region: Region) -> tuple[tuple[Any, Any], Any]:
    """Rows and columns of the entries in a region, and their values."""
    form, places = A.structure.primary.clip(region, not A.iso)
    return form.coo(), unpacked(A.taken(places))


def element(A: MatrixStore, i: int, j: int) -> np.generic | None:
    """A[i, j], None if there is no entry."""
    if isinstance(A, FlatStore):
        return elements.get(A.flat, A.lines.place(i, j))
    if not A.usual and A.structure.renumbers:
        held = zip(hyper.lists(A), (i, j), strict=True)
        places = [numbers.placed(A.device.xp, some, A.device.asarray([k])) for some, k in held]
        there = all(bool(hit[0]) for _, hit in places)
        return element(hyper.own(A), *(int(place[0]) for place, _ in places)) if there else None
    form, low, high, order = _row(A, i)
    cols = form.columns(low, high)
    at = int(A.device.xp.searchsorted(cols, A.device.asarray([j], cols.dtype))[0])
    if low + at >= high or int(cols[at]) != j:
        return None
    if isinstance(A.raw, np.generic):
        return A.raw
    place = low + at if order is None else int(order[low + at])
    one = A.raw.plain(place, place + 1) if isinstance(A.raw, PackedValues) else A.raw[place : place + 1]
    return A.dtype.np_type.type(A.device.to_host(one)[0])


def full(device: Device, nrows: int, ncols: int, value: np.generic, dtype: DataType) -> MatrixStore:
    """The same value everywhere. OutOfMemory for more than 2**32 entries."""
    if nrows * ncols > DENSE_LIMIT:
        raise OutOfMemory(f"matrix: {nrows} x {ncols} entries need about {4 * nrows * ncols} bytes; give a mask")
    keys = device.xp.arange(nrows * ncols, dtype=np.int64)
    return build.from_sorted_keys(device, nrows, ncols, keys, value, dtype)


def outside(structure: Structure, value: np.generic, dtype: DataType) -> MatrixStore:
    """`value` wherever the structure has no entry. OutOfMemory as in `full`."""
    A = full(structure.device, structure.nrows, structure.ncols, value, dtype)
    keys, _ = entries(A)
    _, hit = find(A.device, keys_of(structure, False)[0], keys)
    return store(A, keys[~hit], value, dtype)


def _inside(C: MatrixStore, keys: Any, I: Any, J: Any) -> Any:
    xp, ncols = C.device.xp, max(1, C.ncols)
    inside = xp.ones(len(keys), bool)
    for index, size, at in ((I, C.nrows, keys // ncols), (J, C.ncols, keys % ncols)):
        if index is not None:
            flags = xp.zeros(size, bool)
            flags[index] = True
            inside &= flags[at]
    return inside


def assign(
    C: MatrixStore, I: Any, J: Any, T: MatrixStore, mask: Any, accum: Typed[Operator] | None, replace: bool
) -> MatrixStore:
    """The content of C after C<mask, accum, replace>[I, J] = T. If an index repeats, the last one counts. Of a
    hypersparse C the indices may be ranges too."""
    if any(x.renumbers for x in (C.structure, T.structure, C.structure if mask is None else mask.structure)):
        return _assign_hyper(C, I, J, T, mask, accum, replace)
    if all(map(regions.goes_by_rows, (C, T))) and regions.ascends(I) and regions.ascends(J):
        Z = regions.placed(T, I, J, C.nrows, C.ncols)
        if accum is None:
            rest = regions.outside(C, I, J)
            Z = merge(rest, Z, None, SECOND[C.dtype.name], False) if rest.nvals else cast(Z, C.dtype)
        else:
            Z = merge(C, Z, None, accum, False)
        return Z if mask is None else merge(C, Z, mask, None, replace)
    if not C.nvals and mask is None and accum is None and regions.ascends(I) and (J is I or regions.ascends(J)):
        return cast(regions.placed(T, I, J, C.nrows, C.ncols), C.dtype)
    device, ncols = C.device, max(1, T.ncols)
    kt, vt = entries(T)
    rows, cols = kt // ncols, kt % ncols
    rows, cols = rows if I is None else I[rows], cols if J is None else J[cols]
    kt, vt = _ordered(device.xp, rows * C.ncols + cols, vt)
    if accum is None:
        # Entries of the region that T lacks are deleted; all others stay.
        kc, vc = entries(C)
        outside = ~_inside(C, kc, I, J)
        z = joined(device, (kc[outside], take(vc, outside)), (kt, arrays.cast(device, vt, T.dtype, C.dtype)))
        Z = store(C, *z, C.dtype)
    else:
        Z = merge(C, store(C, kt, vt, T.dtype), None, accum, False)
    return Z if mask is None else merge(C, Z, mask, None, replace)


def _assign_hyper(
    C: MatrixStore, I: Any, J: Any, T: MatrixStore, mask: Any, accum: Typed[Operator] | None, replace: bool
) -> MatrixStore:
    """The same on the rows and columns that have entries, or are assigned to."""
    held, xp = hyper.joint(C, None if mask is None else mask.structure), C.device.xp
    (rows, i, row), (cols, j, col) = (
        hyper.reached(index, some, given, size, xp)
        for index, some, given, size in zip((I, J), held, hyper.lists(T), (T.nrows, T.ncols), strict=True)
    )
    m = None if mask is None else mask._replace(structure=hyper.pattern(mask.structure, rows, cols))
    Z = assign(hyper.small(C, rows, cols), i, j, hyper.small(T, row, col), m, accum, replace)
    return hyper.widened(Z, rows, cols, C.nrows, C.ncols)


def _replaced(C: MatrixStore, form: Any, low: int, high: int, row: int, cols: Any, values: Any) -> MatrixStore:
    """C, whose CSR is `form`, with entries low .. high of a row replaced by others of C's type."""
    device, xp, n = C.device, C.device.xp, len(cols)
    nvals, held = form.nvals + n - (high - low), C.values_for(form.key, False)
    ptr = form.ptr.astype(pointer_type(nvals))  # a copy
    ptr[row + 1 :] += n - (high - low)
    col = xp.concatenate((form.col[:low], cols, form.col[high : form.nvals]))
    if form.nvals and not same_iso(held, values):
        full = lambda x, size: device.full(size, x) if isinstance(x, np.generic) else x
        held = full(held, form.nvals)
        values = xp.concatenate((held[:low], full(values, n), held[high:]))
    made = from_arrays(device, C.nrows, C.ncols, ptr, col)
    return stores.of_rows(made, C.dtype, values)


def assign_row(C: MatrixStore, i: int, u: VectorStore) -> MatrixStore:
    """C, whose columns are plain, with row i replaced by a vector."""
    form, (cols, values) = C.structure.rows(), reading.entries(u)
    low, high = C.device.to_host(form.ptr[i : i + 2]).tolist()
    values = arrays.cast(C.device, u.values if u.iso else values, u.dtype, C.dtype)
    return _replaced(C, form, low, high, i, cols.astype(form.col.dtype), values)


def put_one(C: MatrixStore, i: int, j: int, value: np.generic | None) -> MatrixStore:
    """C with one entry written (a value of C's type) or deleted (None), in host memory."""
    form = C.structure.plain_rows()
    low, high = int(form.ptr[i]), int(form.ptr[i + 1])
    at = low + int(form.col[low:high].searchsorted(j))
    there, held = at < high and int(form.col[at]) == j, C.values_for(form.key, False)
    if value is None:
        return (
            _replaced(C, form, at, at + 1, i, form.col[:0], held[:0] if C.nvals and not C.iso else held) if there else C
        )
    if not there:
        col = np.array([j], form.col.dtype)
        same = value == value and (not C.nvals or (C.iso and C.raw == value))  # NaN differs from every value
        return _replaced(C, form, at, at, i, col, value if same else np.array([value]))
    if C.iso and C.raw == value:
        return C
    values = C.device.full(form.nvals, held) if C.iso else held.copy()
    values[at] = value
    return MatrixStore(C.structure if C.structure.primary is form else Structure(form), C.dtype, values)


def put(C: MatrixStore, keys: Any, values: Any, gone: Any) -> MatrixStore:
    """C with single entries written (sorted keys, values of C's type) and others deleted (sorted keys)."""
    kc, vc = entries(C)
    touched = find(C.device, keys, kc)[1] | find(C.device, gone, kc)[1]
    return store(C, *joined(C.device, (kc[~touched], take(vc, ~touched)), (keys, values)), C.dtype)
