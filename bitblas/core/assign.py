"""`w << value`, `w[I] = value`, `C << value` and `C[I, J] = value`. GraphBLAS C API 2.1, sections 2.3.4 (mask,
accumulator, replace) and 4.3.7 (assign).

All arguments are checked before anything is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType, cast_scalar, check_cast

from .. import operations, plan
from .. import order as orders
from ..exceptions import DimensionMismatch, DomainMismatch
from ..formats.hyper.layout import within
from ..store import FlatStore, MatrixStore, SparseStore, VectorStore, empty_sparse_vector, empty_vector, full_vector
from .convert import same_device, written_array
from .hooks import state as recording
from .statement.expressions import MatrixExpression, VectorExpression
from .statement.indexing import Axis
from .statement.infix import NAMES, Delayed, Operand, describe, is_tensor
from .statement.masks import Mask, common, matrix_mask, run_order
from .statement.scalar_operands import assigned, of, several

if TYPE_CHECKING:
    from ..store import VectorStore
    from ..typing import Array
    from .matrix.matrix import Matrix
    from .typing import Axes, Operands, Places
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
    t: Any = value
    delayed = type(value) is VectorExpression
    if not delayed:
        t = _source(w, value, "w << x")
        if isinstance(t, tuple):
            m, (one, dtype) = None if mask is None else vector_mask(mask), t
            _commit(w, fill(store, one, dtype, m, accum), m, accum, replace, True)
            w._data.order = order
            return
        delayed = isinstance(t, VectorExpression)
    if t.size != store.size:
        raise DimensionMismatch(f"w << x: expected a vector of size {store.size}, got {t.size}")
    if (t.args[0] if delayed else t).device is not store.device:
        same_device("w << x", w, t)
    content = None if delayed else t._in(order)
    if t.dtype is not store.dtype:
        check_cast(t.dtype, store.dtype)
    m = None if mask is None else vector_mask(mask)
    if content is not None:
        _commit(w, content, m, accum, replace, False)
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


def _source(out: Vector | Matrix, value: object, where: str) -> Any:
    """The right side of out << value: an expression of its rank that is not computed yet, an object of its rank, or a
    scalar with its type."""
    ndim = out.ndim
    if isinstance(value, Delayed) and value.ndim == ndim:
        expr: Any = value._to_expr()
        return expr if expr._value is None else expr._value
    if isinstance(value, Operand) and value.ndim:
        if value.ndim != ndim:
            raise TypeError(f"{where}: expected a {NAMES[ndim]}, a delayed one, or a scalar, got {describe(value)}")
        return value._resolve()
    if isinstance(value, Delayed):
        value = value._resolve()  # a scalar for all positions: not a result of the same kind
    return assigned(value, out.dtype, where, f"a {NAMES[ndim]}, a delayed one, or a scalar")


def fill(
    w: VectorStore,
    value: np.generic | None,
    dtype: DataType,
    m: operations.ewise_vector.Mask | None,
    accum: Typed | None,
) -> VectorStore:
    """A scalar at all positions of w; only at the entries of a mask if those are listed, to save the full bitset."""
    if value is None:
        return empty_sparse_vector(w.device, w.size, w.dtype)
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
    t = _vector_values(w, value, size, accum, index.size is None)
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
    positions, t = _region(store, index, t)
    operations.vector_entries.assign(store, positions, t, None if mask is None else vector_mask(mask), accum, replace)


def _region(w: VectorStore, index: Axis, t: VectorStore) -> tuple[Array, VectorStore]:
    """The positions of a region and the values assigned to them; for a long range only positions where either has an
    entry."""
    if type(w) is SparseStore and type(t) is SparseStore and (region := index.region):
        ranks = w.device.xp.union1d(within(w.index, region)[0], t.index)
        return region.start + region.step * ranks, operations.compressed.compress(t, ranks)
    return index.array(w.device), t


def _vector_values(w: Vector, value: object, size: int, accum: Typed | None, single: bool) -> VectorStore:
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
        return empty_sparse_vector(store.device, size, store.dtype)
    if accum is None:
        found, dtype = cast_scalar(found, store.dtype), store.dtype
    return full_vector(store.device, size, found, dtype)


# ---- Matrices.


def update_matrix(C: Matrix, value: object, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """C(mask, accum, replace) << value."""
    if recording.threads and recording.recorder is not None:
        recording.recorder.matrix_statement(C, value, mask, accum, replace)
        return
    store: MatrixStore = C._stored
    if mask is not None:
        mask.fits(C)
    x: Any = value
    delayed, scalar = type(value) is MatrixExpression and value._value is None, False
    if not delayed:
        x = _source(C, value, "C << x")
        delayed, scalar = isinstance(x, MatrixExpression), isinstance(x, tuple)
    if not scalar:
        if x.nrows != store.nrows or x.ncols != store.ncols:
            raise DimensionMismatch(f"C << x: expected a matrix of shape {C.shape}, got {x.shape}")
        if (x.args[0] if delayed else x).device is not store.device:
            same_device("C << x", C, x)
        if x.dtype is not store.dtype:
            check_cast(x.dtype, store.dtype)
    kept = accum is not None or (mask is not None and not replace)
    if kept:  # None: not counted yet
        kept = (store.flat.count if isinstance(store, FlatStore) else store.structure.nvals) != 0
    order = common([*_along(x), *_parents(mask), *([C] if kept else [])]) if orders.used else None
    m = None if mask is None else matrix_mask(mask, order)
    restricted = delayed and x.masked
    if delayed:
        t = x.computed(m if restricted else None, order)
    elif scalar:
        t = _fill(store, x[0], x[1], m)
    else:
        t = x._at(order)
    # If nothing of C is kept (it is empty, or replaced), C becomes t.
    if (m is None or restricted) and not kept:
        t = t if t.dtype is store.dtype else operations.ewise_matrix.cast(t, store.dtype)
    else:
        t = operations.ewise_matrix.merge(C._at(order) if kept else store, t, m, accum, replace, inside=True)
    C._adopt(t if t.order is order else t.tagged(order))


def compute(expr: MatrixExpression, dtype: DataType, mask: Mask | None) -> MatrixStore:
    """The result of an expression under a mask that it applies itself, of type dtype."""
    if mask is not None:
        mask.fits(expr)
    check_cast(expr.dtype, dtype)
    order = common([*_along(expr), *_parents(mask)]) if orders.used else None
    return operations.ewise_matrix.cast(
        expr.computed(None if mask is None else matrix_mask(mask, order), order), dtype
    ).tagged(order)


def _along(value: object) -> Operands:
    """The matrices in whose order `value` may run; empty if it can only run in the user's order."""
    if isinstance(value, MatrixExpression):
        return (value,) if value.along is None else value.along
    return (value,) if isinstance(value, Operand) else ()


