"""Verbs on matrices that go entry by entry: element-wise, apply, select, reduce, and the merge; those by index are in
submatrix.py.

They work on sorted linear keys (keys.py); values go through `arrays`. Each returns a fresh store; structures are shared
where they do not change. A structure mask is anything with `.structure` and `.complement`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.dtypes import BOOL, INT64, DataType

from ..device import Device
from ..formats import Region, Structure, build
from ..formats.build import empty
from ..store import MatrixStore
from . import arrays, vector
from .keys import cast, check_keys, coo, entries, find, joined, keys_of, merged, same_iso, store, take
from .sieve import Sieve

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
    op = plain(op)
    if A.structure is B.structure:
        positional = op.op.positional
        places = A.structure.coo() if positional else (None, None)
        values = arrays.binary(A.device, op, A.values, B.values, *places) if A.nvals else op.return_type.np_type.type(0)
        return MatrixStore(A.structure, op.return_type, values)
    (ka, va), (kb, vb) = entries(A), entries(B)
    at, hit = find(A.device, kb, ka)
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
    left, right = arrays.cast(device, va, ta, z), arrays.cast(device, vb, tb, z)
    if not len(kb):
        return ka, left
    if not len(ka):
        return kb, right
    at, hit = find(device, kb, ka)
    keys, place, free = merged(xp, ka, kb, at, hit)
    twin = at[hit]
    only_b = xp.ones(len(kb), bool)
    only_b[twin] = False
    keys[free] = kb[only_b]
    both = _combined(A, op, take(va, hit), take(vb, twin), ka[hit])
    both = arrays.cast(device, both, op.return_type, z)
    if same_iso(left, right) and (not len(twin) or same_iso(both, left)):
        return keys, left
    values = xp.empty(len(keys), z.np_type)
    values[place], values[free] = left, take(right, only_b)
    values[place[hit]] = both
    return keys, values


def ewise_union(A: MatrixStore, B: MatrixStore, op: Typed, left_default: Any, right_default: Any) -> MatrixStore:
    """The union, with a default for what is missing."""
    op, device, xp = plain(op), A.device, A.device.xp
    (ka, va), (kb, vb) = entries(A), entries(B)
    at, hit = find(A.device, kb, ka)
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
    value = vector.constant(op)
    return MatrixStore(A.structure, op.return_type, arrays.unary(A.device, op, A.values) if value is None else value)


def apply_bound(A: MatrixStore, op: Typed, scalar: Any, *, left: bool) -> MatrixStore:
    """op(scalar, entry) if left, else op(entry, scalar)."""
    op = plain(op)
    positional = op.op.positional
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    x, y = (scalar, A.values) if left else (A.values, scalar)
    value = vector.constant(op, x, y)
    if value is not None:
        return MatrixStore(A.structure, op.return_type, value)
    places = A.structure.coo() if positional else (None, None)
    return MatrixStore(A.structure, op.return_type, arrays.binary(A.device, op, x, y, *places))


def apply_index(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """op(entry, row, column, thunk)."""
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    return MatrixStore(A.structure, op.return_type, arrays.index(A.device, op, A.values, *A.structure.coo(), thunk))


# What the positional tests keep, by their thunk: the entries of a region.
REGIONS: dict[str, Callable[[int], Region]] = {
    "tril": lambda t: Region(diag_high=t),
    "triu": lambda t: Region(diag_low=t),
    "diag": lambda t: Region(diag_low=t, diag_high=t),
    "rowle": lambda t: Region(row_high=t + 1),
    "rowgt": lambda t: Region(row_low=t + 1),
    "colle": lambda t: Region(col_high=t + 1),
    "colgt": lambda t: Region(col_low=t + 1),
}


def select(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """The entries for which op(entry, row, column, thunk) is true."""
    if op.name in REGIONS and A.nvals:
        limit = max(A.nrows, A.ncols) + 1  # beyond it nothing changes, and sums with it cannot overflow
        region = REGIONS[op.name](min(max(int(vector.cast_scalar(thunk, INT64)), -limit), limit))
        form, places = A.structure.primary.clip(region, not A.iso)
        return (
            A
            if form.nvals == A.nvals
            else MatrixStore(Structure(form), A.dtype, A.values if A.iso else A.values[places])
        )
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
    if isinstance(A, Sieve) and (total := A.total(monoid)) is not None:
        return total
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
    _, inside = find(device, keys_of(mask.structure, False)[0], keys)
    keep = inside if mask.complement == outside else ~inside
    return keys[keep], take(values, keep)


def mask_of(structure: Structure, value: np.generic, dtype: DataType) -> MatrixStore:
    """`value` wherever the structure has an entry."""
    return MatrixStore(structure, dtype, value)


__all__ = [
    "all_close", "apply", "apply_bound", "apply_index", "cast", "check_keys", "coo", "empty", "entries", "ewise_add",
    "ewise_mult", "ewise_union", "find", "joined", "keys_of", "mask_of", "merge", "plain", "reduce_scalar", "select",
    "store", "take", "transpose", "truthy",
]  # fmt: skip
