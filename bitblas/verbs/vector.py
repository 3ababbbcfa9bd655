"""Verbs on vectors: element-wise, apply, select, reduce, extract, assign, and the merge that ends every statement."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.dtypes import BOOL, INT64, DataType

from ..device import Device, even_bounds
from ..kernels.prologue import Function, Variant, sum_of
from ..store import VectorStore, dense_values, empty_vector, full_bits, pack, unpack, words

LEFT, BOTH, UNION, FILLED = range(4)  # elementwise.cu
# What the names of an operator's expression are bound to: the first operand u and the second v of the kernel.
LET = {
    "xy": (("x", "u"), ("y", "v")),
    "yx": (("x", "v"), ("y", "u")),
    "x": (("x", "u"),),
    "xt": (("x", "u"), ("t", "v")),
}
PARALLEL_WORDS = 1 << 11  # below this a parallel launch on the CPU costs more than it saves
CHUNK = 1 << 8  # words per partial sum: 16384 entries, enough for a block of 256 threads


class Mask(NamedTuple):
    """A bitset of the positions that may be written, or that may not (complement)."""

    words: Any
    complement: bool


# ---- launching ------------------------------------------------------------------------------------------------------


@functools.cache
def _dummy(device: Device, name: str) -> Any:
    return device.xp.zeros(1, name)


def stored(device: Device, dtype: DataType, values: Any) -> tuple[Any, Any, int]:
    """Values as kernels take them: array, iso value, step."""
    if isinstance(values, np.generic):
        return _dummy(device, "uint64" if dtype is BOOL else dtype.np_type.name), values, 0
    return values, dtype.np_type.type(0), 1


def mask_arguments(device: Device, mask: Mask | None) -> tuple[Any, int, np.uint64]:
    """Words, step and flip: no mask is one zero word, flipped."""
    if mask is None:
        return _dummy(device, "uint64"), 0, ~np.uint64(0)
    return mask.words, 1, ~np.uint64(0) if mask.complement else np.uint64(0)


def _bounds(device: Device, n: int) -> Any:
    return None if device.is_gpu or n < PARALLEL_WORDS else even_bounds(n, device.threads)


def _cast(name: str, source: DataType, to: DataType) -> Function:
    return Function(name, to, (("a", source),), (("z", to, "a"),), "z")


@functools.cache
def _elementwise(
    device: Device, mode: int, op: Typed[Operator], u: DataType, v: DataType, bound: str, keep: bool, places: bool
) -> tuple[Any, DataType]:
    variant, t = elementwise_variant(mode, op, u, v, bound, keep, places)
    return device.kernel(variant), t


def elementwise_variant(
    mode: int, op: Typed[Operator], u: DataType, v: DataType, bound: str, keep: bool, places: bool
) -> tuple[Variant, DataType]:
    """The kernel for t = op(u, v), and the type of t; `bound` is a key of LET."""
    compute, result = op.op.compute_type(op.dtype), op.op.result_type(op.dtype)
    args = (("u", u), ("v", v), ("ix", INT64), ("jx", INT64))
    expr, let = op.op.expr, LET[bound]
    if op.op.positional:
        expr = {"iy": "ix", "jy": "jx"}.get(expr, expr)
        types = tuple((n, INT64, a) for n, a in let if n == "t")
    else:
        types = tuple((n, compute, a) for n, a in let)
    t = u if keep else result
    functions = (
        Function("f", result, args, types, expr),
        _cast("take_u", u, t), _cast("take_v", v, t), _cast("take_f", result, t),
    )  # fmt: skip
    constants = (
        ("MODE", mode), ("KEEP", int(keep)), ("PLACES", int(places)), ("LANES", 64),
        ("U_BOOL", int(u is BOOL)), ("V_BOOL", int(v is BOOL)), ("T_BOOL", int(t is BOOL)),
    )  # fmt: skip
    return Variant("kernels/elementwise", (("U", u), ("V", v), ("T", t)), constants, (), functions, repr(op)), t


def run_elementwise(
    u: VectorStore, v: VectorStore, mode: int, op: Typed[Operator], *, bound: str = "xy", keep: bool = False,
    defaults: tuple[Any, Any] = (0, 0), places: tuple[Any, Any] | None = None,
) -> VectorStore:  # fmt: skip
    device, n = u.device, words(u.size)
    kernel, dtype = _elementwise(device, mode, op, u.dtype, v.dtype, bound, keep, places is not None)
    t = VectorStore(device, u.size, dtype, device.xp.empty(n, np.uint64), dense_values(device, u.size, dtype))
    rows, cols = places if places is not None else (_dummy(device, "int64"),) * 2
    kernel(
        n, u.size, u.present, *stored(device, u.dtype, u.values), v.present, *stored(device, v.dtype, v.values),
        u.dtype.np_type.type(defaults[0]), v.dtype.np_type.type(defaults[1]), rows, cols, t.present, t.values,
        bounds=_bounds(device, n),
    )  # fmt: skip
    if mode == LEFT and not keep:
        t.count = u.count
    return t


def _scalar_operand(u: VectorStore, value: Any, dtype: DataType) -> VectorStore:
    return VectorStore(u.device, u.size, dtype, u.present, dtype.np_type.type(value))


# ---- construction and reading ---------------------------------------------------------------------------------------


def build(
    device: Device, size: int, dtype: DataType, indices: Any, values: Any, dup: Typed | None = None
) -> VectorStore:
    """Entries in any order; equal indices are combined from left to right by `dup` (ValueError without one)."""
    from . import arrays

    xp, iso = device.xp, isinstance(values, np.generic)
    ascending = len(indices) < 2 or bool((indices[1:] > indices[:-1]).all())
    if not ascending:
        order = xp.argsort(indices, kind="stable")
        indices, values = indices[order], values if iso else values[order]
        fresh = xp.ones(len(indices), bool)
        fresh[1:] = indices[1:] != indices[:-1]
        starts = xp.flatnonzero(fresh)
        if len(starts) < len(indices) and not iso:
            if dup is None:
                raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")
            values = arrays.fold_segments(device, dup, values, dtype, xp.append(starts, len(indices)))
        elif not iso:
            values = values[starts]
        indices = indices[starts]
    flags = xp.zeros(size, bool)
    flags[indices] = True
    t = VectorStore(device, size, dtype, pack(device, flags), values if iso else None, len(indices))
    if not iso:
        t.values = _scattered(device, size, dtype, indices, values)
    return t


def _scattered(device: Device, size: int, dtype: DataType, indices: Any, values: Any) -> Any:
    if dtype is BOOL:
        flags = device.xp.zeros(size, bool)
        flags[indices] = values
        return pack(device, flags)
    dense = dense_values(device, size, dtype)
    dense[indices] = values
    return dense


def plain_values(u: VectorStore) -> Any:
    """All values by position as an array of `size` (positions without an entry hold anything)."""
    if u.iso:
        return u.device.xp.full(u.size, u.values)
    return unpack(u.device, u.values, u.size) if u.dtype is BOOL else u.values[: u.size]


def entries(u: VectorStore) -> tuple[Any, Any]:
    """Indices (INT64, ascending) and values of the entries."""
    indices = u.device.xp.flatnonzero(unpack(u.device, u.present, u.size))
    if u.iso:
        return indices, u.device.xp.full(len(indices), u.values)
    return indices, plain_values(u)[indices]


def dense(u: VectorStore, fill: Any) -> Any:
    """Values by position, `fill` where there is no entry."""
    return u.device.xp.where(unpack(u.device, u.present, u.size), plain_values(u), u.dtype.np_type.type(fill))


def get(u: VectorStore, i: int) -> np.generic | None:
    if not (int(u.present[i >> 6]) >> (i & 63)) & 1:
        return None
    if u.iso:
        return u.values
    if u.dtype is BOOL:
        return np.bool_((int(u.values[i >> 6]) >> (i & 63)) & 1)
    return u.dtype.np_type.type(u.device.to_host(u.values[i : i + 1])[0])


def set_element(w: VectorStore, i: int, value: Any) -> None:
    """w[i] = value in place."""
    value = w.dtype.np_type.type(value)
    if w.iso and w.count == 0:
        w.values = value  # the first entry decides what iso means
    if w.iso and not _same_value(w.values, value):
        make_dense(w)
    _set_bit(w.present, i, True)
    if not w.iso:
        if w.dtype is BOOL:
            _set_bit(w.values, i, bool(value))
        else:
            w.values[i] = value
    w.count = None


def remove_element(w: VectorStore, i: int) -> None:
    """Delete entry i in place, if there is one."""
    _set_bit(w.present, i, False)
    if w.dtype is BOOL and not w.iso:
        _set_bit(w.values, i, False)
    w.count = None


def _set_bit(bits: Any, i: int, on: bool) -> None:
    word, bit = slice(i >> 6, (i >> 6) + 1), np.uint64(1 << (i & 63))
    bits[word] = bits[word] | bit if on else bits[word] & ~bit


def _same_value(a: Any, b: Any) -> bool:
    return bool(a == b) or bool(a != a and b != b)


def make_dense(w: VectorStore) -> None:
    """Give an iso vector an array of values, in place."""
    if not w.iso:
        return
    if w.dtype is BOOL:
        w.values = w.present.copy() if w.values else w.device.xp.zeros_like(w.present)
    else:
        w.values = w.device.xp.full(max(1, w.size), w.values)


# ---- the verbs ------------------------------------------------------------------------------------------------------


def ewise(u: VectorStore, v: VectorStore, op: Typed, *, union: bool) -> VectorStore:
    """ewise_add (union) or ewise_mult (intersection): GraphBLAS C API 2.1, sections 4.3.5 and 4.3.4."""
    op = _binary(op)
    if u.iso and v.iso and not op.op.positional:
        value = op.op.evaluate(op.dtype, x=u.values, y=v.values)
        alike = all(_same_value(value, s.values) for s in (u, v))
        if not union or alike:
            present = u.present | v.present if union else u.present & v.present
            return VectorStore(u.device, u.size, op.return_type, present, value)
    return run_elementwise(u, v, UNION if union else BOTH, op)


def ewise_union(u: VectorStore, v: VectorStore, op: Typed, left_default: Any, right_default: Any) -> VectorStore:
    """Union, with a default for the operand that is missing."""
    return run_elementwise(u, v, FILLED, _binary(op), defaults=(left_default, right_default))


def _binary(op: Typed) -> Typed:
    return op.op.binaryop[op.op.compute_type(op.dtype)] if isinstance(op.op, Monoid) else op


def apply(u: VectorStore, op: Typed[Operator]) -> VectorStore:
    """t = op(u), entry by entry."""
    if u.iso and not op.op.positional:
        value = op.op.evaluate(op.dtype, x=u.values)
        return VectorStore(u.device, u.size, op.return_type, u.present.copy(), value, u.count)
    return run_elementwise(u, u, LEFT, op, bound="x")


def apply_bound(u: VectorStore, op: Typed, scalar: Any, *, left: bool) -> VectorStore:
    """t = op(scalar, u) (left) or op(u, scalar). The scalar has the operator's type."""
    op = _binary(op)
    if u.iso and not op.op.positional:
        x, y = (scalar, u.values) if left else (u.values, scalar)
        value = op.op.evaluate(op.dtype, x=x, y=y)
        return VectorStore(u.device, u.size, op.return_type, u.present.copy(), value, u.count)
    bound = _scalar_operand(u, scalar, op.op.compute_type(op.dtype))
    return run_elementwise(u, bound, LEFT, op, bound="yx" if left else "xy")


