"""Delayed values: an Expression, an Infix without an operator yet, parent[I]. Reading their values computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..show import ShownExpression
from .operand import Operand


class NoIndex(TypeError, AttributeError):
    """TypeError, as `range(x)` raises; AttributeError, so that hasattr(x, "__index__") is false."""


class Number:
    """Conversions to Python numbers, for Scalars and delayed Scalars."""

    __slots__ = ()
    ndim: Any
    dtype: Any

    @property
    def __index__(self) -> Any:
        if self.ndim or self.dtype.kind not in "biu":
            kind = type(self).__name__
            raise NoIndex(f"{kind}: expected an integer Scalar where an index is needed, got {self!r}")
        return self.__int__

    # fmt: off
    def __int__(self) -> int: return int(self._number().value)
    def __float__(self) -> float: return float(self._number().value)
    def __complex__(self) -> complex: return complex(self._number().value)
    # fmt: on

    def _number(self) -> Any:
        return self


class NotInPlace:
    """Refuses x += y and similar, for which Python would create another x."""

    __slots__ = ()

    def _refuse(self, other: Any) -> Any:
        raise TypeError(f"{type(self).__name__}: is not computed yet and cannot be changed in place; use .new()")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _refuse
    __imatmul__ = __iand__ = __ior__ = __ixor__ = _refuse


def text_of(x: Any) -> str:
    """The text of an operand. A delayed one is not computed for its name, because that may be a collective."""
    return str(x._text() if isinstance(x, Delayed) else getattr(x, "name", None) or x)


class Delayed(Number, ShownExpression, Operand):
    """`_to_expr()`: the equivalent Expression, itself if it is one. First among the bases of a class, before
    `Operators`: a delayed Scalar needs the comparisons defined here."""

    __slots__ = ("__weakref__",)
    _to_expr: Any

    def _resolve(self) -> Any:
        return self._to_expr()._resolve()

    def _number(self) -> Any:
        if self.ndim:
            raise TypeError(f"{type(self).__name__}: expected a Scalar where a number is needed, got {self!r}")
        return self._resolve()

    if TYPE_CHECKING:  # Expression and Waiting have the attributes of their results

        def __getattr__(self, name: str) -> Any: ...

    # fmt: off
    def __getitem__(self, key: Any) -> Any: return self._resolve()[key]
    def __contains__(self, key: Any) -> bool: return key in self._resolve()
    def __iter__(self) -> Any: return iter(self._resolve())
    def __bool__(self) -> bool: return Operand.__bool__(self) if self.ndim else bool(self._resolve())
    # fmt: on

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return Operand.__array__(self, dtype, copy) if self.ndim else self._resolve().__array__(dtype, copy)

    def __eq__(self, other: Any) -> Any:
        return super().__eq__(other) if self.ndim else self._resolve() == other

    def __ne__(self, other: Any) -> Any:
        return super().__ne__(other) if self.ndim else self._resolve() != other

    def __hash__(self) -> int:
        if self.ndim == 0:  # compares by value, like the Scalar that it becomes
            raise TypeError(f"unhashable type: {type(self).__name__!r}")
        return object.__hash__(self)


class Waiting(Delayed):
    """Delayed values that become an Expression when an attribute is read."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._to_expr(), name)
