"""A device of bitblas for tests: the host code of a GPU and the CUDA C++ of its kernels, run on the CPU.

EMU_SEED shuffles the order of lanes, warps and blocks (0: in order); EMU_MODE=tsan looks for missing synchronisation
(see compiling.py); EMU_STRICT=0 allows what a GPU happens to allow, such as exited lanes in a mask.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from bitblas import device
from bitblas.device import jit
from bitblas.exceptions import DeviceError
from bitblas.kernels.variant import Variant
from bitblas.loop.gpu import captured_program

from . import emu
from .left import Left, Loop


class Emulator(device.Cuda):
    """A GPU as far as the host code can see, with NumPy's arrays as its memory."""

    name = "emulator"
    arch = "sm_90"
    pins = captures = False
    stream, capturing = device.Device.stream, device.Device.capturing
    multiprocessors = 132
    block_shared_bytes = 232448
    # Small, so that what GPUs meet on large graphs (lists without room, many turns) happens on those of tests.
    cluster = device.Cluster(4, 64, 1536)
    xp: Any = Left()

    def __init__(self) -> None:  # not Cuda's: that one looks for a GPU
        if not emu.have_compiler():
            raise DeviceError(f"device 'emulator': {emu.NO_COMPILER}")

    def load(self, variant: Variant) -> Callable[..., None]:
        kernel = emu.RawModule(code=jit.cuda_source(variant), name_expressions=[variant.entry]).get_function(
            variant.entry
        )

        def launch(grid: Any, block: Any, args: Any, **options: Any) -> None:
            seed, strict = int(os.environ.get("EMU_SEED", "0")), os.environ.get("EMU_STRICT", "1") != "0"
            try:
                kernel(
                    grid,
                    block,
                    [np.int64(x) if type(x) is int else x for x in args],
                    seed=seed,
                    strict=strict,
                    cluster=variant.constant("CLUSTER", 1),
                    shared_mem=variant.constant("SHARED_BYTES"),
                    **options,
                )
            except (emu.EmulatorError, TypeError) as error:
                raise type(error)(f"{error}\nin the variant {variant}") from None

        return launch

    errors = device.Device.errors
    adopt = device.Device.adopt
    to_host = device.Device.to_host
    time_us = device.Device.time_us
    model = "emulator"
    synchronize = device.Cpu.synchronize
    free_bytes = device.Device.free_bytes
    explained = device.Device.explained
    mark, elapsed = device.Device.mark, device.Device.elapsed


device.register("emulator", Emulator)
vars(captured_program)["HostLoop"] = Loop
