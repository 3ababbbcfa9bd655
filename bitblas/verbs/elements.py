"""Vectors by index: read and write single elements, assign. (Extract: local.py.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, cast_scalar

from ..device import Device
from ..device.readback import Readback
from ..kernels.prologue import Variant
from ..sparse import SparseStore
from ..store import VectorStore, dense_values, empty_vector, full_vector, write_bits
from . import local
from .local import place, unread
from .masks import restrict
from .operands import Mask, stored
from .reading import kernel_of, make_dense, same_value
from .vector import merge


def get(u: VectorStore, i: int) -> np.generic | None:
    if type(u) is SparseStore:
        u, i = local.extract(u, u.device.asarray([i], np.int64)), 0
    host, word = u.device.to_host, slice(i >> 6, (i >> 6) + 1)
    if not (int(host(u.present[word])[0]) >> (i & 63)) & 1:
        return None
    if u.iso:
        return u.values
    if u.dtype is BOOL:
        return np.bool_((int(host(u.values[word])[0]) >> (i & 63)) & 1)
    return u.dtype.np_type.type(host(u.values[i : i + 1])[0])


FEW = 16  # entries written one by one; for more, writing their words together takes less host time (measured)


def put(w: VectorStore, written: dict[int, np.generic | None]) -> None:
    """w[i] = value for each item in place; None deletes the entry."""
    if type(w) is SparseStore:
        fresh = np.array(sorted(written), np.int64)
        at = w.device.xp.union1d(w.index, w.device.asarray(fresh))
        z = local.renumbered(w, at).copy()
        numbers = w.device.to_host(at).searchsorted(fresh).tolist()
        put(z, {k: written[i] for k, i in zip(numbers, fresh.tolist(), strict=True)})
        w.become(local.back(z, at, w.size))
        return
    if not w.device.host_memory:
        _put_by_kernel(w, written)
        return
    if len(written) < FEW:
        for i, value in written.items():
            if value is None:
                remove_element(w, i)
            else:
                set_element(w, i, value)
        return
    at = np.fromiter(written, np.int64, len(written))
    kept = np.array([x is not None for x in written.values()], bool)
    values = np.array([x for x in written.values() if x is not None], w.dtype.np_type)
    if len(values):
        if w.iso and w.nvals == 0:
            w.values = values[0]
        if w.iso and not bool((values == w.values).all()):
            make_dense(w)
    _set_bits(w, w.present, at, kept)
    if not w.iso and w.dtype is BOOL:
        on = kept.copy()
        on[kept] = values
        _set_bits(w, w.values, at, on)
    elif not w.iso and len(values):
        w.values[at[kept]] = values
    w.count = None


def _put_by_kernel(w: VectorStore, written: dict[int, np.generic | None]) -> None:
    """One copy to the device and one kernel, independent of the number of entries."""
    size = w.dtype.nbytes
    width = 8 * (2 + -(-size // 8))  # bytes per item
    items = np.zeros((len(written), width // 8), np.uint64)
    values = np.array([x for x in written.values() if x is not None], w.dtype.np_type)
    if len(values):
        if w.iso and w.count == 0:
            w.values = values[0]  # the first entries set the iso value
        if w.iso and not ((values == w.values) | ((values != values) & (w.values != w.values))).all():
            make_dense(w)
    items[:, 0] = np.fromiter(written, np.uint64, len(written))
    items[:, 1] = stays = [x is not None for x in written.values()]
    cells = values.view(np.uint8).reshape(len(values), size)
    items.view(np.uint8).reshape(len(written), width)[stays, 16 : 16 + size] = cells
    kernel = kernel_of(w.device, "put", w.dtype, DENSE=int(not w.iso))
    kernel(len(written), w.device.asarray(items.ravel()), w.present, stored(w.device, w.dtype, w.values).array)
    w.count = None


def _set_bits(w: VectorStore, bits: Any, at: np.ndarray, on: np.ndarray) -> None:
    """Set the bits of a bitset at `at` where `on`, clear the others. Words are computed on the host, each written
    once."""
    words, which = np.unique(at >> 6, return_inverse=True)
    masks = np.uint64(1) << (at & 63).astype(np.uint64)
    up, down = np.zeros(len(words), np.uint64), np.zeros(len(words), np.uint64)
    np.bitwise_or.at(up, which[on], masks[on])
    np.bitwise_or.at(down, which[~on], masks[~on])
    place, set_, cleared = (w.device.asarray(x) for x in (words, up, down))
    bits[place] = (bits[place] & ~cleared) | set_


def set_element(w: VectorStore, i: int, value: Any) -> None:
    """w[i] = value in place."""
    value = w.dtype.np_type.type(value)
    if w.iso and w.count == 0:
        w.values = value  # the first entry sets the iso value
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


RANGE = Variant("kernels/range", (), (("LANES", 1),))


def normalized(device: Device, indices: Any, dim: int) -> Any | None:
    """INT64 indices on a GPU with negative ones counted from the end; None if one is not in -dim .. dim - 1."""
    told = Readback(device, 8)
    device.kernel(RANGE)(len(indices), dim, indices, told.part(np.uint32, 0, 2))
    negative, outside = told.read(np.uint32, 0, 2)
    if outside:
        return None
    return device.xp.where(indices < 0, indices + dim, indices) if negative else indices


def region(w: VectorStore, indices: Any) -> Any:
    """The bitset of the positions in `indices`."""
    return spread(w, indices, full_vector(w.device, len(indices), np.bool_(True), BOOL)).present


def spread(w: VectorStore, indices: Any, u: VectorStore) -> VectorStore:
    """A vector of w's size with entry u(k) at indices(k); indices are distinct."""
    t = empty_vector(w.device, w.size, u.dtype)
    t.values = u.values if u.iso else dense_values(w.device, w.size, u.dtype)
    place(t, indices, u, unread(w.device), clear=False)
    return t


def assign(w: VectorStore, indices: Any, u: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """w<mask, accum, replace>(indices) = u in place, as GrB_assign: `replace` deletes all entries outside of the
    mask."""
    if type(w) is SparseStore:
        at = w.device.xp.union1d(w.index, indices)
        z, m = local.renumbered(w, at).copy(), None if mask is None else local.mask_at(mask, at, w.device, w.size)
        assign(z, w.device.xp.searchsorted(at, indices), u, m, accum, replace)
        w.become(local.back(z, at, w.size))
        return
    if mask is None and accum is None:
        if w.count == 0 and u.iso:
            w.values = cast_scalar(u.values, w.dtype)
        if not (w.iso and u.iso and same_value(w.values, cast_scalar(u.values, w.dtype))):
            make_dense(w)
        place(w, indices, u, unread(w.device), clear=w.count != 0)
        return
    inside = region(w, indices)
    if mask is not None:
        # The mask may be the bits of w itself, and is needed again after w has changed.
        mask = Mask(mask.bits.copy(), mask.complement)
        write_bits(w.device, w.size, inside, inside, mask)
    merge(w, spread(w, indices, u), Mask(inside, False), accum, False)
    if replace and mask is not None:
        restrict(w, mask)
