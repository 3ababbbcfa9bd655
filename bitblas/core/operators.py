"""From what users write (an operator, a typed one, or text such as "min_plus") to a typed operator.

The rules are python-graphblas': an untyped operator takes the type that holds both operands; `pair` and semirings over
it give INT64; `op[dtype]` wins; KeyError where the operator has no version for the type.
"""

from __future__ import annotations

from typing import Any

from semirings import (
    BinaryOp,
    IndexUnaryOp,
    Monoid,
    Semiring,
    Typed,
    UnaryOp,
    binary,
    dtypes,
    indexunary,
    monoid,
    semiring,
    unary,
)
from semirings.dtypes import DataType

_FAMILIES: dict[str, tuple[type, ...]] = {
    "unary": (UnaryOp,),
    "binary": (BinaryOp, Monoid),
    "monoid": (Monoid, BinaryOp),
    "semiring": (Semiring,),
    "index": (IndexUnaryOp,),
}
_EXPECTED = {
    "unary": "UnaryOp", "binary": "BinaryOp or Monoid", "monoid": "Monoid (or a BinaryOp that has one)",
    "semiring": "Semiring", "index": "IndexUnaryOp",
}  # fmt: skip
_SYMBOLS: dict[str, dict[str, str]] = {
    "unary": {"-": "ainv", "~": "lnot"},
    "binary": {
        "<": "lt", ">": "gt", "<=": "le", ">=": "ge", "!=": "ne", "==": "eq", "+": "plus", "-": "minus", "*": "times",
        "/": "truediv", "//": "floordiv", "**": "pow", "&": "land", "|": "lor", "^": "lxor",
    },
    "monoid": {"==": "lxnor", "+": "plus", "*": "times", "&": "land", "|": "lor", "^": "lxor"},
    "semiring": {},
    "index": {
        "<": "valuelt", ">": "valuegt", "<=": "valuele", ">=": "valuege", "!=": "valuene", "==": "valueeq",
        "col<=": "colle", "col>": "colgt", "row<=": "rowle", "row>": "rowgt", "index<=": "rowle", "index>": "rowgt",
        "index": "rowindex", "indexle": "rowle", "indexgt": "rowgt",
    },
}  # fmt: skip
_SPACES = {"unary": unary, "binary": binary, "monoid": monoid, "semiring": semiring, "index": indexunary}
_BUILTINS: dict[Any, Any] = {abs: unary.abs, min: binary.min, max: binary.max}

# (id of the operator, kind, ids of the types) -> (the operator, kept so that its id stays its own; the typed one)
_cache: dict[tuple[int, str, int, int], tuple[Any, Typed]] = {}


def typed(op: Any, kind: str, left: DataType, right: DataType | None = None) -> Typed:
    """The operator of that kind ("unary", "binary", "monoid", "semiring", "index") for operands of these types.

    Raises TypeError for an operator of another kind, ValueError for unknown text, KeyError for a type it has not.
    """
    key = (id(op), kind, id(left), id(right))
    found = _cache.get(key)
    if found is not None and found[0] is op:
        return found[1]
    result = _typed(op, kind, left, right)
    if len(_cache) > 4096:  # operators made on the fly would fill it
        _cache.clear()
    _cache[key] = (op, result)
    return result


def compute_type(op: Typed) -> DataType:
    """The type in which a typed operator or monoid computes: its operands are cast to it."""
    plain: Any = op.op
    return plain.compute_type(op.dtype)


def _typed(op: Any, kind: str, left: DataType, right: DataType | None) -> Typed:
    op = find(op, kind)
    plain: Any = op.op if type(op) is Typed else op
    if not isinstance(plain, _FAMILIES[kind]) or (kind == "monoid" and monoid_of(plain) is None):
        raise TypeError(f"op: expected a {_EXPECTED[kind]}, got {op!r}{_hint(plain, kind)}")
    if type(op) is Typed:
        dtype = op.dtype
    elif isinstance(plain, Semiring) and plain.binaryop.default_type is not None:
        dtype = plain.binaryop.default_type
    elif isinstance(plain, BinaryOp) and plain.default_type is not None and right is not None:
        dtype = plain.default_type
    else:
        dtype = left if right is None else dtypes.unify(left, right)
    plain.check(dtype)
    if kind == "monoid":
        return monoid_of(plain)[dtype]  # type: ignore[index]
    if isinstance(plain, Monoid):
        return Typed(plain.binaryop, compute_type(plain[dtype]))
    return op if type(op) is Typed else Typed(plain, dtype)


def monoid_of(op: Any) -> Monoid | None:
    return op if isinstance(op, Monoid) else getattr(op, "monoid", None)


def _hint(op: Any, kind: str) -> str:
    if isinstance(op, Semiring) and kind in ("binary", "monoid"):
        return f"; {op.name}.{'binaryop' if kind == 'binary' else 'monoid'} may be what is meant"
    if isinstance(op, BinaryOp) and kind == "unary":
        return "; a BinaryOp needs left= or right="
    return ""


def find(op: Any, kind: str) -> Any:
    """The operator, or the one that text names: "min", "+", "min_plus", "min.plus", "+[int]"."""
    if isinstance(op, str):
        return from_string(op, kind)
    return _BUILTINS.get(op, op) if callable(op) and not hasattr(op, "check") and not isinstance(op, Typed) else op


def from_string(text: str, kind: str) -> Any:
    base, bracket, dtype = text.strip().partition("[")
    if bracket and not dtype.endswith("]"):
        raise ValueError(f"op: expected an operator such as '+' or '+[int]', got {text!r}")
    base = base.lower()
    name = _SYMBOLS[kind].get(base, base)
    space: Any = _SPACES[kind]
    if kind == "semiring" and "." in name:
        add, _, multiply = name.partition(".")
        name = f"{from_string(add, 'monoid').name}_{from_string(multiply, 'binary').name}"
    try:
        op = space[name]
    except AttributeError:
        known = ", ".join((*_SYMBOLS[kind], *space))
        raise ValueError(f"op: expected the name of a {_EXPECTED[kind]} (one of {known}), got {text!r}") from None
    return op[dtype[:-1]] if bracket else op


def op_from_string(text: str) -> Any:
    """The operator that a text names: unary, binary, index-unary, a monoid, a semiring, an aggregator, in this order.

    Raises ValueError for a text that names none.
    """
    for kind in ("unary", "binary", "index", "monoid", "semiring"):
        try:
            return from_string(text, kind)
        except ValueError:
            continue
    from .aggregators import find as find_aggregator

    aggregator = find_aggregator(text)
    if aggregator is not None:
        return aggregator
    raise ValueError(f"op: expected the name of an operator such as 'min', '+' or 'min_plus', got {text!r}")


class _Op:
    """All operators under one name: `op.min_plus`, `op.from_string("+")`."""

    from_string = staticmethod(op_from_string)

    def __getattr__(self, name: str) -> Any:
        try:
            return op_from_string(name)
        except ValueError as error:
            raise AttributeError(str(error)) from None


op = _Op()
