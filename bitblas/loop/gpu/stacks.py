"""Stacks of frontiers in GPU loops: memory, and the launches of `push`, `pop` and `clear` (stack.cu)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL

from ...kernels.variant import Variant
from ...operations.operands import dummy
from ...store import words
from ..buffers import DENSE, FAULTS, STATE, Argument, Launch, StackMemory, stack_memory, stacked_vectors
from ..fuse import OnStack, Round
from ..ir import Vec

if TYPE_CHECKING:
    from ...typing import Array
    from .build import Build


class Stacks:
    """The stacks of a program. popped: the states of the worklists of vectors that are popped."""

    def __init__(self, build: Build, plan: Round) -> None:
        device, items = build.device, [item for item in plan.all if isinstance(item, OnStack)]
        self.memory = stack_memory(device, [item.statement for item in items])
        found = {item.statement.target for item in items}
        self.popped: dict[Vec, Array] = {x: device.xp.zeros(STATE, np.uint64) for x in found if isinstance(x, Vec)}
        self.every = device.xp.zeros(STATE, np.uint64)  # the state of a frontier that is not listed
        self.every[DENSE] = 1

    @property
    def reset(self) -> list[Launch]:
        """The launches before a run: stacks are empty, and vectors that are popped have other contents."""
        return [self._empty(memory) for memory in self.memory.values()] + self.unlist(self.popped)

    def _empty(self, memory: StackMemory) -> Launch:
        def launch() -> None:
            memory.numbers.fill(0)

        return launch

    def unlist(self, vectors: Iterable[Vec]) -> list[Launch]:
        """The launches after which these vectors have no valid list."""
        return [partial(self.popped[x].fill, 1) for x in vectors]  # DENSE, and a length that is not read

    def launches(
        self, build: Build, item: OnStack, k: int, lists: Mapping[Vec, Array], head: tuple[Argument, ...] = ()
    ) -> list[Launch]:
        """The launches of a statement in copy k of a round. lists: the states of valid worklists. head: of a launch
        outside of rounds."""
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
            listed = lists.get(x)
            list_ = frontier.at(frontier.lists) if listed is not None else dummy(build.device, "uint32")
            of = frontier.at(frontier.bits), list_, self.every if listed is None else listed
            return [launch("push_words", *of, *memory.arguments, build.outermost[FAULTS:], number)]
        of = frontier.bits[0], frontier.lists[0], self.popped[x]
        values = frontier.values[0] if frontier.values else dummy(build.device, "uint64")
        known = frontier.bits[0], frontier.lists[0], lists.get(x, self.every)
        valued = np.int64(bool(frontier.values) and x.dtype is BOOL)
        return [launch("clear_words", *known), launch("pop_words", *of, values, valued, *memory.arguments)]

    def once(self, build: Build, item: OnStack, where: str) -> Launch:
        """The launches of a statement before or after the rounds."""
        found = self.launches(build, item, 0, {}, (*build.once, np.int64(0)))

        def launch() -> None:
            for each in found:
                each()

        return launch
