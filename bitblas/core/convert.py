"""Convert user input to arrays and NumPy scalars of known type and device. Python integers: exact, or OverflowError.

NumPy finds a common type of a list before it converts to the requested one, and that type is float64 for integers
beyond 2**63 next to smaller ones and for integers next to floats. Here integers are converted to integer types
directly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Set
from numbers import Number
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from semirings import dtypes
from semirings.dtypes import BOOL, FC64, FP64, INT64, UINT64, DataType
from semirings.user_types import UserType

from .. import device as devices
from ..config import config
from ..device import Device
from ..exceptions import DeviceError, IndexOutOfBound, InvalidValue
from ..formats import Structure

if TYPE_CHECKING:
    from .statement.infix import Operand
    from .typing import Array, ArrayOrValue, DeviceArg, DTypeArg

# ---- Python numbers as NumPy arrays and scalars: exact, or OverflowError.

OF_PYTHON: dict[type, DataType] = {bool: BOOL, int: INT64, float: FP64, complex: FC64}  # types of Python's numbers
_EXACT = 1 << 53  # below it float64 holds every integer
_VIEWS: tuple[type, ...] = type({}.keys()), type({}.values())
_INTEGERS = (int, np.integer, np.bool_)


class NotNumbers(ValueError, TypeError):
    """Values that are text, or Python objects other than numbers."""


def keys_of(keys: Callable[[], Iterable[SupportsIndex]], count: int) -> Array | list[SupportsIndex]:
    """`count` keys as an INT64 array; if some are no indices, as a list, which `index_array` refuses."""
    try:
        return np.fromiter(map(operator.index, keys()), np.int64, count)
    except (TypeError, OverflowError):
        return list(keys())


def array_of(data: Any, want: DataType | None = None) -> Array:
    """A list, another ordered iterable (generators, keys and values of dictionaries), a number or an array of Python
    objects as an array of type `want`, or of the type that NumPy finds; but lists of integers are INT64, or UINT64 if
    they need it, never floats.

    If NumPy's type is not numeric, the array is returned unchanged. Raises OverflowError for an integer that the type
    does not hold, ValueError for NaN as an integer, NotNumbers for objects that are not numbers.
    """
    array = np.asarray(data)
    kind = array.dtype.kind
    if kind == "O" and not array.ndim and (isinstance(data, _VIEWS) or _is_iterator(data)):
        return array_of(list(data), want)
    if want is None:
        if kind not in "fO" or type(data) is float or not array.size or isinstance(_first(data), (float, np.floating)):
            return array if kind != "O" else _with_floats(data, array)
        whole = _all_integers(data, array)
        if whole is None:
            return array if kind != "O" else _with_floats(data, array)
        return np.array(whole, _type_of(whole).np_type).reshape(array.shape)
    if array.dtype == want.np_type or kind not in "biufcO" or is_text(array):
        return array
    if want.kind in "iu":
        return _to_integers(data, array, want)
    with np.errstate(all="ignore"):
        if kind == "O":
            return _to_floats(array, want)
        if kind == "c" and want.kind == "f":
            raise NotNumbers(f"values: expected numbers, got {contents(array)}")
        return array.astype(want.np_type)


def holds(kind: DataType, value: int) -> bool:
    """Whether a type holds an integer; float types hold all of them, rounded."""
    return kind.kind not in "iu" or int(kind.lowest) <= value <= int(kind.highest)


def exceeds(data: object, array: Array) -> bool:
    """Whether a number or a list that was read as this array contains an integer that the array rounds, or that INT64
    does not hold."""
    if array.dtype == np.uint64:
        return bool(array.size) and int(array.max()) > INT64.highest
    if array.dtype.kind not in "fc" or not array.size or bool((abs(array) < _EXACT).all()):
        return False
    leaves = np.array(data, object).ravel()
    return any(isinstance(x, _INTEGERS) and abs(int(x)) >= _EXACT for x in leaves)


def integer_written(value: int, to: DataType | None, where: str) -> tuple[np.generic, DataType]:
    """A Python integer beyond INT64 as a NumPy scalar that is cast to type `to` (None: any), and its type.
    OverflowError if the cast would wrap."""
    kind = None if to is None else to.kind
    if kind == "b":
        return np.uint64(1), UINT64
    if 0 <= value <= UINT64.highest and (to is None or to is UINT64 or kind in ("f", "c")):
        return np.uint64(value), UINT64
    if to is not None and kind in ("f", "c"):
        try:
            return np.float64(value), FP64
        except OverflowError:
            raise OverflowError(f"{where}: expected a number that {to} holds, got {_shown(value)}") from None
    raise OverflowError(f"{where}: expected {_bounds(to)}, got {_shown(value)}")


def integer_beside(value: int, other: DataType | None, where: str) -> tuple[np.generic, DataType]:
    """A Python integer beyond INT64 as a NumPy scalar next to values of type `other`, and its type: UINT64.
    OverflowError if UINT64 does not hold it, and next to signed integers: their common type would be FP64."""
    if not 0 <= value <= UINT64.highest:
        raise OverflowError(f"{where}: expected {_bounds(None)}, got {_shown(value)}. Hint: float(value) rounds it")
    if other is not None and other.kind == "i":
        raise OverflowError(
            f"{where}: expected an integer from -2**63 to 2**63-1 together with {other}, got {_shown(value)}. Hint: "
            "float(value) computes in FP64, which rounds"
        )
    return np.uint64(value), UINT64


def is_text(array: Array) -> bool:
    return array.dtype.kind in "OSUT" and array.size > 0 and isinstance(array.flat[0], (str, bytes))


def contents(array: Array) -> str:
    """The content of an array that is not numeric, in words."""
    if is_text(array):
        return f"text, such as {array.flat[0][:40]!r}"
    if array.dtype.kind != "O" or not array.size:
        return f"an array of {array.dtype}"
    kind = type(array.flat[0])
    return f"Python objects, such as one of {kind.__module__}.{kind.__qualname__}"


def _is_iterator(data: object) -> bool:
    """Whether it can be gone through in an order that is its own, as sets have none."""
    return isinstance(data, Iterable) and not isinstance(data, (Set, Mapping, str, bytes))


def _first(data: object) -> object:
    """The first number of a list, or of lists in it."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return data


