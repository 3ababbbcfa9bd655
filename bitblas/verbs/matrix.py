"""Verbs on matrices that go entry by entry: element-wise, apply, select, extract, assign, and the merge.

They work on sorted linear keys, row * ncols + column (INT64), with functions that NumPy and CuPy share; values go
through `arrays`. Each returns a fresh store; structures are shared where they do not change. A structure mask is
anything with `.structure` and `.complement`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Typed
from semirings.algebra import Monoid
from semirings.dtypes import BOOL, DataType

from ..device import Device
from ..exceptions import NotImplementedException, OutOfMemory
from ..formats import Structure, build
from ..store import MatrixStore, VectorStore
from . import arrays, vector

DENSE_LIMIT = 1 << 32  # entries of a full matrix that one assignment may make


# ---- keys -----------------------------------------------------------------------------------------------------------


def check_keys(nrows: int, ncols: int) -> None:
    if nrows * ncols >= 1 << 63:
        raise NotImplementedException(
            f"matrix: expected nrows * ncols below 2**63 for this operation, got {nrows} x {ncols}"
        )


def _keys(structure: Structure, order: bool) -> tuple[Any, Any]:
    """Sorted keys, and where their values lie (None: in that order)."""
    check_keys(structure.nrows, structure.ncols)
    csr, places = structure.primary.to_csr(order)
    rows, cols = csr.coo()
    return rows * structure.ncols + cols, places if structure.primary.key != "csr" else None


def entries(A: MatrixStore) -> tuple[Any, Any]:
    """Sorted keys and the values in that order (np.generic: iso)."""
    keys, order = _keys(A.structure, not A.iso)
    return keys, A.values if A.iso or order is None else A.values[order]


def coo(A: MatrixStore) -> tuple[Any, Any, Any]:
    """Rows, columns (INT64, by row, then column) and values as arrays."""
    csr, order = A.structure.primary.to_csr(not A.iso)
    rows, cols = csr.coo()
    if A.iso:
        return rows, cols, A.device.xp.full(len(rows), A.values)
    return rows, cols, A.values if A.structure.primary.key == "csr" or order is None else A.values[order]


def _find(xp: Any, keys: Any, wanted: Any) -> tuple[Any, Any]:
    """For each wanted key its place in the sorted keys, and whether it is there."""
    if not len(keys):
        return xp.zeros(len(wanted), np.int64), xp.zeros(len(wanted), bool)
    at = xp.minimum(xp.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


def _take(values: Any, places: Any) -> Any:
    return values if isinstance(values, np.generic) else values[places]


def _full(device: Device, values: Any, n: int) -> Any:
    return device.xp.full(n, values) if isinstance(values, np.generic) else values


def _same_iso(x: Any, y: Any) -> bool:
    return isinstance(x, np.generic) and isinstance(y, np.generic) and (bool(x == y) or bool(x != x and y != y))


def _joined(device: Device, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """Two disjoint lists of (keys, values of one type) as one."""
    (ka, va), (kb, vb) = a, b
    if not len(kb):
        return a
    if not len(ka):
        return b
    xp = device.xp
    keys = xp.concatenate((ka, kb))
    order = xp.argsort(keys)
    values = va if _same_iso(va, vb) else xp.concatenate((_full(device, va, len(ka)), _full(device, vb, len(kb))))
    return keys[order], _take(values, order)


def _store(like: MatrixStore, keys: Any, values: Any, dtype: DataType) -> MatrixStore:
    return build.from_sorted_keys(like.device, like.nrows, like.ncols, keys, values, dtype)


def empty(device: Device, nrows: int, ncols: int, dtype: DataType) -> MatrixStore:
    return build.from_sorted_keys(device, nrows, ncols, device.xp.zeros(0, np.int64), dtype.np_type.type(0), dtype)


def cast(A: MatrixStore, dtype: DataType) -> MatrixStore:
    """The same structure, values of another type."""
    return A if A.dtype is dtype else MatrixStore(A.structure, dtype, arrays.cast(A.device, A.values, A.dtype, dtype))


# ---- element-wise: GraphBLAS C API 2.1, sections 4.3.4 and 4.3.5 ----------------------------------------------------


def _plain(op: Typed) -> Typed:
    return op.op.binaryop[op.op.compute_type(op.dtype)] if isinstance(op.op, Monoid) else op


def _combined(A: MatrixStore, op: Typed, x: Any, y: Any, keys: Any) -> Any:
    positional = op.op.positional  # type: ignore[union-attr]
    if not positional and not len(keys):
        return A.device.xp.zeros(0, op.return_type.np_type)
    places = (keys // max(1, A.ncols), keys % max(1, A.ncols)) if positional else (None, None)
    return arrays.binary(A.device, op, x, y, *places)


def ewise_mult(A: MatrixStore, B: MatrixStore, op: Typed) -> MatrixStore:
    """The intersection."""
    op, xp = _plain(op), A.device.xp
    if A.structure is B.structure:
        positional = op.op.positional  # type: ignore[union-attr]
        places = A.structure.coo() if positional else (None, None)
        values = arrays.binary(A.device, op, A.values, B.values, *places) if A.nvals else op.return_type.np_type.type(0)
        return MatrixStore(A.structure, op.return_type, values)
    (ka, va), (kb, vb) = entries(A), entries(B)
    at, hit = _find(xp, kb, ka)
    keys = ka[hit]
    return _store(A, keys, _combined(A, op, _take(va, hit), _take(vb, at[hit]), keys), op.return_type)


def ewise_add(A: MatrixStore, B: MatrixStore, op: Typed) -> MatrixStore:
    """The union; where one is missing the other counts, cast to the result's type."""
    op = _plain(op)
    z = op.return_type
    keys, values = _union(A, entries(A), A.dtype, entries(B), B.dtype, op, z)
    return _store(A, keys, values, z)


