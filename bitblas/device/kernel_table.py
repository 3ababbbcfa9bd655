"""Run CPU kernels from a table, round after round, without Python in between (`table.ll`)."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import tuning
from ..kernels.variant import Variant
from . import native, object_files, threads
from .cpu import code_address, kernel_at, native_library

CHECKS_CLOCK = 1  # in place of a pause flag's address: marks a part of long work
# Indices into the state. INDEX: the index that was out of range; RESUMED: the paused operation to resume a round at.
ROUND, LIMIT, COPY, FAULT, INDEX, PAUSES, RESUMED = 0, 1, 2, 3, 5, 4, 6
STATE = 8


class Operation(NamedTuple):
    """A kernel with its arguments. bounds: limits of the ranges of its units. when: a number, and the value that it
    must have for the kernel to run (None: it always runs)."""

    variant: Variant
    bounds: np.ndarray
    args: tuple[native.Argument, ...]
    when: tuple[np.ndarray, int] | None = None

    @property
    def signature(self) -> tuple[str, ...]:
        return tuple(map(native.type_code, self.args))

    def is_there(self) -> bool:
        """Whether its kernel is already compiled."""
        return object_files.is_available(self.variant, self.signature)


class Loop(NamedTuple):
    """A nested loop, with the arguments of a Table. It is never the first operation of a round."""

    copies: Sequence[Sequence[Operation | Loop]]
    condition: np.ndarray
    state: np.ndarray


def kernels(copies: Sequence[Sequence[Operation | Loop]]) -> Iterator[Operation]:
    """All operations that are kernels, including those of nested loops."""
    for operation in (operation for copy in copies for operation in copy):
        if isinstance(operation, Loop):
            yield from kernels(operation.copies)
        else:
            yield operation


class Table:
    """The operations of a round, in several copies that are run in rotation. condition: a number, 0 when the loop ends.
    state: STATE numbers."""

    def __init__(self, copies: Sequence[Sequence[Operation | Loop]], condition: np.ndarray, state: np.ndarray) -> None:
        self.condition, self.state = condition, state
        self.kept: list[object] = [copies]  # keeps alive what the table points to
        address_of = native_library()
        rows = [
            [words for op in copy for words in (self._loop(op) if isinstance(op, Loop) else self._kernel(op))]
            for copy in copies
        ]
        numbers = [len(copies), condition.ctypes.data, address_of("share"), len(rows[0])]
        numbers += [number for row in rows for words in row for number in words]
        self.words = np.array(numbers, np.int64)
        self.loop = kernel_at(_rounds(), ("int64[]", "int64[]"))

    def _kernel(self, operation: Operation) -> list[list[int]]:
        """The table rows of an operation; for long work, of its parts, each with some ranges."""
        slots, bounds, flag, each = (
            native.argument_slots(operation.args),
            threads.limit_ranges(operation.bounds),
            0,
            1 << 62,
        )
        if isinstance(bounds, threads.Chunks):
            bounds, flag = np.asarray(bounds), CHECKS_CLOCK
            each = tuning.count("parallel.clock_ranges_per_thread") * threads.count()
            each = min(each, threads.most_ranges())
        when = (0, 0) if operation.when is None else (operation.when[0].ctypes.data, operation.when[1])
        self.kept += (slots, bounds)
        function, last = code_address(operation.variant, operation.signature), len(bounds) - 1
        at, wide = bounds.ctypes.data, bounds.itemsize
        return [
            [function, slots.ctypes.data, at + wide * first, min(each, last - first), *when, flag]
            for first in range(0, max(1, last), each)
        ]

    def _loop(self, loop: Loop) -> list[list[int]]:
        inner, bounds = Table(*loop), np.array([0, 1], np.int64)
        slots = np.array([inner.words.ctypes.data, 0, inner.state.ctypes.data, 0], np.int64)
        self.kept += (inner, slots, bounds)
        pauses = inner.state[PAUSES:].ctypes.data
        return [[_rounds(), slots.ctypes.data, bounds.ctypes.data, 1, 0, 0, pauses]]

    def run(self) -> None:
        """Run rounds until the condition fails; ROUND is then the number of the first round that did not run."""
        if not threads.all_started:
            threads.start_missing(native_library())
        while True:
            if status := self.loop(1, self.words, self.state):
                native.raise_status(status)
            if not self.state[PAUSES]:
                return


def text() -> str:
    """The text of table.ll."""
    limit = tuning.count("interrupt.loop_nanoseconds")
    return (Path(__file__).parent / "table.ll").read_text().replace("{NANOSECONDS}", str(limit))


@functools.cache
def _rounds() -> int:
    """The address of `rounds`."""
    built = object_files.assembled_object("table", text())
    return native.load(built.data, "rounds", built.undefined)
