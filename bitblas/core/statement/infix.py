"""Operands of expressions: delayed values, infix arithmetic and comparisons, and A & B, A | B, A @ B with op(...).

Infix operators are those of python-graphblas: `+` is the union with plus, `-` the union with 0 for missing entries, all
others are the intersection. With a scalar, the operator applies to every entry. GraphBLAS C API 2.1, sections 4.3.4,
4.3.5, 4.3.8. Reading the values of a delayed operand computes it.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from semirings import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, Typed, UnaryOp, binary, semiring
from semirings import binary as _binary
from semirings.dtypes import BOOL

from ...device import Device
from ...exceptions import DimensionMismatch
from ..show import ShownExpression
from .masks import Mask

if TYPE_CHECKING:
    from ..matrix.matrix import Matrix
    from ..scalar import Scalar
    from ..vector.vector import Vector
    from .expressions import Expression, MatrixExpression, ScalarExpression, VectorExpression


# ---- Base class of everything that an expression may contain: objects and delayed values. Imports nothing else of
# core.

# Scalar, Vector and Matrix by rank, for modules that cannot import them; each class registers itself.
kinds: dict[int, Any] = {}
NAMES = {0: "Scalar", 1: "Vector", 2: "Matrix"}


def describe(value: Any) -> str:
    """A value in an error message: its type, and the value itself if that is short."""
    text = f" {value!r}" if isinstance(value, (bool, int, float, str)) else ""
    return f"{type(value).__module__}.{type(value).__qualname__}{text}".replace("builtins.", "")


class Operand:
    """Everything that may be part of an expression. `_resolve()` returns the object itself, computed if it is
    delayed."""

    __slots__ = ()
    dtype: Any

    if TYPE_CHECKING:  # attributes in some classes, properties in others

        @property
        def ndim(self) -> int: ...
        @property
        def device(self) -> Device: ...

    def _resolve(self) -> Any:
        return self

    def __bool__(self) -> bool:
        raise TypeError(f"{type(self).__name__}: has no truth value; did you mean .nvals or .isequal(other)?")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(f"{type(self).__name__}: is not converted to an array implicitly; use .to_coo() or .to_dense()")

    __hash__ = object.__hash__


def object_of(value: Any, ndim: int, where: str) -> Any:
    """`value` as a Vector (ndim 1) or Matrix (2), computed if it is delayed. TypeError otherwise."""
    if isinstance(value, Operand) and value.ndim == ndim:
        return value._resolve()
    raise TypeError(f"{where}: expected a {NAMES[ndim]}, got {describe(value)}")


def is_tensor(x: Any) -> bool:
    """Whether x is a Vector or a Matrix, or a delayed one."""
    return isinstance(x, Operand) and x.ndim > 0


# ---- Infix arithmetic and comparisons of objects and delayed expressions, as python-graphblas defines them.


def infix(x: Any, y: Any, name: str, how: str = "mult") -> Any:
    """x op y; how: "add" (union), "union" (union, 0 for missing entries) or "mult" (intersection)."""
    op = reduce(getattr, name.split("."), _binary)
    if is_tensor(x) and is_tensor(y):
        x = x._resolve()
        if how == "add":
            return x.ewise_add(y, op)
        return x.ewise_union(y, op, False, False) if how == "union" else x.ewise_mult(y, op)
    if is_tensor(x):
        return x._resolve().apply(op, right=y)
    if is_tensor(y):
        return y._resolve().apply(op, left=x)
    return kinds[0]._combine(x, y, op, how)


def _bool_infix(x: Any, y: Any, name: str, symbol: str, how: str = "add") -> Any:
    expr = infix(x, y, name, how)
    if expr.dtype is not BOOL:
        raise TypeError(f"x {symbol} y: expected BOOL operands, got {expr.dtype}; for other types call binary.{name}")
    return expr


class Arithmetic(Operand):
    """Arithmetic operators of everything that may be part of an expression."""

    __slots__ = ()

    # fmt: off
    def __eq__(self, other: Any) -> Any: return infix(self, other, "eq")
    def __ne__(self, other: Any) -> Any: return infix(self, other, "ne")
    def __lt__(self, other: Any) -> Any: return infix(self, other, "lt")
    def __le__(self, other: Any) -> Any: return infix(self, other, "le")
    def __gt__(self, other: Any) -> Any: return infix(self, other, "gt")
    def __ge__(self, other: Any) -> Any: return infix(self, other, "ge")
    def __add__(self, other: Any) -> Any: return infix(self, other, "plus", "add")
    def __radd__(self, other: Any) -> Any: return infix(other, self, "plus", "add")
    def __sub__(self, other: Any) -> Any: return infix(self, other, "minus", "union")
    def __rsub__(self, other: Any) -> Any: return infix(other, self, "minus", "union")
    def __mul__(self, other: Any) -> Any: return infix(self, other, "times")
    def __rmul__(self, other: Any) -> Any: return infix(other, self, "times")
    def __truediv__(self, other: Any) -> Any: return infix(self, other, "truediv")
    def __rtruediv__(self, other: Any) -> Any: return infix(other, self, "truediv")
    def __floordiv__(self, other: Any) -> Any: return infix(self, other, "floordiv")
    def __rfloordiv__(self, other: Any) -> Any: return infix(other, self, "floordiv")
    def __mod__(self, other: Any) -> Any: return infix(self, other, "numpy.mod")
    def __rmod__(self, other: Any) -> Any: return infix(other, self, "numpy.mod")
    def __pow__(self, other: Any) -> Any: return infix(self, other, "pow")
    def __rpow__(self, other: Any) -> Any: return infix(other, self, "pow")
    def __xor__(self, other: Any) -> Any: return _bool_infix(self, other, "lxor", "^")
    def __rxor__(self, other: Any) -> Any: return _bool_infix(other, self, "lxor", "^")
    def __divmod__(self, other: Any) -> Any: return self // other, self % other
    def __rdivmod__(self, other: Any) -> Any: return other // self, other % self
    # fmt: on

    def __neg__(self) -> Any:
        return self._resolve().apply("ainv")

    def __abs__(self) -> Any:
        return self._resolve().apply("abs")

    def __invert__(self) -> Any:
        if self.dtype is not BOOL:
            raise TypeError(f"~x: expected a BOOL object, got {self.dtype}; the complement of a mask is ~x.S or ~x.V")
        return self._resolve().apply("lnot")

    __hash__ = Operand.__hash__


class InPlace(Arithmetic):
    """+= and similar, for everything that can be on the left of `<<`."""

    __slots__ = ()
    _update: Any

    def _in_place(self, other: Any, accum: str, expr: Any) -> Any:
        # An operand of the same kind is accumulated in place; a scalar changes only existing entries.
        if is_tensor(other) and other.ndim == self.ndim:
            output: Any = self
            output(accum) << other
        else:
            self << expr()
        return self

    def _in_place_bool(self, other: Any, accum: str, symbol: str) -> Any:
        # The type of the right operand decides, as in python-graphblas.
        if is_tensor(other) and other.ndim == self.ndim and other.dtype is BOOL:
            output: Any = self
            output(accum) << other
            return self
        return self._set(_bool_infix(self, other, accum, symbol))

    def _set(self, value: Any) -> Any:
        self._update(value)
        return self

    # fmt: off
    def __iadd__(self, other: Any) -> Any: return self._in_place(other, "plus", lambda: self + other)
    def __isub__(self, other: Any) -> Any: return self._set(self - other)
    def __imul__(self, other: Any) -> Any: return self._set(self * other)
    def __itruediv__(self, other: Any) -> Any: return self._set(self / other)
    def __ifloordiv__(self, other: Any) -> Any: return self._set(self // other)
    def __imod__(self, other: Any) -> Any: return self._set(self % other)
    def __ipow__(self, other: Any) -> Any: return self._set(self**other)
    def __imatmul__(self, other: Any) -> Any: return self._set(self @ other)
    def __iand__(self, other: Any) -> Any: return self._set(_bool_infix(self, other, "land", "&=", "mult"))
    def __ior__(self, other: Any) -> Any: return self._in_place_bool(other, "lor", "|=")
    def __ixor__(self, other: Any) -> Any: return self._in_place_bool(other, "lxor", "^=")
    # fmt: on


# ---- Delayed values: an Expression, an Infix without an operator yet, parent[I]. Reading their values computes them.


class NoIndex(TypeError, AttributeError):
    """TypeError, as `range(x)` raises; AttributeError, so that hasattr(x, "__index__") is false."""


class Number:
    """Conversions to Python numbers, for Scalars and delayed Scalars."""

    __slots__ = ()
    ndim: Any
    dtype: Any

    @property
    def __index__(self) -> Any:
        if self.ndim or self.dtype.kind not in "biu":
            kind = type(self).__name__
            raise NoIndex(f"{kind}: expected an integer Scalar where an index is needed, got {self!r}")
        return self.__int__

    # fmt: off
    def __int__(self) -> int: return int(self._number().value)
    def __float__(self) -> float: return float(self._number().value)
    def __complex__(self) -> complex: return complex(self._number().value)
    # fmt: on

    def _number(self) -> Any:
        return self


class NotInPlace:
    """Refuses x += y and similar, for which Python would create another x."""

    __slots__ = ()

    def _refuse(self, other: Any) -> Any:
        raise TypeError(f"{type(self).__name__}: is not computed yet and cannot be changed in place; use .new()")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _refuse
    __imatmul__ = __iand__ = __ior__ = __ixor__ = _refuse


def text_of(x: Any) -> str:
    """The text of an operand. A delayed one is not computed for its name, because that may be a collective."""
    return str(x._text() if isinstance(x, Delayed) else getattr(x, "name", None) or x)


class Delayed(Number, ShownExpression, Operand):
    """`_to_expr()`: the equivalent Expression, itself if it is one. First among the bases of a class, before
    `Operators`: a delayed Scalar needs the comparisons defined here."""

    __slots__ = ("__weakref__",)
    _to_expr: Any

    def _resolve(self) -> Any:
        return self._to_expr()._resolve()

    def _number(self) -> Any:
        if self.ndim:
            raise TypeError(f"{type(self).__name__}: expected a Scalar where a number is needed, got {self!r}")
        return self._resolve()

    if TYPE_CHECKING:  # Expression and Waiting have the attributes of their results

        def __getattr__(self, name: str) -> Any: ...

    # fmt: off
    def __getitem__(self, key: Any) -> Any: return self._resolve()[key]
    def __contains__(self, key: Any) -> bool: return key in self._resolve()
    def __iter__(self) -> Any: return iter(self._resolve())
    def __bool__(self) -> bool: return Operand.__bool__(self) if self.ndim else bool(self._resolve())
    # fmt: on

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return Operand.__array__(self, dtype, copy) if self.ndim else self._resolve().__array__(dtype, copy)

    def __eq__(self, other: Any) -> Any:
        return super().__eq__(other) if self.ndim else self._resolve() == other

    def __ne__(self, other: Any) -> Any:
        return super().__ne__(other) if self.ndim else self._resolve() != other

    def __hash__(self) -> int:
        if self.ndim == 0:  # compares by value, like the Scalar that it becomes
            raise TypeError(f"unhashable type: {type(self).__name__!r}")
        return object.__hash__(self)


class DelayedOperand(Delayed):
    """Delayed values that become an Expression when an attribute is read."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._to_expr(), name)


