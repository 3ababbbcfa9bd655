"""Operators as frozen dataclasses: a name, an expression, a typing rule. `Typed` is one for one input type.

Names in an expression: x and y (the values), t (the thunk of an index-unary operator), and the positions of the
operands, ix, jx for x and iy, jy for y. Functions that it may call are in functions.py and functions.cuh. GraphBLAS C
API 2.1, section 3.5.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import Signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar, overload
from weakref import WeakKeyDictionary

import numpy as np

from . import dtypes, functions
from .cached import cached_property
from .dtypes import BOOL, INT8, INT64, DataType, Value, cast_scalar
from .expressions import Expression, code, names_in, rename, resolve
from .rules import CAST_FIRST, Rule, same

if TYPE_CHECKING:
    from typing_extensions import Self

    from .algebra import Monoid

# ---- Typed operators and operator calls: `semiring.min_plus[FP32]`, `monoid.plus(A | B)`.

Op = TypeVar("Op", bound="Applicable", covariant=True)
Given = TypeVar("Given", covariant=True)  # the result of applying an operator to an operand


class Operand(Protocol[Given]):
    """An operand of `op(x)`; it implements the application."""

    def _apply_operator(self, op: Any, left: Any, right: Any = None, **kwargs: Any) -> Given: ...


class Called:
    """op(A), op(A, thunk), op(A & B), op(2, A), op(1, 2): the operands implement the call."""

    __slots__ = ()

    if TYPE_CHECKING:
        # fmt: off
        @overload
        def __call__(self, left: Operand[Given], right: object = None, **kwargs: object) -> Given: ...
        @overload
        def __call__(self, left: object, right: Operand[Given], **kwargs: object) -> Given: ...
        @overload
        def __call__(self, left: object, right: object = None, **kwargs: object) -> Any: ...
        # fmt: on

    def __call__(self, left: object, right: object = None, **kwargs: object) -> Any:
        # Duck-typed, because this package imports nothing of bitblas.
        for operand in (left, right):
            handler = getattr(operand, "_apply_operator", None)
            if handler is not None:
                return handler(self, left, right, **kwargs)
        for handler in _of_scalars:
            return handler(self, left, right, **kwargs)
        raise TypeError(f"{self!r}: expected a Matrix, Vector, Scalar or infix expression such as A & B, got {left!r}")


_of_scalars: list[Callable[..., object]] = []  # handler of op(1, 2), set by a library that has a Scalar type


def applied_to_scalars_by(handler: Callable[..., object]) -> None:
    """From now on op(1, 2) calls handler(op, 1, 2)."""
    _of_scalars[:] = [handler]


@dataclass(frozen=True, eq=False)
class Typed(Called, Generic[Op]):
    """An operator, monoid or semiring fixed to one input type: `semiring.min_plus[FP32]` is a Typed[Semiring]."""

    op: Op
    dtype: DataType

    def __repr__(self) -> str:
        return f"{self.op!r}[{self.dtype}]"

    @property
    def name(self) -> str:
        return self.op.name

    @property
    def parent(self) -> Op:
        return self.op

    @property
    def opclass(self) -> str:
        """The kind: "UnaryOp", "BinaryOp", "Monoid", "Semiring", "IndexUnaryOp" or "SelectOp"."""
        return type(self.op).__name__

    @property
    def type(self) -> DataType:
        return self.dtype

    @property
    def orig_func(self) -> Callable[..., object] | None:
        """The Python function of a user-defined operator, or None."""
        return self._part("orig_func")

    @cached_property
    def return_type(self) -> DataType:
        return self.op.result_type(self.dtype)

    @cached_property
    def compute_type(self) -> DataType:
        """The type in which an operator or monoid computes; its operands are cast to it."""
        return self._part("compute_type")(self.dtype)

    @property
    def identity(self) -> np.generic:
        """The identity of a monoid; AttributeError for others."""
        return self._part("identity")(self.dtype)

    @property
    def monoid(self) -> Typed[Monoid] | None:
        """The monoid of a semiring, for its products; of a BinaryOp, its monoid if it supports this type."""
        found, t = self._part("monoid"), self.return_type if hasattr(self.op, "binaryop") else self.dtype
        return found[t] if found is not None and t in found else None

    @property
    def binaryop(self) -> Typed[Operator]:
        """The operator of a monoid; the multiplier of a semiring."""
        return self._part("binaryop")[self.dtype]

    @property
    def commutes_to(self) -> Typed[Op] | None:
        """The typed operator with exchanged operands, or None."""
        found = self._part("commutes_to")
        return found[self.dtype] if found is not None and self.dtype in found else None

    @property
    def is_commutative(self) -> bool:
        return self._part("is_commutative")

    @property
    def is_idempotent(self) -> bool:
        return self._part("is_idempotent")

    @property
    def is_positional(self) -> bool:
        return self._part("is_positional")

    def _part(self, name: str) -> Any:
        found = getattr(self.op, name, self)
        if found is self:
            raise AttributeError(f"{self!r} has no {name}")
        return found


@functools.cache
def typed(op: Applicable, dtype: DataType) -> Typed[Any]:
    """One object per operator and type: kernels are cached by it, and identity is the fastest key."""
    return Typed(op, dtype)


class Applicable(Called):
    """Base class of all operators: `op[dtype]` fixes the type, `op(...)` applies it, `dtype in op` tests support."""

    name: str

    # User-defined operators, in a namespace or anonymous; set for every class by registration.py.
    register_new: ClassVar[Callable[..., Any]]
    register_anonymous: ClassVar[Callable[..., Any]]

    if TYPE_CHECKING:  # defined by the subclasses

        def operand_type_or_none(self, t: DataType) -> DataType | None:
            """The type that operands of type `t` are cast to, None if unsupported."""

        def result_type(self, t: DataType) -> DataType: ...

    @property
    def types(self) -> dict[DataType, DataType]:
        """Input type -> result type, for the supported types."""
        return {t: self.result_type(t) for t in dtypes.ALL if self.operand_type_or_none(t) is not None}

    def __contains__(self, dtype: object) -> bool:
        return self.operand_type_or_none(dtypes.lookup_dtype(dtype)) is not None

    def __getitem__(self, dtype: object) -> Typed[Self]:
        return typed(self, self.check(dtypes.lookup_dtype(dtype)))

    def check(self, t: DataType) -> DataType:
        """`t`, or KeyError if unsupported."""
        if self.operand_type_or_none(t) is None:
            raise self._lacks(t)
        return t

    def _lacks(self, t: DataType) -> KeyError:
        hint = (
            "; lor joins BOOL, agg.count and plus_pair count entries"
            if t is dtypes.BOOL and "plus" in self.name
            else ""
        )
        return KeyError(f"{self.name} does not work with {t}; it has {', '.join(k.name for k in self.types)}{hint}")


class Ruled(Applicable):
    """An operator whose typing rule gives the accepted, computation and result types."""

    rule: Rule

    def ruling(self, t: DataType) -> tuple[DataType, DataType] | None:
        """The rule's result for a type. Values of user-defined types can be moved and compared, not computed with."""
        return self._user_type_ruling(t) if t._is_udt else self.rule(t)

    if TYPE_CHECKING:  # defined by operators and monoids

        def _user_type_ruling(self, t: DataType) -> tuple[DataType, DataType] | None: ...

    def operand_type_or_none(self, t: DataType) -> DataType | None:
        found = self.ruling(t)
        return None if found is None else found[0]

    def compute_type(self, t: DataType) -> DataType:
        """The type in which operands of type `t` are computed."""
        return self._ruling(t)[0]

    def casts(self, t: DataType) -> tuple[DataType, ...]:
        """The types that an operand of the operator of type `t` is cast to in turn."""
        compute = self.compute_type(t)
        first = self.rule in CAST_FIRST or t.kind == compute.kind == "c"
        return (t, compute) if first and t is not compute else (compute,)

    def result_type(self, t: DataType) -> DataType:
        return self._ruling(t)[1]

    def _ruling(self, t: DataType) -> tuple[DataType, DataType]:
        found = self.ruling(t)
        if found is None:
            raise self._lacks(t)
        return found


