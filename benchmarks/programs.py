"""python -m benchmarks.programs: whole algorithms on a GPU, from the stored graph to the answer.

    python -m benchmarks.programs --folder FOLDER --algorithms searches-table --libraries NetworKit,igraph,SciPy
    python -m benchmarks.programs --folder FOLDER --algorithms communities-table

A run is one synchronized call of `bitblas.algorithms`, state and result included; programs are captured and formats
built before. `bfs` and `parents` are the median over random sources, `searches` and `betweenness` use 64 sources at
once, the others start at a vertex of largest degree. `labels` is five rounds of label propagation; `strong_directed`
has each edge in one direction, given by a hash of its ends. Graphs are named (graphs.py), or files; `--folder` has
files of graphs by name, and the real graphs of FILES, which are measured too. Every answer is checked (checks.py);
of 64 searches on a large graph every eighth.

The table has the peers' times on the same graphs, from `stored/`, which has their figures, versions and dates.
`--libraries` also runs libraries on the CPU of the same machine, from the vertex of largest degree, with all threads
(libraries.py): their figures are next to ours on the page of results (`--json`).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

import bitblas as gb
from bitblas import algorithms as a
from bitblas.algorithms import Watch
from bitblas.compare import fixed

from . import checks, graphs, libraries, results, table
from .library_worker import LIBRARIES, ROUNDS, TOGETHER, threaded

GRAPHS = (
    "rmat20", "rmat22", "delaunay_n20", "grid2d_2048", "stencil27_100", "mycielskian14", "crawl_n18", "social_n18",
)  # fmt: skip
FILES = "USA-road-d.NW", "soc-Slashdot0902", "facebook_combined", "JohnsHopkins55"
SOURCES = 16
PAGERANK_ROUNDS = 20
TABLES = {
    "searches-table": ("bfs", "parents", "searches", "betweenness", "mis", "components", "sssp"),
    "communities-table": ("labels", "louvain", "leiden", "truss", "trusses", "cores", "strong", "strong_directed"),
}
# Libraries load graphs of up to MOST_READ entries, and run LONG algorithms on those of up to MOST_SEARCHED.
LONG = "searches", "betweenness", "louvain", "leiden"
MOST_READ, MOST_SEARCHED = 1 << 23, 1 << 21


def peers() -> dict[tuple[str, str], tuple[str, float]]:
    """{(algorithm, graph): (name, milliseconds)} of the fastest stored peer of a GPU."""
    found: dict[tuple[str, str], tuple[str, float]] = {}
    for run, graph, algorithm, ms in results.read():
        if run.device == "gpu" and run.who != results.OURS:
            known = found.setdefault((algorithm, graph), (run.who, ms))
            found[algorithm, graph] = min(known, (run.who, ms), key=lambda figure: figure[1])
    return found


class Operands:
    """A graph as matrices of bitblas, which are built when they are read."""

    def __init__(self, graph: graphs.Graph, **stored: Any) -> None:
        self.graph, self.stored = graph, stored
        self.sources, self.start = graph.sources(TOGETHER), graph.source

    def _matrix(self, graph: graphs.Graph, values: Any) -> gb.Matrix:
        return gb.Matrix.from_csr(graph.ptr, graph.col, values, nrows=graph.n, ncols=graph.n, **self.stored)

    @cached_property
    def A(self) -> gb.Matrix:
        return self._matrix(self.graph, True)

    @cached_property
    def W(self) -> gb.Matrix:
        return self._matrix(self.graph, self.graph.weights)

    @cached_property
    def D(self) -> gb.Matrix:
        return self._matrix(self.graph.directed, True)


SEARCHES: dict[str, Callable[[Operands, int], Any]] = {
    "bfs": lambda x, source: a.bfs_levels(x.A, source),
    "parents": lambda x, source: a.bfs_parents(x.A, source),
}
WHOLE: dict[str, Callable[[Operands], Any]] = {
    "sssp": lambda x: a.sssp(x.W, x.start),
    "pagerank": lambda x: fixed(a.pagerank, x.A, PAGERANK_ROUNDS, dtype="FP32"),
    "components": lambda x: a.connected_components(x.A),
    "triangles": lambda x: a.triangle_count(x.A),
    "mis": lambda x: a.maximal_independent_set(x.A),
    "coloring": lambda x: a.coloring(x.A),
    "forest": lambda x: a.minimum_spanning_forest(x.W),
    "searches": lambda x: a.levels_from_each(x.A, x.sources),
    "betweenness": lambda x: a.betweenness_centrality(x.A, x.sources),
    "labels": lambda x: a.label_propagation(x.A, max_iter=ROUNDS),
    "louvain": lambda x: a.louvain(x.A, seed=1),
    "leiden": lambda x: a.leiden(x.A, seed=1),
    "truss": lambda x: a.k_truss(x.A, 4),
    "trusses": lambda x: a.truss_numbers(x.A),
    "cores": lambda x: a.core_numbers(x.A),
    "strong": lambda x: a.strongly_connected_components(x.A),
    "strong_directed": lambda x: a.strongly_connected_components(x.D),
}
ALGORITHMS = *SEARCHES, *WHOLE


def calls_of(x: Operands) -> dict[str, list[Callable[[], Any]]]:
    """The calls of each algorithm."""
    found = {name: [partial(run, x, source) for source in x.sources[:SOURCES]] for name, run in SEARCHES.items()}
    return found | {name: [partial(run, x)] for name, run in WHOLE.items()}


def is_right(name: str, x: Operands, answer: Any) -> bool:
    graph, last = x.graph, x.sources[SOURCES - 1]
    whole = lambda answer: checks.dense(answer, graph.n, -1, np.int64)
    if name == "parents":
        return checks.is_tree(graph, whole(a.bfs_levels(x.A, last)), whole(answer), last)
    if name == "betweenness":
        return checks.betweenness(graph, answer, (whole(a.bfs_levels(x.A, s)) for s in x.sources))
    if name == "searches":
        some = range(0, TOGETHER, 1 if graph.nvals <= MOST_READ else 8)
        return all(checks.levels(graph, answer[k, :].new(), x.sources[k]) for k in some)
    if name == "labels":
        steps = [np.arange(graph.n), *(whole(a.label_propagation(x.A, max_iter=k)) for k in (1, ROUNDS - 1))]
        pairs = (steps[0], steps[1]), (steps[2], whole(answer))
        return all(checks.most_frequent(graph, [*x.sources, x.start], *pair) for pair in pairs)
    if name == "truss":  # its values are the triangles of each edge inside of it, two or more
        counts = answer.mxm(answer.T, gb.semiring.plus_pair[gb.dtypes.INT64]).new(mask=answer.S)
        return bool(counts.isequal(answer)) and not answer.select("<", 2).new().nvals
    if name == "trusses":  # each truss that is found alone
        parts = ((k, answer.select(">=", k).new(), a.k_truss(x.A, k)) for k in (3, 4))
        one = gb.unary.one[gb.dtypes.BOOL]
        same = (part.apply(one).new().isequal(truss.apply(one).new()) for _, part, truss in parts)
        return answer.nvals == graph.nvals and all(same)
    if name.startswith("strong"):
        return checks.strong(graph.directed if name == "strong_directed" else graph, answer, x.start)
    return checks.CHECKS[name](graph, answer, last if name == "bfs" else x.start)


HEADS = "graph", "algorithm", "right", "ms", "rounds", "us a round", "peer", "ms", "times", ""


class Timing(NamedTuple):
    """samples: of a call; none begins after `seconds` of an algorithm on a graph. check: the entries up to which
    answers are checked."""

    samples: int
    seconds: float = np.inf
    check: float = np.inf


def rows_of(x: Operands, algorithms: Sequence[str], timing: Timing) -> Iterator[dict[str, Any]]:
    """The row of each algorithm on a graph."""
    d, graph = x.A.device, x.graph
    for algorithm, calls in calls_of(x).items():
        if algorithm not in algorithms:
            continue
        times, rounds, took = list[float](), list[int](), time.perf_counter()
        for _ in range(2):  # compile and capture
            with Watch() as seen:
                answer = calls[0]()
        row: dict[str, Any] = {"graph": graph.name, "algorithm": algorithm, "warm_s": time.perf_counter() - took}
        for _ in range(timing.samples if len(calls) == 1 else 1):
            for call in calls:
                if sum(times) > 1e3 * timing.seconds:
                    break
                d.synchronize()
                begin = time.perf_counter()
                answer = call()
                d.synchronize()
                times.append((time.perf_counter() - begin) * 1e3)
                if algorithm == "bfs":
                    rounds.append(1 + int(answer.reduce(gb.monoid.max).value))
                elif algorithm == "labels":
                    rounds.append(seen.rounds or 1)
        checked = graph.nvals <= timing.check
        if checked and len(calls) > 1:
            answer = calls[-1]()  # the time may have been up before
        row["right"] = is_right(algorithm, x, answer) if checked else None
        row |= {"ms": float(np.median(times)), "times_ms": times, "form": x.A.ss.format}
        if rounds:
            row["rounds"] = float(np.median(rounds))
            row["us_a_round"] = float(np.median(np.array(times) / np.array(rounds))) * 1e3
        if algorithm in ("louvain", "leiden"):
            row["modularity"] = checks.modularity(graph, checks.dense(answer, graph.n, -1, np.int64))
        yield row


def line(row: dict[str, Any], who: str, peer: float | None) -> tuple[Any, ...]:
    """The cells of a row."""
    right, more = {True: "yes", False: "NO", None: "-"}[row["right"]], row["form"]
    if "modularity" in row:
        more += f" modularity {row['modularity']:.4f}"
    times = None if peer is None else peer / row["ms"]
    numbers = row["ms"], row.get("rounds"), row.get("us_a_round")
    return row["graph"], row["algorithm"], right, *numbers, who, peer, times, more


def measure(
    names: Sequence[str], algorithms: Sequence[str], timing: Timing, device: str = "cuda",
    say: Callable[[str], None] = table.say, *, format: str = "auto", tile: int | None = None,
    folder: str | None = None, beside: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Milliseconds of each algorithm on each graph; tables are passed to `say`, everything is in the result. An
    interrupt (Ctrl-C) ends the measurement, and what was measured is the result.

    beside: libraries on the CPU that run too."""
    d, best = gb.device.get(device), peers()
    stored: dict[str, Any] = {"device": device, "format": format, "tile": tile}
    result = table.surroundings(device=device, samples=timing.samples, format=format, tile=tile, rows=[], peers=[])
    if device == "cuda":
        result["machine"]["gpu"] = d.model
    read = []
    try:
        for name in names:
            graph, rows = graphs.make(name, folder), []
            if graph.nvals <= MOST_READ:
                read.append(graph)
            for row in rows_of(Operands(graph, **stored), algorithms, timing):
                result["rows"].append(row)
                rows.append(line(row, *best.get((row["algorithm"], graph.name), ("", None))))
            say(table.table(HEADS, rows))
        if beside:
            for row in _libraries(read, algorithms, beside):
                result["peers"].append(row)
    except KeyboardInterrupt:
        say("interrupted")
    if len(names) > 1:
        say(summary(result["rows"]))
    if result["peers"]:
        say(_beside(result["rows"], result["peers"]))
    result["equal"] = all(row["right"] is not False for row in (*result["rows"], *result["peers"]))
    return result


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """A line for each algorithm, a column for each graph: milliseconds, of label propagation those of a round; with !
    if an answer was wrong, with ? if it was not checked."""
    names = list(dict.fromkeys(row["graph"] for row in rows))
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        ms = row["us_a_round"] / 1e3 if row["algorithm"] == "labels" else row["ms"]
        mark = {True: "", False: "!", None: "?"}[row["right"]]
        lines.setdefault(row["algorithm"], {})[row["graph"]] = f"{ms:.3g}{mark}" if ms < 1e3 else f"{ms:.0f}{mark}"
    cells = [(name, *(line.get(graph) for graph in names), "") for name, line in lines.items()]
    return table.table(("ms", *names, ""), cells, left=1)


