"""The arrays of a GPU (bitblas/device/arrays.py) in the emulator: NumPy's, with the kernels of a GPU's."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitblas import device as devices
from bitblas.device import arrays


def plain(a: Any) -> np.ndarray:
    return a.view(np.ndarray)


def memory(a: Any) -> np.ndarray:
    """From the first element to the last, for a kernel that takes strides (which are not negative here)."""
    a = plain(a)
    if a.flags.c_contiguous:
        return a
    last = sum((size - 1) * stride for size, stride in zip(a.shape, a.strides)) // a.itemsize
    return np.lib.stride_tricks.as_strided(a, (last + 1,), (a.itemsize,))


def array_module(device: str) -> Any:
    """The array module of a GPU, or its counterpart in the emulator."""
    if device != "emulator":
        return devices.get(device).xp
    primitives = arrays.Primitives(
        scan=lambda a: np.cumsum(plain(a), out=plain(a)),
        argsort=lambda a: np.argsort(plain(a), kind="stable").view(type(a)),
        copy=lambda to, source: np.copyto(plain(to), plain(source)),
        clear=lambda a: plain(a).fill(0),
        memory=memory,
    )
    return arrays.Arrays(np, devices.get(device), primitives)
