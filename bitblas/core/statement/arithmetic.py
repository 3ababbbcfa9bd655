"""Infix arithmetic and comparisons of objects and delayed expressions, as python-graphblas defines them.

`+` is the union with plus, `-` the union with 0 for missing entries, all others are the intersection. With a scalar,
the operator applies to every entry. GraphBLAS C API 2.1, sections 4.3.4, 4.3.5, 4.3.8.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from semirings import binary as _binary
from semirings.dtypes import BOOL

from .operand import Operand, is_tensor, kinds


def infix(x: Any, y: Any, name: str, how: str = "mult") -> Any:
    """x op y; how: "add" (union), "union" (union, 0 for missing entries) or "mult" (intersection)."""
    op = reduce(getattr, name.split("."), _binary)
    if is_tensor(x) and is_tensor(y):
        x = x._resolve()
        if how == "add":
            return x.ewise_add(y, op)
        return x.ewise_union(y, op, False, False) if how == "union" else x.ewise_mult(y, op)
    if is_tensor(x):
        return x._resolve().apply(op, right=y)
    if is_tensor(y):
        return y._resolve().apply(op, left=x)
    return kinds[0]._combine(x, y, op, how)


def _bool_infix(x: Any, y: Any, name: str, symbol: str, how: str = "add") -> Any:
    expr = infix(x, y, name, how)
    if expr.dtype is not BOOL:
        raise TypeError(f"x {symbol} y: expected BOOL operands, got {expr.dtype}; for other types call binary.{name}")
    return expr


class Arithmetic(Operand):
    """Arithmetic operators of everything that may be part of an expression."""

    __slots__ = ()

    # fmt: off
    def __eq__(self, other: Any) -> Any: return infix(self, other, "eq")
    def __ne__(self, other: Any) -> Any: return infix(self, other, "ne")
    def __lt__(self, other: Any) -> Any: return infix(self, other, "lt")
    def __le__(self, other: Any) -> Any: return infix(self, other, "le")
    def __gt__(self, other: Any) -> Any: return infix(self, other, "gt")
    def __ge__(self, other: Any) -> Any: return infix(self, other, "ge")
    def __add__(self, other: Any) -> Any: return infix(self, other, "plus", "add")
    def __radd__(self, other: Any) -> Any: return infix(other, self, "plus", "add")
    def __sub__(self, other: Any) -> Any: return infix(self, other, "minus", "union")
    def __rsub__(self, other: Any) -> Any: return infix(other, self, "minus", "union")
    def __mul__(self, other: Any) -> Any: return infix(self, other, "times")
    def __rmul__(self, other: Any) -> Any: return infix(other, self, "times")
    def __truediv__(self, other: Any) -> Any: return infix(self, other, "truediv")
    def __rtruediv__(self, other: Any) -> Any: return infix(other, self, "truediv")
    def __floordiv__(self, other: Any) -> Any: return infix(self, other, "floordiv")
    def __rfloordiv__(self, other: Any) -> Any: return infix(other, self, "floordiv")
    def __mod__(self, other: Any) -> Any: return infix(self, other, "numpy.mod")
    def __rmod__(self, other: Any) -> Any: return infix(other, self, "numpy.mod")
    def __pow__(self, other: Any) -> Any: return infix(self, other, "pow")
    def __rpow__(self, other: Any) -> Any: return infix(other, self, "pow")
    def __xor__(self, other: Any) -> Any: return _bool_infix(self, other, "lxor", "^")
    def __rxor__(self, other: Any) -> Any: return _bool_infix(other, self, "lxor", "^")
    def __divmod__(self, other: Any) -> Any: return self // other, self % other
    def __rdivmod__(self, other: Any) -> Any: return other // self, other % self
    # fmt: on

    def __neg__(self) -> Any:
        return self._resolve().apply("ainv")

    def __abs__(self) -> Any:
        return self._resolve().apply("abs")

    def __invert__(self) -> Any:
        if self.dtype is not BOOL:
            raise TypeError(f"~x: expected a BOOL object, got {self.dtype}; the complement of a mask is ~x.S or ~x.V")
        return self._resolve().apply("lnot")

    __hash__ = Operand.__hash__


class InPlace(Arithmetic):
    """+= and similar, for everything that can be on the left of `<<`."""

    __slots__ = ()
    _update: Any

    def _in_place(self, other: Any, accum: str, expr: Any) -> Any:
        # An operand of the same kind is accumulated in place; a scalar changes only existing entries.
        if is_tensor(other) and other.ndim == self.ndim:
            output: Any = self
            output(accum) << other
        else:
            self << expr()
        return self

    def _in_place_bool(self, other: Any, accum: str, symbol: str) -> Any:
        # The type of the right operand decides, as in python-graphblas.
        if is_tensor(other) and other.ndim == self.ndim and other.dtype is BOOL:
            output: Any = self
            output(accum) << other
            return self
        return self._set(_bool_infix(self, other, accum, symbol))

    def _set(self, value: Any) -> Any:
        self._update(value)
        return self

    # fmt: off
    def __iadd__(self, other: Any) -> Any: return self._in_place(other, "plus", lambda: self + other)
    def __isub__(self, other: Any) -> Any: return self._set(self - other)
    def __imul__(self, other: Any) -> Any: return self._set(self * other)
    def __itruediv__(self, other: Any) -> Any: return self._set(self / other)
    def __ifloordiv__(self, other: Any) -> Any: return self._set(self // other)
    def __imod__(self, other: Any) -> Any: return self._set(self % other)
    def __ipow__(self, other: Any) -> Any: return self._set(self**other)
    def __imatmul__(self, other: Any) -> Any: return self._set(self @ other)
    def __iand__(self, other: Any) -> Any: return self._set(_bool_infix(self, other, "land", "&=", "mult"))
    def __ior__(self, other: Any) -> Any: return self._in_place_bool(other, "lor", "|=")
    def __ixor__(self, other: Any) -> Any: return self._in_place_bool(other, "lxor", "^=")
    # fmt: on