# ---- Relations between operators, looked up by name: monoid of an operator, transposed multiplier, family. Filled by
# the catalog and by registration, which import this module.

BINARY: dict[str, BinaryOp] = {}  # the catalog's operators by name
# Monoids by their operator, and families of monoids by family: of the catalog, and user-defined.
_monoids: dict[BinaryOp | Parameterized, Monoid | Parameterized] = {}
_user_monoids: dict[BinaryOp | Parameterized, Monoid | Parameterized] = {}
# The family that made an operator, and its parameters.
Origin: TypeAlias = "tuple[Parameterized, tuple[object, ...], dict[str, object]]"
ORIGINS: WeakKeyDictionary[Applicable | Parameterized, Origin] = WeakKeyDictionary()

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
    if found is None and (origin := ORIGINS.get(op)) is not None:
        family, args, kwargs = origin
        monoids = monoid_of(family)
        return None if monoids is None else monoids(*args, **kwargs)
    return found


def remember_monoid(op: BinaryOp | Parameterized, monoid: Monoid | Parameterized, *, user_defined: bool) -> None:
    """Record a monoid or a family of monoids."""
    (_user_monoids if user_defined else _monoids)[op] = monoid


# ---- Operators.

NAMESPACE = {name: f for name, f in vars(functions).items() if not name.startswith("_")}
_MOVE, _COMPARE = ("x", "y"), ("x == y", "x != y", "x == t", "x != t")  # supported for dictionary-encoded values


