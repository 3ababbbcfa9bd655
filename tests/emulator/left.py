"""Contents of uninitialized memory: ones everywhere, so that reading them finds an entry at every position, and indices
out of range in lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bitblas.device import Device
from bitblas.loop import buffers
from bitblas.loop.gpu.build import Build
from bitblas.loop.gpu.graph import HostLoop, Parts, finish, start, warm
from bitblas.loop.gpu.transfer import HostWords


def leave(array: np.ndarray) -> np.ndarray:
    """The array as it may come from another program."""
    if array.size and not array.dtype.hasobject:
        array.reshape(-1).view(np.uint8).fill(0xFF)
    return array


class Left:
    """NumPy, whose `empty` returns memory with the contents of another program."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, *args: Any, **options: Any) -> np.ndarray:
        return leave(np.empty(*args, **options))

    def empty_like(self, *args: Any, **options: Any) -> np.ndarray:
        return leave(np.empty_like(*args, **options))


def leave_scratch(device: Device) -> None:
    """Set every bit of the memory that programs share (loop/buffers.py), as another program may have."""
    for (kind, size), blocks in buffers._shared(device).items():
        for held in filter(None, (block() for block in blocks)):
            leave(held.array)
            if kind == "bits" and size % 64:
                held.array[-1] = (1 << size % 64) - 1


class Loop(HostLoop):
    """The body launch by launch, after all that a GPU does: every launch is made once when the loop is, and another
    program has run before each run."""

    def __init__(self, build: Build, parts: Parts) -> None:
        super().__init__(build, parts)
        leave_scratch(build.device)
        warm((*parts.begin, *parts.body, *start(build, 0), *finish(build, 0), *parts.end))

    def run(self, stop: Callable[[], None], told: HostWords, meanwhile: Callable[[int], None]) -> None:
        leave_scratch(self.device)
        super().run(stop, told, meanwhile)
