"""Operands of expressions: delayed values, infix arithmetic and comparisons, and A & B, A | B, A @ B with op(...).

Infix operators are those of python-graphblas: `+` is the union with plus, `-` the union with 0 for missing entries, all
others are the intersection. With a scalar, the operator applies to every entry. GraphBLAS C API 2.1, sections 4.3.4,
4.3.5, 4.3.8. Reading the values of a delayed operand computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeGuard, TypeVar, overload

import numpy as np

from semirings import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, Typed, UnaryOp, binary, semiring
from semirings.dtypes import BOOL, DataType

from ...device import Device
from ...exceptions import DimensionMismatch
from ..show import ShownExpression
from .masks import Mask

if TYPE_CHECKING:
    from ..matrix.matrix import Matrix
    from ..matrix.read import MatrixRead
    from ..scalar import Scalar
    from ..typing import AnyExpression, DTypeArg, IndexLike, OperandArg, OperandLike, OperatorLike
    from ..vector import Vector
    from .expressions import Expression, MatrixExpression, ScalarExpression, VectorExpression
    from .indexing import IndexExpr


# ---- Base class of everything that an expression may contain: objects and delayed values. Imports nothing else of
# core.

# Scalar, Vector and Matrix by rank, for modules that cannot import them; each class registers itself.
kinds: dict[int, Any] = {}
NAMES = {0: "Scalar", 1: "Vector", 2: "Matrix"}


def describe(value: object) -> str:
    """A value in an error message: its type, and the value itself if that is short."""
    text = f" {value!r}" if isinstance(value, (bool, int, float, str)) else ""
    return f"{type(value).__module__}.{type(value).__qualname__}{text}".replace("builtins.", "")


def dense_hint(value: object) -> str:
    """A hint for a dense array or tensor in place of an object."""
    if type(value).__module__.partition(".")[0] == "torch":
        return ". Hint: bitblas.torch.spmm(A, X) multiplies by a tensor"
    return ". Hint: Matrix.from_dense and Vector.from_dense take arrays" if hasattr(value, "__array__") else ""


class Operand:
    """Everything that may be part of an expression. `_resolve()` returns the object itself, computed if it is
    delayed."""

    __slots__ = ()

    if TYPE_CHECKING:  # attributes in some classes, properties in others

        @property
        def ndim(self) -> int: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> DataType: ...
        @property
        def device(self) -> Device: ...

    def _resolve(self) -> Any:
        return self

    def __bool__(self) -> bool:
        raise TypeError(f"{type(self).__name__}: has no truth value; did you mean .nvals or .isequal(other)?")

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(f"{type(self).__name__}: is not converted to an array implicitly; use .to_coo() or .to_dense()")

    __hash__ = object.__hash__


@overload
def object_of(value: object, ndim: Literal[1], where: str) -> Vector: ...
@overload
def object_of(value: object, ndim: Literal[2], where: str) -> MatrixRead: ...
def object_of(value: object, ndim: int, where: str) -> Operand:
    """`value` as a Vector (ndim 1) or Matrix (2), computed if it is delayed. TypeError otherwise."""
    if isinstance(value, Operand) and value.ndim == ndim:
        return value._resolve()
    hint = "" if isinstance(value, Operand) else dense_hint(value)
    raise TypeError(f"{where}: expected a {NAMES[ndim]}, got {describe(value)}{hint}")


def is_tensor(x: object) -> TypeGuard[Operand]:
    """Whether x is a Vector or a Matrix, or a delayed one."""
    return isinstance(x, Operand) and x.ndim > 0


# ---- Infix arithmetic and comparisons of objects and delayed expressions, as python-graphblas defines them.


def infix(x: OperandLike, y: OperandLike, name: str, how: str = "mult") -> AnyExpression:
    """x op y; how: "add" (union), "union" (union, 0 for missing entries) or "mult" (intersection)."""
    op = attrgetter(name)(binary)
    if is_tensor(x) and is_tensor(y):
        left = x._resolve()
        if how == "add":
            return left.ewise_add(y, op)
        return left.ewise_union(y, op, False, False) if how == "union" else left.ewise_mult(y, op)
    if is_tensor(x):
        return x._resolve().apply(op, right=y)
    if is_tensor(y):
        return y._resolve().apply(op, left=x)
    return kinds[0]._combine(x, y, op, how)


def bool_infix(x: OperandLike, y: OperandLike, name: str, symbol: str, how: str = "add") -> AnyExpression:
    expr = infix(x, y, name, how)
    if expr.dtype is not BOOL:
        raise TypeError(f"x {symbol} y: expected BOOL operands, got {expr.dtype}; for other types call binary.{name}")
    return expr


def _methods(*how: str, call: Callable[..., object] = infix) -> Any:
    """The methods for x op y and y op x."""
    return lambda x, y: call(x, y, *how), lambda x, y: call(y, x, *how)


class Arithmetic(Operand):
    """Arithmetic operators of everything that may be part of an expression."""

    __slots__ = ()

    __eq__, __ne__ = _methods("eq")[0], _methods("ne")[0]
    __lt__, __gt__ = _methods("lt")[0], _methods("gt")[0]
    __le__, __ge__ = _methods("le")[0], _methods("ge")[0]
    __add__, __radd__ = _methods("plus", "add")
    __sub__, __rsub__ = _methods("minus", "union")
    __mul__, __rmul__ = _methods("times")
    __truediv__, __rtruediv__ = _methods("truediv")
    __floordiv__, __rfloordiv__ = _methods("floordiv")
    __mod__, __rmod__ = _methods("numpy.mod")
    __pow__, __rpow__ = _methods("pow")

    # fmt: off
    def __xor__(self, other: OperandLike) -> AnyExpression: return bool_infix(self, other, "lxor", "^")
    def __rxor__(self, other: OperandLike) -> AnyExpression: return bool_infix(other, self, "lxor", "^")
    # fmt: on

    def __divmod__(self, other: OperandLike) -> tuple[AnyExpression, AnyExpression]:
        return infix(self, other, "floordiv"), infix(self, other, "numpy.mod")

    def __rdivmod__(self, other: OperandLike) -> tuple[AnyExpression, AnyExpression]:
        return infix(other, self, "floordiv"), infix(other, self, "numpy.mod")

    def __neg__(self) -> AnyExpression:
        return self._resolve().apply("ainv")

    def __abs__(self) -> AnyExpression:
        return self._resolve().apply("abs")

    def __invert__(self) -> AnyExpression:
        if self.dtype is not BOOL:
            raise TypeError(f"~x: expected a BOOL object, got {self.dtype}; the complement of a mask is ~x.S or ~x.V")
        return self._resolve().apply("lnot")

    __hash__ = Operand.__hash__


# ---- Delayed values: an Expression, an Infix without an operator yet, parent[I]. Reading their values computes them.


class NoIndex(TypeError, AttributeError):
    """TypeError, as `range(x)` raises; AttributeError, so that hasattr(x, "__index__") is false."""


class Number(Operand):
    """Conversions to Python numbers, for Scalars and delayed Scalars."""

    __slots__ = ()

    def _number(self) -> Any:
        return self

    @property
    def __index__(self) -> Callable[[], int]:
        if self.ndim or self.dtype.kind not in "biu":
            kind = type(self).__name__
            raise NoIndex(f"{kind}: expected an integer Scalar where an index is needed, got {self!r}")
        return self.__int__

    # fmt: off
    def __int__(self) -> int: return int(self._number().value)
    def __float__(self) -> float: return float(self._number().value)
    def __complex__(self) -> complex: return complex(self._number().value)
    # fmt: on


class NotInPlace:
    """Refuses x += y and similar, for which Python would create another x."""

    __slots__ = ()

    def _refuse(self, other: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__}: is not computed yet and cannot be changed in place; use .new()")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _refuse
    __imatmul__ = __iand__ = __ior__ = __ixor__ = _refuse


def text_of(x: object) -> str:
    """The text of an operand. A delayed one is not computed for its name, because that may be a collective."""
    return str(x._text() if isinstance(x, Delayed) else getattr(x, "name", None) or x)


class Delayed(Number, ShownExpression):
    """`_to_expr()`: the equivalent Expression, itself if it is one. First among the bases of a class, before
    `Operators`: a delayed Scalar needs the comparisons defined here."""

    __slots__ = ("__weakref__",)

    if TYPE_CHECKING:  # Expression and Infix have the attributes of their results

        def _to_expr(self) -> Expression: ...
        def __getattr__(self, name: str) -> Any: ...

    def _resolve(self) -> Any:
        return self._to_expr()._resolve()

    def _number(self) -> Scalar:
        if self.ndim:
            raise TypeError(f"{type(self).__name__}: expected a Scalar where a number is needed, got {self!r}")
        return self._resolve()

    # fmt: off
    def __getitem__(self, key: IndexLike) -> IndexExpr: return self._resolve()[key]
    def __contains__(self, key: object) -> bool: return key in self._resolve()
    def __iter__(self) -> Iterator[object]: return iter(self._resolve())
    def __bool__(self) -> bool: return Operand.__bool__(self) if self.ndim else bool(self._resolve())
    # fmt: on

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return Operand.__array__(self, dtype, copy) if self.ndim else self._resolve().__array__(dtype, copy)

    def __eq__(self, other: object) -> Any:
        return super().__eq__(other) if self.ndim else self._resolve() == other

    def __ne__(self, other: object) -> Any:
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

Result = TypeVar("Result")  # type of the computed object


def elementwise(left: OperandLike, right: OperandLike | Mask, symbol: str) -> Infix | Mask:
    """A & B and A | B, of two scalars too. DimensionMismatch unless the shapes are equal."""
    if isinstance(right, Mask):
        return right & left if symbol == "&" else right | left
    if is_tensor(left) != is_tensor(right):
        raise TypeError(f"x {symbol} y: expected Vectors or Matrices, got {describe(left)} and {describe(right)}")
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


def scalar(x: OperandLike, where: str) -> Operand:
    """x, or a plain scalar, as an operand. TypeError for anything else."""
    if isinstance(x, Operand):
        return x
    try:
        return kinds[0].from_value(x, name=str(x))
    except TypeError:
        raise TypeError(f"{where}: expected a Matrix, Vector or scalar, got {describe(x)}") from None


def matmul(left: OperandLike, right: OperandLike) -> Infix:
    """A @ B, A @ v, v @ A, v @ w. DimensionMismatch unless the inner sizes are equal."""
    if not (is_tensor(left) and is_tensor(right)):
        hint = dense_hint(left if is_tensor(right) else right)
        raise TypeError(f"x @ y: expected Vectors or Matrices, got {describe(left)} and {describe(right)}{hint}")
    if left.shape[-1] != right.shape[0]:
        raise DimensionMismatch(f"x @ y: expected inner sizes that are the same, got {left.shape} and {right.shape}")
    return Infix(left, right, "@")


class Operators(Arithmetic):
    """The operators of everything that may be part of an expression."""

    __slots__ = ()

    __and__, __rand__ = _methods("&", call=elementwise)
    __or__, __ror__ = _methods("|", call=elementwise)
    __matmul__: Any = matmul

    def _apply_operator(self, op: OperatorLike, *args: Any, **kwargs: Any) -> Expression:
        return apply_operator(op, *args, **kwargs)


class Infix(NotInPlace, DelayedOperand, Operators, Generic[Result]):
    """Two operands and a symbol. `op(A & B)` supplies the operator; by default `@` means plus_times, and `&`, `|` of
    BOOL operands mean land, lor."""

    __slots__ = ("_expr", "left", "right", "symbol")

    def __init__(self, left: Operand, right: Operand, symbol: str) -> None:
        self.left, self.right, self.symbol = left, right, symbol
        self._expr: Expression[Result] | None = None

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
    def device(self) -> Device:
        return self.left.device

    @property
    def dtype(self) -> DataType:
        return self._to_expr().dtype

    def with_operator(
        self, op: OperatorLike, left_default: OperandArg = None, right_default: OperandArg = None
    ) -> Expression[Result]:
        # op(A & B & C): an operand that is the same infix gets the same operator
        left, right = (
            x.with_operator(op, left_default, right_default).new()
            if isinstance(x, Infix) and x.symbol == self.symbol
            else x._resolve()
            for x in (self.left, self.right)
        )
        defaults: tuple[OperandLike, ...] = ()
        if self.symbol == "@":
            method = {(1, 1): "inner", (1, 2): "vxm", (2, 1): "mxv"}.get((left.ndim, right.ndim), "mxm")
        elif left_default is not None or right_default is not None:
            if self.symbol != "|" or left_default is None or right_default is None:
                raise TypeError("left_default, right_default: expected both, with an infix expression x | y")
            method, defaults = "ewise_union", (left_default, right_default)
        else:
            method = "ewise_mult" if self.symbol == "&" else "ewise_add"
        return getattr(left, method)(right, op, *defaults)

    if TYPE_CHECKING:
        # fmt: off
        @overload
        def _apply_operator(self: Infix[Vector], op: OperatorLike, *args: Any, **kwargs: Any) -> VectorExpression: ...
        @overload
        def _apply_operator(self: Infix[Matrix], op: OperatorLike, *args: Any, **kwargs: Any) -> MatrixExpression: ...
        @overload
        def _apply_operator(self: Infix[Scalar], op: OperatorLike, *args: Any, **kwargs: Any) -> ScalarExpression: ...
        def _apply_operator(self, op: OperatorLike, *args: Any, **kwargs: Any) -> Expression: ...
        # fmt: on

    def _to_expr(self) -> Expression[Result]:
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

    def new(self, dtype: DTypeArg = None, **kwargs: Any) -> Result:
        """Compute with the default operator into a new object."""
        return self._to_expr().new(dtype, **kwargs)

    def _text(self) -> str:
        return f"{text_of(self.left)} {self.symbol} {text_of(self.right)}"


def apply_operator(op: OperatorLike, left: OperandLike, right: OperandArg = None, **kwargs: OperandLike) -> Expression:
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
    if not isinstance(right, Operand):
        left = scalar(left, repr(op))
    if isinstance(plain, UnaryOp):
        if right is not None:
            raise TypeError(f"{op!r}: expected one operand, got two")
        return scalar(left, repr(op))._resolve().apply(op)
    if isinstance(plain, (IndexUnaryOp, SelectOp)):
        thunk = kwargs.pop("thunk", right)
        x = scalar(left, repr(op))._resolve()
        return x.select(op, thunk) if isinstance(plain, SelectOp) else x.apply(op, thunk)
    if kwargs:
        raise TypeError(f"{op!r}: left_default and right_default need an infix expression x | y")
    if right is None:
        raise TypeError(f"{op!r}: expected op(A & B), op(A | B), op(A, 1) or op(1, A), got op({describe(left)})")
    if isinstance(right, Operand) and not (isinstance(left, Operand) and (left.ndim > 0 or not is_tensor(right))):
        return right._resolve().apply(op, left=left)
    return scalar(left, repr(op))._resolve().apply(op, right)
