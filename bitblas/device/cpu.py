"""The host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..kernels.prologue import Variant
from . import forked, jit, tracing
from .base import Device


class Cpu(Device):
    """NumPy arrays and Numba kernels: the embedded default and the readable definition."""

    name = kind = "cpu"
    host_memory = True

    @functools.cache  # noqa: B019 - one Cpu for the life of the process
    def kernel(self, variant: Variant) -> Callable[..., None]:
        module = jit.cpu_module(variant)
        serial, parallel = getattr(module, variant.entry), module.parallel

        def call(n: int, *args: Any, bounds: Any = None, extra_blocks: int = 0) -> None:
            if tracing.active is not None:
                tracing.active.note(self, variant, call, n, *args, bounds=bounds, extra_blocks=extra_blocks)
            elif bounds is None or len(bounds) < 3:
                serial(0, n, *args)
            else:
                forked.check_threads()
                parallel(bounds, *args)

        return call

    def source(self, variant: Variant) -> str:
        return f"# {variant}\n{jit.cpu_source(variant)}"  # variants share texts: which one this is

    def free_bytes(self) -> int:
        try:
            with open("/proc/meminfo") as lines:
                return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        except (OSError, StopIteration):
            return 1 << 62  # another system: allocating says it

    def synchronize(self) -> None:
        """Nothing to wait for: a kernel's call returns when it is done."""

    @property
    def threads(self) -> int:
        """Worker threads: Numba's, which NUMBA_NUM_THREADS sets."""
        import numba

        return int(numba.get_num_threads())

    def splits(self, work: int, least: int) -> bool:
        return work >= least
