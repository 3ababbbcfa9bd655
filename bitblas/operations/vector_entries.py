"""Vectors by index: masks, single elements, assign, equality, and building a vector from indices and values.

GraphBLAS C API 2.1, sections 4.2.4.7 (build) and 4.3.7 (assign). Extract is in compressed.py.
"""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import numpy as np

from semirings import Monoid, Typed
from semirings.catalog import MONOIDS, UNARY
from semirings.dtypes import BOOL, DataType, cast_scalar, lookup_dtype

from .. import tuning
from ..device import Device, Kernel
from ..device.memory import Readback
from ..exceptions import IndexOutOfBound
from ..kernels.variant import Variant
from ..plan import operation as plan
from ..store import (
    PlainValues,
    SparseStore,
    VectorStore,
    dense_values,
    empty_vector,
    full_vector,
    is_sparse,
    unpack,
    words,
    write_bits,
    zero_word,
)
from ..typing import Array, Number
from . import compressed, value_arrays
from .compressed import entries, kernel_of, make_dense, place, same_value, unused_flags
from .ewise_vector import cast, merge, pointwise
from .operands import Mask, make, stored, word_bounds
from .variants import LEFT, Call, initial_sum, sum_by_index_variant

# ---- Vectors as masks, and the part of a vector that a mask allows.


def mask_of(u: VectorStore, *, structural: bool, complement: bool) -> Mask:
    """Where u has an entry (structural), or a nonzero entry (value); or everywhere else."""
    named: Array | VectorStore
    if type(u) is not SparseStore:
        named = u.present if structural else mask_words(u)
    elif structural or (u.iso and u.listed):
        named = u.with_value(BOOL, BOOL.np_type.type(True))
    else:
        listed = compressed.compress(u, u.index)
        keep = unpack(u.device, mask_words(listed), u.count or 0)
        named = SparseStore(u.device, u.size, BOOL, u.index[keep], BOOL.np_type.type(True))
    mask: Mask = make(Mask, (named, complement))
    return mask


def restrict(w: VectorStore, mask: Mask) -> None:
    """w<mask, replace> = w in place."""
    if type(w) is SparseStore:
        at = w.index
        compressed.on_list(w, at, lambda z: restrict(z, compressed.mask_at(mask, at, w.device, w.size)))
        return
    for bits in (w.present,) if w.iso or w.dtype is not BOOL else (w.present, w.values):
        write_bits(w.device, w.size, bits, bits, mask)
    w.count = None


def mask_words(u: VectorStore) -> Array:
    """The bitset of the nonzero entries; it may be an array of u."""
    if u.iso:
        return u.present if u.values else u.device.xp.zeros_like(u.present)
    return u.values if u.dtype is BOOL else nonzero_bits(u)


def nonzero_bits(u: VectorStore) -> Array:
    """The bitset of the nonzero entries."""
    kind, bits = u.dtype.name, u.device.xp.empty(words(u.size), np.uint64)
    k = pointwise(u.device, Call(LEFT, "x", keep=True), UNARY["identity"][BOOL], kind, kind, False, True, True)
    operand = u.present, *stored(u.device, u.dtype, u.values)
    k.kernel(words(u.size), u.size, *operand, *operand, *k.plain, bits, k.nothing, bounds=word_bounds(u))
    return bits


# ---- Vectors by index: read and write single elements, assign. (Extract: compressed.py.)


def get(u: VectorStore, i: int) -> np.generic | None:
    if type(u) is SparseStore:
        u, i = compressed.extract(u, u.device.asarray([i], np.int64)), 0
    host, word = u.device.to_host, slice(i >> 6, (i >> 6) + 1)
    if not (int(host(u.present[word])[0]) >> (i & 63)) & 1:
        return None
    if u.iso:
        return u.values
    if u.dtype is BOOL:
        return np.bool_((int(host(u.values[word])[0]) >> (i & 63)) & 1)
    return u.dtype.np_type.type(host(u.values[i : i + 1])[0])


def put(w: VectorStore, written: dict[int, np.generic | None]) -> None:
    """w[i] = value for each item in place; None deletes the entry."""
    if type(w) is SparseStore:
        fresh = np.array(sorted(written), np.int64)
        at = w.device.xp.union1d(w.index, w.device.asarray(fresh))
        numbers = w.device.to_host(at).searchsorted(fresh).tolist()
        listed = {k: written[i] for k, i in zip(numbers, fresh.tolist(), strict=True)}
        compressed.on_list(w, at, lambda z: put(z, listed))
        return
    if not w.device.host_memory:
        _put_by_kernel(w, written)
        return
    if len(written) < tuning.count("put.single_entries"):
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