def operand(value: Value, *casts: DataType) -> np.generic:
    """A value, cast as an expression expects it on the host. BOOL becomes an integer, because NumPy cannot subtract
    booleans.
    """
    for t in casts if casts[-1] is not BOOL else (*casts, INT8):
        value = found = cast_scalar(value, t)
    return found


@dataclass(frozen=True, eq=False)
class Operator(Ruled):
    """Base class of unary, index-unary, select and binary operators."""

    name: str
    expr: str
    rule: Rule = same

    family = "op"

    def __repr__(self) -> str:
        return f"{self.family}.{self.name}"

    @cached_property
    def positional(self) -> bool:
        """Whether the result depends on the positions of the operands."""
        return not names_in(self.expr).isdisjoint(("ix", "jx", "iy", "jy"))

    @cached_property
    def reads_positions_only(self) -> bool:
        """Whether the result depends on positions only, not on values."""
        return self.positional and names_in(self.expr).isdisjoint("xyt")

    def _user_type_ruling(self, t: DataType) -> tuple[DataType, DataType] | None:
        if self.expr == "1":
            return INT64, INT64
        if self.positional and names_in(self.expr).isdisjoint("xy"):
            return self.rule(t)
        found = self.rule(t)
        if isinstance(self.expr, Expression):
            return found
        return found if self.expr in _MOVE or (self.expr in _COMPARE and found == (t, BOOL)) else None

    @property
    def orig_func(self) -> Callable[..., object] | None:
        """The Python function of a user-defined operator; None for built-in operators."""
        return getattr(self.expr, "function", None)

    @property
    def is_positional(self) -> bool:
        return self.positional

    def evaluate(self, t: DataType, /, **names: Value) -> np.generic:
        """The value of the expression on the host, for operands of type `t`: x, y, thunk t, ix, jx, iy, jy."""
        exact = [(k, v.dtype.char, v.tobytes()) for k, v in names.items() if isinstance(v, np.generic)]
        return _cached(self, t, tuple(exact)) if len(exact) == len(names) else self._evaluate(t, names)

    def _evaluate(self, t: DataType, names: Mapping[str, Value]) -> np.generic:
        compute, result = self.compute_type(t), self.result_type(t)
        if isinstance(self.expr, Expression):
            return cast_scalar(self.expr.evaluate(dict.fromkeys(("x", "y", "t"), compute), names), result)
        casts = self.casts(t)
        values = {k: operand(v, *casts) if k in ("x", "y", "t") else cast_scalar(v, INT64) for k, v in names.items()}
        with np.errstate(all="ignore"):
            return cast_scalar(eval(code(resolve(self.expr, compute)), {**NAMESPACE, **values}), result)


