"""Searches, shortest paths and betweenness against NumPy and SciPy: the same program text on python-graphblas and on
bitblas.
"""

import numpy as np
import oracles
import pytest
from algorithm_runs import (
    OnBitblas,
    OnGraphBLAS,
    as_dict,
    edges,
    every_dtype,
    every_graph,
    full,
    matrix,
    networkx,
    sources,
)
from oracles import GRAPHS, Graph

import bitblas as gb
from bitblas.algorithms import betweenness_centrality, bfs_levels, bfs_parents, edge_betweenness_centrality, sssp
from bitblas.algorithms.centrality import betweenness
from bitblas.algorithms.paths import bfs

TYPES = ["INT8", "UINT64", "FP32"]  # of shortest paths; single tests have others
# Each graph needs kernels for each type (lanes by the degrees): one type each, the others are slow.
GRAPHS_AND_TYPES = [
    pytest.param(graph, dtype, id=f"{name}-{dtype}", marks=[pytest.mark.slow] if (j - k) % len(TYPES) else [])
    for k, (name, graph) in enumerate(GRAPHS.items())
    for j, dtype in enumerate(TYPES)
]
CHAIN = Graph.of(3, [(0, 1), (1, 2)])
# Graph, weights, their type, distances from vertex 0.
SSSP = {
    "sums beyond the weights' type": (oracles.path(50), np.full(98, 100), "INT8", {v: 100 * v for v in range(50)}),
    "integers above 2^53": (CHAIN, [2**53, 1], "INT64", {0: 0, 1: 2**53, 2: 2**53 + 1}),
    "unsigned integers above 2^53": (CHAIN, [2**53, 1], "UINT64", {0: 0, 1: 2**53, 2: 2**53 + 1}),
    "a cycle of sum 0, and a negative loop that cannot be reached": (
        Graph.of(4, [(0, 1), (1, 2), (2, 0), (3, 0), (3, 3)]), [3, -1, -2, 1, -1], "INT64", {0: 0, 1: 3, 2: 2}),
    "an infinite weight is an edge": (CHAIN, [np.inf, 1], "FP64", {0: 0, 1: np.inf, 2: np.inf}),
    "all weights are zero": (GRAPHS["grid"], 0.0, "FP64", dict.fromkeys(range(63), 0)),
}  # fmt: skip


