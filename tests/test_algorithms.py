"""The algorithms against NumPy and SciPy, the same program text on python-graphblas and on bitblas.

`Programs` holds the tests; a class per library gives them their `gb`. The python-graphblas half checks the programs
themselves and needs no backend of bitblas; the bitblas half checks the backends, on each `device`.
"""

import ast
import importlib.util
import inspect
from pathlib import Path

import hypothesis
import numpy as np
import oracles
import pytest
from oracles import GRAPHS, Graph

from bitblas import algorithms
from bitblas.algorithms import (
    betweenness_centrality,
    bfs_levels,
    bfs_parents,
    coloring,
    components,
    connected_components,
    maximal_independent_set,
    minimum_spanning_forest,
    pagerank,
    sssp,
    triangle_count,
    triangles,
)  # fmt: skip

DTYPES = ["BOOL", "INT8", "UINT8", "INT32", "UINT64", "INT64", "FP32", "FP64"]
SYMMETRIC = {name: graph for name, graph in GRAPHS.items() if graph.symmetric}

every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
every_symmetric_graph = pytest.mark.parametrize("graph", SYMMETRIC.values(), ids=SYMMETRIC.keys())
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


def matrix(gb, graph, values=True, dtype=None):
    return gb.Matrix.from_coo(graph.rows, graph.cols, values, dtype, nrows=graph.n, ncols=graph.n)


def entries(vector):
    """Indices and values on the host: `to_coo` gives arrays of the vector's device."""
    return [x.get() if hasattr(x, "__cuda_array_interface__") else np.asarray(x) for x in vector.to_coo()]


def as_dict(vector):
    index, value = entries(vector)
    return dict(zip(index.tolist(), value.tolist(), strict=True))


def full(vector):
    index, value = entries(vector)
    assert np.array_equal(index, np.arange(vector.size)), "expected an entry at every vertex"
    return value


def edges(A):
    """{(row, column): value} on the host."""
    host = [x.get() if hasattr(x, "__cuda_array_interface__") else np.asarray(x) for x in A.to_coo()]
    rows, cols, values = (x.tolist() for x in host)
    return dict(zip(zip(rows, cols, strict=True), values, strict=True))