def _union(
    A: MatrixStore, a: tuple[Any, Any], ta: DataType, b: tuple[Any, Any], tb: DataType, op: Typed, z: DataType
) -> tuple[Any, Any]:
    device, xp, ((ka, va), (kb, vb)) = A.device, A.device.xp, (a, b)
    at, hit = _find(xp, kb, ka)
    keys = ka[hit]
    both = arrays.cast(device, _combined(A, op, _take(va, hit), _take(vb, at[hit]), keys), op.return_type, z)
    only_b = xp.ones(len(kb), bool)
    only_b[at[hit]] = False
    left = ka[~hit], arrays.cast(device, _take(va, ~hit), ta, z)
    right = kb[only_b], arrays.cast(device, _take(vb, only_b), tb, z)
    return _joined(device, _joined(device, (keys, both), left), right)


def ewise_union(A: MatrixStore, B: MatrixStore, op: Typed, left_default: Any, right_default: Any) -> MatrixStore:
    """The union, with a default for what is missing."""
    op, device, xp = _plain(op), A.device, A.device.xp
    (ka, va), (kb, vb) = entries(A), entries(B)
    at, hit = _find(xp, kb, ka)
    only_b = xp.ones(len(kb), bool)
    only_b[at[hit]] = False
    parts = (
        (ka[hit], _take(va, hit), _take(vb, at[hit])),
        (ka[~hit], _take(va, ~hit), B.dtype.np_type.type(right_default)),
        (kb[only_b], A.dtype.np_type.type(left_default), _take(vb, only_b)),
    )
    out: tuple[Any, Any] = (xp.zeros(0, np.int64), op.return_type.np_type.type(0))
    for keys, x, y in parts:
        out = _joined(device, out, (keys, _combined(A, op, x, y, keys)))
    return _store(A, *out, op.return_type)


# ---- entry by entry: sections 4.3.8, 4.3.9, 4.3.10 ------------------------------------------------------------------


def apply(A: MatrixStore, op: Typed) -> MatrixStore:
    """op of every entry."""
    if A.iso or not A.nvals:
        value = A.values if A.iso else A.dtype.np_type.type(0)
        return MatrixStore(A.structure, op.return_type, op.op.evaluate(op.dtype, x=value))  # type: ignore[union-attr]
    return MatrixStore(A.structure, op.return_type, arrays.unary(A.device, op, A.values))


