"""Scalar operands, alone and together with operators, for `apply`, `select` and `ewise_union`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import IndexUnaryOp, SelectOp, Typed, UnaryOp, dtypes, indexunary
from semirings.dtypes import BOOL, UINT64, DataType, check_cast
from semirings.expressions import names_in
from semirings.user_types import UserType

from ...exceptions import DomainMismatch, EmptyObject
from ..convert import OF_PYTHON, integer_beside, integer_written, scalar_type, scalar_value
from ..hooks import cast
from ..hooks import state as recording
from ..operators import find, typed
from .infix import Delayed, Operand, describe
from .masks import Mask, check

if TYPE_CHECKING:
    from ..typing import OperandArg, Operands, OperatorLike

NOTHING = np.bool_(False)
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1  # of INT64


def of(value: object, like: DataType | None = None, many: bool = False) -> tuple[np.generic | None, DataType]:
    """The NumPy scalar (None: empty) and type of a Python scalar, a Scalar or a delayed one. TypeError otherwise.

    like: the type that it will be cast to; for a user-defined one, the value may be a record, a tuple, a list (unless
    that would be `many` values) or a number. DomainMismatch if there is no cast, OverflowError for an integer beyond
    INT64 that `like` does not hold.
    """
    if like is not None and like._is_udt and isinstance(like, UserType):
        if many and several(value, like):
            raise TypeError("value: expected a scalar, got several")
        return _of_user_type(value, like)
    try:
        found, dtype = _of(value)
    except OverflowError:
        if type(value) is not int:
            raise
        return integer_written(value, like, "value")
    if like is not None and dtype._is_udt:
        raise DomainMismatch(f"value: expected one to cast to {like}, got one of {dtype}, a user-defined type")
    return found, dtype


def assigned(
    value: object, like: DataType, where: str, expected: str = "a scalar"
) -> tuple[np.generic | None, DataType]:
    """The right side of an assignment: as `of`. The TypeError names the statement."""
    try:
        return of(value, like)
    except DomainMismatch:
        raise
    except TypeError:
        raise TypeError(f"{where}: expected {expected}, got {describe(value)}") from None


def several(value: object, dtype: DataType) -> bool:
    """Whether this is a list or an array of values of a user-defined type, rather than one value."""
    if not isinstance(dtype, UserType) or (not isinstance(value, list) and not getattr(value, "ndim", 0)):
        return False
    values: Any = value
    return dtype.record.subdtype is None or np.shape(values) != dtype.record.shape


def _of_user_type(value: Any, like: UserType) -> tuple[np.generic | None, DataType]:
    if value is None or not isinstance(value, Operand):
        return (None if value is None else like.one(value)), like
    found, dtype = _of(value)
    check_cast(dtype, like)
    return found, like


def _of(value: object) -> tuple[np.generic | None, DataType]:
    known = OF_PYTHON.get(type(value))
    if known is not None:
        return known.np_type.type(value), known
    if isinstance(value, Operand) and value.ndim == 0:
        if recording.threads and recording.recorder is not None:
            return recording.recorder.symbol(value)
        if isinstance(value, Delayed):
            # Not `_resolve`: a statement computes the value whatever config.autocompute is.
            expr = value._to_expr()
            value = expr.new() if expr._value is None else expr._value
        scalar: Any = value
        return scalar._value, scalar.dtype
    found = scalar_value(value)
    return found, scalar_type(found)


def operand(value: object, where: str, like: DataType | None = None) -> tuple[np.generic, DataType]:
    """A scalar that must not be empty. like: the type of the other operand, which also is the scalar's if it is
    user-defined. OverflowError for an integer beyond INT64 that would become a float next to it."""
    if type(value) is int and not _LOWEST <= value <= _HIGHEST:
        return integer_beside(value, like, where)
    try:
        found, dtype = of(value, like if like is not None and like._is_udt else None)
    except TypeError:
        raise TypeError(f"{where}: expected a scalar, got {describe(value)}") from None
    if found is None:
        raise EmptyObject(f"{where}: expected a scalar with a value, got an empty Scalar")
    return found, dtype


_COMPARISONS = {f"{kind}{name}" for kind in ("", "value") for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def _beside(
    op: OperatorLike, kind: str, value: object, where: str, dtype: DataType, like: DataType | None = None
) -> tuple[np.generic, DataType]:
    """The scalar operand of an operator of that kind, for values of type `dtype`. like: as in `operand`. A Python
    integer that is compared with UINT64 is UINT64, because their common type would be FP64."""
    if type(value) is int and not dtype._is_udt and (dtype is UINT64 or not _LOWEST <= value <= _HIGHEST):
        plain = find(op, kind)
        plain = plain.op if isinstance(plain, Typed) else plain
        if getattr(plain, "positional", False):
            if not _LOWEST <= value <= _HIGHEST:
                raise OverflowError(f"{where}: expected an integer from -2**63 to 2**63-1, got {value}")
        elif dtype is UINT64 and 0 <= value <= UINT64.highest and getattr(plain, "name", "") in _COMPARISONS:
            return np.uint64(value), UINT64
        return operand(value, where, dtype)
    return operand(value, where, like)


@functools.cache
def _casts(op: Typed) -> tuple[DataType, ...]:
    plain: Any = op.op
    casts: tuple[DataType, ...] = plain.casts(op.dtype)
    return casts


def compute_scalar(op: Typed, value: Any) -> np.generic:
    for t in _casts(op):
        value = cast(value, t)
    return value


def apply_operator(
    op: OperatorLike, dtype: DataType, left: OperandArg, right: OperandArg
) -> tuple[str, Typed, np.generic | None]:
    """For `apply`: the kind of call ("unary", "left", "right", "index"), the typed operator, the scalar."""
    plain = op.op if type(op) is Typed else op
    if type(plain) is UnaryOp and left is None and right is None:
        return "unary", typed(op, "unary", dtype), None
    if left is not None and right is not None:
        raise TypeError("apply: expected only one of left and right, got both")
    if isinstance(op, str):
        for kind in ("unary", "indexunary") if left is None and right is None else ("binary", "indexunary"):
            try:
                op = find(op, kind)
                break
            except ValueError:
                continue
    plain = op.op if isinstance(op, Typed) else op
    if isinstance(plain, SelectOp) and plain.name in indexunary:  # a test of the same name
        twin = indexunary[plain.name]
        plain, op = twin, twin[op.dtype] if isinstance(op, Typed) else twin
    if isinstance(plain, IndexUnaryOp):
        if left is not None:
            raise TypeError("left: an IndexUnaryOp takes its thunk as right")
        f, value = index_operator(op, dtype, right, "indexunary")
        return "index", f, value
    if left is None and right is None:
        return "unary", typed(op, "unary", dtype), None
    side = "left" if right is None else "right"
    value, kind_of = _beside(op, "binary", left if right is None else right, f"apply, {side}", dtype, dtype)
    f = typed(op, "binary", kind_of, dtype) if side == "left" else typed(op, "binary", dtype, kind_of)
    return side, f, compute_scalar(f, value)


def operands(x: Operand, kind: str, scalar: np.generic | None) -> Operands:
    """The operands of x.apply(op, right, left) in the order of its parameters."""
    return (x,) if scalar is None else (x, None, scalar) if kind == "left" else (x, scalar)


def index_operator(op: Any, dtype: DataType, thunk: OperandArg, kind: str) -> tuple[Typed, np.generic]:
    """An operator of that kind ("indexunary", "select") and its thunk; by default False, of the smallest type."""
    like = _thunk_type(op, dtype)
    value, thunk_type = _beside(op, kind, NOTHING if thunk is None else thunk, "thunk", dtype, like)
    if dtype._is_udt and not thunk_type._is_udt:  # the operator reads positions only
        dtype = thunk_type
    f = typed(op, kind, dtype, thunk_type)
    if kind == "select" and f.return_type is not BOOL:
        raise ValueError(f"op: SelectOp must have BOOL return type, got {f!r}, which gives {f.return_type}")
    return f, compute_scalar(f, value)


def _thunk_type(op: Any, dtype: DataType) -> DataType | None:
    """The type of a thunk if it has to be known in advance: one that is compared with a user-defined value."""
    if not dtype._is_udt:
        return None
    plain = find(op, "indexunary") if isinstance(op, str) else op.op if isinstance(op, Typed) else op
    return dtype if "x" in names_in(getattr(plain, "expr", "x")) else None


def select_mask(op: object, thunk: OperandArg, ndim: int) -> Mask | None:
    """The mask, if `select` was given one instead of an operator."""
    if not isinstance(op, (Mask, Operand)):
        return None
    if thunk is not None:
        raise TypeError("thunk: not allowed with a mask or a BOOL object")
    return check(op, ndim)


def union_operator(
    op: OperatorLike, left: DataType, right: DataType, x: object, y: object
) -> tuple[Typed, np.generic, np.generic]:
    """The operator of ewise_union and the two defaults, all of one type."""
    (a, at), (b, bt) = operand(x, "left_default", left), operand(y, "right_default", right)
    f = typed(op, "binary", dtypes.unify(left, bt), dtypes.unify(at, right))
    return f, compute_scalar(f, a), compute_scalar(f, b)
