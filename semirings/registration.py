"""Operators of a program's own: `binary.register_new("mine.gap", lambda x, y: abs(x - y))`. Names and rules are
python-graphblas'."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from .algebra import Monoid, Semiring, compose
from .dtypes import BOOL, DataType, lookup_dtype
from .known import remember_monoid
from .namespace import Delayed, Namespace
from .operators import BinaryOp, IndexUnaryOp, Operator, Parameterized, SelectOp, UnaryOp
from .udf import Call, UserRule, check

_CLASSES: dict[str, type[Operator]] = {
    "unary": UnaryOp, "binary": BinaryOp, "indexunary": IndexUnaryOp, "select": SelectOp,
}  # fmt: skip
_NAMES = {"unary": ("x",), "binary": ("x", "y"), "indexunary": ("x", "ix", "jx", "t"), "select": ("x", "ix", "jx", "t")}


def build(family: str, function: Any, name: str | None = None, *, narrow: bool = True) -> Any:
    """The operator of a Python function. `narrow`: see UserRule. Raises TypeError for what is no function, or one with
    the wrong number of arguments; UdfParseError for one that Numba cannot compile."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"func: UDF argument must be a function, got {type(function).__name__}")
    names = _NAMES[family]
    if len(inspect.signature(function).parameters) != len(names):
        raise TypeError(f"func: expected {len(names)} arguments for {family}, got {inspect.signature(function)}")
    call = Call(function, names)
    rule = UserRule(call, narrow)
    check(call, rule)
    made = _CLASSES[family](name or function.__name__, call, rule)
    if family == "select" and set(made.types.values()) != {BOOL}:
        raise ValueError(f"{made.name}: SelectOp must have BOOL return type, got {made.types}")
    return made


def _made(family: str, function: Any, name: str | None, parameterized: bool, is_udt: bool) -> Any:
    if is_udt:
        raise NotImplementedError("is_udt: user-defined types are not supported; operators work on the eleven types")
    if not parameterized:
        return build(family, function, name)
    if not callable(function):
        raise TypeError(f"func: expected a function that returns a function, got {type(function).__name__}")
    name = name or function.__name__
    make = functools.lru_cache(1 << 10)(lambda *args, **kwargs: build(family, function(*args, **kwargs), name))
    return Parameterized(name, make, family, inspect.signature(function))


def _build_monoid(name: str | None, binaryop: Any, identity: Any, is_idempotent: bool) -> Any:
    if isinstance(binaryop, Parameterized):
        if callable(identity) and inspect.signature(identity) != binaryop.signature:
            raise ValueError("Signatures of binaryop and identity passed to Monoid must be the same")
        one = identity if callable(identity) else lambda *args, **kwargs: identity
        make = functools.lru_cache(1 << 10)(
            lambda *a, **k: _build_monoid(name, binaryop(*a, **k), one(*a, **k), is_idempotent)
        )
        return Parameterized(name or binaryop.name, make, "monoid", binaryop.signature)
    if type(binaryop) is not BinaryOp:
        raise TypeError(f"binaryop: expected a BinaryOp, got {type(binaryop).__name__}")
    given = {lookup_dtype(t): x for t, x in identity.items()} if isinstance(identity, Mapping) else None
    wrong = [t for t in given or () if binaryop.result_type(t) is not t]
    if wrong:
        raise TypeError(f"identity: {binaryop.name} takes {wrong[0]}, but gives {binaryop.result_type(wrong[0])}")

    def rule(t: DataType) -> tuple[DataType, DataType] | None:
        return (t, t) if binaryop.rule(t) == (t, t) and (given is None or t in given) else None

    made = Monoid(
        name or binaryop.name, binaryop, lambda t: identity if given is None else given[t],
        repeated="x" if is_idempotent else None, rule=rule,
    )  # fmt: skip
    remember_monoid(made, own=True)
    return made


