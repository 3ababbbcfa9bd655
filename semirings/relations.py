"""Relations between operators, looked up by name: monoid of an operator, transposed multiplier, family.

Filled by the catalog and by registration. It is a module of its own so that lower modules need not import the catalog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, overload
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from .algebra import Monoid
    from .operators import BinaryOp, Parameterized
    from .typed import Applicable

BINARY: dict[str, BinaryOp] = {}  # the catalog's operators by name
# Monoids by their operator, and families of monoids by family: of the catalog, and user-defined.
_monoids: dict[BinaryOp | Parameterized, Monoid | Parameterized] = {}
_user_monoids: dict[BinaryOp | Parameterized, Monoid | Parameterized] = {}
# The family that made an operator, and its parameters.
Origin: TypeAlias = "tuple[Parameterized, tuple[object, ...], dict[str, object]]"
_origins: WeakKeyDictionary[Applicable | Parameterized, Origin] = WeakKeyDictionary()

# In a product of transposed operands the row of the first becomes the column of the second.
_FIRST_TO_SECOND = {"firsti": "secondj", "firstj": "secondi", "firsti1": "secondj1", "firstj1": "secondi1"}
_TRANSPOSED = _FIRST_TO_SECOND | {second: first for first, second in _FIRST_TO_SECOND.items()}


def transposed(op: BinaryOp) -> BinaryOp | None:
    """The multiplier for transposed and exchanged operands: B' (+).(x') A' = (A (+).(x) B)'."""
    name = _TRANSPOSED.get(op.name)
    return BINARY[name] if name is not None else op.commutes_to


@overload
def monoid_of(op: BinaryOp) -> Monoid | None: ...
@overload
def monoid_of(op: Parameterized) -> Parameterized | None: ...
def monoid_of(op: BinaryOp | Parameterized) -> Monoid | Parameterized | None:
    """The monoid (or family of monoids) of a BinaryOp (or family), or None: the catalog's, or the last one
    registered.
    """
    found = _monoids.get(op, _user_monoids.get(op))
    if found is None and (origin := _origins.get(op)) is not None:
        family, args, kwargs = origin
        monoids = monoid_of(family)
        return None if monoids is None else monoids(*args, **kwargs)
    return found


def remember_monoid(op: BinaryOp | Parameterized, monoid: Monoid | Parameterized, *, user_defined: bool) -> None:
    """Record a monoid or a family of monoids."""
    (_user_monoids if user_defined else _monoids)[op] = monoid


def remember_origin(
    made: Applicable | Parameterized, family: Parameterized, args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    """Record that `made` is family(*args, **kwargs)."""
    _origins.setdefault(made, (family, args, kwargs))


def origin_of(op: Applicable | Parameterized) -> Origin | None:
    """The family that made an operator, with its parameters; None if it has none."""
    return _origins.get(op)
