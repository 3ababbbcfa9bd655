"""Arrays that algorithms work with between statements keep to the limit of memory; its errors are those of bitblas."""

from __future__ import annotations

import inspect
import re
import tracemalloc

import fake_cupy
import numpy as np
import pytest

import bitblas as gb
from bitblas import algorithms
from bitblas import device as devices
from bitblas.algorithms import generators
from bitblas.algorithms._algorithm import algorithm, on_device_of_matrix
from bitblas.algorithms.communities import label_propagation as label_propagation_module
from bitblas.config import config
from bitblas.device import memory
from bitblas.exceptions import OutOfMemory
from bitblas.graph import methods

NEEDS = re.compile(r"needs (\d+) bytes on device '\w+', (\d+) are in use, the limit is (\d+) \(config.memory_limit\)")
GIVEN = {
    "source": 0,
    "sink": 399,
    "center": 0,
    "starts": [0, 1],
    "vertices": [0, 1, 2],
    "k": 3,
    "length": 5,
    "counts": 3,
}
N = 400
ARRAYS = {name: program.facts.arrays for name, program in methods.programs().items() if any(program.facts.arrays)}


@pytest.fixture(autouse=True)
def _lifted(few_objects):
    yield
    config.memory_limit = None


def graph(bipartite=False, device="cpu", n=N, nvals=4000):
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, n, nvals), rng.integers(0, n, nvals)
    if bipartite:
        i, j = i // 2 * 2, j // 2 * 2 + 1
    kept = i != j
    i, j = i[kept], j[kept]
    rows, cols = np.concatenate([i, j]), np.concatenate([j, i])
    return gb.Matrix.from_coo(rows, cols, np.ones(len(rows)), nrows=n, ncols=n, dup_op="min", device=device)


def call(name, A):
    """The algorithm with arguments that it must have."""
    program = getattr(algorithms, name)
    given = {key: value for key, value in GIVEN.items() if key in inspect.signature(program).parameters}
    if "betweenness" in name or name.endswith("_each"):
        given = {"sources": [0, 1]}
    if name == "modularity":
        given = {"labels": gb.Vector.from_dense(np.zeros(A.nrows, np.int64))}
    if name == "katz_centrality":
        given = {"alpha": 0.001}
    return program(A, **given)


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_every_algorithm_with_arrays_foresees_them(name):
    """The bytes of its estimate are too many by one: nothing is done; what it says that it needs is in the error."""
    with config.set(device="cpu"):
        A = graph(bipartite="bipart" in name or name == "maximum_matching")
        before = A.dup()
        vertex, entry = ARRAYS[name]
        estimate = vertex * A.nrows + entry * A.nvals
        config.memory_limit = memory.bytes_on(A.device) + estimate - 1
        with pytest.raises(OutOfMemory) as error:
            call(name, A)
        needed, now, limit = map(int, NEEDS.search(str(error.value)).groups())
        assert f"{name}: arrays of {A.nrows} vertices and {A.nvals} entries" in str(error.value)
        assert needed == estimate and now + needed > limit == config.memory_limit
        config.memory_limit = None
        assert A.isequal(before)


def test_every_algorithm_has_an_estimate_or_works_by_statements():
    """Those that are not listed take vectors, which statements foresee, or say what they need when it is known."""
    statements = {
        "all_pairs_distances", "ancestors", "betweenness_centrality", "bfs_levels", "bfs_parents",
        "bipartite_projection", "bipartite_sides", "closeness_centrality", "color_classes", "coloring",
        "connected_components", "descendants", "diameter", "diameter_bounds", "distances_from_each", "eccentricity",
        "ego_graph", "eigenvector_centrality", "harmonic_centrality", "hits", "katz_centrality", "levels_from_each",
        "maximal_independent_set", "pagerank", "sample_neighbors", "spectral_layout", "spring_layout", "sssp",
        "strongly_connected_components", "topological_levels", "weakly_connected_components",
    }  # fmt: skip
    others = {*methods.programs()} - {*ARRAYS}
    assert statements <= others
    for name in others - statements:
        text = inspect.getsource(inspect.getmodule(methods.programs()[name]))
        assert not re.search(r"to_coo|to_dense|degrees|index_range", text), f"{name}: state its arrays"


@pytest.mark.parametrize(
    "name", ["label_propagation", "triangles_per_edge", "edge_betweenness_centrality", "sssp_tree"]
)
def test_estimates_are_below_the_peak(name):
    with config.set(device="cpu", threads=1):
        call(name, graph())  # compiles
        vertex, entry = ARRAYS[name]
        peaks = []
        for _ in range(3):  # the least: a loop may compile more when it has run for a while
            A = graph()
            tracemalloc.start()
            call(name, A)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert min(peaks) / 8 < vertex * A.nrows + entry * A.nvals <= min(peaks)


