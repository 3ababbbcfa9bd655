"""Read small results back to the host: GPU kernels write them to pinned host memory, so that one synchronization makes
them readable, without a copy and without clearing device memory first.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import DTypeLike

from ..typing import Array
from . import Device

SIZE = 1 << 15  # bytes; larger results are copied


class _Pinned(threading.local):
    """Page-locked memory per device, for this thread: it can be reused after the thread has synchronized."""

    def __init__(self) -> None:
        self.of: dict[Device, tuple[np.ndarray, int]] = {}

    def get(self, device: Device) -> tuple[np.ndarray, int]:
        if device not in self.of:
            memory = device.xp.cuda.alloc_pinned_memory(SIZE)
            self.of[device] = np.frombuffer(memory, np.uint8, SIZE), memory.ptr
        return self.of[device]


_pinned = _Pinned()


class Readback:
    """`nbytes` zeroed bytes that kernels write: pass `part(..)`, launch, then `read(..)`. Use one at a time in a
    thread, and read each."""

    __slots__ = ("address", "device", "host")

    def __init__(self, device: Device, nbytes: int) -> None:
        self.device, self.address = device, 0
        if device.pins:
            memory, self.address = _pinned.get(device)
            self.host = memory[:nbytes]
            self.host.fill(0)
        else:  # kernels write to host memory anyway
            self.host = np.zeros(nbytes, np.uint8)

    def part(self, dtype: DTypeLike, start: int = 0, count: int = 1) -> Array | np.generic:
        """A kernel argument: `count` values from byte `start` on."""
        if self.address:
            return np.uint64(self.address + start)
        return self.host[start : start + count * np.dtype(dtype).itemsize].view(dtype)

    def read(self, dtype: DTypeLike, start: int = 0, count: int = 1) -> np.ndarray:
        """The same values on the host, after the device has written them."""
        self.device.synchronize()
        return self.host[start : start + count * np.dtype(dtype).itemsize].view(dtype)
