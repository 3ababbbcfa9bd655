"""C[I, J], v[i]: what an index means, extraction (GraphBLAS C API 2.1, 4.3.6) and the targets of assignment (4.3.7)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...device import Device
from ...exceptions import DimensionMismatch, IndexOutOfBound
from ...verbs import elements
from ..options import check_options
from .base import Operand, Output, Updater, describe
from .delayed import Delayed
from .mask import Mask, check

_OUTPUT_CALL: Any = Output.__call__


class Axis:
    """One index: `size` is None for an int (then `at` is it), else the number of positions; `at` None means all."""

    __slots__ = ("at", "dim", "size")

    def __init__(self, size: int | None, at: Any, dim: int) -> None:
        self.size, self.at, self.dim = size, at, dim

    def array(self, device: Device) -> Any:
        """The positions as an INT64 array of the device."""
        if self.at is None:
            return device.xp.arange(self.dim, dtype=np.int64)
        if isinstance(self.at, slice):
            return device.xp.arange(self.at.start, self.at.stop, self.at.step, dtype=np.int64)
        return device.asarray([self.at] if self.size is None else self.at, np.int64)


def axis(index: Any, dim: int, device: Device) -> Axis:
    """An int, a slice, a list or array of ints, an integer Scalar. Negative ones count from the end.

    Raises IndexError out of range, TypeError for anything else.
    """
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
    return _list(index, dim, device)


def _list(index: Any, dim: int, device: Device) -> Axis:
    if not hasattr(index, "__cuda_array_interface__"):
        index = np.asarray(index)
        if index.size == 0 and index.dtype.kind == "f":
            index = index.astype(np.int64)
    if index.ndim == 0 and index.dtype.kind in "iu":
        return axis(int(index), dim, device)
    if index.ndim != 1:
        raise TypeError(f"index: expected one dimension, got {index.ndim}")
    if index.dtype.kind not in "iu":
        raise TypeError(f"index: expected integers, got {index.dtype}; a mask is written x(m.V) << y")
    if device.is_gpu and isinstance(index, device.xp.ndarray) and len(index):
        known = elements.normalized(device, device.asarray(index, np.int64), dim)
        if known is not None:
            return Axis(len(index), known, dim)
    if len(index):
        low, high = int(index.min()), int(index.max())
        if low < -dim or high >= dim:
            raise IndexOutOfBound(f"Index out of range: index={low if low < -dim else high}, size={dim}")
        index = index.astype(np.int64)
        if low < 0:
            index[index < 0] += dim
    return Axis(len(index), index, dim)


def parse(parent: Any, key: Any) -> tuple[Axis, ...]:
    """The indices of parent[key]: one for a Vector, two for a Matrix; `...` means all."""
    if parent.ndim == 0:
        raise TypeError("index: Scalars have none")
    shape = parent.shape
    if key is Ellipsis:
        return tuple(Axis(n, None, n) for n in shape)
    if parent.ndim == 1:
        if isinstance(key, tuple):
            raise TypeError("index: expected one for a Vector, got a tuple")
        return (axis(key, shape[0], parent.device),)
    if not isinstance(key, tuple) or len(key) != 2:
        raise TypeError(f"index: expected two for a Matrix, as in A[i, j], got {describe(key)}")
    device = parent.device
    return axis(key[0], shape[0], device), axis(key[1], shape[1], device)


class IndexExpr(Delayed):
    """parent[I]: extracts when it is read, assigns when it stands on the left of `<<`."""

    __slots__ = ("_expr", "axes", "parent")

    def __init__(self, parent: Any, axes: tuple[Axis, ...]) -> None:
        self.parent, self.axes, self._expr = parent, axes, None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(a.size for a in self.axes if a.size is not None)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self.parent.dtype

    @property
    def device(self) -> Device:
        return self.parent.device

    def _to_expr(self) -> Any:
        if self._expr is None:
            self._expr = self.parent._extract(self.axes)
        return self._expr

    def new(
        self, dtype: Any = None, *, mask: Any = None, input_mask: Any = None, name: str | None = None, **opts: Any
    ) -> Any:
        """Extract into a new Scalar, Vector or Matrix; `mask` has the shape of the result, `input_mask` that of the
        object that is read."""
        if input_mask is not None:
            if mask is not None:
                raise TypeError("mask, input_mask: expected one of them, got both")
            mask = extracted_mask(self, input_mask)
        return self.parent._extract(self.axes).new(dtype, mask=mask, name=name, **opts)

    def __lshift__(self, value: Any) -> None:
        if not isinstance(self.parent, Output):
            raise TypeError(
                f"{self._text()} << x: expected a part of a Matrix or Vector, got one of what is not written"
            )
        self.parent._assign(self.axes, value, None, None, False, False)

    def update(self, expr: Any, **opts: Any) -> None:
        """The same as `<<`: assign to parent[I]."""
        check_options(opts)
        self << expr

    def __call__(self, *args: Any, **kwargs: Any) -> Assigner:
        """C[I, J](mask, accum, replace) << expr: mask has the shape of the region, replace reaches no further."""
        region = _Region(self.shape, self.parent)
        updater = _OUTPUT_CALL(region, *args, **kwargs)
        updater.target = self.parent
        return Assigner(updater, self.axes, region_mask=updater.mask is not None)

    def _text(self) -> str:
        places = ", ".join(":" if a.at is None else str(a.at) if a.size is None else f"[{a.size}]" for a in self.axes)
        return f"{self.parent.name}[{places}]"


class _Region:
    """Stands for parent[I] while the parameters of an assignment are read: masks have its rank."""

    __slots__ = ("_mask_ranks", "dtype", "ndim")

    def __init__(self, shape: tuple[int, ...], parent: Any) -> None:
        self.ndim, self.dtype = max(1, len(shape)), parent.dtype
        self._mask_ranks = (self.ndim,)


def extracted_mask(expr: Any, input_mask: Any) -> Mask:
    """The mask of A[I, J] that `input_mask` gives, a mask of A's shape or, for a row or column, a Vector's along it."""
    if not isinstance(expr, IndexExpr):
        raise TypeError("input_mask: expected an extraction such as A[I, J] on the right, got something else")
    if not expr.ndim:
        raise TypeError("input_mask: not allowed where a single element is read")
    m = check(input_mask, getattr(input_mask, "ndim", expr.parent.ndim))
    axes, shape = expr.axes, expr.parent.shape
    if m.ndim < len(axes):
        if expr.ndim == 2:
            raise TypeError("input_mask: expected the mask of a Matrix where a Matrix is read, got that of a Vector")
        axes, shape = zip(*((a, n) for a, n in zip(axes, shape) if a.size is not None))
    if m.parent.shape != shape:
        raise DimensionMismatch(f"input_mask: expected shape {shape}, got {m.parent.shape}")
    return Mask(m.parent._extract(axes).new(), m.structure, m.complement)


class Assigner:
    """C(mask)[I] or C[I](mask): waits for `<<`."""

    __slots__ = ("__weakref__", "axes", "region_mask", "updater")

    def __init__(self, updater: Updater, axes: tuple[Axis, ...], *, region_mask: bool) -> None:
        self.updater, self.axes, self.region_mask = updater, axes, region_mask
        if not isinstance(updater.target, Output):
            raise TypeError("C[I](..): expected a part of a Matrix or Vector itself")
        if region_mask and all(a.size is None for a in axes):
            raise TypeError("mask: a single element takes none of its own; write C(mask)[i, j] << x")

    def __lshift__(self, value: Any) -> None:
        u = self.updater
        u.target._assign(self.axes, value, u.mask, u.accum, u.replace, self.region_mask)

    update = __lshift__

    def __eq__(self, other: Any) -> Any:
        raise TypeError("C(...)[I] == x: not defined; perhaps `<<` is meant")

    def __bool__(self) -> bool:
        raise TypeError("C(...)[I]: has no truth value")

    __hash__ = object.__hash__
