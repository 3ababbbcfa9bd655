"""Vertex orders: the permutation from the user's numbering to the stored one, kept once per device.

Objects carry an Order as a tag, or None for the user's numbering. Equal permutations are one Order, so that tags are
compared by `is`.
"""

from __future__ import annotations

import weakref

import numpy as np

from .device import Device
from .typing import Array

used = False  # whether any order was ever created: until then statements do not check their operands
_known: weakref.WeakValueDictionary[tuple[int, int, int], Order] = weakref.WeakValueDictionary()


class Order:
    """perm[k] is the user's index of stored position k: INT32 if that suffices; the inverse is computed on demand."""

    __slots__ = ("__weakref__", "_inverse", "device", "perm")

    def __init__(self, device: Device, perm: Array) -> None:
        self.device, self.perm = device, perm
        self._inverse: Array | None = None

    @property
    def size(self) -> int:
        return len(self.perm)

    @property
    def inverse(self) -> Array:
        """The stored position of each of the user's indices."""
        if self._inverse is None:
            inverse = self.device.xp.empty_like(self.perm)
            inverse[self.perm] = self.device.xp.arange(self.size, dtype=self.perm.dtype)
            self._inverse = inverse
        return self._inverse

    def numbers(self, places: Array) -> Array:
        """The user's indices (INT64) of stored positions."""
        return self.perm[places].astype(np.int64)

    def places(self, numbers: Array) -> Array:
        """The stored positions (INT64) of user's indices."""
        return self.inverse[numbers].astype(np.int64)

    def place(self, number: int) -> int:
        return int(self.device.to_host(self.inverse[number : number + 1])[0])

    @property
    def nbytes(self) -> int:
        return int(self.perm.nbytes) + (0 if self._inverse is None else int(self._inverse.nbytes))


def order_of(device: Device, perm: Array) -> Order | None:
    """The Order of a permutation (INT64, checked); None for the user's numbering itself."""
    global used
    xp, size = device.xp, len(perm)
    numbers = xp.arange(size, dtype=np.int64)
    if bool((perm == numbers).all()):
        return None
    used = True
    key = id(device), size, int((perm * (numbers | 1)).sum())  # overflow is harmless
    known = _known.get(key)
    if known is not None and bool((known.perm == perm).all()):
        return known
    order = _known[key] = Order(device, perm.astype(np.int32 if size < 1 << 31 else np.int64))
    return order


def gather_places(old: Order | None, new: Order | None) -> Array:
    """For each position of the new order, its position in the old one (INT64)."""
    if new is None:
        assert old is not None  # otherwise there is nothing to gather
        return old.inverse.astype(np.int64)
    return new.perm.astype(np.int64) if old is None else old.places(new.perm)
