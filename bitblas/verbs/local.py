"""Sparse vectors: compress the touched indices to 0..k-1, run the dense kernels on vectors of that size, map back.

`at` is always a list of positions (INT64, ascending).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings.dtypes import BOOL, DataType

from ..device import Device
from ..formats import numbers
from ..formats.numbers import placed, within
from ..sparse import SparseStore, is_sparse
from ..store import VectorStore, dense_values, full_bits, pack, words, zero_word
from .operands import PARALLEL_WORDS, Mask, stored
from .reading import entries, kernel_of, make_dense, plain_values, same_value
from .variants import place_variant


def values_of(device: Device, dtype: DataType, listed: Any) -> Any:
    """Listed values as the values of a compressed vector."""
    if isinstance(listed, np.generic):
        return listed
    return pack(device, listed) if dtype is BOOL else listed if len(listed) else dense_values(device, 0, dtype)


def extract(u: VectorStore, indices: Any) -> VectorStore:
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
    bounds = device.ranges(words(size), PARALLEL_WORDS, parts=device.threads)
    kernel(words(size), size, indices, operands[0], operands[1], present, operands[2], bounds=bounds)
    return VectorStore(device, size, u.dtype, present, values, size if full else None)


def extract_range(u: SparseStore, region: range) -> VectorStore:
    """t(k) = u(region[k])."""
    index, at = within(u.index, region)
    return settled(SparseStore(u.device, len(region), u.dtype, index, u.listed if u.iso else u.listed[at]))


def renumbered(u: VectorStore, at: Any) -> VectorStore:
    """u at these positions. Read-only: it may share the arrays of u."""
    if type(u) is SparseStore and u.index is at:
        n, device = len(at), u.device
        return VectorStore(device, n, u.dtype, full_bits(device, n), values_of(device, u.dtype, u.listed), n)
    return extract(u, at)


def back(t: VectorStore, at: Any, size: int) -> VectorStore:
    """The vector of `size` positions with t's entries at these: a list, if they are few."""
    if t.nvals == len(at):
        listed = t.values if t.iso else plain_values(t)
    else:
        i, listed = entries(t)
        at = at[i]
    return settled(SparseStore(t.device, size, t.dtype, at, t.values if t.iso else listed))


def settled(made: SparseStore) -> VectorStore:
    """The same as bits, if there are too many entries for a list."""
    if not is_sparse(made.device, len(made.index), made.size):
        _ = made.present
    return made


def positions(u: VectorStore, v: VectorStore, *, union: bool) -> Any | None:
    """The positions where either (union) or both have an entry; None: too many to list."""
    a, b = (x.index if type(x) is SparseStore else None for x in (u, v))
    if a is None or b is None:
        return None if union else b if a is None else a
    if not union:
        return a if len(a) <= len(b) else b
    return numbers.union(u.device.xp, a, b)


def mask_at(mask: Mask, at: Any, device: Device, size: int) -> Mask:
    """A mask of `size` positions, at these."""
    listed = type(mask.words) is SparseStore
    named = mask.words if listed else VectorStore(device, size, BOOL, mask.bits, np.True_)
    return Mask(extract(named, at).present, mask.complement)


def places(positional: bool, at: Any) -> Any:
    """Rows and columns, for an operator that reads them."""
    return (at, at * 0) if positional else None


@functools.cache
def _place(device: Device, u: DataType, t: DataType, values: bool, clear: bool, bits: bool) -> Any:
    return device.kernel(place_variant(u, t, values=values, clear=clear, bits=bits))


@functools.cache
def unread(device: Device) -> Any:
    """Unused output for the flags of bad indices in `place`."""
    return device.xp.zeros(2, np.uint32)


def place(t: VectorStore, indices: Any, u: VectorStore, flags: Any, *, clear: bool) -> None:
    """t(indices(k)) = u(k) in place, each index once; clear: t has entries, and loses those where u has none."""
    device = t.device
    full = u.count == u.size
    present, stays = (zero_word(device), 0) if full else (u.present, 1), full and t.count == t.size
    kernel = _place(device, u.dtype, t.dtype, not t.iso, clear, not stays)
    operands = *present, *stored(device, u.dtype, u.values), t.present, stored(device, t.dtype, t.values).array
    kernel(len(indices), t.size, indices, *operands, flags)
    t.count = t.size if stays else None


def touched(w: VectorStore, t: VectorStore, mask: Mask | None, accum: Any, replace: bool) -> Any | None:
    """The positions of w, stored as bits, that w<mask, accum, replace> = t can change, if they can be listed."""
    if type(t) is not SparseStore or type(w) is SparseStore or (mask is not None and replace):
        return None
    named = None if mask is None or mask.complement or type(mask.words) is not SparseStore else mask.words.index
    return t.index if accum is not None else named


def put_back(w: VectorStore, at: Any, z: VectorStore) -> None:
    """w = z at these positions, in place."""
    if w.iso and w.count == 0 and z.iso:
        w.values = z.values
    if not (w.iso and z.iso and same_value(w.values, z.values)):
        make_dense(w)
    place(w, at, z, unread(w.device), clear=True)
