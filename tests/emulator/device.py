"""A device of bitblas for tests: the host code of a GPU and the CUDA C++ of its kernels, run on the CPU.

EMU_SEED shuffles the order of lanes, warps and blocks (0: in order); EMU_MODE=tsan looks for missing synchronisation
(see compiling.py); EMU_STRICT=0 allows what a GPU happens to allow, such as exited lanes in a mask.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from bitblas import device
from bitblas.device import jit
from bitblas.exceptions import DeviceError
from bitblas.kernels.variant import Variant
from bitblas.loop import buffers
from bitblas.loop.gpu import captured_program
from bitblas.loop.gpu.build import Build
from bitblas.loop.gpu.graph import HostLoop, Parts, finish, start, warm
from bitblas.loop.gpu.transfer import HostWords

from . import emu

# ---- contents of uninitialized memory: ones everywhere, so that reading them finds an entry at every position, and
# ---- indices out of range in lists


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


def leave_scratch(device: device.Device) -> None:
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

    def run(self, told: HostWords, meanwhile: Callable[[int], None]) -> None:
        leave_scratch(self.device)
        super().run(told, meanwhile)


# ---- the device -----------------------------------------------------------------------------------------------------


@functools.cache
def _compiled(text: str, name: str, mode: str) -> emu.Kernel:
    """The kernel of a text, loaded once per process; each loop loads its kernels again."""
    return emu.RawModule(code=text, name_expressions=[name], mode=mode).get_function(name)


class Emulator(device.Cuda):
    """A GPU as far as the host code can see, with NumPy's arrays as its memory."""

    name = "emulator"
    arch = "sm_90"
    pins = captures = False
    stream, capturing = device.Device.stream, device.Device.capturing
    multiprocessors = 132
    block_shared_bytes = 232448
    # Small, so that what GPUs meet on large graphs (lists without room, many turns) happens on those of tests.
    cluster = device.Cluster(4, 64, 1536, 64)
    xp: Any = Left()

    def __init__(self) -> None:  # not Cuda's: that one looks for a GPU
        if not emu.have_compiler():
            raise DeviceError(f"device 'emulator': {emu.NO_COMPILER}")

    def load(self, variant: Variant) -> Callable[..., None]:
        kernel = _compiled(jit.cuda_source(variant), variant.entry, os.environ.get("EMU_MODE", ""))
        how = {"cluster": variant.constant("CLUSTER", 1), "shared_mem": variant.constant("SHARED_BYTES")}
        cooperative = variant.constant("COOPERATIVE") or variant.constant("MEETS")

        def launch(grid: Any, block: Any, args: Any, **options: Any) -> None:
            if cooperative:  # blocks that meet: a small cluster, which is not in the kernel's text
                grid = how["cluster"] = min(grid[0], 3)
                grid = (grid,)
            seed, strict = int(os.environ.get("EMU_SEED", "0")), os.environ.get("EMU_STRICT", "1") != "0"
            try:
                arguments = [np.int64(x) if type(x) is int else x for x in args]
                kernel(grid, block, arguments, seed=seed, strict=strict, **how, **options)
            except (emu.EmulatorError, TypeError) as error:
                raise type(error)(f"{error}\nin the variant {variant}") from None

        return launch

    model = "emulator"
    errors, explained, free_bytes = device.Device.errors, device.Device.explained, device.Device.free_bytes
    adopt, to_host, synchronize = device.Device.adopt, device.Device.to_host, device.Cpu.synchronize
    mark, elapsed, time_us = device.Device.mark, device.Device.elapsed, device.Device.time_us


device.register("emulator", Emulator)
vars(captured_program)["HostLoop"] = Loop