def apply_bound(A: MatrixStore, op: Typed, scalar: Any, *, left: bool) -> MatrixStore:
    """op(scalar, entry) if left, else op(entry, scalar)."""
    op = _plain(op)
    positional = op.op.positional  # type: ignore[union-attr]
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    x, y = (scalar, A.values) if left else (A.values, scalar)
    places = A.structure.coo() if positional else (None, None)
    return MatrixStore(A.structure, op.return_type, arrays.binary(A.device, op, x, y, *places))


def apply_index(A: MatrixStore, op: Typed, thunk: Any) -> MatrixStore:
    """op(entry, row, column, thunk)."""
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    return MatrixStore(A.structure, op.return_type, arrays.index(A.device, op, A.values, *A.structure.coo(), thunk))


def select(A: MatrixStore, op: Typed, thunk: Any) -> MatrixStore:
    """The entries for which op(entry, row, column, thunk) is true."""
    if A.iso and not op.op.positional:  # type: ignore[union-attr]
        keep = op.op.evaluate(op.dtype, x=A.values, t=thunk)  # type: ignore[union-attr]
        return A if keep else empty(A.device, A.nrows, A.ncols, A.dtype)
    if not A.nvals:
        return A
    keep = arrays.index(A.device, op, A.values, *A.structure.coo(), thunk)
    return build.filter_entries(A, keep.astype(bool, copy=False))


def truthy(A: MatrixStore) -> Structure:
    """Where A has an entry that is not zero."""
    if A.iso:
        return A.structure if A.values else empty(A.device, A.nrows, A.ncols, BOOL).structure
    keep = arrays.cast(A.device, A.values, A.dtype, BOOL) if A.nvals else A.device.xp.zeros(0, bool)
    pattern = MatrixStore(A.structure, BOOL, np.True_)
    return A.structure if bool(keep.all()) else build.filter_entries(pattern, keep).structure


def reduce_scalar(A: MatrixStore, monoid: Typed) -> np.generic | None:
    """The monoid's sum of all entries, None where there is none."""
    if not A.nvals:
        return None
    if A.iso:
        value = vector.cast_scalar(A.values, monoid.return_type)
        return monoid.op.repeat(monoid.dtype, value, A.nvals)  # type: ignore[union-attr, no-any-return]
    return arrays.reduce(A.device, monoid, A.values)


def transpose(A: MatrixStore) -> MatrixStore:
    key = A.structure.primary.key
    order = None if A.iso else A.structure.order(key, transposed=True)
    form = A.structure.form(key, transposed=True)
    return MatrixStore(Structure(form), A.dtype, A.values if order is None else A.values[order])


def all_close(device: Device, x: Any, y: Any, rel_tol: float, abs_tol: float) -> bool:
    """abs(x - y) <= max(rel_tol * max(abs(x), abs(y)), abs_tol) everywhere, in FP64; equal infinities are close."""
    xp = device.xp
    x, y = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        bound = xp.maximum(rel_tol * xp.maximum(xp.abs(x), xp.abs(y)), abs_tol)
        return bool(((x == y) | (xp.isfinite(x) & xp.isfinite(y) & (xp.abs(x - y) <= bound))).all())


# ---- the merge that ends every statement: section 2.3.4 -------------------------------------------------------------


def merge(C: MatrixStore, T: MatrixStore, mask: Any, accum: Typed | None, replace: bool) -> MatrixStore:
    """What C<mask, accum, replace> = T leaves in C, of C's type."""
    c, t = entries(C), entries(T)
    if accum is None:
        z = t[0], arrays.cast(C.device, t[1], T.dtype, C.dtype)
    else:
        z = _union(C, c, C.dtype, t, T.dtype, _plain(accum), C.dtype)
    if mask is not None:
        z = _restricted(C.device, z, mask, False)
        if not replace:
            z = _joined(C.device, z, _restricted(C.device, c, mask, True))
    return _store(C, *z, C.dtype)


def _restricted(device: Device, entries: tuple[Any, Any], mask: Any, outside: bool) -> tuple[Any, Any]:
    keys, values = entries
    _, inside = _find(device.xp, _keys(mask.structure, False)[0], keys)
    keep = inside if mask.complement == outside else ~inside
    return keys[keep], _take(values, keep)


