"""A kernel launch with bound arguments, the element that a program's graph consists of."""

from __future__ import annotations

from typing import Any

from ...device import jit
from ...kernels.prologue import Variant


class KernelLaunch:
    """Called, it launches the kernel on the current stream. `early`: launch it directly after another kernel, for whose
    end it waits on the device if it supports that."""

    __slots__ = ("args", "awaits", "block", "grid", "run")

    def __init__(self, device: Any, variant: Variant, grid: int, block: int, args: tuple[Any, ...]) -> None:
        self.run, self.grid, self.block, self.args = device.load(variant), (grid,), (block,), args
        self.awaits = device.launches_early and jit.awaits(variant)

    def __call__(self) -> None:
        self.run(self.grid, self.block, self.args)

    def early(self) -> None:
        if self.awaits:
            self.run(self.grid, self.block, self.args, early=True)
        else:
            self()
