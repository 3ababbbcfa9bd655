"""User-defined operators: `binary.register_new("mine.gap", lambda x, y: abs(x - y))`, as in python-graphblas."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .algebra import AnyOperator, Monoid, Semiring, compose
from .dtypes import BOOL, DataType, DomainMismatch, Value, lookup_dtype
from .operators import (
    BinaryOp,
    IndexBinaryOp,
    IndexUnaryOp,
    Operator,
    Parameterized,
    SelectOp,
    Typed,
    UnaryOp,
    remember_monoid,
)
from .udf import Call, UserRule, check

if TYPE_CHECKING:
    from .namespaces import Namespace

Function: TypeAlias = Callable[..., Any]  # of a user
Identities: TypeAlias = Value | Mapping[Any, Value]  # one value, or one per dtype

_cached = functools.lru_cache(1 << 10)  # one object per choice of parameters
CLASSES: dict[str, type[Operator]] = {kind.family: kind for kind in (UnaryOp, BinaryOp, IndexUnaryOp, SelectOp)}
_ARGUMENTS = {
    "unary": "x",
    "binary": "x y",
    "indexunary": "x ix jx t",
    "select": "x ix jx t",
    "indexbinary": "x ix jx y iy jy theta",
}


def build(
    family: str, function: Function, name: str | None = None, *, narrow: bool = True, is_udt: bool = False
) -> Operator:
    """The operator of a Python function. narrow: see UserRule. is_udt: it may only support user-defined types, and its
    types are inferred on demand. TypeError if it is not a function or has the wrong number of arguments; UdfParseError
    if Numba cannot compile it.
    """
    made = _operator(CLASSES[family], function, name, _arguments(family, function), narrow, is_udt)
    if family == "select" and not is_udt and set(made.types.values()) != {BOOL}:
        raise ValueError(f"{made.name}: SelectOp must have BOOL return type, got {made.types}")
    return made


def _arguments(family: str, function: object) -> tuple[str, ...]:
    """The argument names of a function of that family. TypeError if it is not such a function."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"func: UDF argument must be a function, got {type(function).__name__}")
    names = (*_ARGUMENTS[family].split(),)
    if len(inspect.signature(function).parameters) != len(names):
        raise TypeError(f"func: expected {len(names)} arguments for {family}, got {inspect.signature(function)}")
    return names


def _operator(
    kind: type[Operator], function: Any, name: str | None, names: tuple[str, ...], narrow: bool, is_udt: bool = False
) -> Operator:
    call = Call(function, names)
    rule = UserRule(call, narrow)
    if not is_udt:
        check(call, rule)
    return kind(name or function.__name__, call, rule)


def _build_index_binary(name: str | None, function: Function, is_udt: bool = False) -> IndexBinaryOp:
    """The IndexBinaryOp of f(x, ix, jx, y, iy, jy, theta); theta is bound later."""
    names = _arguments("indexbinary", function)
    called: str = name or function.__name__

    @functools.lru_cache(1 << 10, typed=True)  # 1, 1.0 and True are different constants
    def bind(theta: Value) -> Operator:
        def bound(x: Value, ix: int, jx: int, y: Value, iy: int, jy: int) -> Value:
            return function(x, ix, jx, y, iy, jy, theta)

        bound.__name__ = function.__name__
        return _operator(BinaryOp, bound, called, names[:-1], True, is_udt)

    def make(theta: Any = None) -> Operator:
        value = getattr(theta, "value", theta)  # of a Scalar
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise TypeError(
                f"theta: expected a number, got {type(value).__name__}; indexbinary.{called}(theta) is a BinaryOp"
            )
        return bind(complex(value) if isinstance(value, np.complexfloating) else value)

    return IndexBinaryOp(called, make, "indexbinary", inspect.signature(make), (function, is_udt))


class Identity:
    """A user-defined identity: one value, or one per dtype."""

    def __init__(self, given: Identities) -> None:
        self.given = given
        self.by_type = {lookup_dtype(t): x for t, x in given.items()} if isinstance(given, Mapping) else None

    def __call__(self, t: DataType) -> Value:
        return self.given if self.by_type is None else self.by_type[t]


