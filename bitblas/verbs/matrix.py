"""Verbs on matrices that go entry by entry: element-wise, apply, select, reduce, and the merge; those by index are in
submatrix.py.

They work on sorted linear keys, row * ncols + column (INT64), with functions that NumPy and CuPy share; values go
through `arrays`. Each returns a fresh store; structures are shared where they do not change. A structure mask is
anything with `.structure` and `.complement`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.dtypes import BOOL, DataType

from ..device import Device
from ..exceptions import NotImplementedException
from ..formats import Structure, build
from ..store import MatrixStore
from . import arrays, vector

# ---- keys -----------------------------------------------------------------------------------------------------------


def check_keys(nrows: int, ncols: int) -> None:
    if nrows * ncols >= 1 << 63:
        raise NotImplementedException(
            f"matrix: expected nrows * ncols below 2**63 for this operation, got {nrows} x {ncols}"
        )


def keys_of(structure: Structure, order: bool) -> tuple[Any, Any]:
    """Sorted keys, and where their values lie (None: in that order)."""
    check_keys(structure.nrows, structure.ncols)
    csr, places = structure.primary.to_csr(order)
    rows, cols = csr.coo()
    return rows * structure.ncols + cols, places if structure.primary.key != "csr" else None


def entries(A: MatrixStore) -> tuple[Any, Any]:
    """Sorted keys and the values in that order (np.generic: iso)."""
    keys, order = keys_of(A.structure, not A.iso)
    return keys, A.values if A.iso or order is None else A.values[order]


def coo(A: MatrixStore) -> tuple[Any, Any, Any]:
    """Rows, columns (INT64, by row, then column) and values as arrays."""
    csr, order = A.structure.primary.to_csr(not A.iso)
    rows, cols = csr.coo()
    if A.iso:
        return rows, cols, A.device.xp.full(len(rows), A.values)
    return rows, cols, A.values if A.structure.primary.key == "csr" or order is None else A.values[order]


def find(xp: Any, keys: Any, wanted: Any) -> tuple[Any, Any]:
    """For each wanted key its place in the sorted keys, and whether it is there."""
    if not len(keys):
        return xp.zeros(len(wanted), np.int64), xp.zeros(len(wanted), bool)
    at = xp.minimum(xp.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


def take(values: Any, places: Any) -> Any:
    return values if isinstance(values, np.generic) else values[places]


def _full(device: Device, values: Any, n: int) -> Any:
    return device.xp.full(n, values) if isinstance(values, np.generic) else values


def _same_iso(x: Any, y: Any) -> bool:
    return isinstance(x, np.generic) and isinstance(y, np.generic) and (bool(x == y) or bool(x != x and y != y))


def joined(device: Device, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
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
    return keys[order], take(values, order)


def store(like: MatrixStore, keys: Any, values: Any, dtype: DataType) -> MatrixStore:
    return build.from_sorted_keys(like.device, like.nrows, like.ncols, keys, values, dtype)


def empty(device: Device, nrows: int, ncols: int, dtype: DataType) -> MatrixStore:
    return build.from_sorted_keys(device, nrows, ncols, device.xp.zeros(0, np.int64), dtype.np_type.type(0), dtype)


def cast(A: MatrixStore, dtype: DataType) -> MatrixStore:
    """The same structure, values of another type."""
    return A if A.dtype is dtype else MatrixStore(A.structure, dtype, arrays.cast(A.device, A.values, A.dtype, dtype))


# ---- element-wise: GraphBLAS C API 2.1, sections 4.3.4 and 4.3.5 ----------------------------------------------------


def plain(op: Typed) -> Typed[Operator]:
    """The BinaryOp of a monoid."""
    found: Any = op.op
    return found.binaryop[found.compute_type(op.dtype)] if hasattr(found, "binaryop") else op


def _combined(A: MatrixStore, op: Typed[Operator], x: Any, y: Any, keys: Any) -> Any:
    positional = op.op.positional
    if not positional and not len(keys):
        return A.device.xp.zeros(0, op.return_type.np_type)
    places = (keys // max(1, A.ncols), keys % max(1, A.ncols)) if positional else (None, None)
    return arrays.binary(A.device, op, x, y, *places)


def ewise_mult(A: MatrixStore, B: MatrixStore, op: Typed) -> MatrixStore:
    """The intersection."""
    op, xp = plain(op), A.device.xp
    if A.structure is B.structure:
        positional = op.op.positional
        places = A.structure.coo() if positional else (None, None)
        values = arrays.binary(A.device, op, A.values, B.values, *places) if A.nvals else op.return_type.np_type.type(0)
        return MatrixStore(A.structure, op.return_type, values)
    (ka, va), (kb, vb) = entries(A), entries(B)
    at, hit = find(xp, kb, ka)
    keys = ka[hit]
    return store(A, keys, _combined(A, op, take(va, hit), take(vb, at[hit]), keys), op.return_type)


def ewise_add(A: MatrixStore, B: MatrixStore, op: Typed) -> MatrixStore:
    """The union; where one is missing the other counts, cast to the result's type."""
    op = plain(op)
    z = op.return_type
    keys, values = _union(A, entries(A), A.dtype, entries(B), B.dtype, op, z)
    return store(A, keys, values, z)


