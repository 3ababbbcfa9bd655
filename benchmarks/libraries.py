"""python -m benchmarks.libraries: algorithms on the CPU next to NetworKit, igraph and SciPy.

Each library has a process of its own (library_worker.py), with the same number of threads; igraph and SciPy use one.
They run in turn, one call or a row of short calls at a time. A call begins with the library's own graph and ends with
its result, which is converted and checked outside of the time. A figure is the least of the samples, because other
processes only add time; on a loaded machine processor time is the one to compare. Libraries of another environment run
with its Python (`--python`).

Answers: distances and levels are SciPy's; components are the same partition; core numbers and clustering coefficients
agree between libraries; an independent set is maximal; ours of label propagation are those of its definition. Louvain,
Leiden and label propagation are compared by their modularity: it is in the table, and that of our Louvain and Leiden
may be at most SLACK below what it was (MODULARITY).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import checks, cpu, graphs, table
from .library_worker import LIBRARIES, ROUNDS, TOGETHER
from .verbs import levels_of

OURS = "bitblas"
GRAPHS = "rmat16", "delaunay_n16", "road_ny"
ALGORITHMS = "bfs", "sssp", "components", "mis", "cores", "clustering", "labels", "louvain", "leiden"
ROOTED = "parents", "searches", "betweenness"  # of `benchmarks.programs`; each has a check of its own
COMMUNITIES = "labels", "louvain", "leiden"
# Modularity of our communities at commit 84124446, with seed 1.
MODULARITY = {
    ("louvain", "rmat16"): 0.0980, ("louvain", "delaunay_n16"): 0.9496, ("louvain", "road_ny"): 0.9876,
    ("leiden", "rmat16"): 0.0991, ("leiden", "delaunay_n16"): 0.9511, ("leiden", "road_ny"): 0.9882,
}  # fmt: skip
SLACK = 0.002
SHORT = 0.02  # seconds of a call below which several in a row are timed


def propagated(graph: graphs.Graph) -> np.ndarray:
    """Label propagation by its definition: the most frequent label of the neighbours, ties to the smallest."""
    n, label = graph.n, np.arange(graph.n)
    for _ in range(ROUNDS):
        keys, counts = np.unique(graph.rows * n + label[graph.col], return_counts=True)
        row = keys // n
        order = np.lexsort((keys, -counts, row))
        first = order[np.r_[True, row[order][1:] != row[order][:-1]]]
        label = label.copy()
        label[row[first]] = keys[first] % n
    return label


class Checks:
    """The checks of answers on one graph. Each returns whether an answer is right."""

    def __init__(self, graph: graphs.Graph) -> None:
        self.graph = graph
        self.seen: dict[str, np.ndarray] = {}  # the first library's answer

    def is_right(self, algorithm: str, side: str, answer: np.ndarray) -> bool:
        if len(answer) != self.graph.n:
            return False
        if algorithm in COMMUNITIES:
            exact = side != OURS or algorithm != "labels" or np.array_equal(answer, propagated(self.graph))
            return exact and int(answer.min()) >= 0
        if algorithm in ROOTED:
            return self._is_rooted(algorithm, answer)
        if algorithm == "mis":
            beside = np.zeros(self.graph.n, bool)
            beside[self.graph.rows[answer[self.graph.col]]] = True
            return not (answer & beside).any() and bool((answer | beside).all())
        expected = self.seen.get(algorithm)
        if expected is None:
            expected = self.seen[algorithm] = self._reference(algorithm, answer)
        if algorithm == "components":
            answer = _smallest(answer)
        return bool(np.allclose(answer, expected, rtol=1e-12, atol=0))

    def _is_rooted(self, algorithm: str, answer: np.ndarray) -> bool:
        graph, sources = self.graph, self.graph.sources(TOGETHER)
        if algorithm == "parents":
            level = self._reference("bfs", answer).astype(np.int64)
            return checks.is_tree(graph, level, answer, graph.source)
        if algorithm == "searches":
            each = (np.where(row < 0, checks.NEVER, row) for row in answer.T.astype(np.int64))
            return all(checks.are_levels(graph, level, s) for level, s in zip(each, sources, strict=True))
        # The shares of all vertices between the ends of a path sum to its length less one
        levels = [levels_of(graph, s)[1] for s in sorted(set(sources))]
        expected = float(sum(np.maximum(level - 1, 0).sum() for level in levels))
        return bool(abs(answer.sum() - expected) <= 1e-6 * max(expected, 1))

    def _reference(self, algorithm: str, answer: np.ndarray) -> np.ndarray:
        from scipy.sparse import csgraph

        graph, A = self.graph, self.graph.scipy(self.graph.weights)
        if algorithm == "components":
            return _smallest(csgraph.connected_components(A, directed=False)[1])
        if algorithm in ("bfs", "sssp"):
            d = csgraph.dijkstra(A, indices=graph.source, unweighted=algorithm == "bfs")
            return np.where(np.isfinite(d), d, -1 if algorithm == "bfs" else np.inf)
        return answer.astype(np.float64)


def _smallest(label: np.ndarray) -> np.ndarray:
    """The smallest vertex of each vertex's component."""
    first = np.full(int(label.max()) + 1, len(label))
    np.minimum.at(first, label, np.arange(len(label)))
    return first[label]