def _leaves(data: object, array: Array) -> Iterable[object]:
    """The numbers of a list, or of lists and arrays in it."""
    if array.ndim == 1 and isinstance(data, (list, tuple)):
        return data
    return array.ravel() if array.dtype.kind == "O" else np.array(data, object).ravel()


def _all_integers(data: object, array: Array) -> list[int] | None:
    """The numbers of a list if all of them are integers, else None: the first that is none ends the search."""
    found = []
    for x in _leaves(data, array):
        if not isinstance(x, _INTEGERS):
            if not isinstance(x, np.ndarray) or x.dtype.kind not in "biu":
                return None
        found.append(int(x))
    return found


def _with_floats(data: object, array: Array) -> Array:
    """An array of objects as it is; OverflowError if it is one because of an integer beyond 64 bits next to floats."""
    leaves = list(_leaves(data, array))
    if all(isinstance(x, (*_INTEGERS, float, np.floating)) for x in leaves) and not isinstance(data, np.ndarray):
        beyond = next(x for x in leaves if isinstance(x, int) and not INT64.lowest <= x <= UINT64.highest)
        raise OverflowError(f"values: expected {_bounds(None)}, got {_shown(beyond)}. Hint: dtype='FP64' rounds it")
    return array


def _type_of(whole: list[int]) -> DataType:
    """The type that holds these integers: INT64 or UINT64."""
    low, high = min(whole), max(whole)
    for kind in (INT64, UINT64):
        if low >= kind.lowest and high <= kind.highest:
            return kind
    if low < INT64.lowest or high > UINT64.highest:
        beyond = low if low < INT64.lowest else high
        raise OverflowError(f"values: expected {_bounds(None)}, got {_shown(beyond)}. Hint: dtype='FP64' rounds it")
    raise OverflowError(
        f"values: expected integers that INT64 or UINT64 holds together, got {low} and {high}. Hint: dtype='FP64' "
        "rounds them"
    )


def _to_integers(data: object, array: Array, want: DataType) -> Array:
    kind, lowest, highest = array.dtype.kind, int(want.lowest), int(want.highest)
    if kind in "biu" and np.can_cast(array.dtype, want.np_type):
        return array.astype(want.np_type)
    if kind == "c":
        raise NotNumbers(f"values: expected numbers, got {contents(array)}")
    if kind != "O":
        if not array.size:
            return array.astype(want.np_type)
        low, high = array.min(), array.max()
        if kind in "iu" or (low > -_EXACT and high < _EXACT):  # exact so far
            low, high = int(low), int(high)
            if lowest <= low and high <= highest:
                return array.astype(want.np_type)
            raise OverflowError(f"values: expected {_bounds(want)}, got {low if low < lowest else high}")
    whole = [_truncated(x, want) for x in _leaves(data, array)]
    low, high = min(whole, default=0), max(whole, default=0)
    if low < lowest or high > highest:
        raise OverflowError(f"values: expected {_bounds(want)}, got {_shown(low if low < lowest else high)}")
    return np.array(whole, want.np_type).reshape(array.shape)