def sources(graph):
    """A low number, a middle and the highest one: they often sit at different places of a graph."""
    return sorted({0, graph.n // 2, graph.n - 1})


@hypothesis.strategies.composite
def graphs(draw, symmetric=True):
    """Graphs of up to 9 vertices, with self loops, in several pieces or dense."""
    n = draw(hypothesis.strategies.integers(1, 9))
    vertex = hypothesis.strategies.integers(0, n - 1)
    return Graph.of(
        n,
        draw(hypothesis.strategies.sets(hypothesis.strategies.tuples(vertex, vertex), max_size=3 * n)),
        symmetric=symmetric,
    )


class Programs:
    # --- BFS ---

    @every_graph
    def test_bfs_levels(self, gb, graph):
        A = matrix(gb, graph)
        for source in sources(graph):
            v = bfs_levels(A, source, gb=gb)
            assert (v.size, v.dtype) == (graph.n, gb.dtypes.INT64)
            assert as_dict(v) == oracles.levels(graph, source)

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

    @every_graph
    @pytest.mark.parametrize("dtype", ["INT8", "UINT64", "FP32"])  # the tests below have others
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

    def test_sssp_sums_beyond_the_dtype_of_the_weights(self, gb):
        graph = oracles.path(50)
        A = matrix(gb, graph, np.full(len(graph.rows), 100), "INT8")
        assert as_dict(sssp(A, 0, gb=gb)) == {v: 100 * v for v in range(50)}

    @pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
    def test_sssp_integers_above_2_to_53(self, gb, dtype):
        A = matrix(gb, Graph.of(3, [(0, 1), (1, 2)]), [2**53, 1], dtype)
        assert as_dict(sssp(A, 0, gb=gb)) == {0: 0, 1: 2**53, 2: 2**53 + 1}

    def test_sssp_bool_counts_edges(self, gb):
        graph = GRAPHS["random"]
        for values in (True, False, graph.integers(0, 1)):
            d = sssp(matrix(gb, graph, values, "BOOL"), 0, gb=gb)
            assert d.dtype == gb.dtypes.INT64
            assert as_dict(d) == oracles.levels(graph, 0)

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

    def test_sssp_cycles_that_do_no_harm(self, gb):
        # 0 -> 1 -> 2 -> 0 sums to 0; the negative loop at 3 cannot be reached.
        graph = Graph.of(4, [(0, 1), (1, 2), (2, 0), (3, 0), (3, 3)])
        A = matrix(gb, graph, [3, -1, -2, 1, -1], "INT64")
        assert as_dict(sssp(A, 0, gb=gb)) == {0: 0, 1: 3, 2: 2}

    def test_sssp_infinite_weight_is_an_edge(self, gb):
        A = matrix(gb, Graph.of(3, [(0, 1), (1, 2)]), [np.inf, 1], "FP64")
        assert as_dict(sssp(A, 0, gb=gb)) == {0: 0, 1: np.inf, 2: np.inf}

    @pytest.mark.parametrize("dtype", ["FP32", "FP64"])
    @pytest.mark.parametrize("bad", [np.nan, -np.inf])
    @pytest.mark.parametrize("other", [1, -1])
    def test_sssp_refuses(self, gb, dtype, bad, other):
        A = matrix(gb, Graph.of(4, [(0, 1), (2, 3), (3, 2)]), [1, bad, other], dtype)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: .*-infinity, got (NaN|-infinity)\. Hint"):
            sssp(A, 0, gb=gb)

    @pytest.mark.parametrize("dtype", ["INT8", "UINT64", "FP32", "FP64"])
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

    def test_sssp_of_weights_that_are_all_zero(self, gb):
        A = matrix(gb, GRAPHS["grid"], 0.0)
        assert as_dict(sssp(A, 5, gb=gb)) == dict.fromkeys(range(63), 0)

    # --- PageRank ---

    @every_graph
    @pytest.mark.parametrize("alpha", [0, 0.5, 0.85])
    def test_pagerank(self, gb, graph, alpha):
        r = pagerank(matrix(gb, graph), alpha=alpha, gb=gb)
        assert r.dtype == gb.dtypes.FP64
        assert np.abs(full(r) - oracles.pagerank(graph, alpha)).sum() < 1e-5
        assert full(r).sum() == pytest.approx(1, abs=1e-12)

    @every_dtype
    def test_pagerank_reads_only_the_structure(self, gb, dtype):
        graph = GRAPHS["directed_sparse"]
        A = matrix(gb, graph, graph.integers(0, 3), dtype)
        assert np.array_equal(full(pagerank(A, gb=gb)), full(pagerank(matrix(gb, graph), gb=gb)))

    def test_pagerank_tolerance_and_rounds(self, gb):
        graph = GRAPHS["directed_random"]
        A, right = matrix(gb, graph), oracles.pagerank(graph)

        def error(**options):
            return np.abs(full(pagerank(A, gb=gb, **options)) - right).sum()

        assert error(tol=1e-13, max_iter=500) < 1e-11
        assert error(tol=1e-13, max_iter=500) < error(tol=1e-3) < error(max_iter=1)  # the last iterate comes back
        assert error(max_iter=1) < np.abs(1 / graph.n - right).sum()

    # --- components, triangles ---

    @every_symmetric_graph
    def test_connected_components(self, gb, graph):
        label = connected_components(matrix(gb, graph), gb=gb)
        assert label.dtype == gb.dtypes.INT64
        assert np.array_equal(full(label), oracles.components(graph))

    @pytest.mark.parametrize("seed", range(6))
    def test_connected_components_near_the_threshold(self, gb, seed):
        # About n edges give many sizes of components, and long thin ones.
        graph = oracles.random(300, 150 + 20 * seed, seed, symmetric=True)
        assert np.array_equal(full(connected_components(matrix(gb, graph), gb=gb)), oracles.components(graph))

    @pytest.mark.parametrize("seed", [None, 1, 2, 3])
    def test_connected_components_takes_few_rounds(self, gb, seed, monkeypatch):
        # Labels that only crawl along the edges need hundreds of rounds here, and give the same answer.
        rounds, hooked = [], components._hooked
        monkeypatch.setattr(components, "_hooked", lambda *args: rounds.append(args) or hooked(*args))
        graph = oracles.path(1000, seed)
        assert np.array_equal(full(connected_components(matrix(gb, graph), gb=gb)), np.zeros(1000))
        assert len(rounds) <= (1 if seed is None else 7)

    @every_symmetric_graph
    def test_triangle_count(self, gb, graph):
        count = triangle_count(matrix(gb, graph), gb=gb)
        assert type(count) is int
        assert count == oracles.triangles(graph)

    @every_symmetric_graph
    @pytest.mark.parametrize("skew", [0, float("inf")])
    def test_triangle_count_in_both_orders(self, gb, graph, skew, monkeypatch):
        monkeypatch.setattr(triangles, "SKEW", skew)
        assert triangle_count(matrix(gb, graph), gb=gb) == oracles.triangles(graph)

    def test_triangle_count_above_the_range_of_the_dtype(self, gb):
        # First one edge that closes 300 triangles, then few on each edge but many in all.
        graph = Graph.of(302, [*((i, j) for i in (300, 301) for j in range(300)), (300, 301)], symmetric=True)
        assert triangle_count(matrix(gb, graph, 1, "INT8"), gb=gb) == 300
        graph = Graph.of(66, [(i, j) for i in range(66) for j in range(i)], symmetric=True)
        assert triangle_count(matrix(gb, graph, 1, "INT8"), gb=gb) == 66 * 65 * 64 // 6

    @every_dtype
    def test_components_and_triangles_read_only_the_structure(self, gb, dtype):
        graph = GRAPHS["karate"]
        A = matrix(gb, graph, graph.integers(0, 1), dtype)
        assert np.array_equal(full(connected_components(A, gb=gb)), np.zeros(34))
        assert triangle_count(A, gb=gb) == 45

    # --- betweenness ---

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

    def test_betweenness_is_that_of_networkx(self, gb):
        networkx = pytest.importorskip("networkx")
        graph = GRAPHS["karate"]
        G = networkx.Graph(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True))
        right = networkx.betweenness_centrality(G, normalized=False)
        found = full(betweenness_centrality(matrix(gb, graph), gb=gb))
        assert found / 2 == pytest.approx([right[v] for v in range(graph.n)])

    @pytest.mark.parametrize("wrong", [5, 1.0, "01", [1.0], [None], [True]])
    def test_betweenness_sources_of_a_wrong_kind(self, gb, wrong):
        with pytest.raises(TypeError, match=r"argument sources: expected .*vertex number.*, got .*Hint"):
            betweenness_centrality(matrix(gb, GRAPHS["tree"]), wrong, gb=gb)

    def test_betweenness_source_out_of_range(self, gb):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"argument sources: .*0 to 14.*got 15.*Hint"):
            betweenness_centrality(matrix(gb, GRAPHS["tree"]), [0, 15], gb=gb)

    # --- independent sets, colors ---

    @every_symmetric_graph
    @pytest.mark.parametrize("seed", [None, 7])
    def test_maximal_independent_set(self, gb, graph, seed):
        members = maximal_independent_set(matrix(gb, graph), seed=seed, gb=gb)
        assert (members.size, members.dtype) == (graph.n, gb.dtypes.BOOL)
        index, values = entries(members)
        found = set(index.tolist())
        assert values.all()
        assert oracles.independent_fault(graph, found) is None
        assert found == oracles.greedy_independent(graph, seed or 0)  # so it is the same everywhere

    @every_symmetric_graph
    def test_coloring(self, gb, graph):
        colors = coloring(matrix(gb, graph), seed=3, gb=gb)
        assert colors.dtype == gb.dtypes.INT64
        value = full(colors)
        apart = graph.rows != graph.cols
        assert (value[graph.rows] != value[graph.cols])[apart].all()
        assert sorted(set(value.tolist())) == list(range(value.max() + 1))
        assert dict(enumerate(value.tolist())) == oracles.greedy_colors(graph, 3)  # so it is the same everywhere

    def test_coloring_of_some_graphs_is_the_best(self, gb):
        for name, least in (("complete", 12), ("star", 2), ("tree", 2), ("no_edges", 1), ("one_loop", 1)):
            assert full(coloring(matrix(gb, GRAPHS[name]), gb=gb)).max() + 1 == least

    def test_coloring_needs_few_colors(self, gb):
        networkx = pytest.importorskip("networkx")
        graph = oracles.random(300, 3000, seed=9, symmetric=True)
        G = networkx.Graph((i, j) for i, j in zip(graph.rows.tolist(), graph.cols.tolist(), strict=True) if i != j)
        greedy = 1 + max(networkx.greedy_color(G, "largest_first").values())
        assert full(coloring(matrix(gb, graph), gb=gb)).max() + 1 <= 1.15 * greedy

    @pytest.mark.parametrize("program", [maximal_independent_set, coloring])
    def test_seeds(self, gb, program):
        A = matrix(gb, GRAPHS["grid"])
        assert program(A, seed=4, gb=gb).isequal(program(A, seed=np.int64(4), gb=gb))
        assert program(A, gb=gb).isequal(program(A, seed=0, gb=gb))
        different = [program(A, seed=seed, gb=gb) for seed in (0, 1, -1, 10**12)]
        assert not any(a.isequal(b) for i, a in enumerate(different) for b in different[:i])
        for wrong in (1.5, "1", True):
            with pytest.raises(TypeError, match=r"argument seed: expected an integer, got .*Hint"):
                program(A, seed=wrong, gb=gb)

    # --- spanning forests ---

    @every_symmetric_graph
    @pytest.mark.parametrize(("dtype", "low", "high"), [("INT8", -9, 9), ("UINT64", 0, 2), ("FP32", -3, 3)])
    def test_minimum_spanning_forest(self, gb, graph, dtype, low, high):
        weights = graph.symmetric_integers(low, high)
        F = minimum_spanning_forest(matrix(gb, graph, weights, dtype), gb=gb)
        assert (F.shape, F.dtype) == ((graph.n, graph.n), dtype)
        assert oracles.forest_fault(graph, weights, edges(F)) is None

    def test_minimum_spanning_forest_of_equal_weights(self, gb):
        for values in (True, 2.5):
            graph = GRAPHS["complete"]
            F = minimum_spanning_forest(matrix(gb, graph, values), gb=gb)
            assert oracles.forest_fault(graph, np.full(len(graph.rows), values), edges(F)) is None

    def test_minimum_spanning_forest_prefers_false(self, gb):
        graph = GRAPHS["grid"]
        weights = graph.symmetric_integers(0, 1)
        F = minimum_spanning_forest(matrix(gb, graph, weights.astype(bool)), gb=gb)
        assert oracles.forest_fault(graph, weights, edges(F)) is None

    def test_minimum_spanning_forest_takes_infinity_and_refuses_nan(self, gb):
        graph = Graph.of(3, [(0, 1), (1, 2)], symmetric=True)
        weights = np.array([np.inf, np.inf, -np.inf, -np.inf])
        assert len(edges(minimum_spanning_forest(matrix(gb, graph, weights), gb=gb))) == 4
        weights[:2] = np.nan
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected weights .*NaN.*Hint"):
            minimum_spanning_forest(matrix(gb, graph, weights), gb=gb)

    # --- any graph; the searches are functions of their own, as a method would be shared by both libraries ---

    def test_any_undirected_graph(self, gb):
        @hypothesis.given(graph=graphs())
        @hypothesis.settings(max_examples=8)
        def check(graph):
            A, weights = matrix(gb, graph), graph.symmetric_integers(-2, 3)
            assert oracles.independent_fault(graph, set(entries(maximal_independent_set(A, gb=gb))[0].tolist())) is None
            assert dict(enumerate(full(coloring(A, gb=gb)).tolist())) == oracles.greedy_colors(graph)
            F = minimum_spanning_forest(matrix(gb, graph, weights, "INT64"), gb=gb)
            assert oracles.forest_fault(graph, weights, edges(F)) is None
            assert np.array_equal(full(connected_components(A, gb=gb)), oracles.components(graph))
            assert triangle_count(A, gb=gb) == oracles.triangles(graph)
            assert full(betweenness_centrality(A, gb=gb)) == pytest.approx(oracles.betweenness(graph))

        check()

    def test_any_directed_graph(self, gb):
        @hypothesis.given(graph=graphs(symmetric=False))
        @hypothesis.settings(max_examples=8)
        def check(graph):
            A, weights = matrix(gb, graph), graph.integers(0, 9)
            assert as_dict(bfs_levels(A, 0, gb=gb)) == oracles.levels(graph, 0)
            assert oracles.parents_fault(graph, 0, as_dict(bfs_parents(A, 0, gb=gb))) is None
            found = as_dict(sssp(matrix(gb, graph, weights, "FP64"), 0, delta=3, gb=gb))
            assert found == oracles.distances(graph, weights, 0)
            assert full(betweenness_centrality(A, gb=gb)) == pytest.approx(oracles.betweenness(graph))

        check()

    def test_no_vertices(self, gb):
        A = gb.Matrix(gb.dtypes.BOOL, 0, 0)
        assert triangle_count(A, gb=gb) == 0
        assert minimum_spanning_forest(A, gb=gb).shape == (0, 0)
        vectors = pagerank, connected_components, betweenness_centrality, maximal_independent_set, coloring
        assert [program(A, gb=gb).size for program in vectors] == [0] * 5

    # --- arguments ---

    def test_nothing_is_left_to_autocompute(self, gb):
        A = matrix(gb, GRAPHS["karate"], -1, "INT64")
        with gb.config.set(autocompute=False):
            assert triangle_count(A, gb=gb) == 45
            for program in (pagerank, connected_components, betweenness_centrality, coloring):
                program(A, gb=gb)
            for program in (maximal_independent_set, minimum_spanning_forest):
                program(A, gb=gb)
            for program in (bfs_levels, bfs_parents):
                program(A, 0, gb=gb)
            sssp(A.apply(gb.unary.abs).new(), 0, gb=gb)
            with pytest.raises(gb.exceptions.InvalidValue, match="negative cycle"):
                sssp(A, 0, gb=gb)

    @pytest.mark.parametrize("dtype", ["BOOL", "UINT8", "INT64", "FP32"])
    def test_the_input_stays_as_it_was(self, gb, dtype):
        graph = GRAPHS["self_loops"]
        A = matrix(gb, graph, graph.integers(0, 1), dtype)
        before = A.dup()
        for program in (bfs_levels, bfs_parents, sssp):
            program(A, 0, gb=gb)
        for program in (pagerank, connected_components, triangle_count, betweenness_centrality, coloring):
            program(A, gb=gb)
        for program in (maximal_independent_set, minimum_spanning_forest):
            program(A, gb=gb)
        assert A.isequal(before, check_dtype=True)

    @pytest.mark.parametrize("program", [bfs_levels, bfs_parents, sssp])
    @pytest.mark.parametrize("source", [-1, 34, 10**30])
    def test_source_out_of_range(self, gb, program, source):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=f"argument source: .*0 to 33.*got {source}.*Hint"):
            program(matrix(gb, GRAPHS["karate"]), source, gb=gb)

    @pytest.mark.parametrize("program", [bfs_levels, bfs_parents, sssp])
    def test_source_in_a_graph_without_vertices(self, gb, program):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match="with vertices"):
            program(gb.Matrix(gb.dtypes.BOOL, 0, 0), 0, gb=gb)

    @pytest.mark.parametrize("program", [bfs_levels, bfs_parents, sssp])
    @pytest.mark.parametrize("source", [True, np.True_, 1.0, np.float64(1), "1", None, [1]])
    def test_source_of_a_wrong_kind(self, gb, program, source):
        with pytest.raises(TypeError, match=r"argument source: expected a vertex number, got .*Hint"):
            program(matrix(gb, GRAPHS["karate"]), source, gb=gb)

    @pytest.mark.parametrize("shape", [(3, 4), (4, 3), (0, 1)])
    @pytest.mark.parametrize("name", algorithms.__all__)
    def test_rectangular(self, gb, name, shape):
        arguments = [0] if "source" in inspect.signature(getattr(algorithms, name)).parameters else []
        rows, cols = shape
        with pytest.raises(gb.exceptions.DimensionMismatch, match=f"argument A: .*{rows} rows and {cols} col.*Hint"):
            getattr(algorithms, name)(gb.Matrix(gb.dtypes.BOOL, rows, cols), *arguments, gb=gb)

    @pytest.mark.parametrize("name", algorithms.__all__)
    def test_not_a_matrix(self, gb, name):
        arguments = [0] if "source" in inspect.signature(getattr(algorithms, name)).parameters else []
        for thing in (np.eye(3), GRAPHS["tree"].scipy(), gb.Vector(gb.dtypes.BOOL, 3), None):
            with pytest.raises(TypeError, match=r"argument A: expected a .* Matrix, got .*Hint"):
                getattr(algorithms, name)(thing, *arguments, gb=gb)

    @pytest.mark.parametrize(
        ("option", "value"),
        [("alpha", x) for x in (-0.1, 1, 1.5, float("nan"), float("inf"))]
        + [("tol", x) for x in (0, -1e-6, float("nan"))]
        + [("max_iter", x) for x in (0, -1)],
    )
    def test_pagerank_option_out_of_range(self, gb, option, value):
        with pytest.raises(gb.exceptions.InvalidValue, match=f"argument {option}: expected .*, got {value}.*Hint"):
            pagerank(matrix(gb, GRAPHS["tree"]), gb=gb, **{option: value})

    @pytest.mark.parametrize(
        ("option", "value"), [("alpha", "0.85"), ("alpha", True), ("tol", None), ("max_iter", 10.0), ("max_iter", True)]
    )
    def test_pagerank_option_of_a_wrong_kind(self, gb, option, value):
        with pytest.raises(TypeError, match=f"argument {option}: expected .*, got .*Hint"):
            pagerank(matrix(gb, GRAPHS["tree"]), gb=gb, **{option: value})