def _measured(
    sides: Sequence[cpu.Side], algorithm: str, samples: int, budget: float
) -> dict[str, list[tuple[float, float, float]]]:
    """(seconds, processor seconds, share of waiting) of each sample, side by side in turn. A side whose samples have
    taken `budget` seconds has no more."""
    found = {side.name: [side.ask("run", algorithm, 1)] for side in sides}
    calls = {name: max(1, min(20, int(SHORT / runs[0][0]))) for name, runs in found.items()}
    for k in range(samples):
        for side in sides if k % 2 else reversed(sides):
            runs = found[side.name]
            if calls[side.name] * sum(seconds for seconds, _, _ in runs) < budget:
                runs.append(side.ask("run", algorithm, calls[side.name]))
    return found


def measure(
    names: Sequence[str | graphs.Graph], algorithms: Sequence[str], libraries: Sequence[str], samples: int,
    budget: float, threads: int | None = None, python: str = sys.executable, say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Milliseconds of each algorithm on each graph in each library; a table is passed to `say`, everything is in the
    result. names: of graphs, or graphs."""
    threads = threads or len(os.sched_getaffinity(0))
    result = table.surroundings(device="cpu", threads=threads, samples=samples, libraries=[])
    sides: list[cpu.Side] = []
    try:
        for name in libraries:
            interpreter = sys.executable if name == OURS else python
            sides.append(cpu.Side(name, threads, "benchmarks.library_worker", interpreter))
            result["versions"].update(sides[-1].ask("versions"))
        able = {side.name: side.ask("algorithms") for side in sides}
        for graph in (graphs.make(name) if isinstance(name, str) else name for name in names):
            with tempfile.TemporaryDirectory(prefix="bitblas-bench-") as folder:
                path = Path(folder) / "graph.npz"
                np.savez(path, ptr=graph.ptr, col=graph.col)
                for side in sides:
                    side.ask("load", str(path))
            verdicts = Checks(graph)
            for algorithm in algorithms:
                some = [side for side in sides if algorithm in able[side.name]]
                for side in some:
                    side.ask("prepare", algorithm)
                times = _measured(some, algorithm, samples, budget)
                row: dict[str, Any] = {"graph": graph.name, "algorithm": algorithm, "sides": {}}
                for side in some:
                    answer = side.ask("answer", algorithm)
                    seconds, used, waited = zip(*times[side.name])
                    row["sides"][side.name] = one = {
                        "ms": 1e3 * min(seconds), "cpu_ms": 1e3 * min(used),
                        "times_ms": [1e3 * s for s in seconds], "queued": min(waited),
                        "right": verdicts.is_right(algorithm, side.name, answer),
                    }  # fmt: skip
                    if algorithm in COMMUNITIES:
                        one["modularity"] = checks.modularity(graph, answer.astype(np.int64))
                least = MODULARITY.get((algorithm, graph.name), -1.0) - SLACK
                row["equal"] = all(one["right"] for one in row["sides"].values())
                row["equal"] &= row["sides"].get(OURS, {}).get("modularity", 1.0) >= least
                result["libraries"].append(row)
                say(line(row, libraries))
    finally:
        for side in sides:
            side.close()
    result["machine"]["load_after"] = table.load()
    result["equal"] = all(row["equal"] for row in result["libraries"])
    return result


def line(row: dict[str, Any], libraries: Sequence[str]) -> str:
    """A row as text: milliseconds / processor milliseconds [modularity] of each library, ratio to the best peer."""
    cells = [f"{row['graph']:<13}{row['algorithm']:<11}{'' if row['equal'] else 'WRONG':<6}"]
    for name in libraries:
        one = row["sides"].get(name)
        more = "" if one is None or "modularity" not in one else f" [{one['modularity']:.4f}]"
        cells.append(
            f"{'-' if one is None else format(one['ms'], '.2f') + ' / ' + format(one['cpu_ms'], '.2f') + more:<29}"
        )
    peers = [one for name, one in row["sides"].items() if name != OURS]
    if peers and OURS in row["sides"]:
        ours = row["sides"][OURS]
        cells += [f"{ours[key] / min(one[key] for one in peers):6.2f}" for key in ("ms", "cpu_ms")]
    return "".join(cells)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.libraries", description=__doc__.splitlines()[0])
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py) or .mtx files, with commas")
    p.add_argument("--folder", help="of files NAME.npz, NAME.mtx or NAME.mtx.gz")
    p.add_argument("--algorithms", default=",".join(ALGORITHMS), help="with commas")
    p.add_argument("--libraries", default=",".join(LIBRARIES), help="with commas")
    p.add_argument("--samples", type=int, default=5)
    p.add_argument("--budget", type=float, default=20.0, help="seconds of one algorithm on one graph in one library")
    p.add_argument("--threads", type=int, help="the processors of this process by default")
    p.add_argument("--python", default=sys.executable, help="the Python that has the other libraries")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    algorithms, libraries = table.names(args.algorithms), table.names(args.libraries)
    for option, some, known in (("algorithms", algorithms, ALGORITHMS), ("libraries", libraries, tuple(LIBRARIES))):
        if unknown := set(some) - set(known):
            p.error(f"--{option}: unknown {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    names = [graphs.located(name, args.folder) for name in args.graphs.split(",")]
    return table.ended(
        "benchmarks.libraries",
        lambda: measure(names, algorithms, libraries, args.samples, args.budget, args.threads, args.python, table.say),
        args.json,
    )


if __name__ == "__main__":
    sys.exit(main())