def test_label_propagation_beyond_the_limit(device):
    with config.set(device=device):
        A = graph(device=device, n=40, nvals=200)
        wanted = algorithms.label_propagation(A)
        config.memory_limit = memory.bytes_on(devices.get(device)) + 1000
        with pytest.raises(
            OutOfMemory, match=r"label_propagation: arrays of 40 vertices and \d+ entries: needs \d+ bytes"
        ):
            algorithms.label_propagation(A)
        config.memory_limit = None
        assert algorithms.label_propagation(A).isequal(wanted)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("jaccard", {}, "similarity: scores of"), ("square_clustering", {}, "square_clustering: .* pairs of vertices"),
        ("all_pairs_distances", {}, "distances of 400 x 400 vertices"), ("spring_layout", {"rounds": 1}, "forces of"),
        ("random_walks", {"starts": [0] * 400, "length": 50}, "draws of 400 walks of 50 steps"),
    ],
)  # fmt: skip
def test_results_in_between_are_foreseen(name, given, said, monkeypatch):
    """Sizes that are known only later, such as the pairs of a product."""
    with config.set(device="cpu"):
        A, seen = graph(), []
        foresee = type(A.device).foresee
        monkeypatch.setattr(
            type(A.device),
            "foresee",
            lambda self, what, nbytes: (seen.append((what, nbytes)), foresee(self, what, nbytes)),
        )
        getattr(algorithms, name)(A, **given)
        what, nbytes = next((what, nbytes) for what, nbytes in seen if re.search(said, what))
        assert nbytes > 10_000

        def refuse(self, text, wanted):
            if text == what:
                raise OutOfMemory(f"{text}: needs {wanted} bytes")
            return foresee(self, text, wanted)

        monkeypatch.setattr(type(A.device), "foresee", refuse)
        with pytest.raises(OutOfMemory, match=f"needs {nbytes} bytes"):
            getattr(algorithms, name)(A, **given)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("rmat_graph", (10,)), ("grid_graph", (60, 60)), ("erdos_renyi_graph", (400, 0.1)),
        ("small_world_graph", (400, 6, 0.1)), ("barabasi_albert_graph", (400, 6)),
        ("copying_model_graph", (400, 6, 0.1)),
    ],
)  # fmt: skip
def test_generators_foresee_their_edges(name, args):
    with config.set(device="cpu"):
        config.memory_limit = memory.bytes_on(devices.get("cpu")) + 20_000
        with pytest.raises(OutOfMemory, match=rf"{name}: arrays of \d+ edges: needs \d+ bytes"):
            getattr(algorithms, name)(*args)
        config.memory_limit = None
        assert getattr(algorithms, name)(*args).nvals > 1000


def no_memory(*args, **options):
    raise MemoryError("Unable to allocate 7.45 GiB for an array")  # NumPy's error; CuPy's is a subclass


def test_errors_of_memory_are_those_of_bitblas(monkeypatch):
    """Wherever in an algorithm an array fails; other errors are unchanged."""
    A = graph()
    monkeypatch.setattr(label_propagation_module, "index_range", no_memory)
    monkeypatch.setattr(generators.random_edges, "index_range", no_memory)
    for run in (
        lambda: algorithms.label_propagation(A),
        lambda: gb.Graph(A).label_propagation(),
        lambda: algorithms.rmat_graph(4),
    ):
        with config.set(device="cpu"), pytest.raises(OutOfMemory, match="cpu: Unable to allocate"):
            run()
    with pytest.raises(TypeError, match="max_iter"):
        algorithms.label_propagation(A, max_iter="many")


def test_an_array_of_cupy_that_fails_in_an_algorithm(fake):
    """CuPy's OutOfMemoryError, raised between statements, says what was needed."""
    fake(free=1000)
    with config.set(device="cuda"):

        class OnGpu:
            device = devices.get("cuda")

        @on_device_of_matrix
        def program(A, *, gb=None):
            raise fake_cupy.OutOfMemoryError(123456)

        @algorithm(answer="generated graph")
        def generator(*, gb=None):
            raise fake_cupy.OutOfMemoryError(123456)

        for run in (lambda: program(OnGpu()), generator):
            with pytest.raises(OutOfMemory, match="needs 123456 bytes on device 'cuda', 1000 are free") as error:
                run()
            assert isinstance(error.value.__cause__, fake_cupy.OutOfMemoryError)
