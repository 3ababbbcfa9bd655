"""Monoids and semirings as frozen dataclasses. GraphBLAS C API 2.1, sections 3.6 and 3.7."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .dtypes import BOOL, DataType, Value, cast_scalar
from .expressions import Expression, code, resolve
from .operators import NAMESPACE, Applicable, BinaryOp, Operator, Parameterized, Ruled, operand, transposed
from .rules import ARITHMETIC, UNSIGNED, Rule, boolean, logical, same, unsigned


@dataclass(frozen=True, eq=False)
class Monoid(Ruled):
    """An associative, commutative BinaryOp with an identity.

    identity, terminal: functions of the type (terminal None: there is none). `repeated` is the sum of k >= 1 equal
    values x, an expression in x, k (INT64) and kx (k cast to the type of x); None: summed by doubling.
    """

    name: str
    binaryop: BinaryOp
    identity_of: Callable[[DataType], Value]
    terminal_of: Callable[[DataType], Value] | None = None
    repeated: str | None = "x"
    rule: Rule = same

    family = "monoid"
    is_commutative = True
    is_positional = False

    def __repr__(self) -> str:
        return f"monoid.{self.name}"

    @property
    def commutes_to(self) -> Monoid:
        return self

    def _user_type_ruling(self, t: DataType) -> tuple[DataType, DataType] | None:
        given = isinstance(self.binaryop.expr, Expression)  # user-defined
        return self.rule(t) if given else (t, t) if self.name == "any" else None

    @property
    def identities(self) -> dict[DataType, np.generic]:
        return {t: self.identity(t) for t in self.types}

    def identity(self, t: DataType) -> np.generic:
        z = self.result_type(t)
        return cast_scalar(self.identity_of(z), z)

    def terminal(self, t: DataType) -> np.generic | None:
        z = self.result_type(t)
        return None if self.terminal_of is None else cast_scalar(self.terminal_of(z), z)

    @property
    def is_idempotent(self) -> bool:
        """Whether the sum of k equal values is that value: existence alone decides, so bits suffice."""
        return self.repeated == "x"

    @property
    def is_exact_in_any_order(self) -> bool:
        """Whether sums are independent of the order. False for floating-point sums and products and for user-defined
        operators.
        """
        return self.name in EXACT

    def repeat(self, t: DataType, x: Value, k: int) -> np.generic:
        """The sum of k equal values x, computed on the host."""
        z = self.result_type(t)
        if self.repeated is None:
            return self._doubled(z, cast_scalar(x, z), int(k))
        with np.errstate(all="ignore"):
            names = {"x": operand(x, z), "k": np.int64(k), "kx": operand(np.int64(k), z)}
            return cast_scalar(eval(code(resolve(self.repeated, z)), {**NAMESPACE, **names}), z)

    def repeats_exactly(self, t: DataType, x: Value, k: int) -> bool:
        """Whether the sum of up to k equal values x is the same in any order, because no partial sum is rounded."""
        z = self.result_type(t)
        if z.kind not in "fc" or self.is_exact_in_any_order:
            return True
        if self.name != "plus":
            return False
        value, room = cast_scalar(x, z), 2 << np.finfo(z.np_type).nmant
        odd = [_significant(float(part)) for part in (value.real, value.imag)]
        return all(part is not None and part * int(k) <= room for part in odd)

    def _doubled(self, z: DataType, x: np.generic, k: int) -> np.generic:
        total, k = x, k - 1
        while k > 0:
            if k & 1:
                total = self.binaryop.evaluate(z, x=total, y=x)
            x, k = self.binaryop.evaluate(z, x=x, y=x), k >> 1
        return total


def _significant(x: float) -> int | None:
    """The odd part of x, x divided by a power of two; 0 for 0, None if not finite."""
    n = int(math.ldexp(math.frexp(abs(x))[0], 53)) if math.isfinite(x) else None
    return n // (n & -n) if n else n


# Monoids whose sums do not depend on the order, for every type.
EXACT = frozenset("min max any lor land lxor lxnor eq bor band bxor bxnor numpy.maximum numpy.minimum".split())


@dataclass(frozen=True, eq=False)
class Semiring(Applicable):
    """(+).(x): a Monoid for addition and a BinaryOp for multiplication."""

    monoid: Monoid
    binaryop: BinaryOp
    name: str = ""  # {monoid}_{binaryop} unless registered under another name

    family = "semiring"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or f"{self.monoid.name}_{self.binaryop.name}")

    def __repr__(self) -> str:
        return f"semiring.{self.name}"

    @property
    def is_positional(self) -> bool:
        return self.binaryop.positional

    @property
    def is_commutative(self) -> bool:
        return self.binaryop.is_commutative

    @property
    def commutes_to(self) -> Semiring | None:
        """The semiring of the products with exchanged operands: A (+).(x) B = (B' (+).(x') A')'. Positions are
        exchanged too: the row of the first operand becomes the column of the second.
        """
        found = transposed(self.binaryop)
        return self if self.is_commutative else None if found is None else compose(self.monoid, found)

    def multiply_type(self, t: DataType) -> DataType | None:
        """The type at which the multiplier is used for operands of type `t`: BOOL for a logical monoid over a
        multiplier without BOOL result; unsigned for a bitwise monoid over signed integers; INT64 if BOOL pairs are
        counted, multiplied or compared, or complex ones compared.
        """
        times, plus = self.binaryop, self.monoid
        t = UNSIGNED.get(t, t) if plus.rule is unsigned else t
        product = times.ruling(t)
        if product is None:
            return None
        if plus.rule in (logical, boolean):
            product = product if product[1] is BOOL else times.ruling(t := BOOL)
            return t if product is not None and product[1] is BOOL else None
        if product[1] is BOOL and times.rule in ARITHMETIC:
            return None
        counts = product[1] is BOOL and plus.binaryop.rule in ARITHMETIC
        if times.default_type is not None and (counts or (t.kind == "c" and plus.ruling(product[1]) is None)):
            t = times.default_type
            product = times.ruling(t)
        return t if product is not None and plus.ruling(product[1]) else None

    operand_type_or_none = multiply_type

    def operand_type(self, t: DataType) -> DataType:
        """multiply_type, or KeyError if `t` is not supported."""
        found = self.multiply_type(self.check(t))
        assert found is not None
        return found

    def result_type(self, t: DataType) -> DataType:
        return self.binaryop.result_type(self.operand_type(t))


@functools.cache
def compose(m: Monoid, op: BinaryOp) -> Semiring:
    """The semiring of a monoid and a multiplier, one object per pair."""
    return Semiring(m, op)


AnyOperator: TypeAlias = Operator | Monoid | Semiring | Parameterized

__all__ = ["EXACT", "AnyOperator", "Monoid", "Semiring", "compose"]
