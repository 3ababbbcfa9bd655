"""The memory limit: what counts, what is rejected, and what is stored or built smaller because of it; arrays that
algorithms work with between statements keep to it, and errors of memory are those of bitblas."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tracemalloc

import fake_cupy
import numpy as np
import pytest

import bitblas as gb
from bitblas import algorithms, operations
from bitblas import device as devices
from bitblas.algorithms import generators
from bitblas.algorithms._algorithm import algorithm, on_device_of_matrix
from bitblas.algorithms.communities import label_propagation as label_propagation_module
from bitblas.config import config
from bitblas.device import memory
from bitblas.exceptions import OutOfMemory
from bitblas.graph import methods
from bitblas.plan import format_choice as plan_forms
from bitblas.plan.facts import Facts
from bitblas.plan.format_choice import within

NUMBERS = re.compile(
    r"needs (\d+) bytes on device '[\w:]+', (\d+) are in use, the limit is (\d+) \(config.memory_limit\)"
)


pytestmark = pytest.mark.usefixtures("few_objects")


def on(device: str) -> int:
    return memory.bytes_on(devices.get(device))


def refused(build, limit, said=None) -> tuple[int, int]:
    """What a build needs, by its error, and the bytes that are in use."""
    with config.set(memory_limit=limit), pytest.raises(OutOfMemory, match=said) as error:
        build()
    needed, now, told = map(int, NUMBERS.search(str(error.value)).groups())
    assert told == limit < needed + now
    return needed, now


def peak_of(run) -> int:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def entries(n: int = 400, k: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.integers(0, n, k), rng.integers(0, n, k)


def test_limits_are_bytes_or_text():
    sizes = {"4GiB": 4 << 30, "500 MB": 500_000_000, "1.5kib": 1536, 7: 7, "12": 12, None: None}
    for text, number in sizes.items():
        with config.set(memory_limit=text):
            assert config.memory_limit == number == config.get("memory_limit")
        assert config.memory_limit is None
    for wrong in (-1, 1.5, True, "much", "4 XB", "", "-3"):
        with pytest.raises(ValueError, match="memory_limit: expected bytes, text such as '4GiB', or None, got"):
            config.set(prefer="memory", memory_limit=wrong)
        assert config.prefer == "time"
    code = "import bitblas; print(bitblas.config.memory_limit)"
    where = {"BITBLAS_MEMORY_LIMIT": "2MiB", "PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=where, check=True)
    assert run.stdout.strip() == str(2 << 20)


def test_too_little_and_exactly_enough(device):
    i, j = entries()
    kept = gb.Matrix.from_coo(i, j, True, nrows=400, ncols=400, format="csr")
    builds = (
        lambda: gb.Matrix.from_coo(i, j, True, nrows=400, ncols=400, format="csr"),
        lambda: gb.Matrix.from_chunks([(i, j)], nrows=400, ncols=400, format="csr"),
        lambda: kept.mxm(kept, gb.semiring.any_pair).new(),
        lambda: gb.Matrix(gb.dtypes.BOOL, 5000, 400),
    )
    for build in builds:
        build()  # what operands keep is there
        limit = sum(refused(build, on(device) + 100))
        for _ in range(4):  # a later step may need more than the one that was refused
            try:
                with config.set(memory_limit=limit):
                    made = build()
                break
            except OutOfMemory:
                limit = sum(refused(build, limit))
        assert made.memory().total <= limit
        del made
        refused(build, limit - 1)
        assert build().nrows > 0


@pytest.mark.parametrize("shape", [(100_000, 50, 20_000), (60, 1 << 20, 40_000)])
def test_what_a_build_needs_is_what_it_takes(shape, tune):
    """On the CPU: never more than was foreseen, and not much less than that."""
    tune({"chunks.least_entries": 1 << 20})  # nothing is gained by chunks
    (nrows, ncols, k), rng = shape, np.random.default_rng(4)
    i, j, x = rng.integers(0, nrows, k), rng.integers(0, ncols, k), rng.random(k)
    unique = np.unique(i * ncols + j)
    rows, cols, ptr = unique // ncols, unique % ncols, np.arange(k + 1)
    how = {"nrows": nrows, "ncols": ncols, "device": "cpu", "format": "csr"}
    for build in (
        lambda: gb.Matrix.from_coo(i, j, True, **how),
        lambda: gb.Matrix.from_coo(i, j, x, dup_op=gb.binary.plus, **how),
        lambda: gb.Matrix.from_coo(rows, cols, x[: len(unique)], **how),
        lambda: gb.Matrix.from_csr(ptr, j, True, **(how | {"nrows": k})),
    ):
        build()
        needed, _ = refused(build, on("cpu"))
        assert needed / 4 < peak_of(build) <= needed


def test_objects_stay_as_they_were(device):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3], nrows=3000, ncols=3000, format="csr")
    B = A.dup()
    for statement in (
        lambda: A << A.mxm(A),
        lambda: A(gb.binary.plus) << A.T,
        lambda: A._store.structure.layout("b2sr8"),
        lambda: A.T.new(),
    ):
        refused(statement, on(device))
    assert A.isequal(B)
    A << A.mxm(A)
    assert A.nvals == 3


def test_what_is_held_is_counted_once_and_given_back(device):
    start = on(device)
    A = gb.Matrix.from_coo(*entries(), 1.5, nrows=400, ncols=400, format="csr")
    B, v = A.dup(), gb.Vector.from_dense(np.arange(1000.0))
    assert on(device) == start + A.memory().total + v.memory().total and B.nvals == A.nvals
    del A, B, v
    assert on(device) == start


# ---- smaller forms --------------------------------------------------------------------------------------------------

SEEN = Facts(10_000, 10_000, 80_000, ((4, 40_000.0), (8, 38_000.0), (16, 35_000.0), (32, 30_000.0), (64, 25_000.0)))
CSR, SMALL, LESS = (SEEN.bytes_of(key) for key in ("csr", "b2sr4", "mplg"))


def test_the_plan_takes_a_smaller_form_under_a_limit(monkeypatch):
    key, reason = within(SEEN, "csr", 2 * CSR - 1)
    assert key == "mplg" and LESS < SMALL < CSR and "mplg is the smallest" in reason
    monkeypatch.setattr(Facts, "forms", property(lambda self: ("csr", "b2sr4", "b2sr8")))
    assert within(SEEN, "csr", 10 * CSR) == within(SEEN, "csr", 2 * CSR) == ("csr", "")
    key, reason = within(SEEN, "csr", 2 * CSR - 1)
    assert key == "b2sr4" and SMALL < CSR
    assert f"csr and its transpose need {2 * CSR} bytes, b2sr4 is the smallest" in reason
    assert within(SEEN, "csr", CSR + SMALL) == ("csr", ""), "no room to build it"
    key, reason = within(SEEN, "b2sr8", CSR + 10)
    assert key == "csr" and "no room to build b2sr8" in reason


def loose() -> tuple[np.ndarray, np.ndarray]:
    """1000 x 1000 with 1.9 entries in a tile: too few for tiles to be fast, enough for 4 x 4 ones to be small."""
    rng, i, j = np.random.default_rng(2), [], []
    for row in range(0, 1000, 8):
        tiles = (rng.permutation(125)[:36] * 8).tolist()
        for pair in range(4):
            some = tiles[8 * pair : 8 * pair + 8]
            i += [row + 2 * pair] * 9 + [row + 2 * pair + 1] * 8
            j += [*some, tiles[32 + pair], *some]
    return np.array(i), np.array(j)


def test_a_limit_changes_the_choice_and_the_profile_says_why(device, monkeypatch):
    monkeypatch.setattr(plan_forms, "best_form", lambda *args, **options: "csr")  # whatever calibrations say
    A = gb.Matrix.from_coo(*loose(), True, nrows=1000, ncols=1000)
    one = gb.Vector.from_scalar(True, 1000).diag()
    A.mxm(one, gb.semiring.any_pair).new()  # what the operands keep is there
    seen = A.profile().facts
    assert A.format == A.profile().chosen == "csr" and not A.profile().reason
    budget = seen.bytes_of("csr") + seen.bytes_of("mplg") + 500
    assert budget < 2 * seen.bytes_of("csr")
    with config.set(memory_limit=on(device) + budget):
        B = A.mxm(one, gb.semiring.any_pair).new()
        profile = B.profile()
        assert B.format == profile.chosen == "mplg" and "mplg is the smallest that can be built" in str(profile)
    assert B.isequal(A) and A.mxm(one, gb.semiring.any_pair).new().format == "csr"


def test_entries_are_taken_in_chunks_where_sorting_them_all_would_not_fit(device, monkeypatch, tune):
    tune({"chunks.least_entries": 64})
    i, j = entries(100, 20_000)
    original = operations.build.from_counts
    for x, dup in ((True, None), (np.arange(20_000.0) / 7, gb.binary.plus), (np.arange(20_000), gb.binary.minus)):
        make = lambda x=x, dup=dup: gb.Matrix.from_coo(i, j, x, nrows=100, ncols=100, dup_op=dup, format="csr")
        whole, calls = make(), []
        counted = lambda *a, calls=calls, **k: calls.append(1) or original(*a, **k)
        limit = on(device) + 20_000 * (19 if x is True else 40)
        with config.set(memory_limit=limit), monkeypatch.context() as m:
            m.setattr(operations.build, "from_counts", counted)
            A = make()
        assert calls and A.isequal(whole, check_dtype=True) and A.nvals < 20_000


# ---- algorithms -----------------------------------------------------------------------------------------------------

GIVEN = {
    "source": 0,
    "sink": 399,
    "target": 7,
    "center": 0,
    "starts": [0, 1],
    "vertices": [0, 1, 2],
    "k": 3,
    "length": 5,
    "counts": 3,
}
N = 400
ARRAYS = {name: program.facts.arrays for name, program in methods.programs().items() if any(program.facts.arrays)}


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
    special = {
        "minimum_cost_flow": {"source": 0, "sink": 399, "costs": A},
        "distances_of_pairs": {"pairs": A},
        "modularity": {"labels": gb.Vector.from_dense(np.zeros(A.nrows, np.int64))},
        "katz_centrality": {"alpha": 0.001},
    }
    if "betweenness" in name or name.endswith("_each"):
        given = {"sources": [0, 1]}
    return program(A, **special.get(name, given))


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_every_algorithm_with_arrays_foresees_them(name):
    """The bytes of its estimate are too many by one: nothing is done; what it says that it needs is in the error."""
    with config.set(device="cpu"):
        A = graph(bipartite="bipart" in name or name == "maximum_matching")
        before = A.dup()
        vertex, entry = ARRAYS[name]
        estimate = vertex * A.nrows + entry * A.nvals
        said = f"^{name}: arrays of {A.nrows} vertices and {A.nvals} entries"
        needed, _ = refused(lambda: call(name, A), on("cpu") + estimate - 1, said)
        assert needed == estimate and A.isequal(before)


def test_every_algorithm_has_an_estimate_or_works_by_statements():
    """Those that are not listed take vectors, which statements foresee, or say what they need when it is known."""
    statements = {
        "all_pairs_distances", "ancestors", "approximate_pagerank", "betweenness_centrality", "bfs_levels",
        "bfs_parents", "bipartite_projection", "bipartite_sides", "closeness_centrality", "color_classes", "coloring",
        "connected_components", "descendants", "diameter", "diameter_bounds", "distances_from_each", "eccentricity",
        "ego_graph", "eigenvector_centrality", "forceatlas2_layout", "harmonic_centrality", "hits",
        "katz_centrality", "k_shortest_paths", "levels_from_each", "maximal_independent_set", "pagerank",
        "sample_neighbors", "spectral_layout", "spring_layout", "sssp",
        "strongly_connected_components", "topological_levels", "weakly_connected_components",
    }  # fmt: skip
    others = {*methods.programs()} - {*ARRAYS}
    assert statements <= others
    for name in others - statements:
        text = inspect.getsource(inspect.getmodule(methods.programs()[name]))
        assert not re.search(r"to_coo|to_dense|degrees|index_range", text), f"{name}: state its arrays"


@pytest.mark.parametrize("name", ["triangles_per_edge", "edge_betweenness_centrality", "sssp_tree"])
def test_estimates_are_below_the_peak(name):
    with config.set(device="cpu", threads=1):
        call(name, graph())  # compiles
        (vertex, entry), made = ARRAYS[name], [graph() for _ in range(3)]
        # the least: a loop may compile more when it has run for a while
        peak = min(peak_of(lambda A=A: call(name, A)) for A in made)
        assert peak / 8 < vertex * made[0].nrows + entry * made[0].nvals <= peak


def test_label_propagation_beyond_the_limit(device):
    with config.set(device=device):
        A = graph(device=device, n=40, nvals=200)
        wanted = algorithms.label_propagation(A)
        said = r"label_propagation: arrays of 40 vertices and \d+ entries: needs \d+ bytes"
        refused(lambda: algorithms.label_propagation(A), on(device) + 1000, said)
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
        foresee, refuses = type(A.device).foresee, ""

        def spy(self, what, nbytes):
            seen.append((what, nbytes))
            if what == refuses:
                raise OutOfMemory(f"{what}: needs {nbytes} bytes")
            return foresee(self, what, nbytes)

        monkeypatch.setattr(type(A.device), "foresee", spy)
        getattr(algorithms, name)(A, **given)
        refuses, nbytes = next((what, nbytes) for what, nbytes in seen if re.search(said, what))
        assert nbytes > 10_000
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
        make = lambda: getattr(algorithms, name)(*args)
        refused(make, on("cpu") + 20_000, rf"{name}: arrays of \d+ edges: needs \d+ bytes")
        assert make().nvals > 1000


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
    fake(free=6100)  # of which 5100 had been allocated
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