def apply_index(u: VectorStore, op: Typed[Operator], thunk: Any) -> VectorStore:
    """t(i) = op(u(i), i, 0, thunk)."""
    return run_elementwise(u, _thunk(u, op, thunk), LEFT, op, bound="xt")


def select(u: VectorStore, op: Typed[Operator], thunk: Any) -> VectorStore:
    """The entries of u for which op(u(i), i, 0, thunk) is true."""
    return run_elementwise(u, _thunk(u, op, thunk), LEFT, op, bound="xt", keep=True)


def _thunk(u: VectorStore, op: Typed[Operator], thunk: Any) -> VectorStore:
    positional = op.op.positional
    return _scalar_operand(u, thunk, INT64 if positional else op.op.compute_type(op.dtype))


def cast(u: VectorStore, dtype: DataType) -> VectorStore:
    """u with values of another type (u itself where it has that type)."""
    from semirings.catalog import UNARY

    if u.dtype is dtype:
        return u
    if u.iso:
        return VectorStore(u.device, u.size, dtype, u.present, cast_scalar(u.values, dtype), u.count)
    return run_elementwise(u, u, LEFT, UNARY["identity"][dtype], bound="x")


def cast_scalar(x: Any, dtype: DataType) -> np.generic:
    """A GraphBLAS cast on the host: float to integer saturates, NaN gives 0."""
    x = np.asarray(x)[()]
    if dtype.kind in "iu" and np.asarray(x).dtype.kind == "f":
        if x != x:
            return dtype.np_type.type(0)
        return dtype.np_type.type(min(max(int(dtype.lowest), int(x) if np.isfinite(x) else x), int(dtype.highest)))
    with np.errstate(all="ignore"):
        return dtype.np_type.type(np.asarray(x).astype(dtype.np_type)[()])