def _truncated(x: object, want: DataType) -> int:
    """A number as an integer, towards zero."""
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x[()]
    if isinstance(x, _INTEGERS):
        return int(x)
    if isinstance(x, (float, np.floating)) and not np.isfinite(x):
        raise ValueError(f"values: expected numbers that {want} has, got NaN or infinity")
    number: Any = x
    try:
        if isinstance(x, Number) and not isinstance(x, (complex, np.complexfloating)):
            return int(number)
        return operator.index(number)
    except (TypeError, ValueError, OverflowError):
        kind = type(x)
        raise NotNumbers(
            f"values: expected numbers, got Python objects, such as one of {kind.__module__}.{kind.__qualname__}"
        ) from None


def _to_floats(array: Array, want: DataType) -> Array:
    """Objects as floats, complex numbers or Booleans."""
    try:
        floats = array.astype(want.np_type)
    except OverflowError:
        floats = None
    except (TypeError, ValueError):
        raise NotNumbers(f"values: expected numbers, got {contents(array)}") from None
    beyond = array.ravel() if floats is None else array[np.isinf(floats)] if want.kind in "fc" else ()
    for x in beyond:
        if isinstance(x, int) and abs(x) > np.finfo(want.np_type).max:
            raise OverflowError(f"values: expected numbers that {want} holds, got {_shown(x)}")
    if floats is None:
        raise OverflowError(f"values: expected numbers that {want} holds, got larger ones")
    return floats


def _bounds(kind: DataType | None) -> str:
    if kind is None:
        return "integers from -2**63 to 2**64-1"
    return f"integers from {_shown(int(kind.lowest))} to {_shown(int(kind.highest))} ({kind})"


def _shown(value: int) -> str:
    return str(value) if value.bit_length() <= 128 else f"one of {value.bit_length()} bits"


def exact_sum(values: Array) -> int | float:
    """The sum of an array, a Python number; unlimited for integers."""
    if values.dtype.kind not in "iu" or values.itemsize < 8:
        return values.sum().item()
    high, low = _halves(values)
    return (int(high.sum()) << 32) + int(low.sum())


def exact_sums(values: Array, groups: Array, count: int) -> list[int]:
    """The sums of the integers of each group from 0 to count - 1, 0 for an empty group, as Python integers."""
    sums = []
    for part in _halves(values):
        found = np.zeros(count, np.int64)
        np.add.at(found, groups, part)
        sums.append(found.tolist())
    return [(high << 32) + low for high, low in zip(*sums)]


def _halves(values: Array) -> tuple[Array, Array]:
    """Integers as high * 2**32 + low, both INT64, of which 2**31 can be added without overflow."""
    wide = values.astype(values.dtype if values.itemsize == 8 else np.int64, copy=False)
    return (wide >> 32).astype(np.int64, copy=False), (wide & 0xFFFFFFFF).astype(np.int64, copy=False)


# ---- Convert user input to arrays and NumPy scalars of known type and device.

_NUMBERS = "biufc"  # kinds of NumPy's types


def device_of(device: DeviceArg) -> Device:
    return devices.get(config.device if device is None else device)


def same_device(what: str, *objects: Operand) -> None:
    """DeviceError unless all are on one device."""
    first = objects[0].device
    for other in objects[1:]:
        if other.device is not first:
            raise DeviceError(
                f"{what}: expected operands on one device, got {first.name!r} and {other.device.name!r}; "
                "move one with .to(device)"
            )


def check_size(name: str, value: SupportsIndex) -> int:
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
    if (known := OF_PYTHON.get(type(value))) is not None:
        try:
            return known.np_type.type(value)
        except OverflowError:
            return integer_written(value, None, "value")[0]
    if not isinstance(value, np.generic):
        if getattr(value, "ndim", None) != 0 or not hasattr(value, "dtype") or not hasattr(value, "item"):
            raise TypeError(f"value: expected a scalar, got {type(value).__module__}.{type(value).__qualname__}")
        value = value.dtype.type(value.item())
    dtypes.lookup_dtype(value.dtype)
    return value


