"""Operators as frozen dataclasses: a name, an expression, a typing rule.

Names in an expression: x and y (the values), t (the thunk of an index-unary operator), and the positions of the
operands, ix, jx for x and iy, jy for y. Functions that it may call are in functions.py and functions.cuh. GraphBLAS C
API 2.1, section 3.5.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from . import complex_functions, functions, relations
from .cached import cached_property
from .dtypes import BOOL, INT8, INT64, DataType, Value, cast_scalar
from .expressions import Expression, code, names_in, rename, resolve
from .rules import Rule, same
from .typed import Ruled, Typed

if TYPE_CHECKING:
    from .algebra import Monoid

NAMESPACE = {
    name: f for of in (functions, complex_functions) for name, f in vars(of).items() if not name.startswith("_")
}


_MOVE, _COMPARE = ("x", "y"), ("x == y", "x != y", "x == t", "x != t")  # supported for dictionary-encoded values


def operand(value: Value, *casts: DataType) -> np.generic:
    """A value, cast as an expression expects it on the host. BOOL becomes an integer, because NumPy cannot subtract
    booleans.
    """
    for t in casts if casts[-1] is not BOOL else (*casts, INT8):
        value = found = cast_scalar(value, t)
    return found


@dataclass(frozen=True, eq=False)
class Operator(Ruled):
    """Base class of unary, index-unary, select and binary operators."""

    name: str
    expr: str
    rule: Rule = same

    family = "op"

    def __repr__(self) -> str:
        return f"{self.family}.{self.name}"

    @cached_property
    def positional(self) -> bool:
        """Whether the result depends on the positions of the operands."""
        return not names_in(self.expr).isdisjoint(("ix", "jx", "iy", "jy"))

    @cached_property
    def reads_positions_only(self) -> bool:
        """Whether the result depends on positions only, not on values."""
        return self.positional and names_in(self.expr).isdisjoint("xyt")

    def _user_type_ruling(self, t: DataType) -> tuple[DataType, DataType] | None:
        if self.expr == "1":
            return INT64, INT64
        if self.positional and names_in(self.expr).isdisjoint("xy"):
            return self.rule(t)
        found = self.rule(t)
        if isinstance(self.expr, Expression):
            return found
        return found if self.expr in _MOVE or (self.expr in _COMPARE and found == (t, BOOL)) else None

    @property
    def orig_func(self) -> Callable[..., object] | None:
        """The Python function of a user-defined operator; None for built-in operators."""
        return getattr(self.expr, "function", None)

    @property
    def is_positional(self) -> bool:
        return self.positional

    def evaluate(self, t: DataType, /, **names: Value) -> np.generic:
        """The value of the expression on the host, for operands of type `t`: x, y, thunk t, ix, jx, iy, jy."""
        exact = [(k, v.dtype.char, v.tobytes()) for k, v in names.items() if isinstance(v, np.generic)]
        return _cached(self, t, tuple(exact)) if len(exact) == len(names) else self._evaluate(t, names)

    def _evaluate(self, t: DataType, names: Mapping[str, Value]) -> np.generic:
        compute, result = self.compute_type(t), self.result_type(t)
        if isinstance(self.expr, Expression):
            return cast_scalar(self.expr.evaluate(dict.fromkeys(("x", "y", "t"), compute), names), result)
        casts = self.casts(t)
        values = {k: operand(v, *casts) if k in ("x", "y", "t") else cast_scalar(v, INT64) for k, v in names.items()}
        with np.errstate(all="ignore"):
            return cast_scalar(eval(code(resolve(self.expr, compute)), {**NAMESPACE, **values}), result)


@functools.lru_cache(1 << 12)
def _cached(op: Operator, t: DataType, operands: tuple[tuple[str, str, bytes], ...]) -> np.generic:
    """op.evaluate for operands given as (name, type, bytes), cached: iso values recur, and an evaluation costs 15
    us.
    """
    return op._evaluate(t, {name: np.frombuffer(data, kind)[0] for name, kind, data in operands})


class UnaryOp(Operator):
    """z = f(x)."""

    family = "unary"


class IndexUnaryOp(Operator):
    """z = f(x, i, j, thunk), at every entry."""

    family = "indexunary"


class SelectOp(Operator):
    """f(x, i, j, thunk), BOOL: `select` keeps the entries for which it is true."""

    family = "select"


@dataclass(frozen=True, repr=False, eq=False)
class BinaryOp(Operator):
    """z = f(x, y). `exchanged` names the operator with exchanged operands."""

    exchanged: str | None = None
    default_type: DataType | None = None  # result type of the untyped operator, if not the operands' type (pair)

    family = "binary"

    @property
    def commutes_to(self) -> BinaryOp | None:
        """The operator with exchanged operands: f(x, y) = g(y, x)."""
        return self if self.is_commutative else None if self.exchanged is None else relations.BINARY[self.exchanged]

    @property
    def is_commutative(self) -> bool:
        return self.exchanged == self.name

    @property
    def monoid(self) -> Monoid | None:
        """The catalog's monoid of this operator, or the last one registered."""
        return relations.monoid_of(self)


