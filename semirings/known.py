"""Relations between operators: the monoid of an operator, its transposed multiplier, its family. Filled at import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from .operators import BinaryOp

BINARY: dict[str, BinaryOp] = {}  # the catalogue's operators, by name
# Monoids by the operator that they add with, families of monoids by the family: of the catalogue, and of programs.
_monoids: dict[Any, Any] = {}
_own_monoids: dict[Any, Any] = {}
# Which family made an operator, and of which parameters.
_origins: WeakKeyDictionary[Any, tuple[Any, tuple[Any, ...], dict[str, Any]]] = WeakKeyDictionary()

# In a product of transposed operands, the row of the first becomes the column of the second.
_FIRST_TO_SECOND = {"firsti": "secondj", "firstj": "secondi", "firsti1": "secondj1", "firstj1": "secondi1"}
_TRANSPOSED = _FIRST_TO_SECOND | {second: first for first, second in _FIRST_TO_SECOND.items()}


def transposed(op: BinaryOp) -> BinaryOp | None:
    """The multiplier of the products of transposed and exchanged operands: B' (+).(x') A' = (A (+).(x) B)'."""
    name = _TRANSPOSED.get(op.name)
    return BINARY[name] if name is not None else op.commutes_to


def monoid_of(op: Any) -> Any:
    """The monoid that adds with a BinaryOp (the family of monoids for a family), if there is one: the catalogue's, or
    the last that was registered."""
    found = _monoids.get(op, _own_monoids.get(op))
    if found is None and op in _origins:
        family, args, kwargs = _origins[op]
        monoids = monoid_of(family)
        return None if monoids is None else monoids(*args, **kwargs)
    return found


def remember_monoid(op: Any, monoid: Any, *, own: bool) -> None:
    """Enter a monoid, or a family of them, of the catalogue or of a program."""
    (_own_monoids if own else _monoids)[op] = monoid


def remember_origin(made: Any, family: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`made` is family(*args, **kwargs)."""
    _origins.setdefault(made, (family, args, kwargs))


def origin_of(op: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """The family that made an operator, with the parameters; None for what none made."""
    return _origins.get(op)
