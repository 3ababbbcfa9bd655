"""Similarities, matchings, sides and walks against NetworkX and definitions: the same program text on python-graphblas
and on bitblas. Of bitblas, every device runs them in slow tests.
"""

from collections import Counter
from itertools import pairwise

import algorithm_runs as runs
import networkx as nx
import numpy as np
import oracles
import pytest
from oracles import GRAPHS, Graph

from bitblas import algorithms, tuning

SCALES = {
    algorithms.jaccard: lambda c, d, e: c / (d + e - c),
    algorithms.overlap: lambda c, d, e: c / min(d, e),
    algorithms.cosine: lambda c, d, e: c / (d * e) ** 0.5,
}


def shared(graph, score):
    """{(u, v): score(neighbours of u, neighbours of v)} of pairs that share a neighbour."""
    near = [set(graph.cols[graph.rows == v].tolist()) for v in range(graph.n)]
    pairs = ((u, v) for u in range(graph.n) for v in range(graph.n) if near[u] & near[v])
    return {(u, v): score(near[u], near[v]) for u, v in pairs}


class Programs:
    # --- similarity ---

    @runs.few_graphs
    def test_similarity(self, gb, graph):
        A, pairs = runs.matrix(gb, graph), oracles.random(graph.n, 60, seed=2)
        for program, scale in SCALES.items():
            right = shared(graph, lambda a, b, scale=scale: scale(len(a & b), len(a), len(b)))
            others = {e: x for e, x in right.items() if e[0] != e[1]}
            S = program(A, gb=gb)
            assert S.dtype == gb.dtypes.FP64 and runs.edges(S) == pytest.approx(others)
            asked = set(zip(pairs.rows.tolist(), pairs.cols.tolist(), strict=True))
            some = {e: x for e, x in right.items() if e in asked}
            assert runs.edges(program(A, pairs=runs.matrix(gb, pairs), gb=gb)) == pytest.approx(some)
            best = {}
            for u in range(graph.n):
                row = sorted((-x, v) for (w, v), x in others.items() if w == u)
                best |= {(u, v): -x for x, v in row[:3]}
            assert runs.edges(program(A, top=3, gb=gb)) == pytest.approx(best)

    @runs.few_symmetric_graphs
    def test_link_prediction(self, gb, graph):
        A, G = runs.matrix(gb, graph), runs.networkx(graph)
        d = np.bincount(graph.rows, minlength=graph.n)
        for program, value in (
            (algorithms.adamic_adar, lambda k: 1 / np.log(d[k]) if d[k] > 1 else 0),
            (algorithms.resource_allocation, lambda k: 1 / d[k]),
        ):
            right = shared(graph, lambda a, b, value=value: sum(value(k) for k in a & b))
            found = runs.edges(program(A, gb=gb))
            assert found == pytest.approx({e: x for e, x in right.items() if e[0] != e[1]})
            if not (graph.rows == graph.cols).any():  # NetworkX counts a loop twice
                theirs = nx.adamic_adar_index if program is algorithms.adamic_adar else nx.resource_allocation_index
                scores = theirs(G, [e for e in found if e[0] < e[1]])
                once = {e: x for e, x in found.items() if e[0] < e[1]}
                assert {(u, v): x for u, v, x in scores} == pytest.approx(once)

    def test_similarity_refuses(self, gb):
        A = runs.matrix(gb, GRAPHS["tree"])
        for program in (*SCALES, algorithms.adamic_adar, algorithms.resource_allocation):
            with pytest.raises(gb.exceptions.InvalidValue, match=r"argument top: .*1 or more, got 0.*Hint"):
                program(A, top=0, gb=gb)
            with pytest.raises(gb.exceptions.DimensionMismatch, match=r"argument pairs: .*15 rows.*got 9.*Hint"):
                program(A, pairs=runs.matrix(gb, GRAPHS["star"]), gb=gb)
            with pytest.raises(TypeError, match=r"argument pairs: expected a .*Matrix, got list"):
                program(A, pairs=[(0, 1)], gb=gb)

    # --- sides, matchings ---

    @runs.few_symmetric_graphs
    def test_bipartite_sides(self, gb, graph):
        side, G = algorithms.bipartite_sides(runs.matrix(gb, graph), gb=gb), runs.networkx(graph)
        assert (side is not None) == nx.is_bipartite(G)
        if side is not None:
            side = runs.full(side)
            assert (side[graph.rows] != side[graph.cols]).all() and set(side.tolist()) <= {0, 1}
            assert not side[oracles.components(graph)].any()

    def test_sides_of_a_bipartite_graph(self, gb):
        graph = oracles.grid(5, 4)
        side = runs.full(algorithms.bipartite_sides(runs.matrix(gb, graph), gb=gb))
        assert side.tolist() == [(v // 4 + v % 4) % 2 for v in range(20)]

    @runs.few_symmetric_graphs
    def test_maximal_matching(self, gb, graph):
        weights = graph.symmetric_integers(-9, 9)
        A, G = runs.matrix(gb, graph, weights, "INT64"), runs.networkx(graph, weights)
        for weighted, seed in ((False, None), (False, 7), (True, None)):
            mate = runs.as_dict(algorithms.maximal_matching(A, weighted=weighted, seed=seed, gb=gb))
            assert all(mate[w] == v and v != w for v, w in mate.items())
            assert nx.is_maximal_matching(G, {(v, w) for v, w in mate.items() if v < w}) or not mate
            left = [(i, j) for i, j in zip(graph.rows.tolist(), graph.cols.tolist(), strict=True) if i != j]
            assert all(i in mate or j in mate for i, j in left)
            assert mate == runs.as_dict(algorithms.maximal_matching(A, weighted=weighted, seed=seed, gb=gb))
            if weighted:  # as heavy as the greedy one, edge by edge
                greedy, used = [], set()
                for i, j in sorted(left, key=lambda e: -G.edges[e]["weight"]):
                    if not {i, j} & used:
                        greedy.append(G.edges[i, j]["weight"])
                        used |= {i, j}
                if len(set(weights.tolist())) == len(weights) // 2:
                    assert sorted(greedy) == sorted(G.edges[v, w]["weight"] for v, w in mate.items() if v < w)

    def test_the_heaviest_edges_come_first(self, gb):
        graph = Graph.of(5, [(0, 1), (1, 2), (2, 3), (3, 4)], symmetric=True)
        weights = [1.5, 1.5, 2.5, 2.5, 1.0, 1.0, 4.0, 4.0]  # in the order of rows: (0, 1) (1, 0) (1, 2) (2, 1) ..
        mate = runs.as_dict(algorithms.maximal_matching(runs.matrix(gb, graph, weights, "FP64"), weighted=True, gb=gb))
        assert mate == {3: 4, 4: 3, 1: 2, 2: 1}
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected weights with no NaN.*Hint"):
            algorithms.maximal_matching(runs.matrix(gb, graph, np.nan), weighted=True, gb=gb)

    # --- walks ---

    @runs.few_graphs
    def test_bipartite_projection(self, gb, graph):
        n = graph.n
        G = nx.Graph((i, n + j) for i, j in zip(graph.rows.tolist(), graph.cols.tolist()))
        G.add_nodes_from(range(n))
        rows, cols = np.array(list(G.edges), np.int64).reshape(-1, 2).T
        A = gb.Matrix.from_coo(np.r_[rows, cols], np.r_[cols, rows], True, nrows=2 * n, ncols=2 * n)
        expected = {(u, v): w for (u, v), w in shared(graph, lambda a, b: len(a & b)).items() if u != v}
        assert runs.edges(algorithms.bipartite_projection(A, range(n), gb=gb)) == expected
        even = {(u, v): w for (u, v), w in expected.items() if u % 2 == v % 2 == 0}
        assert runs.edges(algorithms.bipartite_projection(A, range(0, n, 2), gb=gb)) == even
        for edge in list(G.edges)[:1]:
            with pytest.raises(gb.exceptions.InvalidValue, match="no edge between two of them"):
                algorithms.bipartite_projection(A, edge, gb=gb)

    @runs.few_graphs
    def test_sample_neighbors(self, gb, graph):
        A, starts = runs.matrix(gb, graph, graph.integers(1, 9)), runs.sources(graph)
        listed = runs.edges(A)
        for weighted in (False, True):
            hops = algorithms.sample_neighbors(A, starts, [2, 3], weighted=weighted, seed=3, gb=gb)
            there = set(starts)
            for hop, count in zip(hops, (2, 3), strict=True):
                found = runs.edges(hop)
                assert found.items() <= listed.items()
                degree = np.bincount(graph.rows, minlength=graph.n)
                taken = Counter(i for i, _ in found)
                assert taken == {i: min(count, degree[i]) for i in there if degree[i]}
                there = {j for _, j in found}
            again = algorithms.sample_neighbors(A, starts, [2, 3], weighted=weighted, seed=3, gb=gb)
            assert all(one.isequal(other) for one, other in zip(hops, again, strict=True))

    @pytest.mark.slow
    def test_shares_of_samples(self, gb):
        n = 600  # two thirds of the weight on the second edge
        A = gb.Matrix.from_coo([0] * 3 * n, range(3 * n), [1.0, 4.0, 1.0] * n, nrows=3 * n, ncols=3 * n)
        for weighted, share in ((False, 1 / 3), (True, 2 / 3)):
            (found,) = algorithms.sample_neighbors(A, [0], [n // 6], weighted=weighted, gb=gb)
            j = np.array(list(runs.edges(found)))[:, 1]
            assert len(j) == n // 6 and np.mean(j % 3 == 1) == pytest.approx(share, abs=0.12)
        with pytest.raises(gb.exceptions.InvalidValue, match="argument counts"):
            algorithms.sample_neighbors(A, [0], [0], gb=gb)
        for wrong in (None, 1.5, "x", [None]):
            with pytest.raises(TypeError, match=r"argument counts: expected an integer, 1 or more, got .*Hint"):
                algorithms.sample_neighbors(A, [0], wrong, gb=gb)

    @runs.few_graphs
    def test_random_walks(self, gb, graph):
        weights = graph.integers(0, 2)
        A = runs.matrix(gb, graph, weights, "FP64")
        edge = dict(zip(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True), weights.tolist(), strict=True))
        starts = [0, graph.n - 1, 0, graph.n // 2] * 5
        for weighted in (False, True):
            W = algorithms.random_walks(A, starts, 6, weighted=weighted, seed=3, gb=gb)
            assert W.shape == (20, 7) and W.dtype == gb.dtypes.INT64
            found = runs.edges(W)
            for k, start in enumerate(starts):
                walk = [found[k, step] for step in range(7) if (k, step) in found]
                assert walk[0] == start and all((k, step) in found for step in range(len(walk)))
                taken = list(pairwise(walk))
                assert all(edge.get(e, 0) > 0 if weighted else e in edge for e in taken)
                assert len(walk) == 7 or not any(w > 0 or not weighted for e, w in edge.items() if e[0] == walk[-1])
            with tuning.override({"walks.edges": -1}):  # rows are extracted in each step
                assert W.isequal(algorithms.random_walks(A, starts, 6, weighted=weighted, seed=3, gb=gb))

    def test_walks_take_edges_by_weight(self, gb):
        A = runs.matrix(gb, Graph.of(4, [(0, 1), (0, 2), (0, 3)]), [1.0, 0.0, 3.0], "FP64")
        for weighted, right in ((False, [1 / 3] * 3), (True, [0.25, 0, 0.75])):
            found = runs.edges(algorithms.random_walks(A, [0] * 3000, 1, weighted=weighted, gb=gb))
            ends = [v for (_, step), v in found.items() if step]
            assert np.bincount(ends, minlength=4)[1:] / 3000 == pytest.approx(right, abs=0.03)

    @runs.few_graphs
    def test_node2vec_walks(self, gb, graph):
        A = runs.matrix(gb, graph, graph.integers(0, 2), "FP64")
        edge, starts = set(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True)), [0, graph.n - 1] * 9
        W = algorithms.node2vec_walks(A, starts, 5, p=4, q=0.5, seed=2, gb=gb)
        found = runs.edges(W)
        for k, start in enumerate(starts):
            walk = [found[k, step] for step in range(6) if (k, step) in found]
            assert walk[0] == start and all(e in edge for e in pairwise(walk))
            assert len(walk) == 6 or walk[-1] not in graph.rows
        assert W.isequal(algorithms.node2vec_walks(A, starts, 5, p=4, q=0.5, seed=2, gb=gb))

    def test_walks_go_back_stay_near_or_go_on(self, gb):
        """From 0 to 1; then back, to 2, which is next to 0 (but not where weights of 0 are no edges), or on to 3."""
        graph = Graph.of(4, [(0, 1), (0, 2), (1, 0), (1, 2), (1, 3)])
        A = runs.matrix(gb, graph, [1.0, 0.0, 1.0, 2.0, 1.0], "FP64")
        for weighted, p, q, right in ((False, 0.5, 4, [2, 1, 0.25]), (True, 2, 0.25, [0.5, 8, 4])):
            W = algorithms.node2vec_walks(A, [0] * 6000, 2, p=p, q=q, weighted=weighted, gb=gb)
            found = runs.edges(W)
            ends = [found[k, 2] for k in range(6000) if found[k, 1] == 1]
            shares = np.bincount(ends, minlength=4)[[0, 2, 3]] / len(ends)
            assert len(ends) > 2000 and shares == pytest.approx(np.array(right) / sum(right), abs=0.03)

    def test_walks_refuse(self, gb):
        A = runs.matrix(gb, GRAPHS["tree"])
        for bad in (0, -1, np.inf, np.nan):
            with pytest.raises(gb.exceptions.InvalidValue, match=r"argument q: expected a number above 0, got.*Hint"):
                algorithms.node2vec_walks(A, [0], 2, q=bad, gb=gb)
        assert algorithms.node2vec_walks(A, [], 3, gb=gb).shape == (0, 4)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument length: .*1 or more, got 0"):
            algorithms.random_walks(A, [0], 0, gb=gb)
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"argument starts: .*0 to 14.*got 15"):
            algorithms.random_walks(A, [0, 15], 1, gb=gb)
        outside = gb.exceptions.IndexOutOfBound
        for bad, error in (([0, 15], outside), ([0, -1], outside), ([[0, 1]], TypeError)):
            with pytest.raises(error, match=r"argument starts: .*Hint"):
                algorithms.random_walks(A, np.array(bad), 1, gb=gb)
        found, same = (algorithms.random_walks(A, at, 3, gb=gb) for at in (np.array([3, 0], np.uint32), [3, 0]))
        assert found.isequal(same)
        assert algorithms.random_walks(A, [], 3, gb=gb).shape == (0, 4)


class TestOnGraphBLAS(runs.OnGraphBLAS, Programs):
    """The programs themselves."""


class TestOnCpu(runs.OnCpu, Programs):
    """The CPU."""


@pytest.mark.slow
class TestOnBitblas(runs.OnBitblas, Programs):
    """Every device."""
