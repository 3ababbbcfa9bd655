"""A & B, A | B, A @ B: operands without an operator yet, and op(...), which supplies one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from semirings import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, Typed, UnaryOp, binary, semiring
from semirings.dtypes import BOOL

from ...exceptions import DimensionMismatch
from .arithmetic import Arithmetic
from .delayed import NotInPlace, Waiting, text_of
from .mask import Mask
from .operand import Operand, describe, is_tensor, kinds

if TYPE_CHECKING:
    from ..matrix.matrix import Matrix
    from ..scalar import Scalar
    from ..vector.vector import Vector
    from .expr import Expression, MatrixExpression, ScalarExpression, VectorExpression

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


class Infix(NotInPlace, Waiting, Operators, Generic[Made]):
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


__all__ = ["Infix", "Operators", "apply_operator", "elementwise", "matmul", "scalar"]
