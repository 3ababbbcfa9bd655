"""Operator expressions: text that is valid in both Python and CUDA C++.

Most operators are plain text. If integers and floating-point numbers need different text, `ByKind` holds one for each
kind; `resolve` picks one by the type that the operator computes in. The name `bits` is the width of that type.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from types import CodeType

from .dtypes import DataType, Value


class Expression(str):
    """The call of a function outside functions.py, which carries its own definition (udf.py).

    Each subclass defines: `renamed`, the same with other operand names, as in a text; `evaluate`, the value on the host
    for operands by name, cast to these types; `gives`, the result type for operands of these types; the definitions
    that Numba and the CUDA compiler read before the call.
    """

    renamed: Callable[[str], Expression]
    evaluate: Callable[[Mapping[str, DataType], Mapping[str, Value]], Value]
    gives: Callable[[Mapping[str, DataType]], DataType]
    definition_python: Callable[[Mapping[str, DataType]], str]
    definition_cpp: Callable[[Mapping[str, DataType]], str]


class ByKind(str):
    """Texts by operand kind: boolean, integer (unsigned if different), floating (complex if different)."""

    texts: dict[str, str]  # by the kind's letter

    def __new__(cls, boolean: str, integer: str, floating: str, unsigned: str = "", complex: str = "") -> ByKind:
        self = super().__new__(cls, floating)
        self.texts = {"b": boolean, "i": integer, "f": floating, "u": unsigned or integer, "c": complex or floating}
        return self

    def __reduce__(self) -> tuple[type[ByKind], tuple[str, ...]]:
        return ByKind, (*self.texts.values(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByKind) and self.texts == other.texts

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((*self.texts.values(),))


def but_complex(text: str, complex: str) -> ByKind:
    """One text for all kinds except complex numbers, which have their own."""
    return ByKind(text, text, text, complex=complex)


def resolve(expr: str, t: DataType) -> str:
    """The text of an expression computed in type `t`."""
    text = expr.texts[t.kind] if isinstance(expr, ByKind) else expr
    return re.sub(r"\bbits\b", str(8 * t.nbytes), text)


def rename(expr: str, names: dict[str, str]) -> str:
    """The expression with operands renamed, e.g. to the names of positions in a kernel; other names remain."""
    if not any(re.search(rf"\b{old}\b", expr) for old in names):
        return expr
    text = re.sub(r"\b\w+\b", lambda m: names.get(m[0], m[0]), expr)
    return expr.renamed(text) if isinstance(expr, Expression) else text


def names_in(expr: str) -> frozenset[str]:
    """The operand names that occur in an expression."""
    return frozenset(re.findall(r"\b(?:x|y|t|ix|jx|iy|jy)\b", expr))


def include_guarded(guard: str, text: str) -> str:
    """CUDA C++ with an include guard."""
    return f"#ifndef {guard}\n#define {guard}\n{text}#endif\n"


@functools.cache
def code(expr: str) -> CodeType:
    return compile(expr, "<expression>", "eval")
