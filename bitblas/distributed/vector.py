"""A distributed Vector: each rank stores one block of consecutive indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from semirings import Typed, monoid, semiring
from semirings.dtypes import FP64, DataType

from ..core import Scalar
from ..core import Vector as Whole
from ..core.building import check_lengths, dense_values, fill_of
from ..core.convert import check_range, check_size, index_array, value_array
from ..core.operators import typed
from ..core.options import check_options
from ..core.statement.expressions import Expression, ScalarExpression
from ..core.statement.indexing import Axis, IndexExpr
from ..core.statement.infix import Operand, describe, is_tensor
from ..core.statement.masks import Mask
from ..core.vector import StyledVector
from ..device import Device
from ..exceptions import DimensionMismatch, OutputNotEmpty
from ..typing import Array
from . import exchange, loops, shares
from .base import Distributed
from .loops import DistributedArray
from .products import DistributedExpression, classes_by_ndim, multiply_vector, part_of
from .start import current, rank_device

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..core.typing import (
        ArrayOrValue,
        Axes,
        DeviceArg,
        DTypeArg,
        DTypeLike,
        IndicesLike,
        OperandArg,
        OperandLike,
        OperatorArg,
        OperatorLike,
        SizeArg,
        ValuesLike,
    )
    from .matrix import Matrix
    from .products import Local


class Vector(Distributed, StyledVector):
    """Vector(dtype=FP64, size=0): without entries. Methods have the semantics of `bitblas.Vector`. Every rank calls
    them alike, and stores the entries of its share."""

    __slots__ = ()
    ndim = 1
    _mask_ranks = (1,)
    _part: Whole

    def __init__(
        self, dtype: DTypeLike = FP64, size: SupportsIndex = 0, *, name: str | None = None, device: DeviceArg = None
    ) -> None:
        self.shares = shares.of(check_size("size", size))
        self._part = Whole(dtype, self.shares.mine, name=name, device=rank_device(device))
        self.name, self._known_facts = self._part.name, None

    @property
    def size(self) -> int:
        return self.shares.size

    @property
    def shape(self) -> tuple[int]:
        return (self.shares.size,)

    # ---- from arrays, and back ----

    @classmethod
    def from_coo(
        cls,
        indices: IndicesLike,
        values: ValuesLike = 1.0,
        dtype: DTypeArg = None,
        *,
        size: SizeArg = None,
        dup_op: OperatorArg = None,
        name: str | None = None,
        share: bool = False,
        device: DeviceArg = None,
    ) -> Self:
        """As `bitblas.Vector.from_coo`. Every rank passes the same arrays; with `share`, each passes its part of the
        entries, which are then sent to their owners, and `size` is required."""
        d = rank_device(device)
        if isinstance(indices, DistributedArray):
            length: Any = size  # check_size refuses None
            s = shares.of(check_size("size", length))
            return cls._of(loops.from_index_vectors(indices, values, dtype, s, dup_op), s)
        if current().size == 1 and not (share and size is None):
            part = Whole.from_coo(indices, values, dtype, size=size, dup_op=dup_op, device=d)
            return cls._of(part, shares.of(part.size), name)
        if size is None and share:
            raise ValueError("size: required with share=True, got None")

        def checked() -> tuple[Array, ArrayOrValue, DataType, int]:
            at = index_array(d, indices, "indices")
            array, kind = value_array(d, values, dtype)
            check_lengths(array, at)
            if size is None and not len(at):
                raise ValueError("size: expected a size, because there are no indices, got None")
            end = int(at.max()) + 1 if size is None else check_size("size", size)
            check_range(at, end, "indices")
            return at, array, kind, end

        group = current()
        at, array, kind, size = group.all_or_none("Vector.from_coo", checked) if share else checked()
        s = shares.of(size)
        (at,), array, kind = exchange.owned_entries(s, (at,), array, kind, share)
        array = d.full(len(at), array) if share and isinstance(array, np.generic) else array
        make = lambda: Whole.from_coo(at - s.low, array, kind, size=s.mine, dup_op=dup_op, device=d)
        part = group.all_or_none("Vector.from_coo", make, alike=not share)
        return cls._of(part, s, name)

    @classmethod
    def from_scalar(
        cls,
        value: OperandLike,
        size: SupportsIndex,
        dtype: DTypeArg = None,
        *,
        name: str | None = None,
        device: DeviceArg = None,
        **opts: object,
    ) -> Self:
        """A Vector with the same value at every position."""
        s = shares.of(check_size("size", size))
        check_options(opts)
        return cls._of(Whole.from_scalar(value, s.mine, dtype, device=rank_device(device)), s, name)

    @classmethod
    def from_dense(
        cls,
        values: ValuesLike,
        missing_value: OperandArg = None,
        *,
        dtype: DTypeArg = None,
        name: str | None = None,
        device: DeviceArg = None,
        **opts: object,
    ) -> Self:
        """A Vector from an array, the same on every rank, without the elements equal to `missing_value`."""
        d = rank_device(device)
        array, kind = dense_values(d, values, dtype, Whole)  # the type of all values: that of a share may be another
        s = shares.of(len(array))
        check_options(opts)
        part = Whole.from_dense(array[s.low : s.high], missing_value, dtype=kind, device=d)
        return cls._of(part, s, name)

    def _gathered(self, values: bool = True) -> Whole:
        """The whole vector on every rank, read-only. values: whether the values are read."""
        if loops.is_recording():
            return loops.gather_vector(self._part, self.shares)
        return exchange.gather_vector(self._part, self.shares, self._shared_facts(), values=values)

    def gathered(self) -> Whole:
        """The whole vector, as a `bitblas.Vector` of this rank's own."""
        found = self._gathered()
        return found.dup() if found is self._part else found

    def to_coo(
        self,
        dtype: DTypeArg = None,
        *,
        indices: bool = True,
        values: bool = True,
        sort: bool = True,
        share: bool = False,
    ) -> tuple[Any, Any]:
        """(indices, values) of all entries, on every rank; with `share`, of this rank's entries."""
        if loops.is_recording():
            i, x = self._part.to_coo(dtype, indices=True, values=values)
            where, found = DistributedArray(i, self.shares, i), DistributedArray(x, self.shares, i)
            return where if indices else None, found if values else None
        i, x = self._part.to_coo(dtype, indices=indices, values=values, sort=sort)
        if current().size == 1:
            return i, x
        if indices:
            i += np.uint64(self.shares.low)
        if share:
            return i, x
        whole = iter(exchange.concatenate([a for a in (i, x) if a is not None]))
        return (next(whole) if indices else None, next(whole) if values else None)

    def to_dense(
        self, fill_value: OperandArg = None, dtype: DTypeArg = None, *, share: bool = False, **opts: object
    ) -> Array | DistributedArray:
        """All values as an array, on every rank, with fill_value for missing entries; with `share`, this rank's
        part."""
        if loops.is_recording():
            symbolic: Any = self._part.to_dense(fill_value, dtype)
            return DistributedArray(symbolic, self.shares)
        full = self.nvals == self.size
        fill, kind = fill_of(fill_value, dtype, self.dtype, full)
        mine = self._part.to_dense(fill, kind, **opts)
        if share or current().size == 1:
            return mine
        return exchange.concatenate([mine])[0]

    def to_dict(self) -> dict[int, Any]:
        """{index: value}, Python numbers, of all entries."""
        return self.gathered().to_dict()

    def build(
        self,
        indices: IndicesLike,
        values: ValuesLike,
        *,
        dup_op: OperatorArg = None,
        clear: bool = False,
        share: bool = False,
    ) -> None:
        """Insert entries into a Vector without entries, or after `clear`; arguments as of `from_coo`."""
        if self.nvals and not clear:
            raise OutputNotEmpty(f"{self.name}: expected no entries to build into, got {self.nvals}; clear=True first")
        made = type(self).from_coo(indices, values, self.dtype, size=self.size, dup_op=dup_op, share=share)
        self._changes()
        self._part = made._part

    # ---- by index ----

    def __getitem__(self, key: Any) -> IndexExpr:
        if isinstance(key, DistributedArray) and key.at is None:
            return IndexExpr(self, (Axis(key.shares.size, key, self.size),))
        return super().__getitem__(key)

    def _extract(self, axes: Axes) -> Expression:
        (index,) = axes
        if index.size is None:
            return ScalarExpression("__getitem__", (self,), None, lambda mask: self._element(index.at), self.dtype)
        if index.at is None:
            return DistributedExpression(self.shape, "__getitem__", (self,), None, lambda: self._part, self.dtype)
        to = shares.of(index.size)

        def local() -> Local:
            if isinstance(index.at, DistributedArray):
                return self._gathered()[index.at.local]
            loops.require_host()
            if current().size == 1:
                return self._part._extract(axes)
            return self._gathered()[index.array(self.device)[to.low : to.high]].new()

        return DistributedExpression((index.size,), "__getitem__", (self,), None, local, self.dtype)

    def _assign(
        self, axes: Axes, value: OperandLike, mask: Mask | None, accum: Typed | None, replace: bool, region: bool
    ) -> None:
        (index,) = axes
        loops.require_host()
        if current().size == 1 and not isinstance(value, Operand):
            mask_part = None if mask is None else part_of(mask)
            self._changes()._assign(axes, value, mask_part, accum, replace, region)
            return
        if index.size is None and is_tensor(value):
            raise TypeError(f"v[i] = x: expected a scalar, got {describe(value)}")
        if region and mask is not None and mask.parent.shape != (index.size,):
            raise DimensionMismatch(f"mask: expected size {index.size}, that of the region")
        super()._assign(axes, value, mask, accum, replace, region)

    def _selected(self, x: Vector, keep: Array, first: Axis) -> Whole:
        """This rank's elements of another vector."""
        return x._gathered()[keep.nonzero()[0]].new()

    def _as_map(self, ncols: int) -> Matrix:
        """The Matrix with the entry (i, self[i]) for each i, as of `bitblas.Vector`. Its columns are gathered at once,
        4 bytes each, for products with it."""
        loops.require_host()
        part = self._part._as_map(ncols)
        made: Matrix = classes_by_ndim[2]._of(part, self.shares)
        if current().size > 1:
            keys = part._stored.structure.rows().columns(0, self.shares.mine)
            whole = Whole.from_dense(current().allgather(keys, self.shares.counts), device=self.device)
            made._known["whole"] = whole._as_map(ncols)
        return made

    def _size_error(self, expected: tuple[int, ...], got: tuple[int, ...], what: str) -> str:
        if what:
            return f"v[I] = x: expected {expected[0]} values, got {got[0]}"
        return f"v[I] = x: expected a vector of size {expected[0]}, got {got}"

    # ---- operations ----

    def vxm(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> DistributedExpression[Vector]:
        """self times a Matrix, as a row."""
        return multiply_vector(other, self, op, "vxm")

    def inner(self, other: OperandLike, op: OperatorLike = semiring.plus_times) -> ScalarExpression:
        """The inner product of two vectors; empty if no index has entries in both."""
        v = self._partner(other, "inner")
        f = typed(op, "semiring", self.dtype, v.dtype)
        loops.require_host()
        add: Typed = f.op.monoid[f.return_type]
        inner_product: Callable[[Mask | None], np.generic | None] = lambda mask: exchange.reduce_scalars(
            self._part.inner(v._part, op).new()._value, add
        )
        return ScalarExpression("inner", (self, v), f, inner_product)

    def reduce(self, op: OperatorLike = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's sum of all entries. Without entries: an empty Scalar, or the identity if `allow_empty` is
        false."""
        return self._reduce_to_scalar("reduce", op, allow_empty)

    def _recorded_sum(self, f: Typed, *default: np.generic) -> Scalar:
        """The symbolic sum of all entries."""
        return loops.sum_scalars(self._part.reduce(f).new(), f, *default)

    def _release(self) -> Self:
        """Move the contents into a new Vector; this one is left without entries."""
        return type(self)._of(self._changes()._release(), self.shares)

    def to(self, device: str | Device) -> Whole:
        """The whole vector as a `bitblas.Vector` on one device."""
        return self.gathered().to(device)


classes_by_ndim[1] = Vector