@functools.cache
def _reduce(device: Device, monoid: Typed[Monoid], u: DataType) -> tuple[Any, DataType]:
    variant, z = reduce_variant(monoid, u)
    return device.kernel(variant), z


def reduce_variant(monoid: Typed[Monoid], u: DataType) -> tuple[Variant, DataType]:
    """The kernel that sums the entries of a vector of type `u`, and the type of the sum."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    constants = (("LANES", 256), ("U_BOOL", int(u is BOOL)), ("HAS_TERMINAL", terminal))
    functions = (*functions[:1], _cast("take", u, z))
    return Variant("kernels/reduce", (("U", u), ("Z", z)), constants, values[:1], functions, repr(monoid)), z


def reduce(u: VectorStore, monoid: Typed[Monoid]) -> np.generic | None:
    """The monoid's sum of all entries, None where there is none. Float sums have a fixed order."""
    device = u.device
    if u.iso:
        k = u.nvals
        return monoid.op.repeat(monoid.dtype, cast_scalar(u.values, monoid.return_type), k) if k else None
    while True:
        kernel, z = _reduce(device, monoid, u.dtype)
        n = words(u.size)
        chunks = -(-n // CHUNK)
        some, sums = device.xp.zeros(chunks, np.uint8), device.xp.empty(chunks, z.np_type)
        bounds = even_bounds(chunks, device.threads) if not device.is_gpu and n > PARALLEL_WORDS else None
        kernel(chunks, CHUNK, u.size, u.present, *stored(device, u.dtype, u.values), some, sums, bounds=bounds)
        if chunks == 1:
            return z.np_type.type(device.to_host(sums)[0]) if device.to_host(some)[0] else None
        values = pack(device, sums) if z is BOOL else sums
        u = VectorStore(device, chunks, z, pack(device, some), values)
        monoid = monoid.op[z]


@functools.cache
def _merge(device: Device, w: DataType, t: DataType, accum: Typed | None) -> Any:
    return device.kernel(merge_variant(w, t, accum))


def merge_variant(w: DataType, t: DataType, accum: Typed | None) -> Variant:
    """The kernel for w<mask, accum, replace> = t."""
    functions: tuple[Function, ...] = (_cast("take", t, w),)
    if accum is not None:
        op = _binary(accum)
        compute = op.op.compute_type(op.dtype)
        inner = Function("joined", op.return_type, (("x", compute), ("y", compute)), (), op.op.expr)
        outer_let = (("x", compute, "a"), ("y", compute, "b"))
        inner_cast = _cast("finish", op.return_type, w)
        functions += (inner, inner_cast, Function("accum", w, (("a", w), ("b", t)), outer_let, "finish(joined(x, y))"))
    constants = (
        ("LANES", 64), ("ACCUM", int(accum is not None)), ("W_BOOL", int(w is BOOL)), ("T_BOOL", int(t is BOOL)),
    )  # fmt: skip
    if accum is None:
        functions += (Function("accum", w, (("a", w), ("b", t)), (), "a"),)
    return Variant("kernels/merge", (("W", w), ("T", t)), constants, (), functions, repr(accum))


def merge(w: VectorStore, t: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """w<mask, accum, replace> = t in place; w keeps its type. GraphBLAS C API 2.1, section 2.3.4."""
    device, n = w.device, words(w.size)
    if w.iso and w.nvals == 0:
        w.values = cast_scalar(t.values, w.dtype) if t.iso else w.values
    if not (w.iso and t.iso and accum is None and _same_value(w.values, cast_scalar(t.values, w.dtype))):
        make_dense(w)
    if w.iso:  # the value stays as it is: bits alone change
        open_bits = full_bits(device, w.size) if mask is None else ~mask.words if mask.complement else mask.words
        kept = 0 if replace else w.present & ~open_bits
        w.present = (t.present & open_bits) | kept
        w.count = None
        return
    kernel = _merge(device, w.dtype, t.dtype, accum)
    kernel(
        n, w.size, w.present, w.values, t.present, *stored(device, t.dtype, t.values),
        *mask_arguments(device, mask), int(replace), bounds=_bounds(device, n),
    )  # fmt: skip
    w.count = None


def mask_words(u: VectorStore, *, structural: bool) -> Any:
    """The bitset of a mask: where u has an entry (structural), or an entry that is not zero (value)."""
    if structural:
        return u.present
    if u.iso:
        return u.present if u.values else u.device.xp.zeros_like(u.present)
    return (cast(u, BOOL).values) & u.present


def fold_variant(op: Typed[Operator], a: DataType) -> tuple[Variant, DataType]:
    """The kernel that joins segments of values of type `a` from left to right by a binary operator."""
    z, compute = op.return_type, op.op.compute_type(op.dtype)
    let = (("x", compute, "p"), ("y", compute, "q"))
    functions = (Function("add", z, (("p", z), ("q", z)), let, op.op.expr), _cast("take", a, z))
    return Variant("kernels/fold", (("A", a), ("Z", z)), (), (), functions, repr(op)), z


# ---- by index -------------------------------------------------------------------------------------------------------


def extract(u: VectorStore, indices: Any) -> VectorStore:
    """t(k) = u(indices(k)); indices may repeat."""
    xp, size = u.device.xp, len(indices)
    flags = unpack(u.device, u.present, u.size)[indices]
    values: Any = u.values
    if not u.iso:
        values = plain_values(u)[indices]
        values = pack(u.device, values & flags) if u.dtype is BOOL else values if size else xp.zeros(1, u.dtype.np_type)
    return VectorStore(u.device, size, u.dtype, pack(u.device, flags), values)


def region(w: VectorStore, indices: Any) -> Any:
    """The bitset of the positions in `indices`."""
    flags = w.device.xp.zeros(w.size, bool)
    flags[indices] = True
    return pack(w.device, flags)


def assign(w: VectorStore, indices: Any, t: VectorStore) -> VectorStore:
    """A vector of w's size with entry t(k) at indices(k); indices do not repeat."""
    xp = w.device.xp
    flags = xp.zeros(w.size, bool)
    flags[indices] = unpack(w.device, t.present, t.size)
    values = t.values if t.iso else _scattered(w.device, w.size, t.dtype, indices, plain_values(t))
    if t.dtype is BOOL and not t.iso:
        values = values & pack(w.device, flags)
    return VectorStore(w.device, w.size, t.dtype, pack(w.device, flags), values)


__all__ = [
    "Mask", "apply", "apply_bound", "apply_index", "assign", "build", "cast", "cast_scalar", "dense", "empty_vector",
    "entries", "ewise", "ewise_union", "extract", "get", "mask_words", "merge", "reduce", "region", "remove_element",
    "select", "set_element",
]  # fmt: skip