def scalar_type(value: np.generic) -> DataType:
    return dtypes.lookup_dtype(value.dtype)


def index_array(device: Device, data: Any, name: str, *, narrow: bool = False) -> Array:
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


def check_range(indices: Array, size: int, name: str) -> None:
    """IndexOutOfBound unless 0 <= indices < size."""
    if not len(indices):
        return
    # As unsigned integers negative ones are large, so one pass checks both bounds.
    unsigned = indices.view(np.uint64 if indices.itemsize == 8 else np.uint32)
    if int(unsigned.max()) >= min(size, 1 << (8 * indices.itemsize - 1)):
        low, high = int(indices.min()), int(indices.max())
        raise IndexOutOfBound(f"{name}: expected indices from 0 to {size - 1}, got {low if low < 0 else high}")


def value_array(device: Device, data: Any, dtype: DTypeArg) -> tuple[Any, DataType]:
    """Values as an array of the device, or as a NumPy scalar if they are one; and their type.

    Python numbers that do not fit `dtype` raise OverflowError, as in NumPy. Integers in lists never become floats
    unless `dtype` is a float type, or another element is a float: without `dtype` they are INT64, or UINT64 from 2**63
    on. Arrays with a type are cast to `dtype` as C does.
    """
    want = None if dtype is None else dtypes.lookup_dtype(dtype)
    if want is None and getattr(getattr(data, "dtype", None), "kind", "") == "V":
        want = dtypes.lookup_dtype(data.dtype)
    if isinstance(want, UserType):
        return _encoded_values(device, data, want), want
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


def entry_array(device: Device, data: Any, dtype: DTypeArg) -> tuple[Any, DataType]:
    """The same for the values of entries; an array of more dimensions holds a sub-array for each."""
    want = None if dtype is None else dtypes.lookup_dtype(dtype)
    if want is None or not want._is_udt:
        if isinstance(data, (list, tuple)) and len(data) and isinstance(data[0], (list, tuple, np.ndarray)):
            data = array_of(data, want)
        if getattr(data, "ndim", 1) > 1 and data.dtype.kind in _NUMBERS:
            dtype = dtypes.lookup_dtype(np.dtype((data.dtype if want is None else want.np_type, data.shape[1:])))
    return value_array(device, data, dtype)


def _encoded_values(device: Device, data: Any, want: UserType) -> ArrayOrValue:
    """Values of a user-defined type as their encoded numbers."""
    if not isinstance(data, list) and not getattr(data, "ndim", 0):
        return want.one(data)
    try:
        return device.asarray(want.encoded(data), want.np_type)
    except (TypeError, ValueError) as error:
        raise NotNumbers(f"values: expected an array of {want}, {want.record}, got one that is not: {error}") from None


def shown(device: Device, values: Array, dtype: DataType) -> Array:
    """An array of values as the user gets it: records and sub-arrays of user-defined types, on the host."""
    return dtype.decoded(device.to_host(values)) if isinstance(dtype, UserType) else values


def numpy_type(dtype: DataType) -> np.dtype:
    """The NumPy type of arrays that the user gets."""
    return dtype.record if isinstance(dtype, UserType) else dtype.np_type


def one_shown(value: np.generic, dtype: DataType) -> Any:
    """A value as a Python object; of user-defined types a tuple, of sub-arrays an array."""
    if not isinstance(dtype, UserType):
        return value.item()
    found = dtype.decoded([value])[0]
    return found if dtype.record.subdtype is not None else found.item()


def pickled(dtype: DataType, values: ArrayOrValue) -> tuple[ArrayOrValue, str | DataType]:
    """Values in host memory and their type, in a form that another process can read."""
    if not isinstance(dtype, UserType):
        return values, dtype.name
    return (dtype.decoded([values])[0] if isinstance(values, np.generic) else dtype.decoded(values)), dtype


def check_symmetric(structure: Structure, declared: bool) -> None:
    """InvalidValue if a matrix was declared symmetric, and is not; the finding is cached."""
    if declared and not structure.symmetric:
        raise InvalidValue(
            f"symmetric: expected an entry (j, i) for each entry (i, j), got {structure.nrows} x {structure.ncols} "
            f"with {structure.nvals} entries, some without; use symmetric=False"
        )