# ---- A & B, A | B, A @ B: operands without an operator yet, and op(...), which supplies one.

Made = TypeVar("Made")  # type of the result


class Operators(Arithmetic):
    """The operators of everything that may be part of an expression."""

    __slots__ = ()

    # fmt: off
    def __and__(self, other: Any) -> Any: return elementwise(self, other, "&")
    def __or__(self, other: Any) -> Any: return elementwise(self, other, "|")
    def __rand__(self, other: Any) -> Any: return elementwise(other, self, "&")
    def __ror__(self, other: Any) -> Any: return elementwise(other, self, "|")
    def __matmul__(self, other: Any) -> Any: return matmul(self, other)
    # fmt: on

    def _apply_operator(self, op: Any, left: Any, right: Any = None, **kwargs: Any) -> Any:
        return apply_operator(op, left, right, **kwargs)


class Infix(NotInPlace, DelayedOperand, Operators, Generic[Made]):
    """Two operands and a symbol. `op(A & B)` supplies the operator; by default `@` means plus_times, and `&`, `|` of
    BOOL operands mean land, lor."""

    __slots__ = ("_expr", "left", "right", "symbol")

    def __init__(self, left: Any, right: Any, symbol: str) -> None:
        self.left, self.right, self.symbol = left, right, symbol
        self._expr: Expression[Made] | None = None

    @property
    def ndim(self) -> int:
        if self.symbol == "@":
            return self.left.ndim + self.right.ndim - 2
        return max(self.left.ndim, self.right.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        if self.symbol == "@":
            return (*self.left.shape[:-1], *self.right.shape[1:])
        # A Vector is broadcast to every row or column of a Matrix
        return max(self.left.shape, self.right.shape, key=len)

    @property
    def device(self) -> Any:
        return self.left.device

    @property
    def dtype(self) -> Any:
        return self._to_expr().dtype

    def with_operator(self, op: Any, left_default: Any = None, right_default: Any = None) -> Expression[Made]:
        left, right = (_joined(x, self.symbol, op, left_default, right_default) for x in (self.left, self.right))
        if self.symbol == "@":
            if left.ndim == 1:
                return left.inner(right, op) if right.ndim == 1 else left.vxm(right, op)
            return left.mxv(right, op) if right.ndim == 1 else left.mxm(right, op)
        if left_default is not None or right_default is not None:
            if self.symbol != "|" or left_default is None or right_default is None:
                raise TypeError("left_default, right_default: expected both, with an infix expression x | y")
            return left.ewise_union(right, op, left_default, right_default)
        return left.ewise_mult(right, op) if self.symbol == "&" else left.ewise_add(right, op)

    if TYPE_CHECKING:
        # fmt: off
        @overload
        def _apply_operator(
            self: Infix[Vector], op: Any, left: Any, right: Any = ..., **kwargs: Any
        ) -> VectorExpression: ...
        @overload
        def _apply_operator(
            self: Infix[Matrix], op: Any, left: Any, right: Any = ..., **kwargs: Any
        ) -> MatrixExpression: ...
        @overload
        def _apply_operator(
            self: Infix[Scalar], op: Any, left: Any, right: Any = ..., **kwargs: Any
        ) -> ScalarExpression: ...
        def _apply_operator(self, op: Any, left: Any, right: Any = ..., **kwargs: Any) -> Any: ...
        # fmt: on

    def _to_expr(self) -> Expression[Made]:
        if self._expr is None:
            if self.symbol != "@" and not (self.left.dtype is BOOL and self.right.dtype is BOOL):
                example = "monoid.times(x & y)" if self.symbol == "&" else "monoid.plus(x | y)"
                raise TypeError(
                    f"x {self.symbol} y: expected an operator, such as {example}; without one both must be BOOL, "
                    f"got {self.left.dtype} and {self.right.dtype}"
                )
            op = {"@": semiring.plus_times, "&": binary.land, "|": binary.lor}[self.symbol]
            self._expr = self.with_operator(op)
        return self._expr

    def new(self, dtype: Any = None, **kwargs: Any) -> Made:
        """Compute with the default operator into a new object."""
        return self._to_expr().new(dtype, **kwargs)

    def _text(self) -> str:
        return f"{text_of(self.left)} {self.symbol} {text_of(self.right)}"


def _joined(x: Any, symbol: str, op: Any, left_default: Any, right_default: Any) -> Any:
    """op(A & B & C): an operand that is the same infix gets the same operator."""
    if isinstance(x, Infix) and x.symbol == symbol:
        return x.with_operator(op, left_default, right_default).new()
    return x._resolve()


def elementwise(left: Any, right: Any, symbol: str) -> Any:
    """A & B and A | B, of two scalars too. DimensionMismatch unless the shapes are equal."""
    if isinstance(right, Mask):
        return right & left if symbol == "&" else right | left
    if is_tensor(left) != is_tensor(right):
        raise TypeError(f"x {symbol} y: expected Vectors or Matrices, got {describe(left)} and {describe(right)}")
    if not is_tensor(left):
        left, right = (scalar(x, f"x {symbol} y") for x in (left, right))
    for x in (left, right):
        if isinstance(x, Infix) and x.symbol not in (symbol, "@"):
            raise TypeError(f"x {symbol} y: expected operands of one symbol, got {x._text()}; call op({x._text()})")
    fits = left.shape == right.shape
    if left.ndim + right.ndim == 3:  # a Vector on the right is broadcast to every row, one on the left to every column
        fits = left.shape[-1] == right.shape[0]
    if not fits:
        raise DimensionMismatch(f"x {symbol} y: expected operands of one shape, got {left.shape} and {right.shape}")
    return Infix(left, right, symbol)


def scalar(x: Any, where: str) -> Any:
    """x, or a plain scalar, as an operand. TypeError for anything else."""
    if isinstance(x, Operand):
        return x
    try:
        return kinds[0].from_value(x, name=str(x))
    except TypeError:
        raise TypeError(f"{where}: expected a Matrix, Vector or scalar, got {describe(x)}") from None


def matmul(left: Any, right: Any) -> Any:
    """A @ B, A @ v, v @ A, v @ w. DimensionMismatch unless the inner sizes are equal."""
    if not (is_tensor(left) and is_tensor(right)):
        raise TypeError(f"x @ y: expected Vectors or Matrices, got {describe(left)} and {describe(right)}")
    if left.shape[-1] != right.shape[0]:
        raise DimensionMismatch(f"x @ y: expected inner sizes that are the same, got {left.shape} and {right.shape}")
    return Infix(left, right, "@")


def apply_operator(op: Any, left: Any, right: Any = None, **kwargs: Any) -> Any:
    """op(A), op(A, 2), op(2, A), op(A & B), op(A | B, left_default=, right_default=), op(A @ B), select.tril(A, -1);
    of plain scalars too: op(1), op(1, 2)."""
    plain = op.op if isinstance(op, Typed) else op
    if isinstance(left, Infix) and right is None and isinstance(plain, (BinaryOp, Monoid, Semiring)):
        if isinstance(plain, Semiring) != (left.symbol == "@"):
            kind = "Semiring" if left.symbol == "@" else "BinaryOp or Monoid"
            raise TypeError(f"{op!r}(x {left.symbol} y): expected a {kind}")
        return left.with_operator(op, **kwargs)
    if isinstance(plain, Semiring):
        raise TypeError(f"{op!r}: expected an infix expression such as A @ B, got {describe(left)}")
    if not isinstance(left, Operand) and not isinstance(right, Operand):
        left = scalar(left, repr(op))
    if isinstance(plain, UnaryOp):
        if right is not None:
            raise TypeError(f"{op!r}: expected one operand, got two")
        return left._resolve().apply(op)
    if isinstance(plain, (IndexUnaryOp, SelectOp)):
        thunk = kwargs.pop("thunk", right)
        left = left._resolve() if isinstance(left, Operand) else scalar(left, repr(op))
        return left.select(op, thunk) if isinstance(plain, SelectOp) else left.apply(op, thunk)
    if kwargs:
        raise TypeError(f"{op!r}: left_default and right_default need an infix expression x | y")
    if right is None:
        raise TypeError(f"{op!r}: expected op(A & B), op(A | B), op(A, 1) or op(1, A), got op({describe(left)})")
    if isinstance(left, Operand) and (left.ndim > 0 or not is_tensor(right)):
        return left._resolve().apply(op, right)
    return right._resolve().apply(op, left=left)
