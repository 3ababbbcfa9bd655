"""Run the launches of a body until its condition fails: as a CUDA graph with a while node, or launch by launch.

cuda.core creates the graph; CuPy makes the launches on the capturing stream. On a device without conditional nodes (the
tests' emulator) the host makes the same launches and reads the condition after each run of the body.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import tuning
from ...device import Device, jit
from ...exceptions import DeviceError, DistributedError
from ...kernels.variant import Variant
from ..buffers import Argument, Launch
from .control_flow import NestedLaunch
from .exchange import STOP
from .transfer import HostWords, address

if TYPE_CHECKING:
    from ...device.cuda import Cuda
    from ...distributed.group import Group
    from ...typing import Array

# ---- A kernel launch with bound arguments, the element that a program's graph consists of.


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


# ---- Run the launches of a body until its condition fails: as a CUDA graph with a while node, or launch by launch.

# For each GPU, the stream on which a program was last launched, and the event at its end.
LATEST: dict[int, tuple[int, Any]] = {}

# Launches that set a condition, given by its handle: whether the body runs (again).
Ask = Callable[[int], list[Launch]]


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

    def __init__(
        self, device: Device, parts: Parts, start: Ask, finish: Ask, going: Array, group: Group | None, rounds: Array
    ) -> None:
        self.device, self.parts, self.start, self.finish, self.going = device, parts, start(0), finish(0), going

    def run(self, stop: Callable[[], None], reported: HostWords, meanwhile: Callable[[int], None]) -> None:
        for launch in (*self.parts.begin, *self.start):
            launch()
        goes_on = not self.start or self._goes_on()
        while goes_on:
            for launch in (*self.parts.body, *self.finish):
                launch()
            goes_on = self._goes_on()
        for launch in self.parts.end:
            launch()
        meanwhile(self.device.stream)
        self.device.synchronize()  # the host reads reported values in its own memory

    def _goes_on(self) -> bool:
        return bool(self.device.to_host(self.going)[0])


class GraphLoop:
    """Captures the body once into a while node; `run` is one launch."""

    def __init__(
        self, device: Device, parts: Parts, start: Ask, finish: Ask, going: Array, group: Group | None, rounds: Array
    ) -> None:
        from cuda.core import Device as Gpu

        self.cp = device.xp
        self.group = group  # the ranks that run the same loop: while waiting, their liveness is checked
        gpu = Gpu(self.cp.cuda.Device().id)
        gpu.set_current()
        # Modules are loaded at their first launch, which is not allowed during a capture.
        warm((*parts.begin, *parts.body, *start(0), *finish(0), *parts.end))
        if group is not None:
            group.settle()
        device.synchronize()
        builder = gpu.create_graph_builder().begin_building(mode="relaxed")
        try:
            condition = builder.create_condition(default_value=1)
        except (RuntimeError, AttributeError) as error:
            raise DeviceError(f"loop: while nodes need a driver for CUDA 12.3 or newer ({error})") from error
        handle = int(condition.handle)
        first, last = start(handle), finish(handle)
        try:
            self._capture(builder, [*parts.begin, *first])
            self._while(builder, condition, [*parts.body, *last])
            self._capture(builder, parts.end)
            self.graph = builder.end_building().complete()
        except RuntimeError as error:
            if group is None:
                raise
            raise DeviceError(
                f"loop: exchanges between ranks cannot be captured in a while node here ({error}); NCCL needs GPUs "
                "that can access each other's memory. Hint: set group.captures = False on all ranks to run statements"
            ) from error
        self.gpu, self.rounds = gpu, rounds
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

    def run(self, stop: Callable[[], None], reported: HostWords, meanwhile: Callable[[int], None]) -> None:
        """Launch the graph on the current stream, and wait until the rounds have ended: results are copied while the
        host continues. stop: requests the end of the loop, on another stream. reported: words that the device writes at
        the end. meanwhile: called with the stream before the host waits."""
        current = self.cp.cuda.get_current_stream()
        if current.ptr not in self.streams:
            self.streams[current.ptr] = self.gpu.create_stream(current)
        stream, done = LATEST.get(self.gpu.device_id, (current.ptr, self.done))
        if stream != current.ptr:  # programs share memory
            current.wait_event(done)
        words, last = reported.words, reported.count - 1
        words[last] = 0
        self.graph.launch(self.streams[current.ptr])
        self.done.record(current)
        LATEST[self.gpu.device_id] = current.ptr, self.done
        meanwhile(current.ptr)
        begin = time.perf_counter()
        try:
            if self.group is not None:
                self.group.await_event(self.done)
                return
            polls, spin = tuning.count("loop.polls"), tuning.value("loop.spin_seconds")
            while not any(words[last] for _ in range(polls)) and not self.done.done:
                if time.perf_counter() - begin > spin:
                    time.sleep(tuning.value("loop.sleep_seconds"))
        except KeyboardInterrupt:
            stop()
            self.done.synchronize()
            raise
        except DistributedError:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Calls of a broken group end at once, but the rounds that contain them do not. Stop them by a memset: a kernel
        might have to be loaded first, which waits for running kernels."""
        runtime = self.cp.cuda.runtime
        runtime.memsetAsync(address(self.rounds) + 8 * STOP, 0xFF, 8, self.aside.ptr)
