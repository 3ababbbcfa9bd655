"""What Matrix, Vector, Scalar and delayed expressions share: C(mask, accum, replace), and infix operators.

`Operand` is anything that may stand in an expression; `_resolve()` gives the object itself, computed if it is delayed.
"""

from __future__ import annotations

from typing import Any

from semirings import BinaryOp, Monoid, Typed, UnaryOp
from semirings import binary as _binary
from semirings.dtypes import BOOL, DataType

from ..device import Device
from ..exceptions import NotImplementedException


class _Replace:
    """`C(mask, replace) << expr`: entries of C outside the mask are deleted."""

    def __repr__(self) -> str:
        return "replace"


replace = _Replace()


def describe(value: Any) -> str:
    """A value in an error message: its type, and the value itself where that is short."""
    text = f" {value!r}" if isinstance(value, (bool, int, float, str)) else ""
    return f"{type(value).__module__}.{type(value).__qualname__}{text}".replace("builtins.", "")


def _named(name: str) -> Any:
    if name not in _binary:
        raise NotImplementedException(f"binary.{name}: there is no such operator yet; there are {', '.join(_binary)}")
    return _binary[name]


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Operand) and x.ndim > 0


def infix(x: Any, y: Any, name: str, how: str = "mult") -> Any:
    """x op y: union for + ("add"), union with 0 for what is missing for - ("union"), else the intersection; with a
    scalar, every entry. GraphBLAS C API 2.1, sections 4.3.4, 4.3.5, 4.3.8."""
    op = _named(name)
    if _is_tensor(x) and _is_tensor(y):
        x = x._resolve()
        if how == "add":
            return x.ewise_add(y, op)
        return x.ewise_union(y, op, False, False) if how == "union" else x.ewise_mult(y, op)
    if _is_tensor(x):
        return x._resolve().apply(op, right=y)
    if _is_tensor(y):
        return y._resolve().apply(op, left=x)
    from .scalar import combine

    return combine(x, y, op, union=how != "mult")


def _bool_infix(x: Any, y: Any, name: str, symbol: str) -> Any:
    expr = infix(x, y, name, "add")
    if expr.dtype is not BOOL:
        raise TypeError(f"x {symbol} y: expected BOOL operands, got {expr.dtype}; it is the union with {name}")
    return expr


class Operand:
    """Infix arithmetic and comparisons, as python-graphblas defines them."""

    __slots__ = ()
    ndim: int
    dtype: Any
    device: Device

    def _resolve(self) -> Any:
        return self

    def _apply_operator(self, op: Any, left: Any, right: Any = None, **kwargs: Any) -> Any:
        from .infix import apply_operator

        return apply_operator(op, left, right, **kwargs)

    def __bool__(self) -> bool:
        raise TypeError(f"{type(self).__name__}: has no truth value; perhaps .nvals, or .isequal(other), is meant")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(f"{type(self).__name__}: is not converted to an array by itself; use .to_coo() or .to_dense()")

    __hash__ = object.__hash__

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
    # fmt: on

    def __neg__(self) -> Any:
        return self._resolve().apply("ainv")

    def __abs__(self) -> Any:
        return self._resolve().apply("abs")

    def __invert__(self) -> Any:
        if self.dtype is not BOOL:
            raise TypeError(f"~x: expected a BOOL object, got {self.dtype}; the complement of a mask is ~x.S or ~x.V")
        return self._resolve().apply("lnot")

    def __matmul__(self, other: Any) -> Any:
        from .infix import matmul

        return matmul(self, other)

    def __and__(self, other: Any) -> Any:
        from .infix import elementwise

        return elementwise(self, other, "&")

    def __or__(self, other: Any) -> Any:
        from .infix import elementwise

        return elementwise(self, other, "|")


