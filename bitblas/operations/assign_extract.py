"""Matrices by index: extract, assign, single entries, rows, diagonals; outer and Kronecker products.

They work on sorted linear keys (sorted_keys.py), or row by row on the CPU if rows and column indices ascend. Indices
are INT64 arrays, None for all. GraphBLAS C API 2.1, sections 4.3.6 and 4.3.7.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np
from numpy import generic

from semirings import Operator, Typed
from semirings.dtypes import DataType

from .. import tuning
from ..device import Device, Kernel, memory, threads
from ..exceptions import OutOfMemory
from ..formats import Region, Structure
from ..formats.csr.layout import (
    expanded,
    from_arrays,
    index_type,
    numbers_of,
    pointer_type,
    pointers_of,
    rows_bytes,
)
from ..formats.hyper.layout import placed
from ..formats.packing import PackedValues
from ..plan import operation as plan
from ..plan.operation import Index
from ..store import FlatStore, MatrixStore, PlainValues, RowLayout, VectorStore, unpack
from ..store import plain as unpacked
from ..typing import Array
from . import build, compressed, convert, hypersparse, value_arrays, vector_entries
from .build import Entries
from .convert import of_rows
from .ewise_matrix import SECOND, merge, plain
from .operands import MatrixMask, dummy
from .sorted_keys import cast, check_keys, coo, entries, find, joined, keys_of, same_iso, store
from .value_arrays import take
from .variants import extract_variant

# ---- Submatrices row by row on the CPU: extract A[I, J], the entries outside of it, and assign a small matrix into a
# large one. Rows are ascending lists, so the column indices have to ascend; if they do not, assign_extract.py sorts
# keys.


@functools.cache
def _kernel(device: Device, wide: int, packed: bool, flagged: bool) -> Kernel:
    return device.kernel(extract_variant(plan.ALIKE.get(wide), packed=packed, flagged=flagged))


def _copy_entries(
    A: MatrixStore,
    of: tuple[RowLayout, PlainValues],
    rows: Array | None,
    flagged: bool,
    place: Array | None,
    begin: Array,
    nrows: int,
    ncols: int,
) -> MatrixStore:
    """The result of `extract` (ewise.cpu.py). of: result of A.by_rows(), maybe temporary. begin: number of entries
    read before each row, and in total."""
    device, (a, x) = A.device, of
    # Of one type each, because each new type costs another kernel lookup
    most, none = int(begin[-1]), dummy(device, "uint8")
    no_rows, no_place = dummy(device, "int64"), dummy(device, index_type(A.ncols).char)
    iso = isinstance(x, generic) or not a.nvals
    wide = 0 if iso else x.itemsize
    if most >= tuning.count("memory.checked_entries") or memory.limit is not None:
        device.foresee(f"part of {most} entries", rows_bytes(nrows, ncols, most) + wide * most)
    ptr, col = np.zeros(nrows + 1, pointer_type(most)), np.empty(most or 1, index_type(ncols))
    values = x if iso else np.empty(most, x.dtype)
    moved, out = (none, none) if iso else (some.view(plan.ALIKE[wide].np_type) for some in (x, values))
    chunks = device.chunks(most)
    bounds: threads.Bounds = None
    if chunks > 1:
        bounds = threads.as_chunks(threads.ranges_by_work(begin[1:], max(device.parts, chunks)))
    elif device.splits(most, tuning.count("parallel.entries")):
        bounds = threads.ranges_by_work(begin[1:], device.parts)
    row, at = (no_rows, 0) if rows is None else (rows, 1), (no_place, 0) if place is None else (place, 1)
    kernel = _kernel(device, wide, a.width > 0, flagged)
    kernel(nrows, *row, a.ptr, a.col, a.width, moved, *at, begin, ptr, col, out, bounds=bounds)
    starts = None if bounds is None else begin[bounds]
    return convert.of_room(device, (nrows, ncols), (ptr, col, values), A.dtype, bounds, starts)


def row_starts(layout: RowLayout, I: Array | None) -> Array:
    """The number of entries in the rows of I before each one, and in total."""
    if I is None:
        return layout.ptr.astype(np.int64)
    begin = np.zeros(len(I) + 1, np.int64)
    np.cumsum(layout.ptr[I + 1] - layout.ptr[I], out=begin[1:])
    return begin


def extract_rows(A: MatrixStore, I: Array | None, J: Array | None) -> MatrixStore:
    """A[I, J] of plain or packed rows; J ascends."""
    layout, _ = of = A.by_rows()
    nrows, place, begin = A.nrows if I is None else len(I), None, row_starts(layout, I)
    if J is not None and plan.searches_columns(int(begin[-1]), A.ncols):
        return extract_by_search(A, I, J)
    if J is not None:
        place = np.full(A.ncols, -1, index_type(A.ncols))
        place[J] = np.arange(len(J))
    return _copy_entries(A, of, I, False, place, begin, nrows, A.ncols if J is None else len(J))


def extract_by_search(A: MatrixStore, I: Array | None, J: Array) -> MatrixStore:
    """A[I, J], both ascending, if few entries are read: allocates nothing of A's size. On any device."""
    layout, device = A.structure.rows(), A.device
    begin, end = (layout.ptr[:-1], layout.ptr[1:]) if I is None else (layout.ptr[I], layout.ptr[I + 1])
    rows, at = expanded(device, end - begin, begin)
    cols = layout.columns_at(at)
    place = J.searchsorted(cols)
    kept = (J[place.clip(max=len(J) - 1)] == cols).nonzero()[0] if len(J) else place[:0]
    csr = from_arrays(device, len(begin), len(J), pointers_of(rows[kept], len(begin), device), place[kept])
    return of_rows(csr, A.dtype, take(A.values_for(layout.key, False), at[kept]))


