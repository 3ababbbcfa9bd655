"""Resolve operators: from an operator, a typed operator or text such as "min_plus" to a typed operator.

The rules are python-graphblas': an untyped operator takes the type that holds both operands; `pair` and semirings over
it give INT64; `op[dtype]` wins; KeyError if the operator has no version for the type.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from semirings import BinaryOp, IndexUnaryOp, Monoid, Parameterized, SelectOp, Semiring, Typed, UnaryOp, binary, unary
from semirings.dtypes import DataType, DomainMismatch, check_cast, unify
from semirings.namespaces import SPACES
from semirings.registration import build

from .. import tuning

if TYPE_CHECKING:
    from semirings import Operator

    from .typing import OperatorLike

# Kind -> the classes of its operators, and their names in an error message.
_FAMILIES: dict[str, tuple[tuple[type, ...], str]] = {
    "unary": ((UnaryOp,), "UnaryOp"),
    "binary": ((BinaryOp, Monoid), "BinaryOp or Monoid"),
    "monoid": ((Monoid, BinaryOp), "Monoid (or a BinaryOp that has one)"),
    "semiring": ((Semiring,), "Semiring"),
    "indexunary": ((IndexUnaryOp, SelectOp), "IndexUnaryOp"),
    "select": ((SelectOp, IndexUnaryOp), "SelectOp"),
}
_BUILTINS: dict[object, Operator] = {abs: unary.abs, min: binary.min, max: binary.max}

# (id of the operator, kind, ids of the types) -> (the operator, kept alive so that its id stays unique; the typed one)
_cache: dict[tuple[int, str, int, int], tuple[object, Typed]] = {}


def typed(op: OperatorLike, kind: str, left: DataType, right: DataType | None = None) -> Typed:
    """The operator of that kind ("unary", "binary", "monoid", "semiring", "indexunary", "select") for operands of these
    types.

    Raises TypeError for an operator of another kind, ValueError for unknown text, KeyError for a type that it does not
    support, DomainMismatch for an operator of a user-defined type and operands of another.
    """
    key = (id(op), kind, id(left), id(right))
    found = _cache.get(key)
    if found is not None and found[0] is op:
        return found[1]
    result = _typed(op, kind, left, right)
    if len(_cache) > tuning.count("operators.cache"):
        _cache.clear()
    _cache[key] = (op, result)
    return result


def joining(op: Typed, argument: str) -> Typed:
    """An operator that combines values at one position. DomainMismatch for one that reads positions."""
    if op.op.is_positional:
        raise DomainMismatch(f"{argument}: expected an operator of values alone, got {op!r}, which reads positions")
    return op


def _typed(op: OperatorLike, kind: str, left: DataType, right: DataType | None) -> Typed:
    op = find(op, kind, is_udt=left._is_udt or (right is not None and right._is_udt))
    plain: Any = op.op if type(op) is Typed else op
    family, expected = _FAMILIES[kind]
    if not isinstance(plain, family) or (kind == "monoid" and monoid_of(plain) is None):
        raise TypeError(f"op: expected a {expected}, got {op!r}{_hint(plain, kind)}")
    if type(op) is Typed:
        dtype = op.dtype
        if dtype._is_udt:  # values of other types are not reinterpreted as this one
            check_cast(left, dtype)
            if right is not None and kind in ("binary", "semiring"):
                check_cast(right, dtype)
    elif isinstance(plain, Semiring) and plain.binaryop.default_type is not None:
        dtype = plain.binaryop.default_type
    elif isinstance(plain, BinaryOp) and plain.default_type is not None and right is not None:
        dtype = plain.default_type
    else:
        dtype = left if right is None else unify(left, right)
    plain.check(dtype)
    if kind == "monoid":
        found = monoid_of(plain)
        assert found is not None  # checked above
        if isinstance(plain, BinaryOp) and dtype not in found:
            raise TypeError(f"op: expected a Monoid, got {plain!r}, which has none for {dtype}")
        return found[dtype]
    if isinstance(plain, Monoid):
        return plain.binaryop[plain[dtype].compute_type]
    return op if type(op) is Typed else plain[dtype]


def monoid_of(op: object) -> Monoid | None:
    return op if isinstance(op, Monoid) else getattr(op, "monoid", None)


def _hint(op: OperatorLike, kind: str) -> str:
    if isinstance(op, Semiring) and kind in ("binary", "monoid"):
        return f"; {op.name}.{'binaryop' if kind == 'binary' else 'monoid'} may be what you want"
    if isinstance(op, BinaryOp) and kind == "unary":
        return "; a BinaryOp needs left= or right="
    return ""


def find(op: OperatorLike, kind: str, *, is_udt: bool = False) -> Any:
    """The operator, or the one that text names: "min", "+", "min_plus", "min.plus", "+[int]". is_udt: a function
    applies to values of user-defined types."""
    if isinstance(op, str):
        return SPACES[kind].from_string(op)
    if isinstance(op, Parameterized):
        return op()
    if isinstance(op, FunctionType) and kind != "semiring":
        return build("binary" if kind == "monoid" else kind, op, narrow=False, is_udt=is_udt)
    return _BUILTINS.get(op, op) if callable(op) and not hasattr(op, "check") and not isinstance(op, Typed) else op


__all__ = ["find", "joining", "monoid_of", "typed"]
