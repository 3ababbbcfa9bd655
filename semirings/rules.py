"""Typing rules: which types an operator takes, in which it computes, and what it gives. C API 2.1, section 3.5.

A rule maps the type of the operands to (type that the expression computes in, type of its result), or to None.
"""

from __future__ import annotations

from collections.abc import Callable

from .dtypes import BOOL, FP32, FP64, INT8, INT16, INT32, INT64, UINT16, UINT32, UINT64, DataType

Rule = Callable[[DataType], "tuple[DataType, DataType] | None"]


def same(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> T, for every type."""
    return t, t


def arithmetic(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> T. BOOL has the operator (plus is or, times is and), but no semiring, as in python-graphblas."""
    return t, t


def number(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T, but for BOOL."""
    return None if t is BOOL else (t, t)


def integer(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T, for integers."""
    return (t, t) if t.kind in "iu" else None


def integer_or_boolean(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T for integers, and BOOL x BOOL -> INT8."""
    return None if t.kind == "f" else small_boolean(t)


def unsigned(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T, for unsigned integers."""
    return (t, t) if t.kind == "u" else None


# The unsigned integers that a sum of bits uses for signed ones, as python-graphblas does.
UNSIGNED = {INT8: UINT16, INT16: UINT32, INT32: UINT64, INT64: UINT64}


def boolean(t: DataType) -> tuple[DataType, DataType] | None:
    """BOOL x BOOL -> BOOL alone."""
    return (t, t) if t is BOOL else None


def long_integer(t: DataType) -> tuple[DataType, DataType] | None:
    """Integers become INT64."""
    return (INT64, INT64) if t.kind in "iu" else None


def small_boolean(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> T, but BOOL x BOOL -> INT8, as Python counts with booleans."""
    return t, INT8 if t is BOOL else t


def compare(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> BOOL."""
    return t, BOOL


def close(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> BOOL, computed in FP64."""
    return FP64, BOOL


def logical(t: DataType) -> tuple[DataType, DataType]:
    """BOOL x BOOL -> BOOL: other types are cast first."""
    return BOOL, BOOL


def real(t: DataType) -> tuple[DataType, DataType]:
    """FP32 stays, FP64 stays, all else computes in FP64."""
    return (t, t) if t.kind == "f" else (FP64, FP64)


def inverse(t: DataType) -> tuple[DataType, DataType]:
    """T -> T, computed in floating point: 1 / 0 is the greatest integer, as in SuiteSparse."""
    return (t, t) if t.kind == "f" else (FP64, t)


def small_inverse(t: DataType) -> tuple[DataType, DataType]:
    """As `inverse`, but BOOL x BOOL -> INT8."""
    return inverse(t)[0], small_boolean(t)[1]


# They compute in a wider type than that of the operator, to which operands are cast first: pow[INT32] cuts 2.5 to 2.
CAST_FIRST = (close, inverse, small_inverse)


def floating(t: DataType) -> tuple[DataType, DataType]:
    """T -> FP32 where that holds every T, else FP64."""
    z = FP32 if t is FP32 or (t.kind != "f" and t.nbytes <= 2) else FP64
    return z, z


def from_integer(t: DataType) -> tuple[DataType, DataType] | None:
    """As `floating`, but floating-point types have no version (ldexp in python-graphblas)."""
    return None if t.kind == "f" else floating(t)


def only_floating(t: DataType) -> tuple[DataType, DataType] | None:
    """T -> T for FP32 and FP64."""
    return (t, t) if t.kind == "f" else None


def classify(t: DataType) -> tuple[DataType, DataType] | None:
    """FP32 -> BOOL and FP64 -> BOOL."""
    return (t, BOOL) if t.kind == "f" else None


def position(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> INT64, whatever the values are; INT32 operands give INT32, as in SuiteSparse."""
    return INT64, INT32 if t is INT32 else INT64


def position_test(t: DataType) -> tuple[DataType, DataType]:
    """A predicate on positions: T x T -> BOOL."""
    return INT64, BOOL