def mask_of(structure: Structure, value: np.generic, dtype: DataType) -> MatrixStore:
    """`value` wherever the structure has an entry."""
    return MatrixStore(structure, dtype, value)


# ---- by index: sections 4.3.6 and 4.3.7. Indices are INT64 arrays, None for all. ------------------------------------


def _expand(xp: Any, counts: Any) -> tuple[Any, Any]:
    """For counts (2, 0, 3): owners 0 0 2 2 2 and ranks 0 1 0 1 2."""
    ends = xp.cumsum(counts)
    at = xp.arange(int(ends[-1]) if len(counts) else 0, dtype=np.int64)
    owner = xp.searchsorted(ends, at, side="right")
    return owner, at - (ends - counts)[owner]


def extract(A: MatrixStore, I: Any, J: Any) -> MatrixStore:
    """A[I, J]; indices may repeat."""
    xp, device, ncols = A.device.xp, A.device, max(1, A.ncols)
    keys, values = entries(A)
    rows, cols = keys // ncols, keys % ncols
    nrows_out, ncols_out = A.nrows if I is None else len(I), A.ncols if J is None else len(J)
    check_keys(nrows_out, ncols_out)
    if I is not None:
        low = xp.searchsorted(rows, I)
        owner, rank = _expand(xp, xp.searchsorted(rows, I, side="right") - low)
        at = low[owner] + rank
        rows, cols, values = owner, cols[at], _take(values, at)
    if J is not None:
        order = xp.argsort(J, kind="stable")
        sorted_j = J[order]
        low = xp.searchsorted(sorted_j, cols)
        owner, rank = _expand(xp, xp.searchsorted(sorted_j, cols, side="right") - low)
        rows, cols, values = rows[owner], order[low[owner] + rank], _take(values, owner)
    return _sorted(device, nrows_out, ncols_out, rows * ncols_out + cols, values, A.dtype)


def _sorted(device: Device, nrows: int, ncols: int, keys: Any, values: Any, dtype: DataType) -> MatrixStore:
    """From keys in any order; of equal ones the last counts, as in an assignment to a repeated index."""
    order = device.xp.argsort(keys, kind="stable")
    keys, values = keys[order], _take(values, order)
    if len(keys) > 1:
        last = device.xp.ones(len(keys), bool)
        last[:-1] = keys[1:] != keys[:-1]
        keys, values = keys[last], _take(values, last)
    return build.from_sorted_keys(device, nrows, ncols, keys, values, dtype)


def line(A: MatrixStore, i: int, *, column: bool) -> VectorStore:
    """Row i, or column i, as a vector."""
    xp = A.device.xp
    if column:
        keys, values = entries(A)
        hit = keys % max(1, A.ncols) == i
        at, values = keys[hit] // max(1, A.ncols), _take(values, hit)
    else:
        form, order = A.structure.form("csr"), None if A.iso else A.structure.order("csr")
        low, high = (int(p) for p in form.ptr[i : i + 2])
        places = xp.arange(low, high) if order is None else order[low:high]
        at, values = form.col[low:high].astype(np.int64), _take(A.values, places)
    return vector.build(A.device, A.nrows if column else A.ncols, A.dtype, at, values)


def element(A: MatrixStore, i: int, j: int) -> np.generic | None:
    """A[i, j], None where there is no entry."""
    form = A.structure.form("csr")
    low, high = (int(p) for p in form.ptr[i : i + 2])
    cols = form.col[low:high]
    at = int(A.device.xp.searchsorted(cols, A.device.asarray([j], cols.dtype))[0])
    if low + at >= high or int(cols[at]) != j:
        return None
    if A.iso:
        return A.values  # type: ignore[no-any-return]
    order = A.structure.order("csr")
    place = low + at if order is None else int(order[low + at])
    return A.dtype.np_type.type(A.device.to_host(A.values[place : place + 1])[0])


