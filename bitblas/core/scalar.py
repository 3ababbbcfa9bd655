"""Scalar: one value or no value, stored on the host."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Typed, binary, dtypes, monoid
from semirings.dtypes import BOOL, FP64, DataType, check_cast

from .. import device as devices
from ..device import Device
from .convert import numpy_type, one_shown
from .hooks import cast
from .hooks import state as recording
from .operators import typed
from .options import check_options, check_wait
from .show import ShownScalar
from .statement.expressions import ScalarExpression, enter
from .statement.indexing import Output
from .statement.infix import Number, Operand, describe
from .statement.running import computed, statement
from .statement.scalar_operands import (
    apply_operator,
    assigned,
    compute_scalar,
    index_operator,
    of,
    operand,
    operands,
    union_operator,
)

if TYPE_CHECKING:
    from .statement.expressions import Expression
    from .statement.masks import Mask
    from .typing import DTypeArg, DTypeLike, OperandArg, OperandLike, Operands, OperatorLike, Run, Value

_names = itertools.count()


class Scalar(Number, ShownScalar, Output):
    """Scalar(dtype=FP64): empty until a value is assigned. GraphBLAS C API 2.1, section 3.8.2."""

    __slots__ = ("__weakref__", "_value", "dtype", "is_cscalar", "name")
    dtype: DataType
    ndim = 0
    shape = ()

    def __init__(self, dtype: DTypeLike = FP64, *, is_cscalar: bool = False, name: str | None = None) -> None:
        self.dtype = dtypes.lookup_dtype(dtype)
        self.is_cscalar = bool(is_cscalar)  # stored for programs that read it; both kinds are the same here
        self.name = f"s_{next(_names)}" if name is None else name
        self._value: np.generic | None = None

    @classmethod
    def from_value(
        cls, value: OperandArg, dtype: DTypeArg = None, *, is_cscalar: bool = False, name: str | None = None
    ) -> Scalar:
        """A Scalar of a Python or NumPy value.

        Parameters
        ----------
        value : bool, int, float, complex, NumPy scalar, Scalar or None
            None, with a dtype: an empty Scalar.
        dtype : optional
            If not given, BOOL, INT64 (UINT64 from 2**63 on), FP64 or FC64 for Python's, else that of `value`.
        is_cscalar : bool, optional
            For compatibility with python-graphblas.
        name : str, optional
            Shown when the Scalar is printed.

        Returns
        -------
        Scalar
            On the host.

        Raises
        ------
        TypeError
            No scalar, or None without `dtype`.
        OverflowError
            An int that 64 bits do not hold.
        """
        like = None if dtype is None else dtypes.lookup_dtype(dtype)
        found, kind = (None, None) if value is None and dtype is not None else of(value, like)
        s = cls(like or kind or FP64, is_cscalar=is_cscalar, name=name)
        s._store(found)
        return s

    def _store(self, value: np.generic | None) -> None:
        self._value = None if value is None else cast(value, self.dtype)

    @classmethod
    def _computed(
        cls, expr: Expression, dtype: DataType | None = None, mask: Mask | None = None, name: str | None = None
    ) -> Scalar:
        """A new Scalar with the result of an expression."""
        if mask is not None:
            raise ValueError("mask: not allowed for a new Scalar")
        s = cls(expr.dtype if dtype is None else dtype, name=name)
        check_cast(expr.dtype, s.dtype)
        if recording.threads and recording.recorder is not None:
            recording.recorder.scalar_statement(s, expr, None)
        else:
            s._store(computed(expr, lambda: expr.run(None), s.name))
        return s

    @staticmethod
    def _combine(left: OperandLike, right: OperandLike, op: OperatorLike, how: str) -> ScalarExpression:
        return combine(left, right, op, how)

    @property
    def device(self) -> Device:
        return devices.get("cpu")

    @property
    def value(self) -> Any:
        """The value as a Python object, None if there is none. Assigning casts to the dtype."""
        self._read("value")
        return self.get()

    @value.setter
    def value(self, value: OperandArg) -> None:
        if recording.threads and recording.recorder is not None:
            self._write(value, None, None, False)
            return
        self._store(None if value is None else of(value, self.dtype)[0])

    def get(self, default: Any = None) -> Any:
        """The value as a Python scalar.

        Parameters
        ----------
        default : optional
            The answer if the Scalar is empty; None if not given.

        Returns
        -------
        scalar
            The value, or `default`.
        """
        return default if self._value is None else one_shown(self._value, self.dtype)

    def _read(self, how: str) -> None:
        """Called before the host reads the value."""
        if recording.threads and recording.recorder is not None:
            recording.recorder.refuse(f"{self.name}.{how}: reading a Scalar")

    @property
    def is_empty(self) -> bool:
        self._read("is_empty")
        return self._value is None

    @property
    def nvals(self) -> int:
        self._read("nvals")
        return int(self._value is not None)

    @property
    def is_grbscalar(self) -> bool:
        return not self.is_cscalar

    def new(
        self, dtype: DTypeArg = None, *, is_cscalar: bool | None = None, name: str | None = None, **opts: Any
    ) -> Scalar:
        """A copy: the same as `dup`.

        Parameters
        ----------
        dtype : optional
            What the value is cast to; this one if not given.
        is_cscalar : bool, optional
            For compatibility with python-graphblas.
        name : str, optional
            Of the copy.
        opts : optional
            clear of `dup`.

        Returns
        -------
        Scalar
            On the host.
        """
        return self.dup(dtype, is_cscalar=is_cscalar, name=name, **opts)

    def dup(
        self,
        dtype: DTypeArg = None,
        *,
        clear: bool = False,
        is_cscalar: bool | None = None,
        name: str | None = None,
        **opts: object,
    ) -> Scalar:
        """A copy.

        Parameters
        ----------
        dtype : optional
            What the value is cast to; this one if not given.
        clear : bool, optional
            Empty.
        is_cscalar : bool, optional
            For compatibility with python-graphblas.
        name : str, optional
            Of the copy.

        Returns
        -------
        Scalar
            On the host.
        """
        check_options(opts)
        kind = self.is_cscalar if is_cscalar is None else is_cscalar
        s = Scalar(self.dtype if dtype is None else dtype, is_cscalar=kind, name=name)
        if not clear:
            s._store(of(self, s.dtype)[0])
        return s

    def clear(self) -> None:
        """Make it empty."""
        if recording.threads and recording.recorder is not None:
            recording.recorder.refuse(f"{self.name}.clear()")
        self._value = None

    def isequal(self, other: object, *, check_dtype: bool = False) -> bool:
        """Whether another scalar has the same value, or both are empty; None is empty.

        Parameters
        ----------
        other : scalar, Scalar or None
            What it is compared with.
        check_dtype : bool, optional
            The dtype of a Scalar must be the same too.

        Returns
        -------
        bool
            `==` is the same.
        """
        self._read("isequal")
        found, kind, same = self._other(other)
        if check_dtype and same and self.dtype is not kind:
            return False
        if self._value is None or found is None:
            return self._value is found
        check_cast(kind, self.dtype)
        return bool(self._value.item() == found.item())

    def isclose(self, other: object, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Whether another scalar has nearly the same value, or both are empty; None is empty.

        Parameters
        ----------
        other : scalar, Scalar or None
            What it is compared with.
        rel_tol, abs_tol : float, optional
            abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol).
        check_dtype : bool, optional
            The dtype of a Scalar must be the same too.

        Returns
        -------
        bool
            True if close.
        """
        self._read("isclose")
        found, kind, same = self._other(other)
        if check_dtype and same and self.dtype is not kind:
            return False
        if self._value is None or found is None:
            return self._value is found
        if self.dtype._is_udt or kind._is_udt:
            return self.isequal(other)
        return math.isclose(self._value.item(), found.item(), rel_tol=rel_tol, abs_tol=abs_tol)

    def _other(self, other: object) -> tuple[np.generic | None, DataType, bool]:
        if other is None:
            return None, self.dtype, False
        return *of(other, self.dtype if self.dtype._is_udt else None), isinstance(other, Operand)

    def _update(self, value: Any, mask: Mask | None = None, accum: Typed | None = None, replace: bool = False) -> None:
        statement(Scalar._write, self, value, mask, accum, replace)

    def _write(self, value: OperandArg, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
        if recording.threads and recording.recorder is not None:
            recording.recorder.scalar_statement(self, value, accum)
            return
        found = None
        if value is not None or accum is not None:
            found, _ = assigned(value, self.dtype, "Scalar << x", "a scalar or a delayed Scalar")
        if accum is not None and self._value is not None:
            found = self._value if found is None else _evaluate(accum, self._value, found)
        self._store(found)

    def apply(self, op: OperatorLike, right: OperandArg = None, *, left: OperandArg = None) -> ScalarExpression:
        """op of the value; an empty Scalar stays empty.

        Parameters
        ----------
        op : UnaryOp, BinaryOp, IndexUnaryOp or str
            Such as `unary.sqrt`, "sqrt", or "times" with a scalar.
        right : scalar, optional
            The second operand of a BinaryOp, or the thunk of an IndexUnaryOp.
        left : scalar, optional
            The first operand of a BinaryOp.

        Returns
        -------
        ScalarExpression
            A delayed Scalar; `.new()` computes it, `.value` is its Python number.

        Raises
        ------
        TypeError
            `op` is no such operator, or a BinaryOp without a scalar or with two.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.
        """
        kind, f, scalar = apply_operator(op, self.dtype, left, right)
        return ScalarExpression("apply", operands(self, kind, scalar), f, partial(_applied, self, kind, f, scalar))

    def ewise_add(self, other: OperandLike, op: OperatorLike = monoid.plus) -> ScalarExpression:
        """op of both; if one is empty, the other.

        Parameters
        ----------
        other : scalar or Scalar
            The second operand.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.max` or "max"; plus if not given.

        Returns
        -------
        ScalarExpression
            A delayed Scalar; `.new()` computes it, `.value` is its Python number.

        Raises
        ------
        TypeError
            `other` is no scalar, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        """
        return combine(self, other, op, "add")

    def ewise_mult(self, other: OperandLike, op: OperatorLike = binary.times) -> ScalarExpression:
        """op of both; empty if one is.

        Parameters
        ----------
        other : scalar or Scalar
            The second operand.
        op : BinaryOp, Monoid or str, optional
            Such as `binary.max` or "max"; times if not given.

        Returns
        -------
        ScalarExpression
            A delayed Scalar; `.new()` computes it, `.value` is its Python number.

        Raises
        ------
        TypeError
            `other` is no scalar, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        """
        return combine(self, other, op)

    def ewise_union(
        self, other: OperandLike, op: OperatorLike, left_default: OperandLike, right_default: OperandLike
    ) -> ScalarExpression:
        """op of both, with a default for an empty one; empty if both are.

        Parameters
        ----------
        other : scalar or Scalar
            The second operand.
        op : BinaryOp, Monoid or str
            Such as `binary.max` or "max".
        left_default, right_default : scalar
            Stand for an empty self and an empty `other`.

        Returns
        -------
        ScalarExpression
            A delayed Scalar; `.new()` computes it, `.value` is its Python number.

        Raises
        ------
        TypeError
            `other` is no scalar, or `op` no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtypes.
        """
        return combine(self, other, op, "union", (left_default, right_default))

    def select(self, op: OperatorLike | Operand, thunk: OperandArg = None) -> ScalarExpression:
        """The value, if op(value, 0, 0, thunk) is true for it; else an empty Scalar.

        Parameters
        ----------
        op : SelectOp, IndexUnaryOp, str or Scalar
            Such as ">"; a BOOL Scalar keeps the value if it is true.
        thunk : scalar, optional
            What `op` compares with.

        Returns
        -------
        ScalarExpression
            A delayed Scalar of this dtype; `.value` is its Python number.

        Raises
        ------
        TypeError
            `op` is no such operator.
        ValueError
            No operator has that name.
        KeyError
            `op` has no version for the dtype.
        """
        if isinstance(op, Operand) and thunk is None:
            if op.ndim or op.dtype is not BOOL:
                raise TypeError(f"select: expected a SelectOp or a BOOL Scalar, got {describe(op)}")
            keep: Any = op._resolve()
            run: Run = lambda mask: self._value if bool(keep) else None
            return ScalarExpression("select", (self, op), None, run, self.dtype)
        f, value = index_operator(op, self.dtype, thunk, "select")
        kept = lambda mask: None if self._value is None or not _indexed(f, self._value, value) else self._value
        return ScalarExpression("select", (self, value), f, kept, self.dtype)

    def __bool__(self) -> bool:
        self._read("bool")
        return self._value is not None and bool(self._value)

    # fmt: off
    # Equal by value, which may change, so it has no hash.
    def __eq__(self, other: object) -> bool: return self.isequal(other)
    def __ne__(self, other: object) -> bool: return not self.isequal(other)
    # fmt: on

    def wait(self, how: str = "materialize") -> Scalar:
        """Nothing: a Scalar is stored on the host.

        Parameters
        ----------
        how : str, optional
            "materialize" or "complete".

        Returns
        -------
        Scalar
            Itself.

        Raises
        ------
        ValueError
            Another `how`.
        """
        check_wait(how)
        return self

    def __reduce__(self) -> Any:
        dtype = self.dtype if self.dtype._is_udt else self.dtype.name
        return _restored, (self.value, dtype, self.is_cscalar, self.name)

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.value, dtype=numpy_type(self.dtype) if dtype is None else dtype)


