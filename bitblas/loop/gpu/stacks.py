"""Stacks of frontiers in GPU loops: memory, and the launches of `push`, `pop` and `clear` (stack.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL

from ...kernels.variant import Variant
from ...operations.operands import dummy
from ...store import words
from ..buffers import FAULTS, Argument, Launch, StackMemory, stack_memory, stacked_vectors
from ..fuse import OnStack, Round

if TYPE_CHECKING:
    from .build import Build


class Stacks:
    """The stacks of a program."""

    def __init__(self, build: Build, plan: Round) -> None:
        device, items = build.device, [item for item in plan.all if isinstance(item, OnStack)]
        self.memory = stack_memory(device, [item.statement for item in items])

    @property
    def reset(self) -> list[Launch]:
        """The launches before a run: stacks are empty."""
        return [self._empty(memory) for memory in self.memory.values()]

    def _empty(self, memory: StackMemory) -> Launch:
        def launch() -> None:
            memory.numbers.fill(0)

        return launch

    def launches(self, build: Build, item: OnStack, k: int, head: tuple[Argument, ...] = ()) -> list[Launch]:
        """The launches of a statement in copy k of a round. head: of a launch outside of rounds."""
        memory, control = self.memory[item.value.stack], head or build.head(k)
        n = words(max((x.size for x in stacked_vectors(item.statement)), default=1))
        grid, number = build.grid(n), np.int64(item.value.number)
        launch = lambda name, *args: build.launcher(
            Variant(f"loop/gpu/{name}", (), (("LANES", 1),)), grid, (np.int64(n), *control, *args)
        )
        if item.value.what == "clear":
            return [launch("clear_stack", memory.numbers)]
        (x,) = stacked_vectors(item.statement)
        frontier = build.buffers[x]
        if item.value.what == "push":
            bits = frontier.at(frontier.bits)
            return [launch("push_words", bits, *memory.arguments, build.outermost[FAULTS:], number)]
        values = frontier.values[0] if frontier.values else dummy(build.device, "uint64")
        valued, bits = np.int64(bool(frontier.values) and x.dtype is BOOL), frontier.bits[0]
        return [launch("clear_words", bits), launch("pop_words", bits, values, valued, *memory.arguments)]

    def once(self, build: Build, item: OnStack, where: str) -> Launch:
        """The launches of a statement before or after the rounds."""
        found = self.launches(build, item, 0, (*build.once, np.int64(0)))

        def launch() -> None:
            for each in found:
                each()

        return launch
