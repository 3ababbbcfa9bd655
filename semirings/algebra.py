"""The algebra as plain data: operators, monoids and semirings, frozen and printable.

An operator is one expression that Python and CUDA C++ read alike. Its names are x and y (the values), t (the thunk of
an index-unary operator), and the positions of the operands: ix, jx for x and iy, jy for y. Functions that it may call
stand in functions.py and functions.cuh. GraphBLAS C API 2.1, sections 3.5 (operators), 3.6 (monoids), 3.7 (semirings).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Generic, TypeVar

import numpy as np

from . import dtypes, functions
from .dtypes import BOOL, INT8, DataType, cast
from .rules import Rule, arithmetic, logical, same

_NAMESPACE = {"sqrt": np.sqrt, **{k: v for k, v in vars(functions).items() if callable(v)}}


@functools.cache
def _code(expr: str) -> CodeType:
    return compile(expr, "<expression>", "eval")


def _operand(value: Any, t: DataType) -> np.generic:
    """A value as an expression meets it on the host. BOOL becomes an integer: NumPy subtracts no booleans."""
    value = cast(value, t)
    return cast(value, INT8) if t is BOOL else value


class _Ruled:
    """What operators and monoids share: a typing rule says which types they take, compute in and give."""

    name: str
    rule: Rule

    @property
    def types(self) -> dict[DataType, DataType]:
        """Input type -> result type, for the types that are accepted."""
        return {t: r[1] for t in dtypes.ALL if (r := self.rule(t)) is not None}

    def __contains__(self, dtype: Any) -> bool:
        return self.rule(dtypes.lookup_dtype(dtype)) is not None

    def _ruling(self, t: DataType) -> tuple[DataType, DataType]:
        found = self.rule(t)
        if found is None:
            raise KeyError(f"{self.name} does not work with {t}; it has {', '.join(k.name for k in self.types)}")
        return found

    def check(self, t: DataType) -> DataType:
        """`t`, or KeyError where there is no version for it."""
        self._ruling(t)
        return t

    def compute_type(self, t: DataType) -> DataType:
        """The type in which operands of type `t` are computed with."""
        return self._ruling(t)[0]

    def result_type(self, t: DataType) -> DataType:
        return self._ruling(t)[1]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _apply(self, *args, **kwargs)


@dataclass(frozen=True, eq=False)
class Operator(_Ruled):
    """What unary, index-unary and binary operators share: a name, an expression, and a typing rule.

    `op[dtype]` fixes the type; `op(...)` applies the operator to matrices, vectors or infix expressions, as
    python-graphblas does.
    """

    name: str
    expr: str
    rule: Rule = same
    positional: bool = False

    family = "op"

    def __repr__(self) -> str:
        return f"{self.family}.{self.name}"

    def __getitem__(self, dtype: Any) -> Typed[Operator]:
        return _typed(self, self.check(dtypes.lookup_dtype(dtype)))

    def evaluate(self, t: DataType, /, **names: Any) -> np.generic:
        """The value of the expression on the host, for operands of type `t`: x, y, thunk t, ix, jx, iy, jy."""
        compute, result = self.compute_type(t), self.result_type(t)
        names = {k: _operand(v, compute) if k in ("x", "y", "t") else np.int64(v) for k, v in names.items()}
        with np.errstate(all="ignore"):
            return cast(eval(_code(self.expr), {**_NAMESPACE, **names}), result)


@dataclass(frozen=True, repr=False, eq=False)
class UnaryOp(Operator):
    """z = f(x)."""

    family = "unary"


@dataclass(frozen=True, repr=False, eq=False)
class IndexUnaryOp(Operator):
    """z = f(x, i, j, thunk); `select` keeps the entries for which it is true."""

    family = "indexunary"


@dataclass(frozen=True, repr=False, eq=False)
class BinaryOp(Operator):
    """z = f(x, y). `commutes_to` names the operator with the operands exchanged; `monoid` its monoid, if any."""

    commutes_to: str | None = None
    default_type: DataType | None = None  # the result of the untyped operator where it is not the operands' (pair)

    family = "binary"

    @property
    def is_commutative(self) -> bool:
        return self.commutes_to == self.name

    @property
    def monoid(self) -> Monoid | None:
        from .catalog import MONOIDS

        return MONOIDS.get(self.name)


@dataclass(frozen=True, eq=False)
class Monoid(_Ruled):
    """An associative, commutative BinaryOp with an identity.

    identity, terminal: functions of the type (terminal None: there is none). `repeated` is the sum of k >= 1 equal
    values x, an expression in x, in k (INT64) and in kx (k cast to the type of x).
    """

    name: str
    binaryop: BinaryOp
    identity_of: Callable[[DataType], Any]
    terminal_of: Callable[[DataType], Any] | None = None
    repeated: str = "x"
    rule: Rule = same

    def __repr__(self) -> str:
        return f"monoid.{self.name}"

    def __getitem__(self, dtype: Any) -> Typed[Monoid]:
        return _typed(self, self.check(dtypes.lookup_dtype(dtype)))

    @property
    def identities(self) -> dict[DataType, Any]:
        return {t: self.identity(t) for t in self.types}

    def identity(self, t: DataType) -> np.generic:
        z = self.result_type(t)
        return z.np_type.type(self.identity_of(z))

    def terminal(self, t: DataType) -> np.generic | None:
        z = self.result_type(t)
        return None if self.terminal_of is None else z.np_type.type(self.terminal_of(z))

    @property
    def is_idempotent(self) -> bool:
        """The sum of k equal values is that value: presence alone decides, bits suffice."""
        return self.repeated == "x"

    @property
    def is_exact_in_any_order(self) -> bool:
        """Floating-point sums and products depend on the order; all else does not."""
        return self.name not in ("plus", "times")

    def repeat(self, t: DataType, x: Any, k: int) -> np.generic:
        """The sum of k equal values x on the host."""
        z = self.result_type(t)
        with np.errstate(all="ignore"):
            names = {"x": _operand(x, z), "k": np.int64(k), "kx": _operand(np.int64(k), z)}
            return cast(eval(_code(self.repeated), {**_NAMESPACE, **names}), z)


@dataclass(frozen=True, eq=False)
class Semiring:
    """(+).(x): a Monoid to add with and a BinaryOp to multiply with."""

    monoid: Monoid
    binaryop: BinaryOp

    def __repr__(self) -> str:
        return f"semiring.{self.name}"

    @property
    def name(self) -> str:
        return f"{self.monoid.name}_{self.binaryop.name}"

    def multiply_type(self, t: DataType) -> DataType | None:
        """The type at which the multiplier is used for operands of type `t`: BOOL for a logical monoid over a
        multiplier that would not give BOOL."""
        product = self.binaryop.rule(t)
        if product is None:
            return None
        if product[1] is BOOL and self.monoid.rule is not logical:
            if arithmetic in (self.binaryop.rule, self.monoid.rule):
                return None
            if self.binaryop.name == "pair" and self.monoid.binaryop.rule is arithmetic:
                return None
        if self.monoid.rule is logical and product[1] is not BOOL:
            return BOOL if self.binaryop.rule(BOOL) else None
        return t if self.monoid.rule(product[1]) else None

    @property
    def types(self) -> dict[DataType, DataType]:
        return {t: self.binaryop.result_type(m) for t in dtypes.ALL if (m := self.multiply_type(t)) is not None}

    def __contains__(self, dtype: Any) -> bool:
        return self.multiply_type(dtypes.lookup_dtype(dtype)) is not None

    def __getitem__(self, dtype: Any) -> Typed[Semiring]:
        return _typed(self, self.check(dtypes.lookup_dtype(dtype)))

    def check(self, t: DataType) -> DataType:
        """`t`, or KeyError where there is no version for it."""
        self.operand_type(t)
        return t

    def operand_type(self, t: DataType) -> DataType:
        """multiply_type, or KeyError where there is no version for `t`."""
        found = self.multiply_type(t)
        if found is None:
            raise KeyError(f"{self.name} does not work with {t}; it has {', '.join(k.name for k in self.types)}")
        return found

    def result_type(self, t: DataType) -> DataType:
        return self.binaryop.result_type(self.operand_type(t))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _apply(self, *args, **kwargs)


Op = TypeVar("Op", bound="Operator | Monoid | Semiring", covariant=True)


@dataclass(frozen=True, eq=False)
class Typed(Generic[Op]):
    """An operator, monoid or semiring fixed to one input type: `semiring.min_plus[FP32]` is a Typed[Semiring]."""

    op: Op
    dtype: DataType

    def __repr__(self) -> str:
        return f"{self.op!r}[{self.dtype}]"

    @property
    def name(self) -> str:
        return self.op.name

    @functools.cached_property
    def return_type(self) -> DataType:
        return self.op.result_type(self.dtype)

    @property
    def identity(self) -> Any:
        if not isinstance(self.op, Monoid):
            raise AttributeError(f"{self!r} has no identity: it is not a monoid")
        return self.op.identity(self.dtype)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _apply(self, *args, **kwargs)


@functools.cache
def _typed(op: Any, dtype: DataType) -> Typed[Any]:
    """One object per operator and type: kernels are looked up by it, and identity is the fastest key."""
    return Typed(op, dtype)


def _apply(op: Any, left: Any, right: Any = None, **kwargs: Any) -> Any:
    """op(A), op(A, thunk), op(A & B), op(A | B), op(A @ B), op(2, A): the operands know how (duck-typed: this package
    imports nothing of bitblas)."""
    for operand in (left, right):
        handler = getattr(operand, "_apply_operator", None)
        if handler is not None:
            return handler(op, left, right, **kwargs)
    raise TypeError(f"{op!r}: expected a Matrix, Vector, Scalar or infix expression such as A & B, got {left!r}")


__all__ = ["BinaryOp", "IndexUnaryOp", "Monoid", "Operator", "Semiring", "Typed", "UnaryOp"]
