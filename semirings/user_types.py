"""User-defined types: NumPy records and sub-arrays, stored as dictionary-encoded values.

Each distinct value is stored once in a table of its type; arrays and kernels hold its number there, an INT64, which
every format, operation and device moves, masks, packs and compares like any other. Values are equal if their fields are
bitwise equal.
"""

from __future__ import annotations

import threading
from ast import literal_eval
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .dtypes import DataType, DomainMismatch, Value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FIRST = 1 << 62  # the first number, outside the range of ordinary integers; the all-zero value is 0, as in fresh memory
FIELD = "value"
_lock = threading.RLock()


class UserType(DataType):
    """A record or a sub-array. `np_type` is the stored type, INT64; `record` the NumPy dtype of the values."""

    record: np.dtype
    _packed: np.dtype  # one field, the record or sub-array, without padding
    _rows: np.ndarray  # the table: _packed values as bytes
    _known: dict[bytes, int]
    _is_udt = True

    def __init__(self, name: str, record: np.dtype) -> None:
        from numpy.lib.recfunctions import repack_fields

        super().__init__(name, dtypes.INT64.np_type, dtypes.INT64.c_type)
        # Without padding, equal values have equal bytes. One field, because NumPy has no arrays of sub-arrays.
        packed = repack_fields(np.dtype([(FIELD, record)]), align=False, recurse=True)
        rows = np.zeros(16, f"V{packed.itemsize}")
        vars(self).update(record=record, _packed=packed, _rows=rows, _known={bytes(packed.itemsize): 0})

    def __hash__(self) -> int:
        return hash(self.record)

    @property
    def gb_name(self) -> None:
        """None: the C API has no name for it."""

    @property
    def _is_anonymous(self) -> bool:
        return getattr(dtypes, self.name, None) is not self

    def encoded(self, values: ArrayLike) -> np.ndarray:
        """The numbers of an array of values, or of tuples, lists or numbers that NumPy converts to one."""
        flat = np.asarray(values, self.record) if self.record.subdtype is None else self._rows_of(values)
        whole = np.zeros(len(flat), self._packed)
        whole[FIELD] = flat
        return self.interned(whole)

    def interned(self, packed: np.ndarray) -> np.ndarray:
        """The numbers of packed values, given as bytes of any type."""
        rows = packed.view(self._rows.dtype).reshape(-1)
        n, size = len(rows), rows.dtype.itemsize
        words = np.zeros((n, -(-size // 8)), np.uint64)  # sort faster than bytes
        words.view(np.uint8)[:, :size] = rows.view(np.uint8).reshape(n, size)
        order = np.lexsort(words.T)
        new = np.ones(n, bool)
        new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
        where = np.empty(n, np.int64)
        where[order] = np.cumsum(new) - 1
        with _lock:
            numbers = np.array([*map(self._number, rows[order[new]].tolist())], np.int64)
        return numbers[where]

    def _rows_of(self, values: ArrayLike) -> np.ndarray:
        base, shape = self.record.subdtype or (self.record, ())
        rows = np.asarray(values, base)
        if not rows.size:  # an empty list
            rows = rows.reshape(0, *shape)
        if rows.shape[1:] != shape:
            raise ValueError(f"values: expected arrays of shape {shape} for {self}, got shape {rows.shape[1:]}")
        return rows

    def _number(self, value: bytes) -> int:
        found = self._known.get(value)
        if found is None:
            place = len(self._known)
            if place == len(self._rows):
                rows = np.zeros(2 * place, self._rows.dtype)
                rows[:place] = self._rows
                vars(self)["_rows"] = rows
            self._rows[place] = value
            found = self._known[value] = FIRST + place
        return found

    def one(self, value: Value) -> np.int64:
        """The number of a single value: a record, a tuple or list of its fields, a dictionary of them, or one number
        for all fields. DomainMismatch for others.
        """
        whole = np.zeros(1, self.record)
        try:
            if isinstance(value, Mapping):
                value = _by_field(self.record, value)
            whole[0] = tuple(value) if isinstance(value, list) and self.record.subdtype is None else value
        except (KeyError, TypeError, ValueError, OverflowError):
            raise DomainMismatch(f"value: expected one of {self}, {self.record}, got {value!r}") from None
        return np.int64(self.encoded(whole)[0])

    def decoded(self, numbers: ArrayLike) -> np.ndarray:
        """The values of an array of numbers, on the host."""
        numbers = np.asarray(numbers, np.int64)
        at = np.where(numbers == 0, 0, numbers - FIRST)
        if at.size and not (0 <= int(at.min()) and int(at.max()) < len(self._known)):
            raise ValueError(f"values: expected numbers of values of {self}, got numbers out of range")
        found: np.ndarray = self._rows[at].view(self._packed)[FIELD]
        return found.astype(self.record) if self.record.subdtype is None else found.copy()

    def raw(self, numbers: ArrayLike) -> np.ndarray:
        """The values of numbers as bytes."""
        return np.ascontiguousarray(self.decoded(np.atleast_1d(numbers))).view(np.uint8).reshape(-1)

    def of_raw(self, data: np.ndarray) -> np.ndarray:
        """The numbers of values from `raw`."""
        base, shape = self.record.subdtype or (self.record, ())
        return self.encoded(np.ascontiguousarray(data).view(base).reshape(-1, *shape))

    def described(self) -> str:
        """A description from which the function `described` recreates the type in another process."""
        return repr(np.lib.format.dtype_to_descr(np.dtype([(FIELD, self.record)])))

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (self.name, self.record, self._is_anonymous)


def read(dtype: Any) -> np.dtype:
    """The NumPy dtype of {"x": int, "y": "FP32"}, "FP64[3, 2]", or anything that NumPy reads. TypeError or ValueError
    for others, and for Python objects.
    """
    found: np.dtype
    if isinstance(dtype, dict):
        found = np.dtype([(key, dtypes.lookup_dtype(t).np_type) for key, t in dtype.items()], align=True)
    elif isinstance(dtype, str) and dtype.endswith("]") and "[" in dtype:
        base, _, shape = dtype.partition("[")
        found = np.dtype((dtypes.lookup_dtype(base).np_type, tuple(literal_eval(f"[{shape}"))))
    else:
        found = np.dtype(dtype)
    if found.hasobject:
        raise ValueError(f"dtype: expected machine numbers, got {found}, which holds Python objects")
    return found


def name_of(record: np.dtype) -> str:
    """The default name of an anonymous type."""
    if record.subdtype is not None:
        base, shape = record.subdtype
        return f"{name_of(base)}[{', '.join(map(str, shape))}]"
    known = dtypes._BY_NUMPY.get(record)
    if known is not None:
        return known.name
    if record.names is None:
        return str(record)
    return f"{{{', '.join(f'{n!r}: {name_of(record[n])}' for n in record.names)}}}"


def described(name: str, text: str) -> DataType:
    """The type of that name and description, anonymous if not registered. ValueError for an invalid description."""
    try:
        record = np.lib.format.descr_to_dtype(literal_eval(text))[FIELD]
    except (SyntaxError, TypeError, KeyError, IndexError):
        raise ValueError(f"record: expected a description of a record, got {text!r}") from None
    known = dtypes._BY_NUMPY.get(record)
    if known is not None:
        return known
    return dtypes.register_anonymous(record, None if name in dtypes._BY_NAME else name)


def restored(name: str, record: np.dtype, anonymous: bool) -> DataType:
    """The unpickled type, registered if this process has not registered it."""
    if not anonymous and not hasattr(dtypes, name):
        return dtypes.register_new(name, record)
    return dtypes._BY_NUMPY.get(record) or dtypes.register_anonymous(record, name)


dtypes._makers.update(read=read, make=lambda name, record: UserType(name or name_of(record), record))


def _by_field(record: np.dtype, value: Mapping[str, Value]) -> tuple[Value, ...]:
    """The fields of a record in order, including nested records. KeyError if the field names differ."""
    fields: Mapping[str, Any] = record.fields or {}
    if value.keys() != fields.keys():
        raise KeyError(*value)
    inner = lambda x, kind: _by_field(kind, x) if isinstance(x, Mapping) else x
    return tuple(inner(value[name], fields[name][0]) for name in record.names or ())
