"""python -m benchmarks.levels: where the time of a search on a GPU goes, level by level.

A captured search is launched with the limits 0, 1, 2, ..; differences of device times (events around the launch,
median) are the times of its levels as they run: launches hidden behind running kernels, small rounds in a cluster (c).
The time of a call is that of a synchronized call. Levels are checked by an equation over all edges (checks.py),
parents by levels.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from . import checks, graphs, table

GRAPHS = "crawl_n18,social_n18,rmat20,delaunay_n20,grid2d_2048"
SAMPLES = 7


class TimedGraph:
    """A CUDA graph with events around its launch."""

    def __init__(self, graph: Any, cp: Any) -> None:
        self.graph, self.begin, self.end, self.cp = graph, cp.cuda.Event(), cp.cuda.Event(), cp

    def launch(self, stream: Any) -> None:
        self.begin.record()
        self.graph.launch(stream)
        self.end.record()

    @property
    def us(self) -> float:
        self.end.synchronize()
        return float(self.cp.cuda.get_elapsed_time(self.begin, self.end)) * 1e3


@contextmanager
def last_loop() -> Iterator[list[Any]]:
    """The cached loop that the last algorithm inside has run."""
    from bitblas.algorithms import _loops

    found: list[Any] = []
    cached = _loops.cached_loop

    def noting(*args: Any) -> Any:
        found[:] = [cached(*args)]
        return found[0]

    with mock.patch.object(_loops, "cached_loop", noting):
        yield found


class Search:
    """A search that can be timed: `call` runs it."""

    def __init__(self, call: Callable[[], Any], device: Any) -> None:
        self.call, self.device = call, device
        with last_loop() as found:
            for _ in range(3):  # compiles, captures, and captures again with small rounds
                self.answer = call()
        self.program = found[0].program
        captured = self.program._captured
        self.timed = captured.loop.graph = TimedGraph(captured.loop.graph, device.xp)

    def times(self, samples: int = SAMPLES) -> tuple[float, float]:
        """Microseconds on the device and of a call."""
        inside, outside = [], []
        for _ in range(samples):
            self.device.synchronize()
            begin = time.perf_counter()
            self.call()
            self.device.synchronize()
            outside.append((time.perf_counter() - begin) * 1e6)
            inside.append(self.timed.us)
        return float(np.median(inside)), float(np.median(outside))

    def level_times(self, levels: int, samples: int = SAMPLES) -> list[tuple[float, bool]]:
        """Of each level the microseconds, and whether it ran in a cluster."""
        limit, found = self.program.limit, []
        try:
            for k in range(levels + 1):
                self.program.limit = k
                us, _ = self.times(samples)
                found.append((us, int(self.program._captured.build.outermost.get()[4])))
        finally:
            self.program.limit = limit
        return [(b[0] - a[0], b[1] > a[1]) for a, b in itertools.pairwise(found)]


def measure(names: Sequence[str], shown: int, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Times of levels and parents on each graph; levels one by one where there are at most `shown`."""
    import bitblas as gb
    from bitblas.algorithms import bfs_levels, bfs_parents

    device = gb.device.get("cuda")
    result = table.surroundings(device="cuda", rows=[])
    result["machine"]["gpu"] = device.model
    rows = []
    for name in names:
        graph = graphs.make(name)
        A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=graph.n, ncols=graph.n, device=device)
        source = int(np.random.default_rng(1).choice(np.flatnonzero(np.diff(graph.ptr))))
        row: dict[str, Any] = {"graph": graph.name, "entries": graph.nvals, "source": source, "format": A.ss.format}
        levels = Search(partial(bfs_levels, A, source), device)
        parents = Search(partial(bfs_parents, A, source), device)
        level = checks.dense(levels.answer, graph.n, -1, np.int64)
        parent = checks.dense(parents.answer, graph.n, -1, np.int64)
        right = checks.levels(graph, levels.answer, source) and checks.is_tree(graph, level, parent, source)
        degree = np.diff(graph.ptr)
        active = np.bincount(level[level >= 0])
        edges = np.bincount(level[level >= 0], degree[level >= 0]).astype(int)
        row |= {"right": bool(right), "levels": len(active)}
        row["levels_us"], row["levels_call_us"] = levels.times(3 * SAMPLES)
        row["parents_us"], row["parents_call_us"] = parents.times(3 * SAMPLES)
        rows.append((name, A.ss.format, "yes" if right else "NO", len(active), row["levels_us"], row["levels_call_us"],
                     row["parents_us"], row["parents_call_us"]))  # fmt: skip
        if len(active) <= shown:
            each = zip(levels.level_times(len(active)), parents.level_times(len(active)))
            row["each"] = [
                {"entries": int(a), "edges": int(e), "us": x, "cluster": c, "parents_us": y, "parents_cluster": d}
                for a, e, ((x, c), (y, d)) in zip(active, edges, each)
            ]
            part = [
                f"{_short(x['entries'])}/{_short(x['edges'])}{'c' * x['cluster']} {x['us']:.0f}|{x['parents_us']:.0f}"
                for x in row["each"]
            ]
            say(f"{graph.name}: {', '.join(part)}")
        result["rows"].append(row)
    say(table.table(("graph", "format", "right", "levels", "device", "call", "parents", "call"), rows))
    result["equal"] = all(row["right"] for row in result["rows"])
    return result


def _short(x: int) -> str:
    return (
        str(x) if x < 1000 else f"{x / 1e3:.1f}k" if x < 10000 else f"{x // 1000}k" if x < 10**6 else f"{x / 1e6:.1f}M"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.levels", description=__doc__.splitlines()[0])
    p.add_argument("--graphs", default=GRAPHS, help="names (see graphs.py) or Matrix Market files, with commas")
    p.add_argument("--shown", type=int, default=40, help="times of single levels for searches of up to so many")
    p.add_argument("--json", help="where all times go")
    args = p.parse_args(argv)
    return table.ended("benchmarks.levels", lambda: measure(args.graphs.split(","), args.shown), args.json)


if __name__ == "__main__":
    sys.exit(main())
