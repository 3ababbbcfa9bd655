"""Typed operators and operator calls: `semiring.min_plus[FP32]`, `monoid.plus(A | B)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, overload

import numpy as np

from . import dtypes
from .cached import cached_property
from .dtypes import DataType
from .rules import CAST_FIRST, Rule

if TYPE_CHECKING:
    from typing_extensions import Self

    from .algebra import Monoid
    from .operators import Operator

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
        def __call__(self, *args: object, **kwargs: object) -> Any: ...
        # fmt: on

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return apply(self, *args, **kwargs)


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


_of_scalars: list[Callable[..., object]] = []  # handler of op(1, 2), set by a library that has a Scalar type


def applied_to_scalars_by(handler: Callable[..., object]) -> None:
    """From now on op(1, 2) calls handler(op, 1, 2)."""
    _of_scalars[:] = [handler]


def apply(op: Called, left: object, right: object = None, **kwargs: object) -> Any:
    """op(A), op(A, thunk), op(A & B), op(A | B), op(A @ B), op(2, A): calls the operand's method (duck-typed, because
    this package imports nothing of bitblas).
    """
    for operand in (left, right):
        handler = getattr(operand, "_apply_operator", None)
        if handler is not None:
            return handler(op, left, right, **kwargs)
    for handler in _of_scalars:
        return handler(op, left, right, **kwargs)
    raise TypeError(f"{op!r}: expected a Matrix, Vector, Scalar or infix expression such as A & B, got {left!r}")


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
