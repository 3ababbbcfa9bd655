"""python -m benchmarks.closeness: exact closeness, in searches and entries per second.

    python -m benchmarks.closeness --graphs soc-Slashdot0902,rmat20,delaunay_n20 --folder FOLDER

Closeness is a search from every vertex, 64 at once. A graph whose searches take at most `--seconds` is measured whole:
one call of `closeness_centrality`. Of another one evenly spaced batches of 64 consecutive sources are searched, by the
same code, and `whole_s` is an estimate: the time of the sample times the number of batches over those of the sample.
A search reads the entries of its source's component, so G entries/s counts these; searches from isolated vertices count
as searches. Sums of distances at some vertices are compared with SciPy's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from . import graphs, table
from .verbs import levels_of

GRAPHS = "rmat20,delaunay_n20"
BATCH, FIRST, CHECKED = 64, 8, 4  # sources of a batch; batches that are timed first; vertices whose sums are checked


def searched(A: Any, batches: Sequence[range]) -> tuple[np.ndarray, np.ndarray, float]:
    """For each vertex the number of sources in some batches that reach it, other than itself, and the sum of their
    distances; and the seconds of a call."""
    import bitblas as gb
    from bitblas.algorithms import _loops as loops
    from bitblas.algorithms.centrality import closeness

    A.device.synchronize()
    begin = time.perf_counter()
    with mock.patch.object(closeness, "batches", lambda n: batches):
        reached, total = closeness.distance_sums(A, gb=gb)
    A.device.synchronize()
    seconds = time.perf_counter() - begin
    reached, total = (A.device.to_host(x.to_dense()) for x in (reached, total))
    if loops.searches_by_columns(A):  # one is subtracted at each vertex: its own search, which is not in each sample
        own = np.zeros(A.nrows)
        own[np.concatenate([np.arange(part.start, part.stop) for part in batches])] = 1
        reached = reached + 1 - own
    return reached, total, seconds


def spaced(every: Sequence[range], count: int) -> list[range]:
    """At most so many of the batches, evenly spaced."""
    return [every[k * len(every) // count] for k in range(count)] if count < len(every) else list(every)


def are_sums(graph: graphs.Graph, sources: np.ndarray, reached: np.ndarray, total: np.ndarray) -> bool:
    """Whether the sums at some vertices are those of SciPy's distances, which are the same in both directions."""
    for v in graph.sources(CHECKED):
        found, level = levels_of(graph, v)
        distance = np.full(graph.n, -1)
        distance[found] = level
        some = distance[sources[sources != v]]
        if reached[v] != (some >= 0).sum() or total[v] != some[some > 0].sum():
            return False
    return True


def component_entries(graph: graphs.Graph) -> np.ndarray:
    """For each vertex the entries in its component."""
    from scipy.sparse.csgraph import connected_components

    label = connected_components(graph.scipy(dtype=np.int8), directed=False)[1]
    return np.bincount(label, weights=np.diff(graph.ptr))[label]


def measure(
    names: Sequence[str], seconds: float, device: str = "cuda", folder: str | None = None,
    say: Callable[[str], None] = table.say,
) -> dict[str, Any]:  # fmt: skip
    """Searches and entries a second on each graph."""
    import bitblas as gb
    from bitblas.algorithms import closeness_centrality
    from bitblas.algorithms._parts import batches

    d = gb.device.get(device)
    result = table.surroundings(device=d.model, gpu=d.is_gpu, seconds=seconds, rows=[])
    for name in names:
        graph = graphs.make(name, folder)
        A = gb.Matrix.from_csr(graph.ptr, graph.col, True, nrows=graph.n, ncols=graph.n, device=device)
        every = list(batches(graph.n))
        searched(A, every[:2])  # compiles
        first = searched(A, spaced(every, FIRST))[2] / min(FIRST, len(every))
        whole = first * len(every) <= seconds
        some = every if whole else spaced(every, max(FIRST, int(seconds / first)))
        reached, total, took = searched(A, some)
        sources = np.concatenate([np.arange(part.start, part.stop) for part in some])
        right = are_sums(graph, sources, reached, total)
        if whole:
            c, times = table.timed(d, partial(closeness_centrality, A, improved=False), 1)
            took = times[0] / 1e3
            right &= bool(np.allclose(d.to_host(c.to_dense()), reached / np.maximum(total, 1), rtol=1e-12))
        entries = float(component_entries(graph)[sources].sum())
        row = {
            "graph": graph.name, "n": graph.n, "nvals": graph.nvals, "right": right, "whole": whole,
            "searches": len(sources), "s": took, "whole_s": took * len(every) / len(some),
            "searches_per_s": len(sources) / took, "G_entries_per_s": entries / took / 1e9,
        }  # fmt: skip
        result["rows"].append(row)
        say(table.table(list(row), [[("NO", "yes")[x] if isinstance(x, bool) else x for x in row.values()]], left=1))
    result["equal"] = all(row["right"] for row in result["rows"])
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.closeness", description=__doc__.splitlines()[0])
    p.add_argument("--device", default="cuda")
    p.add_argument("--graphs", default=GRAPHS, help="names (see graphs.py) or files, with commas")
    p.add_argument("--folder", help="of files NAME.npz, NAME.mtx or NAME.mtx.gz")
    p.add_argument("--seconds", type=float, default=10.0, help="of searches on a graph")
    p.add_argument("--json", help="where all figures go")
    args = p.parse_args(argv)
    names = args.graphs.split(",")
    return table.ended(
        "benchmarks.closeness", lambda: measure(names, args.seconds, args.device, args.folder), args.json
    )


if __name__ == "__main__":
    sys.exit(main())
