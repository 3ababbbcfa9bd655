"""Vectors from lists of indices and values: GraphBLAS C API 2.1, section 4.2.4.7."""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import numpy as np

from semirings import Monoid, Typed
from semirings.catalog import MONOIDS
from semirings.dtypes import BOOL, DataType, lookup_dtype

from ..device import Device
from ..device.readback import Readback
from ..exceptions import IndexOutOfBound
from ..sparse import SparseStore, is_sparse
from ..store import VectorStore, dense_values, empty_vector, full_vector, zero_word
from . import arrays
from .local import place, unread
from .operands import stored
from .reading import entries
from .variants import beginning, sum_by_index_variant
from .vector import cast


def build(
    device: Device, size: int, dtype: DataType, indices: Any, values: Any, dup: Typed | None = None, *,
    distinct: bool = False,
) -> VectorStore:  # fmt: skip
    """Entries in any order; equal indices are combined from left to right by `dup`. distinct: the caller guarantees
    distinct indices below `size`.

    Raises IndexOutOfBound, ValueError (equal indices without dup; a single value needs none).
    """
    if is_sparse(device, len(indices), size):
        return _sparse(device, size, dtype, indices, values, dup, distinct=distinct)
    u, told = _listed(device, values, len(indices)), None if distinct else Readback(device, 8)
    flags = unread(device) if told is None else told.part(np.uint32, 0, 2)
    monoid = None if dup is None else _unordered(dup)
    if monoid is not None:
        t = sum_by_index(u, indices, size, monoid, flags)
    else:
        t = empty_vector(device, size, dtype)
        t.values = cast(u, dtype).values if u.iso else dense_values(device, size, dtype)
        place(t, indices, u, flags, clear=False)
    twice, outside = (0, 0) if told is None else told.read(np.uint32, 0, 2)
    if outside:
        _raise_outside(indices, size)
    if monoid is not None:
        return cast(t, dtype)
    t.count = None if twice else len(indices)
    if u.iso or not twice:
        return t
    return _folded(device, size, dtype, indices, values, dup)


def _raise_outside(indices: Any, size: int) -> NoReturn:
    low, high = int(indices.min()), int(indices.max())
    raise IndexOutOfBound(f"indices: expected indices from 0 to {size - 1}, got {low if low < 0 else high}")


def _sparse(
    device: Device, size: int, dtype: DataType, indices: Any, values: Any, dup: Typed | None, *, distinct: bool
) -> VectorStore:
    """`build`, if the result is a list."""
    if len(indices) and not distinct and (int(indices.min()) < 0 or int(indices.max()) >= size):
        _raise_outside(indices, size)
    iso = isinstance(values, np.generic)
    if bool((indices[1:] > indices[:-1]).all()):
        index, listed = indices.astype(np.int64), values if iso else values.copy()  # copies, which are not shared
    else:
        order = device.xp.argsort(indices, kind="stable")
        index, listed = indices[order].astype(np.int64, copy=False), values if iso else values[order]
        fresh = device.xp.ones(len(index), bool)
        fresh[1:] = index[1:] != index[:-1]
        if not bool(fresh.all()):
            if not iso:
                return _folded(device, size, dtype, indices, values, dup)
            index = index[fresh]
    return SparseStore(device, size, dtype, index, arrays.cast(device, listed, lookup_dtype(listed.dtype), dtype))


def _listed(device: Device, values: Any, count: int) -> VectorStore:
    """The values as a full vector."""
    if isinstance(values, np.generic):
        return full_vector(device, count, values, arrays.lookup_dtype(values.dtype))
    return arrays.as_vector(device, values, count)


def _folded(device: Device, size: int, dtype: DataType, indices: Any, values: Any, dup: Typed | None) -> VectorStore:
    """Combine the values of equal indices in their order. ValueError without an operator."""
    if dup is None:
        raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")
    xp = device.xp
    order = xp.argsort(indices, kind="stable")
    indices, values = indices[order], values[order]
    fresh = xp.ones(len(indices), bool)
    fresh[1:] = indices[1:] != indices[:-1]
    starts = xp.flatnonzero(fresh)
    sums = arrays.fold_segments(device, dup, values, dtype, xp.append(starts, len(indices)))
    return build(device, size, dtype, indices[starts], sums, distinct=True)


@functools.cache
def _sum_by_index(device: Device, u: DataType, monoid: Typed[Monoid]) -> tuple[Any, DataType]:
    variant, cell = sum_by_index_variant(u, monoid)
    return device.kernel(variant), cell


def sum_by_index(u: VectorStore, indices: Any, size: int, monoid: Typed[Monoid], flags: Any) -> VectorStore:
    """t(i) = the sum of the values of u (full) whose index is i, in any order."""
    device = u.device
    kernel, cell = _sum_by_index(device, u.dtype, monoid)
    t = empty_vector(device, size, cell)
    if device.shares_rows:  # atomics combine with the initial values
        begin = cell.np_type.type(beginning(monoid.op, monoid.return_type))
        t.values = device.xp.full(max(1, size), begin)
    else:
        t.values = dense_values(device, size, cell)
    values = stored(device, u.dtype, u.values)
    kernel(len(indices), size, indices, zero_word(device), 0, *values, t.present, t.values, flags)
    t.count = None
    return t if cell is monoid.return_type else cast(t, monoid.return_type)


def _unordered(op: Typed) -> Typed[Monoid] | None:
    """The monoid of a binary operator, if the order of its operands does not matter."""
    monoid: Any = op.op if isinstance(op.op, Monoid) else MONOIDS.get(op.op.name)
    if monoid is None or monoid.name == "any" or op.dtype not in monoid.types:
        return None
    exact = op.return_type.kind not in "fc" or monoid.is_exact_in_any_order
    return monoid[op.dtype] if exact and op.return_type is op.dtype else None


def full(device: Device, values: Any, dtype: DataType) -> VectorStore:
    """A vector with an entry for each element of an array, which is copied."""
    u = arrays.as_vector(device, values, len(values), shared=False)
    u.dtype = dtype
    if u.dtype is not BOOL:
        u.values = u.values.copy()
    return u


def place_at(u: VectorStore, offset: int, size: int) -> VectorStore:
    """A vector of `size` with entry i of u at i + offset; entries that fall outside are dropped."""
    indices, values = entries(u)
    moved = indices + offset
    inside = (moved >= 0) & (moved < size)
    return build(u.device, size, u.dtype, moved[inside], u.values if u.iso else values[inside], distinct=True)
