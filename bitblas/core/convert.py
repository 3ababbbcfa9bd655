"""Convert user input to arrays and NumPy scalars of known type and device."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import dtypes
from semirings.dtypes import DataType
from semirings.user_types import UserType

from .. import device as devices
from ..config import config
from ..device import Device
from ..exceptions import DeviceError, IndexOutOfBound, InvalidValue
from ..formats import Structure
from .exact import NotNumbers, array_of, contents, exceeds, integer_written, is_text

_NUMBERS = "biufc"  # kinds of NumPy's types


def device_of(device: str | Device | None) -> Device:
    return devices.get(config.device if device is None else device)


def same_device(what: str, *objects: Any) -> None:
    """DeviceError unless all are on one device."""
    first = objects[0].device
    for other in objects[1:]:
        if other.device is not first:
            raise DeviceError(
                f"{what}: expected operands on one device, got {first.name!r} and {other.device.name!r}; "
                "move one with .to(device)"
            )


def check_size(name: str, value: Any) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        size = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{name}: expected a non-negative integer, got {value!r}") from None
    if not 0 <= size <= 1 << 60:
        raise InvalidValue(f"{name}: expected a size from 0 to 2**60, got {size}")
    return size


def scalar_value(value: Any) -> np.generic:
    """A Python or NumPy scalar as a NumPy scalar of a GraphBLAS type: bool, int (INT64, or UINT64 from 2**63 on), float
    (FP64), complex (FC64).

    Raises TypeError for anything else, OverflowError for an int beyond UINT64.
    """
    kind = type(value)
    if kind is bool:
        return np.bool_(value)
    if kind is int:
        try:
            return np.int64(value)
        except OverflowError:
            return integer_written(value, None, "value")[0]
    if kind is float:
        return np.float64(value)
    if kind is complex:
        return np.complex128(value)
    if not isinstance(value, np.generic):
        if getattr(value, "ndim", None) != 0 or not hasattr(value, "dtype") or not hasattr(value, "item"):
            raise TypeError(f"value: expected a scalar, got {kind.__module__}.{kind.__qualname__}")
        value = value.dtype.type(value.item())
    dtypes.lookup_dtype(value.dtype)
    return value


def scalar_type(value: np.generic) -> DataType:
    return dtypes.lookup_dtype(value.dtype)


def index_array(device: Device, data: Any, name: str, *, narrow: bool = False) -> Any:
    """Indices as an INT64 array of the device; narrow: INT32 ones stay. ValueError for floats and for more than one
    dimension, IndexOutOfBound for numbers beyond 2**63."""
    data = device.adopt(data, name)
    if not isinstance(data, (np.ndarray, device.xp.ndarray)):
        typed = hasattr(data, "dtype")
        data = data if typed or hasattr(data, "__len__") else list(data)
        try:
            data = array_of(data)
        except OverflowError:
            beyond = max(map(int, np.array(data, object).ravel()), key=abs)
            raise IndexOutOfBound(f"{name}: expected indices below 2**63, got {beyond}") from None
        if data.size == 0 and not typed:
            data = data.astype(np.int64)
    if data.dtype.kind not in "iu":
        hint = "; numpy.unique(names, return_inverse=True) numbers names" if is_text(data) else ""
        raise ValueError(f"{name}: expected integers, got {contents(data)}{hint}")
    if data.ndim != 1:
        raise ValueError(f"{name}: expected one dimension, got {data.ndim}")
    if data.dtype == np.uint64 and data.size:
        if int(data.max()) >= 1 << 63:
            raise IndexOutOfBound(f"{name}: expected indices below 2**63, got {int(data.max())}")
        data = data.view(np.int64)  # the same bits
    return device.asarray(data, data.dtype if narrow and data.dtype == np.int32 else np.int64)


def check_range(indices: Any, size: int, name: str) -> None:
    """IndexOutOfBound unless 0 <= indices < size."""
    if not len(indices):
        return
    # As unsigned integers negative ones are large, so one pass checks both bounds.
    unsigned = indices.view(np.uint64 if indices.itemsize == 8 else np.uint32)
    if int(unsigned.max()) >= min(size, 1 << (8 * indices.itemsize - 1)):
        low, high = int(indices.min()), int(indices.max())
        raise IndexOutOfBound(f"{name}: expected indices from 0 to {size - 1}, got {low if low < 0 else high}")


def alike(device: Device, array: Any, dup: Any) -> Any:
    """The single value of an array whose elements are bitwise equal, as SuiteSparse detects it; else the array. It is
    compared up to the first difference, if it is in host memory and there is no `dup`."""
    if not device.host_memory or dup is not None or isinstance(array, np.generic):
        return array
    if not len(array) or array.dtype.kind not in "biufc":
        return array
    first, last = array[0], array[-1]
    if first != last and (first == first or last == last):  # most arrays; two NaN may be bitwise equal
        return array
    raw = array.view(f"u{min(8, array.itemsize)}").reshape(len(array), -1)
    begin, step = 0, 64
    while begin < len(raw):
        if (raw[begin : begin + step] != raw[0]).any():
            return array
        begin, step = begin + step, 4 * step
    return first


def check_distinct(nvals: int, given: int) -> None:
    """ValueError if there were duplicates and no operator to combine them."""
    if nvals != given:
        raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")


def value_array(device: Device, data: Any, dtype: Any) -> tuple[Any, DataType]:
    """Values as an array of the device, or as a NumPy scalar if they are one; and their type.

    Python numbers that do not fit `dtype` raise OverflowError, as in NumPy. Integers in lists never become floats
    unless `dtype` is a float type, or another element is a float: without `dtype` they are INT64, or UINT64 from 2**63
    on. Arrays with a type are cast to `dtype` as C does.
    """
    want = None if dtype is None else dtypes.lookup_dtype(dtype)
    if want is None and getattr(getattr(data, "dtype", None), "kind", "") == "V":
        want = dtypes.lookup_dtype(data.dtype)
    if isinstance(want, UserType):
        return _own_values(device, data, want), want
    if hasattr(data, "value") and getattr(data, "ndim", None) == 0 and hasattr(data, "is_empty"):
        data = data.value
    data = device.adopt(data, "values")
    if isinstance(data, device.xp.ndarray) and not isinstance(data, np.ndarray):
        array = data if want is None else data.astype(want.np_type, copy=False)
    else:
        typed = hasattr(data, "dtype")
        array = np.asarray(data) if typed else array_of(data, want)
        if typed and array.dtype.kind == "O":
            array = array_of(array, want)
        elif typed and want is not None and array.dtype != want.np_type and not is_text(array):
            with np.errstate(all="ignore"):
                try:
                    array = array.astype(want.np_type)
                except (ValueError, TypeError):
                    raise NotNumbers(f"values: expected numbers, got {contents(array)}") from None
    if array.dtype.kind not in _NUMBERS:
        raise NotNumbers(f"values: expected numbers, got {contents(array)}")
    found = dtypes.lookup_dtype(array.dtype)
    if array.ndim == 0:
        return array.dtype.type(array.item()), found
    return device.asarray(array, found.np_type), found


def written_array(device: Device, data: Any, to: DataType) -> tuple[Any, DataType]:
    """Values that are assigned to an object of type `to`, of their own type: the assignment casts them, as GraphBLAS
    does. But integers from 2**53 on that a common type of a list would round, or the cast from UINT64 would wrap, are
    of type `to`; OverflowError if it does not hold them."""
    if to._is_udt or hasattr(data, "dtype"):
        return value_array(device, data, to if to._is_udt else None)
    data = data if hasattr(data, "__len__") or np.isscalar(data) else list(data)
    try:
        array, found = value_array(device, data, None)
    except OverflowError:
        return value_array(device, data, to)
    if to.kind in "iu" and found is not to and exceeds(data, array):
        return value_array(device, data, to)
    return array, found


def entry_array(device: Device, data: Any, dtype: Any) -> tuple[Any, DataType]:
    """The same for the values of entries; an array of more dimensions holds a sub-array for each."""
    want = None if dtype is None else dtypes.lookup_dtype(dtype)
    if want is None or not want._is_udt:
        if isinstance(data, (list, tuple)) and len(data) and isinstance(data[0], (list, tuple, np.ndarray)):
            data = array_of(data, want)
        if getattr(data, "ndim", 1) > 1 and data.dtype.kind in _NUMBERS:
            dtype = dtypes.lookup_dtype(np.dtype((data.dtype if want is None else want.np_type, data.shape[1:])))
    return value_array(device, data, dtype)


def _own_values(device: Device, data: Any, want: UserType) -> Any:
    """Values of a user-defined type as their encoded numbers."""
    if not isinstance(data, list) and not getattr(data, "ndim", 0):
        return want.one(data)
    try:
        return device.asarray(want.encoded(data), want.np_type)
    except (TypeError, ValueError) as error:
        raise NotNumbers(f"values: expected an array of {want}, {want.record}, got one that is not: {error}") from None


def shown(device: Device, values: Any, dtype: DataType) -> Any:
    """An array of values as the user gets it: records and sub-arrays of user-defined types, on the host."""
    return dtype.decoded(device.to_host(values)) if isinstance(dtype, UserType) else values


def numpy_type(dtype: DataType) -> np.dtype[Any]:
    """The NumPy type of arrays that the user gets."""
    return dtype.record if isinstance(dtype, UserType) else dtype.np_type


def one_shown(value: np.generic, dtype: DataType) -> Any:
    """A value as a Python object; of user-defined types a tuple, of sub-arrays an array."""
    if not isinstance(dtype, UserType):
        return value.item()
    found = dtype.decoded([value])[0]
    return found if dtype.record.subdtype is not None else found.item()


def pickled(dtype: DataType, values: Any) -> tuple[Any, Any]:
    """Values in host memory and their type, in a form that another process can read."""
    if not isinstance(dtype, UserType):
        return values, dtype.name
    return (dtype.decoded([values])[0] if isinstance(values, np.generic) else dtype.decoded(values)), dtype


def check_symmetric(structure: Structure, said: bool) -> None:
    """InvalidValue if a matrix was declared symmetric, and is not; the finding is cached."""
    if said and not structure.symmetric:
        raise InvalidValue(
            f"symmetric: expected an entry (j, i) for each entry (i, j), got {structure.nrows} x {structure.ncols} "
            f"with {structure.nvals} entries, some without; use symmetric=False"
        )
