"""`C << value` and `C[I, J] = value` for Matrices. GraphBLAS C API 2.1, sections 2.3.4 and 4.3.7.

All arguments are checked before anything is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType, cast_scalar, check_cast

from ... import operations, plan
from ... import order as orders
from ...exceptions import DimensionMismatch
from ...store import FlatStore, MatrixStore, empty_vector, full_vector
from ..convert import same_device, written_array
from ..statement.expressions import MatrixExpression
from ..statement.indexing import Axis
from ..statement.infix import Delayed, Operand, describe, is_tensor
from ..statement.masks import Mask, matrix_mask
from ..statement.orders import common
from ..statement.scalar_operands import assigned, several
from ..statement.symbolic import state as recording

if TYPE_CHECKING:
    from ...store import VectorStore
    from ..typing import Axes, Operands, Places
    from .matrix import Matrix
    from .views import MatrixRead


def update_matrix(C: Matrix, value: object, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """C(mask, accum, replace) << value."""
    if recording.threads and recording.recorder is not None:
        recording.recorder.matrix_statement(C, value, mask, accum, replace)
        return
    store: MatrixStore = C._stored
    if mask is not None:
        mask.fits(C)
    x = value if type(value) is MatrixExpression and value._value is None else _source(C, value)
    if not isinstance(x, tuple):
        if x.nrows != store.nrows or x.ncols != store.ncols:
            raise DimensionMismatch(f"C << x: expected a matrix of shape {C.shape}, got {x.shape}")
        if (x.args[0] if isinstance(x, MatrixExpression) else x).device is not store.device:
            same_device("C << x", C, x)
        if x.dtype is not store.dtype:
            check_cast(x.dtype, store.dtype)
    kept = accum is not None or (mask is not None and not replace)
    if kept:  # None: not counted yet
        kept = (store.flat.count if isinstance(store, FlatStore) else store.structure.nvals) != 0
    order = common([*_along(x), *_parents(mask), *([C] if kept else [])]) if orders.used else None
    m = None if mask is None else matrix_mask(mask, order)
    restricted = isinstance(x, MatrixExpression) and x.masked
    if isinstance(x, MatrixExpression):
        t = x.computed(m if restricted else None, order)
    elif isinstance(x, tuple):
        t = _fill(store, *x, m)
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
    order = common([*_along(expr), *_parents(mask)])
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


def _source(C: Matrix, value: object) -> MatrixExpression | MatrixRead | tuple[np.generic | None, DataType]:
    """A MatrixExpression, a Matrix, or a scalar with its type."""
    if isinstance(value, Delayed) and value.ndim == 2:
        expr: Any = value._to_expr()
        return expr if expr._value is None else expr._value
    if isinstance(value, Operand) and value.ndim:
        if value.ndim != 2:
            raise TypeError(f"C << x: expected a Matrix, a delayed one, or a scalar, got {describe(value)}")
        return value._resolve()
    if isinstance(value, Delayed):
        value = value._resolve()  # a scalar for all positions: not a result of the same kind
    return assigned(value, C.dtype, "C << x", "a Matrix, a delayed one, or a scalar")


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
        t = _values(C, value, axes, flat=True)
        C._adopt(operations.multivector.assigned(store, I, J, t, m, accum, replace, whole))
        return
    whole_row = rows.size is None and cols.at is None and mask is None and accum is None
    if whole_row and is_tensor(value) and not store.structure.renumbers and not store.structure.rows().format.packed:
        C._adopt(operations.assign_extract.assign_row(store, rows.at, _right_side(C, value, axes)))
        return
    if within is None:
        if mask is not None:
            mask.fits(C)
        t = _values(C, value, axes)
        m = None if mask is None else matrix_mask(mask)
        C._adopt(operations.assign_extract.assign(store, *_positions(store, axes), t, m, accum, replace))
        return
    # The mask covers a part of C: the region, or a whole row or column. The statement runs on that part.
    area = axes if region else _whole_line(axes)
    m, t = _area_mask(C, within, area), _values(C, value, axes)
    at = _positions(store, area)
    part = operations.assign_extract.extract(store, *at)
    # The part is a single row or column.
    places = (None, None) if region else _positions(part, axes)
    here = tuple(None if a.size is None else p for a, p in zip(axes, places))
    part = operations.assign_extract.assign(part, here[0], here[1], t, m, accum, replace)
    C._adopt(operations.assign_extract.assign(store, *at, part, None, None, False))


def _positions(C: MatrixStore, axes: Axes) -> tuple[Places, Places]:
    rows, cols = (a.places(C.device, C.structure.renumbers) for a in axes)
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
    from ...operations import compressed

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


def _values(C: Matrix, value: object, axes: Axes, *, flat: bool = False) -> Any:
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
