"""Pickling of operators and namespaces by name: unpickling returns the same object.

User-defined operators are looked up by name too; if the name is not registered, they are rebuilt from their functions,
which Python pickles by module and name.
"""

from __future__ import annotations

import copyreg
from functools import partial, reduce
from operator import getitem
from typing import Any, TypeAlias

from .algebra import AnyOperator, Monoid, Semiring, compose
from .catalog import find_semiring
from .dtypes import DataType, lookup_dtype
from .namespaces import SPACES, Namespace, op
from .operators import ORIGINS, IndexBinaryOp, Operator, Parameterized, Typed
from .registration import CLASSES, Function, Identity, build, make
from .udf import Call, UserRule

Reduced: TypeAlias = str | tuple[Any, ...]  # what copyreg calls to restore an object


def find(family: str, name: str) -> AnyOperator:
    """The operator of that name."""
    found: AnyOperator = SPACES[family][name]
    return found


def space(path: str) -> Namespace:
    """The namespace of that dotted name."""
    first, *inside = path.split(".")
    return reduce(getattr, inside, op if first == "op" else SPACES[first])


def restore(family: str, name: str, flags: dict[str, bool], *parts: object) -> AnyOperator | None:
    """The operator registered under that name; registers it if missing."""
    space = SPACES[family]
    return space[name] if name in space else space._add(name, partial(make, family, name, *parts, **flags))


def call(family: Parameterized, args: tuple[object, ...], kwargs: dict[str, object]) -> AnyOperator:
    made: AnyOperator = family(*args, **kwargs)
    return made


def build_plain(family: str, name: str, function: Function, narrow: bool) -> Operator:
    return build(family, function, name, narrow=narrow)


def _is_registered(family: str, op: AnyOperator) -> bool:
    """Whether looking up its name returns `op`."""
    try:
        return op.name in SPACES[family] and SPACES[family][op.name] is op
    except AttributeError:
        return False


def _parts(op: AnyOperator) -> tuple[object, ...] | None:
    """The arguments that a user-defined operator was made from; None for the catalog's."""
    if isinstance(op, Semiring):
        return (op.monoid, op.binaryop) if find_semiring(op.name) is not op else None
    if isinstance(op, Monoid):
        one = op.identity_of
        return (op.binaryop, one.given, op.is_idempotent) if isinstance(one, Identity) else None
    if isinstance(op, Parameterized):
        return op.parts or None
    return (op.expr.function,) if isinstance(op.expr, Call) else None


def _reduce(op: Any) -> Reduced:
    family, parts, flags = op.family, _parts(op), {}
    if isinstance(op, Parameterized) and family not in ("monoid", "semiring", "indexbinary"):
        flags = {"parameterized": True}
    elif isinstance(getattr(op, "expr", None), Call) and not op.types:  # only for user-defined types
        flags = {"is_udt": True}
    if _is_registered(family, op):
        return (find, (family, op.name)) if parts is None else (restore, (family, op.name, flags, *parts))
    origin = ORIGINS.get(op)
    if origin is not None:
        return call, origin
    if isinstance(op, Semiring) and compose(op.monoid, op.binaryop) is op:
        return compose, (op.monoid, op.binaryop)
    if parts is None:  # user-defined by a text
        return object.__reduce_ex__(op, 2)
    if isinstance(getattr(op, "rule", None), UserRule) and not flags:
        return build_plain, (family, op.name, *parts, op.rule.narrow)
    return partial(make, family, op.name, **flags), parts


for _kind in (*CLASSES.values(), Monoid, Semiring, IndexBinaryOp, Parameterized):
    copyreg.pickle(_kind, _reduce)
copyreg.pickle(Namespace, lambda names: (space, (names._family,)))
copyreg.pickle(Typed, lambda op: (getitem, (op.op, op.dtype)))
copyreg.pickle(DataType, lambda t: (lookup_dtype, (t.name,)))