def full(device: Device, nrows: int, ncols: int, value: np.generic, dtype: DataType) -> MatrixStore:
    """The same value everywhere. OutOfMemory for more than 2**32 entries."""
    check_keys(nrows, ncols)
    if nrows * ncols > DENSE_LIMIT:
        raise OutOfMemory(f"matrix: {nrows} x {ncols} entries need about {4 * nrows * ncols} bytes; give a mask")
    keys = device.xp.arange(nrows * ncols, dtype=np.int64)
    return build.from_sorted_keys(device, nrows, ncols, keys, value, dtype)


def outside(structure: Structure, value: np.generic, dtype: DataType) -> MatrixStore:
    """`value` wherever the structure has no entry. OutOfMemory as in `full`."""
    A = full(structure.device, structure.nrows, structure.ncols, value, dtype)
    keys, _ = entries(A)
    _, hit = _find(A.device.xp, _keys(structure, False)[0], keys)
    return _store(A, keys[~hit], value, dtype)


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
    C: MatrixStore, I: Any, J: Any, T: MatrixStore, mask: Any, accum: Typed | None, replace: bool
) -> MatrixStore:
    """What C<mask, accum, replace>[I, J] = T leaves in C. Of a repeated index the last counts."""
    device, ncols = C.device, max(1, T.ncols)
    kt, vt = entries(T)
    rows, cols = kt // ncols, kt % ncols
    rows, cols = rows if I is None else I[rows], cols if J is None else J[cols]
    T = _sorted(device, C.nrows, C.ncols, rows * C.ncols + cols, vt, T.dtype)
    if accum is None:
        # Entries of the region that T lacks are deleted; all others stay.
        kc, vc = entries(C)
        outside = ~_inside(C, kc, I, J)
        kt, vt = entries(T)
        z = _joined(device, (kc[outside], _take(vc, outside)), (kt, arrays.cast(device, vt, T.dtype, C.dtype)))
        Z = _store(C, *z, C.dtype)
    else:
        Z = merge(C, T, None, accum, False)
    return Z if mask is None else merge(C, Z, mask, None, replace)


def put(C: MatrixStore, keys: Any, values: Any, gone: Any) -> MatrixStore:
    """C with single entries written (sorted keys, values of C's type) and others deleted (sorted keys)."""
    kc, vc = entries(C)
    touched = _find(C.device.xp, keys, kc)[1] | _find(C.device.xp, gone, kc)[1]
    return _store(C, *_joined(C.device, (kc[~touched], _take(vc, ~touched)), (keys, values)), C.dtype)


# ---- between vectors and matrices -----------------------------------------------------------------------------------


def outer(u: VectorStore, v: VectorStore, op: Typed) -> MatrixStore:
    """op(u[i], v[j])."""
    op, xp = _plain(op), u.device.xp
    check_keys(u.size, v.size)
    (i, x), (j, y) = vector.entries(u), vector.entries(v)
    at = xp.arange(len(i) * len(j), dtype=np.int64)
    a, b = at // max(1, len(j)), at % max(1, len(j))
    keys = i[a] * v.size + j[b]
    iso = u.iso and v.iso and not op.op.positional  # type: ignore[union-attr]
    if iso or not len(at):
        values = op.op.evaluate(op.dtype, x=u.values, y=v.values) if iso else op.return_type.np_type.type(0)  # type: ignore[union-attr]
    else:
        values = arrays.binary(u.device, op, x[a], y[b], i[a], j[b])
    return build.from_sorted_keys(u.device, u.size, v.size, keys, values, op.return_type)


def from_diagonal(u: VectorStore, k: int) -> MatrixStore:
    """A matrix with u on diagonal k."""
    n = u.size + abs(k)
    check_keys(n, n)
    i, x = vector.entries(u)
    keys = (i + max(0, -k)) * n + i + max(0, k)
    return build.from_sorted_keys(u.device, n, n, keys, u.values if u.iso else x, u.dtype)


def diagonal(A: MatrixStore, k: int) -> VectorStore:
    """Diagonal k as a vector."""
    size = max(0, min(A.nrows + min(0, k), A.ncols - max(0, k)))
    rows, cols = A.structure.coo()
    hit = cols - rows == k
    at = (cols if k <= 0 else rows)[hit]
    return vector.build(A.device, size, A.dtype, at, _take(A.values, hit))
