"""Centralities against NetworkX and dense linear algebra: the same program text on python-graphblas and on bitblas.

Of bitblas, every device runs them in slow tests; the CPU, on one undirected and one directed graph, always.
"""

import algorithm_runs as runs
import numpy as np
import oracles
import pytest
from algorithm_runs import by_vertex, edges, few_graphs, full, matrix, networkx
from oracles import GRAPHS

import bitblas
from bitblas import algorithms as al
from bitblas.exceptions import ConvergenceWarning


def close(found, right):
    return full(found) == pytest.approx(right, abs=2e-6)


class Programs:
    # --- PageRank with preferences and weights ---

    @few_graphs
    def test_pagerank_personalized_and_weighted(self, gb, graph):
        nx = pytest.importorskip("networkx")
        weights, prefer = graph.integers(0, 9) / 4, {v: 1 + v % 3 for v in range(0, graph.n, 3)}
        A, G = matrix(gb, graph, weights, "FP64"), networkx(graph, weights)
        if graph.symmetric:
            G = nx.DiGraph(list(zip(graph.rows.tolist(), graph.cols.tolist(), ({"weight": w} for w in weights))))
            G.add_nodes_from(range(graph.n))
        p = gb.Vector.from_coo(list(prefer), list(prefer.values()), "FP64", size=graph.n)
        how = {"alpha": 0.7, "tol": 1e-10}
        for options, theirs in (
            ({"weighted": True}, {"weight": "weight"}),
            ({"personalization": p}, {"weight": None, "personalization": prefer}),
            ({"weighted": True, "personalization": p}, {"personalization": prefer}),
        ):
            right = by_vertex(nx.pagerank(G, **how, **theirs), graph)
            found = al.pagerank(A, **how, **options, gb=gb)
            assert close(found, right)
            assert full(found).sum() == pytest.approx(1, abs=1e-12)

    def test_pagerank_in_single_precision(self, gb):
        A = matrix(gb, GRAPHS["karate"])
        single, double = (al.pagerank(A, tol=1e-5, max_iter=30, dtype=dtype, gb=gb) for dtype in ("FP32", None))
        assert single.dtype == gb.dtypes.FP32 and double.dtype == gb.dtypes.FP64
        np.testing.assert_allclose(full(single), full(double), rtol=1e-4)  # both stop within 1e-5 of the fixed point
        for wrong in ("INT64", "fp"):
            with pytest.raises(gb.exceptions.InvalidValue, match=f"dtype: expected FP64 or FP32, got '{wrong}'"):
                al.pagerank(A, dtype=wrong, gb=gb)

    def test_pagerank_refuses_a_personalization(self, gb):
        wrong = [(gb.exceptions.InvalidValue, "expected .*got.*Hint", [x, 1]) for x in (-1, np.nan, np.inf)]
        for error, match, bad in (
            *wrong,
            (gb.exceptions.InvalidValue, "expected .*got.*Hint", [0, 0]),
            (gb.exceptions.DimensionMismatch, ".*size 2, got 3", [1, 1, 1]),
            (TypeError, "expected a .* Vector, got dict.*Hint", {1: 2}),
        ):
            p = gb.Vector.from_dense(np.array(bad, float)) if isinstance(bad, list) else bad
            with pytest.raises(error, match=f"argument personalization: {match}"):
                al.pagerank(matrix(gb, oracles.path(2), 1.0), personalization=p, gb=gb)

    @pytest.mark.parametrize("program", [al.pagerank, al.katz_centrality, al.eigenvector_centrality, al.hits])
    def test_weights_that_are_none(self, gb, program):
        for bad in (-1.0, np.nan, np.inf):
            A = matrix(gb, oracles.path(2), np.array([1, bad]), "FP64")
            with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected values of 0 or more.*Hint"):
                program(A, weighted=True, gb=gb)
            with al.Watch():
                program(A, max_iter=9, gb=gb)  # the values do not matter
        with pytest.raises(TypeError, match="argument weighted: expected True or False, got int 1"):
            program(A, weighted=1, gb=gb)

    # --- Katz, eigenvector, HITS ---

    @few_graphs
    def test_katz(self, gb, graph):
        weights = graph.symmetric_integers(0, 3)
        A = matrix(gb, graph, weights, "FP64")
        for weighted in (False, True):
            M = graph.scipy(weights if weighted else None).toarray()
            alpha = 0.9 / max(1, np.abs(np.linalg.eigvals(M)).max())
            right = np.linalg.solve(np.eye(graph.n) - alpha * M.T, np.full(graph.n, 2.0))
            how = {"alpha": alpha, "beta": 2, "weighted": weighted, "tol": 1e-10}
            assert close(al.katz_centrality(A, normalized=False, **how, gb=gb), right)
            assert close(al.katz_centrality(A, **how, gb=gb), right / np.linalg.norm(right))

    def test_katz_that_diverges(self, gb):
        # After nine rounds the scores of 0.5 are finite, but the sum is not.
        for alpha, rounds, got in ((9, 100, r"9\.0"), (0.5, 9, r"0\.5")):
            match = rf"argument alpha: .*largest eigenvalue.*got {got}\. Hint: 0\.0582 is small enough"
            with pytest.raises(gb.exceptions.InvalidValue, match=match):
                al.katz_centrality(matrix(gb, GRAPHS["karate"], 1.0), alpha=alpha, max_iter=rounds, gb=gb)

    def test_katz_just_above_and_below_the_bound(self, gb):
        """A cycle with a tail of sources and sinks: the largest eigenvalue is 1, though most rows have a sum of 2."""
        A = gb.Matrix.from_coo([0, 1, 2, 3, 3, 4, 0, 5], [1, 2, 0, 0, 4, 1, 5, 6], 1.0, nrows=7, ncols=7)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"largest eigenvalue of A, got 1\.01"):
            al.katz_centrality(A, alpha=1.01, max_iter=50, gb=gb)
        with pytest.warns(ConvergenceWarning, match="not converged after 50 rounds"):
            al.katz_centrality(A, alpha=0.99, max_iter=50, gb=gb)

    @few_graphs
    def test_eigenvector(self, gb, graph):
        weights = graph.symmetric_integers(1, 3)
        A = matrix(gb, graph, weights, "FP64")
        for weighted in (False, True):
            with al.Watch() as seen:
                x = full(al.eigenvector_centrality(A, weighted=weighted, tol=1e-11, max_iter=5000, gb=gb))
            M = graph.scipy(weights if weighted else None).toarray().T
            assert np.linalg.norm(x) == pytest.approx(1) and (x >= 0).all()
            if seen.converged:  # not where A has no eigenvector of its own kind, as without cycles
                assert M @ x == pytest.approx((x @ M @ x) * x, abs=1e-5)

    @few_graphs
    def test_hits(self, gb, graph):
        weights = graph.integers(1, 3)
        A = matrix(gb, graph, weights, "FP64")
        for weighted in (False, True):
            h, a = (full(x) for x in al.hits(A, weighted=weighted, tol=3e-13, max_iter=6000, gb=gb))
            M = graph.scipy(weights if weighted else None).toarray().astype(float)
            for x, B in ((h, M @ M.T), (a, M.T @ M)):
                assert x.sum() == pytest.approx(1 if len(graph.rows) else 0) and (x >= 0).all()
                norm = max(x @ x, 1e-300)
                assert B @ x == pytest.approx(x @ B @ x / norm * x, abs=1e-6)

    def test_they_are_those_of_networkx(self, gb):
        nx = pytest.importorskip("networkx")
        for name in ("karate", "directed_random"):
            graph = GRAPHS[name]
            A, G = matrix(gb, graph, 1.0), networkx(graph)
            assert close(al.katz_centrality(A, alpha=0.05, gb=gb), by_vertex(nx.katz_centrality(G, 0.05), graph))
            right = nx.eigenvector_centrality(G, max_iter=2000)
            assert close(al.eigenvector_centrality(A, max_iter=2000, gb=gb), by_vertex(right, graph))
            for ours, theirs in zip(al.hits(A, tol=1e-13, max_iter=5000, gb=gb), nx.hits(G), strict=True):
                assert close(ours, by_vertex(theirs, graph))

    def test_rounds(self, gb):
        for program in (al.katz_centrality, al.eigenvector_centrality, al.hits):
            with al.Watch() as seen:
                program(matrix(gb, GRAPHS["karate"], 1.0), max_iter=2, gb=gb)
            assert (seen.rounds, seen.converged) == (2, False)
            with pytest.warns(ConvergenceWarning, match=rf"{program.__name__}: not converged after 1 round;") as said:
                program(matrix(gb, GRAPHS["karate"], 1.0), max_iter=1, gb=gb)
            assert [one.filename for one in said] == [__file__]  # at the caller's line