def _union(
    A: MatrixStore, a: tuple[Any, Any], ta: DataType, b: tuple[Any, Any], tb: DataType, op: Typed[Operator], z: DataType
) -> tuple[Any, Any]:
    device, xp, ((ka, va), (kb, vb)) = A.device, A.device.xp, (a, b)
    at, hit = find(xp, kb, ka)
    keys = ka[hit]
    both = arrays.cast(device, _combined(A, op, take(va, hit), take(vb, at[hit]), keys), op.return_type, z)
    only_b = xp.ones(len(kb), bool)
    only_b[at[hit]] = False
    left = ka[~hit], arrays.cast(device, take(va, ~hit), ta, z)
    right = kb[only_b], arrays.cast(device, take(vb, only_b), tb, z)
    return joined(device, joined(device, (keys, both), left), right)


def ewise_union(A: MatrixStore, B: MatrixStore, op: Typed, left_default: Any, right_default: Any) -> MatrixStore:
    """The union, with a default for what is missing."""
    op, device, xp = plain(op), A.device, A.device.xp
    (ka, va), (kb, vb) = entries(A), entries(B)
    at, hit = find(xp, kb, ka)
    only_b = xp.ones(len(kb), bool)
    only_b[at[hit]] = False
    parts = (
        (ka[hit], take(va, hit), take(vb, at[hit])),
        (ka[~hit], take(va, ~hit), B.dtype.np_type.type(right_default)),
        (kb[only_b], A.dtype.np_type.type(left_default), take(vb, only_b)),
    )
    out: tuple[Any, Any] = (xp.zeros(0, np.int64), op.return_type.np_type.type(0))
    for keys, x, y in parts:
        out = joined(device, out, (keys, _combined(A, op, x, y, keys)))
    return store(A, *out, op.return_type)


# ---- entry by entry: sections 4.3.8, 4.3.9, 4.3.10 ------------------------------------------------------------------


def apply(A: MatrixStore, op: Typed[Operator]) -> MatrixStore:
    """op of every entry."""
    if op.op.positional:
        return apply_index(A, op, np.int64(0))
    if A.iso or not A.nvals:
        value = A.values if A.iso else A.dtype.np_type.type(0)
        return MatrixStore(A.structure, op.return_type, op.op.evaluate(op.dtype, x=value))
    return MatrixStore(A.structure, op.return_type, arrays.unary(A.device, op, A.values))


def apply_bound(A: MatrixStore, op: Typed, scalar: Any, *, left: bool) -> MatrixStore:
    """op(scalar, entry) if left, else op(entry, scalar)."""
    op = plain(op)
    positional = op.op.positional
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    x, y = (scalar, A.values) if left else (A.values, scalar)
    places = A.structure.coo() if positional else (None, None)
    return MatrixStore(A.structure, op.return_type, arrays.binary(A.device, op, x, y, *places))


def apply_index(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """op(entry, row, column, thunk)."""
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    return MatrixStore(A.structure, op.return_type, arrays.index(A.device, op, A.values, *A.structure.coo(), thunk))


def select(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """The entries for which op(entry, row, column, thunk) is true."""
    if A.iso and not op.op.positional:
        one = A.device.xp.zeros(1, np.int64)
        keep = bool(arrays.index(A.device, op, A.values, one, one, thunk)[0])
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


def reduce_scalar(A: MatrixStore, monoid: Typed[Monoid]) -> np.generic | None:
    """The monoid's sum of all entries, None where there is none."""
    if not A.nvals:
        return None
    if A.iso:
        value = vector.cast_scalar(A.values, monoid.return_type)
        plain_monoid: Any = monoid.op
        return plain_monoid.repeat(monoid.dtype, value, A.nvals)
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


def merge(C: MatrixStore, T: MatrixStore, mask: Any, accum: Typed[Operator] | None, replace: bool) -> MatrixStore:
    """What C<mask, accum, replace> = T leaves in C, of C's type."""
    c, t = entries(C), entries(T)
    if accum is None:
        z = t[0], arrays.cast(C.device, t[1], T.dtype, C.dtype)
    else:
        z = _union(C, c, C.dtype, t, T.dtype, plain(accum), C.dtype)
    if mask is not None:
        z = _restricted(C.device, z, mask, False)
        if not replace:
            z = joined(C.device, z, _restricted(C.device, c, mask, True))
    return store(C, *z, C.dtype)


def _restricted(device: Device, entries: tuple[Any, Any], mask: Any, outside: bool) -> tuple[Any, Any]:
    keys, values = entries
    _, inside = find(device.xp, keys_of(mask.structure, False)[0], keys)
    keep = inside if mask.complement == outside else ~inside
    return keys[keep], take(values, keep)


def mask_of(structure: Structure, value: np.generic, dtype: DataType) -> MatrixStore:
    """`value` wherever the structure has an entry."""
    return MatrixStore(structure, dtype, value)
