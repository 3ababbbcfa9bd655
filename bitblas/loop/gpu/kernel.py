"""A kernel launch with bound arguments, the element that a program's graph consists of."""

from __future__ import annotations

from typing import Any

from ...device import jit
from ...kernels.prologue import Variant


class KernelLaunch:
    """Called, it makes the launch on the current stream; `early`, if it stands right after another kernel there, whose
    end it then waits for by itself, where it can."""

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
