"""Python numbers as NumPy arrays and scalars: exact, or OverflowError.

NumPy finds a common type of a list before it converts to the requested one, and that type is float64 for integers
beyond 2**63 next to smaller ones and for integers next to floats. Here integers are converted to integer types
directly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Set
from numbers import Number
from typing import Any

import numpy as np

from semirings.dtypes import FP64, INT64, UINT64, DataType

_EXACT = 1 << 53  # below it float64 holds every integer
_VIEWS: tuple[type, ...] = type({}.keys()), type({}.values())
_INTEGERS = (int, np.integer, np.bool_)


class NotNumbers(ValueError, TypeError):
    """Values that are text, or Python objects other than numbers."""


def keys_of(keys: Callable[[], Iterable[Any]], count: int) -> Any:
    """`count` keys as an INT64 array; if some are no indices, as a list, which `index_array` refuses."""
    try:
        return np.fromiter(map(operator.index, keys()), np.int64, count)
    except (TypeError, OverflowError):
        return list(keys())


def array_of(data: Any, want: DataType | None = None) -> np.ndarray[Any, Any]:
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


def exceeds(data: Any, array: Any) -> bool:
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


def is_text(array: Any) -> bool:
    return array.dtype.kind in "OSUT" and array.size > 0 and isinstance(array.flat[0], (str, bytes))


def contents(array: Any) -> str:
    """The content of an array that is not numeric, in words."""
    if is_text(array):
        return f"text, such as {array.flat[0][:40]!r}"
    if array.dtype.kind != "O" or not array.size:
        return f"an array of {array.dtype}"
    kind = type(array.flat[0])
    return f"Python objects, such as one of {kind.__module__}.{kind.__qualname__}"


def _is_iterator(data: Any) -> bool:
    """Whether it can be gone through in an order that is its own, as sets have none."""
    return isinstance(data, Iterable) and not isinstance(data, (Set, Mapping, str, bytes))


def _first(data: Any) -> Any:
    """The first number of a list, or of lists in it."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return data


def _leaves(data: Any, array: np.ndarray[Any, Any]) -> Iterable[Any]:
    """The numbers of a list, or of lists and arrays in it."""
    if array.ndim == 1 and isinstance(data, (list, tuple)):
        return data
    return array.ravel() if array.dtype.kind == "O" else np.array(data, object).ravel()


def _all_integers(data: Any, array: np.ndarray[Any, Any]) -> list[int] | None:
    """The numbers of a list if all of them are integers, else None: the first that is none ends the search."""
    found = []
    for x in _leaves(data, array):
        if not isinstance(x, _INTEGERS):
            if not isinstance(x, np.ndarray) or x.dtype.kind not in "biu":
                return None
        found.append(int(x))
    return found


def _with_floats(data: Any, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
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


def _to_integers(data: Any, array: np.ndarray[Any, Any], want: DataType) -> np.ndarray[Any, Any]:
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


def _truncated(x: Any, want: DataType) -> int:
    """A number as an integer, towards zero."""
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x[()]
    if isinstance(x, _INTEGERS):
        return int(x)
    if isinstance(x, (float, np.floating)) and not np.isfinite(x):
        raise ValueError(f"values: expected numbers that {want} has, got NaN or infinity")
    try:
        if isinstance(x, Number) and not isinstance(x, (complex, np.complexfloating)):
            number: Any = x
            return int(number)
        return operator.index(x)
    except (TypeError, ValueError, OverflowError):
        kind = type(x)
        raise NotNumbers(
            f"values: expected numbers, got Python objects, such as one of {kind.__module__}.{kind.__qualname__}"
        ) from None


def _to_floats(array: np.ndarray[Any, Any], want: DataType) -> np.ndarray[Any, Any]:
    """Objects as floats, complex numbers or Booleans."""
    try:
        made = array.astype(want.np_type)
    except OverflowError:
        made = None
    except (TypeError, ValueError):
        raise NotNumbers(f"values: expected numbers, got {contents(array)}") from None
    beyond = array.ravel() if made is None else array[np.isinf(made)] if want.kind in "fc" else ()
    for x in beyond:
        if isinstance(x, int) and abs(x) > np.finfo(want.np_type).max:
            raise OverflowError(f"values: expected numbers that {want} holds, got {_shown(x)}")
    if made is None:
        raise OverflowError(f"values: expected numbers that {want} holds, got larger ones")
    return made


def _bounds(kind: DataType | None) -> str:
    if kind is None:
        return "integers from -2**63 to 2**64-1"
    return f"integers from {_shown(int(kind.lowest))} to {_shown(int(kind.highest))} ({kind})"


def _shown(value: int) -> str:
    return str(value) if value.bit_length() <= 128 else f"one of {value.bit_length()} bits"


def exact_sum(values: np.ndarray[Any, Any]) -> Any:
    """The sum of an array, a Python number; unlimited for integers."""
    if values.dtype.kind not in "iu" or values.itemsize < 8:
        return values.sum().item()
    high, low = _halves(values)
    return (int(high.sum()) << 32) + int(low.sum())


def exact_sums(values: np.ndarray[Any, Any], groups: np.ndarray[Any, Any], count: int) -> list[int]:
    """The sums of the integers of each group from 0 to count - 1, 0 for an empty group, as Python integers."""
    sums = []
    for part in _halves(values):
        found = np.zeros(count, np.int64)
        np.add.at(found, groups, part)
        sums.append(found.tolist())
    return [(high << 32) + low for high, low in zip(*sums)]


def _halves(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Integers as high * 2**32 + low, both INT64, of which 2**31 can be added without overflow."""
    wide = values.astype(values.dtype if values.itemsize == 8 else np.int64, copy=False)
    return (wide >> 32).astype(np.int64, copy=False), (wide & 0xFFFFFFFF).astype(np.int64, copy=False)
