"""Sparse vectors: compress the touched indices to 0..k-1, run the dense kernels on vectors of that size, map back.

Also the entries of a vector as plain arrays. `at` is always a list of positions (INT64, ascending).
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, DataType

from .. import tuning
from ..device import Device, Kernel
from ..formats.hyper.layout import merge_lists, placed, within
from ..plan.operation import same_value as same_value
from ..store import (
    CHUNK,
    PlainValues,
    SparseStore,
    VectorStore,
    dense_values,
    full_bits,
    is_sparse,
    pack,
    set_bits,
    unpack,
    words,
    zero_word,
)
from ..typing import Array, Number
from .operands import Mask, stored
from .variants import place_variant, vector_variant

# ---- The entries of a vector as plain arrays, and single values repeated for all positions.


@functools.cache
def kernel_of(device: Device, name: str, dtype: DataType, **constants: int) -> Kernel:
    return device.kernel(vector_variant(name, dtype, **constants))


def plain_values(u: VectorStore) -> Array:
    """All values by position as an array of `size` (undefined at positions without an entry)."""
    if u.iso:
        return u.device.full(u.size, u.values)
    return unpack(u.device, u.values, u.size) if u.dtype is BOOL else u.values[: u.size]


def entries(u: VectorStore) -> tuple[Array, Array]:
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


def owned_values(u: VectorStore) -> Array:
    """`plain_values` as a new array."""
    return plain_values(u) if u.iso or u.dtype is BOOL else u.values[: u.size].copy()


def dense(u: VectorStore, fill: Number) -> Array:
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


def make_dense(w: VectorStore) -> None:
    """Give an iso vector an array of values, in place."""
    if not w.iso:
        return
    if w.dtype is BOOL:
        w.values = w.present.copy() if w.values else w.device.xp.zeros_like(w.present)
    else:
        w.values = w.device.full(max(1, w.size), w.values)


# ---- Sparse vectors: compress the touched indices to 0..k-1, run the dense kernels on vectors of that size, map back.


def values_of(device: Device, dtype: DataType, listed: PlainValues) -> PlainValues:
    """Listed values as the values of a compressed vector."""
    if isinstance(listed, np.generic):
        return listed
    return pack(device, listed) if dtype is BOOL else listed if len(listed) else dense_values(device, 0, dtype)


def extract(u: VectorStore, indices: Array) -> VectorStore:
    """t(k) = u(indices(k)); indices may repeat, and come in any order."""
    device, size = u.device, len(indices)
    if type(u) is SparseStore:
        place, hit = placed(device.xp, u.index, indices)
        listed = u.listed
        if not u.iso:  # values by position, also where there is no entry, since entries may be written there later
            listed = listed[place] if u.count else device.xp.zeros(size, listed.dtype)
        if not u.iso and u.dtype is BOOL:
            listed = listed & hit
        return VectorStore(device, size, u.dtype, pack(device, hit), values_of(device, u.dtype, listed))
    full = u.count == u.size
    present = device.xp.empty(words(size), np.uint64)
    values = u.values if u.iso else dense_values(device, size, u.dtype, blank=False)
    kernel = kernel_of(device, "gather", u.dtype, LANES=64, FULL=int(full), DENSE=int(not u.iso))
    operands = u.present, *(stored(device, u.dtype, x).array for x in (u.values, values))
    bounds = device.ranges(words(size), tuning.count("parallel.words"), parts=device.threads)
    kernel(words(size), size, indices, operands[0], operands[1], present, operands[2], bounds=bounds)
    return VectorStore(device, size, u.dtype, present, values, size if full else None)


def extract_range(u: SparseStore, region: range) -> VectorStore:
    """t(k) = u(region[k])."""
    index, at = within(u.index, region)
    return as_bits_if_dense(SparseStore(u.device, len(region), u.dtype, index, u.listed if u.iso else u.listed[at]))


def compress(u: VectorStore, at: Array) -> VectorStore:
    """u at these positions. Read-only: it may share the arrays of u."""
    if type(u) is SparseStore and u.index is at:
        n, device = len(at), u.device
        return VectorStore(device, n, u.dtype, full_bits(device, n), values_of(device, u.dtype, u.listed), n)
    return extract(u, at)


def expand(t: VectorStore, at: Array, size: int) -> VectorStore:
    """The vector of `size` positions with t's entries at these: a list, if they are few."""
    if t.nvals == len(at):
        listed = t.values if t.iso else plain_values(t)
    else:
        i, listed = entries(t)
        at = at[i]
    return as_bits_if_dense(SparseStore(t.device, size, t.dtype, at, t.values if t.iso else listed))


