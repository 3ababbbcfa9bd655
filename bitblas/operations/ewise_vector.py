"""Element-wise operations on vectors: ewise_add, ewise_mult, apply, select, reduce; the merge into the output.

GraphBLAS C API 2.1, sections 4.3.4, 4.3.5, 4.3.8 to 4.3.10.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from numpy import generic

from semirings import Monoid, Operator, Typed
from semirings.catalog import BINARY, UNARY
from semirings.dtypes import BOOL, DataType, cast_scalar, lookup_dtype

from .. import tuning
from ..device import Device, Kernel
from ..device.memory import Readback
from ..formats.hyper.layout import merge_lists
from ..plan import operation as plan
from ..plan.operation import FUNCTION, IN_PLACE, LISTED, NEW_ARRAYS, THEN_MERGED
from ..plan.product import plan_epilogue
from ..store import CHUNK, SparseStore, VectorStore, dense_values, pack, words, write_bits
from ..typing import Array, Number
from . import compressed, udf
from .compressed import make_dense
from .compressed import same_value as same_value
from .operands import ZERO, Into, Mask, Pair, allowed, dummy, no_mask, nothing, stored, word_bounds
from .variants import BOTH, FILLED, LEFT, UNION, Call, binary_of, elementwise_variant, merge_variant, reduce_variant

# ---- Reduce a vector, or an array, to one value: GraphBLAS C API 2.1, section 4.3.10.

# Words of a chunk on the CPU: the same as a unit of an element-wise kernel in loops
# (loop/codegen/numba_kernels.py). Timing decides how many rounds of a loop run as statements, so both have to add
# in the same order and produce the same bits.
HOST_CHUNK = 64


@functools.cache
def _reduce(device: Device, monoid: Typed[Monoid], u: str, flags: bool = False) -> tuple[Kernel, DataType]:
    """Types by name, as in `pointwise`."""
    variant, z = reduce_variant(monoid, lookup_dtype(u), flags)
    return device.kernel(variant), z


def reduce(u: VectorStore, monoid: Typed[Monoid]) -> np.generic | None:
    """The monoid's reduction of all entries, None if there are none. Float sums have a fixed order: within chunks, then
    over chunks; on the CPU the latter from left to right. If the order matters, equal values are added in that order
    too, because a table of kernels does not know whether a vector is iso."""
    if type(u) is SparseStore:
        u = compressed.compress(u, u.index)
    device, size = u.device, u.size
    way, once = plan.reduce_way(u, monoid, HOST_CHUNK * 64)
    if way is plan.CHUNKS:  # the common case first
        operand = u.present, *stored(device, u.dtype, u.values)
        return _reduce_chunks(device, monoid, u.dtype, size, operand, HOST_CHUNK if device.host_memory else CHUNK)
    if way is plan.NO_ENTRIES or way is plan.REPEATED:
        return once
    if way is plan.EQUAL_CHUNKS:
        return _reduce_equal(u, monoid)
    values = compressed.entries(u)[1]
    if not len(values):
        return None
    sums = udf.folded(device, udf.plain(monoid), values, device.asarray([0, len(values)], np.int64))
    total: np.generic = device.to_host(sums)[0]
    return total


def _reduce_equal(u: VectorStore, monoid: Typed[Monoid]) -> np.generic | None:
    """Reduce a full iso vector on the CPU: equal chunks are summed once."""
    device, per, operand = u.device, HOST_CHUNK * 64, stored(u.device, u.dtype, u.values)
    parts = [(u.present, per), *([(u.present[u.size // per * HOST_CHUNK :], u.size % per)] if u.size % per else [])]
    partial = [_reduce_chunks(device, monoid, u.dtype, n, (bits, *operand), HOST_CHUNK) for bits, n in parts]
    z = monoid.return_type
    sums = np.full(u.size // per + len(partial) - 1, partial[0], z.np_type)
    sums[u.size // per :] = partial[1:]
    some = np.ones(len(sums), np.uint8)
    return _reduce_chunks(device, monoid.op[z], z, len(sums), (some, sums, z.np_type.type(0), 1), len(sums), flags=True)


def reduce_flagged(device: Device, monoid: Typed[Monoid], values: Array, present: Array) -> np.generic | None:
    """The same for an array (BOOL: bools), of which only values with a flag (UINT8) count."""
    dtype = lookup_dtype(values.dtype)
    return _reduce_chunks(
        device, monoid, dtype, len(values), (present, values, dtype.np_type.type(0), 1), CHUNK, flags=True
    )


def _reduce_chunks(
    device: Device,
    monoid: Typed[Monoid],
    dtype: DataType,
    size: int,
    operand: tuple[Any, ...],
    per: int,
    *,
    flags: bool = False,
) -> np.generic | None:
    """per: words of a chunk, of the first sums."""
    (kernel, z), n = _reduce(device, monoid, dtype.name, flags), words(size)
    least = tuning.count("parallel.words")
    while True:
        chunks = -(-n // per)
        if chunks == 1 and not device.host_memory:
            total = Readback(device, 24)  # complex numbers take 16 bytes
            kernel(chunks, per, size, *operand, total.part(np.uint8, 16), total.part(z.np_type))
            return total.read(z.np_type)[0] if total.read(np.uint8, 16)[0] else None
        sums, some = device.xp.empty(chunks, z.np_type), device.xp.empty(chunks, np.uint8)
        bounds = device.ranges(chunks, least, work=n, parts=device.threads) if n >= least else None
        kernel(chunks, per, size, *operand, some, sums, bounds=bounds)
        if chunks == 1:
            return sums[0] if some[0] else None
        kernel, _ = _reduce(device, monoid.op[z], z.name, True)
        operand, size, n = (some, sums, z.np_type.type(0), 1), chunks, words(chunks)
        if device.host_memory:
            per = n


# ---- The merge of a computed vector into the output, in place: w<mask, accum, replace> = t.


@functools.lru_cache(1 << 12)
def _merge(
    device: Device, t_name: str, t_value: bytes | None, w_name: str, w_value: bytes | None, accum: Typed | None
) -> tuple[Kernel, bool, tuple[Array, np.generic], tuple[Array, np.generic]]:
    """The kernel, whether w gets an array of values, and the kernel arguments for the values of w and of t if iso, or
    if they are an array. Types by name, as in `pointwise`; values: the bytes of the one value of all entries."""
    t, w = lookup_dtype(t_name), lookup_dtype(w_name)
    one = None if t_value is None else np.frombuffer(t_value, t.np_type)[0]
    value = None if w_value is None else np.frombuffer(w_value, w.np_type)[0]
    end = plan_epilogue(t, one, w, value, accum)
    of_w, of_t = (nothing(device, w), ZERO[w_name]), (nothing(device, t), ZERO[t_name])
    return device.kernel(merge_variant(t, end)), end.store, of_w, of_t


def merge(w: VectorStore, t: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """w<mask, accum, replace> = t in place; w keeps its type. GraphBLAS C API 2.1, section 2.3.4."""
    if accum is not None and udf.computes(accum):
        t, accum = ewise(w, t, accum, union=True), None
    device = w.device
    if type(t) is SparseStore and type(w) is SparseStore:
        at = merge_lists(device.xp, w.index, t.index)
        m = None if mask is None else compressed.mask_at(mask, at, device, w.size)
        compressed.on_list(w, at, lambda z: merge(z, compressed.compress(t, at), m, accum, replace))
        return
    touched = compressed.touched(w, t, mask, accum, replace)
    if touched is not None:
        at = touched
        z, m = compressed.extract(w, at), None if mask is None else compressed.mask_at(mask, at, device, w.size)
        merge(z, compressed.extract(t, at), m, accum, False)
        compressed.put_back(w, at, z)
        w.changed(grown=accum is not None)
        return
    if type(w) is SparseStore:
        _ = w.present  # converts w to bits
    size, x, y = w.size, w.values, t.values
    n = (size + 63) >> 6 or 1  # words
    one_w, one_t = isinstance(x, np.generic), isinstance(y, np.generic)
    if one_w and one_t and (w.nvals if device.host_memory else w.count) == 0:  # no entry has the value yet
        w.values = x = cast_scalar(y, w.dtype)
    t_key, w_key = (t.dtype.name, y.tobytes() if one_t else None), (w.dtype.name, x.tobytes() if one_w else None)
    kernel, store, (none_w, zero_w), (none_t, zero_t) = _merge(device, *t_key, *w_key, accum)
    if store:
        old, new = (none_w, x, 0) if one_w else (x, zero_w, 1), x
        operand = (none_t, y, 0) if one_t else (y, zero_t, 1)
        if one_w:
            new = device.xp.empty(n, np.uint64) if w.dtype is BOOL else dense_values(device, size, w.dtype)
    else:
        old = operand = stored(device, BOOL, np.True_)
        new = old[0]
    bounds = None if n < tuning.count("parallel.words") else word_bounds(t)
    kernel(n, size, w.present, *old, t.present, *operand, *allowed(device, mask), int(replace), new, bounds=bounds)
    if store:
        w.values = new
    w.changed(grown=accum is not None and not replace)


# ---- Element-wise operations on vectors: ewise_add, ewise_mult, apply, select.

WORD = np.dtype(np.uint64)
INTERSECTION, JOIN, FILLED_JOIN = Call(BOTH), Call(UNION), Call(FILLED)
APPLY, APPLY_LEFT, APPLY_RIGHT = Call(LEFT, "x"), Call(LEFT, "yx"), Call(LEFT, "xy")
APPLY_INDEX, SELECT = Call(LEFT, "xt"), Call(LEFT, "xt", keep=True)


class Pointwise:
    """An element-wise kernel, and its arguments besides the operands."""

    __slots__ = ("dtype", "kernel", "nothing", "np_type", "plain", "u_nothing", "u_zero", "v_nothing", "v_zero")

    def __init__(self, device: Device, call: Call, op: Typed[Operator], u: DataType, v: DataType, *how: bool) -> None:
        places, fresh, iso = how
        variant, self.dtype = elementwise_variant(call, op, u, v, places=places, fresh=fresh, iso=iso)
        self.kernel = device.kernel(variant)
        self.u_nothing, self.u_zero = nothing(device, u), ZERO[u.name]
        self.v_nothing, self.v_zero = nothing(device, v), ZERO[v.name]
        self.nothing, none = nothing(device, self.dtype), dummy(device, "int64")
        self.np_type = np.dtype(np.uint64) if self.dtype is BOOL else self.dtype.np_type
        self.plain = self.u_zero, self.v_zero, none, none, *no_mask(device), 0  # without defaults, positions or a mask


@functools.cache
def pointwise(device: Device, call: Call, op: Typed[Operator], u: str, v: str, *how: bool) -> Pointwise:
    """One lookup for everything that a statement of this kind needs. Types by name, because a string caches its hash,
    which costs less per statement than that of a DataType. how: places, fresh, iso."""
    return Pointwise(device, call, op, lookup_dtype(u), lookup_dtype(v), *how)


def run_elementwise(
    u: VectorStore,
    v: VectorStore,
    call: Call,
    op: Typed[Operator],
    *,
    defaults: Pair | None = None,
    places: tuple[Array, Array] | None = None,
    out: Into | None = None,
) -> Any:
    """op(u, v) by position as a store. With `out` the whole statement: a store of w's type, under the mask, which
    replaces w; or None if w keeps entries and was written in place. Casts and accumulators use the merge, one more
    element-wise kernel: each of them would be a separate kernel, which takes 0.1 to 1 s to compile."""
    mode, _, keep = call
    way = plan.elementwise_way(u, v, op, mode > BOTH, keep, out)
    if way is LISTED and (at := compressed.positions(u, v, union=mode not in (LEFT, BOTH))) is not None:
        x, y = compressed.compress(u, at), compressed.compress(v, at)
        there = compressed.places(op.op.positional, at)
        t = run_elementwise(x, y, call, op, defaults=defaults, places=there)
        return commit(compressed.expand(t, at, u.size), out)
    if way is FUNCTION:
        return commit(_of_records(u, v, call, op, defaults, places), out)
    later = None
    if way is THEN_MERGED:
        later, out, way = out, None, NEW_ARRAYS
    device, size, x, y = u.device, u.size, u.values, v.values
    kept, mask, replace = way is IN_PLACE, None, False
    iso = keep and isinstance(x, generic) and not kept
    if out is not None:
        w, mask, _, replace, _ = out
        if kept and isinstance(w.values, generic):
            make_dense(w)
    k = pointwise(device, call, op, u.dtype.name, v.dtype.name, places is not None, not kept, iso)
    n = (size + 63) >> 6 or 1  # words
    if kept:
        t = w
        t.count, t.least, to = None, 0, t.values
    else:
        empty = device.xp.empty
        if way is NEW_ARRAYS:
            t = VectorStore(device, size, k.dtype, empty(n, WORD), None)
            to = k.nothing if iso else empty(n if k.dtype is BOOL else size or 1, k.np_type)
        else:  # its own arrays, overwritten
            t, to = w, k.nothing if iso else w.values
            t.count, t.least = None, 0
            if not iso and isinstance(to, generic):
                to = empty(n if k.dtype is BOOL else size or 1, k.np_type)
        t.values = cast_scalar(x, k.dtype) if iso else to
        if mask is None and not keep:
            if mode == LEFT:
                t.count = u.count
            elif u.count == size == v.count or (mode != BOTH and size in (u.count, v.count)):
                t.count = size
    u_bits, v_bits, t_bits = u.bits, v.bits, t.bits
    if u_bits is None or v_bits is None or t_bits is None:
        u_bits, v_bits, t_bits = u.present, v.present, t.present
    plain = k.plain
    if mask is not None or replace or defaults is not None or places is not None:
        left, right = k.u_zero, k.v_zero
        if defaults is not None:
            left, right = u.dtype.np_type.type(defaults[0]), v.dtype.np_type.type(defaults[1])
        plain = left, right, *(places or plain[2:4]), *allowed(device, mask), int(replace)
    bounds = None
    if n >= tuning.count("parallel.words"):
        bounds = word_bounds(u) if mode in (LEFT, BOTH) else word_bounds(u, v)
    of_u = (k.u_nothing, x, 0) if isinstance(x, generic) else (x, k.u_zero, 1)
    of_v = (k.v_nothing, y, 0) if isinstance(y, generic) else (y, k.v_zero, 1)
    k.kernel(n, size, u_bits, *of_u, v_bits, *of_v, *plain, t_bits, to, bounds=bounds)
    if later is not None:
        return commit(t, later)
    return None if kept else t


def _of_records(
    u: VectorStore,
    v: VectorStore,
    call: Call,
    op: Typed[Operator],
    defaults: Pair | None,
    places: tuple[Array, Array] | None,
) -> VectorStore:
    """run_elementwise for a user-defined function on records: first the operands are joined by position, then
    combined."""
    mode, bound, keep = call
    first, second, xp = u, v, u.device.xp
    met = INTERSECTION if mode == UNION else Call(mode)
    if mode != LEFT:
        first = run_elementwise(u, v, met, BINARY["first"][u.dtype], defaults=defaults)
        second = run_elementwise(u, v, met, BINARY["second"][v.dtype], defaults=defaults)
    at, x = compressed.entries(first)
    y = second.values if second.iso else compressed.entries(second)[1]
    where: tuple[Any, Any] = None, None
    if op.op.positional:
        where = (at, 0) if places is None else (places[0][at], places[1][at])
    names = {"x": x} if bound == "x" else {"x": y, "y": x} if bound == "yx" else {"x": x, bound[1]: y}
    z = udf.computed(u.device, op, len(at), *where, **names)
    if keep:
        at, z = at[z], x[z]
    flags = xp.zeros(u.size, bool)
    flags[at] = True
    dtype = u.dtype if keep else op.return_type
    values = xp.zeros(u.size or 1, dtype.np_type)
    values[at] = z
    values = pack(u.device, values[: u.size]) if dtype is BOOL else values
    t = VectorStore(u.device, u.size, dtype, pack(u.device, flags), values, len(at))
    if mode != UNION:
        return t
    second_of = BINARY["second"][dtype]
    either: VectorStore = run_elementwise(u, v, JOIN, second_of)
    joined: VectorStore = run_elementwise(either, t, JOIN, second_of)
    return joined


# ---- operations ---------------------------------------------------------------------------------------------------


def ewise(u: VectorStore, v: VectorStore, op: Typed, *, union: bool, out: Into | None = None) -> Any:
    """ewise_add (union) or ewise_mult (intersection): GraphBLAS C API 2.1, sections 4.3.5 and 4.3.4."""
    op = binary_of(op) if isinstance(op.op, Monoid) else op  # saves a call
    value = plan.joins_to_one_value(u, v, op, union) if u.iso and v.iso else None
    if value is not None:
        at = compressed.positions(u, v, union=union) if SparseStore in (type(u), type(v)) else None
        if at is not None:
            t = ewise(compressed.compress(u, at), compressed.compress(v, at), op, union=union)
            return commit(compressed.expand(t, at, u.size), out)
        present = u.present | v.present if union else u.present & v.present
        return commit(VectorStore(u.device, u.size, op.return_type, present, value), out)
    return run_elementwise(u, v, JOIN if union else INTERSECTION, op, out=out)


def ewise_union(
    u: VectorStore, v: VectorStore, op: Typed, left_default: Number, right_default: Number, out: Into | None = None
) -> Any:
    """Union, with a default for the missing operand."""
    return run_elementwise(u, v, FILLED_JOIN, binary_of(op), defaults=(left_default, right_default), out=out)


def apply(u: VectorStore, op: Typed[Operator], out: Into | None = None) -> Any:
    """t = op(u), entry by entry."""
    value = plan.applied_value(op, u.values if u.iso else None, unary=True)
    if value is not None:
        return commit(u.with_value(op.return_type, value), out, owned=False)
    return run_elementwise(u, u, APPLY, op, out=out)


def apply_bound(u: VectorStore, op: Typed, scalar: Any, *, left: bool, out: Into | None = None) -> Any:
    """t = op(scalar, u) (left) or op(u, scalar). The scalar has the operator's type."""
    op = binary_of(op)
    x = u.values if u.iso else None
    value = plan.applied_value(op, scalar, x) if left else plan.applied_value(op, x, scalar)
    if value is not None:
        return commit(u.with_value(op.return_type, value), out, owned=False)
    bound = u.with_value(op.compute_type, op.compute_type.np_type.type(scalar))
    return run_elementwise(u, bound, APPLY_LEFT if left else APPLY_RIGHT, op, out=out)


