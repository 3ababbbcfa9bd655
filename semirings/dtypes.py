"""Value types: BOOL, INT8..INT64, UINT8..UINT64, FP32, FP64 (GraphBLAS C API 2.1, section 3.2), FC32 and FC64.

The complex types FC32 and FC64 are SuiteSparse extensions. Also the errors of this package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    # What describes a record, a sub-array or a built-in type.
    RecordLike: TypeAlias = DTypeLike | Mapping[str, object]

# What users pass as a value: a number, or the fields of a record or sub-array.
Value: TypeAlias = bool | int | float | complex | np.generic | Sequence[Any] | Mapping[str, Any] | np.ndarray


# ---- Errors, which bitblas.exceptions re-exports.


class GraphblasException(Exception):
    """The base of all errors of bitblas."""


class UdfParseError(GraphblasException):
    """A function that cannot become an operator; the message names the construct and its line."""


class DomainMismatch(GraphblasException, TypeError):
    """An operator has no version for these types."""


class NotImplementedException(GraphblasException):
    """A GraphBLAS operation that bitblas does not support for these operands; the message names it and an
    alternative.
    """


# ---- Types.


@dataclass(frozen=True, eq=False)
class DataType:
    """A value type: GraphBLAS name, NumPy dtype, and CUDA C++ name.

    A DataType equals every key that `lookup_dtype` maps to it, hashes as its NumPy dtype, and sorts by kind and size.
    """

    name: str
    np_type: np.dtype
    c_type: str
    _is_udt: ClassVar[bool] = False  # True in user_types.py

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        """Equal to itself, its name, and every key that `lookup_dtype` maps to it (np.float32, "FP32", float).
        TypeError for objects that are not types.
        """
        return self is other or lookup_compared(other) is self

    def __hash__(self) -> int:
        return hash(self.np_type)

    def __lt__(self, other: object) -> bool:
        return self._order < lookup_compared(other)._order

    @property
    def _order(self) -> tuple[str, int, str]:
        return self.np_type.kind, self.np_type.itemsize, self.np_type.name

    @property
    def gb_name(self) -> str | None:
        """Its name in the C API or SuiteSparse's extension."""
        return f"{'GxB' if self.kind == 'c' else 'GrB'}_{self.name}"

    def one(self, value: Value) -> np.generic:
        """A single value, cast to this type as GraphBLAS does."""
        return cast_scalar(value, self)

    @property
    def kind(self) -> str:
        """One letter, as in NumPy: b(ool), i(nteger), u(nsigned), f(loat), c(omplex)."""
        return self.np_type.kind

    @property
    def nbytes(self) -> int:
        return self.np_type.itemsize

    @property
    def lowest(self) -> Any:
        """The least value, a NumPy scalar: -inf for floats and for both parts of complex numbers (NumPy's order)."""
        ends = {"b": False, "f": -np.inf, "c": complex(-np.inf, -np.inf)}
        return self.np_type.type(ends[self.kind] if self.kind in ends else np.iinfo(self.np_type).min)

    @property
    def highest(self) -> Any:
        """The greatest value, a NumPy scalar: inf for floats and for both parts of complex numbers."""
        ends = {"b": True, "f": np.inf, "c": complex(np.inf, np.inf)}
        return self.np_type.type(ends[self.kind] if self.kind in ends else np.iinfo(self.np_type).max)


def _make(name: str, np_name: str, c_type: str) -> DataType:
    return DataType(name, np.dtype(np_name), c_type)


BOOL = _make("BOOL", "bool", "bool")
INT8 = _make("INT8", "int8", "signed char")
INT16 = _make("INT16", "int16", "short")
INT32 = _make("INT32", "int32", "int")
INT64 = _make("INT64", "int64", "long long")
UINT8 = _make("UINT8", "uint8", "unsigned char")
UINT16 = _make("UINT16", "uint16", "unsigned short")
UINT32 = _make("UINT32", "uint32", "unsigned int")
UINT64 = _make("UINT64", "uint64", "unsigned long long")
FP32 = _make("FP32", "float32", "float")
FP64 = _make("FP64", "float64", "double")
FC32 = _make("FC32", "complex64", "fc32")  # complex.cuh
FC64 = _make("FC64", "complex128", "fc64")

ALL = (BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FP32, FP64, FC32, FC64)
INTEGERS = tuple(t for t in ALL if t.kind in "iu")
FLOATS = (FP32, FP64)
NUMBERS = INTEGERS + FLOATS
COMPLEX = (FC32, FC64)

# The functions of user_types.py that read a description and make a type; it imports this module.
_makers: dict[str, Callable[..., Any]] = {}
_INDEX = UINT64  # the type of returned indices, as in python-graphblas
_supports_complex = True  # read by programs for python-graphblas

_BUILTIN = tuple(t.name for t in ALL)
_BY_NAME = {t.name: t for t in ALL}
_BY_NUMPY = {t.np_type: t for t in ALL}
_TO_PASS_DATA = "Hint: pass data to from_coo, from_dense or io.from_scipy_sparse; dup copies"


