"""Progress lines of running commands, and run times: how much of them compiled kernels."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from .. import status, tuning
from ..algorithms import Watch
from ..device import jit

# ---- Measure the run time of a command and how much of it compiled kernels.


class Timer:
    """`with Timer() as timer:` sets `timer.seconds` and `timer.compiling` at the end of the block."""

    def __init__(self) -> None:
        self.seconds = self.compiling = 0.0

    def __enter__(self) -> Timer:
        self._begin, self._compiled = time.perf_counter(), jit.compile_seconds
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.seconds = time.perf_counter() - self._begin
        self.compiling = jit.compile_seconds - self._compiled

    def __str__(self) -> str:
        part = f", of which {self.compiling:.3f} s compiling kernels" if self.compiling >= 0.0005 else ""
        return f"{self.seconds:.3f} s{part}"


# ---- A progress line on the terminal while a command runs: rounds and seconds.


class Ticker:
    """`with Ticker(name, watch):` shows the progress that `watch` records on stderr, if that is a terminal."""

    def __init__(self, name: str, watch: Watch | None = None) -> None:
        self.name, self.watch = name, watch
        self.begin = time.monotonic()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True) if sys.stderr.isatty() else None

    def __enter__(self) -> None:
        if self.thread is not None:
            self.thread.start()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.done.set()
        if self.thread is not None:
            self.thread.join()
            status.clear(self)

    def _run(self) -> None:
        pause = tuning.value("progress.delay")
        while not self.done.wait(pause):
            pause = tuning.value("progress.command_interval")
            status.show(self, self.line())

    def line(self) -> str:
        seconds = f"{time.monotonic() - self.begin:.0f} s"
        if self.watch is None or self.watch.rounds is None:
            return f"{self.name}: {seconds}"
        total = "" if self.watch.total is None else f" of {self.watch.total}"
        return f"{self.name}: round {self.watch.rounds}{total}, {seconds}"
