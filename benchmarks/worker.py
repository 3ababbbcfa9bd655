"""A process with one library: reads pickled commands from standard input and writes replies to standard output.

Two OpenMP runtimes in one process disturb each other. Here each library has its own process, and only one works at a
time.
"""

from __future__ import annotations

import glob
import importlib.metadata
import os
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .graphs import Graph
from .verbs import VERBS, Turns, answer_of, difference

OURS, PEER = "bitblas", "SuiteSparse"
WARM = 0.005  # seconds of untimed runs before a timed one, which wake threads and warm caches, as in a loop


def queued() -> float:
    """Seconds that the threads of this process have waited for a core, as the kernel counts them."""
    total = 0
    for path in glob.glob("/proc/self/task/*/schedstat"):
        try:
            with open(path) as f:
                total += int(f.read().split()[1])
        except (OSError, IndexError, ValueError):
            continue
    return total / 1e9


class Worker:
    def __init__(self, side: str, threads: int) -> None:
        self.side = side
        if side == OURS:
            import bitblas

            gb: Any = bitblas
            gb.config.set(device="cpu")
        else:
            import graphblas

            gb = graphblas

            gb.ss.config["nthreads"] = threads
        self.gb = gb
        self.graph: Graph | None = None
        self.expected: Any = {}
        self.matrices: dict[str, Any] = {}
        self.calls: dict[str, Any] = {}
        self.last: dict[str, float] = {}  # seconds of the previous run

    def versions(self) -> dict[str, str]:
        names = ("numba", "llvmlite") if self.side == OURS else ("python-graphblas", "suitesparse-graphblas")
        return {name: importlib.metadata.version(name) for name in names}

    def load(self, path: str) -> None:
        """The graph and the expected answers, from the parent's file."""
        with np.load(path) as data:
            self.graph = Graph("", data["ptr"], data["col"])
            self.expected = {
                verb: (data[f"{verb}_places"], data[f"{verb}_values"]) for verb in VERBS if f"{verb}_values" in data
            }
        self.matrices, self.calls, self.last = {}, {}, {}

    def _new(self, form: str) -> Any:
        graph = self.graph
        assert graph is not None
        values = True if form == "pattern" else graph.weights
        return self._finish(self.gb.Matrix.from_coo(graph.rows, graph.col, values, nrows=graph.n, ncols=graph.n))

    def _finish(self, result: Any) -> Any:
        if hasattr(result, "wait"):
            result.wait()
        return result

    def build(self, form: str) -> float:
        """Seconds to build the matrix from sorted coordinates."""
        self.matrices.pop(form, None)
        start = time.perf_counter()
        self.matrices[form] = self._new(form)
        return time.perf_counter() - start

    def nbytes(self, form: str) -> int:
        A = self.matrices[form]
        return int(A.memory().total if self.side == OURS else A.ss.nbytes)

    def plan(self, verb: str) -> str:
        """The plan of bitblas; for an algorithm, the format of its matrix."""
        A, explain = self.matrices[VERBS[verb].form], VERBS[verb].explain
        if self.side != OURS:
            return ""
        if explain is None:
            return "on " + next(iter(A.memory().forms))
        assert self.graph is not None
        return str(self.gb.explain(explain(self.gb, A, self.graph)))

    def run(self, verb: str) -> tuple[float, float, float, float]:
        """Seconds of one run, CPU seconds of it, the share of the time that threads were queued, and the
        difference from the reference."""
        if verb not in self.calls:
            form = VERBS[verb].form
            if form not in self.matrices:
                self.build(form)
            assert self.graph is not None
            self.calls[verb] = VERBS[verb].prepare(self.gb, self.matrices[form], self.graph)
            if self.side == OURS:  # kernels that a package contains compiled
                with self.gb.loop.at_once():
                    self._finish(self.calls[verb]())
        call = self.calls[verb]
        waited, begin = queued(), time.perf_counter()
        if self.last.get(verb, 1.0) < 10 * WARM:
            while time.perf_counter() - begin < WARM:
                self._finish((call.other if isinstance(call, Turns) else call)())
        start, cpu = time.perf_counter(), time.process_time()
        result = self._finish(call())
        stop, cpu = time.perf_counter(), time.process_time() - cpu
        waited = queued() - waited
        self.last[verb] = stop - start
        apart = difference(answer_of(result), self.expected[verb])
        return stop - start, cpu, waited / (stop - begin), apart

    def cpu(self) -> float:
        """CPU seconds that this process has used."""
        return time.process_time()


def serve(start: Callable[[str, int], Any]) -> None:
    """Call the methods of start(side, threads) that the parent names, until it closes the pipe."""
    # Output of a library must not mix with the replies.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = start(sys.argv[1], int(sys.argv[2]))
    pickle.dump(None, out)
    out.flush()
    while True:
        try:
            name, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            reply: Any = (True, getattr(worker, name)(*args))
        except Exception as error:
            reply = (False, f"{worker.side}.{name}{args}: {type(error).__name__}: {error}")
        pickle.dump(reply, out)
        out.flush()


if __name__ == "__main__":
    serve(Worker)