def _libraries(
    some: Sequence[graphs.Graph], algorithms: Sequence[str], beside: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The least milliseconds of libraries on the CPU: who, version, graph, algorithm, ms, right."""
    threads = len(os.sched_getaffinity(0))
    for graph in some:
        known = [name for name in algorithms if name in (*libraries.ALGORITHMS, *libraries.ROOTED)]
        names = [name for name in known if name not in LONG or graph.nvals <= MOST_SEARCHED]
        made = libraries.measure([graph], names, beside, 2, 1.0, threads, say=lambda _: None)
        for row in made["libraries"]:
            for name, one in row["sides"].items():
                yield {
                    "who": threaded(name, threads),
                    "version": made["versions"][LIBRARIES[name].packages[0]],
                    "graph": graph.name, "algorithm": row["algorithm"], "ms": one["ms"], "right": one["right"],
                }  # fmt: skip


def _beside(rows: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]) -> str:
    """The libraries' times next to ours."""
    ours = {(row["graph"], row["algorithm"]): row["ms"] for row in rows}
    lines = [
        (row["graph"], row["algorithm"], "yes" if row["right"] else "NO", ours[row["graph"], row["algorithm"]],
         row["ms"], row["ms"] / ours[row["graph"], row["algorithm"]], row["who"])
        for row in theirs
    ]  # fmt: skip
    return table.table(("graph", "algorithm", "right", "ms", "library ms", "times", ""), lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cuda")
    p.add_argument("--graphs", help="names (see graphs.py) or files, with commas")
    p.add_argument("--folder", help="of files NAME.npz, NAME.mtx or NAME.mtx.gz, among them the real graphs")
    p.add_argument("--algorithms", default=",".join(ALGORITHMS), help=f"with commas; or {', '.join(TABLES)}")
    p.add_argument("--samples", type=int, default=5)
    p.add_argument("--seconds", type=float, default=3.0, help="of an algorithm on a graph; then no sample begins")
    p.add_argument("--no-check", action="store_true", help="do not check answers (SciPy can take seconds)")
    p.add_argument("--check-entries", type=float, default=np.inf, help="check on graphs of up to so many entries")
    p.add_argument("--format", default="auto", help="that of the matrices: csr, mplg, b2sr, split")
    p.add_argument("--tile", type=int, help="the size of its tiles")
    p.add_argument("--libraries", default="", help="run on the CPU too: NetworKit, igraph, SciPy, with commas")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    algorithms = [one for name in args.algorithms.split(",") for one in TABLES.get(name, (name,))]
    if unknown := set(algorithms) - set(ALGORITHMS):
        p.error(f"--algorithms: unknown {', '.join(sorted(unknown))}; known: {', '.join(ALGORITHMS)}")
    beside = table.names(args.libraries)
    if unknown := set(beside) - set(LIBRARIES):
        p.error(f"--libraries: unknown {', '.join(sorted(unknown))}; known: {', '.join(LIBRARIES)}")
    names = args.graphs.split(",") if args.graphs else [*GRAPHS, *(FILES if args.folder else ())]
    return table.ended(
        "benchmarks.programs",
        lambda: measure(
            names, algorithms, Timing(args.samples, args.seconds, -1 if args.no_check else args.check_entries),
            args.device, format=args.format, tile=args.tile, folder=args.folder, beside=beside,
        ),
        args.json,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