def rows_outside(A: MatrixStore, I: Array | None, J: Array | None) -> MatrixStore:
    """The entries of A outside of the region I x J."""
    if not A.nvals:
        return A
    of, rows = A.by_rows(), np.full(A.nrows, I is None, np.uint8)
    place = np.arange(A.ncols, dtype=index_type(A.ncols))
    place[slice(None) if J is None else J] = -1
    if I is not None:
        rows[I] = 1
    return _copy_entries(A, of, rows, True, place, of[0].ptr.astype(np.int64), A.nrows, A.ncols)


def embed_rows(T: MatrixStore, I: Array | None, J: Array | None, nrows: int, ncols: int) -> MatrixStore:
    """A matrix of that size whose [I, J] is T, and that is empty elsewhere; both ascend. On any device."""
    layout, values = T.by_rows()
    ptr, col, device = layout.ptr, layout.columns(0, layout.nvals), T.device
    if I is not None and device.host_memory:
        # Row x begins where the rows of I before x end.
        ptr = np.repeat(ptr, np.diff(I, prepend=-1, append=nrows))
    elif I is not None:
        ptr = pointers_of(I[numbers_of(ptr, layout.nvals, device)], nrows, device)
    return of_rows(from_arrays(device, nrows, ncols, ptr, col if J is None else J[col]), T.dtype, values)


# ---- Matrices by index: extract, assign, single entries, rows, diagonals; and matrices made of vectors.

DENSE_LIMIT = 1 << 32  # maximum entries of a full matrix that one assignment may create


def extract(A: MatrixStore, I: Index, J: Index) -> MatrixStore:
    """A[I, J]; indices may repeat. Of a hypersparse A they may be ranges too."""
    way = plan.extract_matrix_way(A, I, J)
    if way is plan.COMPRESSED:
        (rows, cols), xp = hypersparse.lists(A), A.device.xp
        i, row, m = hypersparse.resolve_index(I, rows, A.nrows, xp)
        j, col, n = hypersparse.resolve_index(J, cols, A.ncols, xp)
        return hypersparse.widened(extract(hypersparse.compressed_matrix(A), i, j), row, col, m, n)
    assert not isinstance(I, range) and not isinstance(J, range)
    if way is plan.DECODED_ROWS and I is not None:
        some = _decode_rows(A, I)
        return some if J is None else extract(some, None, J)
    if way is plan.SELECTED_ROWS:
        return extract_rows(A, I, J)
    if way is plan.SEARCHED_COLUMNS and J is not None:
        return extract_by_search(A, I, J)
    xp, device = A.device.xp, A.device
    nrows, ncols = A.nrows if I is None else len(I), A.ncols if J is None else len(J)
    layout = A.structure.rows()
    values = A.values_for(layout.key, False)
    if I is None:
        rows, cols = layout.coo()
    else:
        begin = layout.ptr[I]
        rows, at = expanded(device, layout.ptr[I + 1] - begin, begin)
        cols, values = layout.columns_at(at).astype(np.int64), take(values, at)
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
            owner, place = expanded(device, xp.searchsorted(J[order], cols, side="right") - low, low)
            rows, cols, values = rows[owner], order[place], take(values, owner)
    return build.from_coo(Entries(device, nrows, ncols, rows, cols, values, A.dtype))


