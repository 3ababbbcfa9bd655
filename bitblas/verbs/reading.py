"""The entries of a vector as plain arrays, and single values repeated for all positions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings.dtypes import BOOL, DataType

from ..device import Device
from ..sparse import SparseStore
from ..store import CHUNK, VectorStore, set_bits, unpack, words
from .operands import stored
from .variants import vector_variant


@functools.cache
def kernel_of(device: Device, name: str, dtype: DataType, **constants: int) -> Any:
    return device.kernel(vector_variant(name, dtype, **constants))


def plain_values(u: VectorStore) -> Any:
    """All values by position as an array of `size` (undefined at positions without an entry)."""
    if u.iso:
        return u.device.full(u.size, u.values)
    return unpack(u.device, u.values, u.size) if u.dtype is BOOL else u.values[: u.size]


def entries(u: VectorStore) -> tuple[Any, Any]:
    """Indices (INT64, ascending) and values of the entries."""
    device, xp = u.device, u.device.xp
    if type(u) is SparseStore:
        return u.index.copy(), device.full(len(u.index), u.listed) if u.iso else u.listed.copy()
    if u.nvals == u.size:
        return xp.arange(u.size, dtype=np.int64), owned_values(u)
    if not device.host_memory:
        n = words(u.size)
        indices, values = xp.empty(u.nvals, np.int64), xp.empty(u.nvals, u.dtype.np_type)
        if u.nvals:
            compact = kernel_of(device, "compact", u.dtype, LANES=256, CHUNK=CHUNK)
            operand = stored(device, u.dtype, u.values)
            compact(-(-n // CHUNK), n, u.present, u.chunk_counts(), *operand, indices, values)
        return indices, values
    indices = set_bits(u.present)
    return indices, np.full(len(indices), u.values) if u.iso else plain_values(u)[indices]


def owned_values(u: VectorStore) -> Any:
    """`plain_values` as a new array."""
    return plain_values(u) if u.iso or u.dtype is BOOL else u.values[: u.size].copy()


def dense(u: VectorStore, fill: Any) -> Any:
    """Values by position, `fill` where there is no entry."""
    _ = u.present  # raises OutOfMemory before anything is allocated
    if u.nvals == u.size:
        return owned_values(u)
    fill = u.dtype.np_type.type(fill)
    if u.device.host_memory:
        return np.where(unpack(u.device, u.present, u.size), plain_values(u), fill)
    out = u.device.xp.empty(u.size, u.dtype.np_type)
    kernel_of(u.device, "dense", u.dtype)(u.size, u.present, *stored(u.device, u.dtype, u.values), fill, out)
    return out


def same_value(a: Any, b: Any) -> bool:
    return bool(a == b) or bool(a != a and b != b)


def make_dense(w: VectorStore) -> None:
    """Give an iso vector an array of values, in place."""
    if not w.iso:
        return
    if w.dtype is BOOL:
        w.values = w.present.copy() if w.values else w.device.xp.zeros_like(w.present)
    else:
        w.values = w.device.full(max(1, w.size), w.values)
