"""Call style: C(mask, accum, replace) << expr, C(mask)[I] << expr, C[I, J], v[i]; index resolution; base classes.

Extraction: GraphBLAS C API 2.1, 4.3.6; targets of assignment: 4.3.7.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NoReturn, TypeVar, overload

import numpy as np

from semirings import BinaryOp, Monoid, Parameterized, Typed, UnaryOp
from semirings.dtypes import BOOL, DataType, check_cast

from ... import operations, tuning
from ...device import Device
from ...exceptions import DimensionMismatch, IndexOutOfBound
from .. import operators as _operators
from ..convert import array_of
from ..hooks import SymbolicArray
from ..options import check_options, check_wait
from ..show import Shown
from .infix import DelayedOperand, Operand, Operators, bool_infix, describe, is_tensor, kinds
from .masks import Mask, check
from .running import assignment, statement

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..typing import Array, Axes, DTypeArg, MaskArg, MaskLike, OperandLike, OperatorArg, Places
    from .expressions import Expression

# ---- Resolve indices: C[I, J], v[i].

One = int | np.integer  # for type checkers: a single position, and several
Several = slice | range | list[int] | np.ndarray


class Axis:
    """One index: `size` is None for an int (then `at` is it), else the number of positions; `at` None means all."""

    __slots__ = ("at", "dim", "size")

    def __init__(self, size: int | None, at: Any, dim: int) -> None:
        self.size, self.at, self.dim = size, at, dim

    def __str__(self) -> str:
        if self.at is None or isinstance(self.at, slice):
            return ":" if self.at is None else ":".join(str(x) for x in (self.at.start, self.at.stop, self.at.step))
        if self.size is None or type(self.at) is SymbolicArray:
            return str(self.at)
        if self.size > 8:
            return f"[{self.size}]"
        return str(self.at.tolist() if hasattr(type(self.at), "tolist") else self.at)

    @property
    def region(self) -> range | None:
        """The range of a slice; None for other indices."""
        return range(self.at.start, self.at.stop, self.at.step) if isinstance(self.at, slice) else None

    @property
    def is_range(self) -> bool:
        """Whether it is a slice with positions."""
        return bool(isinstance(self.at, slice) and self.size)

    @overload
    def places(self, device: Device, ranges: Literal[False]) -> Array | None: ...

    @overload
    def places(self, device: Device, ranges: bool) -> Places: ...

    def places(self, device: Device, ranges: bool) -> Places:
        """None for all, a range if the operation supports `ranges` and it is one, else an array."""
        return None if self.at is None else (self.region if ranges else None) or self.array(device)

    def array(self, device: Device) -> Array:
        """The positions as an INT64 array of the device."""
        if self.at is None:
            return device.xp.arange(self.dim, dtype=np.int64)
        if isinstance(self.at, slice):
            return device.xp.arange(self.at.start, self.at.stop, self.at.step, dtype=np.int64)
        return device.asarray([self.at] if self.size is None else self.at, np.int64)


def axis(index: Any, dim: int, parent: Any) -> Axis:
    """An int, a slice, a list or array of ints, an integer Scalar. Negative ones count from the end. parent: what is
    indexed.

    Raises IndexError out of range, TypeError for anything else.
    """
    if type(index) is int and 0 <= index < dim:  # the common case first
        return Axis(None, index, dim)
    if isinstance(index, slice):
        start, stop, step = index.indices(dim)
        size = len(range(start, stop, step))
        return Axis(dim, None, dim) if (size, step) == (dim, 1) else Axis(size, slice(start, stop, step), dim)
    if isinstance(index, Operand):
        if index.ndim:
            raise TypeError(
                f"index: expected integers, got a {type(index).__name__}; for a mask: x.dup(mask=m.S), x(m.S) << y"
            )
        if index.dtype.kind not in "iu":
            raise TypeError(f"index: expected an integer, got a Scalar of {index.dtype}")
        index = int(index._resolve())
    if type(index) is SymbolicArray:
        return Axis(index.size, index, dim)
    if isinstance(index, Mask):
        raise TypeError("index: expected integers, got a mask; write x.dup(mask=m) or x(m) << y")
    if not isinstance(index, (list, np.ndarray, bool, np.bool_)) and not hasattr(index, "__cuda_array_interface__"):
        try:
            i = operator.index(index)
        except TypeError:
            if isinstance(index, (tuple, str, float)) or not hasattr(index, "__iter__"):
                raise TypeError(f"index: expected an int, a slice or a list of ints, got {describe(index)}") from None
            index = list(index)
        else:
            if not -dim <= i < dim:
                raise IndexError(f"Index out of range: index={i}, size={dim}")
            return Axis(None, i + dim if i < 0 else i, dim)
    return _list(index, dim, parent)


def _list(index: Any, dim: int, parent: Any) -> Axis:
    few = type(index) is list and len(index) <= tuning.count("index.short_list")
    if few or not hasattr(index, "__cuda_array_interface__"):
        try:
            index = np.asarray(index) if hasattr(index, "dtype") else array_of(index)
        except OverflowError:
            low, high = min(map(int, index)), max(map(int, index))
            raise IndexOutOfBound(f"Index out of range: index={low if low < -dim else high}, size={dim}") from None
        if index.size == 0 and index.dtype.kind == "f":
            index = index.astype(np.int64)
    if index.ndim == 0 and index.dtype.kind in "iu":
        return axis(int(index), dim, parent)
    if index.ndim != 1:
        raise TypeError(f"index: expected one dimension, got {index.ndim}")
    if index.dtype.kind not in "iu":
        raise TypeError(f"index: expected integers, got {index.dtype}; a mask is written x(m.V) << y")
    if not few and not (device := parent.device).host_memory and isinstance(index, device.xp.ndarray) and len(index):
        known = operations.vector_entries.normalized(device, device.asarray(index, np.int64), dim)
        if known is not None:
            return Axis(len(index), known, dim)
    if len(index):
        indices = index.tolist() if few else ()  # not the original list, which may contain Scalars
        low, high = (min(indices), max(indices)) if few else (int(index.min()), int(index.max()))
        if low < -dim or high >= dim:
            raise IndexOutOfBound(f"Index out of range: index={low if low < -dim else high}, size={dim}")
        index = index.astype(np.int64, copy=not few)  # an array may belong to the caller
        if low < 0:
            index[index < 0] += dim
    return Axis(len(index), index, dim)


def parse(parent: Any, key: object) -> Axes:
    """The indices of parent[key]: one for a Vector, two for a Matrix; `...` means all."""
    if parent.ndim == 0:
        raise TypeError("index: a Scalar has no positions")
    shape = parent.shape
    if key is Ellipsis:
        return tuple(Axis(n, None, n) for n in shape)
    if parent.ndim == 1:
        if isinstance(key, tuple):
            raise TypeError("index: expected one index for a Vector, got a tuple")
        return (axis(key, shape[0], parent),)
    if not isinstance(key, tuple) or len(key) != 2:
        raise TypeError(f"index: expected two indices for a Matrix, such as A[i, j], got {describe(key)}")
    rows = axis(key[0], shape[0], parent)
    same = key[1] is key[0] and shape[1] == shape[0]
    return rows, rows if same else axis(key[1], shape[1], parent)


# ---- Call style of Matrix, Vector and Scalar: C(mask, accum, replace) << expr, and C(mask)[I] << expr.


class _Replace:
    """`C(mask, replace) << expr`: entries of C outside the mask are deleted."""

    def __repr__(self) -> str:
        return "replace"


replace = _Replace()


class Updater:
    """C(mask, accum, replace), to be followed by `<<`, an index, or `del`."""

    __slots__ = ("__weakref__", "accum", "input_mask", "mask", "replace", "target")

    def __init__(
        self, target: Output, mask: Mask | None, accum: Typed | None, replace: bool, input_mask: Mask | None = None
    ) -> None:
        self.target, self.mask, self.accum, self.replace = target, mask, accum, replace
        self.input_mask = input_mask

    def __lshift__(self, expr: OperandLike) -> None:
        if self.input_mask is not None:
            masked = getattr(expr, "_masked_by", None)
            if masked is None:
                raise TypeError("input_mask: expected an extraction such as A[I, J] on the right, got something else")
            self.mask, self.input_mask = masked(self.input_mask), None
        self.target._update(expr, self.mask, self.accum, self.replace)

    update = __lshift__

    def _axes(self, key: object) -> Axes:
        if self.input_mask is not None:
            raise TypeError("input_mask: expected an extraction, C(input_mask=m) << A[I, J], got an assignment")
        if not self.target.ndim:
            raise TypeError("s(...)[i]: a Scalar has no positions")
        return parse(self.target, key)

    def __getitem__(self, key: object) -> Assigner:
        return Assigner(self, self._axes(key), region_mask=False)

    def __setitem__(self, key: object, value: OperandLike) -> None:
        axes = self._axes(key)
        self.target._assign(axes, value, self.mask, self.accum, self.replace, False)

    def __delitem__(self, key: object) -> None:
        axes = self._axes(key)
        self.target._assign(axes, kinds[0](self.target.dtype), self.mask, None, self.replace, False)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("C(...) == x: not defined; did you mean `<<`?")

    def __bool__(self) -> bool:
        raise TypeError("C(...): has no truth value")


class Assigner:
    """C(mask)[I] or C[I](mask), to be followed by `<<`."""

    __slots__ = ("__weakref__", "axes", "region_mask", "updater")

    def __init__(self, updater: Updater, axes: Axes, *, region_mask: bool) -> None:
        self.updater, self.axes, self.region_mask = updater, axes, region_mask
        if not isinstance(updater.target, Output):
            raise TypeError("C[I](..): expected an index of a Matrix or Vector, not of an expression")
        if region_mask and all(a.size is None for a in axes):
            raise TypeError("mask: not allowed for a single element; write C(mask)[i, j] << x")

    def __lshift__(self, value: OperandLike) -> None:
        u = self.updater
        u.target._assign(self.axes, value, u.mask, u.accum, u.replace, self.region_mask)

    update = __lshift__

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("C(...)[I] == x: not defined; did you mean `<<`?")

    def __bool__(self) -> bool:
        raise TypeError("C(...)[I]: has no truth value")

    __hash__ = object.__hash__


def _in_place(operation: Callable[[Any, Any], Any], accum: str = "", dtype: DataType | None = None) -> Any:
    """The method of x op= y, which assigns x op y. With `accum`, an operand of the same kind (and of that type) is
    accumulated instead; a scalar changes only existing entries."""

    def method(self: Output, other: OperandLike) -> Output:
        if accum and is_tensor(other) and other.ndim == self.ndim and (dtype is None or other.dtype is dtype):
            self(accum) << other
        else:
            self._update(operation(self, other))
        return self

    return method


class Output(Operators):
    """Everything that can be on the left of `<<`: Matrix, Vector, Scalar."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def nvals(self) -> int: ...
        def _update(
            self, value: object, mask: Mask | None = None, accum: Typed | None = None, replace: bool = False
        ) -> None: ...
        def _assign(self, axes: Axes, *how: Any) -> None: ...

    # Ranks of the masks that C(mask) accepts: a Vector mask is allowed for one row or column of a Matrix
    _mask_ranks: tuple[int, ...]
    name: str

    __iadd__ = _in_place(operator.add, "plus")
    __isub__, __imul__, __itruediv__ = map(_in_place, (operator.sub, operator.mul, operator.truediv))
    __ifloordiv__, __imod__, __ipow__ = map(_in_place, (operator.floordiv, operator.mod, operator.pow))
    __imatmul__ = _in_place(operator.matmul)
    # The type of the right operand decides whether it is accumulated, as in python-graphblas.
    __iand__ = _in_place(lambda x, y: bool_infix(x, y, "land", "&=", "mult"))
    __ior__ = _in_place(lambda x, y: bool_infix(x, y, "lor", "|="), "lor", BOOL)
    __ixor__ = _in_place(lambda x, y: bool_infix(x, y, "lxor", "^="), "lxor", BOOL)

    def __call__(
        self,
        *args: object,
        mask: MaskArg = None,
        accum: OperatorArg = None,
        replace: object = False,
        input_mask: MaskArg = None,
        **opts: object,
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
            if accum.dtype._is_udt:
                operations.udf.check_device(accum, self.device)
            check_cast(accum.return_type, self.dtype)
        return Updater(self, mask, accum, bool(replace), input_mask)

    def __lshift__(self, value: OperandLike) -> None:
        self._update(value)

    def update(self, expr: OperandLike, **opts: object) -> None:
        """Assign the result of an expression; the same as `<<`.

        Parameters
        ----------
        expr : expression, object or scalar
            What is computed and stored.

        Raises
        ------
        DimensionMismatch
            Its shape differs.
        """
        check_options(opts)
        self._update(expr)

    def wait(self, how: str = "materialize") -> Self:
        """Complete pending writes and device work. GraphBLAS C API 2.1, section 5.1.

        Parameters
        ----------
        how : str, optional
            "materialize" or "complete".

        Returns
        -------
        object
            Itself.

        Raises
        ------
        ValueError
            Another `how`.
        """
        check_wait(how)
        _ = self.nvals  # a read completes pending writes
        self.device.synchronize()
        return self


_REPLACE = replace


# ---- C[I, J], v[i]: extraction (GraphBLAS C API 2.1, 4.3.6) and the targets of assignment (4.3.7).

_OUTPUT_CALL: Any = Output.__call__
Result = TypeVar("Result")  # type of the extracted object


class IndexExpr(DelayedOperand, Operators, Generic[Result]):
    """parent[I]: extracts when it is read, assigns when it is on the left of `<<`."""

    __slots__ = ("_expr", "axes", "parent")

    def __init__(self, parent: Any, axes: Axes) -> None:
        self.parent, self.axes = parent, axes
        self._expr: Expression[Result] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple([a.size for a in self.axes if a.size is not None])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> DataType:
        return self.parent.dtype

    @property
    def device(self) -> Device:
        return self.parent.device

    def _to_expr(self) -> Expression[Result]:
        if self._expr is None:
            self._expr = self.parent._extract(self.axes)
        return self._expr

    def new(
        self,
        dtype: DTypeArg = None,
        *,
        mask: MaskArg = None,
        input_mask: MaskArg = None,
        name: str | None = None,
        **opts: object,
    ) -> Result:
        """Extract into a new Scalar, Vector or Matrix; `mask` has the shape of the result, `input_mask` that of the
        object that is read."""
        if input_mask is not None:
            if mask is not None:
                raise TypeError("mask, input_mask: expected only one of them, got both")
            mask = self._masked_by(input_mask)
        return self.parent._extract(self.axes).new(dtype, mask=mask, name=name, **opts)

    def __lshift__(self, value: OperandLike) -> None:
        if not isinstance(self.parent, Output):
            raise TypeError(f"{self._text()} << x: expected an index of a Matrix or Vector, not of an expression")
        self.parent._assign(self.axes, value, None, None, False, False)

    def update(self, expr: OperandLike, **opts: object) -> None:
        """The same as `<<`: assign to parent[I]."""
        check_options(opts)
        self << expr

    def __call__(self, *args: Any, **kwargs: Any) -> Assigner:
        """C[I, J](mask, accum, replace) << expr: mask has the shape of the region, and replace affects only the
        region."""
        region = _Region(self.shape, self.parent)
        updater = _OUTPUT_CALL(region, *args, **kwargs)
        updater.target = self.parent
        return Assigner(updater, self.axes, region_mask=updater.mask is not None)

    def _masked_by(self, input_mask: MaskLike) -> Mask:
        """The mask of the extracted object, from a mask of the parent's shape or, for a row or column, of a Vector
        along it."""
        if not self.ndim:
            raise ValueError("input_mask: not allowed when a single element is read")
        m = check(input_mask, getattr(input_mask, "ndim", self.parent.ndim))
        axes, shape = self.axes, self.parent.shape
        if m.ndim > len(axes):
            raise TypeError("input_mask: expected the mask of a Vector to read a Vector, got that of a Matrix")
        if m.ndim < len(axes):
            if self.ndim == 2:
                raise TypeError("input_mask: expected the mask of a Matrix to read a Matrix, got that of a Vector")
            axes, shape = zip(*((a, n) for a, n in zip(axes, shape) if a.size is not None))
        if m.parent.shape != shape:
            raise DimensionMismatch(f"input_mask: expected shape {shape}, got {m.parent.shape}")
        return Mask(m.parent._extract(axes).new(), m.structure, m.complement)

    def _text(self) -> str:
        return f"{self.parent.name}[{', '.join(map(str, self.axes))}]"


class _Region:
    """Stands in for parent[I] while the parameters of an assignment are parsed: masks have its rank."""

    __slots__ = ("_mask_ranks", "device", "dtype", "ndim")

    def __init__(self, shape: tuple[int, ...], parent: Operand) -> None:
        self.ndim, self.dtype, self.device = max(1, len(shape)), parent.dtype, parent.device
        self._mask_ranks = (self.ndim,)


# ---- Call style of Matrix and Vector, local or distributed, in terms of the methods that each class defines.


class Styled(Output):
    """C.S, C.V, C[I] = x, del C[I]."""

    __slots__ = ()

    @property
    def S(self) -> Mask:
        """The structural mask: where there is an entry, whatever its value."""
        return Mask(self, True)

    @property
    def V(self) -> Mask:
        """The value mask: where there is an entry that is not zero."""
        return Mask(self, False)

    def __setitem__(self, key: object, value: OperandLike, **opts: object) -> None:
        if opts:
            check_options(opts)
        self._assign(parse(self, key), value, None, None, False, False)

    def __delitem__(self, key: object) -> None:
        del Updater(self, None, None, False)[key]


# ---- Base class of Matrix and Vector: a store, and pending writes of single entries.


class Tensor(Styled, Shown):
    """`_data`: the store; `_pending`: writes that are not in it yet; `_stored`: the store with them."""

    __slots__ = ("__weakref__", "_data", "_pending", "name")
    _data: Any
    _write: ClassVar[Callable[..., None]]  # a statement, and one of a part
    _write_part: ClassVar[Callable[..., None]]

    if TYPE_CHECKING:

        @property
        def _stored(self) -> Any: ...
        def memory(self) -> Any: ...

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + int(self.memory().total)  # its arrays too, also those on a device

    def _update(
        self, value: object, mask: Mask | None = None, accum: Typed | None = None, replace: bool = False
    ) -> None:
        statement(self._write, self, value, mask, accum, replace)

    def __lshift__(self, value: OperandLike) -> None:
        statement(self._write, self, value, None, None, False)

    def _assign(self, axes: Axes, *how: Any) -> None:
        assignment(self._write_part, self, axes, *how)

    @property
    def dtype(self) -> DataType:
        return self._data.dtype

    @property
    def device(self) -> Device:
        return self._data.device

    @property
    def nvals(self) -> int:
        """The number of entries."""
        try:
            return self._stored.nvals
        except self.device.errors as error:
            return self.device.fail(error)
