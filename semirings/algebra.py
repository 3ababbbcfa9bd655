"""Monoids and semirings as frozen dataclasses. GraphBLAS C API 2.1, sections 3.6 and 3.7."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import BOOL, DataType, cast_scalar
from .expressions import Expression, code, resolve
from .known import transposed
from .operators import NAMESPACE, BinaryOp, operand
from .rules import ARITHMETIC, UNSIGNED, Rule, boolean, logical, same, unsigned
from .typed import Applicable, Ruled


@dataclass(frozen=True, eq=False)
class Monoid(Ruled):
    """An associative, commutative BinaryOp with an identity.

    identity, terminal: functions of the type (terminal None: there is none). `repeated` is the sum of k >= 1 equal
    values x, an expression in x, in k (INT64) and in kx (k cast to the type of x); None adds them up by doubling.
    """

    name: str
    binaryop: BinaryOp
    identity_of: Callable[[DataType], Any]
    terminal_of: Callable[[DataType], Any] | None = None
    repeated: str | None = "x"
    rule: Rule = same

    is_commutative = True
    is_positional = False

    def __repr__(self) -> str:
        return f"monoid.{self.name}"

    @property
    def commutes_to(self) -> Monoid:
        return self

    def _ruling_of_own(self, t: DataType) -> tuple[DataType, DataType] | None:
        given = isinstance(self.binaryop.expr, Expression)  # of a program
        return self.rule(t) if given else (t, t) if self.name == "any" else None

    @property
    def identities(self) -> dict[DataType, Any]:
        return {t: self.identity(t) for t in self.types}

    def identity(self, t: DataType) -> np.generic:
        z = self.result_type(t)
        return cast_scalar(self.identity_of(z), z)

    def terminal(self, t: DataType) -> np.generic | None:
        z = self.result_type(t)
        return None if self.terminal_of is None else cast_scalar(self.terminal_of(z), z)

    @property
    def is_idempotent(self) -> bool:
        """The sum of k equal values is that value: presence alone decides, bits suffice."""
        return self.repeated == "x"

    @property
    def is_exact_in_any_order(self) -> bool:
        """Floating-point sums and products depend on the order, and so may what users add; all else does not."""
        return self.name in EXACT

    def repeat(self, t: DataType, x: Any, k: int) -> np.generic:
        """The sum of k equal values x on the host."""
        z = self.result_type(t)
        if self.repeated is None:
            return self._doubled(z, cast_scalar(x, z), int(k))
        with np.errstate(all="ignore"):
            names = {"x": operand(x, z), "k": np.int64(k), "kx": operand(np.int64(k), z)}
            return cast_scalar(eval(code(resolve(self.repeated, z)), {**NAMESPACE, **names}), z)

    def repeats_exactly(self, t: DataType, x: Any, k: int) -> bool:
        """Whether the sum of k equal values x, and of fewer, is the same in whatever order they are added: no sum of
        them is rounded."""
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
    """The odd number that x is, times a power of two; 0 for 0, None for what is no number."""
    n = int(math.ldexp(math.frexp(abs(x))[0], 53)) if math.isfinite(x) else None
    return n // (n & -n) if n else n


# The monoids of the catalogue whose sums do not depend on the order, whatever the type.
EXACT = frozenset("min max any lor land lxor lxnor eq bor band bxor bxnor numpy.maximum numpy.minimum".split())


@dataclass(frozen=True, eq=False)
class Semiring(Applicable):
    """(+).(x): a Monoid to add with and a BinaryOp to multiply with."""

    monoid: Monoid
    binaryop: BinaryOp
    name: str = ""  # {monoid}_{binaryop}, unless it is registered under another one

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
        """The semiring of the products with their operands exchanged, as A (+).(x) B = (B' (+).(x') A')'. Positions
        are exchanged with them: the row of the first operand becomes the column of the second."""
        found = transposed(self.binaryop)
        return self if self.is_commutative else None if found is None else compose(self.monoid, found)

    def multiply_type(self, t: DataType) -> DataType | None:
        """The type at which the multiplier is used for operands of type `t`: BOOL for a logical monoid over a
        multiplier that would not give BOOL; unsigned for a monoid of bits over signed integers; INT64 where BOOL pairs
        are counted, multiplied or compared, and where complex ones are compared."""
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
        """multiply_type, or KeyError where there is no version for `t`."""
        found = self.multiply_type(self.check(t))
        assert found is not None
        return found

    def result_type(self, t: DataType) -> DataType:
        return self.binaryop.result_type(self.operand_type(t))


@functools.cache
def compose(m: Monoid, op: BinaryOp) -> Semiring:
    """The semiring of a monoid and a multiplier: one object for each pair."""
    return Semiring(m, op)


__all__ = ["EXACT", "Monoid", "Semiring", "compose"]
