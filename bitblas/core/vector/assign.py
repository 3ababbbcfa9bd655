"""`w << value` and `w[I] = value` for Vectors. GraphBLAS C API 2.1, sections 2.3.4 (mask, accumulator, replace) and
4.3.7 (assign).

All arguments are checked before anything is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType, cast_scalar, check_cast

from ... import operations
from ... import order as orders
from ...exceptions import DimensionMismatch, DomainMismatch
from ...formats.hyper.layout import within
from ...order import Order
from ...store import SparseStore, VectorStore, full_vector
from ...store import empty_sparse_vector as empty_vector
from ..convert import same_device, written_array
from ..statement.expressions import VectorExpression
from ..statement.indexing import Axis
from ..statement.infix import Delayed, Operand, describe
from ..statement.masks import Mask
from ..statement.orders import run_order
from ..statement.scalar_operands import assigned, of
from ..statement.symbolic import state as recording

if TYPE_CHECKING:
    from ...typing import Array
    from ..typing import Axes
    from .vector import Vector


def vector_mask(mask: Mask) -> operations.ewise_vector.Mask:
    """A mask for the operations, in the parent's order."""
    return operations.vector_entries.mask_of(mask.parent._stored, structural=mask.structure, complement=mask.complement)


def copied(u: VectorStore, dtype: DataType) -> VectorStore:
    """A new store, cast to dtype."""
    if u.dtype is dtype:
        return u.copy()
    check_cast(u.dtype, dtype)
    t = operations.ewise_vector.cast(u, dtype)
    if type(t) is not SparseStore and t.present is u.present:
        t.bits = t.present.copy()
    t.order = u.order
    return t


