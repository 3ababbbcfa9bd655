"""Kernel time on a GPU: a CUDA graph of 20 repetitions, divided by 20, so that launches cost nothing.

With a flush, a kernel that reads a buffer of four times the L2 cache runs before each repetition, and the time of a
graph of the flushes alone is subtracted. Reading leaves no dirty lines that the next kernel would write back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

REPETITIONS = 20

_FLUSH = r"""
extern "C" __global__ void flush(const float4* data, long long n, float* sink) {
  float sum = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) sum += data[i].x;
  if (sum == 1.2345e-30f) *sink = sum;
}
"""


class Timer:
    """Times callables that launch work on the current stream; the median of `samples` launches of a captured graph."""

    def __init__(self, samples: int = 11) -> None:
        import cupy

        self.cp, self.samples = cupy, samples
        self.stream = cupy.cuda.Stream(non_blocking=True)
        size = 4 * cupy.cuda.Device().attributes["L2CacheSize"]
        self.buffer = cupy.zeros(size // 4, cupy.float32)
        self.sink = cupy.zeros(1, cupy.float32)
        self.kernel = cupy.RawKernel(_FLUSH, "flush")
        self.flush_us = self._median([self._flush])

    def _flush(self) -> None:
        self.kernel((1024,), (256,), (self.buffer, np.int64(self.buffer.size // 4), self.sink))

    def _median(self, steps: list[Callable[[], Any]]) -> float:
        """Microseconds of one round of the steps."""
        cp, stream = self.cp, self.stream
        with stream:
            for _ in range(2):
                for step in steps:
                    step()
            stream.synchronize()
            stream.begin_capture(cp.cuda.runtime.streamCaptureModeRelaxed)
            for _ in range(REPETITIONS):
                for step in steps:
                    step()
            graph = stream.end_capture()
            graph.launch(stream)
            stream.synchronize()
            times = []
            for _ in range(self.samples):
                begin, end = cp.cuda.Event(), cp.cuda.Event()
                begin.record(stream)
                graph.launch(stream)
                end.record(stream)
                end.synchronize()
                times.append(cp.cuda.get_elapsed_time(begin, end) * 1e3 / REPETITIONS)
        return float(np.median(times))

    def warm(self, run: Callable[[], Any]) -> float:
        """Microseconds with the caches as the previous repetition left them."""
        return self._median([run])

    def flushed(self, run: Callable[[], Any]) -> float:
        """Microseconds with the L2 cache full of other data."""
        return self._median([self._flush, run]) - self.flush_us
