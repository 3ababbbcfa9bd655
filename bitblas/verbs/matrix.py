"""Element-wise operations on matrices: ewise_add, ewise_mult, apply, select, reduce, and the merge into the output.

Operations by index are in submatrix.py. Unions and intersections merge rows (join.py); operations on values only use
`arrays`. Each returns a fresh store, which shares the structure if that does not change. A structural mask is any
object with `.structure` and `.complement`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, INT64, DataType, cast_scalar

from ..build import stores
from ..build.stores import empty
from ..device import Device
from ..flat import FlatStore
from ..formats import Region, Structure
from ..store import MatrixStore
from . import arrays, hyper, narrow, records, vector
from .join import join, restricted
from .keys import cast, check_keys, coo, entries, find, joined, keys_of, store, take
from .sieve import Sieve
from .weave import BOTH, FILLED, ONLY, UNION, sift, weave

FIRST, SECOND = BINARY["first"], BINARY["second"]

# ---- element-wise: GraphBLAS C API 2.1, sections 4.3.4 and 4.3.5 ----------------------------------------------------


def plain(op: Typed) -> Typed[Operator]:
    """The BinaryOp of a monoid."""
    found = op.op
    return found.binaryop[found.compute_type(op.dtype)] if type(found) is Monoid else op


def ewise_mult(A: MatrixStore, B: MatrixStore, op: Typed) -> MatrixStore:
    """The intersection."""
    op = plain(op)
    if not (A.usual and B.usual) and (narrow.is_flat(A) or narrow.is_flat(B)) and narrow.computes(op):
        return narrow.ewise(A, B, op, union=False)
    if A.structure is B.structure:
        positional = op.op.positional
        places = A.coo() if positional else (None, None)
        values = arrays.binary(A.device, op, A.values, B.values, *places) if A.nvals else op.return_type.np_type.type(0)
        return MatrixStore(A.structure, op.return_type, values)
    return _join(A, B, op, op.return_type, BOTH)


def ewise_add(A: MatrixStore, B: MatrixStore, op: Typed) -> MatrixStore:
    """The union; an entry of only one operand is cast to the result's type."""
    op = plain(op)
    if not (A.usual and B.usual) and (narrow.is_flat(A) or narrow.is_flat(B)) and narrow.computes(op):
        return narrow.ewise(A, B, op, union=True)
    return ewise_mult(A, B, op) if A.structure is B.structure else _join(A, B, op, op.return_type, UNION)


def ewise_union(A: MatrixStore, B: MatrixStore, op: Typed, left_default: Any, right_default: Any) -> MatrixStore:
    """The union, with a default for the missing operand."""
    op = plain(op)
    if not (A.usual and B.usual) and (narrow.is_flat(A) or narrow.is_flat(B)) and narrow.computes(op):
        return narrow.ewise(A, B, op, union=True, defaults=(left_default, right_default))
    if A.structure is B.structure:
        return ewise_mult(A, B, op)
    return _join(A, B, op, op.return_type, FILLED, (left_default, right_default))


def _join(
    A: MatrixStore, B: MatrixStore, op: Typed[Operator], z: DataType, mode: int, defaults: tuple[Any, Any] | None = None
) -> MatrixStore:
    """The entries of both (mode BOTH), or of either, by one thread per row or one per entry."""
    if op.dtype._is_udt and records.computes(op):
        return _join_places(A, B, op, z, mode, defaults)
    if not (A.usual and B.usual) and (A.structure.renumbers or B.structure.renumbers):
        if op.op.positional:
            return _join_places(A, B, op, z, mode, defaults)
        return hyper.entrywise(lambda a, b: _join(a, b, op, z, mode, defaults), A, B)
    if A.device.shares_rows:
        return join(A, B, op, z, intersect=mode == BOTH, defaults=defaults)
    return weave(A, B, op, z, mode, defaults=defaults)


def _join_places(
    A: MatrixStore, B: MatrixStore, op: Typed[Operator], z: DataType, mode: int, defaults: Any
) -> MatrixStore:
    """The same for an operator that reads positions: it is applied after the entries are joined."""

    def place(mode: int, defaults: Any) -> MatrixStore:
        x = _join(A, B, FIRST[A.dtype], A.dtype, mode, defaults)
        y = _join(A, B, SECOND[B.dtype], B.dtype, mode, defaults)
        values: Any = op.return_type.np_type.type(0)
        if x.nvals:
            values = arrays.binary(A.device, op, x.values, y.values, *x.coo())
        return cast(MatrixStore(x.structure, op.return_type, values), z)

    if mode == FILLED:
        return place(FILLED, defaults)
    both = place(BOTH, None)
    return both if mode == BOTH else _join(_join(A, B, SECOND[z], z, UNION), both, SECOND[z], z, UNION)


