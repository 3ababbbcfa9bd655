"""python -m benchmarks.choices: whether the planner chooses the fastest format.

Times Boolean mxv, plus_second and min_plus in FP32, and a breadth-first search from a vertex of largest degree, on each
graph in every format that needs at most twice the bytes of CSR. On a GPU a product's time is that of its kernels, in a
captured graph (cuda_timing.py); a search, and everything on the CPU, is timed by wall clock. Every answer is compared
with SciPy's. judge.py compares the planner's choice with the times.

Graphs are named as in graphs.py; files of a folder are read unchanged, rectangular ones without the search. --refit
FILES measures nothing: it fits the planner's constants to the samples of earlier runs (--json) and of `bitblas
calibrate --json`, and reports how well they choose.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bitblas import calibrate
from bitblas.formats import CSR, Structure, format_of
from bitblas.plan.cost_model import BFS, BITS, NUMBERS, WEIGHTS, costs_of
from bitblas.plan.facts import facts
from bitblas.plan.format_choice import verbs_of
from bitblas.store import MatrixStore

from . import graphs, judge, table
from .verbs import VERBS, Answer, answer_of, difference

GRAPHS = {
    "cuda": ("delaunay_n20", "grid2d_2048", "stencil27_100", "delaunay_n20_random", "rmat20", "rmat20+degree",
             "mycielskian14", "even_n20", "hub_n20", "road_ny"),
    "cpu": ("delaunay_n17", "grid2d_512", "stencil27_40", "delaunay_n17_random", "rmat16", "rmat16+degree",
            "mycielskian12", "even_n17", "road_ny"),
}  # fmt: skip
MOST = 2.0  # bytes over those of CSR, above which a format is not measured
SAMPLE_US = 2000.0  # least duration of one sample of a median


@dataclass(frozen=True, eq=False)
class Case:
    """A pattern by rows, its weights, and SciPy's answer for each verb."""

    name: str
    ncols: int
    ptr: np.ndarray
    col: np.ndarray
    weights: np.ndarray
    source: int
    answers: dict[str, Answer]

    @property
    def nrows(self) -> int:
        return len(self.ptr) - 1


def prepare(name: str) -> Case:
    """The graph of that name or Matrix Market file, and the answers."""
    if name.endswith((".mtx", ".mtx.gz")):
        import bitblas
        from bitblas.io import mmread

        A = mmread(name, device="cpu", dup_op=bitblas.binary.any)
        rows, cols = (np.asarray(x).astype(np.int64) for x in A.to_coo()[:2])
        ptr = np.searchsorted(rows, np.arange(A.nrows + 1))
        graph, ncols = graphs.Graph(Path(name).name.partition(".mtx")[0], ptr, cols.astype(np.int32)), A.ncols
    else:
        graph = graphs.make(name)
        ncols = graph.n
    weights = ((graph.rows * 7 + graph.col) % 63 + 1).astype(np.float32)
    return Case(graph.name, ncols, graph.ptr, graph.col, weights, graph.source, answers(graph, ncols, weights))


def answers(graph: graphs.Graph, ncols: int, weights: np.ndarray) -> dict[str, Answer]:
    """The results of calibrate's statements."""
    from scipy.sparse import csr_array

    A = csr_array((np.ones(graph.nvals, np.float32), graph.col, graph.ptr), shape=(graph.n, ncols))
    some, x = np.zeros(ncols, np.float32), calibrate.numbers(ncols)
    some[calibrate.present(ncols)] = 1
    hit, rows = np.flatnonzero(A @ some > 0), np.flatnonzero(np.diff(graph.ptr))
    least = np.minimum.reduceat(weights + x[graph.col], graph.ptr[rows]) if len(rows) else weights[:0]
    found = {
        BITS: (hit, np.ones(len(hit), bool)),
        NUMBERS: (rows, (A.astype(np.float64) @ x.astype(np.float64))[rows].astype(np.float32)),
        WEIGHTS: (rows, least),
    }
    return found | ({BFS: VERBS["bfs"].reference(graph)} if graph.n == ncols else {})


def prepared(names: Sequence[str], jobs: int) -> Iterator[Case]:
    """The cases; `jobs` processes make all of them before the first is returned, so that no measurement is disturbed: a
    search is timed by wall clock."""
    if jobs == 0:
        return map(prepare, names)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        return iter(list(pool.map(prepare, names)))


# ---- times ----


def median_us(device: Any, run: Callable[[], Any], samples: int) -> float:
    """Microseconds of a synchronized call; CPU time on one thread of a CPU."""
    clock = time.process_time if device.host_memory and device.threads == 1 else time.perf_counter

    def several(times: int) -> float:
        device.synchronize()
        begin = clock()
        for _ in range(times):
            run()
        device.synchronize()
        return (clock() - begin) / times * 1e6

    once = several(1)
    times = max(1, min(200, int(SAMPLE_US / once)))
    return float(np.median([several(times) for _ in range(samples)]))


