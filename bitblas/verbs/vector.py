"""Verbs on vectors: element-wise, apply, select, reduce, and the merge that ends every statement."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.dtypes import BOOL, DataType

from ..device import Device, even_bounds
from ..ending import plan_end
from ..store import VectorStore, dense_values, pack, unpack, words
from .operands import PARALLEL_WORDS, Mask, dummy, mask_arguments, stored, word_bounds
from .variants import BOTH, FILLED, LEFT, UNION, binary_of, elementwise_variant, merge_variant, reduce_variant

CHUNK = 1 << 8  # words per partial sum: 16384 entries, enough for a block of 256 threads


@functools.cache
def _elementwise(
    device: Device, mode: int, op: Typed[Operator], u: DataType, v: DataType, bound: str, keep: bool, places: bool
) -> tuple[Any, DataType]:
    variant, t = elementwise_variant(mode, op, u, v, bound, keep, places)
    return device.kernel(variant), t


def run_elementwise(
    u: VectorStore, v: VectorStore, mode: int, op: Typed[Operator], *, bound: str = "xy", keep: bool = False,
    defaults: tuple[Any, Any] = (0, 0), places: tuple[Any, Any] | None = None,
) -> VectorStore:  # fmt: skip
    device, n = u.device, words(u.size)
    kernel, dtype = _elementwise(device, mode, op, u.dtype, v.dtype, bound, keep, places is not None)
    t = VectorStore(device, u.size, dtype, device.xp.empty(n, np.uint64), dense_values(device, u.size, dtype))
    rows, cols = places if places is not None else (dummy(device, "int64"),) * 2
    kernel(
        n, u.size, u.present, *stored(device, u.dtype, u.values), v.present, *stored(device, v.dtype, v.values),
        u.dtype.np_type.type(defaults[0]), v.dtype.np_type.type(defaults[1]), rows, cols, t.present, t.values,
        bounds=word_bounds(u if mode in (LEFT, BOTH) or u.nvals > v.nvals else v),
    )  # fmt: skip
    if mode == LEFT and not keep:
        t.count = u.count
    return t


def _scalar_operand(u: VectorStore, value: Any, dtype: DataType) -> VectorStore:
    return VectorStore(u.device, u.size, dtype, u.present, dtype.np_type.type(value))


# ---- reading --------------------------------------------------------------------------------------------------------


def scattered(device: Device, size: int, dtype: DataType, indices: Any, values: Any) -> Any:
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
    if u.nvals == u.size:
        return u.device.xp.arange(u.size, dtype=np.int64), plain_values(u).copy()
    indices = u.device.xp.flatnonzero(unpack(u.device, u.present, u.size))
    if u.iso:
        return indices, u.device.xp.full(len(indices), u.values)
    return indices, plain_values(u)[indices]


def dense(u: VectorStore, fill: Any) -> Any:
    """Values by position, `fill` where there is no entry."""
    if u.nvals == u.size:
        return plain_values(u).copy()
    return u.device.xp.where(unpack(u.device, u.present, u.size), plain_values(u), u.dtype.np_type.type(fill))


def same_value(a: Any, b: Any) -> bool:
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
    op = binary_of(op)
    if u.iso and v.iso and not op.op.positional:
        value = op.op.evaluate(op.dtype, x=u.values, y=v.values)
        alike = all(same_value(value, s.values) for s in (u, v))
        if not union or alike:
            present = u.present | v.present if union else u.present & v.present
            return VectorStore(u.device, u.size, op.return_type, present, value)
    return run_elementwise(u, v, UNION if union else BOTH, op)


def ewise_union(u: VectorStore, v: VectorStore, op: Typed, left_default: Any, right_default: Any) -> VectorStore:
    """Union, with a default for the operand that is missing."""
    return run_elementwise(u, v, FILLED, binary_of(op), defaults=(left_default, right_default))


def constant(op: Typed[Operator], x: Any = None, y: Any = None) -> np.generic | None:
    """The one value of op for all entries, if it reads none of their values; x, y: the operands that are scalars.
    So one(A), pair(A, 1) and second(A, 7) store a single value."""
    names = {k: v for k, v in (("x", x), ("y", y)) if isinstance(v, np.generic)}
    if op.op.positional or not (op.op.expr == "1" or op.op.expr in names):
        return None
    return op.op.evaluate(op.dtype, **names)


def apply(u: VectorStore, op: Typed[Operator]) -> VectorStore:
    """t = op(u), entry by entry."""
    value = constant(op) if not u.iso else None if op.op.positional else op.op.evaluate(op.dtype, x=u.values)
    if value is not None:
        return VectorStore(u.device, u.size, op.return_type, u.present.copy(), value, u.count)
    return run_elementwise(u, u, LEFT, op, bound="x")


def apply_bound(u: VectorStore, op: Typed, scalar: Any, *, left: bool) -> VectorStore:
    """t = op(scalar, u) (left) or op(u, scalar). The scalar has the operator's type."""
    op = binary_of(op)
    x, y = (scalar, u.values) if left else (u.values, scalar)
    value = constant(op, x, y) if not u.iso else None if op.op.positional else op.op.evaluate(op.dtype, x=x, y=y)
    if value is not None:
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
    return _scalar_operand(u, thunk, op.op.compute_type(op.dtype))


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


@functools.lru_cache(1 << 12)
def _merge(
    device: Device, t: DataType, t_value: bytes | None, w: DataType, w_value: bytes | None, accum: Typed | None
) -> tuple[Any, bool]:
    """The kernel, and whether w gets an array of values. Values: the bytes of the one value of all entries."""
    one = None if t_value is None else np.frombuffer(t_value, t.np_type)[0]
    value = None if w_value is None else np.frombuffer(w_value, w.np_type)[0]
    end = plan_end(t, one, w, value, accum)
    return device.kernel(merge_variant(t, end)), end.store


def merge(w: VectorStore, t: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """w<mask, accum, replace> = t in place; w keeps its type. GraphBLAS C API 2.1, section 2.3.4."""
    device = w.device
    if w.iso and t.iso and (w.count if device.is_gpu else w.nvals) == 0:  # no entry has the value yet
        w.values = cast_scalar(t.values, w.dtype)
    t_value, w_value = (x.values.tobytes() if x.iso else None for x in (t, w))
    kernel, store = _merge(device, t.dtype, t_value, w.dtype, w_value, accum)
    if store:
        old, new = stored(device, w.dtype, w.values), w.values
        given = stored(device, t.dtype, t.values)
        if w.iso:
            new = (
                device.xp.empty(words(w.size), np.uint64) if w.dtype is BOOL else dense_values(device, w.size, w.dtype)
            )
    else:
        old = given = stored(device, BOOL, np.True_)
        new = old[0]
    kernel(
        words(w.size), w.size, w.present, *old, t.present, *given, *mask_arguments(device, mask), int(replace), new,
        bounds=word_bounds(t),
    )  # fmt: skip
    if store:
        w.values = new
    w.changed(grown=accum is not None and not replace)


def restrict(w: VectorStore, mask: Mask) -> None:
    """w<mask, replace> = w in place."""
    w.present = w.present & (~mask.words if mask.complement else mask.words)
    if w.dtype is BOOL and not w.iso:
        w.values = w.values & w.present
    w.count = None


def mask_words(u: VectorStore, *, structural: bool) -> Any:
    """The bitset of a mask: where u has an entry (structural), or an entry that is not zero (value)."""
    if structural:
        return u.present
    if u.iso:
        return u.present if u.values else u.device.xp.zeros_like(u.present)
    return (cast(u, BOOL).values) & u.present