def _build_monoid(
    name: str | None, binaryop: object, identity: Any, is_idempotent: bool = False
) -> Monoid | Parameterized:
    if isinstance(binaryop, Parameterized):
        family = binaryop
        if callable(identity) and inspect.signature(identity) != binaryop.signature:
            raise ValueError("Signatures of binaryop and identity passed to Monoid must be the same")
        one = identity if callable(identity) else lambda *args, **kwargs: identity

        def make(*args: object, **kwargs: object) -> AnyOperator:
            return _build_monoid(name, family(*args, **kwargs), one(*args, **kwargs), is_idempotent)

        parts = (binaryop, identity, is_idempotent)
        monoids = Parameterized(name or binaryop.name, _cached(make), "monoid", binaryop.signature, parts)
        remember_monoid(binaryop, monoids, user_defined=True)
        return monoids
    if type(binaryop) is not BinaryOp:
        raise TypeError(f"binaryop: expected a BinaryOp, got {type(binaryop).__name__}")
    if binaryop.positional:
        raise DomainMismatch(f"binaryop: expected an operator of values alone, got {binaryop!r}, which reads positions")
    ones = Identity(identity)
    wrong = [t for t in ones.by_type or () if binaryop.result_type(t) is not t]
    if wrong:
        raise DomainMismatch(f"identity: {binaryop.name} takes {wrong[0]}, but gives {binaryop.result_type(wrong[0])}")

    def rule(t: DataType) -> tuple[DataType, DataType] | None:
        return (t, t) if binaryop.rule(t) == (t, t) and (ones.by_type is None or t in ones.by_type) else None

    made = Monoid(name or binaryop.name, binaryop, ones, repeated="x" if is_idempotent else None, rule=rule)
    remember_monoid(binaryop, made, user_defined=True)
    return made


def _build_semiring(name: str | None, monoid: Any, binaryop: Any) -> Semiring | Parameterized:
    families = [p for p in (monoid, binaryop) if isinstance(p, Parameterized)]
    if families:
        if len({p.signature for p in families}) > 1:
            raise ValueError("Signatures of monoid and binaryop passed to Semiring must be the same")

        def make(*args: object, **kwargs: object) -> AnyOperator:
            parts = (p(*args, **kwargs) if isinstance(p, Parameterized) else p for p in (monoid, binaryop))
            return _build_semiring(name, *parts)

        whole = name or f"{monoid.name}_{binaryop.name}"
        return Parameterized(whole, _cached(make), "semiring", families[0].signature, (monoid, binaryop))
    if isinstance(binaryop, Typed) and binaryop.is_positional:  # a typed IndexBinaryOp
        binaryop = binaryop.op
    if not isinstance(monoid, Monoid):
        raise TypeError(f"monoid: expected a Monoid, got {type(monoid).__name__}")
    if not isinstance(binaryop, BinaryOp):
        raise TypeError(f"binaryop: expected a BinaryOp, got {type(binaryop).__name__}")
    return compose(monoid, binaryop) if name is None else Semiring(monoid, binaryop, name)


def make(family: str, name: str | None, *parts: Any, parameterized: bool = False, is_udt: bool = False) -> AnyOperator:
    """An operator outside of the namespaces: of a function (`parameterized`: one that returns the function), a monoid
    of (binaryop, identity, is_idempotent), or a semiring of (monoid, binaryop).
    """
    if family == "monoid":
        return _build_monoid(name, *parts)
    if family == "indexbinary":
        return _build_index_binary(name, *parts)
    if family == "semiring":
        return _build_semiring(name, *parts)
    (function,) = parts
    if not parameterized:
        return build(family, function, name, is_udt=is_udt)
    if not callable(function):
        raise TypeError(f"func: expected a function that returns a function, got {type(function).__name__}")
    name = name or function.__name__
    inner = _cached(lambda *args, **kwargs: build(family, function(*args, **kwargs), name, is_udt=is_udt))
    return Parameterized(name, inner, family, inspect.signature(function), parts)