def _decode_rows(A: MatrixStore, rows: Array) -> MatrixStore:
    """Some rows of a format that can decode them without the others."""
    primary: Any = A.structure.primary
    layout, places = primary.format.kernels["rows"](primary, rows, not A.iso)
    return convert.of_rows(layout, A.dtype, unpacked(A.taken(places)))


def _row(A: MatrixStore, i: int) -> tuple[RowLayout, int, int, Array | None]:
    """CSR in which row i is entries low .. high, and the positions of their values (None: the same)."""
    layout: Any = A.structure.primary
    device = A.device
    if "rows" in layout.format.kernels:
        rows, order = layout.format.kernels["rows"](layout, device.asarray([i], np.int64), not A.iso)
        return rows, 0, rows.nvals, order
    layout = A.structure.rows()
    low, high = device.to_host(layout.ptr[i : i + 2]).tolist()
    return layout, low, high, None if A.iso else A.structure.order("csr")


def _ordered(xp: ModuleType, keys: Array, values: PlainValues) -> tuple[Array, PlainValues]:
    """Sort keys; of equal keys the last counts, as in an assignment to a repeated index."""
    if len(keys) < 2 or bool((keys[1:] > keys[:-1]).all()):
        return keys, values
    order = xp.argsort(keys, kind="stable")
    keys, values = keys[order], take(values, order)
    last = xp.ones(len(keys), bool)
    last[:-1] = keys[1:] != keys[:-1]
    return keys[last], take(values, last)


def in_order(device: Device, nrows: int, ncols: int, keys: Array, values: PlainValues, dtype: DataType) -> MatrixStore:
    return build.from_sorted_keys(device, nrows, ncols, *_ordered(device.xp, keys, values), dtype)


def place(A: MatrixStore, row_offset: int, col_offset: int, nrows: int, ncols: int) -> MatrixStore:
    """A matrix of nrows x ncols with A's entries shifted by the offsets; entries that fall outside are dropped."""
    if plan.place_way(A, nrows, ncols) is plan.SHIFTED:
        rows, cols, values = coo(A)
        rows, cols = rows + row_offset, cols + col_offset
        inside = (rows >= 0) & (rows < nrows) & (cols >= 0) & (cols < ncols)
        values = A.values if A.iso else values[inside]
        return build.from_coo(Entries(A.device, nrows, ncols, rows[inside], cols[inside], values, A.dtype))
    check_keys(nrows, ncols)
    keys, values = entries(A)
    rows, cols = keys // max(1, A.ncols) + row_offset, keys % max(1, A.ncols) + col_offset
    inside = (rows >= 0) & (rows < nrows) & (cols >= 0) & (cols < ncols)
    keys = rows[inside] * ncols + cols[inside]
    return build.from_sorted_keys(A.device, nrows, ncols, keys, take(values, inside), A.dtype)


def line(A: MatrixStore, i: int, *, column: bool) -> VectorStore:
    """Row i, or column i, as a vector."""
    if plan.line_way(A, column) is plan.CLIPPED:
        one = Region(col_low=i, col_high=i + 1) if column else Region(row_low=i, row_high=i + 1)
        (rows, cols), values = _part(A, one)
        at = rows if column else cols
    else:
        layout, low, high, order = _row(A, i)
        places = A.device.xp.arange(low, high) if order is None else order[low:high]
        at, values = layout.columns(low, high).astype(np.int64), unpacked(A.taken(places))
    return vector_entries.build(A.device, A.nrows if column else A.ncols, A.dtype, at, values)


