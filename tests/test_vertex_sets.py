"""PageRank, components, triangles, independent sets, colors and forests against NumPy and SciPy: the same program text
on python-graphblas and on bitblas.
"""

import numpy as np
import oracles
import pytest
from algorithm_runs import (
    OnBitblas,
    OnGraphBLAS,
    edges,
    entries,
    every_dtype,
    every_graph,
    every_symmetric_graph,
    full,
    matrix,
    networkx,
)
from oracles import GRAPHS, Graph

from bitblas import algorithms


class Programs:
    # --- PageRank ---

    @pytest.mark.in_turn
    @every_graph
    @pytest.mark.parametrize("alpha", [0, 0.5, 0.85])
    def test_pagerank(self, gb, graph, alpha):
        r = algorithms.pagerank(matrix(gb, graph), alpha=alpha, gb=gb)
        assert r.dtype == gb.dtypes.FP64
        assert np.abs(full(r) - oracles.pagerank(graph, alpha)).sum() < 1e-5
        assert full(r).sum() == pytest.approx(1, abs=1e-12)

    @pytest.mark.in_turn
    @every_dtype
    def test_pagerank_reads_only_the_structure(self, gb, dtype):
        graph = GRAPHS["directed_sparse"]
        A = matrix(gb, graph, graph.integers(0, 3), dtype)
        found, expected = (full(algorithms.pagerank(x, gb=gb)) for x in (A, matrix(gb, graph)))
        np.testing.assert_array_equal(found, expected)

    def test_pagerank_tolerance_and_rounds(self, gb):
        graph = GRAPHS["directed_random"]
        A, right = matrix(gb, graph), oracles.pagerank(graph)

        def error(**options):
            with algorithms.Watch():
                return np.abs(full(algorithms.pagerank(A, gb=gb, **options)) - right).sum()

        assert error(tol=1e-13, max_iter=500) < 1e-11
        assert error(tol=1e-13, max_iter=500) < error(tol=1e-3) < error(max_iter=1)  # the last iterate is returned
        assert error(max_iter=1) < np.abs(1 / graph.n - right).sum()

    # --- dominating sets ---

    @pytest.mark.in_turn
    @every_graph
    def test_dominating_set(self, gb, graph):
        nx = pytest.importorskip("networkx")
        for seed in (None, 5):
            members = algorithms.dominating_set(matrix(gb, graph, 2.5), seed=seed, gb=gb)
            assert members.dtype == gb.dtypes.BOOL
            assert set(entries(members)[0].tolist()) == oracles.greedy_dominating(graph, seed or 0)
            assert nx.is_dominating_set(networkx(graph), entries(members)[0].tolist())
        with pytest.raises(TypeError, match="argument seed"):
            algorithms.dominating_set(matrix(gb, graph), seed=1.5, gb=gb)

    # --- components, triangles ---

    @pytest.mark.in_turn
    @every_symmetric_graph
    def test_connected_components(self, gb, graph):
        label = algorithms.connected_components(matrix(gb, graph), gb=gb)
        assert label.dtype == gb.dtypes.INT64
        assert np.array_equal(full(label), oracles.components(graph))

    @pytest.mark.in_turn
    @pytest.mark.parametrize("seed", range(6))
    def test_connected_components_near_the_threshold(self, gb, seed):
        # About n edges give many sizes of components, and long thin ones.
        graph = oracles.random(300, 150 + 20 * seed, seed, symmetric=True)
        found = full(algorithms.connected_components(matrix(gb, graph), gb=gb))
        assert np.array_equal(found, oracles.components(graph))

    @pytest.mark.parametrize("seed", [None, 1, 2, 3])
    def test_connected_components_takes_few_rounds(self, gb, seed, tune):
        # Labels that only crawl along the edges need hundreds of rounds here, and give the same answer.
        tune({"components.threads": 0})
        graph = oracles.path(1000, seed)
        with algorithms.Watch() as seen:
            assert np.array_equal(full(algorithms.connected_components(matrix(gb, graph), gb=gb)), np.zeros(1000))
        assert seen.rounds <= (4 if seed is None else 7)

    @pytest.mark.in_turn
    @every_symmetric_graph
    @pytest.mark.parametrize("skew", [None, 0, float("inf")])
    def test_triangle_count(self, gb, graph, skew, tune):
        """By the order that is chosen, and in both."""
        tune({} if skew is None else {"triangles.skew": skew})
        count = algorithms.triangle_count(matrix(gb, graph), gb=gb)
        assert type(count) is int and count == oracles.triangles(graph)

    def test_triangle_count_above_the_range_of_the_dtype(self, gb):
        # First one edge that closes 300 triangles, then few on each edge but many in all.
        graph = Graph.of(302, [*((i, j) for i in (300, 301) for j in range(300)), (300, 301)], symmetric=True)
        assert algorithms.triangle_count(matrix(gb, graph, 1, "INT8"), gb=gb) == 300
        graph = Graph.of(66, [(i, j) for i in range(66) for j in range(i)], symmetric=True)
        assert algorithms.triangle_count(matrix(gb, graph, 1, "INT8"), gb=gb) == 66 * 65 * 64 // 6

    @pytest.mark.in_turn
    @every_dtype
    def test_components_and_triangles_read_only_the_structure(self, gb, dtype):
        graph = GRAPHS["karate"]
        A = matrix(gb, graph, graph.integers(0, 1), dtype)
        assert np.array_equal(full(algorithms.connected_components(A, gb=gb)), np.zeros(34))
        assert algorithms.triangle_count(A, gb=gb) == 45

    # --- independent sets, colors ---

    @pytest.mark.in_turn
    @every_symmetric_graph
    @pytest.mark.parametrize("seed", [None, 7])
    def test_maximal_independent_set(self, gb, graph, seed):
        members = algorithms.maximal_independent_set(matrix(gb, graph), seed=seed, gb=gb)
        assert (members.size, members.dtype) == (graph.n, gb.dtypes.BOOL)
        index, values = entries(members)
        found = set(index.tolist())
        assert values.all()
        assert oracles.independent_fault(graph, found) is None
        assert found == oracles.greedy_independent(graph, seed or 0)  # so it is the same everywhere

    @pytest.mark.in_turn
    @every_symmetric_graph
    def test_coloring(self, gb, graph):
        colors = algorithms.coloring(matrix(gb, graph), seed=3, gb=gb)
        assert colors.dtype == gb.dtypes.INT64
        value = full(colors)
        apart = graph.rows != graph.cols
        assert (value[graph.rows] != value[graph.cols])[apart].all()
        assert sorted(set(value.tolist())) == list(range(value.max() + 1))
        assert dict(enumerate(value.tolist())) == oracles.greedy_colors(graph, 3)  # so it is the same everywhere

    def test_colors_as_classes(self, gb):
        for name in ("karate", "no_edges"):
            A = matrix(gb, GRAPHS[name])
            C, colors = algorithms.color_classes(A, seed=2, gb=gb), full(algorithms.coloring(A, seed=2, gb=gb))
            assert C.dtype == gb.dtypes.BOOL and C.shape == (colors.max() + 1, len(colors))
            assert edges(C) == {(c, v): True for v, c in enumerate(colors.tolist())}

    def test_coloring_of_some_graphs_is_the_best(self, gb):
        graph = Graph.of(130, [(i, j) for i in range(130) for j in range(i)], symmetric=True)  # three words of colors
        assert full(algorithms.coloring(matrix(gb, graph), gb=gb)).max() + 1 == 130
        for name, least in (("complete", 12), ("star", 2), ("tree", 2), ("no_edges", 1), ("one_loop", 1)):
            assert full(algorithms.coloring(matrix(gb, GRAPHS[name]), gb=gb)).max() + 1 == least

    def test_coloring_needs_few_colors(self, gb):
        networkx = pytest.importorskip("networkx")
        graph = oracles.random(300, 3000, seed=9, symmetric=True)
        G = networkx.Graph((i, j) for i, j in zip(graph.rows.tolist(), graph.cols.tolist(), strict=True) if i != j)
        greedy = 1 + max(networkx.greedy_color(G, "largest_first").values())
        assert full(algorithms.coloring(matrix(gb, graph), gb=gb)).max() + 1 <= 1.15 * greedy

    @pytest.mark.parametrize("program", [algorithms.maximal_independent_set, algorithms.coloring])
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

    @pytest.mark.in_turn
    @every_symmetric_graph
    @pytest.mark.parametrize(("dtype", "low", "high"), [("INT8", -9, 9), ("UINT64", 0, 2), ("FP32", -3, 3)])
    def test_minimum_spanning_forest(self, gb, graph, dtype, low, high):
        weights = graph.symmetric_integers(low, high)
        F = algorithms.minimum_spanning_forest(matrix(gb, graph, weights, dtype), gb=gb)
        assert (F.shape, F.dtype) == ((graph.n, graph.n), dtype)
        assert oracles.forest_fault(graph, weights, edges(F)) is None

    def test_minimum_spanning_forest_of_other_weights(self, gb):
        """Equal ones; of many edges light ones are read first: two parts that only heavy ones join, and one that
        nothing joins; False is less than True."""
        complete, grid = GRAPHS["complete"], GRAPHS["grid"]
        parts = [(i + d, j + d) for d in (0, 30, 60) for i in range(30) for j in range(i)]
        many = Graph.of(95, [*parts, *((i, 59 - i) for i in range(9))], symmetric=True)
        heavy = (many.rows < 30) & (many.cols >= 30) | (many.cols < 30) & (many.rows >= 30)
        for graph, weights in (
            (complete, True),
            (complete, 2.5),
            (many, many.symmetric_integers(1, 900) + 1000 * heavy),
            (grid, grid.symmetric_integers(0, 1).astype(bool)),
        ):
            F = algorithms.minimum_spanning_forest(matrix(gb, graph, weights), gb=gb)
            each = np.broadcast_to(weights, len(graph.rows))
            assert oracles.forest_fault(graph, each, edges(F)) is None

    def test_minimum_spanning_forest_takes_infinity_and_refuses_nan(self, gb):
        graph = Graph.of(3, [(0, 1), (1, 2)], symmetric=True)
        weights = np.array([np.inf, np.inf, -np.inf, -np.inf])
        assert len(edges(algorithms.minimum_spanning_forest(matrix(gb, graph, weights), gb=gb))) == 4
        weights[:2] = np.nan
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected weights .*NaN.*Hint"):
            algorithms.minimum_spanning_forest(matrix(gb, graph, weights), gb=gb)


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


class TestOnBitblas(OnBitblas, Programs):
    """The backends."""