class Programs:
    # --- BFS ---

    @pytest.mark.in_turn
    @every_graph
    def test_bfs_levels(self, gb, graph):
        A = matrix(gb, graph)
        for source in sources(graph):
            v = bfs_levels(A, source, gb=gb)
            assert (v.size, v.dtype) == (graph.n, gb.dtypes.INT64)
            assert as_dict(v) == oracles.levels(graph, source)

    @pytest.mark.in_turn
    @every_graph
    def test_bfs_parents(self, gb, graph):
        A = matrix(gb, graph)
        for source in sources(graph):
            p = bfs_parents(A, source, gb=gb)
            assert (p.size, p.dtype) == (graph.n, gb.dtypes.INT64)
            assert oracles.parents_fault(graph, source, as_dict(p)) is None

    @every_dtype
    def test_bfs_reads_only_the_structure(self, gb, dtype):
        graph = GRAPHS["directed_random"]
        A = matrix(gb, graph, graph.integers(0, 1), dtype)  # the entries that are 0 or False are edges too
        assert as_dict(bfs_levels(A, 7, gb=gb)) == oracles.levels(graph, 7)
        assert oracles.parents_fault(graph, 7, as_dict(bfs_parents(A, 7, gb=gb))) is None

    def test_bfs_of_the_transpose_goes_against_the_edges(self, gb):
        graph = GRAPHS["directed_dag"]
        back = Graph.of(graph.n, zip(graph.cols, graph.rows, strict=True))
        assert as_dict(bfs_levels(matrix(gb, graph).T, 4, gb=gb)) == oracles.levels(back, 4)

    @pytest.mark.parametrize("program", [bfs_levels, bfs_parents, sssp])
    def test_source_may_be_a_numpy_integer(self, gb, program):
        A = matrix(gb, GRAPHS["tree"])
        assert program(A, np.uint8(3), gb=gb).isequal(program(A, 3, gb=gb))

    # --- SSSP ---

    @pytest.mark.in_turn
    @pytest.mark.parametrize(("graph", "dtype"), GRAPHS_AND_TYPES)
    def test_sssp(self, gb, graph, dtype):
        weights = graph.integers(0, 9)
        A = matrix(gb, graph, weights, dtype)
        for source in sources(graph):
            d = sssp(A, source, gb=gb)
            assert d.dtype == (dtype if dtype.startswith("FP") else "INT64")
            assert as_dict(d) == oracles.distances(graph, weights, source)  # these sums are exact in FP32 too

    @pytest.mark.parametrize("dtype", ["FP32", "FP64"])
    def test_sssp_fractions(self, gb, dtype):
        graph = GRAPHS["random"]
        weights = np.random.default_rng(8).random(len(graph.rows))
        found = as_dict(sssp(matrix(gb, graph, weights, dtype), 0, gb=gb))
        assert found == pytest.approx(oracles.distances(graph, weights, 0), rel=1e-6)

    @pytest.mark.in_turn
    @pytest.mark.parametrize("dtype", ["INT8", "INT64", "FP32", "FP64"])
    @pytest.mark.parametrize("seed", range(4))
    def test_sssp_negative_weights(self, gb, dtype, seed):
        # Lift weights w >= 0 to w + h[i] - h[j]: the weights turn negative, no cycle does.
        graph = oracles.random(60, 200, seed)
        height = np.random.default_rng(seed).integers(0, 20, graph.n)
        weights = graph.integers(0, 9, seed) + height[graph.rows] - height[graph.cols]
        assert weights.min() < 0
        found = as_dict(sssp(matrix(gb, graph, weights, dtype), 0, gb=gb))
        assert found == oracles.distances(graph, weights, 0)

    @pytest.mark.parametrize("name", SSSP)
    def test_sssp_of(self, gb, name):
        graph, weights, dtype, expected = SSSP[name]
        assert as_dict(sssp(matrix(gb, graph, weights, dtype), 0, gb=gb)) == expected

    def test_sssp_bool_counts_edges(self, gb):
        graph = GRAPHS["random"]
        for values in (True, False, graph.integers(0, 1)):
            d = sssp(matrix(gb, graph, values, "BOOL"), 0, gb=gb)
            assert d.dtype == gb.dtypes.INT64
            assert as_dict(d) == oracles.levels(graph, 0)

    @pytest.mark.in_turn
    @pytest.mark.parametrize("dtype", ["INT64", "FP32", "FP64"])
    @pytest.mark.parametrize(
        ("n", "edges", "weights"),
        [
            (1, [(0, 0)], [-1]),
            (3, [(0, 1), (1, 2), (2, 1)], [5, 1, -2]),
            (4, [(0, 1), (1, 2), (2, 3), (3, 0)], [1, 1, 1, -4]),
            (2, [(0, 1), (1, 0)], [-1, -1]),
        ],
    )
    def test_sssp_negative_cycle(self, gb, n, edges, weights, dtype):
        with pytest.raises(gb.exceptions.InvalidValue, match="negative cycle"):
            sssp(matrix(gb, Graph.of(n, edges), weights, dtype), 0, gb=gb)

    @pytest.mark.parametrize("dtype", ["FP32", "FP64"])
    @pytest.mark.parametrize("bad", [np.nan, -np.inf])
    @pytest.mark.parametrize("other", [1, -1])
    def test_sssp_refuses(self, gb, dtype, bad, other):
        A = matrix(gb, Graph.of(4, [(0, 1), (2, 3), (3, 2)]), [1, bad, other], dtype)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: .*-infinity, got .*(NaN|-infinity)\. Hint"):
            sssp(A, 0, gb=gb)

    @pytest.mark.parametrize(
        "dtype", ["INT8", "FP64", *(pytest.param(t, marks=pytest.mark.slow) for t in ("UINT64", "FP32"))]
    )
    @pytest.mark.parametrize("delta", [0.25, 1, 5, 1e300])
    def test_sssp_delta_changes_nothing(self, gb, dtype, delta):
        graph = GRAPHS["random"]
        weights = graph.integers(0, 30)
        found = as_dict(sssp(matrix(gb, graph, weights, dtype), 0, delta=delta, gb=gb))
        assert found == oracles.distances(graph, weights, 0)

    @pytest.mark.parametrize("delta", [0, -1, float("nan")])
    def test_sssp_delta_out_of_range(self, gb, delta):
        with pytest.raises(gb.exceptions.InvalidValue, match=f"argument delta: expected .*, got {delta}.*Hint"):
            sssp(matrix(gb, GRAPHS["tree"], 1.0), 0, delta=delta, gb=gb)

    # --- betweenness ---

    @pytest.mark.in_turn
    @every_graph
    def test_betweenness(self, gb, graph):
        some = None if graph.n < 40 else sources(graph)  # for the emulator's sake
        c = betweenness_centrality(matrix(gb, graph), some, gb=gb)
        assert c.dtype == gb.dtypes.FP64
        assert full(c) == pytest.approx(oracles.betweenness(graph, some))

    def test_betweenness_counts_a_source_as_often_as_it_is_named(self, gb):
        graph = GRAPHS["disconnected"]
        found = full(betweenness_centrality(matrix(gb, graph), [9, np.int8(3), 9], gb=gb))
        assert found == pytest.approx(oracles.betweenness(graph, [9, 3, 9]))
        nothing = full(betweenness_centrality(matrix(gb, graph), [], gb=gb))
        assert not nothing.any() and not np.signbit(nothing).any()

    def test_betweenness_of_sources_that_are_drawn(self, gb):
        A = matrix(gb, GRAPHS["disconnected"])
        drawn = betweenness._sources(gb, None, 4, 1, 11)
        assert len(set(drawn)) == 4 and set(drawn) != set(betweenness._sources(gb, None, 4, None, 11))
        for program in (betweenness_centrality, edge_betweenness_centrality):
            assert program(A, k=4, seed=1, gb=gb).isequal(program(A, drawn, gb=gb))
            for k, said in ((0, "1 or more, got 0"), (12, "at most 11, the number of vertices, got 12")):
                with pytest.raises(gb.exceptions.InvalidValue, match=f"argument k: expected .*{said}.*Hint"):
                    program(A, k=k, gb=gb)
            given = "argument k: expected None if sources are given, got 2"
            with pytest.raises(gb.exceptions.InvalidValue, match=given):
                program(A, [1], k=2, gb=gb)

    def test_betweenness_is_that_of_networkx(self, gb):
        graph, nx = GRAPHS["karate"], pytest.importorskip("networkx")
        right = nx.betweenness_centrality(networkx(graph), normalized=False)
        assert as_dict(betweenness_centrality(matrix(gb, graph), gb=gb) / 2) == pytest.approx(right)

    @pytest.mark.parametrize("name", ["disconnected", "directed_dag", "self_loops"])
    def test_betweenness_by_lengths_and_divided(self, gb, name):
        nx, graph = pytest.importorskip("networkx"), GRAPHS[name]
        weights = graph.symmetric_integers(1, 3)
        A, G, half = matrix(gb, graph, weights, "INT8"), networkx(graph, weights), 2 if graph.symmetric else 1
        plain = betweenness_centrality(A, weighted=True, gb=gb)
        theirs = nx.betweenness_centrality(G, weight="weight", normalized=False)
        assert full(plain) / half == pytest.approx(list(theirs.values()))
        for weight in (None, "weight"):
            options = {"weighted": weight is not None, "normalized": True, "gb": gb}
            for ends in (False, True):
                found = full(betweenness_centrality(A, endpoints=ends, batch=4, **options))
                theirs = nx.betweenness_centrality(G, weight=weight, endpoints=ends)
                assert found == pytest.approx(list(theirs.values()))
            found = edges(edge_betweenness_centrality(A, **options))
            for (u, v), value in nx.edge_betweenness_centrality(G, weight=weight).items():
                both = found[u, v] + (found[v, u] if graph.symmetric and u != v else 0)
                assert both == pytest.approx(value)
        # from two sources: NetworkX extrapolates from k drawn ones
        sources = [0, graph.n - 1]
        found = full(betweenness_centrality(A, sources, weighted=True, normalized=True, gb=gb))
        whole = sum(full(betweenness_centrality(A, [v], weighted=True, gb=gb)) for v in sources)
        pairs = [(2 - (v in sources)) * (graph.n - 2) for v in range(graph.n)]
        assert found == pytest.approx(whole / pairs)

    def test_lengths_that_betweenness_refuses(self, gb):
        for program in (betweenness_centrality, edge_betweenness_centrality):
            for low in (0.0, -1.0, np.nan):
                with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected weights .*Hint"):
                    program(matrix(gb, CHAIN, [1.0, low]), weighted=True, gb=gb)
            with pytest.raises(gb.exceptions.InvalidValue, match="increased by, got one lost in rounding"):
                program(matrix(gb, CHAIN, [1e20, 1.0]), weighted=True, gb=gb)
            with pytest.raises(TypeError, match="argument normalized: expected True or False"):
                program(matrix(gb, CHAIN), normalized=1, gb=gb)

    @pytest.mark.parametrize("wrong", [5, 1.0, "01", [1.0], [None], [True]])
    def test_betweenness_sources_of_a_wrong_kind(self, gb, wrong):
        with pytest.raises(TypeError, match=r"argument sources: expected .*vertex number.*, got .*Hint"):
            betweenness_centrality(matrix(gb, GRAPHS["tree"]), wrong, gb=gb)

    def test_betweenness_source_out_of_range(self, gb):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"argument sources: .*0 to 14.*got 15.*Hint"):
            betweenness_centrality(matrix(gb, GRAPHS["tree"]), [0, 15], gb=gb)


