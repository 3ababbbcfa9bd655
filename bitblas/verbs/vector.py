"""Verbs on vectors: build, element-wise, apply, select, reduce, and the merge that ends every statement."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.catalog import MONOIDS
from semirings.dtypes import BOOL, INT64, DataType

from ..device import Device, even_bounds
from ..store import VectorStore, dense_values, full_bits, pack, unpack, words
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
        bounds=word_bounds(device, n),
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
    from . import arrays, product

    xp, iso = device.xp, isinstance(values, np.generic)
    ascending = len(indices) < 2 or bool((indices[1:] > indices[:-1]).all())
    if not ascending and dup is not None and not iso and (monoid := _unordered(dup)) is not None:
        return cast(product.scatter(device, size, indices, values, monoid), dtype)
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
        t.values = scattered(device, size, dtype, indices, values)
    return t


def _unordered(op: Typed) -> Typed[Monoid] | None:
    """The monoid of a binary operator, if the order of what it sums does not matter."""
    monoid: Any = op.op if isinstance(op.op, Monoid) else MONOIDS.get(op.op.name)
    if monoid is None or monoid.name == "any" or op.dtype not in monoid.types:
        return None
    exact = op.return_type.kind != "f" or monoid.is_exact_in_any_order
    return monoid[op.dtype] if exact and op.return_type is op.dtype else None


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


def apply(u: VectorStore, op: Typed[Operator]) -> VectorStore:
    """t = op(u), entry by entry."""
    if u.iso and not op.op.positional:
        value = op.op.evaluate(op.dtype, x=u.values)
        return VectorStore(u.device, u.size, op.return_type, u.present.copy(), value, u.count)
    return run_elementwise(u, u, LEFT, op, bound="x")


def apply_bound(u: VectorStore, op: Typed, scalar: Any, *, left: bool) -> VectorStore:
    """t = op(scalar, u) (left) or op(u, scalar). The scalar has the operator's type."""
    op = binary_of(op)
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


def merge(w: VectorStore, t: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """w<mask, accum, replace> = t in place; w keeps its type. GraphBLAS C API 2.1, section 2.3.4."""
    device, n = w.device, words(w.size)
    if w.iso and w.nvals == 0:
        w.values = cast_scalar(t.values, w.dtype) if t.iso else w.values
    if not (w.iso and t.iso and accum is None and same_value(w.values, cast_scalar(t.values, w.dtype))):
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
        *mask_arguments(device, mask), int(replace), bounds=word_bounds(device, n),
    )  # fmt: skip
    w.count = None


def mask_words(u: VectorStore, *, structural: bool) -> Any:
    """The bitset of a mask: where u has an entry (structural), or an entry that is not zero (value)."""
    if structural:
        return u.present
    if u.iso:
        return u.present if u.values else u.device.xp.zeros_like(u.present)
    return (cast(u, BOOL).values) & u.present
