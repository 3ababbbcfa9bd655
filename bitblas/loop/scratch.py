"""Scratch memory shared by the programs of a device, which use it in turn.

A run copies its vectors in and their results out, so no program reads what another left in between. So programs that
need arrays of the same sizes share them, and one of these programs runs at a time.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..device import Device
from ..store import words

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..typing import Array

Key = tuple[str, int]


class SharedBlock:
    """An array that programs share; it lives as long as one of them."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Array) -> None:
        self.array = array


@functools.cache
def _shared(device: Device) -> dict[Key, list[weakref.ref[SharedBlock]]]:
    return {}


@functools.cache
def program_lock(device: Device) -> threading.RLock:
    """The lock of the program that is being captured or runs; released at its end."""
    return threading.RLock()


class Scratch:
    """The shared memory that one program uses."""

    def __init__(self, device: Device) -> None:
        self.device, self.blocks = device, list[SharedBlock]()
        self.used: Counter[Key] = Counter()
        shared = _shared(device)
        for key in [key for key, blocks in shared.items() if not any(block() for block in blocks)]:
            del shared[key]

    def bits(self, size: int) -> Array:
        """A bitset of `size` bits, shared only with bitsets of that size, because no bits past its end may be set."""
        return self._next(("bits", size), words(size), np.uint64)

    def array(self, count: int, dtype: DTypeLike) -> Array:
        """An array with arbitrary contents."""
        return self._next(("bytes", count * np.dtype(dtype).itemsize), count, dtype)

    def _next(self, key: Key, count: int, dtype: DTypeLike) -> Array:
        blocks, k = _shared(self.device).setdefault(key, []), self.used[key]
        self.used[key] += 1
        block = blocks[k]() if k < len(blocks) else None
        if block is None:
            block = SharedBlock(self.device.xp.zeros(count, dtype))
            blocks[k : k + 1] = [weakref.ref(block)]
        self.blocks.append(block)
        return block.array.view(np.dtype(dtype))


class OwnMemory:
    """The same interface for a program that does not share memory."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def bits(self, size: int) -> Array:
        return self.device.xp.zeros(words(size), np.uint64)

    def array(self, count: int, dtype: DTypeLike) -> Array:
        return self.device.xp.zeros(count, dtype)
