"""Base class of everything that an expression may contain: objects and delayed values. Imports nothing else of core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...device import Device

# Scalar, Vector and Matrix by rank, for modules that cannot import them; each class registers itself.
kinds: dict[int, Any] = {}
NAMES = {0: "Scalar", 1: "Vector", 2: "Matrix"}


def describe(value: Any) -> str:
    """A value in an error message: its type, and the value itself if that is short."""
    text = f" {value!r}" if isinstance(value, (bool, int, float, str)) else ""
    return f"{type(value).__module__}.{type(value).__qualname__}{text}".replace("builtins.", "")


class Operand:
    """Everything that may be part of an expression. `_resolve()` returns the object itself, computed if it is
    delayed."""

    __slots__ = ()
    dtype: Any

    if TYPE_CHECKING:  # attributes in some classes, properties in others

        @property
        def ndim(self) -> int: ...
        @property
        def device(self) -> Device: ...

    def _resolve(self) -> Any:
        return self

    def __bool__(self) -> bool:
        raise TypeError(f"{type(self).__name__}: has no truth value; did you mean .nvals or .isequal(other)?")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(f"{type(self).__name__}: is not converted to an array implicitly; use .to_coo() or .to_dense()")

    __hash__ = object.__hash__


def object_of(value: Any, ndim: int, where: str) -> Any:
    """`value` as a Vector (ndim 1) or Matrix (2), computed if it is delayed. TypeError otherwise."""
    if isinstance(value, Operand) and value.ndim == ndim:
        return value._resolve()
    raise TypeError(f"{where}: expected a {NAMES[ndim]}, got {describe(value)}")


def is_tensor(x: Any) -> bool:
    """Whether x is a Vector or a Matrix, or a delayed one."""
    return isinstance(x, Operand) and x.ndim > 0