def _build_semiring(name: str | None, monoid: Any, binaryop: Any) -> Any:
    if isinstance(monoid, Parameterized) or isinstance(binaryop, Parameterized):

        def make(*args: Any, **kwargs: Any) -> Any:
            parts = (p(*args, **kwargs) if isinstance(p, Parameterized) else p for p in (monoid, binaryop))
            return _build_semiring(name, *parts)

        return Parameterized(name or f"{monoid.name}_{binaryop.name}", functools.lru_cache(1 << 10)(make), "semiring")
    if not isinstance(monoid, Monoid):
        raise TypeError(f"monoid: expected a Monoid, got {type(monoid).__name__}")
    if not isinstance(binaryop, BinaryOp):
        raise TypeError(f"binaryop: expected a BinaryOp, got {type(binaryop).__name__}")
    return compose(monoid, binaryop) if name is None else Semiring(monoid, binaryop, name)


def _enter(space: Namespace, name: str, make: Callable[[], Any], lazy: bool) -> Any:
    """Make an operator, now or when it is asked for, and enter it. AttributeError where the name is taken."""
    space._refuse_taken(name)
    made = Delayed(make) if lazy else make()
    space._add(name, made)
    return None if lazy else made


def register(spaces: Mapping[str, Namespace]) -> None:
    """Give every namespace its register_new and register_anonymous."""

    def operators(family: str) -> None:
        space = spaces[family]

        def register_new(
            name: str, func: Any, *, parameterized: bool = False, is_udt: bool = False, lazy: bool = False
        ) -> Any:
            """Enter an operator made of a Python function; its name may have dots, for namespaces inside this one."""
            made = _enter(space, name, lambda: _made(family, func, name, parameterized, is_udt), lazy)
            twin = {"select": "indexunary", "indexunary": "select"}.get(family)
            if twin is not None:
                _enter_twin(spaces[twin], twin, name, made, lambda: _made(twin, func, name, parameterized, is_udt))
            return made

        def register_anonymous(
            func: Any, name: str | None = None, *, parameterized: bool = False, is_udt: bool = False
        ) -> Any:
            """An operator made of a Python function, in no namespace."""
            return _made(family, func, name, parameterized, is_udt)

        space._help(register_new=register_new, register_anonymous=register_anonymous)

    for family in _CLASSES:
        operators(family)

    def new_monoid(name: str, binaryop: Any, identity: Any, *, is_idempotent: bool = False, lazy: bool = False) -> Any:
        """Enter a monoid: a BinaryOp, its identity (or one for each dtype), and whether op(x, x) is x."""
        make = lambda: _build_monoid(name, binaryop, identity, is_idempotent)
        return _enter(spaces["monoid"], name, make, lazy)

    def anonymous_monoid(binaryop: Any, identity: Any, name: str | None = None, *, is_idempotent: bool = False) -> Any:
        """A monoid in no namespace."""
        return _build_monoid(name, binaryop, identity, is_idempotent)

    def new_semiring(name: str, monoid: Any, binaryop: Any, *, lazy: bool = False) -> Any:
        """Enter a semiring of a Monoid and a BinaryOp."""
        return _enter(spaces["semiring"], name, lambda: _build_semiring(name, monoid, binaryop), lazy)

    def anonymous_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Any:
        """A semiring in no namespace."""
        return _build_semiring(name, monoid, binaryop)

    spaces["monoid"]._help(register_new=new_monoid, register_anonymous=anonymous_monoid)
    spaces["semiring"]._help(register_new=new_semiring, register_anonymous=anonymous_semiring)


def _enter_twin(space: Namespace, family: str, name: str, made: Any, make: Callable[[], Any]) -> None:
    """A SelectOp is an IndexUnaryOp of the same name, and the other way round where all results are BOOL."""
    if name in space:
        return
    if made is None:
        space._add(name, Delayed(make))
    elif isinstance(made, Parameterized) or family == "indexunary" or set(made.types.values()) == {BOOL}:
        space._add(name, make())


__all__ = ["build", "register"]