def _set_bits(w: VectorStore, bits: Array, at: np.ndarray, on: np.ndarray) -> None:
    """Set the bits of a bitset at `at` where `on`, clear the others. Words are computed on the host, each written
    once."""
    words, which = np.unique(at >> 6, return_inverse=True)
    masks = np.uint64(1) << (at & 63).astype(np.uint64)
    up, down = np.zeros(len(words), np.uint64), np.zeros(len(words), np.uint64)
    np.bitwise_or.at(up, which[on], masks[on])
    np.bitwise_or.at(down, which[~on], masks[~on])
    place, set_, cleared = (w.device.asarray(x) for x in (words, up, down))
    bits[place] = (bits[place] & ~cleared) | set_


def set_element(w: VectorStore, i: int, value: Number) -> None:
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


def _set_bit(bits: Array, i: int, on: bool) -> None:
    word, bit = slice(i >> 6, (i >> 6) + 1), np.uint64(1 << (i & 63))
    bits[word] = bits[word] | bit if on else bits[word] & ~bit


RANGE = Variant("kernels/range", (), (("LANES", 1),))


def normalized(device: Device, indices: Array, dim: int) -> Array | None:
    """INT64 indices on a GPU with negative ones counted from the end; None if one is not in -dim .. dim - 1."""
    flags = Readback(device, 8)
    device.kernel(RANGE)(len(indices), dim, indices, flags.part(np.uint32, 0, 2))
    negative, outside = flags.read(np.uint32, 0, 2)
    if outside:
        return None
    return device.xp.where(indices < 0, indices + dim, indices) if negative else indices


def region(w: VectorStore, indices: Array) -> Array:
    """The bitset of the positions in `indices`."""
    return scatter(w, indices, full_vector(w.device, len(indices), np.bool_(True), BOOL)).present


def scatter(w: VectorStore, indices: Array, u: VectorStore) -> VectorStore:
    """A vector of w's size with entry u(k) at indices(k); indices are distinct."""
    t = empty_vector(w.device, w.size, u.dtype)
    t.values = u.values if u.iso else dense_values(w.device, w.size, u.dtype)
    place(t, indices, u, unused_flags(w.device), clear=False)
    return t


def assign(
    w: VectorStore, indices: Array, u: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool
) -> None:
    """w<mask, accum, replace>(indices) = u in place, as GrB_assign: `replace` deletes all entries outside of the
    mask."""
    way = plan.assign_way(w, mask, accum)
    if type(w) is SparseStore:
        assert way is plan.LISTED
        at = w.device.xp.union1d(w.index, indices)
        m = None if mask is None else compressed.mask_at(mask, at, w.device, w.size)
        places = w.device.xp.searchsorted(at, indices)
        compressed.on_list(w, at, lambda z: assign(z, places, u, m, accum, replace))
        return
    if way is plan.PLACED:
        if w.count == 0 and u.iso:
            w.values = cast_scalar(u.values, w.dtype)
        if not (w.iso and u.iso and same_value(w.values, cast_scalar(u.values, w.dtype))):
            make_dense(w)
        place(w, indices, u, unused_flags(w.device), clear=w.count != 0)
        return
    inside = region(w, indices)
    if mask is not None:
        # The mask may be the bits of w itself, and is needed again after w has changed.
        mask = Mask(mask.bits.copy(), mask.complement)
        write_bits(w.device, w.size, inside, inside, mask)
    merge(w, scatter(w, indices, u), Mask(inside, False), accum, False)
    if replace and mask is not None:
        restrict(w, mask)


# ---- Equality of two vectors.


def equal(u: VectorStore, v: VectorStore) -> bool:
    """Whether two vectors of one type and size have the same entries with equal values."""
    device, n = u.device, words(u.size)
    if u.count is not None and v.count is not None and u.count != v.count:
        return False
    listed = u if type(u) is SparseStore else v
    if type(listed) is SparseStore:
        if u.nvals != v.nvals:
            return False
        at = listed.index
        return equal(compressed.compress(u, at), compressed.compress(v, at))
    differs = Readback(device, 4)
    operands = (u.present, *stored(device, u.dtype, u.values), v.present, *stored(device, v.dtype, v.values))
    kernel_of(device, "equal", u.dtype, LANES=64)(n, u.size, *operands, differs.part(np.uint32), bounds=word_bounds(u))
    return not differs.read(np.uint32)[0]


