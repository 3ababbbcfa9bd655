"""What operators of the catalogue know of each other: by name, from below. The catalogue and programs fill it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .algebra import Monoid
    from .operators import BinaryOp

BINARY: dict[str, BinaryOp] = {}  # the catalogue's operators, by name
_monoids: dict[BinaryOp, Monoid] = {}  # of the catalogue, by the operator that they add with
_own_monoids: dict[BinaryOp, Monoid] = {}  # of programs

# In a product of transposed operands, the row of the first becomes the column of the second.
_FIRST_TO_SECOND = {"firsti": "secondj", "firstj": "secondi", "firsti1": "secondj1", "firstj1": "secondi1"}
_TRANSPOSED = _FIRST_TO_SECOND | {second: first for first, second in _FIRST_TO_SECOND.items()}


def transposed(op: BinaryOp) -> BinaryOp | None:
    """The multiplier of the products of transposed and exchanged operands: B' (+).(x') A' = (A (+).(x) B)'."""
    name = _TRANSPOSED.get(op.name)
    return BINARY[name] if name is not None else op.commutes_to


def monoid_of(op: BinaryOp) -> Monoid | None:
    """The monoid that adds with an operator, if there is one: the catalogue's, or the last that was registered."""
    return _monoids.get(op, _own_monoids.get(op))


def remember_monoid(m: Monoid, *, own: bool) -> None:
    """Enter a monoid of the catalogue, or one that a program made."""
    (_own_monoids if own else _monoids)[m.binaryop] = m