def test_sssp_looks_at_the_weights_once():
    """Facts about weights are cached with the matrix until it changes."""
    A = matrix(gb, GRAPHS["tree"], GRAPHS["tree"].integers(1, 9), "FP32")
    with gb.trace() as before:
        first = sssp(A, 0)
    with gb.trace() as t:
        assert sssp(A, 0).isequal(first)
    assert [any("reduce_scalar" in run.plan for run in x) for x in (before, t)] == [True, False]
    i, j, _ = A.to_coo()
    A[i[0], j[0]] = float("nan")
    with pytest.raises(gb.exceptions.InvalidValue, match="NaN"):
        sssp(A, 0)


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


class TestOnBitblas(OnBitblas, Programs):
    """The backends."""


@pytest.mark.parametrize("limit", [None, 5, 8, 20])
def test_levels_of_long_paths_have_more_bits(device, monkeypatch, limit):
    n, sources = 40, [0, 39, 20]
    at = np.arange(n - 1)
    A = gb.Matrix.from_coo([*at, *at + 1], [*at + 1, *at], True, nrows=n, ncols=n, device=device)
    V = gb.algorithms.levels_from_each(A, sources, depth_limit=limit)
    monkeypatch.setattr(bfs, "SHORT", (8, 16))
    A = A.dup()
    A[0, 2] = True  # other contents
    del A[0, 2]
    long = gb.algorithms.levels_from_each(A, sources, depth_limit=limit)
    assert V.dtype == long.dtype == gb.dtypes.INT64 and long.isequal(V)
    level = abs(np.arange(n) - np.array(sources)[:, None])
    rows, cols = np.nonzero(level <= (n if limit is None else limit))
    i, j, found = map(A.device.to_host, V.to_coo())
    assert (i == rows).all() and (j == cols).all() and (found == level[rows, cols]).all()


