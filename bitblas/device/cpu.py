"""The CPU device: NumPy arrays, and kernels compiled by Numba and loaded by llvmlite; and tables of kernels, which run
without Python in between.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from semirings.cached import cached_property

from .. import tuning
from ..kernels.variant import OTHERS, Variant
from . import jit, native, object_files, threads, tracing
from .base import Device
from .native import Argument


@functools.cache
def native_library() -> Callable[[str], int]:
    """Load native.ll and return a function from its symbol names to addresses."""
    library = object_files.assembled_object("native", native.text(native.host()))
    native.load(library.data, "launch", library.undefined)
    reset = ctypes.CFUNCTYPE(None)(native.address_of("reset"))
    reset()
    threads.after_fork_in_child.append(reset)
    watched = ctypes.c_int32.from_address(native.address_of("watched"))
    watched.value = tracing.active is not None

    def watch(begins: bool) -> None:
        watched.value = begins

    tracing.watchers.append(watch)
    return functools.cache(native.address_of)


def code_address(variant: Variant, signature: Sequence[str]) -> int:
    """The address of a variant's machine code for arguments of these types."""
    with native.loading:
        built = object_files.kernel_object(variant, signature)
        return native.load(built.data, built.symbol, built.undefined)


def kernel_at(function: int, signature: Sequence[str]) -> Callable[..., int]:
    """The kernel at an address, callable from Python: see `native.kernel_callable`."""
    with native.loading:
        address_of = native_library()
    if native.layout_known():
        return native.kernel_callable(address_of("launch"), function, signature)
    return native.ctypes_callable(address_of("share"), function, signature)


def run_in_groups(limits: np.ndarray, run: Callable[[np.ndarray], None], in_turn: bool = False) -> None:
    """Call run(limits) for one group of ranges after the other; Python handles its signals
    between groups. in_turn: one range at a time."""
    most = 1 if in_turn else threads.most_ranges()
    first, count, last = 0, min(most, 2 * threads.count()), len(limits) - 1
    seconds = tuning.value("interrupt.group_seconds")
    while first < last:
        begin = time.perf_counter()
        run(limits[first : first + count + 1])
        elapsed = time.perf_counter() - begin
        first += count
        count = max(1, min(most, 2 * count, int(count * seconds / max(elapsed, 1e-6))))


@functools.cache
def _kernel(device: Cpu, variant: Variant) -> Callable[..., None]:
    quick: Callable[..., int] = lambda *args: OTHERS  # until it is loaded
    known: dict[tuple[str, ...], Callable[..., int]] = {}

    def call(n: int, *args: Argument, bounds: threads.Bounds = None, extra_blocks: int = 0) -> None:
        if tracing.active is not None:
            tracing.active.note(device, variant, call, n, *args, bounds=bounds, extra_blocks=extra_blocks)
        elif bounds is None or len(bounds) < 3:
            if status := quick(n, *args):
                settle(status, n, args)
        elif isinstance(bounds, threads.Chunks):
            if not threads.all_started:
                threads.start_missing(native_library())
            run_in_groups(np.asarray(bounds), lambda group: shared(group, args), isinstance(bounds, threads.InTurn))
        else:
            if not threads.all_started:
                threads.start_missing(native_library())
            bounds = threads.limit_ranges(bounds)
            if status := quick(bounds, *args):
                settle(status, bounds, args)

    def shared(limits: np.ndarray, args: tuple[Argument, ...]) -> None:
        if status := quick(limits, *args):
            settle(status, limits, args)

    def settle(status: int, units: np.ndarray | int, args: tuple[Argument, ...]) -> None:
        """Slow path: the first call, arguments of other types than those of the last call, and errors."""
        nonlocal quick
        if status == OTHERS:
            args = tuple(map(native.plain_argument, args))
            types = tuple(map(native.type_code, args))
            if types not in known:
                known[types] = kernel_at(code_address(variant, types), types)
            quick = known[types]
            set_kernel(quick)
            status = quick(units if isinstance(units, np.ndarray) else int(units), *args)
        if status:
            native.raise_status(status)

    if not native.layout_known():
        set_kernel: Callable[[Callable[..., int]], None] = lambda quick: None
        return call
    with native.loading:
        direct = native_library()("direct")
    function, set_kernel = native.direct_callable(direct, call)
    return function


class Cpu(Device):
    """NumPy arrays and Numba kernels: the default device without a GPU, and the readable reference."""

    name = kind = "cpu"
    host_memory = True

    kernel = _kernel  # a method, cached by C code

    def source(self, variant: Variant) -> str:
        return f"# {variant}\n{jit.cpu_source(variant)}"  # name the variant, because several variants share one text

    def free_bytes(self) -> int:
        try:
            with open("/proc/meminfo") as lines:
                return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        except (OSError, StopIteration):
            return 1 << 62  # unknown on this system: an allocation will fail instead

    def synchronize(self) -> None:
        """Nothing to do: kernels run synchronously."""

    @property
    def threads(self) -> int:
        """Number of threads that share the ranges of a kernel: `config.threads`."""
        return threads.count()

    def now(self) -> float:
        """Seconds. With one thread its CPU time, which other processes do not increase."""
        return time.process_time() if threads.count() == 1 else time.perf_counter()

    @cached_property
    def permute_bytes(self) -> int:
        return native.PERMUTE_BYTES.get(native.best(native.host()) or "", 0)

    def chunks(self, work: int, least: int = 0) -> int:
        if work < tuning.count("interrupt.long_work"):
            return 1
        return -(-work // max(tuning.count("interrupt.chunk_work"), least))

    def splits(self, work: int, least: int) -> bool:
        return work >= least and threads.count() > 1


# ---- Run CPU kernels from a table, round after round, without Python in between (`table.ll`).

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


def table_text() -> str:
    """The text of table.ll."""
    limit = tuning.count("interrupt.loop_nanoseconds")
    return (Path(__file__).parent / "table.ll").read_text().replace("{NANOSECONDS}", str(limit))


@functools.cache
def _rounds() -> int:
    """The address of `rounds`."""
    built = object_files.assembled_object("table", table_text())
    return native.load(built.data, "rounds", built.undefined)