def _part(A: MatrixStore, region: Region) -> tuple[tuple[Array, Array], PlainValues]:
    """Rows and columns of the entries in a region, and their values."""
    layout, places = A.structure.primary.clip(region, not A.iso)
    return layout.coo(), unpacked(A.taken(places))


def element(A: MatrixStore, i: int, j: int) -> np.generic | None:
    """A[i, j], None if there is no entry."""
    if isinstance(A, FlatStore):
        return vector_entries.get(A.flat, A.lines.place(i, j))
    way = plan.element_way(A)
    if way is plan.COMPRESSED:
        axes = zip(hypersparse.lists(A), (i, j), strict=True)
        places = [placed(A.device.xp, some, A.device.asarray([k])) for some, k in axes]
        there = all(bool(hit[0]) for _, hit in places)
        return element(hypersparse.compressed_matrix(A), *(int(place[0]) for place, _ in places)) if there else None
    layout, low, high, order = _row(A, i)
    cols = layout.columns(low, high)
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


def _inside(C: MatrixStore, keys: Array, I: Array | None, J: Array | None) -> Array:
    xp, ncols = C.device.xp, max(1, C.ncols)
    inside = xp.ones(len(keys), bool)
    for index, size, at in ((I, C.nrows, keys // ncols), (J, C.ncols, keys % ncols)):
        if index is not None:
            flags = xp.zeros(size, bool)
            flags[index] = True
            inside &= flags[at]
    return inside


def assign(
    C: MatrixStore, I: Index, J: Index, T: MatrixStore, mask: MatrixMask | None, accum: Typed | None, replace: bool
) -> MatrixStore:
    """The content of C after C<mask, accum, replace>[I, J] = T. If an index repeats, the last one counts. Of a
    hypersparse C the indices may be ranges too."""
    way = plan.assign_matrix_way(C, I, J, T, None if mask is None else mask.structure, accum)
    if way is plan.COMPRESSED:
        return _assign_hyper(C, I, J, T, mask, accum, replace)
    assert not isinstance(I, range) and not isinstance(J, range)
    if way is plan.EMBEDDED:
        return cast(embed_rows(T, I, J, C.nrows, C.ncols), C.dtype)
    if way is plan.MERGED_ROWS:
        Z = embed_rows(T, I, J, C.nrows, C.ncols)
        if accum is None:
            rest = rows_outside(C, I, J)
            Z = merge(rest, Z, None, SECOND[C.dtype.name], False) if rest.nvals else cast(Z, C.dtype)
        else:
            Z = merge(C, Z, None, accum, False)
        return Z if mask is None else merge(C, Z, mask, None, replace)
    device, ncols = C.device, max(1, T.ncols)
    kt, vt = entries(T)
    rows, cols = kt // ncols, kt % ncols
    rows, cols = rows if I is None else I[rows], cols if J is None else J[cols]
    kt, vt = _ordered(device.xp, rows * C.ncols + cols, vt)
    if accum is None:
        # Entries of the region that T lacks are deleted; all others stay.
        kc, vc = entries(C)
        outside = ~_inside(C, kc, I, J)
        z = joined(device, (kc[outside], take(vc, outside)), (kt, value_arrays.cast(device, vt, T.dtype, C.dtype)))
        Z = store(C, *z, C.dtype)
    else:
        Z = merge(C, store(C, kt, vt, T.dtype), None, accum, False)
    return Z if mask is None else merge(C, Z, mask, None, replace)


def _assign_hyper(
    C: MatrixStore, I: Index, J: Index, T: MatrixStore, mask: MatrixMask | None, accum: Typed | None, replace: bool
) -> MatrixStore:
    """The same on the rows and columns that have entries, or are assigned to."""
    united, xp = hypersparse.united_lists(C, None if mask is None else mask.structure), C.device.xp
    (rows, i, row), (cols, j, col) = (
        hypersparse.resolve_assignment(index, some, assigned, size, xp)
        for index, some, assigned, size in zip((I, J), united, hypersparse.lists(T), (T.nrows, T.ncols), strict=True)
    )
    m = None if mask is None else mask._replace(structure=hypersparse.pattern(mask.structure, rows, cols))
    Z = assign(hypersparse.compress(C, rows, cols), i, j, hypersparse.compress(T, row, col), m, accum, replace)
    return hypersparse.widened(Z, rows, cols, C.nrows, C.ncols)


def _replace_entries(
    C: MatrixStore, layout: RowLayout, low: int, high: int, row: int, cols: Array, values: PlainValues
) -> MatrixStore:
    """C, whose CSR is `form`, with entries low .. high of a row replaced by others of C's type."""
    device, xp, n = C.device, C.device.xp, len(cols)
    nvals, before = layout.nvals + n - (high - low), C.values_for(layout.key, False)
    ptr = layout.ptr.astype(pointer_type(nvals))  # a copy
    ptr[row + 1 :] += n - (high - low)
    col = xp.concatenate((layout.col[:low], cols, layout.col[high : layout.nvals]))
    if layout.nvals and not same_iso(before, values):
        full = lambda x, size: device.full(size, x) if isinstance(x, np.generic) else x
        before = full(before, layout.nvals)
        values = xp.concatenate((before[:low], full(values, n), before[high:]))
    rows = from_arrays(device, C.nrows, C.ncols, ptr, col)
    return convert.of_rows(rows, C.dtype, values)


def assign_row(C: MatrixStore, i: int, u: VectorStore) -> MatrixStore:
    """C, whose columns are plain, with row i replaced by a vector."""
    layout, (cols, values) = C.structure.rows(), compressed.entries(u)
    low, high = C.device.to_host(layout.ptr[i : i + 2]).tolist()
    values = value_arrays.cast(C.device, u.values if u.iso else values, u.dtype, C.dtype)
    return _replace_entries(C, layout, low, high, i, cols.astype(layout.col.dtype), values)


def put_one(C: MatrixStore, i: int, j: int, value: np.generic | None) -> MatrixStore:
    """C with one entry written (a value of C's type) or deleted (None), in host memory."""
    layout = C.structure.plain_rows()
    low, high = int(layout.ptr[i]), int(layout.ptr[i + 1])
    at = low + int(layout.col[low:high].searchsorted(j))
    there, before = at < high and int(layout.col[at]) == j, C.values_for(layout.key, False)
    if value is None:
        return (
            _replace_entries(C, layout, at, at + 1, i, layout.col[:0], before[:0] if C.nvals and not C.iso else before)
            if there
            else C
        )
    if not there:
        col = np.array([j], layout.col.dtype)
        same = value == value and (not C.nvals or (C.iso and C.raw == value))  # NaN differs from every value
        return _replace_entries(C, layout, at, at, i, col, value if same else np.array([value]))
    if C.iso and C.raw == value:
        return C
    values = C.device.full(layout.nvals, before) if C.iso else before.copy()
    values[at] = value
    return MatrixStore(C.structure if C.structure.primary is layout else Structure(layout), C.dtype, values)


def put(C: MatrixStore, keys: Array, values: PlainValues, gone: Array) -> MatrixStore:
    """C with single entries written (sorted keys, values of C's type) and others deleted (sorted keys)."""
    kc, vc = entries(C)
    touched = find(C.device, keys, kc)[1] | find(C.device, gone, kc)[1]
    return store(C, *joined(C.device, (kc[~touched], take(vc, ~touched)), (keys, values)), C.dtype)


# ---- Outer and Kronecker products, diagonals, a vector at the entries of a matrix.


def outer(u: VectorStore, v: VectorStore, op: Typed[Operator]) -> MatrixStore:
    """op(u[i], v[j])."""
    op, xp = plain(op), u.device.xp
    (i, x), (j, y) = compressed.entries(u), compressed.entries(v)
    at = xp.arange(len(i) * len(j), dtype=np.int64)
    a, b = at // max(1, len(j)), at % max(1, len(j))
    iso = u.iso and v.iso and not op.op.positional
    if iso or not len(at):
        values = op.op.evaluate(op.dtype, x=u.values, y=v.values) if iso else op.return_type.np_type.type(0)
    elif op.op.positional:  # u is a column, v a row
        values = value_arrays.by_place(u.device, op, x[a], y[b], i[a], j[b], ("ix", "0", "0", "jx"))
    else:
        values = value_arrays.binary(u.device, op, x[a], y[b])
    return build.from_coo(Entries(u.device, u.size, v.size, i[a], j[b], values, op.return_type))


def kronecker(A: MatrixStore, B: MatrixStore, op: Typed[Operator]) -> MatrixStore:
    """op(A[i, j], B[k, l]) at (i * B.nrows + k, j * B.ncols + l). GraphBLAS C API 2.1, section 4.3.12."""
    op, device, xp = plain(op), A.device, A.device.xp
    nrows, ncols = A.nrows * B.nrows, A.ncols * B.ncols
    if plan.kronecker_way(A, B, op) is plan.COMPRESSED:
        pairs = zip(hypersparse.lists(A), hypersparse.lists(B), (B.nrows, B.ncols), strict=True)
        rows, cols = ((a[:, None] * size + b).ravel() for a, b, size in pairs)
        a, b = (hypersparse.compress(x, *hypersparse.lists(x)) for x in (A, B))
        return hypersparse.widened(kronecker(a, b, op), rows, cols, nrows, ncols)
    check_keys(nrows, ncols)
    (ka, va), (kb, vb) = entries(A), entries(B)
    a, b = xp.repeat(xp.arange(len(ka)), len(kb)), xp.tile(xp.arange(len(kb)), len(ka))
    ia, ja, ib, jb = ka // max(1, A.ncols), ka % max(1, A.ncols), kb // max(1, B.ncols), kb % max(1, B.ncols)
    keys = (ia[a] * B.nrows + ib[b]) * ncols + ja[a] * B.ncols + jb[b]
    values: PlainValues = op.return_type.np_type.type(0)
    if op.op.positional and len(keys):
        # 0 * ix gives the literal the type of positions, which C++ requires.
        first = [f"quotient({of}, 0 * {of} + {n}, 64)" for of, n in (("ix", B.nrows), ("jx", B.ncols))]
        second = [f"({of} - {n} * {at})" for of, n, at in zip(("ix", "jx"), (B.nrows, B.ncols), first)]
        x, y = take(va, a), take(vb, b)
        values = value_arrays.by_place(device, op, x, y, keys // ncols, keys % ncols, (*first, *second))
    elif len(keys):
        values = value_arrays.binary(device, op, take(va, a), take(vb, b))
    return in_order(device, nrows, ncols, keys, values, op.return_type)


def broadcast(A: MatrixStore, u: VectorStore, *, columns: bool) -> MatrixStore:
    """u[j] (u[i] with `columns`) at each entry (i, j) of A for which u has an entry."""
    rows, cols = A.structure.coo()
    at = rows if columns else cols
    t = compressed.extract(u, at)
    keep = unpack(u.device, t.present, t.size)
    values = t.values if t.iso else compressed.plain_values(t)
    return convert.filter_entries(MatrixStore(A.structure, u.dtype, values), keep)


def from_diagonal(u: VectorStore, k: int) -> MatrixStore:
    """A matrix with u on diagonal k."""
    n = u.size + abs(k)
    i, x = compressed.entries(u)
    values = u.values if u.iso else x
    return build.from_coo(Entries(u.device, n, n, i + max(0, -k), i + max(0, k), values, u.dtype))


def diagonal(A: MatrixStore, k: int) -> VectorStore:
    """Diagonal k as a vector."""
    size = max(0, min(A.nrows + min(0, k), A.ncols - max(0, k)))
    layout: Any = A.structure.primary
    places: Array | None
    if layout.compact and not layout.format.by_rows:  # the diagonal is not encoded
        rows, cols = layout.coo()
        places = A.device.xp.flatnonzero(cols - rows == k)
        cols = cols[places]
    else:
        layout, places = layout.clip(Region(diag_low=k, diag_high=k), not A.iso)
        cols = layout.columns().astype(np.int64) if layout.format.by_rows else layout.coo()[1]
    at, values = cols - k if k > 0 else cols, unpacked(A.taken(places))
    return vector_entries.build(A.device, size, A.dtype, at, values, distinct=True)