def apply_index(u: VectorStore, op: Typed[Operator], thunk: Any, out: Into | None = None) -> Any:
    """t(i) = op(u(i), i, 0, thunk)."""
    return run_elementwise(u, _thunk(u, op, thunk), APPLY_INDEX, op, out=out)


def select(u: VectorStore, op: Typed[Operator], thunk: Number, out: Into | None = None) -> Any:
    """The entries of u for which op(u(i), i, 0, thunk) is true."""
    return run_elementwise(u, _thunk(u, op, thunk), SELECT, op, out=out)


def _thunk(u: VectorStore, op: Typed[Operator], thunk: Number) -> VectorStore:
    return u.with_value(op.compute_type, op.compute_type.np_type.type(thunk))


def cast(u: VectorStore, dtype: DataType) -> VectorStore:
    """u with values of another type (u itself if it has that type)."""
    if u.dtype is dtype:
        return u
    if u.iso:
        return u.with_value(dtype, cast_scalar(u.values, dtype))
    t: VectorStore = run_elementwise(u, u, APPLY, UNARY["identity"][dtype])
    return t


def commit(t: VectorStore, out: Into | None, *, owned: bool = True) -> VectorStore | None:
    """Complete a statement whose t is known; returns the new store of w, or None if w was changed in place. owned: the
    arrays of t are not shared."""
    if out is None or (out.mask is None and not out.keeps):
        t = t if out is None else cast(t, out.w.dtype)
        return t if owned or type(t) is SparseStore else dataclasses.replace(t, bits=t.present.copy())
    if t.iso and not out.keeps and type(t) is not SparseStore:
        bits = t.device.xp.empty(words(t.size), np.uint64)
        write_bits(t.device, t.size, bits, t.present, out.mask)
        return VectorStore(t.device, t.size, out.w.dtype, bits, cast_scalar(t.values, out.w.dtype))
    merge(out.w, t, out.mask, out.accum, out.replace)
    return None
