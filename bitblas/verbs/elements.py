"""Verbs on vectors by index: single elements, extract, assign."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ..store import VectorStore, full_bits, pack, unpack
from .vector import make_dense, plain_values, same_value, scattered


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
    if w.iso and not same_value(w.values, value):
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


def extract(u: VectorStore, indices: Any) -> VectorStore:
    """t(k) = u(indices(k)); indices may repeat."""
    size, full = len(indices), u.nvals == u.size
    present = full_bits(u.device, size) if full else pack(u.device, unpack(u.device, u.present, u.size)[indices])
    values: Any = u.values
    if not u.iso:
        values = plain_values(u)[indices]
        if u.dtype is BOOL:
            values = pack(u.device, values) & present
        elif not size:
            values = u.device.xp.zeros(1, u.dtype.np_type)
    return VectorStore(u.device, size, u.dtype, present, values, size if full else None)


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
    values = t.values if t.iso else scattered(w.device, w.size, t.dtype, indices, plain_values(t))
    if t.dtype is BOOL and not t.iso:
        values = values & pack(w.device, flags)
    return VectorStore(w.device, w.size, t.dtype, pack(w.device, flags), values)