def on_list(w: SparseStore, at: Array, run: Callable[[VectorStore], None]) -> None:
    """Change w in place by `run`, at these positions only."""
    z = compress(w, at).copy()
    run(z)
    w.become(expand(z, at, w.size))


def as_bits_if_dense(t: SparseStore) -> VectorStore:
    """The same as bits, if there are too many entries for a list."""
    if not is_sparse(t.device, len(t.index), t.size):
        _ = t.present
    return t


def positions(u: VectorStore, v: VectorStore, *, union: bool) -> Array | None:
    """The positions where either (union) or both have an entry; None: too many to list."""
    a, b = (x.index if type(x) is SparseStore else None for x in (u, v))
    if a is None or b is None:
        return None if union else b if a is None else a
    if not union:
        return a if len(a) <= len(b) else b
    return merge_lists(u.device.xp, a, b)


def mask_at(mask: Mask, at: Array, device: Device, size: int) -> Mask:
    """A mask of `size` positions, at these."""
    listed = mask.words if type(mask.words) is SparseStore else None
    named = listed or VectorStore(device, size, BOOL, mask.bits, np.True_)
    return Mask(extract(named, at).present, mask.complement)


def places(positional: bool, at: Array) -> tuple[Array, Array] | None:
    """Rows and columns, for an operator that reads them."""
    return (at, at * 0) if positional else None


@functools.cache
def _place(device: Device, u: DataType, t: DataType, values: bool, clear: bool, bits: bool) -> Kernel:
    return device.kernel(place_variant(u, t, values=values, clear=clear, bits=bits))


@functools.cache
def unused_flags(device: Device) -> Array:
    """Unused output for the flags of bad indices in `place`."""
    return device.xp.zeros(2, np.uint32)


def place(t: VectorStore, indices: Array, u: VectorStore, flags: Array | np.generic, *, clear: bool) -> None:
    """t(indices(k)) = u(k) in place, each index once; clear: t has entries, and loses those where u has none."""
    device = t.device
    full = u.count == u.size
    present, stays = (zero_word(device), 0) if full else (u.present, 1), full and t.count == t.size
    kernel = _place(device, u.dtype, t.dtype, not t.iso, clear, not stays)
    operands = *present, *stored(device, u.dtype, u.values), t.present, stored(device, t.dtype, t.values).array
    kernel(len(indices), t.size, indices, *operands, flags)
    t.count = t.size if stays else None


def touched(w: VectorStore, t: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool) -> Array | None:
    """The positions of w, stored as bits, that w<mask, accum, replace> = t can change, if they can be listed."""
    if type(t) is not SparseStore or type(w) is SparseStore or (mask is not None and replace):
        return None
    named = None if mask is None or mask.complement or type(mask.words) is not SparseStore else mask.words.index
    return t.index if accum is not None else named


def put_back(w: VectorStore, at: Array, z: VectorStore) -> None:
    """w = z at these positions, in place."""
    if w.iso and w.count == 0 and z.iso:
        w.values = z.values
    if not (w.iso and z.iso and same_value(w.values, z.values)):
        make_dense(w)
    place(w, at, z, unused_flags(w.device), clear=True)
