"""Operators from text: "min", "+", "min_plus[FP32]", "min.plus", "+[int]", "numpy.add", as in python-graphblas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .algebra import AnyOperator, Monoid, Semiring, compose
from .operators import BinaryOp, Parameterized
from .relations import monoid_of
from .typed import Applicable, Typed

if TYPE_CHECKING:
    from .namespace import Namespace

_COMPARISONS = {
    "<": "valuelt", ">": "valuegt", "<=": "valuele", ">=": "valuege", "!=": "valuene", "==": "valueeq",
    "col<=": "colle", "col>": "colgt", "row<=": "rowle", "row>": "rowgt", "index<=": "indexle", "index>": "indexgt",
}  # fmt: skip
SYMBOLS: dict[str, dict[str, str]] = {
    "unary": {"-": "ainv", "~": "lnot"},
    "binary": {
        "<": "lt", ">": "gt", "<=": "le", ">=": "ge", "!=": "ne", "==": "eq", "+": "plus", "-": "minus", "*": "times",
        "/": "truediv", "//": "floordiv", "%": "numpy.mod", "**": "pow", "&": "land", "|": "lor", "^": "lxor",
    },
    "monoid": {"==": "eq", "+": "plus", "*": "times", "&": "land", "|": "lor", "^": "lxor"},
    "semiring": {},
    "indexunary": _COMPARISONS,
    "select": _COMPARISONS,
}  # fmt: skip
EXAMPLES = {
    "unary": "abs[int]", "binary": "+[int]", "monoid": "+[int]", "semiring": "min.+[int]", "indexunary": "rowindex",
    "select": "tril",
}  # fmt: skip
# The order in which `op.from_string` tries the families.
ORDER = ("unary", "binary", "monoid", "semiring", "indexunary", "select")


def from_string(family: str, text: str, spaces: dict[str, Namespace]) -> AnyOperator | Typed[Applicable]:
    """The operator of a family that a text names; `name[dtype]` gives a typed one. ValueError for unknown text."""
    base, bracket, dtype = text.strip().partition("[")
    if (bracket and not dtype.endswith("]")) or "]" in base or "[" in dtype:
        raise _unknown(family, text, "brackets do not match")
    name = SYMBOLS[family].get(base.lower(), base)
    found = _find(spaces[family], name)
    if found is None and family == "semiring" and "." in base:
        add, _, multiply = base.partition(".")
        found = get_semiring(from_string("monoid", add, spaces), from_string("binary", multiply, spaces))
    if found is None:
        raise _unknown(family, text, f"expected one of {', '.join((*SYMBOLS[family], *spaces[family]))}")
    return found[dtype[:-1]] if bracket else found


def any_from_string(text: str, spaces: dict[str, Namespace]) -> AnyOperator | Typed[Applicable]:
    """The operator of any family that a text names. ValueError for unknown text."""
    for family in ORDER:
        try:
            return from_string(family, text, spaces)
        except (ValueError, KeyError):
            continue
    raise ValueError(f"op: expected the name of an operator such as 'min', '+' or 'min_plus', got {text!r}")


def _find(space: Namespace, name: str) -> Any:
    """The operator, by its name or in lower case; NumPy's names are tried last."""
    for spelled in dict.fromkeys((name, name.lower(), f"numpy.{name}")):
        try:
            found = space[spelled]
        except AttributeError:
            continue
        if hasattr(found, "types") or isinstance(found, Parameterized):
            return found
    return None


def _unknown(family: str, text: str, why: str) -> ValueError:
    return ValueError(f"op: Unknown {family} string {text!r}: {why}. Example usage: {EXAMPLES[family]!r}")


def get_semiring(
    monoid: object, binaryop: object, name: str | None = None, *, space: Namespace | None = None
) -> Semiring | Typed[Semiring]:
    """The semiring of a monoid (or a BinaryOp that has one) and a BinaryOp (or the one of a Monoid); typed if one of
    them is. With a name, it is also entered in `space`, unless the name is taken. TypeError for other operators.
    """
    add, multiply = (op.op if isinstance(op, Typed) else op for op in (monoid, binaryop))
    found = monoid_of(add) if isinstance(add, BinaryOp) else add
    if not isinstance(found, Monoid):
        raise TypeError(f"monoid: expected a Monoid, or a BinaryOp that has one, got {monoid!r}")
    if isinstance(multiply, Monoid) and isinstance(add, BinaryOp):
        raise TypeError(f"expected (monoid, binaryop), got {monoid!r} and {binaryop!r}: are they switched?")
    multiply = multiply.binaryop if isinstance(multiply, Monoid) else multiply
    if not isinstance(multiply, BinaryOp):
        raise TypeError(f"binaryop: expected a BinaryOp, got {binaryop!r}")
    ring = compose(found, multiply)
    if name is not None and space is not None and name not in space:
        space._add(name, ring)
    for op in (binaryop, monoid):
        if isinstance(op, Typed):
            return ring[op.dtype]
    return ring
