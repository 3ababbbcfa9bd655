"""Call style of Matrix, Vector and Scalar: C(mask, accum, replace) << expr, and C(mask)[I] << expr."""

from __future__ import annotations

from typing import Any

from semirings import BinaryOp, Monoid, Parameterized, Typed, UnaryOp
from semirings.dtypes import check_cast

from .. import operators as _operators
from ..options import check_options, check_wait
from .arithmetic import InPlace
from .axes import Axis, parse
from .infix import Operators
from .mask import Mask, check
from .operand import Operand, describe, kinds


class _Replace:
    """`C(mask, replace) << expr`: entries of C outside the mask are deleted."""

    def __repr__(self) -> str:
        return "replace"


replace = _Replace()


class Updater:
    """C(mask, accum, replace), to be followed by `<<`, an index, or `del`."""

    __slots__ = ("__weakref__", "accum", "input_mask", "mask", "replace", "target")

    def __init__(self, target: Any, mask: Any, accum: Typed | None, replace: bool, input_mask: Any = None) -> None:
        self.target, self.mask, self.accum, self.replace = target, mask, accum, replace
        self.input_mask = input_mask

    def __lshift__(self, expr: Any) -> None:
        if self.input_mask is not None:
            masked = getattr(expr, "_masked_by", None)
            if masked is None:
                raise TypeError("input_mask: expected an extraction such as A[I, J] on the right, got something else")
            self.mask, self.input_mask = masked(self.input_mask), None
        self.target._update(expr, self.mask, self.accum, self.replace)

    update = __lshift__

    def _axes(self, key: Any) -> Any:
        if self.input_mask is not None:
            raise TypeError("input_mask: expected an extraction, C(input_mask=m) << A[I, J], got an assignment")
        if not self.target.ndim:
            raise TypeError("s(...)[i]: a Scalar has no positions")
        return parse(self.target, key)

    def __getitem__(self, key: Any) -> Any:
        return Assigner(self, self._axes(key), region_mask=False)

    def __setitem__(self, key: Any, value: Any) -> None:
        axes = self._axes(key)
        self.target._assign(axes, value, self.mask, self.accum, self.replace, False)

    def __delitem__(self, key: Any) -> None:
        axes = self._axes(key)
        self.target._assign(axes, kinds[0](self.target.dtype), self.mask, None, self.replace, False)

    def __eq__(self, other: Any) -> Any:
        raise TypeError("C(...) == x: not defined; did you mean `<<`?")

    def __bool__(self) -> bool:
        raise TypeError("C(...): has no truth value")


class Assigner:
    """C(mask)[I] or C[I](mask), to be followed by `<<`."""

    __slots__ = ("__weakref__", "axes", "region_mask", "updater")

    def __init__(self, updater: Updater, axes: tuple[Axis, ...], *, region_mask: bool) -> None:
        self.updater, self.axes, self.region_mask = updater, axes, region_mask
        if not isinstance(updater.target, Output):
            raise TypeError("C[I](..): expected an index of a Matrix or Vector, not of an expression")
        if region_mask and all(a.size is None for a in axes):
            raise TypeError("mask: not allowed for a single element; write C(mask)[i, j] << x")

    def __lshift__(self, value: Any) -> None:
        u = self.updater
        u.target._assign(self.axes, value, u.mask, u.accum, u.replace, self.region_mask)

    update = __lshift__

    def __eq__(self, other: Any) -> Any:
        raise TypeError("C(...)[I] == x: not defined; did you mean `<<`?")

    def __bool__(self) -> bool:
        raise TypeError("C(...)[I]: has no truth value")

    __hash__ = object.__hash__


class Output(Operators, InPlace):
    """Everything that can be on the left of `<<`: Matrix, Vector, Scalar."""

    __slots__ = ()
    nvals: Any

    _assign: Any  # (axes, value, mask, accum, replace, region) -> None
    _update: Any  # (value, mask, accum, replace) -> None: the assignment of each kind of object
    # Ranks of the masks that C(mask) accepts: a Vector mask is allowed for one row or column of a Matrix
    _mask_ranks: Any

    def __call__(
        self, *args: Any, mask: Any = None, accum: Any = None, replace: Any = False, input_mask: Any = None, **opts: Any
    ) -> Updater:
        """The parameters of an assignment, recognized by type or given by name.

        mask: `.S` or `.V` of an object of the same shape, `~` for the complement, or a BOOL object (its values); for
        `C(mask)[i, J]` and `C(mask)[I, j]` also of a Vector along that whole row or column, outside which nothing
        changes then. accum: BinaryOp, Monoid or text. replace: `gb.replace` or `replace=True`, only with a mask.
        input_mask, for `C(input_mask=m) << A[I, J]`: a mask of A's shape.

        Raises TypeError for anything else. GraphBLAS C API 2.1, section 2.4.
        """
        for arg in args:
            if arg is _REPLACE:
                replace = True
            elif type(arg) is Mask or isinstance(arg, (Mask, Operand)):
                if mask is not None:
                    raise TypeError("mask: expected one mask, got several")
                mask = arg
            elif isinstance(arg, (BinaryOp, Monoid, Parameterized, Typed, UnaryOp, str)) or arg is min or arg is max:
                if accum is not None:
                    raise TypeError("accum: expected one accumulator, got several")
                accum = arg
            else:
                raise TypeError(f"C(...): expected a mask, an accumulator or replace, got {describe(arg)}")
        if opts:
            check_options(opts)
        if input_mask is not None:
            if self.ndim == 0 or mask is not None:
                raise TypeError("input_mask: not allowed for Scalars, nor together with mask")
            input_mask = check(input_mask, getattr(input_mask, "ndim", self.ndim))
        elif mask is not None:
            if self.ndim == 0:
                raise TypeError("mask: not allowed for Scalars")
            mask = check(mask, *self._mask_ranks)
        elif replace:
            raise TypeError("replace: allowed only together with a mask")
        if accum is not None:
            accum = _operators.joining(_operators.typed(accum, "binary", self.dtype), "accum")
            check_cast(accum.return_type, self.dtype)
        return Updater(self, mask, accum, bool(replace), input_mask)

    def __lshift__(self, value: Any) -> None:
        self._update(value)

    def update(self, expr: Any, **opts: Any) -> None:
        """The same as `<<`."""
        check_options(opts)
        self._update(expr)

    def wait(self, how: str = "materialize") -> Any:
        """Itself, after pending writes and device work are complete. GraphBLAS C API 2.1, section 5.1."""
        check_wait(how)
        _ = self.nvals  # a read completes pending writes
        self.device.synchronize()
        return self


_REPLACE = replace

__all__ = ["Assigner", "Output", "Updater", "replace"]
