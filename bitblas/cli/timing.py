"""Measure the run time of a command and how much of it compiled kernels."""

from __future__ import annotations

import time
from types import TracebackType

from ..device import jit


class Timer:
    """`with Timer() as taken:` sets `taken.seconds` and `taken.compiling` at the end of the block."""

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