class More:
    """What compiles much: on python-graphblas, and on bitblas in slow tests."""

    @few_graphs
    def test_edge_betweenness(self, gb, graph):
        nx = pytest.importorskip("networkx")
        A, G = matrix(gb, graph), networkx(graph).to_directed()
        right = nx.edge_betweenness_centrality(G, normalized=False)
        E = al.edge_betweenness_centrality(A, gb=gb)
        found = edges(E)
        assert E.dtype == gb.dtypes.FP64 and found == pytest.approx(right)
        some = nx.edge_betweenness_centrality_subset(G, [0, graph.n // 2], list(G))
        for batch in (1, 64):
            found = al.edge_betweenness_centrality(A, [0, graph.n // 2], batch=batch, gb=gb)
            assert edges(found) == pytest.approx(some)
        assert not any(edges(al.edge_betweenness_centrality(A, [], gb=gb)).values())


def layers(count, width, beside=0):
    """Vertex 0, then layers in which each vertex leads to all of the next layer, so a vertex of layer k has width^(k -
    1) shortest paths, and in addition a single path; rows, columns, n."""
    v, n = np.arange(1, count * width + 1).reshape(count, width), count * width + 1
    path = np.r_[0, n + np.arange(beside)]
    i, j = np.broadcast_arrays(v[:-1, :, None], v[1:, None])
    i, j = np.r_[np.zeros(width, int), i.ravel(), path[:-1]], np.r_[v[0], j.ravel(), path[1:]]
    return i, j, n + beside


def test_numbers_of_paths_that_pass_the_range_of_floats():
    """16^279 paths and a single one: by logarithms. Paths beyond a layer are shared by its vertices."""
    i, j, n = layers(280, 16, 280)
    A = bitblas.Matrix.from_coo(i, j, True, nrows=n, ncols=n, device="cpu")
    behind = np.r_[np.repeat(np.arange(279, 0, -1), 16), np.zeros(16), np.arange(279, -1, -1)]
    some = np.arange(17, 280 * 16)  # neighbours of vertex 1
    c = al.betweenness_centrality(A, [0, 1]).to_dense()
    assert c[some + 1] == pytest.approx(2 * behind[some], rel=1e-11)
    assert c[1 + 280 * 16 :] == pytest.approx(behind[280 * 16 :], rel=1e-11)
    E = al.edge_betweenness_centrality(A, [0]).to_dense(0.0)
    assert E[i[16:], j[16:]] == pytest.approx((behind[j[16:] - 1] + 1) / np.where(j[16:] > 280 * 16, 1, 16), rel=1e-11)


@pytest.mark.slow
def test_numbers_of_paths_of_a_grid_that_pass_the_range_of_floats():
    """Compared with integers of any length; 2.2e-10 is what the program says of its rounding at worst."""
    graph = oracles.grid(600, 600)
    A = bitblas.Matrix.from_coo(graph.rows, graph.cols, True, nrows=graph.n, ncols=graph.n, device="cpu")
    right = oracles.betweenness(graph, [0])
    assert right.max() > 0 and al.betweenness_centrality(A, [0]).to_dense() == pytest.approx(right, rel=2.2e-10)


class TestOnGraphBLAS(runs.OnGraphBLAS, Programs, More):
    """The programs themselves."""


class TestOnCpu(runs.OnCpu, Programs):
    """The CPU."""


@pytest.mark.slow
class TestOnBitblas(runs.OnBitblas, Programs, More):
    """Every device."""