@functools.cache
def with_positions(op: BinaryOp, ix: str, jx: str, iy: str, jy: str) -> BinaryOp:
    """The operator with its position names replaced: it reads the name `ix` instead of ix, etc. One object per choice;
    an operator that reads no positions is returned unchanged.
    """
    places = {"ix": ix, "jx": jx, "iy": iy, "jy": jy}
    return replace(op, expr=rename(op.expr, places), exchanged=None) if op.positional else op


def as_row_operator(op: BinaryOp) -> BinaryOp:
    """The operator of two vectors as the multiplier of an inner product: the first vector is a row, so its index is the
    column, in row 0.
    """
    return with_positions(op, "jx", "ix", "ix", "jx")


@dataclass(frozen=True, eq=False)
class Parameterized:
    """A family of operators: `binary.isclose(rel_tol=1e-5)` makes one; the bare name uses the defaults.

    signature: of the function that makes them; parts: the arguments of its registration, as `registration.make` takes
    them.
    """

    name: str
    make: Callable[..., Any]
    family: str
    signature: Signature | None = None
    parts: tuple[Any, ...] = ()
    is_commutative: bool = False

    is_positional = False

    def __post_init__(self) -> None:
        if not isinstance(self.family, str):
            raise TypeError(f"family: expected a name, got {self.family!r}. Hint: register_new creates families")

    def __repr__(self) -> str:
        return f"{self.family}.{self.name}"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        made = self.make(*args, **kwargs)
        relations.remember_origin(made, self, args, kwargs)
        return made

    @property
    def monoid(self) -> Monoid | Parameterized | None:
        """The family of monoids of these operators; for semirings, their monoid or family of monoids."""
        monoid: Monoid | Parameterized | None = (
            self.parts[0] if self.family == "semiring" else relations.monoid_of(self)
        )
        return monoid

    @property
    def is_idempotent(self) -> bool:
        """For monoids; AttributeError for others."""
        if self.family != "monoid":
            raise AttributeError(f"{self!r} is not a Monoid and has no is_idempotent")
        return bool(self.parts[2])

    @property
    def commutes_to(self) -> Parameterized | None:
        return self if self.is_commutative else None


class IndexBinaryOp(Parameterized):
    """z = f(x, ix, jx, y, iy, jy, theta): x is in row ix and column jx, y in iy and jy. `op(theta)` is the BinaryOp for
    one theta, as from GrB_BinaryOp_new_IndexOp; `op[FP32](theta)` fixes the type. GraphBLAS C API 2.1, section 3.5.
    """

    def __getitem__(self, dtype: object) -> Callable[[Value], Typed[BinaryOp]]:
        return lambda theta: self(theta)[dtype]

    @property
    def orig_func(self) -> Callable[..., object]:
        function: Callable[..., object] = self.parts[0]
        return function
