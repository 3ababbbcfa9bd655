"""Where the time of a loop goes: a second capture of it, with a mark of the device's clock after each launch.

The launches are those of the captured loop, in its conditional nodes, so that what ranks exchange, and what they wait
for each other, is seen as it is. A mark takes some two microseconds itself; where the host makes the
launches (the tests' emulator), its clock is looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from bitblas.loop.gpu import captured_program
from bitblas.loop.gpu.control_flow import NestedLaunch
from bitblas.loop.gpu.graph import GraphLoop, HostLoop, Parts

ACTIVE: list[Timed] = []  # the one that looks
ROOM = 1 << 16  # marks of a run
EACH = 12  # times of one launch that are printed one by one

STAMP = """
extern "C" __global__ void stamp(unsigned long long* marks, unsigned long long room, unsigned long long what) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  const unsigned long long k = marks[0];
  marks[0] = k + 1;
  if (k < room) marks[1 + 2 * k] = what, marks[2 + 2 * k] = now;
}
"""


class Timed:
    """micros: microseconds of each launch of the programs that ran, one after the other, by what it is; total: all of
    them; calls: those of calls between ranks, with the wait for others."""

    def __init__(self) -> None:
        self.micros: dict[str, list[float]] = {}
        self.total = self.calls = 0.0

    def add(self, what: str, micros: float) -> None:
        self.micros.setdefault(what, []).append(micros)
        self.total += micros
        self.calls += micros * ("bytes sent" in what or "call" in what)

    def table(self) -> str:
        """A line a launch."""
        rows = []
        for what, times in self.micros.items():
            each = " ".join(f"{t:.0f}" for t in times) if 1 < len(times) <= EACH else ""
            rows.append(f"{sum(times):9.1f} {len(times):3} {what[:110]}{' | ' * bool(each)}{each}")
        return "\n".join([*rows, f"{self.total:9.1f}     microseconds, {self.calls:.1f} in calls"])


class Marks:
    """The marks of one loop: numbers of what was launched, and when it was done."""

    def __init__(self, device: Any) -> None:
        self.device, self.texts, self.seen = device, [""], list[tuple[int, int]]()
        self.begin = self.mark(0)
        if device.captures:
            self.memory = device.xp.zeros(1 + 2 * ROOM, np.uint64)
            self.kernel = device.xp.RawKernel(STAMP, "stamp")

    def mark(self, number: int) -> Callable[[], None]:
        def launch() -> None:
            if self.device.captures:
                self.kernel((1,), (1,), (self.memory, np.uint64(ROOM), np.uint64(number)))
            else:
                self.seen.append((number, time.perf_counter_ns()))

        return launch

    def after(self, text: str) -> Callable[[], None]:
        """A launch that marks what stands before it as done."""
        self.texts.append(text)
        return self.mark(len(self.texts) - 1)

    def around(self, launches: Sequence[Callable[[], None]], texts: Sequence[str]) -> list[Callable[[], None]]:
        """The launches with marks between them."""
        found: list[Callable[[], None]] = []
        for launch, text in zip(launches, texts):
            if isinstance(launch, NestedLaunch):
                found.append(Seen(self, launch, text))
            else:
                found += [launch, self.after(text)]
        return found

    def parts_of(self, launches: Sequence[Callable[[], None]], text: str) -> list[Callable[[], None]]:
        return self.around(launches, [f"{text}, {k}" for k in range(len(launches))])

    def clear(self) -> None:
        self.seen.clear()
        if self.device.captures:
            self.memory[:1] = 0

    def told(self, found: Timed) -> None:
        """Adds what the last run took."""
        if self.device.captures:
            held = self.device.to_host(self.memory)
            count = min(int(held[0]), ROOM)
            self.seen = [tuple(map(int, pair)) for pair in held[1 : 1 + 2 * count].reshape(-1, 2)]
        for (_, before), (what, now) in zip(self.seen, self.seen[1:]):
            if what:
                found.add(self.texts[what], (now - before) / 1e3)


class Seen(NestedLaunch):
    """A loop inside a round, with marks."""

    def __init__(self, marks: Marks, loop: NestedLaunch, text: str) -> None:
        self.marks, self.loop, self.text = marks, loop, text
        self.leave = marks.parts_of(loop.leave, f"{text}: after")

    def enter(self, handle: int) -> list[Callable[[], None]]:
        return self.marks.parts_of(self.loop.enter(handle), f"{self.text}: before")

    def body(self, handle: int) -> list[Callable[[], None]]:
        return self.marks.parts_of(self.loop.body(handle), f"{self.text}: a round")

    def __call__(self) -> None:
        self.loop()
        self.marks.after(self.text)()


class Looked:
    """A captured loop, and a second one with marks for those who look."""

    def __init__(self, device: Any, parts: Parts, start: Any, finish: Any, going: Any, group: Any, rounds: Any) -> None:
        self.kind = GraphLoop if device.captures else HostLoop
        self.how = device, parts, start, finish, going, group, rounds
        self.loop, self.marked = self.kind(*self.how), None
        self.build = finish.args[0]

    def run(self, stop: Any, told: Any, meanwhile: Any) -> None:
        if not ACTIVE:
            return self.loop.run(stop, told, meanwhile)
        if self.marked is None:
            self.marks = Marks(self.how[0])
            self.marked = self._with_marks()
        self.marks.clear()
        self.marked.run(stop, told, meanwhile)
        self.marks.told(ACTIVE[-1])
        return None

    def _with_marks(self) -> Any:
        device, parts, start, finish, going, group, rounds = self.how
        build, marks = self.build, self.marks
        every = [f"{x.kind} {(*x.statements, '')[0]} | {x.variant}" for x in build.lines if x.kind[:1] != " "]
        once, last = every[: len(build.begin)], every[len(every) - len(build.end) :]
        few = every[len(once) : len(every) - len(last)]

        def named(launches: Sequence[Any], texts: list[str], part: str, skipped: int = 0) -> list[str]:
            inside = lambda k: 0 <= k - skipped < len(texts)
            return [texts[k - skipped] if inside(k) else f"{part} {k}" for k in range(len(launches))]

        small = 0 if build.outer else len(build.small.launches)
        body = named(parts.body, few * build.copies, "round, at the end: call", small)
        marked = Parts(
            [marks.begin, *marks.around(parts.begin, named(parts.begin, once, "begin: enter", 2))],
            marks.around(parts.body, body), marks.around(parts.end, named(parts.end, last, "end")),
        )  # fmt: skip
        again = lambda ask, text: lambda handle: marks.parts_of(ask(handle), text)
        return self.kind(device, marked, again(start, "start"), again(finish, "finish"), going, group, rounds)


@contextmanager
def looked_at() -> Iterator[None]:
    """Loops that are captured inside can be looked at by `timed`."""
    before = captured_program.GraphLoop, captured_program.HostLoop
    captured_program.GraphLoop = captured_program.HostLoop = Looked
    try:
        yield
    finally:
        captured_program.GraphLoop, captured_program.HostLoop = before


@contextmanager
def timed() -> Iterator[Timed]:
    """The launches of loops inside."""
    found = Timed()
    ACTIVE.append(found)
    try:
        yield found
    finally:
        ACTIVE.remove(found)
