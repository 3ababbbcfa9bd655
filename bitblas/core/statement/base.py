"""What Matrix, Vector, Scalar and delayed expressions share: C(mask, accum, replace), and infix operators.

`Operand` is anything that may stand in an expression; `_resolve()` gives the object itself, computed if it is delayed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semirings import BinaryOp, Monoid, Parameterized, Typed, UnaryOp

from ...device import Device
from .. import operators as _operators
from ..options import check_options, check_wait
from . import mask as _mask
from .arithmetic import Arithmetic, InPlace


class _Replace:
    """`C(mask, replace) << expr`: entries of C outside the mask are deleted."""

    def __repr__(self) -> str:
        return "replace"


replace = _Replace()


def describe(value: Any) -> str:
    """A value in an error message: its type, and the value itself where that is short."""
    text = f" {value!r}" if isinstance(value, (bool, int, float, str)) else ""
    return f"{type(value).__module__}.{type(value).__qualname__}{text}".replace("builtins.", "")


class Operand(Arithmetic):
    """Anything that may stand in an expression: objects, and what is still to be computed."""

    __slots__ = ()
    dtype: Any

    if TYPE_CHECKING:  # some hold it, some compute it

        @property
        def device(self) -> Device: ...

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

    def __matmul__(self, other: Any) -> Any:
        from .infix import matmul

        return matmul(self, other)

    def __and__(self, other: Any) -> Any:
        from .infix import elementwise

        return elementwise(self, other, "&")

    def __or__(self, other: Any) -> Any:
        from .infix import elementwise

        return elementwise(self, other, "|")

    def __rand__(self, other: Any) -> Any:
        from .infix import elementwise

        return elementwise(other, self, "&")

    def __ror__(self, other: Any) -> Any:
        from .infix import elementwise

        return elementwise(other, self, "|")


class Updater:
    """C(mask, accum, replace): waits for `<<`, for an index, or for `del`."""

    __slots__ = ("__weakref__", "accum", "input_mask", "mask", "replace", "target")

    def __init__(self, target: Any, mask: Any, accum: Typed | None, replace: bool, input_mask: Any = None) -> None:
        self.target, self.mask, self.accum, self.replace = target, mask, accum, replace
        self.input_mask = input_mask

    def __lshift__(self, expr: Any) -> None:
        if self.input_mask is not None:
            from .indexing import extracted_mask

            self.mask, self.input_mask = extracted_mask(expr, self.input_mask), None
        self.target._update(expr, self.mask, self.accum, self.replace)

    update = __lshift__

    def _axes(self, key: Any) -> Any:
        from .indexing import parse

        if self.input_mask is not None:
            raise TypeError("input_mask: expected an extraction, C(input_mask=m) << A[I, J], got an assignment")
        return parse(self.target, key)

    def __getitem__(self, key: Any) -> Any:
        from .indexing import Assigner

        return Assigner(self, self._axes(key), region_mask=False)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.target._assign(self._axes(key), value, self.mask, self.accum, self.replace, False)

    def __delitem__(self, key: Any) -> None:
        from ..scalar import Scalar

        self.target._assign(self._axes(key), Scalar(self.target.dtype), self.mask, None, self.replace, False)

    def __eq__(self, other: Any) -> Any:
        raise TypeError("C(...) == x: not defined; perhaps `<<` is meant")

    def __bool__(self) -> bool:
        raise TypeError("C(...): has no truth value")


class Output(Operand, InPlace):
    """What can stand on the left of `<<`: Matrix, Vector, Scalar."""

    __slots__ = ()
    nvals: Any

    _assign: Any  # (axes, value, mask, accum, replace, region) -> None
    _update: Any  # (value, mask, accum, replace) -> None: the assignment of each kind of object
    _mask_ranks: Any  # of the masks that C(mask) takes: for one row or column of a Matrix also that of a Vector

    def __call__(
        self, *args: Any, mask: Any = None, accum: Any = None, replace: Any = False, input_mask: Any = None, **opts: Any
    ) -> Updater:
        """The parameters of an assignment, told apart by their type or given by name.

        mask: `.S` or `.V` of an object of the same shape, `~` for the complement, or a BOOL object (its values); for
        `C(mask)[i, J]` and `C(mask)[I, j]` also of a Vector along that whole row or column, outside which nothing
        changes then;
        accum: BinaryOp, Monoid or text; replace: `gb.replace` or `replace=True`, only with a mask; input_mask, for
        `C(input_mask=m) << A[I, J]`: a mask of A's shape.
        Raises TypeError for anything else. GraphBLAS C API 2.1, section 2.4.
        """
        for arg in args:
            if arg is _REPLACE:
                replace = True
            elif isinstance(arg, (_mask.Mask, Operand)):
                if mask is not None:
                    raise TypeError("mask: expected one, got several")
                mask = arg
            elif isinstance(arg, (BinaryOp, Monoid, Parameterized, Typed, UnaryOp, str)) or arg in (min, max):
                if accum is not None:
                    raise TypeError("accum: expected one, got several")
                accum = arg
            else:
                raise TypeError(f"C(...): expected a mask, an accumulator or replace, got {describe(arg)}")
        if opts:
            check_options(opts)
        if input_mask is not None:
            if self.ndim == 0 or mask is not None:
                raise TypeError("input_mask: not allowed for Scalars, nor together with mask")
        elif mask is not None:
            if self.ndim == 0:
                raise TypeError("mask: not allowed for Scalars")
            mask = _mask.check(mask, *self._mask_ranks)
        elif replace:
            raise TypeError("replace: expected a mask with it, got none")
        if accum is not None:
            accum = _operators.typed(accum, "binary", self.dtype)
        return Updater(self, mask, accum, bool(replace), input_mask)

    def __lshift__(self, value: Any) -> None:
        self._update(value)

    def update(self, expr: Any, **opts: Any) -> None:
        """The same as `<<`."""
        check_options(opts)
        self._update(expr)

    def wait(self, how: str = "materialize") -> Any:
        """Itself, when pending writes and the device are done. GraphBLAS C API 2.1, section 5.1."""
        check_wait(how)
        _ = self.nvals  # pending writes end at a read
        self.device.synchronize()
        return self


_REPLACE = replace

__all__ = ["Operand", "Output", "Updater", "describe", "replace"]