def lookup_dtype(key: object, value: object = None) -> DataType:
    """The DataType of a DataType, a GraphBLAS name, a NumPy dtype or its name, a C99 name ("int8_t"), a Numba type, or
    bool, int, float, complex; otherwise of `value`, if it has a dtype.

    Raises ValueError for other keys (strings, objects, user-defined types), TypeError for None.
    """
    if isinstance(key, DataType):
        return key
    if isinstance(key, np.dtype) and key in _BY_NUMPY:  # fast path: reading the name of a NumPy dtype costs 1 us
        return _BY_NUMPY[key]
    shape = () if isinstance(key, (type, np.dtype)) else getattr(key, "shape", ())
    if shape:  # np.dtype would accept an array and return its dtype
        raise ValueError(
            f"dtype: expected one of {', '.join(_BUILTIN)}, got data of shape {shape} ({type(key).__module__}."
            f"{type(key).__qualname__}). {_TO_PASS_DATA}"
        )
    found = _read(key)
    if found is None:  # a DataType of python-graphblas, a type of Numba
        found = _read(getattr(key, "name", None)) or _read(str(getattr(key, "literal_type", "")))
    if found is None and (kind := _record_of(key)) is not None:
        return register_anonymous(kind)
    if found is None and value is not None and hasattr(value, "dtype"):
        return lookup_dtype(value.dtype)
    if found is None and key is None:
        raise TypeError(f"dtype: expected one of {', '.join(_BUILTIN)}, got None")
    if found is None:
        hint = f". {_TO_PASS_DATA}" if isinstance(key, list | tuple) else ""
        raise ValueError(f"dtype: expected one of {', '.join(_BUILTIN)} or a matching NumPy dtype, got {key!r}{hint}")
    return found


def _read(key: Any) -> DataType | None:
    """The type of a name, or of a key that NumPy converts to a dtype."""
    found = None
    if isinstance(key, str):
        upper = key.upper().removeprefix("GRB_").removeprefix("GXB_").removeprefix("_").removesuffix("_T")
        found = _BY_NAME.get(key) or _BY_NAME.get(upper)
    if found is not None or key is None:
        return found
    try:
        return _BY_NUMPY.get(np.dtype(key))
    except (TypeError, ValueError, SyntaxError):  # NumPy's errors for unreadable text
        return None


def _record_of(key: object) -> np.dtype | None:
    """The record or sub-array dtype that a key describes, or None."""
    try:
        found = _makers["read"](key) if isinstance(key, (str, dict, list, np.dtype)) else None
    except (TypeError, ValueError, SyntaxError):
        return None
    return found if found is not None and found.kind == "V" and found.itemsize and str(found)[:2] != "|V" else None


def lookup_compared(other: object) -> DataType:
    """The DataType to compare with. TypeError for objects that are not types."""
    try:
        return lookup_dtype(other)
    except ValueError:
        raise TypeError(f"expected a type to compare with, got {other!r}") from None


def register_new(name: str, dtype: RecordLike) -> DataType:
    """A user-defined type, a NumPy record or sub-array, under a name in this module. ValueError for an invalid or taken
    name, for a built-in type, and for Python objects.
    """
    if not name.isidentifier():
        raise ValueError(f"name: expected an identifier, got {name!r}")
    if name in globals() or name in _BY_NAME:
        raise ValueError(f"name: {name!r} is taken")
    found = register_anonymous(dtype, name)
    globals()[name] = found
    return found


def register_anonymous(dtype: RecordLike, name: str | None = None) -> DataType:
    """The type of a NumPy record or sub-array, of `{"x": "FP32", "y": int}` or "FP64[3]": one type per dtype, renamed
    by the latest name. ValueError for Python objects, and for another name of a built-in type.
    """
    kind = _makers["read"](dtype)
    found = _BY_NUMPY.get(kind)
    if found is None and kind.kind not in "V":
        raise ValueError(f"dtype: expected a record, a sub-array or one of {', '.join(_BUILTIN)}, got {kind}")
    if found is not None and not found._is_udt:
        if name is not None and name != found.name:
            raise ValueError(f"name: {kind} is the builtin type {found}, got {name!r}")
        return found
    if name is not None and (taken := _read(name)) is not None and taken is not found:
        raise ValueError(f"name: {name!r} is taken, by {taken}")
    if found is None:
        found = _BY_NUMPY[kind] = _makers["make"](name, kind)
    elif name is not None:
        object.__setattr__(found, "name", name)
    _BY_NAME[found.name] = found
    return found


def unify(type1: object, type2: object, *, is_left_scalar: bool = False, is_right_scalar: bool = False) -> DataType:
    """The smallest type that holds both, by NumPy's promotion rules (as in python-graphblas).

    Since NumPy 2 a typed scalar is promoted like an array, so the two flags have no effect.
    """
    left, right = lookup_dtype(type1), lookup_dtype(type2)
    check_cast(right, left)
    return left if left is right else _BY_NUMPY[np.promote_types(left.np_type, right.np_type)]


def check_cast(source: DataType, to: DataType) -> None:
    """DomainMismatch for a cast to or from a user-defined type."""
    if source is not to and (source._is_udt or to._is_udt):
        raise DomainMismatch(f"types: expected {to}, got {source}; user-defined types cannot be cast")


def cast_scalar(value: Any, to: DataType) -> np.generic:
    """A GraphBLAS cast of one value: to BOOL is != 0; integers wrap; floats to integers truncate and saturate, NaN
    becomes 0; complex to real takes the real part (as in SuiteSparse).
    """
    kind = type(value)
    if to._is_udt and kind is not np.int64:
        return to.one(value)
    if kind is to.np_type.type:
        same: np.generic = value
        return same
    if kind is bool or kind is np.bool_:  # exact in every type
        return to.np_type.type(value)
    found: np.generic = np.asarray(value).reshape(-1)[0]
    if found.dtype.kind == "c" and to.kind in "iuf":
        found = found.real
    if to.kind in "iu" and found.dtype.kind == "f":
        exact = 0 if found != found else min(max(float(found), int(to.lowest)), int(to.highest))
        return to.np_type.type(int(exact))
    with np.errstate(all="ignore"):
        return to.np_type.type(found.astype(to.np_type))


ss = sys.modules[__name__]  # python-graphblas's namespace of SuiteSparse types; there are none
