"""Common base of distributed Matrix and Vector: bitblas's call style, executed as statements on shares."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from semirings import Typed, binary, dtypes
from semirings.dtypes import INT64, DataType, check_cast

from ..core import Matrix as WholeMatrix
from ..core.convert import written_array
from ..core.operators import typed
from ..core.options import check_options
from ..core.statement.expressions import Expression, ScalarExpression
from ..core.statement.indexing import Axis, Styled
from ..core.statement.infix import Delayed, Infix, Operand, describe, is_tensor
from ..core.statement.masks import Mask, check
from ..core.statement.running import written
from ..device import Device
from ..exceptions import DimensionMismatch
from ..typing import Array
from . import exchange, loops
from .group import LOCAL_ERRORS, Group
from .products import DistributedExpression, check_nonpositional, part_of, thunk_on_share
from .shares import Shares
from .start import current

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..core import Vector as WholeVector
    from ..core.memory import Memory, VectorMemory
    from ..core.typing import Axes, DTypeArg, DTypeLike, MaskArg, MaskLike, OperandArg, OperandLike, OperatorLike


class _Named(NamedTuple):
    name: str


def evaluate_scalar(value: Any) -> Any:
    """A scalar on the right-hand side of an assignment, evaluated: a delayed one may be a collective, and ranks that
    own none of the assigned positions would evaluate it at another time, or more often. Others are returned
    unchanged."""
    if not isinstance(value, Operand) or value.ndim:
        return value
    if isinstance(value, Delayed):
        expr = value._to_expr()
        value = expr.new() if expr._value is None else expr._value
    return value.dup()


class Distributed(Styled):
    """`_part`: this rank's share, a bitblas object on one device. `shares`: the partition of its positions."""

    __slots__ = ("__weakref__", "_known_facts", "_part", "name", "shares")
    _part: WholeMatrix | WholeVector
    _known_facts: exchange.SharedFacts | None  # valid until the next write
    name: str
    shares: Shares
    ndim: int

    if TYPE_CHECKING:

        def __init__(self, dtype: DTypeLike = ..., *shape: int, name: str | None = None) -> None: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        def _gathered(self, values: bool = True) -> WholeMatrix | WholeVector: ...

    @property
    def _ranks(self) -> Group:
        """The Group that stores the other shares."""
        return current()

    @property
    def _library(self) -> ModuleType:
        """The module that algorithms use for this object."""
        return sys.modules[__package__]

    @property
    def dtype(self) -> DataType:
        return self._part.dtype

    @property
    def device(self) -> Device:
        """The device of this rank's share."""
        return self._part.device

    @property
    def nvals(self) -> int:
        """The number of entries on all ranks."""
        if loops.is_recording():
            symbolic: Any = self._part.nvals
            symbolic = loops.sum_scalars(symbolic, typed("plus", "monoid", INT64))
            return symbolic
        with current().statement(lambda: f"{self.name}.nvals"):
            return self._shared_facts().entries

    def _shared_facts(self) -> exchange.SharedFacts:
        """Facts about the object that all ranks share; exchanged once after each change."""
        loops.require_host()
        if self._known_facts is None:
            self._known_facts = exchange.share_facts(self._part._stored)
        return self._known_facts

    def _changes(self) -> WholeMatrix | WholeVector:
        """This rank's share, for writing. Called on all ranks, after everything that the statement reads has been read,
        because reading an object shares its facts with all ranks."""
        self._known_facts = None
        if loops.is_recording():  # marked each time the statement runs
            recorder = loops.recording.recorder
            if self.ndim != 1 or (recorder.host and current().size > 1):
                loops.require_host()
            recorder.written_distributed.append(weakref.ref(self))
        return self._part

    @property
    def _data(self) -> NoReturn:
        """Statements on one device read this attribute of their operands: raise TypeError."""
        kind = type(self).__name__
        raise TypeError(
            f"{self.name}: expected a {kind} on one device, got a distributed one; .gathered() copies it to all ranks, "
            f"distributed.{kind} distributes one"
        )

    def _rows(self, values: bool = True) -> Self:
        """Itself, distributed by rows; a transposed matrix is redistributed."""
        return self

    @classmethod
    def _of(cls, part: WholeMatrix | WholeVector, shares: Shares, name: str | None = None) -> Self:
        x = cls.__new__(cls)
        x._part, x._known_facts, x.shares = part, None, shares
        x.name = part.name if name is None else name
        return x

    @classmethod
    def _computed(
        cls, expr: DistributedExpression, dtype: DataType, mask: MaskArg = None, name: str | None = None
    ) -> Self:
        """A new object with the value of an expression."""
        w = cls(dtype, *expr.shape, name=name)
        w._update(expr, None if mask is None else w(mask=mask).mask, None, mask is not None)
        return w

    # ---- statements ----

    def _update(
        self, value: object, mask: Mask | None = None, accum: Typed | None = None, replace: bool = False
    ) -> None:
        if mask is not None and mask.parent.shape != self.shape:
            raise DimensionMismatch(f"mask: expected shape {self.shape}, got {mask.parent.shape}")
        # Formatting the operator of `A | A.T` may be a collective, so its operator is omitted.
        shown = _Named(value._text()) if isinstance(value, Infix) else value
        with current().statement(lambda: written(self.name, shown, mask, accum, replace)):
            source, mask_part = self._part_of_source(value), None if mask is None else part_of(mask)
            try:
                self._changes()._update(source, mask_part, accum, replace)
            except LOCAL_ERRORS as error:
                current().diverged(error)
                raise

    def __lshift__(self, value: object) -> None:
        self._update(value)

    def _part_of_source(self, value: object) -> object:
        """This rank's share of the right-hand side; scalars are returned unchanged."""
        if isinstance(value, (Infix, Delayed)) and value.ndim:
            value = value._to_expr()
        if isinstance(value, Operand) and value.ndim:
            shape = getattr(value, "shape", None)
            if shape != self.shape:
                raise DimensionMismatch(f"{self.name} << x: expected shape {self.shape}, got {shape}")
            if isinstance(value, DistributedExpression):
                return value.local() if value._value is None else value._value._part
            if hasattr(value, "_rows"):
                return value._rows()._part
            raise TypeError(f"{self.name} << x: expected a distributed object, got {describe(value)}")
        return value

    def _assign(
        self, axes: Axes, value: OperandLike, mask: Mask | None, accum: Typed | None, replace: bool, region: bool
    ) -> None:
        loops.require_host()
        first, s = axes[0], self.shares
        if current().size == 1 and not isinstance(value, Operand):
            self._changes()._assign(axes, value, None if mask is None else part_of(mask), accum, replace, region)
            return
        shape = tuple(a.size for a in axes if a.size is not None)
        target = "v[I] = x" if self.ndim == 1 else "A[I, J] = x"
        with current().statement(lambda: f"assign to {self.name}[..]"):
            item = evaluate_scalar(value)
            own = self.ndim == 1 and first.size is None and s.low <= first.at < s.high
            if own and mask is None and not is_tensor(item):
                # No array, which a GPU would have to send.
                self._changes()(accum=accum)[first.at - s.low] << item
                return
            at = first.array(self.device)
            keep = s.has(at)
            places = (at - s.low)[keep]
            if is_tensor(item):
                u = item._resolve()
                if u.shape != shape:
                    raise DimensionMismatch(f"{target}: expected shape {shape}, got {u.shape}")
                item = self._selected(u, keep, first)
            elif hasattr(item, "__len__") and not isinstance(item, str) and (shape or self.ndim == 2):
                array, kind = written_array(self.device, item, self.dtype)
                if array.shape != shape:
                    raise DimensionMismatch(f"{target}: expected values of shape {shape}, got {array.shape}")
                check_cast(kind, self.dtype)
                item = array if first.size is None else array[keep]
            elif not len(places):  # refused on all ranks, not only by the owners of the positions
                blank = type(self._part)(self.dtype, *[1] * self.ndim, device=self.device)
                blank(accum=accum)[0 if self.ndim == 1 else (0, 0)] << item
            if mask is not None and region:
                mask = Mask(self._selected(mask.parent, keep, first), mask.structure, mask.complement)
            elif mask is not None and mask.parent.ndim < self.ndim and first.size is None:  # a mask along one row
                mask = Mask(mask.parent._gathered(), mask.structure, mask.complement)
            elif mask is not None:
                mask = part_of(mask)
            self._changes()
            if not len(places):
                if region or mask is None or (self.ndim == 2 and first.size is None and mask.parent.ndim == 1):
                    return
                # With `replace` the mask applies to all positions: none is written here, but entries may be deleted.
                if first.size is None and shape and (is_tensor(item) or hasattr(item, "__len__")):
                    item = WholeMatrix(item.dtype, 0, *shape, device=self.device)
            key: Any = int(places[0]) if first.size is None and len(places) else places
            if self.ndim == 2:
                columns = axes[1]
                whole_row = slice(None) if columns.at is None else columns.at
                key = key, whole_row if columns.at is None or columns.size is None else columns.array(self.device)
            replace = replace and mask is not None
            if region and mask is not None:
                self._part[key](mask=mask, accum=accum, replace=replace) << item
            else:
                self._part(mask=mask, accum=accum, replace=replace)[key] << item

    def _selected(self, x: Any, keep: Array, first: Axis) -> WholeMatrix | WholeVector:
        """This rank's part of an assigned object: all of a row, otherwise its elements or rows."""
        found, places = x._rows()._gathered(), keep.nonzero()[0]
        return found if first.size is None else found[places if x.ndim == 1 else (places, slice(None))].new()

    # ---- element-wise operations ----

    def _delayed(
        self, method: str, args: tuple[Any, ...], local: Callable[[], Expression]
    ) -> DistributedExpression[Self]:
        """An expression of the same shape; local() is called now, for its operator and type, and when it runs."""
        expr = local()
        return DistributedExpression(self.shape, method, args, expr.op, local, expr.dtype)

    def _partner(self, other: OperandLike, where: str) -> Self:
        found: Any = other._resolve() if isinstance(other, Operand) and other.ndim == self.ndim else None
        found = found._rows() if hasattr(found, "_rows") else found
        if not isinstance(found, type(self)):
            raise TypeError(f"{where}: expected a distributed {type(self).__name__}, got {describe(other)}")
        if found.shape != self.shape:
            raise DimensionMismatch(f"{where}: expected equal shapes, got {self.shape} and {found.shape}")
        return found

    def _ewise(self, method: str, other: OperandLike, op: OperatorLike, *more: Any) -> DistributedExpression[Self]:
        x, y = self._rows(), self._partner(other, method)
        of_shares = lambda: getattr(x._part, method)(y._part, check_nonpositional(op), *more)
        return self._delayed(method, (self, other, *more), of_shares)

    def ewise_add(self, other: OperandLike, op: OperatorLike = binary.plus) -> DistributedExpression[Self]:
        """The union: op where both have an entry, otherwise the existing entry."""
        return self._ewise("ewise_add", other, op)

    def ewise_mult(self, other: OperandLike, op: OperatorLike = binary.times) -> DistributedExpression[Self]:
        """The intersection: op where both have an entry."""
        return self._ewise("ewise_mult", other, op)

    def ewise_union(
        self, other: OperandLike, op: OperatorLike, left_default: OperandLike, right_default: OperandLike
    ) -> DistributedExpression[Self]:
        """The union, with a default for a missing operand."""
        return self._ewise("ewise_union", other, op, left_default, right_default)

    def apply(
        self, op: OperatorLike, right: OperandArg = None, *, left: OperandArg = None
    ) -> DistributedExpression[Self]:
        """op of every entry: a UnaryOp; a BinaryOp with a scalar `left` or `right`; an IndexUnaryOp with its thunk."""
        x = self._rows()
        thunk = lambda: thunk_on_share(op, right, x.shares.low, "indexunary") if left is None else right
        return self._delayed("apply", (self, right), lambda: x._part.apply(op, thunk(), left=left))

    def select(self, op: OperatorLike | MaskLike, thunk: OperandArg = None) -> DistributedExpression[Self]:
        """The entries for which op(value, row, column, thunk) is true; or the entries under a mask or a BOOL object."""
        x = self._rows()
        if isinstance(op, (Mask, Operand)):
            mask = check(op, *self._mask_ranks)
            of_share = lambda: x._part.select(part_of(mask), thunk)
            return DistributedExpression(self.shape, "select", (self, op), None, of_share, self.dtype)
        of_share = lambda: x._part.select(op, thunk_on_share(op, thunk, x.shares.low, "select"))
        return self._delayed("select", (self, thunk), of_share)

    # ---- single values ----

    def _element(self, *at: int) -> np.generic | None:
        loops.require_host()
        root = self.shares.owner(at[0])
        part: Any = self._part
        found = part._element(at[0] - self.shares.low, *at[1:]) if root == self.shares.rank else None
        return exchange.broadcast(found, self.dtype, root)

    def _reduce_to_scalar(self, method: str, op: OperatorLike, allow_empty: bool) -> ScalarExpression:
        f = typed(op, "monoid", self.dtype)

        def sum_over_ranks(mask: Mask | None) -> np.generic | None:
            with current().statement(lambda: f"{self.name}.{method}({f!r})"):
                current().settle()
                found = exchange.reduce_scalars(getattr(self._part, method)(f).new()._value, f)
            return f.identity if found is None and not allow_empty else found

        return ScalarExpression(method, (self,) if allow_empty else (self, f.identity), f, sum_over_ranks)

    # ---- the whole object ----

    def dup(
        self,
        dtype: DTypeArg = None,
        *,
        clear: bool = False,
        mask: MaskArg = None,
        name: str | None = None,
        **opts: object,
    ) -> Self:
        """A copy: cast to `dtype`, without entries (`clear`), or only those under `mask`."""
        check_options(opts)
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        w = type(self)(kind, *self.shape, name=name)
        if not clear:
            w._update(self, None if mask is None else w(mask).mask)
        return w

    def clear(self) -> None:
        """Remove all entries."""
        self._changes().clear()

    def isequal(self, other: OperandLike, *, check_dtype: bool = False, **opts: object) -> bool:
        """The same shape, the same structure, equal values; the dtype counts with `check_dtype`."""
        return self._compare("isequal", other, check_dtype=check_dtype, **opts)

    def isclose(self, other: OperandLike, **how: float) -> bool:
        """The same shape and structure, and close values, as for objects on one device."""
        return self._compare("isclose", other, **how)

    def _compare(self, method: str, other: OperandLike, **how: Any) -> bool:
        if getattr(other, "shape", None) != self.shape:
            return False
        x, y = self._rows(), self._partner(other, method)
        same = getattr(x._part, method)(y._part, **how)
        return bool(current().allreduce(np.array([same]), np.logical_and)[0])

    def wait(self, how: str = "materialize") -> Self:
        """Return self when pending writes and the device's work are done."""
        self._part.wait(how)
        return self

    def memory(self) -> Memory | VectorMemory:
        """The bytes of this rank's share."""
        return self._part.memory()

    def _text(self) -> str:
        return str(self.name)

    def __repr__(self) -> str:
        """This rank's share: printing on one rank is not a collective."""
        where = f"rows {self.shares.low} to {self.shares.high} of {self.shares.size}"
        return f"Distributed {type(self).__name__}, {where}, of {'x'.join(map(str, self.shape))}\n{self._part!r}"
