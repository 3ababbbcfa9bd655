"""What a body consists of, as plain data: statements over numbered vectors and scalars.

A body runs once per round. Vectors and scalars are numbered in the order in which the body names them; the values of a
statement are one operation deep, because every delayed expression that is used as an operand is a statement before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semirings import Typed
from semirings.dtypes import DataType


@dataclass(frozen=True)
class Vec:
    """Vector number `id`: `size` positions of `dtype`."""

    id: int
    size: int
    dtype: DataType


@dataclass(frozen=True)
class Scal:
    """Scalar number `id`; -1 is the number of the round."""

    id: int
    dtype: DataType
    casts: tuple[DataType, ...] = ()  # on its way into the operation


@dataclass(frozen=True)
class Const:
    """A value that the host knows."""

    dtype: DataType
    value: Any  # a NumPy scalar; None: an empty Scalar


Term = Vec | Scal | Const


@dataclass(frozen=True)
class Masked:
    """Where a mask is open: `vec.S` (structure) or `vec.V`, or where it is not."""

    vec: Vec
    structure: bool
    complement: bool


@dataclass(frozen=True)
class Pointwise:
    """op(u, v) at every position, as verbs.vector.run_elementwise has it; without op a copy of u.

    mode: LEFT, BOTH, UNION, FILLED. bound: which operand is which name of the operator (variants.LET). keep: a select.
    under: a select by mask.
    """

    mode: int
    op: Typed | None
    u: Term
    v: Term | None = None
    bound: str = "xy"
    keep: bool = False
    defaults: tuple[Any, Any] = (0, 0)
    under: Masked | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.u,) if self.v is None else (self.u, self.v)


@dataclass(frozen=True, eq=False)
class Product:
    """u times a matrix (`flip`: vxm), of its transpose where `transpose`, as verbs.product.mxv has it."""

    matrix: Any  # MatrixStore
    u: Vec
    semiring: Typed
    transpose: bool
    flip: bool
    outer: int  # the size of the result


@dataclass(frozen=True)
class Reduce:
    """The monoid's sum of the entries of u, `default` (None: nothing) where there is none."""

    monoid: Typed
    u: Vec
    default: Any = None


@dataclass(frozen=True, eq=False)
class Statement:
    """target(mask, accum, replace) << value; text: how an error or `explain` names it."""

    target: Vec | Scal
    value: Pointwise | Product | Reduce
    mask: Masked | None = None
    accum: Typed | None = None
    replace: bool = False
    text: str = ""

    @property
    def vectors(self) -> tuple[Vec, ...]:
        """The vectors that it reads."""
        value, found = self.value, []
        if isinstance(value, Pointwise):
            found = [t for t in value.terms if isinstance(t, Vec)]
            if value.under is not None:
                found.append(value.under.vec)
        else:
            found = [value.u]
        if self.mask is not None:
            found.append(self.mask.vec)
        if isinstance(self.target, Vec) and not self.overwrites:
            found.append(self.target)
        return tuple(dict.fromkeys(found))

    @property
    def overwrites(self) -> bool:
        """Nothing of what the target held before remains."""
        return self.accum is None and (self.mask is None or self.replace)


@dataclass(frozen=True)
class Body:
    """The statements of one round; the vectors and scalars, whose numbers are their places here."""

    statements: tuple[Statement, ...]
    vectors: tuple[Vec, ...]
    scalars: tuple[Scal, ...]