def test_betweenness_of_more_paths_than_floats_count(device, tune):
    """A chain of 290 diamonds with 12 ways each: the search from its middle counts with floats, not so the one from its
    end, with which it runs."""
    tune({"columns.threads": 32})
    ways, many = 12, 290
    first = np.arange(many) * (ways + 1)
    at = first[:, None] + np.arange(1, ways + 1)
    rows = np.concatenate([np.repeat(first, ways), at.ravel()])
    cols = np.concatenate([at.ravel(), np.repeat(first + ways + 1, ways)])
    n = many * (ways + 1) + 1
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, device=device)
    expected = np.zeros(n)
    for source in (0, first[140]):
        # all paths pass through the ends of diamonds, and 1 of 12 through each of the others
        expected[first[first > source]] += n - 1 - first[first > source]
        beyond = first >= source
        expected[at[beyond]] += ((n - 1 - ways - first[beyond]) / ways)[:, None]
    found = betweenness_centrality(A, [0, int(first[140])])
    np.testing.assert_allclose(A.device.to_host(found.to_dense()), expected, rtol=1e-9)


def test_betweenness_by_lengths_of_more_paths_than_floats_count(on_the_cpu):
    """On the CPU: the chain has thousands of levels."""
    ends = [(9 * k, 9 * k + a) for k in range(345) for a in range(1, 9)]
    graph = Graph.of(9 * 345 + 1, [*ends, *((v, u + 9) for u, v in ends)])  # 8^345 paths from end to end
    A = matrix(gb, graph, 2, "INT8")
    right = full(betweenness_centrality(A, [0]))
    assert full(betweenness_centrality(A, [0], weighted=True)) == pytest.approx(right, rel=1e-8)
    E, right = (edge_betweenness_centrality(A, [0], weighted=on) for on in (True, False))
    assert edges(E) == pytest.approx(edges(right), rel=1e-8)
