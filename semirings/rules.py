"""Typing rules: accepted input types, computation type and result type of an operator. C API 2.1, section 3.5.

A rule maps the type of the operands to (type that the expression computes in, type of its result), or to None.
"""

from __future__ import annotations

from collections.abc import Callable

from .dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT16, INT32, INT64, UINT16, UINT32, UINT64, DataType

Rule = Callable[[DataType], "tuple[DataType, DataType] | None"]


def same(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> T, for every type."""
    return t, t


def arithmetic(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> T. BOOL has the operator (plus is or, times is and) but no semiring, as in python-graphblas."""
    return t, t


def ordered(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T, except complex."""
    return None if t.kind == "c" else (t, t)


def ordered_arithmetic(t: DataType) -> tuple[DataType, DataType] | None:
    """Like `arithmetic`, except complex."""
    return None if t.kind == "c" else (t, t)


def number(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T, except BOOL."""
    return None if t is BOOL else (t, t)


def integer(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T, for integers."""
    return (t, t) if t.kind in "iu" else None


def integer_or_boolean(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T for integers, and BOOL x BOOL -> INT8."""
    return None if t.kind in "fc" else small_boolean(t)


def unsigned(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> T, for unsigned integers."""
    return (t, t) if t.kind == "u" else None


# The unsigned types that bitwise monoids use for signed integers, as in python-graphblas.
UNSIGNED = {INT8: UINT16, INT16: UINT32, INT32: UINT64, INT64: UINT64}


def boolean(t: DataType) -> tuple[DataType, DataType] | None:
    """BOOL x BOOL -> BOOL only."""
    return (t, t) if t is BOOL else None


def long_integer(t: DataType) -> tuple[DataType, DataType] | None:
    """Integers become INT64."""
    return (INT64, INT64) if t.kind in "iu" else None


def small_boolean(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> T, but BOOL x BOOL -> INT8, as Python adds booleans."""
    return t, INT8 if t is BOOL else t


def small_inexact(t: DataType) -> tuple[DataType, DataType]:
    """Like `small_boolean`; complex numbers are computed in FC64."""
    return (FC64, t) if t.kind == "c" else small_boolean(t)


def small_ordered(t: DataType) -> tuple[DataType, DataType] | None:
    """Like `small_boolean`, except complex."""
    return None if t.kind == "c" else small_boolean(t)


def compare(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> BOOL."""
    return t, BOOL


def order(t: DataType) -> tuple[DataType, DataType] | None:
    """T x T -> BOOL, except complex."""
    return None if t.kind == "c" else (t, BOOL)


def close(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> BOOL, computed in FP64 or FC64."""
    return FC64 if t.kind == "c" else FP64, BOOL


def logical(t: DataType) -> tuple[DataType, DataType] | None:
    """BOOL x BOOL -> BOOL: other types except complex are cast first."""
    return None if t.kind == "c" else (BOOL, BOOL)


def magnitude(t: DataType) -> tuple[DataType, DataType]:
    """T -> T; complex -> real."""
    return t, {FC32: FP32, FC64: FP64}.get(t, t)


def part(t: DataType) -> tuple[DataType, DataType] | None:
    """Complex -> real."""
    return magnitude(t) if t.kind == "c" else None


def only_complex(t: DataType) -> tuple[DataType, DataType] | None:
    """T -> T for complex numbers."""
    return (t, t) if t.kind == "c" else None


def parts(t: DataType) -> tuple[DataType, DataType] | None:
    """Two real numbers -> a complex number."""
    found = floating(t)
    return None if found is None or t.kind == "c" else (found[0], FC32 if found[0] is FP32 else FC64)


def real(t: DataType) -> tuple[DataType, DataType]:
    """FP32, FP64 and complex types -> T (complex computed in FC64), others -> FP64."""
    return (FC64, t) if t.kind == "c" else (t, t) if t.kind == "f" else (FP64, FP64)


def inverse(t: DataType) -> tuple[DataType, DataType]:
    """T -> T, computed in floating point: 1 / 0 is the greatest integer, as in SuiteSparse."""
    return (t, t) if t.kind == "f" else (FC64 if t.kind == "c" else FP64, t)


def small_inverse(t: DataType) -> tuple[DataType, DataType]:
    """Like `inverse`, but BOOL x BOOL -> INT8."""
    return inverse(t)[0], small_boolean(t)[1]


def quotient(t: DataType) -> tuple[DataType, DataType]:
    """Like `arithmetic`; complex numbers are computed in FC64."""
    return FC64 if t.kind == "c" else t, t


ARITHMETIC = (arithmetic, ordered_arithmetic, quotient)


# Rules that compute in a wider type; operands are cast to the operator's type first: pow[INT32] truncates 2.5 to 2.
CAST_FIRST = (close, inverse, small_inverse)


def floating(t: DataType) -> tuple[DataType, DataType] | None:
    """T -> FP32 if it holds every T, else FP64; except complex."""
    if t.kind == "c":
        return None
    z = FP32 if t is FP32 or (t.kind != "f" and t.nbytes <= 2) else FP64
    return z, z


def inexact(t: DataType) -> tuple[DataType, DataType] | None:
    """Like `floating`; complex T -> T, computed in FC64."""
    return (FC64, t) if t.kind == "c" else floating(t)


def from_integer(t: DataType) -> tuple[DataType, DataType] | None:
    """Like `floating`, without a version for floating-point types (ldexp in python-graphblas)."""
    return None if t.kind in "fc" else floating(t)


def only_floating(t: DataType) -> tuple[DataType, DataType] | None:
    """T -> T for FP32 and FP64."""
    return (t, t) if t.kind == "f" else None


def classify(t: DataType) -> tuple[DataType, DataType] | None:
    """Floating-point and complex numbers -> BOOL."""
    return (t, BOOL) if t.kind in "fc" else None


def position(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> INT64 regardless of values; INT32 operands give INT32, as in SuiteSparse."""
    return INT64, INT32 if t is INT32 else INT64


def position_test(t: DataType) -> tuple[DataType, DataType]:
    """A predicate on positions: T x T -> BOOL."""
    return INT64, BOOL
