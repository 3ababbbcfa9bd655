"""CPU and CUDA devices: memory, kernel compilation and launches.

A Device has an array module `xp` (NumPy or CuPy), compiles Variants to callables, and defines its launch parameters.
Kernel calls have the same form on every device: `kernel(n, *args, bounds=...)`, with n units of work (rows, tile rows,
words), arrays of that device, and typed scalars.

"cpu" is the host. "cuda" is CuPy's current GPU, "cuda:1" the second GPU. Each GPU of a machine is a device of its own;
operands on two different devices are an error. $BITBLAS_DEVICE names the default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from ..exceptions import DeviceError
from .base import Cluster, Device, Kernel, address, dummy
from .cpu import Cpu
from .cuda import Cuda, create_context, current, switch
from .threads import Bounds
from .tracing import Run, Trace

__all__ = [
    "Bounds",
    "Cluster",
    "Cpu",
    "Cuda",
    "Device",
    "Kernel",
    "Run",
    "Trace",
    "activate",
    "address",
    "available",
    "default",
    "dummy",
    "get",
    "register",
]

_makers: dict[str, Callable[[], Device]] = {"cpu": Cpu}
_devices: dict[str, Device] = {}
several = False  # whether there is more than one GPU to choose from: then `activate` must be called


def register(name: str, maker: Callable[[], Device]) -> None:
    """Register a device under a name (the tests' emulator)."""
    _makers[name] = maker


def get(name: str | Device) -> Device:
    """The device of that name, created at first use. DeviceError if it cannot be used; ValueError for unknown names,
    TypeError for a sequence of names."""
    device = _devices.get(name) if type(name) is str else None  # the common case first
    if device is None:
        device = name if isinstance(name, Device) else _find(name)
    activate(device)
    return device


def _find(name: object) -> Device:
    if isinstance(name, (list, tuple)):
        raise TypeError(
            f"device: expected the name of one device, got {len(name)}. Hint: use one process per device: import "
            f"bitblas.distributed, and start them with `bitblas run -n {len(name)} program.py`"
        )
    if isinstance(name, str) and (gpu := re.fullmatch(r"cuda(?::(\d+))?", name)):
        return _gpu(None if gpu[1] is None else int(gpu[1]))
    if not isinstance(name, str) or name not in _makers:
        raise ValueError(f"device: expected one of {', '.join(_makers)}, cuda, cuda:0, cuda:1 .., got {name!r}")
    if name not in _devices:
        _devices[name] = _makers[name]()
    return _devices[name]


def _gpu(ordinal: int | None) -> Cuda:
    """A GPU by its number; the current one if None."""
    global several
    create_context(ordinal)
    ordinal = current() if ordinal is None else ordinal
    name = f"cuda:{ordinal}"
    if name not in _devices:
        gpu = Cuda(ordinal)
        _devices[name] = gpu
        if gpu.name == "cuda":
            _devices["cuda"] = gpu
        else:
            several = True
    device = _devices[name]
    assert isinstance(device, Cuda)
    return device


def activate(device: Device) -> None:
    """Make a device's GPU current for this thread. DeviceError if this process has lost the GPU."""
    if isinstance(device, Cuda):
        device.check()
        if several and device.ordinal is not None:
            switch(device)


def available() -> list[str]:
    """The names of the usable devices of this machine."""
    names = []
    for name in (*_makers, "cuda"):
        try:
            names.append(get(name).name)
        except DeviceError:
            continue
    if several:
        count = get(names.pop()).xp.cuda.runtime.getDeviceCount()
        names += [f"cuda:{k}" for k in range(count)]
    return names


def default() -> str:
    """$BITBLAS_DEVICE, else a GPU if one is usable, else "cpu"."""
    chosen = os.environ.get("BITBLAS_DEVICE")
    if chosen:
        return chosen
    try:
        return get("cuda").name
    except DeviceError:
        return "cpu"
