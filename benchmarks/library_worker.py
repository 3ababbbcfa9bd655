"""A process with one graph library, for `benchmarks.libraries`: runs its algorithms on the parent's graphs.

`LIBRARIES` has a class for each library; a method `prepare_NAME` makes what the library is given, and returns a call,
which is what is timed, and a function that makes an array of its result: a label, distance or value per vertex.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import random
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .graphs import Graph
from .worker import queued, serve

ROUNDS = 5  # of label propagation
TOGETHER = 64  # sources of `searches` and `betweenness`
WARM = 0.002  # seconds of untimed runs before a timed one, which wake threads

Call = Callable[[], Any]
Prepared = tuple[Call, Callable[[Any], np.ndarray]]


class Library:
    """graph: the graph of the following calls."""

    packages: ClassVar[tuple[str, ...]] = ()

    def __init__(self, graph: Graph, threads: int) -> None:
        self.graph, self.threads = graph, threads
        self.setup()

    def setup(self) -> None:
        """Build the library's graph."""


class Ours(Library):
    packages = "numba", "numpy"

    def setup(self) -> None:
        import bitblas as gb

        gb.config.set(device="cpu")
        ptr, col, n = self.graph.ptr, self.graph.col, self.graph.n
        self.gb, self.a = gb, gb.algorithms
        self.A = gb.Matrix.from_csr(ptr, col, True, nrows=n, ncols=n)
        self.W = gb.Matrix.from_csr(ptr, col, self.graph.weights, nrows=n, ncols=n)

    def _dense(self, missing: float) -> Callable[[Any], np.ndarray]:
        return lambda x: x.to_dense(missing)

    def prepare_bfs(self) -> Prepared:
        return lambda: self.a.bfs_levels(self.A, self.graph.source), self._dense(-1)

    def prepare_sssp(self) -> Prepared:
        return lambda: self.a.sssp(self.W, self.graph.source), self._dense(np.inf)

    def prepare_components(self) -> Prepared:
        return lambda: self.a.connected_components(self.A), self._dense(-1)

    def prepare_mis(self) -> Prepared:
        return lambda: self.a.maximal_independent_set(self.A), self._dense(False)

    def prepare_cores(self) -> Prepared:
        return lambda: self.a.core_numbers(self.A), self._dense(-1)

    def prepare_clustering(self) -> Prepared:
        return lambda: self.a.local_clustering(self.A), self._dense(-1)

    def prepare_labels(self) -> Prepared:
        return lambda: self.a.label_propagation(self.A, max_iter=ROUNDS), self._dense(-1)

    def prepare_louvain(self) -> Prepared:
        return lambda: self.a.louvain(self.A, seed=1), self._dense(-1)

    def prepare_leiden(self) -> Prepared:
        return lambda: self.a.leiden(self.A, seed=1), self._dense(-1)


class NetworKit(Library):
    packages = ("networkit",)

    def setup(self) -> None:
        nk = importlib.import_module("networkit")
        nk.setNumberOfThreads(self.threads)
        nk.setSeed(1, False)
        graph, self.nk = self.graph, nk
        up = graph.rows < graph.col
        ends = graph.rows[up].astype(np.uint64), graph.col[up].astype(np.uint64)
        self.G = nk.GraphFromCoo(ends, n=graph.n)
        weights = graph.weights[up].astype(np.float64)
        self.W = nk.GraphFromCoo((weights, ends), n=graph.n, weighted=True)

    def _run(self, make: Call, read: Callable[[Any], Any]) -> Prepared:
        """The algorithm is constructed and run; its result is read later."""
        return lambda: make().run(), lambda found: np.asarray(read(found))

    def _partition(self, make: Call) -> Prepared:
        return self._run(make, lambda found: found.getPartition().getVector())

    def prepare_bfs(self) -> Prepared:
        make = lambda: self.nk.distance.BFS(self.G, self.graph.source, storePaths=False)
        return self._run(make, lambda found: _reached(found.getDistances(), -1))

    def prepare_sssp(self) -> Prepared:
        make = lambda: self.nk.distance.Dijkstra(self.W, self.graph.source, storePaths=False)
        return self._run(make, lambda found: _reached(found.getDistances(), np.inf))

    def prepare_searches(self) -> Prepared:
        sources = self.graph.sources(TOGETHER)
        return self._run(
            lambda: self.nk.distance.SPSP(self.G, sources), lambda found: _reached(found.getDistances(), -1).T
        )

    def prepare_mis(self) -> Prepared:
        luby = importlib.import_module("networkit.independentset").Luby()
        return lambda: luby.run(self.G), lambda found: np.asarray(found, bool)

    def prepare_components(self) -> Prepared:
        return self._partition(lambda: self.nk.components.ParallelConnectedComponents(self.G))

    def prepare_cores(self) -> Prepared:
        return self._run(lambda: self.nk.centrality.CoreDecomposition(self.G), lambda found: found.scores())

    def prepare_clustering(self) -> Prepared:
        make = lambda: self.nk.centrality.LocalClusteringCoefficient(self.G, turbo=True)
        return self._run(make, lambda found: found.scores())

    def prepare_labels(self) -> Prepared:
        return self._partition(lambda: self.nk.community.PLP(self.G, maxIterations=ROUNDS))

    def prepare_louvain(self) -> Prepared:
        return self._partition(lambda: self.nk.community.PLM(self.G))

    def prepare_leiden(self) -> Prepared:
        return self._partition(lambda: self.nk.community.ParallelLeiden(self.G))


