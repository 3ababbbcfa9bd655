"""python -m benchmarks.programs: whole algorithms on a GPU, from the stored graph to the answer.

A run is one call of `bitblas.algorithms`, state and result included, until the GPU is done; programs are captured and
forms are made before. `bfs` is the median over random sources, the others start where the graph's degree is highest.
Every answer is checked: levels and distances by their equations over all edges, the others by SciPy.

What peers need on the same graphs stands beside ours. They were measured on an H200 of the same kind (driver 580, CUDA
13.0), structure resident: cuGraph 26.10 through its C API, with a memory pool; BLEST (Elbek, 2026), a BFS on bits in
tensor cores, the mean of 16 sources; its components from the same source.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import graphs, table
from .verbs import VERBS, answer_of, difference

GRAPHS = ("delaunay_n20", "stencil27_100", "grid2d_2048", "rmat20")
SOURCES = 16

# Milliseconds, by algorithm and graph: cuGraph, BLEST.
PEERS: dict[str, dict[str, tuple[float | None, float | None]]] = {
    "bfs": {
        "rmat20": (1.24, 0.197), "rmat22": (1.51, 0.364), "delaunay_n20": (71.6, 2.58), "grid2d_2048": (764, 16.7),
        "stencil27_100": (23.4, 0.861),
    },
    "sssp": {"rmat20": (28.7, None), "rmat22": (37.4, None), "delaunay_n20": (370, None), "stencil27_100": (192, None)},
    "pagerank": {
        "rmat20": (7.04, None), "rmat22": (21.2, None), "delaunay_n20": (1.68, None), "stencil27_100": (2.47, None),
    },
    "components": {
        "rmat20": (17.5, 0.363), "rmat22": (23.9, 1.46), "delaunay_n20": (20.1, 8.06), "grid2d_2048": (None, 121),
        "stencil27_100": (16.7, 1.38),
    },
    "triangles": {
        "rmat20": (99.0, None), "rmat22": (673, None), "delaunay_n20": (4.24, None), "stencil27_100": (22.0, None),
    },
}  # fmt: skip
PAGERANK_ROUNDS = 20


def _calls(gb: Any, A: Any, W: Any, sources: Sequence[int], start: int) -> dict[str, list[Callable[[], Any]]]:
    from bitblas import algorithms as a

    return {
        "bfs": [lambda s=s: a.bfs_levels(A, s) for s in sources],
        "sssp": [lambda: a.sssp(W, start)],
        "pagerank": [lambda: a.pagerank(A, tol=1e-300, max_iter=PAGERANK_ROUNDS)],
        "components": [lambda: a.connected_components(A)],
        "triangles": [lambda: a.triangle_count(A)],
    }


def levels_fault(graph: graphs.Graph, level: np.ndarray, source: int) -> bool:
    """Whether these are not the levels from a source (-1: not reached): by the least level next to each vertex."""
    far = np.int64(1) << 40
    known = np.where(level < 0, far, level)
    nearest = np.full(graph.n, far)
    filled = np.flatnonzero(np.diff(graph.ptr))
    nearest[filled] = np.minimum.reduceat(known[graph.col], graph.ptr[filled])
    expected = np.minimum(nearest + 1, far)
    expected[source] = 0
    return not np.array_equal(np.where(expected >= far, far, expected), known)


def distances_fault(graph: graphs.Graph, found: np.ndarray, source: int) -> bool:
    """The same for distances (inf: not reached). Weights are above 0 and the same both ways."""
    nearest = np.full(graph.n, np.inf)
    filled = np.flatnonzero(np.diff(graph.ptr))
    nearest[filled] = np.minimum.reduceat(graph.weights + found[graph.col], graph.ptr[filled])
    nearest[source] = 0
    return not np.array_equal(nearest, found)


def _dense(answer: Any, n: int, missing: Any, dtype: Any) -> np.ndarray:
    out = np.full(n, missing, dtype)
    places, values = (np.asarray(x.get() if hasattr(x, "get") else x) for x in answer.to_coo())
    out[places.astype(np.int64)] = values
    return out


def _is_right(name: str, graph: graphs.Graph, answer: Any, start: int) -> bool:
    if name == "bfs":
        return not levels_fault(graph, _dense(answer, graph.n, -1, np.int64), start)
    if name == "sssp":
        return not distances_fault(graph, _dense(answer, graph.n, np.inf, np.float64), start)
    if name == "pagerank":
        return abs(float(_dense(answer, graph.n, 0, np.float64).sum()) - 1) < 1e-9
    places, values = (answer,) * 2 if isinstance(answer, int) else answer.to_coo()
    got = answer_of(answer) if isinstance(answer, int) else tuple(
        np.asarray(x.get() if hasattr(x, "get") else x) for x in (places, values)
    )  # fmt: skip
    return difference(got, VERBS[name].reference(graph)) == 0


def measure(
    names: Sequence[str], algorithms: Sequence[str], samples: int, device: str = "cuda", check: bool = True,
    say: Callable[[str], None] = print, *, format: str = "auto", tile: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Milliseconds of each algorithm on each graph; a table goes to `say`, everything into the result."""
    import bitblas as gb

    d = gb.device.get(device)
    stored: dict[str, Any] = {"device": device, "format": format, "tile": tile}
    result = table.surroundings(device=device, samples=samples, format=format, tile=tile, rows=[])
    heads = (
        "graph",
        "algorithm",
        "right",
        "ms",
        "rounds",
        "us a round",
        "cuGraph ms",
        "times",
        "BLEST ms",
        "times",
        "",
    )
    rows = []
    for name in names:
        graph = graphs.make(name)
        n = graph.n
        A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=n, ncols=n, **stored)
        W = gb.Matrix.from_csr(graph.ptr, graph.col, graph.weights, nrows=n, ncols=n, **stored)
        linked = np.flatnonzero(np.diff(graph.ptr))
        sources = [int(s) for s in np.random.default_rng(1).choice(linked, SOURCES)]
        for algorithm, calls in _calls(gb, A, W, sources, graph.source).items():
            if algorithm not in algorithms:
                continue
            last = sources[-1] if algorithm == "bfs" else graph.source
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
            right = _is_right(algorithm, graph, answer, last) if check else None
            ms, peer = float(np.median(times)), PEERS[algorithm].get(name, (None, None))
            row = {"graph": name, "algorithm": algorithm, "right": right, "ms": ms, "times_ms": times, "peers": peer}
            if rounds:
                row["rounds"] = float(np.median(rounds))
                row["us_a_round"] = float(np.median(np.array(times) / np.array(rounds))) * 1e3
            result["rows"].append(row)
            ratios = [None if p is None else p / ms for p in peer]
            rows.append(
                (name, algorithm, {True: "yes", False: "NO", None: "-"}[right], ms, row.get("rounds"),
                 row.get("us_a_round"), peer[0], ratios[0], peer[1], ratios[1], A.ss.format)
            )  # fmt: skip
    say(table.table(heads, rows))
    result["equal"] = all(row["right"] is not False for row in result["rows"])
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every answer was right, 1 if not, 2 for what cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cuda")
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py), with commas")
    p.add_argument("--algorithms", default=",".join(PEERS), help="with commas")
    p.add_argument("--samples", type=int, default=5)
    p.add_argument("--no-check", action="store_true", help="do not check answers (SciPy can take seconds)")
    p.add_argument("--format", default="auto", help="that of the matrices: csr, mplg, b2sr, split")
    p.add_argument("--tile", type=int, help="the size of its tiles")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    algorithms = args.algorithms.split(",")
    if unknown := set(algorithms) - set(PEERS):
        p.error(f"--algorithms: unknown {', '.join(sorted(unknown))}; known: {', '.join(PEERS)}")
    stored = {"format": args.format, "tile": args.tile}
    return table.ended(
        "benchmarks.programs",
        lambda: measure(args.graphs.split(","), algorithms, args.samples, args.device, not args.no_check, **stored),
        args.json,
    )


if __name__ == "__main__":
    sys.exit(main())