def update_vector(w: Vector, value: object, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """w(mask, accum, replace) << value."""
    if recording.threads and recording.recorder is not None:
        recording.recorder.vector_statement(w, value, mask, accum, replace)
        return
    store: VectorStore = w._stored
    order = None
    if orders.used:
        if isinstance(value, Delayed) and not value.ndim:
            value = value._resolve()  # before an order is chosen, because computing it may permute w or the mask
        order = run_order(w, value, mask, _keeps(store, mask, accum, replace))
        store = w._stored
    if mask is not None:
        known = mask.parent._stored
        if known.size != store.size or known.device is not store.device:
            mask.fits(w)
    t = value if type(value) is VectorExpression else _source(w, value, mask, accum, replace, order)
    if t is None:
        w._data.order = order
        return
    if isinstance(t, VectorExpression):
        if t.size != store.size:
            raise DimensionMismatch(f"w << x: expected a vector of size {store.size}, got {t.size}")
        if t.args[0].device is not store.device:
            same_device("w << x", w, t)
    if t.dtype is not store.dtype:
        check_cast(t.dtype, store.dtype)
    m = None if mask is None else vector_mask(mask)
    if not isinstance(t, VectorExpression):
        _commit(w, t, m, accum, replace, False)
    elif t.ends:
        keeps = store.count != 0 and (accum is not None or (m is not None and not replace))  # inlines `_keeps`
        result = t.run(operations.operands.make(operations.operands.Into, (store, m, accum, replace, keeps)))
        if result is not None and result is not store:
            w._adopt(result if result.dtype is store.dtype else operations.ewise_vector.cast(result, store.dtype))
    else:
        _commit(w, t.run(None), m, accum, replace, True)
    w._data.order = order


def _keeps(w: VectorStore, m: object, accum: Typed | None, replace: bool) -> bool:
    """Whether entries of w may stay; otherwise w becomes t, because w is known to be empty, or replaced."""
    return w.count != 0 and (accum is not None or (m is not None and not replace))


def _commit(
    w: Vector, t: VectorStore, m: operations.ewise_vector.Mask | None, accum: Typed | None, replace: bool, fresh: bool
) -> None:
    store: VectorStore = w._stored
    if t is store and accum is None:  # its own entries: those outside the mask are deleted, or nothing happens
        if m is not None and replace:
            operations.vector_entries.restrict(store, m)
        return
    if m is None and not _keeps(store, m, accum, replace):
        w._adopt(
            (t if t.dtype is store.dtype else operations.ewise_vector.cast(t, store.dtype))
            if fresh
            else copied(t, store.dtype)
        )
        return
    kept = m is not None and accum is None and not m.complement and SparseStore not in (type(store), type(t))
    if kept and m is not None and t.iso and store.bits is m.words is t.bits:
        store.values = t.values  # w(w.S) << x: one value for all its entries
        return
    operations.ewise_vector.merge(store, t.copy() if t is store else t, m, accum, replace)


def _source(
    w: Vector, value: object, mask: Mask | None, accum: Typed | None, replace: bool, order: Order | None
) -> VectorExpression | VectorStore | None:
    """The right side as a VectorExpression or a VectorStore; None if the statement is already complete."""
    if isinstance(value, Delayed) and value.ndim == 1:
        expr: Any = value._to_expr()
        if expr._value is None:
            return expr
        value = expr._value
    if isinstance(value, Operand) and value.ndim:
        if value.ndim != 1:
            raise TypeError(f"w << x: expected a Vector, a delayed one, or a scalar, got {describe(value)}")
        u = value._resolve()
        if u.size != w.size:
            raise DimensionMismatch(f"w << x: expected a vector of size {w.size}, got {u.size}")
        same_device("w << x", w, u)
        return u._in(order)
    if isinstance(value, Delayed):
        value = value._resolve()  # a scalar for all positions: not a result of the same kind
    found, dtype = assigned(value, w.dtype, "w << x", "a Vector, a delayed one, or a scalar")
    m = None if mask is None else vector_mask(mask)
    _commit(w, fill(w._stored, found, dtype, m, accum), m, accum, replace, True)
    return None


def fill(
    w: VectorStore,
    value: np.generic | None,
    dtype: DataType,
    m: operations.ewise_vector.Mask | None,
    accum: Typed | None,
) -> VectorStore:
    """A scalar at all positions of w; only at the entries of a mask if those are listed, to save the full bitset."""
    if value is None:
        return empty_vector(w.device, w.size, w.dtype)
    if accum is None:
        value, dtype = cast_scalar(value, w.dtype), w.dtype
    if m is not None and not m.complement:
        if type(m.words) is SparseStore:
            return m.words.with_value(dtype, value)
        return VectorStore(w.device, w.size, dtype, m.bits, value)
    return full_vector(w.device, w.size, value, dtype)


def assign_vector(
    w: Vector, axes: Axes, value: object, mask: Mask | None, accum: Typed | None, replace: bool, region: bool
) -> None:
    """w(mask, accum, replace)[I] << value, or with `region` w[I](mask, accum, replace) << value."""
    (index,) = axes
    if recording.threads and recording.recorder is not None:
        recording.recorder.assigned(w, index, value, mask, accum)
        return
    if index.size is None and mask is None and accum is None:
        found, _ = assigned(value, w.dtype, "v[i] = x")
        w._put(index.at, None if found is None else cast_scalar(found, w.dtype))
        return
    size = 1 if index.size is None else index.size
    if mask is not None and not region:
        mask.fits(w)
    t = _values(w, value, size, accum, index.size is None)
    store: VectorStore = w._store  # only now, because computing the right side may permute its vectors
    if mask is not None:
        mask.parent._in(None)
    if region and mask is not None:
        if index.region and type(store) is SparseStore:
            part = operations.compressed.extract_range(store, index.region)
        else:
            part = operations.compressed.extract(store, index.array(store.device))
        if mask.parent.size != size:
            raise DimensionMismatch(f"mask: expected size {size}, that of the region, got {mask.parent.size}")
        same_device("mask", w, mask.parent)
        operations.ewise_vector.merge(part, t, vector_mask(mask), accum, replace)
        t, mask, accum, replace = part, None, None, False
    if index.at is None:
        _commit(w, t, None if mask is None else vector_mask(mask), accum, replace, True)
        return
    positions, t = _places(store, index, t)
    operations.vector_entries.assign(store, positions, t, None if mask is None else vector_mask(mask), accum, replace)


def _places(w: VectorStore, index: Axis, t: VectorStore) -> tuple[Array, VectorStore]:
    """The positions of a region and the values assigned to them; for a long range only positions where either has an
    entry."""
    if type(w) is SparseStore and type(t) is SparseStore and (region := index.region):
        ranks = w.device.xp.union1d(within(w.index, region)[0], t.index)
        return region.start + region.step * ranks, operations.compressed.compress(t, ranks)
    return index.array(w.device), t


def _values(w: Vector, value: object, size: int, accum: Typed | None, single: bool) -> VectorStore:
    """The right side of an assignment as a store of `size` that is not written by others."""
    store: VectorStore = w._store
    if isinstance(value, Operand) and value.ndim:
        if value.ndim != 1:
            raise TypeError(f"v[I] = x: expected a Vector, a list or a scalar, got {describe(value)}")
        if single:
            raise TypeError("v[i] = x: expected a scalar for one element, got a Vector")
        u = value._resolve()
        if u.size != size:
            raise DimensionMismatch(f"v[I] = x: expected a vector of size {size}, got {u.size}")
        same_device("v[I] = x", w, u)
        check_cast(u.dtype, w.dtype)
        return u._store.copy()
    try:
        found, dtype = of(value, store.dtype, not single)
    except DomainMismatch:
        raise
    except TypeError:
        if single or not hasattr(value, "__len__") or isinstance(value, (str, bytes, dict)):
            raise TypeError(f"v[I] = x: expected a Vector, a list or a scalar, got {describe(value)}") from None
        array, dtype = written_array(store.device, value, store.dtype)
        if array.ndim != 1 or len(array) != size:
            raise ValueError(f"v[I] = x: expected {size} values, got an array of shape {array.shape}") from None
        return operations.vector_entries.full(store.device, array, dtype)
    if found is None:
        return empty_vector(store.device, size, store.dtype)
    if accum is None:
        found, dtype = cast_scalar(found, store.dtype), store.dtype
    return full_vector(store.device, size, found, dtype)
