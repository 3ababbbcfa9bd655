"""python -m benchmarks.ldbc: the six algorithms of LDBC Graphalytics, with its validation rules.

Iosup et al: LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and distributed platforms. PVLDB
9 (2016). The LDBC Graphalytics Benchmark, version 1.0.5. arXiv:2011.15028.

| algorithm | answer | the rule |
|---|---|---|
| BFS | hops from a source | equal |
| PR | PageRank after a number of rounds, rank of vertices without out-edges spread over all | within 0.01 % |
| WCC | weak components | equal up to the names of labels |
| CDLP | label propagation, a number of rounds | equal |
| LCC | local clustering coefficients | within 0.01 % |
| SSSP | distances from a source | within 0.01 % |

Graphs (`--graphs`): example-directed and example-undirected, whose published answers tests/data/expected.json has; a
data set of Graphalytics, by the path without suffix (`PATH/graph500-22`: its .v, .e and .properties, and the answers
PATH/graph500-22-BFS and so on, if they are there); or a graph of graphs.py (`rmat16`), undirected, with weights, whose
answers the serial programs of serial.py and SciPy give. The processing time is that of one call, from the stored graph
to the answer, the median of `--samples` after a first; EVPS is (vertices + edges) per second of it, and an undirected
edge counts once. This is not an audited result.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import graphs, serial, table
from .checks import dense

ALGORITHMS = ("BFS", "PR", "WCC", "CDLP", "LCC", "SSSP")
NEVER = np.iinfo(np.int64).max  # BFS of a vertex that is not reached
EPSILON = 1e-4
EXAMPLES = table.ROOT / "tests" / "data" / "expected.json"


@dataclass
class Dataset:
    """A graph: names of vertices, ascending; edges by number, each once; parameters; known answers by algorithm."""

    name: str
    directed: bool
    names: np.ndarray
    rows: np.ndarray
    cols: np.ndarray
    weights: np.ndarray | None
    parameters: dict[str, str]
    answers: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.names)

    def number(self, key: str, default: str) -> int:
        return int(self.parameters.get(key, default))

    def source(self, algorithm: str) -> int:
        return int(np.searchsorted(self.names, self.number(f"{algorithm}.source-vertex", str(self.names[0]))))


def example(kind: str) -> Dataset:
    given = json.loads(EXAMPLES.read_text())["ldbc"][kind]
    names = np.array(given["vertices"])
    i, j, w = np.array(given["edges"]).T
    rows, cols = (np.searchsorted(names, ends) for ends in (i, j))
    answers = {
        key: np.array([missing if x is None else x for x in given[key]])
        for key, missing in (("BFS", NEVER), ("PR", 0), ("WCC", 0), ("CDLP", 0), ("LCC", 0), ("SSSP", np.inf))
    }
    parameters = {"pr.num-iterations": "2", "cdlp.max-iterations": "2"}
    return Dataset(f"example-{kind}", kind == "directed", names, rows, cols, w, parameters, answers)


def read(path: str) -> Dataset:
    """A data set in Graphalytics' format. ValueError for edges of unknown vertices, and for files that differ in their
    columns."""
    prefix = Path(path)
    beside = lambda suffix: prefix.with_name(prefix.name + suffix)
    parameters = {}
    for line in beside(".properties").read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            parameters[key.strip().removeprefix(f"graph.{prefix.name}.")] = value.strip()
    names = np.unique(_numbers(beside(".v"), 1)[:, 0]).astype(np.int64)
    with beside(".e").open() as lines:
        columns = len(lines.readline().split())
    edges = _numbers(beside(".e"), columns)
    ends = edges[:, :2].astype(np.int64)
    at = np.searchsorted(names, ends).clip(0, len(names) - 1)
    if len(wrong := ends[names[at] != ends]):
        raise ValueError(f"{beside('.e')}: expected vertices of {beside('.v')}, got {wrong[0]}")
    answers = {}
    for algorithm in ALGORITHMS:
        if (file := beside(f"-{algorithm}")).is_file():
            dtype = np.float64 if algorithm in ("PR", "LCC", "SSSP") else np.int64
            lines = [line.split() for line in file.read_text().splitlines() if line.strip()]
            found = {int(name): value for name, value in lines}
            if len(found) != len(names):
                raise ValueError(f"{file}: expected an answer for each of {len(names)} vertices, got {len(found)}")
            answers[algorithm] = np.array([found[int(name)] for name in names]).astype(dtype)
    weights = edges[:, 2] if columns > 2 else None
    directed = parameters.get("directed", "true") == "true"
    return Dataset(prefix.name, directed, names, at[:, 0], at[:, 1], weights, parameters, answers)


def _numbers(path: Path, columns: int) -> np.ndarray:
    found = np.fromfile(path, sep=" ")
    if found.size % columns:
        raise ValueError(f"{path}: expected {columns} numbers in each line")
    return found.reshape(-1, columns)


def generated(name: str) -> Dataset:
    """A graph of graphs.py with answers of serial programs and of SciPy."""
    from scipy.sparse.csgraph import connected_components, dijkstra

    graph = graphs.make(name)
    A = graph.scipy()
    if (A != A.T).nnz:
        raise ValueError(f"{name}: expected an undirected graph")
    once = graph.rows < graph.col
    weights = graph.weights.astype(np.float64)
    made = Dataset(
        name, False, np.arange(graph.n), graph.rows[once], graph.col[once].astype(np.int64), weights[once],
        {"bfs.source-vertex": str(graph.source), "sssp.source-vertex": str(graph.source)},
    )  # fmt: skip
    depth = serial.depths(graph.ptr, graph.col, graph.source)
    degree, rank = np.diff(graph.ptr), np.full(graph.n, 1 / max(graph.n, 1))
    for _ in range(10):
        flow = A.T @ (rank / np.maximum(degree, 1))
        rank = 0.15 / graph.n + 0.85 * (flow + rank[degree == 0].sum() / graph.n)
    made.answers = {
        "BFS": np.where(depth < 0, NEVER, depth),
        "PR": rank,
        "WCC": connected_components(A, directed=False)[1],
        "CDLP": serial.propagated_labels(graph.ptr, graph.col, 10),
        "LCC": serial.closed_shares(graph.ptr, graph.col, graph.ptr, graph.col),
        "SSSP": dijkstra(graph.scipy(weights), indices=graph.source),
    }
    return made


def load(name: str) -> Dataset:
    if name in ("example-directed", "example-undirected"):
        return example(name.removeprefix("example-"))
    return read(name) if Path(f"{name}.properties").is_file() else generated(name)


def matrix_of(gb: Any, data: Dataset, weights: bool) -> Any:
    values = data.weights if weights else True
    A = gb.Matrix.from_coo(data.rows, data.cols, values, nrows=data.n, ncols=data.n)
    return A if data.directed else A.ewise_add(A.T, gb.binary.first if weights else gb.binary.lor).new()


def calls(gb: Any, data: Dataset) -> dict[str, Callable[[], Any]]:
    """The call of each algorithm that the data set has parameters for."""
    from bitblas import algorithms as a
    from bitblas.compare import fixed

    A, directed = matrix_of(gb, data, weights=False), data.directed
    rounds = data.number("pr.num-iterations", "10")
    damping = float(data.parameters.get("pr.damping-factor", "0.85"))
    found: dict[str, Callable[[], Any]] = {
        "BFS": lambda: a.bfs_levels(A, data.source("bfs")),
        "PR": lambda: fixed(a.pagerank, A, rounds, alpha=damping),
        "WCC": lambda: a.weakly_connected_components(A) if directed else a.connected_components(A),
        "CDLP": lambda: a.label_propagation(A, directed=directed, max_iter=data.number("cdlp.max-iterations", "10")),
        "LCC": lambda: a.local_clustering(A, directed=directed),
    }
    if data.weights is not None:
        W = matrix_of(gb, data, weights=True)
        found["SSSP"] = lambda: a.sssp(W, data.source("sssp"))
    return found


def is_valid(algorithm: str, data: Dataset, answer: Any) -> bool | None:
    """Whether an answer passes the rule of the algorithm; None if the data set has no answer."""
    if algorithm not in data.answers:
        return None
    expected, n = data.answers[algorithm], data.n
    if algorithm in ("PR", "LCC", "SSSP"):
        found = dense(answer, n, np.inf, np.float64)
        with np.errstate(invalid="ignore"):
            near = np.abs(found - expected) <= EPSILON * np.abs(expected)
        return bool((near | (found == expected)).all())
    found = dense(answer, n, NEVER if algorithm == "BFS" else -1, np.int64)
    if algorithm == "BFS":
        return bool((found == expected).all())
    if algorithm == "CDLP":
        return bool((data.names[found] == expected).all())
    pairs = len(np.unique(np.stack([found, expected]), axis=1).T)
    return pairs == len(np.unique(found)) == len(np.unique(expected))


def measure(
    names: Sequence[str], algorithms: Sequence[str], device: str, samples: int, say: Callable[[str], None] = print
) -> dict[str, Any]:
    """The processing time of each algorithm on each graph; a line for each is passed to `say`."""
    import bitblas as gb

    d = gb.device.get(device)
    result = table.surroundings(device=device, benchmark="Graphalytics", rows=[])
    result["machine"]["gpu"] = d.model if d.is_gpu else None
    say(f"{'graph':<24}{'algorithm':<10}{'ms':>12}{'M EV/s':>12}   valid")
    for name in names:
        data = load(name)
        with gb.config.set(device=device):
            for algorithm, call in calls(gb, data).items():
                if algorithm not in algorithms:
                    continue
                answer, times = table.timed(d, call, samples)
                ms, valid = float(np.median(times)), is_valid(algorithm, data, answer)
                evps = 1e3 * (data.n + len(data.rows)) / ms
                result["rows"].append({
                    "graph": data.name, "algorithm": algorithm, "ms": ms, "times_ms": times, "evps": evps,
                    "vertices": data.n, "edges": len(data.rows), "right": valid,
                })  # fmt: skip
                said = {True: "yes", False: "NO", None: "-"}[valid]
                say(f"{data.name:<24}{algorithm:<10}{ms:>12.3f}{evps / 1e6:>12.2f}   {said}")
    result["equal"] = all(row["right"] is not False for row in result["rows"])
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer is valid, 1 if one is not, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.ldbc", description=(__doc__ or "").splitlines()[0])
    p.add_argument("--device", default="cpu")
    p.add_argument("--graphs", type=table.names, default=["example-directed", "example-undirected", "rmat12"])
    p.add_argument("--algorithms", type=table.names, default=list(ALGORITHMS), help=f"of {','.join(ALGORITHMS)}")
    p.add_argument("--samples", type=int, default=3)
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    if unknown := set(args.algorithms) - set(ALGORITHMS):
        p.error(f"--algorithms: unknown {', '.join(sorted(unknown))}; known: {', '.join(ALGORITHMS)}")
    if args.samples < 1:
        p.error(f"--samples: expected at least 1, got {args.samples}")
    run = lambda: measure(args.graphs, args.algorithms, args.device, args.samples, table.say)
    return table.ended("benchmarks.ldbc", run, args.json)


if __name__ == "__main__":
    sys.exit(main())