# ---- entry by entry: sections 4.3.8, 4.3.9, 4.3.10 ------------------------------------------------------------------


def apply(A: MatrixStore, op: Typed[Operator]) -> MatrixStore:
    """op of every entry."""
    if not A.usual and narrow.maps(A, op):
        return narrow.each(vector.apply, A, op)
    if op.op.positional:
        return apply_index(A, op, np.int64(0))
    structure, x = A.structure, A.values
    if isinstance(x, np.generic) or not structure.nvals:
        value = x if isinstance(x, np.generic) else A.dtype.np_type.type(0)
        return MatrixStore(structure, op.return_type, op.op.evaluate(op.dtype, x=value))
    value = vector.constant(op)
    return MatrixStore(structure, op.return_type, arrays.unary(A.device, op, x, A.dtype) if value is None else value)


def apply_bound(A: MatrixStore, op: Typed, scalar: Any, *, left: bool) -> MatrixStore:
    """op(scalar, entry) if left, else op(entry, scalar)."""
    op = plain(op)
    positional = op.op.positional
    if not A.usual and narrow.maps(A, op):
        return narrow.each(vector.apply_bound, A, op, scalar, left=left)
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    x, y = (scalar, A.values) if left else (A.values, scalar)
    value = vector.constant(op, x, y)
    if value is not None:
        return MatrixStore(A.structure, op.return_type, value)
    places = A.coo() if positional else (None, None)
    return MatrixStore(A.structure, op.return_type, arrays.binary(A.device, op, x, y, *places))


