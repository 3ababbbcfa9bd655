"""Run the launches of a body until its condition fails: as a CUDA graph with a while node, or launch by launch.

cuda.core creates the graph; CuPy makes the launches on the capturing stream. On a device without conditional nodes (the
tests' emulator) the host makes the same launches and reads the condition after each run of the body. Frontiers of a
nested loop rotate buffers as those of any loop do, and are moved back to the first buffer before the round continues.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semirings.cached import cached_property

from ... import tuning
from ...device import address, cubins, jit
from ...exceptions import DeviceError, DistributedError
from ...kernels.variant import Variant
from ..buffers import BUFFERS, DENSE, ROUNDS, STATE, Argument, Launch
from ..fuse import Advance, Between, FusedElementwise, Inner, Line, Pull, Round, recount
from ..ir import NO_LIMIT, MultivectorProduct, Vec
from .products import compaction
from .transfer import STOP, HostWords

if TYPE_CHECKING:
    from ...device.cuda import Cuda
    from ...typing import Array
    from .build import Build

# ---- launches -------------------------------------------------------------------------------------------------------


class KernelLaunch:
    """Called, it launches the kernel on the current stream. `early`: launch it directly after another kernel, for whose
    end it waits on the device if it supports that."""

    __slots__ = ("args", "awaits", "block", "grid", "run")

    def __init__(self, device: Cuda, variant: Variant, grid: int, block: int, args: tuple[Argument, ...]) -> None:
        self.run, self.grid, self.block, self.args = device.load(variant), (grid,), (block,), args
        self.awaits = device.launches_early and jit.awaits(variant)

    def __call__(self) -> None:
        self.run(self.grid, self.block, self.args)

    def early(self) -> None:
        if self.awaits:
            self.run(self.grid, self.block, self.args, early=True)
        else:
            self()


class NestedLaunch(ABC):
    """A loop inside a capture; called as a launch, it is run by the host."""

    build: Build  # whose memory has its condition
    leave: list[Launch]  # after the loop

    @abstractmethod
    def enter(self, handle: int) -> list[Launch]:
        """The launches before the loop; they set its condition, given by its handle."""

    @abstractmethod
    def body(self, handle: int) -> list[Launch]:
        """The launches of a run of the body, which end with whether there is another one."""

    @cached_property
    def by_host(self) -> tuple[list[Launch], list[Launch]]:
        """The launches before the loop, and of a run of its body."""
        return self.enter(0), self.body(0)

    def __call__(self) -> None:
        enter, body = self.by_host
        for launch in enter:
            launch()
        while self.build.device.to_host(self.build.going)[0]:
            for launch in body:
                launch()
        for launch in self.leave:
            launch()


# ---- the loop condition, with the small rounds before and after a body -----------------------------------------------


def start(build: Build, handle: int) -> list[Launch]:
    """The launches before the loop: small rounds, then whether the body is needed. If rows have very different lengths,
    a first run of the body instead: most searches end in it, and a while node costs more. handle: of the condition."""
    if build.at_once is not None:
        return []
    later = build.small.later and build.outer and not build.may_end_early
    return [*build.launches, *finish(build, handle)] if later else _small(build, handle, follows=False)


def finish(build: Build, handle: int) -> list[Launch]:
    """The launches that end a run of the body, followed by small rounds."""
    if build.at_once is not None:
        return []
    state, which = build.condition_at(0)
    args = (
        np.int64(len(build.memory)),
        build.device_sources,
        build.memory,
        build.number(state, which),
        build.rounds,
        np.int64(build.copies),
        build.outermost,
        np.uint64(handle),
        build.going,
        *build.ends.args,
        *build.report_arguments,
        np.int64(not (build.outer and build.small.launches)),
    )
    return [build.launcher(Variant("loop/gpu/finish"), 1, args), *_small(build, handle, follows=True)]


def _small(build: Build, handle: int, *, follows: bool) -> list[Launch]:
    """Small rounds; those of a nested loop are inside its body, because the loop may not begin at all. follows: whether
    they follow the end of a body."""
    if not build.outer or not (build.small.launches or (build.may_end_early and not follows)):
        return []
    condition = build.number(*build.condition_at(0))
    around = condition, condition, build.rounds, np.int64(0), build.outermost
    args = np.int64(1), *around, np.uint64(handle), build.going, *build.report_arguments, np.int64(follows)
    return [*build.small.launches, build.launcher(Variant("loop/gpu/enter"), 1, args)]


# ---- rounds and nested loops ----------------------------------------------------------------------------------------


def rounds_per_run(
    round_: Round,
    captures: bool,
    limit: int = NO_LIMIT,
    inside: bool = False,
    opened: Callable[[Pull], bool] = lambda item: False,
    by_sums: Callable[[Pull], bool] = lambda item: False,
) -> int:
    """Rounds per run of the body. Products by rows cannot be skipped, except those of listed rows (`opened`) and by
    copies for sums, so that few of them may run in vain; nor can nested loops or exchanges between ranks. A nested loop
    of element-wise kernels is entered often, and ends soon. If the host makes the launches, a loop costs nothing
    extra."""
    rotates = any(isinstance(item, Advance) for item in round_.items)
    last = [x for x in round_.items if isinstance(x, (Inner, Between)) or (isinstance(x, Pull) and not opened(x))]
    if not captures or last:
        most = tuning.count("loop.pulled_entries")
        short = (
            captures
            and not inside
            and all(
                isinstance(x, Pull)
                and not isinstance(x.product, MultivectorProduct)
                and (x.product.matrix.nvals <= most or by_sums(x))
                for x in last
            )
        )
        return BUFFERS if rotates else tuning.count("loop.rounds_pulled") if short else 1
    if inside and all(isinstance(item, FusedElementwise) for item in round_.items):
        return BUFFERS
    copies = min(tuning.count("loop.rounds") // max(1, len(round_.items) // 2), limit + BUFFERS - 1)
    return copies // BUFFERS * BUFFERS or BUFFERS


def first_launches(build: Build) -> list[Launch]:
    """The launches before the first round: the worklists of the first frontiers, the count of the condition."""
    condition, known = build.condition, build.round.entering

    def state(x: Vec) -> int:
        found = build.first[x] + 1 if x in build.first else build.remaining
        assert found is not None
        return found

    launches: list[Launch] = [compaction(build, x, product, state(x)) for x, product in known.items()]
    if isinstance(condition, Vec) and condition not in known:
        launches.append(compaction(build, condition, None, build.condition_at(0)[0]))
    elif isinstance(condition, Vec) and build.remaining is not None and condition in build.first:
        launches.append(compaction(build, condition, None, build.remaining))
    return launches


def initial_numbers(build: Build, limit: int) -> Array:
    """The initial states and rounds of a run."""
    numbers = np.zeros(len(build.numbers), np.uint64)
    # DENSE marks frontiers all of whose cells must be cleared, because worklists contain only entries.
    numbers[[(build.first[x] + 1) * STATE + DENSE for x in build.cells]] = 1
    numbers[len(numbers) - ROUNDS + 1] = limit
    return build.device.asarray(numbers)


class NestedLoopLaunch(NestedLaunch):
    """The launches of a nested loop inside a round."""

    def __init__(self, build: Build, item: Inner, head: tuple[Argument, ...]) -> None:
        """head: of a launch of the enclosing round."""
        self.text = item.text
        self.build, self.head, self.first = build, head, initial_numbers(build, item.limit)
        self.rotating = {x: count for x, count in build.advances_of.items() if count}
        self._entering = first_launches(build)
        if not isinstance(build.condition, Vec):
            self._entering.append(build.elementwise(recount(build.condition), -1, once=True))
        self.leave = [launch for x in self.rotating for launch in self._copies_back(x)]

    @property
    def lines(self) -> list[Line]:
        """The lines of `explain`."""
        times = "" if self.build.copies == 1 else f"{self.build.copies} rounds per run"
        return [Line("block", (self.text,), times), *(x._replace(kind=f"  {x.kind}") for x in self.build.lines)]

    def enter(self, handle: int) -> list[Launch]:
        return [self._reset, *self._entering, self._decide(handle)]

    def body(self, handle: int) -> list[Launch]:
        return [*self.build.launches, *finish(self.build, handle)]

    def _reset(self) -> None:
        build = self.build
        build.numbers[...] = self.first
        for x in self.rotating:
            for bits in build.buffers[x].bits[1:]:
                bits.fill(0)
        for x, first in build.cells.items():
            for cells in build.buffers[x].values[1:]:
                cells.fill(first)

    def _decide(self, handle: int) -> Launch:
        build = self.build
        condition = build.number(*build.condition_at(0))
        around = condition, *self.head, build.ends.before
        args = np.int64(1), *around, np.uint64(handle), build.going, *build.report_arguments, np.int64(0)
        return build.launcher(Variant("loop/gpu/enter"), 1, args)

    def _copies_back(self, x: Vec) -> list[Launch]:
        """Copy a vector from the buffer in which the last round left it to the first one."""
        build, launches = self.build, list[Launch]()
        steps = np.int64(self.rotating[x])
        for arrays in (build.buffers[x].bits, build.buffers[x].values):
            if arrays:
                words = [a.view(np.uint32) for a in arrays]
                n = np.int64(len(words[0]))
                variant = Variant("loop/gpu/unrotate", (), (("LANES", 1),))
                launches.append(build.launcher(variant, build.grid(int(n)), (n, n, build.rounds, steps, *words)))
        return launches


# ---- loops ----------------------------------------------------------------------------------------------------------

# For each GPU, the stream on which a program was last launched, and the event at its end.
LATEST: dict[int, tuple[int, Any]] = {}


class Parts(NamedTuple):
    """The launches before the loop, of one run of its body, and after it."""

    begin: Sequence[Launch]
    body: Sequence[Launch]
    end: Sequence[Launch]


def warm(launches: Sequence[Launch]) -> None:
    """Run every launch once. No run has begun: frontiers may contain what another program has left, which fits into
    worklists once (a body that also occurs before its loop would list it twice)."""
    for launch in {id(launch): launch for launch in launches}.values():
        if isinstance(launch, NestedLaunch):
            warm([*launch.enter(0), *launch.body(0), *launch.leave])
        else:
            launch()


class HostLoop:
    """Runs the body launch by launch."""

    def __init__(self, build: Build, parts: Parts) -> None:
        self.device, self.parts, self.going = build.device, parts, build.going
        self.start, self.finish = start(build, 0), finish(build, 0)

    def run(self, reported: HostWords, meanwhile: Callable[[int], None]) -> None:
        for launch in (*self.parts.begin, *self.start):
            launch()
        goes_on = bool(self.parts.body) and (not self.start or self.device.to_host(self.going)[0])
        while goes_on:
            for launch in (*self.parts.body, *self.finish):
                launch()
            goes_on = self.device.to_host(self.going)[0]
        for launch in self.parts.end:
            launch()
        meanwhile(self.device.stream)
        self.device.synchronize()  # the host reads reported values in its own memory


class GraphLoop:
    """Captures the body once into a while node; `run` is one launch."""

    def __init__(self, build: Build, parts: Parts) -> None:
        device, group = build.device, build.group
        self.cp, self.all_rounds = device.xp, build.all_rounds
        self.group = group  # the ranks that run the same loop: while waiting, their liveness is checked
        gpu = cubins.cuda_core().Device(self.cp.cuda.Device().id)
        gpu.set_current()
        # Modules are loaded at their first launch, which is not allowed during a capture.
        warm((*parts.begin, *parts.body, *start(build, 0), *finish(build, 0), *parts.end))
        if group is not None:
            group.settle()
        device.synchronize()
        builder = gpu.create_graph_builder().begin_building(mode="relaxed")
        condition, handle = None, 0
        try:
            if parts.body:
                condition = builder.create_condition(default_value=1)
                handle = int(condition.handle)
        except (RuntimeError, AttributeError) as error:
            raise DeviceError(f"loop: while nodes need a driver for CUDA 12.3 or newer ({error})") from error
        # The graph reads the arrays of these launches; some have no other owner (row lengths of coded formats).
        self.captured = Parts(
            [*parts.begin, *start(build, handle)], [*parts.body, *finish(build, handle)], [*parts.end]
        )
        try:
            self._capture(builder, self.captured.begin)
            if condition is not None:
                self._while(builder, condition, self.captured.body)
            self._capture(builder, self.captured.end)
            self.graph = builder.end_building().complete()
        except RuntimeError as error:
            if group is None:
                raise
            raise DeviceError(
                f"loop: exchanges between ranks cannot be captured in a while node here ({error}); NCCL needs GPUs "
                "that can access each other's memory. Hint: set group.captures = False on all ranks to run statements"
            ) from error
        self.gpu = gpu
        self.aside = self.cp.cuda.Stream(non_blocking=True)
        self.streams: dict[int, Any] = {}
        self.done = self.cp.cuda.Event(disable_timing=True)

    def _capture(self, builder: Any, launches: Sequence[Launch]) -> None:
        before: Launch | None = None
        for launch in launches:
            follows, before = isinstance(before, KernelLaunch), launch
            if isinstance(launch, NestedLaunch):
                condition = builder.create_condition()
                handle = int(condition.handle)
                self._capture(builder, launch.enter(handle))
                self._while(builder, condition, launch.body(handle))
                self._capture(builder, launch.leave)
            else:
                with self.cp.cuda.Stream.from_external(builder):
                    launch.early() if follows and isinstance(launch, KernelLaunch) else launch()

    def _while(self, builder: Any, condition: Any, launches: Sequence[Launch]) -> None:
        loop = builder.while_loop(condition).begin_building()
        self._capture(loop, launches)
        loop.end_building()

    def run(self, reported: HostWords, meanwhile: Callable[[int], None]) -> None:
        """Launch the graph on the current stream, and wait until the rounds have ended: results are copied while the
        host continues. reported: words that the device writes at the end. meanwhile: called with the stream before the
        host waits."""
        current = self.cp.cuda.get_current_stream()
        if current.ptr not in self.streams:
            self.streams[current.ptr] = self.gpu.create_stream(current)
        stream, done = LATEST.get(self.gpu.device_id, (current.ptr, self.done))
        if stream != current.ptr:  # programs share memory
            current.wait_event(done)
        words, last = reported.words, reported.count - 1
        words[last] = 0
        try:
            self.graph.launch(self.streams[current.ptr])
            self.done.record(current)
            LATEST[self.gpu.device_id] = current.ptr, self.done
            meanwhile(current.ptr)
            begin = time.perf_counter()
            if self.group is not None:
                self.group.await_event(self.done)
                return
            polls, spin = tuning.count("loop.polls"), tuning.value("loop.spin_seconds")
            while not any(words[last] for _ in range(polls)) and not self.done.done:
                if time.perf_counter() - begin > spin:
                    time.sleep(tuning.value("loop.sleep_seconds"))
        except KeyboardInterrupt:
            for rounds in self.all_rounds:  # the outermost loop first: a nested loop that begins now checks it
                self._request_stop(rounds, 1, 1)
            current.synchronize()
            self.aside.synchronize()  # a request that came late must not end the next run
            raise
        except DistributedError:
            # Calls of a broken group end at once, but the rounds that contain them do not
            self._request_stop(self.all_rounds[0], 0xFF, 8)
            raise

    def _request_stop(self, rounds: Array, byte: int, count: int) -> None:
        """Set bytes of the request to stop. By a memset: a kernel might have to be loaded first, which waits for
        running kernels."""
        self.cp.cuda.runtime.memsetAsync(address(rounds) + 8 * STOP, byte, count, self.aside.ptr)
