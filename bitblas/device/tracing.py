"""Trace kernels: `with gb.trace() as t:` lists the kernels that ran inside, with variant, plan, bytes and time.

If tracing is off, it costs one attribute lookup per kernel. Array operations of NumPy and CuPy (sorts, prefix sums,
copies) are not kernels of bitblas; the last line of the table reports how much of the time was outside of kernels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..display import html, shortened

if TYPE_CHECKING:
    from ..kernels.variant import Variant
    from .base import Device, Mark

HEADS = ("us", "units", "bytes", "kernel")
SUMMARY = ("us", "share", "runs", "kernel")
SHOWN = 100  # maximum rows of a table in a notebook

active: Trace | None = None  # the trace that records kernels; None if tracing is off
watchers: list[Callable[[bool], None]] = []  # called when a trace begins (True) and ends (False)


@dataclass
class Run:
    """One kernel that ran, or one loop that the GPU ran by itself (kernel "loop"). text: the variant. units: units of
    work (rows, tiles, words), as the kernel counts them, or the launches of a loop. nbytes: total size of its array
    arguments, of which it may read only a part; or bytes sent by this rank in a collective call ("allgather",
    "alltoall"). us: microseconds, by events on a GPU; None while a graph is captured. plan: the statement, as it is
    explained. start: microseconds since the first kernel on its device began."""

    device: str
    kernel: str
    text: str
    plan: str
    units: int
    nbytes: int
    us: float | None = None
    start: float | None = None


class Trace:
    """The kernels that ran, in order.

    Prints as two tables: the total of each kernel, the slowest first, and every run under the plan of its statement.
    Traces cannot be nested: ValueError.
    """

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.us = 0.0  # duration of the whole block, on the host's clock
        self.plan: object = None
        self._marks: list[tuple[Device, Mark, Mark]] = []
        self._start = 0.0

    def __enter__(self) -> Trace:
        global active
        if active is not None:
            raise ValueError("trace: expected no enclosing trace, got one")
        self._start, active = time.perf_counter(), self
        for watcher in watchers:
            watcher(True)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        global active
        active = None
        for watcher in watchers:
            watcher(False)
        if error is None:
            first: dict[str, Mark] = {}
            for run, (device, begin, end) in zip(self.runs, self._marks):
                if begin is not None:
                    run.us = device.elapsed(begin, end)
                    run.start = device.elapsed(first.setdefault(run.device, begin), begin)
        self._marks.clear()
        self.us = 1e6 * (time.perf_counter() - self._start)

    def note(self, device: Device, variant: Variant, run: Callable[..., None], n: int, *args: Any, **how: Any) -> None:
        """Run a kernel and measure it."""
        arrays = {id(a): a.nbytes for a in args if hasattr(a, "shape") and a.shape}
        self._run(device, lambda: run(n, *args, **how), variant.kernel, str(variant), n, sum(arrays.values()))

    def note_loop(self, device: Device, launches: int, run: Callable[[], None]) -> None:
        """Run a whole loop and measure it."""
        self._run(device, run, "loop", f"loop of {launches} kernels without the host", launches, 0)

    def note_call(self, device: Device, call: str, nbytes: int, plan: str, run: Callable[[], None]) -> None:
        """Run a collective call and measure it. nbytes: bytes that this rank sends; plan: the statement."""
        with self.of(plan):
            self._run(device, run, call, f"{call}: {nbytes} bytes sent", 0, nbytes)

    def _run(self, device: Device, run: Callable[[], None], kernel: str, text: str, units: int, nbytes: int) -> None:
        global active
        active = None
        try:
            begin = device.mark()
            run()
            end = None if begin is None else device.mark()
        finally:
            active = self
        plan = "" if self.plan is None else str(self.plan)
        self.runs.append(Run(device.name, kernel, text, plan, units, nbytes))
        self._marks.append((device, begin, end))

    @contextmanager
    def of(self, plan: object) -> Iterator[None]:
        """Assign the kernels inside to this plan."""
        before, self.plan = self.plan, plan
        try:
            yield
        finally:
            self.plan = before

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, k: int) -> Run:
        return self.runs[k]

    def __str__(self) -> str:
        lines = [_line(row) for row in (SUMMARY, *self.summary(), (), HEADS, *self._rows())] if self.runs else []
        return "\n".join([*lines, self._closing()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        tables = ([SUMMARY, *self.summary()], [HEADS, *shortened(self._rows(), SHOWN)]) if self.runs else ()
        return html(*tables, self._closing())

    def summary(self) -> list[tuple[str, str, str, str]]:
        """A row for each kernel, the slowest first: microseconds of all its runs, their share, their number, its
        name."""
        found: dict[str, list[float]] = {}
        for run in self.runs:
            found.setdefault(run.kernel, []).append(run.us or 0.0)
        total = sum(map(sum, found.values())) or 1.0
        rows = sorted(found.items(), key=lambda item: -sum(item[1]))
        return [(f"{sum(us):.1f}", f"{100 * sum(us) / total:.0f} %", str(len(us)), name) for name, us in rows]

    def _rows(self) -> list[tuple[str, ...]]:
        """One row per kernel, and a row of a single cell wherever a new plan begins."""
        rows: list[tuple[str, ...]] = []
        plan = None
        for run in self.runs:
            if run.plan != plan:
                plan = run.plan
                rows.append((plan or "(outside of a statement)",))
            us = "-" if run.us is None else f"{run.us:.1f}"
            rows.append((us, str(run.units), str(run.nbytes), run.text))
        return rows

    def _closing(self) -> str:
        inside = sum(run.us or 0.0 for run in self.runs)
        where = ", ".join(dict.fromkeys(run.device for run in self.runs)) or "no device"
        return f"{inside:9.1f} us in {len(self.runs)} kernels on {where}, of {self.us:.1f} us in total"


def _line(row: tuple[str, ...]) -> str:
    """A row of a table as text."""
    return f"{row[0]:>9s} {row[1]:>10s} {row[2]:>12s}  {row[3]}" if len(row) == 4 else "".join(row)