class Updater:
    """C(mask, accum, replace): waits for `<<`, for an index, or for `del`."""

    __slots__ = ("accum", "mask", "replace", "target")

    def __init__(self, target: Any, mask: Any, accum: Typed | None, replace: bool) -> None:
        self.target, self.mask, self.accum, self.replace = target, mask, accum, replace

    def __lshift__(self, value: Any) -> None:
        self.target._update(value, self.mask, self.accum, self.replace)

    update = __lshift__

    def __getitem__(self, key: Any) -> Any:
        from .indexing import Assigner, parse

        return Assigner(self, parse(self.target, key), region_mask=False)

    def __setitem__(self, key: Any, value: Any) -> None:
        from .indexing import parse

        self.target._assign(parse(self.target, key), value, self.mask, self.accum, self.replace, False)

    def __delitem__(self, key: Any) -> None:
        from .indexing import parse
        from .scalar import Scalar

        self.target._assign(parse(self.target, key), Scalar(self.target.dtype), self.mask, None, self.replace, False)

    def __eq__(self, other: Any) -> Any:
        raise TypeError("C(...) == x: not defined; perhaps `<<` is meant")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("C(...): has no truth value")


class Output(Operand):
    """What can stand on the left of `<<`: Matrix, Vector, Scalar."""

    __slots__ = ()
    nvals: Any

    _update: Any  # (value, mask, accum, replace) -> None: the assignment of each kind of object

    def __call__(self, *args: Any, mask: Any = None, accum: Any = None, replace: Any = False) -> Updater:
        """The parameters of an assignment, told apart by their type or given by name.

        mask: `.S` or `.V` of an object of the same shape, `~` for the complement, or a BOOL object (its values);
        accum: BinaryOp, Monoid or text; replace: `gb.replace` or `replace=True`, only with a mask.
        Raises TypeError for anything else. GraphBLAS C API 2.1, section 2.4.
        """
        for arg in args:
            if arg is _REPLACE:
                replace = True
            elif isinstance(arg, (_mask.Mask, Operand)):
                if mask is not None:
                    raise TypeError("mask: expected one, got several")
                mask = arg
            elif isinstance(arg, (BinaryOp, Monoid, Typed, UnaryOp, str)) or arg in (min, max):
                if accum is not None:
                    raise TypeError("accum: expected one, got several")
                accum = arg
            else:
                raise TypeError(f"C(...): expected a mask, an accumulator or replace, got {describe(arg)}")
        if mask is not None:
            if self.ndim == 0:
                raise TypeError("mask: not allowed for Scalars")
            mask = _mask.check(mask, self.ndim)
        elif replace:
            raise TypeError("replace: expected a mask with it, got none")
        if accum is not None:
            accum = _operators.typed(accum, "binary", self.dtype)
        return Updater(self, mask, accum, bool(replace))

    def __lshift__(self, value: Any) -> None:
        self._update(value)

    def update(self, value: Any) -> None:
        """The same as `<<`."""
        self._update(value)

    def wait(self, how: str = "materialize") -> None:
        """Finish pending writes, and wait for the device. GraphBLAS C API 2.1, section 4.2.1."""
        _ = self.nvals  # pending writes end at a read
        self.device.synchronize()

    def _in_place(self, other: Any, accum: str, expr: Any) -> Any:
        # With an object of the same kind the accumulator does it in place; a scalar touches the entries alone.
        if _is_tensor(other) and other.ndim == self.ndim:
            self(accum) << other
        else:
            self << expr()
        return self

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
    def __iand__(self, other: Any) -> Any: return self._set(_bool_result(infix(self, other, "land"), "&="))
    def __ior__(self, other: Any) -> Any: return self._set(_bool_infix(self, other, "lor", "|="))
    def __ixor__(self, other: Any) -> Any: return self._set(_bool_infix(self, other, "lxor", "^="))
    # fmt: on


def _bool_result(expr: Any, symbol: str) -> Any:
    if expr.dtype is not BOOL:
        raise TypeError(f"x {symbol} y: expected BOOL operands, got {expr.dtype}")
    return expr


_REPLACE = replace

from . import mask as _mask  # noqa: E402 - masks are made of objects, and objects take masks
from . import operators as _operators  # noqa: E402

__all__ = ["DataType", "Operand", "Output", "Updater", "describe", "infix", "replace"]