# ---- Vectors from lists of indices and values: GraphBLAS C API 2.1, section 4.2.4.7.


def build(
    device: Device,
    size: int,
    dtype: DataType,
    indices: Array,
    values: PlainValues,
    dup: Typed | None = None,
    *,
    distinct: bool = False,
) -> VectorStore:
    """Entries in any order; equal indices are combined from left to right by `dup`. distinct: the caller guarantees
    distinct indices below `size`.

    Raises IndexOutOfBound, ValueError (equal indices without dup; a single value needs none).
    """
    if is_sparse(device, len(indices), size):
        if len(indices) and not distinct and (int(indices.min()) < 0 or int(indices.max()) >= size):
            _raise_outside(indices, size)
        if bool((indices[1:] > indices[:-1]).all()):  # copies, which are not shared
            listed = value_arrays.cast(device, values.copy(), lookup_dtype(values.dtype), dtype)
            return SparseStore(device, size, dtype, indices.astype(np.int64), listed)
        at, places = device.xp.unique(indices.astype(np.int64, copy=False), return_inverse=True)
        return compressed.expand(_build_bitset(device, len(at), dtype, places, values, dup), at, size)
    return _build_bitset(device, size, dtype, indices, values, dup, distinct=distinct)


def _build_bitset(
    device: Device,
    size: int,
    dtype: DataType,
    indices: Array,
    values: PlainValues,
    dup: Typed | None = None,
    *,
    distinct: bool = False,
) -> VectorStore:
    """`build` of a vector that is stored as a bitset."""
    u, faults = value_arrays.as_vector(device, values, len(indices)), None if distinct else Readback(device, 8)
    flags = unused_flags(device) if faults is None else faults.part(np.uint32, 0, 2)
    monoid = None if dup is None else _unordered(dup)
    if monoid is not None:
        t = sum_by_index(u, indices, size, monoid, flags)
    else:
        t = empty_vector(device, size, dtype)
        t.values = cast(u, dtype).values if u.iso else dense_values(device, size, dtype)
        place(t, indices, u, flags, clear=False)
    twice, outside = (0, 0) if faults is None else faults.read(np.uint32, 0, 2)
    if outside:
        _raise_outside(indices, size)
    if monoid is not None:
        return cast(t, dtype)
    t.count = None if twice else len(indices)
    if isinstance(values, np.generic) or not twice:
        return t
    return _build_combined(device, size, dtype, indices, values, dup)


def _raise_outside(indices: Array, size: int) -> NoReturn:
    low, high = int(indices.min()), int(indices.max())
    raise IndexOutOfBound(f"indices: expected indices from 0 to {size - 1}, got {low if low < 0 else high}")


def _build_combined(
    device: Device, size: int, dtype: DataType, indices: Array, values: Array, dup: Typed | None
) -> VectorStore:
    """Combine the values of equal indices in their order. ValueError without an operator."""
    if dup is None:
        raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")
    xp = device.xp
    order = xp.argsort(indices, kind="stable")
    indices, values = indices[order], values[order]
    fresh = xp.ones(len(indices), bool)
    fresh[1:] = indices[1:] != indices[:-1]
    starts = xp.flatnonzero(fresh)
    sums = value_arrays.fold_segments(device, dup, values, dtype, xp.append(starts, len(indices)))
    return build(device, size, dtype, indices[starts], sums, distinct=True)


@functools.cache
def _sum_by_index(device: Device, u: DataType, monoid: Typed[Monoid]) -> tuple[Kernel, DataType]:
    variant, cell = sum_by_index_variant(u, monoid)
    return device.kernel(variant), cell


def sum_by_index(
    u: VectorStore, indices: Array, size: int, monoid: Typed[Monoid], flags: Array | np.generic
) -> VectorStore:
    """t(i) = the sum of the values of u (full) whose index is i, in any order."""
    device = u.device
    kernel, cell = _sum_by_index(device, u.dtype, monoid)
    t = empty_vector(device, size, cell)
    if device.is_simt:  # atomics combine with the initial values
        begin = cell.np_type.type(initial_sum(monoid.op, monoid.return_type))
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


def full(device: Device, values: Array, dtype: DataType) -> VectorStore:
    """A vector with an entry for each element of an array, which is copied."""
    u = value_arrays.as_vector(device, values, len(values), shared=False)
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