def apply_index(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """op(entry, row, column, thunk)."""
    if not A.usual and narrow.maps(A, op):
        return narrow.each(vector.apply_index, A, op, thunk)
    if not A.nvals:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    return MatrixStore(A.structure, op.return_type, arrays.index(A.device, op, A.values, *A.coo(), thunk))


# Regions that the positional operators keep, by their thunk.
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
    name = op.op.name
    if name in REGIONS:  # beyond the limit nothing changes, and sums with it cannot overflow
        limit = max(A.nrows, A.ncols) + 1
        thunk = min(max(int(cast_scalar(thunk, INT64)), -limit), limit)
    if not A.usual and narrow.maps(A, op):
        return narrow.each(vector.select, A, op, thunk)
    if not A.nvals:
        return A
    by_rows = not A.device.shares_rows and A.usual and A.structure.primary.format.by_rows
    by_rows = by_rows and not records.computes(op)
    if by_rows and not A.packed and A.order is None and not (A.iso and not op.op.positional):
        return sift(A, op, thunk)
    if name in REGIONS and A.order is None:
        region = REGIONS[name](thunk)
        form, places = A.structure.primary.clip(region, not A.iso)
        return A if form.nvals == A.nvals else MatrixStore(Structure(form), A.dtype, A.taken(places))
    if A.iso and not op.op.positional:
        one = A.device.xp.zeros(1, np.int64)
        keep = bool(arrays.index(A.device, op, A.values, one, one, thunk)[0])
        return A if keep else empty(A.device, A.nrows, A.ncols, A.dtype)
    rows, cols = A.coo() if op.op.positional else (None, None)
    keep = arrays.index(A.device, op, A.values, rows, cols, thunk)
    return stores.filter_entries(A, keep.astype(bool, copy=False))


def truthy(A: MatrixStore) -> Structure:
    """Where A has an entry that is not zero."""
    if isinstance(A, FlatStore):
        return narrow.truthy(A)
    if A.iso:
        return A.structure if A.values else empty(A.device, A.nrows, A.ncols, BOOL).structure
    keep = arrays.cast(A.device, A.values, A.dtype, BOOL) if A.nvals else A.device.xp.zeros(0, bool)
    pattern = MatrixStore(A.structure, BOOL, np.True_)
    return A.structure if bool(keep.all()) else stores.filter_entries(pattern, keep).structure


def reduce_scalar(A: MatrixStore, monoid: Typed[Monoid]) -> np.generic | None:
    """The monoid's reduction of all entries, None if there are none."""
    if isinstance(A, FlatStore) and not records.computes(monoid):
        return vector.reduce(A.flat, monoid)
    if isinstance(A, Sieve) and A.adds(monoid):
        return A.total(monoid)
    if not A.nvals:
        return None
    if A.iso:
        value = cast_scalar(A.values, monoid.return_type)
        plain_monoid: Any = monoid.op
        return plain_monoid.repeat(monoid.dtype, value, A.nvals)
    return arrays.reduce(A.device, monoid, A.values)


def transpose(A: MatrixStore) -> MatrixStore:
    if isinstance(A, FlatStore) and (found := narrow.transpose(A)) is not None:
        return found
    key = A.structure.primary.key
    order = None if A.iso else A.structure.order(key, transposed=True)
    form = A.structure.form(key, transposed=True)
    return MatrixStore(Structure(form), A.dtype, A.taken(order))


def all_close(device: Device, x: Any, y: Any, rel_tol: float, abs_tol: float) -> bool:
    """abs(x - y) <= max(rel_tol * max(abs(x), abs(y)), abs_tol) everywhere, in FP64; equal infinities are close."""
    xp = device.xp
    x, y = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        bound = xp.maximum(rel_tol * xp.maximum(xp.abs(x), xp.abs(y)), abs_tol)
        return bool(((x == y) | (xp.isfinite(x) & xp.isfinite(y) & (xp.abs(x - y) <= bound))).all())


# ---- the merge that ends every statement: section 2.3.4 -------------------------------------------------------------


@functools.cache
def _second(dtype: str) -> Typed[Operator]:
    return SECOND[dtype]


def merge(
    C: MatrixStore, T: MatrixStore, mask: Any, accum: Typed[Operator] | None, replace: bool, *, inside: bool = False
) -> MatrixStore:  # fmt: skip
    """The content of C after C<mask, accum, replace> = T, of C's type. inside: C may be overwritten."""
    usual = C.usual and T.usual
    if not usual and (mask is not None or accum is not None) and (narrow.is_flat(C) or narrow.is_flat(T)):
        if narrow.merges(C, accum):
            return narrow.merge(C, T, mask, accum if accum is None else plain(accum), replace, inside)
    op = _second(C.dtype.name) if accum is None else plain(accum)
    if accum is not None and records.computes(op):
        T, op, accum = _join(C, T, op, C.dtype, UNION), _second(C.dtype.name), None
    if mask is not None and not (usual and mask.structure.usual):
        t = T.places if isinstance(T, Sieve) else T.structure
        if C.structure.renumbers or mask.structure.renumbers or t.renumbers:
            return _merge_hyper(C, T, mask, accum, replace)
    if mask is None:
        return cast(T, C.dtype) if accum is None else _join(C, T, op, C.dtype, UNION)
    # The mask is exactly the structure of T
    fits = not mask.complement and not T.deferred and T.structure is mask.structure
    if fits and accum is None and (replace or C.structure is mask.structure):
        return cast(T, C.dtype)
    if not C.device.shares_rows:
        C = empty(C.device, C.nrows, C.ncols, C.dtype) if replace and accum is None else C
        return weave(C, T, op, C.dtype, UNION if accum else ONLY, mask=mask, replace=replace)
    z = cast(T, C.dtype) if accum is None else join(C, T, op, C.dtype)
    if not fits or accum:
        z = restricted(z, mask.structure, not mask.complement)
    # Otherwise the mask is exactly the structure of C
    if not replace and (mask.complement or C.structure is not mask.structure):
        z = join(z, restricted(C, mask.structure, mask.complement), SECOND[C.dtype], C.dtype)
    return z


def _merge_hyper(
    C: MatrixStore, T: MatrixStore, mask: Any, accum: Typed[Operator] | None, replace: bool
) -> MatrixStore:
    """The same if one of them is hypersparse."""
    run = lambda c, t, m: merge(c, t, mask._replace(structure=m), accum, replace)
    return hyper.entrywise(run, C, T, mask.structure)


def mask_of(structure: Structure, value: np.generic, dtype: DataType) -> MatrixStore:
    """`value` wherever the structure has an entry."""
    return MatrixStore(structure, dtype, value)


__all__ = [
    "all_close", "apply", "apply_bound", "apply_index", "cast", "check_keys", "coo", "empty", "entries", "ewise_add",
    "ewise_mult", "ewise_union", "find", "joined", "keys_of", "mask_of", "merge", "plain", "reduce_scalar", "select",
    "store", "take", "transpose", "truthy",
]  # fmt: skip
