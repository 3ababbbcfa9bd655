"""Element-wise operations on matrices: ewise_add, ewise_mult, apply, select, reduce, and the merge into the output.

Unions and intersections merge rows. CPU: under a mask, in one pass (formats/csr/ewise.cpu.py); threads share ranges of
rows, each writes into room for the largest possible result, then the gaps are closed. GPU: formats/csr/ewise.cu finds
the position of each entry of A in B, and writes the entries of A, and those only in B, to their final
positions. Each operation returns a fresh store, which shares the structure if that does not change. A structural mask
is any object with `.structure` and `.complement`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import generic

from semirings import Monoid, Operator, Typed
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, INT64, DataType, cast_scalar, lookup_dtype

from .. import tuning
from ..device import Bounds, Device, memory, threads
from ..formats import Region, Structure
from ..formats.csr.kernels import column_types
from ..formats.csr.layout import from_arrays, index_type, pointer_type, rows_bytes
from ..kernels.variant import Variant
from ..plan import operation as plan
from ..store import FlatStore, MatrixStore, PlainValues, Raw, RowLayout
from ..store import plain as unpacked
from ..typing import Array, Number
from . import convert, ewise_vector, hypersparse, multivector, supports, value_arrays
from .convert import empty as empty
from .convert import filter_entries, of_rows
from .lazy_map_product import LazyMapProduct
from .map_products import Applied
from .operands import ZERO, MatrixMask, Pair, dummy, entry_values, make, unit_bounds
from .sorted_keys import cast as cast
from .sorted_keys import check_keys as check_keys
from .sorted_keys import coo as coo
from .spgemm import LazyMaskedProduct
from .variants import Joining, join_variant, match_variant, merge_rows_variant, packed_constants, select_rows_variant

# ---- eWiseAdd and eWiseMult of matrices on a GPU, columns plain or packed.
#
# formats/csr/ewise.cu finds the position of each entry of A in B, and writes the entries of A, and those only in B,
# to their final positions.


class Meeting(NamedTuple):
    """For each entry of A: its position in B, and whether B has it; `below`: prefix sums of the hits."""

    place: Array
    hit: Array
    before: Array

    @property
    def common(self) -> int:
        return int(self.before[-1])


def _types(a: RowLayout, b: RowLayout) -> tuple[tuple[str, DataType], ...]:
    return *column_types(a), ("BPTR", lookup_dtype(b.ptr.dtype))


def meet(a: RowLayout, b: RowLayout) -> Meeting:
    """a, b: formats by rows."""
    device, xp, n = a.device, a.device.xp, a.nvals
    place, hit, before = xp.empty(max(1, n), b.ptr.dtype), xp.empty(max(1, n), np.uint8), xp.zeros(n + 1, a.ptr.dtype)
    run = device.kernel(match_variant(_types(a, b), packed_constants(a.key, b.key)))
    run(n, a.nrows, a.ptr, a.col, a.width, b.ptr, b.col, b.width, place, hit)
    xp.cumsum(hit[:n], out=before[1:])
    return Meeting(place, hit, before)


BOTH, UNION, FILLED, ONLY = range(4)  # ewise.cpu.py


Valued = tuple[Raw, DataType]


class Join(NamedTuple):
    """How the entries of two matrices are joined to entries of type z: op of two entries, or (FILLED) of one and the
    default for the other, is cast to z; elsewhere the single entry is."""

    op: Typed[Operator]
    z: DataType
    mode: int
    defaults: Pair | None = None


def join(A: MatrixStore, B: MatrixStore, how: Join) -> MatrixStore:
    """The union or intersection of the entries. op: a BinaryOp of the types of A and B."""
    op, z, mode, defaults = how
    intersect = mode == BOTH
    device, xp = A.device, A.device.xp
    a, b = A.structure.rows(), B.structure.rows()
    met = meet(a, b)
    common = met.common
    if intersect:
        n, ptr = common, met.before[a.ptr]
    else:
        n, ptr = a.nvals + b.nvals - common, a.ptr.astype(np.int64) + b.ptr - met.before[a.ptr]
    unmatched = (False, False) if intersect else (a.nvals > common, b.nvals > common)
    given_values = (A.raw, A.dtype), (B.raw, B.dtype)
    value = one_value(device, *given_values, how, common > 0, unmatched)
    wide = 0 if value is not None else z.np_type.itemsize
    device.foresee(f"union or intersection of {n} entries", rows_bytes(a.nrows, a.ncols, n) + wide * n)
    col = xp.empty(max(1, n), index_type(a.ncols))
    if value is None:
        values: Array = xp.empty(max(1, n), z.np_type)
        operands = tuple(
            (*entry_values(device, M.dtype, M.values_for(layout.key, False)), M.dtype.np_type.type(default))
            for M, layout, default in zip((A, B), (a, b), defaults or (0, 0), strict=True)
        )
    else:
        values, operands = dummy(device, "bool"), ((dummy(device, "bool"), np.True_, 0, np.True_),) * 2
    for side in (0,) if intersect else (0, 1):
        count = (a, b)[side].nvals
        if count:
            joining = Joining(op if value is None else None, A.dtype, B.dtype, z)
            packed = packed_constants(a.key, b.key)
            variant = join_variant(_types(a, b), packed, joining, side, intersect, mode == FILLED)
            left, right = (a.ptr, a.col, a.width, *operands[0]), (b.ptr, b.col, b.width, *operands[1])
            device.kernel(variant)(count, a.nrows, *left, *right, *met, col, values)
    C = from_arrays(device, a.nrows, a.ncols, ptr, col[:n])
    return of_rows(C, z, values[:n] if value is None else value)


def one_value(
    device: Device,
    x: Valued,
    y: Valued,
    how: Join,
    common: bool,
    unmatched: tuple[bool, bool],
) -> np.generic | None:
    """The single value of a union or intersection, of type z, if the operands imply that there is one. x, y: their
    values and types; common: whether some entry is in both; unmatched: whether some entry is only in x, only in y."""
    op, z, _, defaults = how
    (a, a_type), (b, b_type) = x, y
    if not (isinstance(a, np.generic) and isinstance(b, np.generic)) or op.op.positional:
        return None

    def joined(a: np.generic, b: np.generic) -> np.generic:
        return value_arrays.cast(device, op.op.evaluate(op.dtype, x=a, y=b), op.return_type, z)

    candidates = [joined(a, b)] if common else []
    if defaults is None:
        single = ((a, a_type, unmatched[0]), (b, b_type, unmatched[1]))
        candidates += [value_arrays.cast(device, v, t, z) for v, t, some in single if some]
    else:
        left, right = a_type.np_type.type(defaults[0]), b_type.np_type.type(defaults[1])
        candidates += [joined(*pair) for pair, some in zip(((a, right), (left, b)), unmatched, strict=True) if some]
    first = candidates[0] if candidates else z.np_type.type(0)
    return first if all(bool(v == first) or bool(v != v and first != first) for v in candidates) else None


def restricted(A: MatrixStore, structure: Structure, inside: bool) -> MatrixStore:
    """The entries of A at the entries of the structure, or (inside False) at all other positions."""
    a = A.structure.rows()
    hit = meet(a, structure.rows()).hit[: a.nvals]
    return filter_entries(MatrixStore(Structure(a), A.dtype, A.raw_for(a.key, False)), hit == inside)


# ---- eWiseAdd and eWiseMult of matrices on the CPU, under a mask, in one pass: formats/csr/ewise.cpu.py.
#
# Threads share ranges of rows. Each writes into room for the largest possible result; then the gaps are closed.


class RowMerge:
    """The kernel, and its arguments besides the operands."""

    __slots__ = ("kernel", "no_flags", "no_x", "no_y", "zero_x", "zero_y")

    def __init__(self, device: Device, variant: Variant, a: DataType, b: DataType) -> None:
        self.kernel, self.no_flags = device.kernel(variant), dummy(device, "uint8")
        self.no_x, self.no_y = dummy(device, a.np_type.char), dummy(device, b.np_type.char)
        self.zero_x, self.zero_y = ZERO[a.name], ZERO[b.name]


@functools.cache
def _row_merge(
    device: Device, mode: int, op: Typed | None, types: tuple[str, str, str], masked: int, flags: bool, *packed: bool
) -> RowMerge:
    """One lookup for everything.

    types: of A, B and the result, by name, which have cached hashes. packed: the columns of A, B and the mask."""
    columns = tuple((f"{name}_PACKED", int(one)) for name, one in zip("ABM", packed, strict=True))
    a, b, z = map(lookup_dtype, types)
    variant = merge_rows_variant(mode, Joining(op, a, b, z), columns, masked=masked, flags=flags)
    return RowMerge(device, variant, a, b)


def _check_memory(a: RowLayout, most: int, wide: int, what: str) -> None:
    """OutOfMemory unless this number of entries with values of `wide` bytes fits."""
    a.device.foresee(f"{what} of {most} entries", rows_bytes(a.nrows, a.ncols, most) + wide * most)


def _ranges(layout: RowLayout) -> Bounds:
    """One range of rows per thread, fewer than elsewhere: the results of all but the first have to be moved."""
    bounds = unit_bounds(layout, layout.device)
    if bounds is None or isinstance(bounds, threads.Chunks):
        return bounds
    return bounds[:: max(1, layout.device.parts // layout.device.threads)].copy()


def merge_rows(
    A: MatrixStore, B: MatrixStore, how: Join, mask: MatrixMask | None = None, replace: bool = False
) -> MatrixStore:
    """A and B merged as the mode says, of type z, where `mask` allows it; elsewhere A, unless `replace`."""
    op, z, mode, defaults = how
    device, (a, x) = A.device, A.by_rows()
    flags: Array | None = None
    if (
        type(B) is LazyMaskedProduct and B.pending and B.places.primary.format.by_rows
    ):  # otherwise its sums are in another order
        b, flags, y = B.places.rows(), B.present, B.sums
    else:
        b, y = B.by_rows()
    m = b if mask is None else mask.structure.rows()
    nrows, most = a.nrows, a.nvals if mode == BOTH else a.nvals + b.nvals
    one_x, one_y = isinstance(x, generic), isinstance(y, generic)
    iso, value = one_x and one_y and not op.op.positional, None
    if iso:
        unmatched = (mode != BOTH and not (mode == ONLY and replace), mode != BOTH)
        value = one_value(device, (x, A.dtype), (y, B.dtype), how, mode != ONLY, unmatched)
    valued = value is None
    if most >= tuning.count("memory.checked_entries") or memory.limit is not None:
        _check_memory(a, most, z.np_type.itemsize if valued else 0, "union or intersection")
    ptr, col = np.zeros(nrows + 1, pointer_type(most)), np.empty(most or 1, index_type(a.ncols))
    masked = 0 if mask is None else 2 if m is b else 1
    types = (A.dtype.name, B.dtype.name, z.name) if valued else ("BOOL", "BOOL", "BOOL")
    function = op if valued else None
    w = _row_merge(device, mode, function, types, masked, flags is not None, a.width > 0, b.width > 0, m.width > 0)
    if valued:
        values = np.empty(most or 1, z.np_type)
    else:
        values, x, y, one_x, one_y = w.no_x, w.zero_x, w.zero_y, True, True
    left, right = w.zero_x, w.zero_y
    if defaults is not None and valued:
        left, right = A.dtype.np_type.type(defaults[0]), B.dtype.np_type.type(defaults[1])
    bounds = _ranges(a if a.nvals > b.nvals else b) if most >= tuning.count("parallel.entries") else None
    w.kernel(  # separate arguments: packing them doubles the host time
        nrows,
        a.ptr,
        a.col,
        a.width,
        w.no_x if one_x or not a.nvals else x,
        x if one_x else w.zero_x,
        0 if one_x else 1,
        left,
        b.ptr,
        b.col,
        b.width,
        w.no_flags if flags is None else flags.view(np.uint8),
        w.no_y if one_y or not b.nvals else y,
        y if one_y else w.zero_y,
        0 if one_y else 1,
        right,
        m.ptr,
        m.col,
        m.width,
        1 if mask is not None and mask.complement else 0,
        1 if replace else 0,
        ptr,
        col,
        values,
        bounds=bounds,
    )
    starts = None
    if bounds is not None:
        starts = a.ptr[bounds].astype(np.int64)
        if mode != BOTH:
            starts += b.ptr[bounds]
    arrays = ptr, col, values if value is None else value
    C = convert.of_room(device, (nrows, a.ncols), arrays, z, bounds, starts)
    if iso and valued and mask is None and flags is None and mode != ONLY:
        common = C.nvals if mode == BOTH else most - C.nvals
        unmatched = (False, False) if mode == BOTH else (a.nvals > common, b.nvals > common)
        value = one_value(device, (x, A.dtype), (y, B.dtype), how, common > 0, unmatched)
        C = C if value is None else MatrixStore(C.structure, z, value)
    return C


@functools.cache
def _row_selection(device: Device, op: Typed[Operator], a: str, packed: bool, valued: bool) -> RowMerge:
    dtype = lookup_dtype(a)
    return RowMerge(device, select_rows_variant(op, dtype, packed=packed, valued=valued), dtype, dtype)


def select_rows(A: MatrixStore, op: Typed[Operator], thunk: Number) -> MatrixStore:
    """The entries of A for which op(entry, row, column, thunk) is true."""
    device, dtype, (a, x) = A.device, A.dtype, A.by_rows()
    most = a.nvals
    iso = isinstance(x, np.generic)
    w = _row_selection(device, op, dtype.name, a.format.packed, not iso)
    if most >= tuning.count("memory.checked_entries") or memory.limit is not None:
        _check_memory(a, most, 0 if iso else dtype.np_type.itemsize, "selection")
    ptr, col = np.zeros(a.nrows + 1, pointer_type(most)), np.empty(most, index_type(a.ncols))
    values = x if iso else np.empty(most, dtype.np_type)
    operand = (w.no_x, x, 0) if iso else (x, w.zero_x, 1)
    bounds = _ranges(a) if most >= tuning.count("parallel.entries") else None
    limit = op.compute_type.np_type.type(thunk)
    w.kernel(a.nrows, a.ptr, a.col, a.width, *operand, limit, ptr, col, w.no_y if iso else values, bounds=bounds)
    starts = None if bounds is None else a.ptr[bounds]
    C = convert.of_room(device, (a.nrows, a.ncols), (ptr, col, values), dtype, bounds, starts)
    return A if C.nvals == most else C


# ---- Element-wise operations on matrices: ewise_add, ewise_mult, apply, select, reduce, and the merge into the
# output.
#
# Operations by index are in assign_extract.py. Unions and intersections merge rows; operations on values
# only use `arrays`. Each returns a fresh store, which shares the structure if that does not change. A structural mask
# is any object with `.structure` and `.complement`.

FIRST, SECOND = BINARY["first"], BINARY["second"]

# ---- element-wise: GraphBLAS C API 2.1, sections 4.3.4 and 4.3.5 ----------------------------------------------------


def plain(op: Typed) -> Typed[Operator]:
    """The BinaryOp of a monoid."""
    operator = op.op
    return operator.binaryop[operator.compute_type(op.dtype)] if type(operator) is Monoid else op


def ewise(A: MatrixStore, B: MatrixStore, op: Typed, mode: int, defaults: Pair | None = None) -> MatrixStore:
    """The intersection (mode BOTH) or the union (UNION): an entry of only one operand is cast to the result's type, or
    (FILLED) combined with the default for the other one."""
    op = plain(op) if type(op.op) is Monoid else op  # saves a call
    way = plan.ewise_way(A, B, op)
    if way is plan.BITMAP:
        return multivector.ewise(A, B, op, union=mode != BOTH, defaults=defaults)
    if way is not plan.SAME_STRUCTURE:
        how = make(Join, (op, op.return_type, mode, defaults))
        return merge_rows(A, B, how) if way is plan.MERGED_ROWS else _join(A, B, how, way)  # saves a call
    values: PlainValues = op.return_type.np_type.type(0)
    if A.nvals:
        values = value_arrays.binary(A.device, op, A.values, B.values, A.coo() if op.op.positional else None)
    return MatrixStore(A.structure, op.return_type, values)


def _join(A: MatrixStore, B: MatrixStore, how: Join, way: plan.Way | None = None) -> MatrixStore:
    """The entries of both (mode BOTH), or of either. way: that of `join_way`, if it is known."""
    way = way or plan.join_way(A, B, how.op)
    if way is plan.JOINED:
        return _join_places(A, B, how)
    if way is plan.COMPRESSED:
        return hypersparse.entrywise(lambda a, b: _join(a, b, how), A, B)
    return merge_rows(A, B, how) if way is plan.MERGED_ROWS else join(A, B, how)


def _join_places(A: MatrixStore, B: MatrixStore, how: Join) -> MatrixStore:
    """The same for an operator that reads positions: it is applied after the entries are joined."""
    op, z, mode, _ = how

    def place(mode: int, defaults: Pair | None = None) -> MatrixStore:
        x = _join(A, B, Join(FIRST[A.dtype], A.dtype, mode, defaults))
        y = _join(A, B, Join(SECOND[B.dtype], B.dtype, mode, defaults))
        values: PlainValues = op.return_type.np_type.type(0)
        if x.nvals:
            values = value_arrays.binary(A.device, op, x.values, y.values, x.coo())
        return cast(MatrixStore(x.structure, op.return_type, values), z)

    if mode == FILLED:
        return place(FILLED, how.defaults)
    both, either = place(BOTH), Join(SECOND[z], z, UNION)
    return both if mode == BOTH else _join(_join(A, B, either), both, either)


# ---- entry by entry: sections 4.3.8, 4.3.9, 4.3.10 ------------------------------------------------------------------


def _delayed(A: MatrixStore, applied: Applied, compute: Callable[[MatrixStore], MatrixStore]) -> LazyMapProduct | None:
    """The operator of a product that is not computed yet, which its reduction applies."""
    return A.then(applied, compute) if A.deferred and isinstance(A, LazyMapProduct) else None


def apply(A: MatrixStore, op: Typed[Operator]) -> MatrixStore:
    """op of every entry."""
    if (lazy := _delayed(A, Applied(op, "x", None, False), lambda A: apply(A, op))) is not None:
        return lazy
    value = None if isinstance(A, FlatStore) else plan.applied_value(op, A.raw, unary=True)
    way = plan.apply_way(A, op, value)
    if way is plan.BITMAP:
        return multivector.each(ewise_vector.apply, A, op)
    if way is plan.BY_POSITION:
        return apply_index(A, op, np.int64(0))
    if way is plan.NO_ENTRIES:
        value = op.return_type.np_type.type(0)
    computed = value_arrays.unary(A.device, op, unpacked(A.raw), A.dtype) if value is None else value
    return MatrixStore(A.structure, op.return_type, computed)


def apply_bound(A: MatrixStore, op: Typed, scalar: Any, *, left: bool) -> MatrixStore:
    """op(scalar, entry) if left, else op(entry, scalar)."""
    op, value = plain(op), None
    bound = Applied(op, "yx" if left else "xy", scalar, False)
    if (lazy := _delayed(A, bound, lambda A: apply_bound(A, op, scalar, left=left))) is not None:
        return lazy
    if not isinstance(A, FlatStore):
        value = plan.applied_value(op, *((scalar, A.raw) if left else (A.raw, scalar)))
    way = plan.apply_way(A, op, value)
    if way is plan.BITMAP:
        return multivector.each(ewise_vector.apply_bound, A, op, scalar, left=left)
    if way is plan.NO_ENTRIES:
        value = op.return_type.np_type.type(0)
    if value is not None:
        return MatrixStore(A.structure, op.return_type, value)
    places = A.coo() if way is plan.BY_POSITION else None
    x, y = (scalar, A.values) if left else (A.values, scalar)
    return MatrixStore(A.structure, op.return_type, value_arrays.binary(A.device, op, x, y, places))


def apply_index(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """op(entry, row, column, thunk)."""
    if (lazy := _delayed(A, Applied(op, "xt", thunk, False), lambda A: apply_index(A, op, thunk))) is not None:
        return lazy
    way = plan.apply_way(A, op, None)
    if way is plan.BITMAP:
        return multivector.each(ewise_vector.apply_index, A, op, thunk)
    if way is plan.NO_ENTRIES:
        return MatrixStore(A.structure, op.return_type, op.return_type.np_type.type(0))
    return MatrixStore(A.structure, op.return_type, value_arrays.index(A.device, op, A.values, *A.coo(), thunk))


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


def select(A: MatrixStore, op: Typed[Operator], thunk: np.generic | int) -> MatrixStore:
    """The entries for which op(entry, row, column, thunk) is true."""
    if (lazy := _delayed(A, Applied(op, "xt", thunk, True), lambda A: select(A, op, thunk))) is not None:
        return lazy
    name = op.op.name
    if name in REGIONS:  # beyond the limit nothing changes, and sums with it cannot overflow
        limit = max(A.nrows, A.ncols) + 1
        thunk = min(max(int(cast_scalar(thunk, INT64)), -limit), limit)
    way = plan.select_way(A, op, name in REGIONS)
    if way is plan.SELECTED_ROWS:
        C = select_rows(A, op, thunk)
        supports.remember_selection(A, C, op, thunk)
        return C
    if way is plan.BITMAP:
        return multivector.each(ewise_vector.select, A, op, thunk)
    if way is plan.NO_ENTRIES:
        return A
    if way is plan.CLIPPED:
        region = REGIONS[name](int(thunk))
        layout, places = A.structure.primary.clip(region, not A.iso)
        return A if layout.nvals == A.nvals else MatrixStore(Structure(layout), A.dtype, A.taken(places))
    if way is plan.ONE_TEST:
        one = A.device.xp.zeros(1, np.int64)
        some = bool(value_arrays.index(A.device, op, A.values, one, one, thunk)[0])
        return A if some else empty(A.device, A.nrows, A.ncols, A.dtype)
    rows, cols = A.coo() if op.op.positional else (None, None)
    keep = value_arrays.index(A.device, op, A.values, rows, cols, thunk).astype(bool, copy=False)
    C = convert.filter_entries(A, keep)
    supports.remember_selection(A, C, op, thunk, keep)
    return C


def truthy(A: MatrixStore) -> Structure:
    """Where A has an entry that is not zero."""
    if isinstance(A, FlatStore):
        return multivector.truthy(A)
    if A.iso:
        return A.structure if A.values else empty(A.device, A.nrows, A.ncols, BOOL).structure
    keep = value_arrays.cast(A.device, A.values, A.dtype, BOOL) if A.nvals else A.device.xp.zeros(0, bool)
    pattern = MatrixStore(A.structure, BOOL, np.True_)
    return A.structure if bool(keep.all()) else convert.filter_entries(pattern, keep).structure


def reduce_scalar(A: MatrixStore, monoid: Typed[Monoid]) -> np.generic | None:
    """The monoid's reduction of all entries, None if there are none."""
    way = plan.reduce_matrix_way(A, monoid)
    if way is plan.EACH_VALUE:  # the common case first
        return value_arrays.reduce(A.device, monoid, A.values)
    if way is plan.BITMAP and isinstance(A, FlatStore):
        return ewise_vector.reduce(A.flat, monoid)
    if way in (plan.PENDING_SUMS, plan.SUMMED_UNITS) and isinstance(A, (LazyMaskedProduct, LazyMapProduct)):
        return A.total(monoid)
    if way is plan.NO_ENTRIES:
        return None
    value = cast_scalar(A.values, monoid.return_type)
    plain_monoid: Any = monoid.op
    return plain_monoid.repeat(monoid.dtype, value, A.nvals)