def _parents(mask: Mask | None) -> Operands:
    return () if mask is None else (mask.parent,)


def _fill(
    C: MatrixStore, value: np.generic | None, dtype: DataType, m: operations.spgemm.MatrixMask | None
) -> MatrixStore:
    if value is None:
        return operations.ewise_matrix.empty(C.device, C.nrows, C.ncols, C.dtype)
    if plan.operation.is_flat(C) and not dtype._is_udt:
        return operations.multivector.filled(C, value, dtype, m)
    if m is not None and not m.complement:
        return operations.ewise_matrix.mask_of(m.structure, value, dtype)
    if m is not None:
        return operations.assign_extract.outside(m.structure, value, dtype)
    return operations.assign_extract.full(C.device, C.nrows, C.ncols, value, dtype)


def assign_matrix(
    C: Matrix, axes: Axes, value: object, mask: Mask | None, accum: Typed | None, replace: bool, region: bool
) -> None:
    """C(mask, accum, replace)[I, J] << value, or with `region` C[I, J](mask, accum, replace) << value."""
    if recording.threads and recording.recorder is not None:
        recording.recorder.refuse(f"{C.name}[..] << {getattr(value, 'name', value)}: assignment by index to a Matrix")
    rows, cols = axes
    if rows.size is None and cols.size is None and mask is None and accum is None:
        found, _ = assigned(value, C.dtype, "C[i, j] = x")
        C._put(rows.at, cols.at, None if found is None else cast_scalar(found, C.dtype))
        return
    if rows.at is None and cols.at is None and not region:
        update_matrix(C, _square(C, value), mask, accum, replace)
        return
    store: MatrixStore = C._store
    within = None if mask is None or (mask.ndim == 2 and not region) else mask
    if plan.operation.is_flat(store) and plan.operation.merges_bitmap(store, accum):
        whole, m = None, None
        if within is not None:
            area = axes if region else _whole_line(axes)
            whole = area[0].places(C.device, False), area[1].places(C.device, False)
            m = _area_mask(C, within, area)
        elif mask is not None:
            mask.fits(C)
            m = matrix_mask(mask)
        I, J = (a.places(C.device, False) for a in axes)
        t = _matrix_values(C, value, axes, flat=True)
        C._adopt(operations.multivector.assigned(store, I, J, t, m, accum, replace, whole))
        return
    whole_row = rows.size is None and cols.at is None and mask is None and accum is None
    if whole_row and is_tensor(value) and not store.structure.hypersparse and not store.structure.rows().format.packed:
        C._adopt(operations.assign_extract.assign_row(store, rows.at, _right_side(C, value, axes)))
        return
    if within is None:
        if mask is not None:
            mask.fits(C)
        t = _matrix_values(C, value, axes)
        m = None if mask is None else matrix_mask(mask)
        C._adopt(operations.assign_extract.assign(store, *_positions(store, axes), t, m, accum, replace))
        return
    # The mask covers a part of C: the region, or a whole row or column. The statement runs on that part.
    area = axes if region else _whole_line(axes)
    m, t = _area_mask(C, within, area), _matrix_values(C, value, axes)
    at = _positions(store, area)
    part = operations.assign_extract.extract(store, *at)
    # The part is a single row or column.
    places = (None, None) if region else _positions(part, axes)
    here = tuple(None if a.size is None else p for a, p in zip(axes, places))
    part = operations.assign_extract.assign(part, here[0], here[1], t, m, accum, replace)
    C._adopt(operations.assign_extract.assign(store, *at, part, None, None, False))


