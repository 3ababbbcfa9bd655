"""Where the time of a loop goes: its launches made one after the other by the host, with a mark on the device between
them. What a round exchanges is a launch too, so that the share of the time in calls between ranks is told.

As each launch waits for the one before, and the device for the host where that is late, these are not the times of the
captured loop: they say what bounds it.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from bitblas.loop.gpu import captured
from bitblas.loop.gpu.graph import GraphLoop, HostLoop

ACTIVE: list[Timed] = []  # the one that looks


class Timed:
    """micros: microseconds of each launch of the programs that ran, by its number and what it is; times: how often;
    total: all of them; calls: those of calls between ranks."""

    def __init__(self) -> None:
        self.micros: dict[str, float] = {}
        self.times: dict[str, int] = {}
        self.total = self.calls = 0.0

    def add(self, what: str, micros: float) -> None:
        self.micros[what] = self.micros.get(what, 0.0) + micros
        self.times[what] = self.times.get(what, 0) + 1
        self.total += micros
        self.calls += micros * ("bytes sent" in what or "ranks" in what)

    def table(self) -> str:
        """A line a launch."""
        rows = [f"{t:9.1f} {self.times[what]:3} {what[:100]}" for what, t in self.micros.items()]
        return "\n".join([*rows, f"{self.total:9.1f}     microseconds, {self.calls:.1f} in calls"])


class Looked(HostLoop):
    """A loop of the host that marks the device after each launch."""

    def __init__(self, device: Any, parts: Any, finish: Any, going: Any, group: Any, rounds: Any) -> None:
        super().__init__(device, parts, finish, going, group, rounds)
        self.graph = GraphLoop(device, parts, finish, going, group, rounds) if device.captures else None
        self.build = finish.__self__

    def run(self, stop: Any, told: Any) -> None:
        if not ACTIVE:
            return super().run(stop, told) if self.graph is None else self.graph.run(stop, told)
        lines, marks = self.build.lines, [("", self.device.mark())]
        named = {kind: [x for x in lines if (x.kind if x.kind in ("begin", "end") else "round") == kind]
                 for kind in ("begin", "round", "end")}  # fmt: skip

        def go(part: str, launches: Any) -> None:
            few = [x for x in named[part] if not x.kind.startswith("  ")]
            skipped = 2 if part == "begin" else len(self.build.small.launches) if part == "round" else 0
            for k, launch in enumerate(launches):
                at = (k - skipped) % max(1, len(few)) if part == "round" and k >= skipped else k - skipped
                line = few[at] if 0 <= at < len(few) and k - skipped < len(few) * self.build.copies else None
                launch()
                text = (
                    "of the loop"
                    if line is None
                    else f"{line.kind} {line.variant} | {line.statements[-1] if line.statements else ''}"
                )
                marks.append((f"{part} {k:2} {text}", self.device.mark()))

        go("begin", self.parts.begin)
        while True:
            go("round", self.parts.body)
            self.finish()
            marks.append(("round    finish", self.device.mark()))
            if not self.device.to_host(self.going)[0]:
                break
        go("end", self.parts.end)
        self.device.synchronize()
        for (_, before), (what, after) in pairwise(marks):
            ACTIVE[-1].add(what, self.device.elapsed(before, after))
        return None


@contextmanager
def looked_at() -> Any:
    """Loops that are captured inside can be looked at by `timed`."""
    before = captured.GraphLoop, captured.HostLoop
    captured.GraphLoop = captured.HostLoop = Looked
    try:
        yield
    finally:
        captured.GraphLoop, captured.HostLoop = before


@contextmanager
def timed() -> Any:
    """The launches of loops inside."""
    found = Timed()
    ACTIVE.append(found)
    try:
        yield found
    finally:
        ACTIVE.remove(found)
