"""Shared by the constructors of Matrix and Vector, and by the methods that return their arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import dtypes
from semirings.dtypes import DataType, cast_scalar, check_cast

from .. import operations, tuning
from ..device import Device
from .convert import array_of, value_array
from .operators import joining, typed
from .statement.scalar_operands import of, operand

if TYPE_CHECKING:
    from semirings import Typed

    from .matrix.matrix import Matrix
    from .typing import Array, ArrayOrValue, DTypeArg, OperandArg, OperandLike, OperatorArg, ValuesLike
    from .vector import Vector


def duplicates(dup_op: OperatorArg, values: object, dtype: DataType, device: Device) -> Typed | None:
    """The typed operator that combines duplicates on a device, None if there is none."""
    if dup_op is None:
        return None
    if isinstance(values, np.generic):
        raise ValueError(
            "dup_op must be None if values is a scalar so that all values can be identical.  "
            "Duplicate indices will be ignored."
        )
    op = joining(typed(dup_op, "binary", dtype), "dup_op")
    operations.udf.check_device(op, device)
    return op


def check_lengths(values: ArrayOrValue, *indices: Array) -> None:
    lengths = {len(i) for i in indices} | (set() if isinstance(values, np.generic) else {len(values)})
    if len(lengths) > 1 or (not isinstance(values, np.generic) and values.ndim != 1):
        shape = () if isinstance(values, np.generic) else values.shape
        raise ValueError(f"indices and values: lengths must match: {[len(i) for i in indices]} and {shape}")


def alike(device: Device, array: ArrayOrValue, dup: Typed | None) -> ArrayOrValue:
    """The single value of an array whose elements are bitwise equal, as SuiteSparse detects it; else the array. It is
    compared if it is in host memory or short, and there is no `dup`."""
    if dup is not None or isinstance(array, np.generic):
        return array
    if not device.host_memory and len(array) > tuning.count("build.single_writes"):
        return array
    if not len(array) or array.dtype.kind not in "biufc":
        return array
    host = device.to_host(array)
    first, last = host[0], host[-1]
    if first != last and (first == first or last == last):  # most arrays; two NaN may be bitwise equal
        return array
    raw = host.view(f"u{min(8, array.itemsize)}").reshape(len(array), -1)
    return array if (raw != raw[0]).any() else first


def check_distinct(nvals: int, entries: int) -> None:
    """ValueError if there were duplicates and no operator to combine them."""
    if nvals != entries:
        raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")


def one_value(value: OperandLike, dtype: DTypeArg) -> tuple[np.generic, DataType]:
    """The argument of `from_scalar`, as a value of `dtype` or of its own type."""
    want = None if dtype is None else dtypes.lookup_dtype(dtype)
    # 300 does not fit INT8: as in `from_coo`
    if want is not None and type(value) in (int, float) and want.kind in "iu":
        value = array_of(value, want)[()]
    found, kind = of(value, want)
    if found is None:
        raise ValueError("value: expected a scalar, got an empty Scalar")
    kind = kind if want is None else want
    return cast_scalar(found, kind), kind


def dense_values(d: Device, values: ValuesLike, dtype: DTypeArg, kind: Any) -> tuple[Array, DataType]:
    """The argument of `from_dense` of that class, with as many dimensions as it has."""
    array, found = value_array(d, values, dtype)
    if isinstance(array, np.generic):
        raise TypeError(f"values: expected an array, got a scalar; use {kind.__name__}.from_scalar")
    if array.ndim != kind.ndim:
        expected = "one dimension" if kind.ndim == 1 else "two dimensions"
        raise ValueError(f"values: expected {expected}, got {array.ndim}")
    return array, found


def fill_of(fill_value: OperandArg, dtype: DTypeArg, stored_type: DataType, full: bool) -> tuple[np.generic, DataType]:
    """The fill value of `to_dense`, and the type of its array: `dtype`, or one that holds both. full: there is an entry
    everywhere."""
    if fill_value is None:
        if not full:
            raise TypeError("fill_value must be given in `to_dense` when there are missing values")
        fill_value = False
    if type(fill_value) is int and not stored_type._is_udt:
        into = stored_type if dtype is None else dtypes.lookup_dtype(dtype)
        found, of_fill = (
            of(fill_value, into) if full or dtype is not None else operand(fill_value, "fill_value", stored_type)
        )
    else:
        found, of_fill = of(fill_value, stored_type if stored_type._is_udt else None)
    if found is None:
        raise TypeError("fill_value: expected a value, got an empty Scalar")
    if dtype is not None:
        kind = dtypes.lookup_dtype(dtype)
        check_cast(stored_type, kind)
    else:
        kind = stored_type if full else dtypes.unify(stored_type, of_fill)
    return cast_scalar(found, kind), kind


def restored(kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Vector | Matrix:
    """Called by pickle and copy: construct the object on its device."""
    order, stays_packed = kwargs.pop("order", None), kwargs.pop("stays_packed", False)
    result = kind.from_coo(*args, **kwargs)
    if stays_packed:
        result._data = operations.convert.with_values(result._data, True)
    return result if order is None else result.reorder(order, name=kwargs["name"])