def _restored(value: OperandArg, dtype: DTypeLike, is_cscalar: bool, name: str) -> Scalar:
    s = Scalar(dtype, is_cscalar=is_cscalar, name=name)
    s.value = value
    return s


def _evaluate(op: Typed, x: Value, y: Value | None = None) -> np.generic:
    names = {"x": compute_scalar(op, x)} if y is None else {"x": compute_scalar(op, x), "y": compute_scalar(op, y)}
    return op.op.evaluate(op.dtype, **names)


def _indexed(op: Typed, x: np.generic, thunk: np.generic | None) -> np.generic:
    return op.op.evaluate(op.dtype, x=compute_scalar(op, x), t=thunk, ix=0, jx=0, iy=0, jy=0)


def _applied(s: Scalar, kind: str, op: Typed, scalar: np.generic | None, mask: object) -> np.generic | None:
    x = s._value
    if x is None:
        return None
    if kind == "index":
        return _indexed(op, x, scalar)
    return _evaluate(op, x) if kind == "unary" else _evaluate(op, *((scalar, x) if kind == "left" else (x, scalar)))


def combine(
    left: OperandLike, right: OperandLike, op: OperatorLike, how: str = "mult", defaults: Operands = (False, False)
) -> ScalarExpression:
    """op of two scalars. If one is empty: empty ("mult"), the other one ("add"), or op with a default ("union")."""
    x, xt = _beside(left, right)
    y, yt = _beside(right, left)
    if how == "union":
        f, *missing = union_operator(op, xt, yt, *defaults)
    else:
        f, missing = typed(op, "binary", xt, yt), []
    run = partial(_combined, x, y, f, how, missing)
    return ScalarExpression(f"ewise_{how}", (Scalar.from_value(left), right), f, run)


def _combined(
    x: np.generic | None, y: np.generic | None, op: Typed, how: str, missing: list[np.generic], mask: object
) -> np.generic | None:
    if x is not None and y is not None:
        return _evaluate(op, x, y)
    if how == "mult" or (x is None and y is None):
        return None
    if how == "add":
        return y if x is None else x
    return _evaluate(op, *(default if z is None else z for z, default in zip((x, y), missing)))


def _beside(value: OperandLike, other: object) -> tuple[np.generic | None, DataType]:
    """An operand and its type; OverflowError for a Python integer that would become a float next to the other one."""
    if type(value) is int and isinstance(other, Operand):
        return operand(value, "x op y", other.dtype)
    return of(value)


enter(Scalar)