class TestOnGraphBLAS(Programs):
    @pytest.fixture
    def gb(self):
        return pytest.importorskip("graphblas")


def _bitblas_is_there():
    return importlib.util.find_spec("bitblas.core") is not None and hasattr(
        importlib.import_module("bitblas"), "Matrix"
    )


@pytest.mark.skipif(not _bitblas_is_there(), reason="bitblas.core is not there")
class TestOnBitblas(Programs):
    @pytest.fixture
    def gb(self, device):
        return importlib.import_module("bitblas")

    def test_bitblas_is_the_default(self, gb):
        A = matrix(gb, GRAPHS["karate"])
        assert bfs_levels(A, 0).isequal(bfs_levels(A, 0, gb=gb))
        assert triangle_count(A) == 45


# --- the programs as texts ---


@pytest.mark.parametrize("name", algorithms.__all__)
def test_programs_are_short_and_documented(name):
    program = getattr(algorithms, name)
    assert len(inspect.getsourcelines(program)[0]) <= 60
    assert inspect.signature(program).parameters["gb"].kind is inspect.Parameter.KEYWORD_ONLY
    for word in ("A: Matrix, n x n", "Returns", "Raises"):
        assert word in inspect.getdoc(program)


@pytest.mark.parametrize("file", sorted(Path(algorithms.__file__).parent.glob("[a-z]*.py")), ids=lambda file: file.name)
def test_programs_use_nothing_but_the_library(file):
    tree = ast.parse(file.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert all(isinstance(node, ast.ImportFrom) and node.level == 1 for node in imports), "only of this package"
    assert "_check" in [node.names[0].name for node in imports]
    assert len(ast.get_docstring(tree).splitlines()) >= 8
