"""Scalar: one value, or none. It lives on the host."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from semirings import Typed, dtypes
from semirings.dtypes import FP64, DataType

from .. import device as devices
from ..device import Device
from .base import Operand, Output, describe
from .convert import cast_scalar, scalar_type, scalar_value
from .expr import ScalarExpression
from .operators import compute_type, typed

_names = itertools.count()


def of(value: Any) -> tuple[np.generic | None, DataType]:
    """The NumPy scalar (None: empty) and type of a Python scalar, a Scalar or a delayed one. TypeError otherwise."""
    if isinstance(value, Operand) and value.ndim == 0:
        if not isinstance(value, Scalar):
            # Not `_resolve`: where a statement asks for the value, autocompute has no say.
            expr = value if isinstance(value, ScalarExpression) else value._to_expr()  # type: ignore[attr-defined]
            value = expr.new() if expr._value is None else expr._value
        return value._value, value.dtype
    found = scalar_value(value)
    return found, scalar_type(found)


class Scalar(Output):
    """Scalar(dtype=FP64): empty until it gets a value. GraphBLAS C API 2.1, section 3.8.2."""

    __slots__ = ("__weakref__", "_value", "dtype", "name")
    ndim = 0
    shape = ()

    def __init__(self, dtype: Any = FP64, *, is_cscalar: bool = False, name: str | None = None) -> None:
        self.dtype = dtypes.lookup_dtype(dtype)
        self.name = f"s_{next(_names)}" if name is None else name
        self._value: np.generic | None = None

    @classmethod
    def from_value(cls, value: Any, dtype: Any = None, *, is_cscalar: bool = False, name: str | None = None) -> Scalar:
        """A Scalar of a bool (BOOL), int (INT64), float (FP64), NumPy scalar or Scalar; or of `dtype`.

        Raises TypeError for what is no scalar.
        """
        found, kind = of(value)
        s = cls(kind if dtype is None else dtype, name=name)
        s._store(found)
        return s

    def _store(self, value: np.generic | None) -> None:
        self._value = None if value is None else cast_scalar(value, self.dtype)

    @property
    def device(self) -> Device:  # type: ignore[override]
        return devices.get("cpu")

    @property
    def value(self) -> Any:
        """The value as a Python object, None if there is none. Assigning casts to the dtype."""
        return None if self._value is None else self._value.item()

    @value.setter
    def value(self, value: Any) -> None:
        self._store(None if value is None else of(value)[0])

    def get(self, default: Any = None) -> Any:
        return default if self._value is None else self._value.item()

    @property
    def is_empty(self) -> bool:
        return self._value is None

    @property
    def nvals(self) -> int:
        return int(self._value is not None)

    is_cscalar = False
    is_grbscalar = True

    def new(self, dtype: Any = None, *, is_cscalar: Any = None, name: str | None = None) -> Scalar:
        return self.dup(dtype, name=name)

    def dup(self, dtype: Any = None, *, clear: bool = False, is_cscalar: Any = None, name: str | None = None) -> Scalar:
        """A copy, cast to `dtype` if given, empty with `clear`."""
        s = Scalar(self.dtype if dtype is None else dtype, name=name)
        if not clear:
            s._store(self._value)
        return s

    def clear(self) -> None:
        self._value = None

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """The same value, or both empty (None is empty); the dtype counts only with `check_dtype` and a Scalar."""
        found, kind, same = self._other(other)
        if check_dtype and same and self.dtype is not kind:
            return False
        if self._value is None or found is None:
            return self._value is found
        return bool(self._value.item() == found.item())

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)."""
        found, kind, same = self._other(other)
        if check_dtype and same and self.dtype is not kind:
            return False
        if self._value is None or found is None:
            return self._value is found
        return math.isclose(self._value.item(), found.item(), rel_tol=rel_tol, abs_tol=abs_tol)

    def _other(self, other: Any) -> tuple[np.generic | None, DataType, bool]:
        if other is None:
            return None, self.dtype, False
        return *of(other), isinstance(other, Operand)

    def _update(self, value: Any, mask: Any = None, accum: Typed | None = None, replace: bool = False) -> None:
        try:
            found, _ = of(value)
        except TypeError:
            raise TypeError(f"Scalar << x: expected a scalar or a delayed Scalar, got {describe(value)}") from None
        if accum is not None and self._value is not None:
            found = self._value if found is None else _evaluate(accum, self._value, found)
        self._store(found)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> ScalarExpression:
        """op(value), op(value, right) or op(left, value); an empty Scalar stays empty."""
        if left is not None and right is not None:
            raise TypeError("apply: expected left or right, got both")
        if left is None and right is None:
            unary = typed(op, "unary", self.dtype)
            return ScalarExpression(
                "apply", (self,), unary, lambda mask: None if self._value is None else _evaluate(unary, self._value)
            )
        return combine(self, right, op) if left is None else combine(left, self, op)

    def ewise_add(self, other: Any, op: Any = "plus") -> ScalarExpression:
        return combine(self, other, op, union=True)

    def ewise_mult(self, other: Any, op: Any = "times") -> ScalarExpression:
        return combine(self, other, op)

    def __bool__(self) -> bool:
        return self._value is not None and bool(self._value)

    # fmt: off
    def __int__(self) -> int: return int(self.value)
    def __float__(self) -> float: return float(self.value)
    def __complex__(self) -> complex: return complex(self.value)
    # fmt: on

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self._value is None:
            raise TypeError(f"Scalar: expected an integer where an index is needed, got {self!r}")
        return int(self._value)

    # fmt: off
    def __eq__(self, other: Any) -> bool: return self.isequal(other)
    def __ne__(self, other: Any) -> bool: return not self.isequal(other)
    # fmt: on
    __hash__ = Output.__hash__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.value, dtype=self.dtype.np_type if dtype is None else dtype)

    def __repr__(self) -> str:
        return f"{self.name}: Scalar {self.dtype}, {'empty' if self._value is None else self.value}"


def _evaluate(op: Typed, x: np.generic, y: np.generic | None = None) -> np.generic:
    kind = compute_type(op)
    names = {"x": cast_scalar(x, kind)} if y is None else {"x": cast_scalar(x, kind), "y": cast_scalar(y, kind)}
    return op.op.evaluate(op.dtype, **names)


def combine(left: Any, right: Any, op: Any, *, union: bool = False) -> ScalarExpression:
    """op of two scalars; `union`: where one is empty the other counts."""
    x, xt = of(left)
    y, yt = of(right)
    binary = typed(op, "binary", xt, yt)

    def run(mask: Any) -> np.generic | None:
        if x is None or y is None:
            return (y if x is None else x) if union else None
        return _evaluate(binary, x, y)

    return ScalarExpression("combine", (Scalar.from_value(left), right), binary, run)
