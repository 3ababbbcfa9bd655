"""Devices: where arrays live and kernels run. The only module that imports CuPy.

A Device has an array module `xp` (NumPy or CuPy), makes callables from Variants, and knows its launch numbers. Every
call of a kernel reads `kernel(n, *args, bounds=...)` on every device: n units of work (rows, tile rows, words), arrays
of that device, and typed scalars.
"""

from __future__ import annotations

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import jit
from .exceptions import DeviceError, OutOfMemory
from .kernels.prologue import Variant
from .launch import launcher


class Device(ABC):
    """What every device offers. `name` is what users write: "cpu", "cuda"."""

    name = "none"
    is_gpu = False
    xp: Any = np  # the array module: NumPy or CuPy

    def __repr__(self) -> str:
        return f"<device {self.name}>"

    @property
    def threads(self) -> int:
        """Workers of the CPU's parallel kernels; 1 where the host runs none."""
        return 1

    @abstractmethod
    def kernel(self, variant: Variant) -> Callable[..., None]:
        """The compiled variant: call it as kernel(n, *args, bounds=None, extra_blocks=0)."""

    def asarray(self, data: Any, dtype: Any = None) -> Any:
        """`data` as a contiguous array of this device; copies only where it must."""
        try:
            return self.xp.ascontiguousarray(self.xp.asarray(data, dtype=dtype))
        except MemoryError as error:
            raise OutOfMemory(f"{self.name}: {error}") from error

    def to_host(self, array: Any) -> np.ndarray:
        """An array of this device as a NumPy array; host arrays stay as they are."""
        return np.asarray(array)

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all work given to the device is done."""


class Cpu(Device):
    """NumPy arrays and Numba kernels: the embedded default and the readable definition."""

    name = "cpu"

    @functools.cache  # noqa: B019 - one Cpu for the life of the process
    def kernel(self, variant: Variant) -> Callable[..., None]:
        module = jit.cpu_module(variant)
        serial, parallel = getattr(module, variant.entry), module.parallel

        def call(n: int, *args: Any, bounds: Any = None, extra_blocks: int = 0) -> None:
            if bounds is None or len(bounds) < 3:
                serial(0, n, *args)
            else:
                parallel(bounds, *args)

        return call

    def synchronize(self) -> None:
        """Nothing to wait for: a kernel's call returns when it is done."""

    @property
    def threads(self) -> int:
        """Worker threads: Numba's, which NUMBA_NUM_THREADS sets."""
        import numba

        return int(numba.get_num_threads())


class Cuda(Device):
    """CuPy arrays and CUDA C++ kernels on the current GPU, on CuPy's current stream."""

    name = "cuda"
    is_gpu = True

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise DeviceError(f"device 'cuda' needs CuPy: pip install 'bit-graphblas[cuda13]' ({error})") from error
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise DeviceError(f"device 'cuda': no usable GPU or driver ({error})") from error
        if count == 0:
            raise DeviceError("device 'cuda': this machine has no GPU")
        self.xp = cupy
        self.arch = f"sm_{cupy.cuda.Device().compute_capability}"
        if int(self.arch[3:]) < 70:
            found = f"{self.arch[3:-1]}.{self.arch[-1]}"
            raise DeviceError(f"device 'cuda': expected compute capability 7.0 or newer, got {found}")

    def load(self, variant: Variant) -> Callable[..., None]:
        """The variant's kernel as launch(grid, block, args)."""
        path = jit.cubin(variant, self.arch)
        return launcher(self.xp, self.xp.RawModule(path=str(path)).get_function(variant.entry))

    @functools.cache  # noqa: B019 - one Cuda for the life of the process
    def kernel(self, variant: Variant) -> Callable[..., None]:
        launch, lanes = self.load(variant), variant.constant("LANES", 1)

        def call(n: int, *args: Any, bounds: Any = None, extra_blocks: int = 0) -> None:
            blocks = -(-n * lanes // jit.BLOCK) + extra_blocks
            if blocks >= 1 << 31:
                raise OutOfMemory(f"{variant.kernel}: {n} units of {lanes} lanes exceed the largest CUDA grid")
            if blocks:
                launch((blocks,), (jit.BLOCK,), (n, *args))

        return call

    def asarray(self, data: Any, dtype: Any = None) -> Any:
        try:
            return self.xp.ascontiguousarray(self.xp.asarray(data, dtype=dtype))
        except self.xp.cuda.memory.OutOfMemoryError as error:
            free, total = self.xp.cuda.runtime.memGetInfo()
            raise OutOfMemory(f"{self.name}: {error}; {free} of {total} bytes are free") from error

    def to_host(self, array: Any) -> np.ndarray:
        return self.xp.asnumpy(array) if isinstance(array, self.xp.ndarray) else np.asarray(array)

    def synchronize(self) -> None:
        self.xp.cuda.get_current_stream().synchronize()


_makers: dict[str, Callable[[], Device]] = {"cpu": Cpu, "cuda": Cuda}
_devices: dict[str, Device] = {}


def register(name: str, maker: Callable[[], Device]) -> None:
    """Make another device known by name (the tests' emulator, a second GPU)."""
    _makers[name] = maker


def get(name: str | Device) -> Device:
    """The device of that name, made at first use. DeviceError where it cannot work; ValueError for unknown names."""
    if isinstance(name, Device):
        return name
    if name not in _makers:
        raise ValueError(f"device: expected one of {', '.join(_makers)}, got {name!r}")
    if name not in _devices:
        _devices[name] = _makers[name]()
    return _devices[name]


def available() -> list[str]:
    """The names of the devices that work on this machine."""
    names = []
    for name in _makers:
        try:
            names.append(get(name).name)
        except DeviceError:
            continue
    return names


def default() -> str:
    """$BITBLAS_DEVICE, else "cuda" where a GPU works, else "cpu"."""
    chosen = os.environ.get("BITBLAS_DEVICE")
    return chosen if chosen else "cuda" if "cuda" in available() else "cpu"


def balanced_bounds(pointers: Any, parts: int, align: int = 1) -> np.ndarray:
    """`parts` consecutive ranges of rows with about equal numbers of entries, their limits multiples of `align`."""
    rows = len(pointers) - 1
    work = np.linspace(0, float(pointers[-1]) + rows, parts + 1)
    found = np.searchsorted(np.asarray(pointers, np.float64) + np.arange(rows + 1), work)
    limits = np.minimum(-(-found // align) * align, rows).astype(np.int64)
    limits[0], limits[-1] = 0, rows
    return np.maximum.accumulate(limits)


def even_bounds(n: int, parts: int, align: int = 1) -> np.ndarray:
    """`parts` consecutive ranges of n units, their limits multiples of `align`."""
    step = -(-n // (parts * align)) * align
    return np.minimum(np.arange(parts + 1, dtype=np.int64) * step, n)


Array = Any
Bounds = Sequence[int] | None
