"""Stacks of frontiers in GPU loops: memory, and the launches of `push`, `pop` and `clear` (stack.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL

from ...kernels.variant import Variant
from ...operations.operands import dummy
from ...store import words
from ..buffers import FAULTS, Argument, Launch, stack_memory, stacked_vectors
from ..fuse import OnStack, Round
from ..ir import MultivectorProduct
from .column_rounds import ColumnSearch
from .saved_rounds import SavedColumns

if TYPE_CHECKING:
    from ...typing import Array
    from .build import Build


class Stacks:
    """The stacks of a program. saved: those that searches push to column by column."""

    def __init__(self, build: Build, plan: Round, searches: Sequence[ColumnSearch]) -> None:
        device, items = build.device, [item for item in plan.all if isinstance(item, OnStack)]
        self.saved: dict[int, SavedColumns] = {}
        for search in searches:
            product = search.advance.product
            if search.push is not None and isinstance(product, MultivectorProduct):
                self.saved[search.push.value.stack] = SavedColumns.of(device, product.lines)
        self.memory = stack_memory(device, [x.statement for x in items if x.value.stack not in self.saved])

    @property
    def reset(self) -> list[Launch]:
        """The launches before a run: stacks are empty."""
        saved = [array for memory in self.saved.values() for array in (memory.heights, memory.numbers)]
        return [_empty(array) for array in (*saved, *(memory.numbers for memory in self.memory.values()))]

    def launches(self, build: Build, item: OnStack, k: int, head: tuple[Argument, ...] = ()) -> list[Launch]:
        """The launches of a statement in copy k of a round. head: of a launch outside of rounds."""
        control = head or build.head(k)
        if item.value.stack in self.saved:
            return self._saved(build, item, control)
        memory = self.memory[item.value.stack]
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

    def _saved(self, build: Build, item: OnStack, control: tuple[Argument, ...]) -> list[Launch]:
        """The same for a stack by columns, to which only a search pushes."""
        memory = self.saved[item.value.stack]
        n = np.int64(words(memory.lines.places))
        variant = lambda name: Variant(name, (), (("LANES", 1),))
        if item.value.what == "clear":
            clear = variant("formats/bitmap/clear_saved")
            return [build.launcher(clear, build.grid(memory.lines.width), (n, *control, *memory.arguments))]
        (x,) = stacked_vectors(item.statement)
        frontier, grid = build.buffers[x], build.grid(int(n))
        values = frontier.values[0] if frontier.values else dummy(build.device, "uint64")
        valued, bits = np.int64(bool(frontier.values) and x.dtype is BOOL), frontier.bits[0]
        args = n, np.int64(memory.lines.stride), *control, *memory.arguments, bits, values, valued
        cleared = build.launcher(variant("loop/gpu/clear_words"), grid, (n, *control, bits))
        return [cleared, build.launcher(variant("formats/bitmap/pop_saved"), grid, args)]

    def once(self, build: Build, item: OnStack, where: str) -> Launch:
        """The launches of a statement before or after the rounds."""
        found = self.launches(build, item, 0, (*build.once, np.int64(0)))

        def launch() -> None:
            for each in found:
                each()

        return launch


def _empty(array: Array) -> Launch:
    return lambda: array.fill(0)
