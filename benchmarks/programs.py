"""python -m benchmarks.programs: whole algorithms on a GPU, from the stored graph to the answer.

A run is one synchronized call of `bitblas.algorithms`, state and result included; programs are captured and formats
built before. `bfs` is the median over random sources, `searches` and `betweenness` use 64 sources at once, the others
start at a vertex of largest degree. Graphs are named (graphs.py), or Matrix Market files. Every answer is checked
(checks.py). The table has the peers' times on the same graphs, from `stored/`, which has their figures, versions and
dates, and ours for the page of results (`--json`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import checks, graphs, table

GRAPHS = ("rmat20", "rmat22", "delaunay_n20", "grid2d_2048", "stencil27_100", "mycielskian14")
SOURCES, TOGETHER = 16, 64
PAGERANK_ROUNDS = 20
STORED = Path(__file__).parent / "stored"


def peers() -> dict[tuple[str, str], tuple[str, float]]:
    """{(algorithm, graph): (name, milliseconds)} of the fastest stored peer on a GPU."""
    found: dict[tuple[str, str], tuple[str, float]] = {}
    for path in STORED.glob("peer-*.json"):
        made = json.loads(path.read_text())
        for row in made["rows"] if made["device"] == "gpu" else []:
            key, figure = (row["algorithm"], row["graph"]), (made["who"], row["ms"])
            found[key] = min(found.get(key, figure), figure, key=lambda x: x[1])
    return found


def calls_of(gb: Any, A: Any, W: Any, sources: Sequence[int], start: int) -> dict[str, list[Callable[[], Any]]]:
    from bitblas import algorithms as a
    from bitblas.compare import fixed

    return {
        "bfs": [partial(a.bfs_levels, A, s) for s in sources[:SOURCES]],
        "sssp": [lambda: a.sssp(W, start)],
        "pagerank": [lambda: fixed(a.pagerank, A, PAGERANK_ROUNDS, dtype="FP32")],
        "components": [lambda: a.connected_components(A)],
        "triangles": [lambda: a.triangle_count(A)],
        "mis": [lambda: a.maximal_independent_set(A)],
        "coloring": [lambda: a.coloring(A)],
        "forest": [lambda: a.minimum_spanning_forest(W)],
        "searches": [lambda: a.levels_from_each(A, sources)],
        "betweenness": [lambda: a.betweenness_centrality(A, sources)],
    }


ALGORITHMS = tuple(calls_of(None, None, None, (), 0))


def is_right(name: str, graph: graphs.Graph, A: Any, answer: Any, sources: Sequence[int]) -> bool:
    if name == "betweenness":
        from bitblas.algorithms import bfs_levels

        every = [checks.dense(bfs_levels(A, s), graph.n, -1, np.int32) for s in sources]
        return checks.betweenness(graph, answer, np.stack(every))
    if name == "searches":
        return all(checks.levels(graph, answer[k, :].new(), s) for k, s in enumerate(sources))
    return checks.CHECKS[name](graph, answer, sources[SOURCES - 1] if name == "bfs" else graph.source)


def measure(
    names: Sequence[str], algorithms: Sequence[str], samples: int, device: str = "cuda", check: bool = True,
    say: Callable[[str], None] = print, *, format: str = "auto", tile: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Milliseconds of each algorithm on each graph; a table is passed to `say`, everything is in the result."""
    import bitblas as gb

    d, best = gb.device.get(device), peers()
    stored: dict[str, Any] = {"device": device, "format": format, "tile": tile}
    result = table.surroundings(device=device, samples=samples, format=format, tile=tile, rows=[])
    if device == "cuda":
        result["machine"]["gpu"] = d.model
    rows = []
    for name in names:
        graph = graphs.make(name)
        n = graph.n
        A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=n, ncols=n, **stored)
        W = gb.Matrix.from_csr(graph.ptr, graph.col, graph.weights, nrows=n, ncols=n, **stored)
        linked = np.flatnonzero(np.diff(graph.ptr))
        sources = [int(s) for s in np.random.default_rng(1).choice(linked, TOGETHER)]
        for algorithm, calls in calls_of(gb, A, W, sources, graph.source).items():
            if algorithm not in algorithms:
                continue
            times, rounds, answer = [], [], calls[0]()  # the first call compiles and captures
            for _ in range(samples if len(calls) == 1 else 1):
                for call in calls:
                    d.synchronize()
                    begin = time.perf_counter()
                    answer = call()
                    d.synchronize()
                    times.append((time.perf_counter() - begin) * 1e3)
                    if algorithm == "bfs":
                        rounds.append(1 + int(answer.reduce(gb.monoid.max).value))
            right = is_right(algorithm, graph, A, answer, sources) if check else None
            ms, (who, peer) = float(np.median(times)), best.get((algorithm, graph.name), ("", None))
            row = {"graph": graph.name, "algorithm": algorithm, "right": right, "ms": ms, "times_ms": times}
            if rounds:
                row["rounds"] = float(np.median(rounds))
                row["us_a_round"] = float(np.median(np.array(times) / np.array(rounds))) * 1e3
            result["rows"].append(row)
            rows.append(
                (graph.name, algorithm, {True: "yes", False: "NO", None: "-"}[right], ms, row.get("rounds"),
                 row.get("us_a_round"), who, peer, None if peer is None else peer / ms, A.ss.format)
            )  # fmt: skip
    say(table.table(("graph", "algorithm", "right", "ms", "rounds", "us a round", "peer", "ms", "times", ""), rows))
    result["equal"] = all(row["right"] is not False for row in result["rows"])
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cuda")
    p.add_argument(
        "--graphs", default=",".join(GRAPHS), help="names (see graphs.py) or Matrix Market files, with commas"
    )
    p.add_argument("--algorithms", default=",".join(ALGORITHMS), help="with commas")
    p.add_argument("--samples", type=int, default=5)
    p.add_argument("--no-check", action="store_true", help="do not check answers (SciPy can take seconds)")
    p.add_argument("--format", default="auto", help="that of the matrices: csr, mplg, b2sr, split")
    p.add_argument("--tile", type=int, help="the size of its tiles")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    algorithms = args.algorithms.split(",")
    if unknown := set(algorithms) - set(ALGORITHMS):
        p.error(f"--algorithms: unknown {', '.join(sorted(unknown))}; known: {', '.join(ALGORITHMS)}")
    stored = {"format": args.format, "tile": args.tile}
    return table.ended(
        "benchmarks.programs",
        lambda: measure(args.graphs.split(","), algorithms, args.samples, args.device, not args.no_check, **stored),
        args.json,
    )


if __name__ == "__main__":
    sys.exit(main())