@functools.lru_cache(1 << 12)
def _cached(op: Operator, t: DataType, operands: tuple[tuple[str, str, bytes], ...]) -> np.generic:
    """op.evaluate for operands given as (name, type, bytes), cached: iso values recur, and an evaluation costs 15
    us.
    """
    return op._evaluate(t, {name: np.frombuffer(data, kind)[0] for name, kind, data in operands})


class UnaryOp(Operator):
    """z = f(x)."""

    family = "unary"


class IndexUnaryOp(Operator):
    """z = f(x, i, j, thunk), at every entry."""

    family = "indexunary"


class SelectOp(Operator):
    """f(x, i, j, thunk), BOOL: `select` keeps the entries for which it is true."""

    family = "select"


@dataclass(frozen=True, repr=False, eq=False)
class BinaryOp(Operator):
    """z = f(x, y). `exchanged` names the operator with exchanged operands."""

    exchanged: str | None = None
    default_type: DataType | None = None  # result type of the untyped operator, if not the operands' type (pair)

    family = "binary"

    @property
    def commutes_to(self) -> BinaryOp | None:
        """The operator with exchanged operands: f(x, y) = g(y, x)."""
        return self if self.is_commutative else None if self.exchanged is None else BINARY[self.exchanged]

    @property
    def is_commutative(self) -> bool:
        return self.exchanged == self.name

    @property
    def monoid(self) -> Monoid | None:
        """The catalog's monoid of this operator, or the last one registered."""
        return monoid_of(self)


@functools.cache
def with_positions(op: BinaryOp, ix: str, jx: str, iy: str, jy: str) -> BinaryOp:
    """The operator with its position names replaced: it reads the name `ix` instead of ix, etc. One object per choice;
    an operator that reads no positions is returned unchanged.
    """
    places = {"ix": ix, "jx": jx, "iy": iy, "jy": jy}
    return replace(op, expr=rename(op.expr, places), exchanged=None) if op.positional else op


def as_row_operator(op: BinaryOp) -> BinaryOp:
    """The operator of two vectors as the multiplier of an inner product: the first vector is a row, so its index is the
    column, in row 0.
    """
    return with_positions(op, "jx", "ix", "ix", "jx")


@dataclass(frozen=True, eq=False)
class Parameterized:
    """A family of operators: `binary.isclose(rel_tol=1e-5)` makes one; the bare name uses the defaults.

    signature: of the function that makes them; parts: the arguments of its registration, as `registration.make` takes
    them.
    """

    name: str
    make: Callable[..., Any]
    family: str
    signature: Signature | None = None
    parts: tuple[Any, ...] = ()
    is_commutative: bool = False

    is_positional = False

    def __post_init__(self) -> None:
        if not isinstance(self.family, str):
            raise TypeError(f"family: expected a name, got {self.family!r}. Hint: register_new creates families")

    def __repr__(self) -> str:
        return f"{self.family}.{self.name}"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        made = self.make(*args, **kwargs)
        ORIGINS.setdefault(made, (self, args, kwargs))
        return made

    @property
    def monoid(self) -> Monoid | Parameterized | None:
        """The family of monoids of these operators; for semirings, their monoid or family of monoids."""
        monoid: Monoid | Parameterized | None = self.parts[0] if self.family == "semiring" else monoid_of(self)
        return monoid

    @property
    def is_idempotent(self) -> bool:
        """For monoids; AttributeError for others."""
        if self.family != "monoid":
            raise AttributeError(f"{self!r} is not a Monoid and has no is_idempotent")
        return bool(self.parts[2])

    @property
    def commutes_to(self) -> Parameterized | None:
        return self if self.is_commutative else None


class IndexBinaryOp(Parameterized):
    """z = f(x, ix, jx, y, iy, jy, theta): x is in row ix and column jx, y in iy and jy. `op(theta)` is the BinaryOp for
    one theta, as from GrB_BinaryOp_new_IndexOp; `op[FP32](theta)` fixes the type. GraphBLAS C API 2.1, section 3.5.
    """

    def __getitem__(self, dtype: object) -> Callable[[Value], Typed[BinaryOp]]:
        return lambda theta: self(theta)[dtype]

    @property
    def orig_func(self) -> Callable[..., object]:
        function: Callable[..., object] = self.parts[0]
        return function
