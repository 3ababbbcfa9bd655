"""Resolve indices: C[I, J], v[i]."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ... import verbs
from ...device import Device
from ...exceptions import IndexOutOfBound
from ..exact import array_of
from .mask import Mask
from .operand import Operand, describe
from .recording import Listed

One = int | np.integer[Any]  # for type checkers: a single position, and several
Several = slice | range | list[int] | np.ndarray[Any, Any]


class Axis:
    """One index: `size` is None for an int (then `at` is it), else the number of positions; `at` None means all."""

    __slots__ = ("at", "dim", "size")

    def __init__(self, size: int | None, at: Any, dim: int) -> None:
        self.size, self.at, self.dim = size, at, dim

    def __str__(self) -> str:
        if self.at is None or isinstance(self.at, slice):
            return ":" if self.at is None else ":".join(str(x) for x in (self.at.start, self.at.stop, self.at.step))
        if self.size is None or type(self.at) is Listed:
            return str(self.at)
        if self.size > 8:
            return f"[{self.size}]"
        return str(self.at.tolist() if hasattr(type(self.at), "tolist") else self.at)

    @property
    def region(self) -> range | None:
        """The range of a slice; None for other indices."""
        return range(self.at.start, self.at.stop, self.at.step) if isinstance(self.at, slice) else None

    def places(self, device: Device, ranges: bool) -> Any:
        """None for all, a range if the operation supports `ranges` and it is one, else an array."""
        return None if self.at is None else (self.region if ranges else None) or self.array(device)

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
    if type(index) is Listed:
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
    return _list(index, dim, device)


FEW = 64  # list length up to which Python finds the minimum faster than NumPy


def _list(index: Any, dim: int, device: Device) -> Axis:
    few = type(index) is list and len(index) <= FEW
    if few or not hasattr(index, "__cuda_array_interface__"):
        try:
            index = np.asarray(index) if hasattr(index, "dtype") else array_of(index)
        except OverflowError:
            low, high = min(map(int, index)), max(map(int, index))
            raise IndexOutOfBound(f"Index out of range: index={low if low < -dim else high}, size={dim}") from None
        if index.size == 0 and index.dtype.kind == "f":
            index = index.astype(np.int64)
    if index.ndim == 0 and index.dtype.kind in "iu":
        return axis(int(index), dim, device)
    if index.ndim != 1:
        raise TypeError(f"index: expected one dimension, got {index.ndim}")
    if index.dtype.kind not in "iu":
        raise TypeError(f"index: expected integers, got {index.dtype}; a mask is written x(m.V) << y")
    if not device.host_memory and isinstance(index, device.xp.ndarray) and len(index):
        known = verbs.elements.normalized(device, device.asarray(index, np.int64), dim)
        if known is not None:
            return Axis(len(index), known, dim)
    if len(index):
        given = index.tolist() if few else ()  # not the original list, which may contain Scalars
        low, high = (min(given), max(given)) if few else (int(index.min()), int(index.max()))
        if low < -dim or high >= dim:
            raise IndexOutOfBound(f"Index out of range: index={low if low < -dim else high}, size={dim}")
        index = index.astype(np.int64, copy=not few)  # an array may belong to the caller
        if low < 0:
            index[index < 0] += dim
    return Axis(len(index), index, dim)


def parse(parent: Any, key: Any) -> tuple[Axis, ...]:
    """The indices of parent[key]: one for a Vector, two for a Matrix; `...` means all."""
    if parent.ndim == 0:
        raise TypeError("index: a Scalar has no positions")
    shape = parent.shape
    if key is Ellipsis:
        return tuple(Axis(n, None, n) for n in shape)
    if parent.ndim == 1:
        if isinstance(key, tuple):
            raise TypeError("index: expected one index for a Vector, got a tuple")
        return (axis(key, shape[0], parent.device),)
    if not isinstance(key, tuple) or len(key) != 2:
        raise TypeError(f"index: expected two indices for a Matrix, such as A[i, j], got {describe(key)}")
    device, rows = parent.device, axis(key[0], shape[0], parent.device)
    same = key[1] is key[0] and shape[1] == shape[0]
    return rows, rows if same else axis(key[1], shape[1], device)
