"""Typing rules: which types an operator takes, in which it computes, and what it gives. C API 2.1, section 3.5."""

from __future__ import annotations

from collections.abc import Callable

from .dtypes import BOOL, FP32, FP64, INT32, INT64, DataType

# A rule maps the type of the operands to (type that the expression computes in, type of its result), or to None.
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


def compare(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> BOOL."""
    return t, BOOL


def logical(t: DataType) -> tuple[DataType, DataType]:
    """BOOL x BOOL -> BOOL: other types are cast first."""
    return BOOL, BOOL


def real(t: DataType) -> tuple[DataType, DataType]:
    """FP32 stays, FP64 stays, all else computes in FP64."""
    return (t, t) if t.kind == "f" else (FP64, FP64)


def inverse(t: DataType) -> tuple[DataType, DataType]:
    """T -> T, computed in floating point: 1 / 0 is the greatest integer, as in SuiteSparse."""
    return (t, t) if t.kind == "f" else (FP64, t)


def root(t: DataType) -> tuple[DataType, DataType]:
    """T -> FP32 where that holds every T, else FP64."""
    z = FP32 if t is FP32 or (t.kind != "f" and t.nbytes <= 2) else FP64
    return z, z


def position(t: DataType) -> tuple[DataType, DataType]:
    """T x T -> INT64, whatever the values are; INT32 operands give INT32, as in SuiteSparse."""
    return INT64, INT32 if t is INT32 else INT64


def position_test(t: DataType) -> tuple[DataType, DataType]:
    """A predicate on positions: T x T -> BOOL."""
    return INT64, BOOL
