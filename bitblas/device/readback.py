"""Read small results back to the host: GPU kernels write them to pinned host memory, so that one synchronization makes
them readable, without a copy and without clearing device memory first."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import Device

SIZE = 1 << 15  # bytes; what is larger is copied


class _Pinned(threading.local):
    """Page-locked memory by device, for this thread: it is free again when the thread has waited."""

    def __init__(self) -> None:
        self.of: dict[Device, tuple[np.ndarray, int]] = {}

    def get(self, device: Device) -> tuple[np.ndarray, int]:
        if device not in self.of:
            memory = device.xp.cuda.alloc_pinned_memory(SIZE)
            self.of[device] = np.frombuffer(memory, np.uint8, SIZE), memory.ptr
        return self.of[device]


_pinned = _Pinned()


class Readback:
    """`nbytes` zeroed bytes for kernels to write: pass `part(..)`, launch, `wait()`, then read. One at a time in a
    thread, and none that nobody waits for."""

    __slots__ = ("address", "device", "host")

    def __init__(self, device: Device, nbytes: int) -> None:
        self.device, self.address = device, 0
        if device.pins:
            memory, self.address = _pinned.get(device)
            self.host = memory[:nbytes]
            self.host.fill(0)
        else:  # where kernels write lies in the host's memory anyway
            self.host = np.zeros(nbytes, np.uint8)

    def part(self, dtype: Any, start: int = 0, count: int = 1) -> Any:
        """An argument for a kernel: `count` values from byte `start` on."""
        if self.address:
            return np.uint64(self.address + start)
        return self.host[start : start + count * np.dtype(dtype).itemsize].view(dtype)

    def read(self, dtype: Any, start: int = 0, count: int = 1) -> np.ndarray:
        """The same values for the host, when the device has written them."""
        self.device.synchronize()
        return self.host[start : start + count * np.dtype(dtype).itemsize].view(dtype)