def measure(case: Case, device: Any, timer: Any, samples: int) -> dict[str, Any]:
    """Facts, and microseconds by "format verb"; `wrong`: those whose answer differs from SciPy's."""
    import bitblas as gb

    begin, us, wrong = time.perf_counter(), {}, []
    ptr, col = device.asarray(case.ptr), device.asarray(case.col)
    size = {"nrows": case.nrows, "ncols": case.ncols, "device": device.name, "format": CSR}
    for values in (True, device.asarray(case.weights)):
        A = gb.Matrix.from_csr(ptr, col, values, **size)
        held = A._store
        seen = facts(held.structure)
        verbs = verbs_of(values is True, case.nrows == case.ncols)
        timed = (key for key in seen.forms if format_of(key).cost.timed)
        for key in (key for key in timed if seen.bytes_of(key) <= MOST * seen.bytes_of(CSR)):
            rows = MatrixStore(Structure(held.structure.primary), held.dtype, held.values)  # caches nothing with A
            B = calibrate.in_form(gb.Matrix._from_store(rows), key)
            for verb in verbs:
                run = calibrate.statement(B, verb, case.source)
                places, found = (device.to_host(x) for x in answer_of(run()))
                if difference((places, found), case.answers[verb]) > 0:
                    wrong.append(f"{key} {verb}")
                calibrate.warm(run, verb)
                kernels = timer is not None and verb != BFS
                device.synchronize()  # the timer has a stream of its own
                us[f"{key} {verb}"] = timer.warm(run) if kernels else median_us(device, run, samples)
    levels = 1 + int(case.answers[BFS][1].max()) if BFS in case.answers else None
    sample = calibrate.Sample(case.name, seen, us)
    return {**sample.to_json(), "levels": levels, "wrong": wrong, "seconds": time.perf_counter() - begin}


HEADS = ("form", "bytes/edge", "may", "verb", "us", "predicted us", "ratio to the best")


def text(made: dict[str, Any], costs: Any, kind: str) -> str:
    """The table of one graph."""
    sample = calibrate.Sample.from_json(made)
    seen, plain = sample.facts, sample.facts.bytes_of(CSR)
    levels = f", {made['levels']} levels (estimated {seen.levels:.0f})" if made["levels"] else ""
    rows = []
    for name, us in sample.us.items():
        key, verb = name.split()
        best = min(x for other, x in sample.us.items() if other.endswith(verb))
        size, may = seen.bytes_of(key) / max(1, seen.nvals), "yes" if seen.bytes_of(key) <= plain else "no"
        rows.append((key, size, may, verb, us, costs.predict(seen, key, verb), us / best))
    head = f"\n{sample.name}: {seen.nrows} x {seen.ncols}, {seen.nvals} entries{levels}; {made['seconds']:.0f} s"
    wrong = f"\nWRONG ANSWERS: {', '.join(made['wrong'])}" if made["wrong"] else ""
    found = judge.pairs(sample, costs, kind)
    return f"{head}\n{table.table(HEADS, rows, left=1)}\n{table.table(judge.HEADS, found, left=3)}{wrong}"


def run(
    names: Sequence[str], on: str = "cpu", *, samples: int = 3, jobs: int = 0, limit: float = float("inf"),
    timer: Any = None, out: str | None = None, say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Measure and judge; tables are passed to `say`, everything is in the result, and after each graph in the file
    `out`. timer: for kernels (cuda_timing.py)."""
    from bitblas import device as devices

    device, cases = devices.get(on), prepared(names, jobs)
    begin = time.perf_counter()
    if timer is None and device.captures:
        from .cuda_timing import Timer

        timer = Timer(samples)
    costs, measured, found = costs_of(device), [], []
    result = table.surroundings(device=device.model, gpu=device.is_gpu, samples=measured, costs=costs.to_json())
    result["threads"] = device.threads if device.host_memory else 1
    result |= {"right": 1.0, "equal": True}
    for case in cases:
        made = measure(case, device, timer, samples)
        measured.append(made)
        found += judge.pairs(calibrate.Sample.from_json(made), costs, device.kind)
        say(text(made, costs, device.kind))
        result |= {"right": judge.share(found), "equal": not any(made["wrong"] for made in measured)}
        if out:
            table.write(out, result)
        if time.perf_counter() - begin > limit:
            say(f"\nno time for {len(names) - len(measured)} more graphs")
            break
    say(f"\n{costs.device}, {costs.source}\n{judge.summary(found)}")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.choices", description=__doc__.partition("\n")[0])
    p.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
    p.add_argument("--graphs", help="names (see graphs.py) or .mtx files, with commas")
    p.add_argument("--folder", type=Path, help="also the Matrix Market files of a folder")
    p.add_argument("--least", type=int, default=1 << 14, help="bytes that a file of the folder must have (16384)")
    p.add_argument("--samples", type=int, default=3, help="timed samples, of which the median counts (3)")
    p.add_argument("--jobs", type=int, default=min(8, (os.cpu_count() or 2) // 2), help="processes that make graphs")
    p.add_argument("--limit", type=float, default=float("inf"), help="seconds after which no graph is added")
    p.add_argument("--json", help="where the samples go, for --refit")
    p.add_argument("--refit", nargs="+", metavar="FILE", help="fit constants to these samples, and judge them")
    p.add_argument(
        "--costs", type=Path, metavar="FILE", help="with --refit: put them into this file, as data/costs.json"
    )
    args = p.parse_args(argv)
    try:
        if args.refit:
            costs, kind, said = judge.refit(args.refit)
            print(said)
            if args.costs:
                judge.ship(costs, kind, args.costs)
            return 0
        names = args.graphs.split(",") if args.graphs else [] if args.folder else list(GRAPHS[args.device[:4]])
        if args.folder:
            files = sorted([*args.folder.glob("*.mtx"), *args.folder.glob("*.mtx.gz")])
            names += [str(path) for path in files if path.stat().st_size >= args.least]
        result = run(names, args.device, samples=args.samples, jobs=args.jobs, limit=args.limit, out=args.json)
    except (ImportError, OSError, KeyError, ValueError) as error:
        print(f"benchmarks.choices: {error}", file=sys.stderr)
        return 2
    return 0 if result["equal"] else 1


if __name__ == "__main__":
    sys.exit(main())