class Igraph(Library):
    packages = ("igraph",)

    def setup(self) -> None:
        import igraph

        random.seed(1)
        graph = self.graph
        up = graph.rows < graph.col
        self.G = igraph.Graph(n=graph.n, edges=np.column_stack([graph.rows[up], graph.col[up]]))
        self.weights = graph.weights[up].astype(float).tolist()

    def _members(self, call: Call) -> Prepared:
        return call, lambda found: np.asarray(found.membership)

    def prepare_bfs(self) -> Prepared:
        call = lambda: self.G.distances(self.graph.source)
        return call, lambda found: _reached(found[0], -1)

    def prepare_sssp(self) -> Prepared:
        call = lambda: self.G.distances(self.graph.source, weights=self.weights, algorithm="dijkstra")
        return call, lambda found: np.asarray(found[0])

    def prepare_parents(self) -> Prepared:
        source = self.graph.source

        def read(found: Any) -> np.ndarray:
            answer = np.maximum(found[2], -1)
            answer[source] = source
            return answer

        return lambda: self.G.bfs(source), read

    def prepare_searches(self) -> Prepared:
        sources = self.graph.sources(TOGETHER)
        return lambda: self.G.distances(sources), lambda found: _reached(found, -1).T

    def prepare_betweenness(self) -> Prepared:
        sources = sorted(set(self.graph.sources(TOGETHER)))
        # Each path of an undirected graph counts half
        return lambda: self.G.betweenness(sources=sources), lambda found: 2 * np.asarray(found)

    def prepare_components(self) -> Prepared:
        return self._members(lambda: self.G.connected_components())

    def prepare_cores(self) -> Prepared:
        return self.G.coreness, np.asarray

    def prepare_clustering(self) -> Prepared:
        return lambda: self.G.transitivity_local_undirected(mode="zero"), np.asarray

    def prepare_louvain(self) -> Prepared:
        return self._members(self.G.community_multilevel)

    def prepare_leiden(self) -> Prepared:
        return self._members(lambda: self.G.community_leiden(objective_function="modularity", n_iterations=2))


class Scipy(Library):
    packages = ("scipy",)

    def setup(self) -> None:
        from scipy.sparse import csgraph

        self.csgraph, self.A, self.W = csgraph, self.graph.scipy(), self.graph.scipy(self.graph.weights)

    def prepare_bfs(self) -> Prepared:
        call = lambda: self.csgraph.dijkstra(self.A, indices=self.graph.source, unweighted=True)
        return call, lambda found: _reached(found, -1)

    def prepare_sssp(self) -> Prepared:
        return lambda: self.csgraph.dijkstra(self.W, indices=self.graph.source), np.asarray

    def prepare_parents(self) -> Prepared:
        source = self.graph.source

        def read(found: Any) -> np.ndarray:
            answer = np.where(found[1] < 0, -1, found[1])
            answer[source] = source
            return answer

        return lambda: self.csgraph.breadth_first_order(self.A, source), read

    def prepare_components(self) -> Prepared:
        call = lambda: self.csgraph.connected_components(self.A, directed=False)
        return call, lambda found: np.asarray(found[1])


LIBRARIES: dict[str, type[Library]] = {"bitblas": Ours, "NetworKit": NetworKit, "igraph": Igraph, "SciPy": Scipy}


def threaded(name: str, threads: int) -> str:
    """A library with its number of threads, of which all but NetworKit use one."""
    count = threads if name == "NetworKit" else 1
    return f"{name}, {count} CPU thread{'s' * (count > 1)}"


def _reached(distances: Any, missing: float) -> np.ndarray:
    """The distances, with `missing` at vertices that were not reached."""
    found = np.asarray(distances, np.float64)
    return np.where(found < 1e18, found, missing)


class Worker:
    def __init__(self, side: str, threads: int) -> None:
        self.kind, self.threads = LIBRARIES[side], threads
        for package in self.kind.packages:  # fails at the start if it is missing
            importlib.import_module(package)
        self.prepared: dict[str, Prepared] = {}
        self.found: dict[str, Any] = {}

    def versions(self) -> dict[str, str]:
        return {name: importlib.metadata.version(name) for name in self.kind.packages}

    def algorithms(self) -> list[str]:
        return [name.removeprefix("prepare_") for name in dir(self.kind) if name.startswith("prepare_")]

    def load(self, path: str) -> None:
        with np.load(path) as data:
            graph = Graph("", data["ptr"], data["col"])
        self.library = self.kind(graph, self.threads)
        self.prepared, self.found = {}, {}

    def prepare(self, name: str) -> None:
        """Prepare calls. Ours is run twice, which compiles; its loops then run as tables of kernels."""
        self.prepared[name] = getattr(self.library, f"prepare_{name}")()
        if isinstance(self.library, Ours):
            with self.library.gb.loop.at_once():
                self.prepared[name][0]()
            self.prepared[name][0]()

    def run(self, name: str, calls: int) -> tuple[float, float, float]:
        """Seconds of a call and of the processor, means of `calls` in a row, after untimed ones; and the share of the
        time in which threads waited for a core."""
        call, begin = self.prepared[name][0], time.perf_counter()
        while calls > 1 and time.perf_counter() - begin < WARM:
            call()
        waited, start, used = queued(), time.perf_counter(), time.process_time()
        for _ in range(calls):
            self.found[name] = call()
        stop, used = time.perf_counter(), time.process_time() - used
        return (stop - start) / calls, used / calls, (queued() - waited) / (stop - start)

    def answer(self, name: str) -> np.ndarray:
        return self.prepared[name][1](self.found[name])

    def cpu(self) -> float:
        """CPU seconds that this process has used."""
        return time.process_time()


if __name__ == "__main__":
    serve(Worker)