def register(spaces: Mapping[str, Namespace]) -> None:
    """Add register_new and register_anonymous to every namespace and its operator class."""

    def named(family: str, op: object) -> object:
        """The operator that a text names."""
        return spaces[family].from_string(op) if isinstance(op, str) else op

    def give(family: str, kind: Any, register_new: Function, register_anonymous: Function) -> None:
        spaces[family]._helpers.update(register_new=register_new, register_anonymous=register_anonymous)
        kind.register_new, kind.register_anonymous = staticmethod(register_new), staticmethod(register_anonymous)

    def operators(family: str) -> None:
        def register_new(
            name: str, func: Function, *, parameterized: bool = False, is_udt: bool = False, lazy: bool = False
        ) -> AnyOperator | None:
            """Register an operator made from a Python function. Dots in its name create nested namespaces."""
            flags = {"parameterized": parameterized, "is_udt": is_udt}
            # A SelectOp is also entered as an IndexUnaryOp of the same name, and vice versa if all results are BOOL.
            twin = {"select": "indexunary", "indexunary": "select"}.get(family)

            def made() -> AnyOperator:
                op = make(family, name, func, **flags)
                fits = isinstance(op, Parameterized) or family == "select" or set(op.types.values()) == {BOOL}
                if twin is not None and fits and name not in spaces[twin]:
                    spaces[twin]._add(name, functools.partial(make, twin, name, func, **flags))
                return op

            found = spaces[family]._add(name, made, lazy)
            if lazy and family == "select":
                spaces["indexunary"]._add(name, lambda: make("indexunary", name, func, **flags), lazy)
            return found

        def register_anonymous(
            func: Function, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False
        ) -> AnyOperator:
            """An anonymous operator, made from a Python function."""
            return make(family, name, func, parameterized=parameterized, is_udt=is_udt)

        give(family, CLASSES[family], register_new, register_anonymous)

    for family in CLASSES:
        operators(family)

    def new_index_binary(name: str, func: Function, *, is_udt: bool = False, lazy: bool = False) -> AnyOperator | None:
        """Register an IndexBinaryOp, made from a Python function of x, ix, jx, y, iy, jy, theta."""
        return spaces["indexbinary"]._add(name, lambda: _build_index_binary(name, func, is_udt), lazy)

    def anonymous_index_binary(func: Function, name: str | None = None, *, is_udt: bool = False) -> IndexBinaryOp:
        """An anonymous IndexBinaryOp."""
        return _build_index_binary(name, func, is_udt)

    def new_monoid(
        name: str, binaryop: object, identity: Identities, *, is_idempotent: bool = False, lazy: bool = False
    ) -> AnyOperator | None:
        """Register a monoid: a BinaryOp, its identity (or one per dtype), and whether op(x, x) is x."""
        made = lambda: _build_monoid(name, named("binary", binaryop), identity, is_idempotent)
        return spaces["monoid"]._add(name, made, lazy)

    def anonymous_monoid(
        binaryop: object, identity: Identities, name: str | None = None, *, is_idempotent: bool = False
    ) -> AnyOperator:
        """An anonymous monoid."""
        return _build_monoid(name, binaryop, identity, is_idempotent)

    def new_semiring(name: str, monoid: object, binaryop: object, *, lazy: bool = False) -> AnyOperator | None:
        """Register a semiring of a Monoid and a BinaryOp."""
        made = lambda: _build_semiring(name, named("monoid", monoid), named("binary", binaryop))
        return spaces["semiring"]._add(name, made, lazy)

    def anonymous_semiring(monoid: object, binaryop: object, name: str | None = None) -> AnyOperator:
        """An anonymous semiring."""
        return _build_semiring(name, monoid, binaryop)

    give("indexbinary", IndexBinaryOp, new_index_binary, anonymous_index_binary)
    give("monoid", Monoid, new_monoid, anonymous_monoid)
    give("semiring", Semiring, new_semiring, anonymous_semiring)


__all__ = ["build", "make", "register"]