def _positions(C: MatrixStore, axes: Axes) -> tuple[Places, Places]:
    rows, cols = (a.places(C.device, C.structure.hypersparse) for a in axes)
    return rows, cols


def _whole_line(axes: Axes) -> Axes:
    """The whole row or column that C(mask)[i, J] or C(mask)[I, j] writes to, because a Vector mask spans all of it."""
    if sum(a.size is None for a in axes) != 1:
        raise TypeError(
            "mask: expected the mask of a Matrix, got that of a Vector, which masks one row or column: C(m)[i, :]"
        )
    return tuple(a if a.size is None else Axis(a.dim, None, a.dim) for a in axes)


def _square(C: Matrix, value: Any) -> object:
    """C[:, :] = [[...]]: an array of C's shape."""
    if isinstance(value, Operand) or np.ndim(value) != 2:
        return value
    if C.dtype._is_udt:
        return type(C).from_dense(value, device=C.device)
    array, dtype = written_array(C.device, value, C.dtype)
    return type(C).from_dense(array, dtype=dtype, device=C.device)


def _area_mask(C: Matrix, mask: Mask, axes: Axes) -> operations.spgemm.MatrixMask:
    same_device("mask", C, mask.parent)
    expected = tuple(a.size for a in axes if a.size is not None)
    if mask.parent.shape != expected:
        raise DimensionMismatch(f"mask: expected shape {expected}, that of the part, got {mask.parent.shape}")
    if mask.parent.ndim == 2:
        return matrix_mask(mask)
    t = _line(mask.parent._store, axes)
    return operations.spgemm.MatrixMask(
        t.structure if mask.structure else operations.ewise_matrix.truthy(t), mask.complement
    )


def _line(u: VectorStore, axes: Axes) -> MatrixStore:
    """A vector as one row, or as one column."""
    from ..operations import compressed

    i, x = compressed.entries(u)
    nrows, ncols = (1, u.size) if axes[0].size is None else (u.size, 1)
    return operations.build.from_sorted_keys(u.device, nrows, ncols, i, u.values if u.iso else x, u.dtype)


def _right_side(C: Matrix, value: Operand, axes: Axes) -> Any:
    """The store of the Vector or Matrix that is assigned to the region of these indices."""
    expected = tuple([a.size for a in axes if a.size is not None])
    if value.ndim != len(expected):
        expected_kind = ("scalar", "Vector", "Matrix")[len(expected)]
        raise TypeError(f"C[I, J] = x: expected a {expected_kind} or a scalar, got {describe(value)}")
    x = value._resolve()
    same_device("C[I, J] = x", C, x)
    check_cast(x.dtype, C.dtype)
    if x.shape != expected:
        raise DimensionMismatch(f"C[I, J] = x: expected shape {expected}, got {x.shape}")
    return x._store


def _matrix_values(C: Matrix, value: object, axes: Axes, *, flat: bool = False) -> Any:
    """The right side of an assignment to the region of these indices: a MatrixStore. flat: or a VectorStore, with the
    values of the region row by row."""
    device = C.device
    shape = tuple(1 if a.size is None else a.size for a in axes)
    free_axes = sum(a.size is not None for a in axes)
    user_type = C.dtype if C.dtype._is_udt else None
    listed = isinstance(value, (list, tuple)) or bool(getattr(value, "ndim", False))
    if not isinstance(value, Operand) and (
        listed if user_type is None else free_axes > 0 and several(value, user_type)
    ):
        array, dtype = written_array(device, value, C.dtype)
        expected = tuple(a.size for a in axes if a.size is not None)
        if array.shape != expected:
            raise ValueError(f"C[I, J] = x: expected values of shape {expected}, got {array.shape}")
        if flat:
            return operations.vector_entries.full(device, array.reshape(-1), dtype)
        keys = device.xp.arange(array.size, dtype=np.int64)
        return operations.build.from_sorted_keys(device, shape[0], shape[1], keys, array.reshape(-1), dtype)
    if is_tensor(value):
        x = _right_side(C, value, axes)
        return _line(x, axes) if free_axes == 1 and not flat else x
    found, dtype = assigned(value, C.dtype, "C[I, J] = x", "a Matrix, Vector, array or scalar")
    if flat:
        size = shape[0] * shape[1]
        return empty_vector(device, size, C.dtype) if found is None else full_vector(device, size, found, dtype)
    if found is None:
        return operations.ewise_matrix.empty(device, shape[0], shape[1], C.dtype)
    return operations.assign_extract.full(device, shape[0], shape[1], found, dtype)