def transpose(A: MatrixStore) -> MatrixStore:
    if plan.transpose_way(A) is plan.BITMAP:
        return multivector.transpose(A)
    key = A.structure.primary.key
    order = None if A.iso else A.structure.order(key, transposed=True)
    layout = A.structure.layout(key, transposed=True)
    return MatrixStore(Structure(layout), A.dtype, A.taken(order))


def all_close(device: Device, x: Array, y: Array, rel_tol: float, abs_tol: float) -> bool:
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
    C: MatrixStore, T: MatrixStore, mask: MatrixMask | None, accum: Typed | None, replace: bool, inside: bool = False
) -> MatrixStore:
    """The content of C after C<mask, accum, replace> = T, of C's type. inside: C may be overwritten."""
    accum = None if accum is None else plain(accum)
    op, way = accum or _second(C.dtype.name), plan.merge_way(C, T, mask, accum, replace)
    if way is plan.BITMAP:
        return multivector.merge(C, T, mask, accum, replace, inside)
    if way is plan.FUNCTION:
        return merge(C, _join(C, T, Join(op, C.dtype, UNION)), mask, None, replace)
    if way is plan.COMPRESSED and mask is not None:
        run = lambda c, t, m: merge(c, t, mask._replace(structure=m), accum, replace)
        return hypersparse.entrywise(run, C, T, mask.structure)
    if accum is None and (mask is None or way is plan.SAME_STRUCTURE):
        return cast(T, C.dtype)
    union: Join = make(Join, (op, C.dtype, UNION, None))
    if mask is None:
        return _join(C, T, union, way)
    if not C.device.is_simt:
        C = empty(C.device, C.nrows, C.ncols, C.dtype) if replace and accum is None else C
        return merge_rows(C, T, union if accum else union._replace(mode=ONLY), mask, replace)
    z = cast(T, C.dtype) if accum is None else join(C, T, union)
    if accum or mask.complement or T.deferred or T.structure is not mask.structure:
        z = restricted(z, mask.structure, not mask.complement)
    # Otherwise the mask is exactly the structure of C
    if not replace and (mask.complement or C.structure is not mask.structure):
        z = join(z, restricted(C, mask.structure, mask.complement), union._replace(op=SECOND[C.dtype]))
    return z


def mask_of(structure: Structure, value: np.generic, dtype: DataType) -> MatrixStore:
    """`value` wherever the structure has an entry."""
    return MatrixStore(structure, dtype, value)
