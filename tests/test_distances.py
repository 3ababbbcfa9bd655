"""Searches with limits and several sources, shortest-path trees, negative cycles, eccentricities, closeness and ego
networks against NetworkX and SciPy: the same program text on python-graphblas and on bitblas. Of bitblas, every device
runs them in slow tests; `test_paths.py` has the searches themselves.
"""

from functools import partial
from itertools import islice, pairwise

import algorithm_runs as runs
import networkx as nx
import numpy as np
import oracles
import pytest
from algorithm_runs import as_dict, by_vertex, edges, few, few_graphs, few_symmetric_graphs, full, matrix, networkx
from oracles import GRAPHS, Graph

import bitblas as gb
from bitblas import algorithms as al


def nearest(graph, sources):
    """{vertex: edges on a shortest path from the nearest source}"""
    found = {}
    for source in sources:
        near = oracles.levels(graph, source)
        found |= {v: min(level, found.get(v, level)) for v, level in near.items()}
    return found


def weight_of(graph, weights):
    return dict(zip(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True), weights.tolist(), strict=True))


def length_in(G, path):
    return sum(G[u][v]["weight"] for u, v in pairwise(path))


def walks(P):
    """The rows of a matrix of walks."""
    found = [[] for _ in range(P.nrows)]
    for (row, _), vertex in sorted(edges(P).items()):
        found[row].append(vertex)
    return found


def tree_fault(graph, weights, sources, distance, parent):
    """The fault of parents as a tree of shortest paths, or None."""
    weight = weight_of(graph, weights)
    if distance.keys() != parent.keys():
        return "other vertices"
    for v in parent:
        if v not in sources and distance[parent[v]] + weight[parent[v], v] != distance[v]:
            return f"the edge to {v} is on no shortest path"
        seen = {v}
        while parent[v] != v:
            v = parent[v]
            if v in seen:
                return f"{v} is on a circle"
            seen.add(v)
        if v not in sources:
            return f"{v} is no source"
    return None


class Programs:
    # --- searches ---

    @few_graphs
    def test_depth_limit_and_several_sources(self, gb, graph):
        A = matrix(gb, graph)
        for sources in ([0], [0, graph.n // 2, graph.n - 1], np.array([graph.n - 1, graph.n - 1]), []):
            right = nearest(graph, list(map(int, sources)))
            for limit in (None, 0, 1, 3):
                near = {v: k for v, k in right.items() if limit is None or k <= limit}
                assert as_dict(al.bfs_levels(A, sources, depth_limit=limit, gb=gb)) == near
                parents = as_dict(al.bfs_parents(A, sources, depth_limit=limit, gb=gb))
                assert parents.keys() == near.keys()
                assert all(near[p] == max(0, near[v] - 1) for v, p in parents.items())
            assert as_dict(al.sssp(matrix(gb, graph, 1.0), sources, gb=gb)) == right

    def test_searches_refuse(self, gb):
        for source, limit, error, match in (
            (0, -1, gb.exceptions.InvalidValue, r"argument depth_limit: .*0 or more, got -1.*Hint"),
            (0, 2.0, TypeError, r"argument depth_limit: expected an integer.*got float 2\.0"),
            ([0, 15], None, gb.exceptions.IndexOutOfBound, r"argument source: .*0 to 14, got 15"),
        ):
            for program in (al.bfs_levels, al.bfs_parents):
                with pytest.raises(error, match=match):
                    program(matrix(gb, GRAPHS["tree"]), source, depth_limit=limit, gb=gb)

    # --- trees ---

    @few_graphs
    def test_shortest_path_trees(self, gb, graph):
        height = np.random.default_rng(1).integers(0, 9, graph.n)  # some weights turn negative, no cycle does
        for weights in (graph.integers(0, 3), graph.integers(0, 3) + height[graph.rows] - height[graph.cols]):
            A = matrix(gb, graph, weights, "FP64")
            for sources in ([0], [graph.n - 1, 0]):
                d, p = al.sssp_tree(A, sources if len(sources) > 1 else 0, gb=gb)
                assert d.isequal(al.sssp(A, sources, gb=gb)) and p.dtype == gb.dtypes.INT64
                distance, parent = as_dict(d), as_dict(p)
                if weights.min(initial=0) >= 0 or len(sources) == 1:
                    assert tree_fault(graph, weights, {0, *sources}, distance, parent) is None

    @pytest.mark.slow
    def test_trees_of_integers_and_of_patterns(self, gb):
        A = matrix(gb, Graph.of(4, [(0, 1), (1, 2), (2, 1), (0, 2), (2, 3)]), [2**53, 2**53 + 1, 0, 0, 1], "UINT64")
        d, p = al.sssp_tree(A, 0, gb=gb)
        assert as_dict(d) == {0: 0, 1: 2**53, 2: 2**53, 3: 2**53 + 1} and as_dict(p) == {0: 0, 1: 0, 2: 1, 3: 2}
        A = matrix(gb, GRAPHS["grid"])
        d, p = al.sssp_tree(A, 0, gb=gb)
        assert oracles.parents_fault(GRAPHS["grid"], 0, as_dict(p)) is None
        assert d.isequal(al.bfs_levels(A, 0, gb=gb))

    @pytest.mark.parametrize("dtype", ["INT64", "FP64"])
    @pytest.mark.parametrize("seed", range(4))
    def test_negative_cycle(self, gb, dtype, seed):
        graph = oracles.random(40, 60 + 30 * seed, seed)
        for low in (-9, -3, 0):
            weights = graph.integers(low, 9, seed)
            weight = weight_of(graph, weights)
            cycle = al.negative_cycle(matrix(gb, graph, weights, dtype), gb=gb)
            there = nx.negative_edge_cycle(networkx(graph, weights))
            assert bool(cycle) == there
            if there:
                assert len(set(cycle)) == len(cycle) and all(type(v) is int for v in cycle)
                assert sum(weight[e] for e in zip(cycle, cycle[1:] + cycle[:1], strict=True)) < 0

    def test_negative_cycle_of_others(self, gb):
        assert al.negative_cycle(matrix(gb, GRAPHS["karate"]), gb=gb) == []
        assert al.negative_cycle(gb.Matrix(gb.dtypes.FP64, 0, 0), gb=gb) == []
        assert al.negative_cycle(matrix(gb, Graph.of(2, [(1, 1)]), -1, "INT8"), gb=gb) == [1]
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected weights with no NaN"):
            al.negative_cycle(matrix(gb, oracles.path(2), np.nan), gb=gb)

    # --- centers ---

    @few_graphs
    def test_closeness(self, gb, graph):
        A, G = matrix(gb, graph), networkx(graph)
        for improved in (True, False):
            right = nx.closeness_centrality(G, wf_improved=improved)
            assert full(al.closeness_centrality(A, improved=improved, gb=gb)) == pytest.approx(by_vertex(right, graph))
        assert full(al.harmonic_centrality(A, gb=gb)) == pytest.approx(by_vertex(nx.harmonic_centrality(G), graph))
        far = [max(oracles.levels(graph, v).values()) for v in range(graph.n)]
        e = al.eccentricity(A, gb=gb)
        assert e.dtype == gb.dtypes.INT64 and full(e).tolist() == far

    @few_symmetric_graphs
    def test_diameter(self, gb, graph):
        A = matrix(gb, graph)
        right = max(max(oracles.levels(graph, v).values()) for v in range(graph.n))
        assert al.diameter(A, gb=gb) == right
        for searches in (1, 2, 4):
            low, high = al.diameter_bounds(A, searches=searches, gb=gb)
            assert type(low) is type(high) is int and low <= right <= high

    def test_a_diameter_takes_few_searches(self, gb):
        with al.Watch() as seen:
            assert al.diameter(matrix(gb, oracles.path(900, 3)), gb=gb) == 899
        assert seen.rounds < 8 * 900
        assert al.diameter_bounds(gb.Matrix(gb.dtypes.BOOL, 0, 0), gb=gb) == (0, 0)

    # --- parts ---

    @few_graphs
    def test_ego_graph(self, gb, graph):
        weights = graph.symmetric_integers(1, 9)
        A, G = matrix(gb, graph, weights, "INT64"), networkx(graph, weights)
        for center in (0, graph.n - 1):
            for radius in (0, 1, 2):
                E = nx.ego_graph(G, center, radius)
                right = {(i, j): w for i in E for j, w in ((j, E[i][j]["weight"]) for j in E[i])}
                assert edges(al.ego_graph(A, center, radius, gb=gb)) == right

    @few_graphs
    def test_reach(self, gb, graph):
        A, G = matrix(gb, graph, 0, "INT8"), networkx(graph)
        for source in (0, graph.n - 1):
            for name, other in (("descendants", al.ancestors), ("ancestors", al.descendants)):
                found, right = getattr(al, name)(A, source, gb=gb), getattr(nx, name)(G, source)
                assert found.dtype == gb.dtypes.BOOL and as_dict(found) == dict.fromkeys(right, True)
                assert as_dict(other(A.T, source, gb=gb)) == as_dict(found)
            assert set(as_dict(al.descendants(A, source, depth_limit=1, gb=gb))) == set(G[source]) - {source}
        assert not as_dict(al.ancestors(A, range(graph.n), gb=gb))


class More:
    """What compiles much: on python-graphblas, and on bitblas in slow tests."""

    @few_graphs
    def test_distances_from_each_and_of_all_pairs(self, gb, tune, graph):
        tune({"all_pairs.block": 20})
        height = np.random.default_rng(1).integers(0, 9, graph.n)  # some weights turn negative, no cycle does
        starts = [0, graph.n - 1, 0]
        for dtype, weights in (
            ("INT16", graph.integers(0, 3) + height[graph.rows] - height[graph.cols]),
            ("FP32", graph.integers(0, 5)),
            ("BOOL", graph.integers(0, 1)),
        ):
            A = matrix(gb, graph, weights, dtype)
            D, E = al.all_pairs_distances(A, gb=gb), al.distances_from_each(A, starts, gb=gb)
            assert D.dtype == E.dtype == ("FP32" if dtype == "FP32" else "INT64")
            lengths = np.ones_like(weights) if dtype == "BOOL" else weights
            right = [oracles.distances(graph, lengths, v) for v in range(graph.n)]
            assert edges(D) == {(u, v): x for u in range(graph.n) for v, x in right[u].items()}
            assert edges(E) == {(k, v): x for k, u in enumerate(starts) for v, x in right[u].items()}

    @few_graphs
    def test_targets_and_limits(self, gb, graph):
        height = np.random.default_rng(1).integers(0, 9, graph.n)
        lifted = graph.integers(0, 3) + height[graph.rows] - height[graph.cols]
        last = graph.n - 1
        for dtype, weights in (("INT8", graph.integers(0, 5)), ("FP32", lifted), ("BOOL", np.ones_like(lifted))):
            A = matrix(gb, graph, weights, dtype)
            for source in ([0, last],):
                whole = [oracles.distances(graph, weights, v) for v in source]
                right = {v: min(d[v] for d in whole if v in d) for d in whole for v in d}
                for limit, targets in ((None, [last, 0]), (None, []), (2.5, [last, 0]), (2.5, last // 3)):
                    near = {v: d for v, d in right.items() if limit is None or d <= limit}
                    assert as_dict(al.sssp(A, source, limit=limit, gb=gb)) == near
                    ends = targets if isinstance(targets, list) else [targets]
                    found = al.sssp(A, source, targets=targets, limit=limit, gb=gb)
                    assert as_dict(found) == {v: near[v] for v in ends if v in near}
                    d, p = (as_dict(x) for x in al.sssp_tree(A, source, targets=targets, limit=limit, gb=gb))
                    assert {v: d[v] for v in ends if v in near} == as_dict(found)
                    assert d.items() <= (right if (weights < 0).any() else near).items()
                    assert tree_fault(graph, weights, source, d, p) is None
            levels = {v: k for v, k in oracles.levels(graph, 0).items() if v in (0, last)}
            assert as_dict(al.bfs_levels(A, 0, targets=[last, 0], gb=gb)) == levels
            rows = al.distances_from_each(A, None, targets=[0, last], limit=4, gb=gb)
            right = [oracles.distances(graph, weights, v) for v in range(graph.n)]
            near = {(u, v): d[v] for u, d in enumerate(right) for v in {0, last} if d.get(v, 5) <= 4}
            assert edges(rows) == near and rows.shape == (graph.n, graph.n)

    @few_graphs
    def test_distances_of_pairs(self, gb, graph):
        weights = graph.integers(0, 9)
        starts, ends = np.random.default_rng(2).integers(0, graph.n, (2, 12))
        for dtype in ("INT32", "FP32"):
            A = matrix(gb, graph, weights, dtype)
            for i, j in ((starts, ends), (starts, ends % 3), (starts % 2, ends), ([], [])):
                pairs = gb.Matrix.from_coo(i, j, True, nrows=graph.n, ncols=graph.n)
                for limit in (None, 9):
                    D = al.distances_of_pairs(A, pairs, limit=limit, gb=gb)
                    right = {(s, t): oracles.distances(graph, weights, s).get(t) for s, t in edges(pairs)}
                    assert D.dtype == ("FP32" if dtype == "FP32" else "INT64")
                    assert edges(D) == {p: d for p, d in right.items() if d is not None and d <= (limit or d)}

    @few(("disconnected",))
    def test_several_paths(self, gb, graph):
        ends = [(0, graph.n - 1), (graph.n // 2, 0), (0, 0)]
        for dtype, low in (("INT8", 0), ("FP32", 1)):
            weights = graph.integers(low, 4) if not graph.symmetric else graph.symmetric_integers(low, 4)
            A, G = matrix(gb, graph, weights, dtype), networkx(graph, weights)
            length = partial(length_in, G)
            for source, target in ends:
                joined = nx.has_path(G, source, target)
                theirs = nx.shortest_simple_paths(G, source, target, weight="weight") if joined else []
                theirs = list(map(length, islice(theirs, 6)))
                P, lengths = al.k_shortest_paths(A, source, target, 6, gb=gb)
                found = walks(P)
                assert P.dtype == gb.dtypes.INT64 and lengths.dtype == ("INT64" if dtype == "INT8" else dtype)
                assert full(lengths).tolist() == theirs == list(map(length, found))
                assert all(len({*p}) == len(p) and (p[0], p[-1]) == (source, target) for p in found)
                assert len({*map(tuple, found)}) == len(found)
                every = walks(al.all_shortest_paths(A, source, target, gb=gb))
                if low:  # NetworkX's choice is not defined with weights of 0
                    theirs = list(nx.all_shortest_paths(G, source, target, weight="weight")) if joined else []
                    assert sorted(every) == sorted(theirs)
                assert set(map(length, every)) == set(theirs[:1] if not low else map(length, theirs))

    def test_several_paths_of_edges_without_length(self, gb):
        for seed in range(4):
            graph = oracles.random(7, 20, seed)
            weights = graph.integers(0, 1, seed)
            A, G = matrix(gb, graph, weights, "INT64"), networkx(graph, weights)
            length = partial(length_in, G)
            theirs = sorted(nx.all_simple_paths(G, 0, 6), key=length)
            best = [path for path in theirs if length(path) == length(theirs[0])]
            assert sorted(walks(al.all_shortest_paths(A, 0, 6, gb=gb))) == sorted(best)
            P, lengths = al.k_shortest_paths(A, 0, 6, 10**6, gb=gb)
            assert sorted(walks(P)) == sorted(theirs) and full(lengths).tolist() == list(map(length, theirs))

    def test_several_paths_that_are_refused(self, gb):
        for program in (
            lambda A, *ends: al.k_shortest_paths(A, *ends, 2, gb=gb),
            partial(al.all_shortest_paths, gb=gb),
        ):
            A = matrix(gb, oracles.path(3), 1.5)
            for ends, name in (((3, 0), "source"), ((0, -1), "target")):
                with pytest.raises(gb.exceptions.IndexOutOfBound, match=rf"argument {name}: .*0 to 2, got"):
                    program(A, *ends)
            for low in (-1.0, np.nan):
                with pytest.raises(gb.exceptions.InvalidValue, match="argument A: expected weights"):
                    program(matrix(gb, oracles.path(3), low), 0, 2)
            with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: .*2\^63"):
                program(matrix(gb, oracles.path(3), [2**61, 1, 1, 1], "INT64"), 0, 2)
        with pytest.raises(gb.exceptions.InvalidValue, match="argument k: expected an integer, 1 or more"):
            al.k_shortest_paths(A, 0, 1, 0, gb=gb)

    def test_targets_limits_and_pairs_that_are_refused(self, gb):
        A = matrix(gb, oracles.path(3), 1.5)
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"argument targets: .*0 to 2, got 3"):
            al.sssp(A, 0, targets=[3], gb=gb)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument limit: expected a number, 0 or more, got nan"):
            al.sssp(A, 0, limit=np.nan, gb=gb)
        with pytest.raises(TypeError, match="argument limit"):
            al.sssp(A, 0, limit="far", gb=gb)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="argument pairs: expected a Matrix of 3 rows"):
            al.distances_of_pairs(A, gb.Matrix(bool, 2, 2), gb=gb)

    def test_many_pairs_refuse(self, gb):
        for program in (al.all_pairs_distances, lambda A, gb: al.distances_from_each(A, [1], gb=gb)):
            for weight, match in ((-1, "no negative cycle.*Hint"), (np.nan, "weights that are numbers.*NaN.*Hint")):
                with pytest.raises(gb.exceptions.InvalidValue, match=f"argument A: expected {match}"):
                    program(matrix(gb, oracles.path(3), weight), gb=gb)
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"argument sources: .*0 to 2, got 3"):
            al.distances_from_each(matrix(gb, oracles.path(3)), [3], gb=gb)
        assert al.distances_from_each(matrix(gb, oracles.path(3)), [], gb=gb).shape == (0, 3)

    def test_closeness_by_lengths(self, gb):
        graph = oracles.random(40, 130, 3)
        lengths = graph.integers(1, 9)
        A, G = matrix(gb, graph, lengths, "FP64"), networkx(graph, lengths)
        for improved in (True, False):
            right = nx.closeness_centrality(G, distance="weight", wf_improved=improved)
            found = al.closeness_centrality(A, weighted=True, improved=improved, gb=gb)
            assert full(found) == pytest.approx(by_vertex(right, graph))
        right = by_vertex(nx.harmonic_centrality(G, distance="weight"), graph)
        assert full(al.harmonic_centrality(A, weighted=True, gb=gb)) == pytest.approx(right)
        for program in (al.closeness_centrality, al.harmonic_centrality):
            with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected values of 0 or more.*Hint"):
                program(matrix(gb, graph, -1, "INT8"), weighted=True, gb=gb)


class TestOnGraphBLAS(runs.OnGraphBLAS, Programs, More):
    """The programs themselves."""


class TestOnCpu(runs.OnCpu, Programs):
    """The CPU."""


@pytest.mark.slow
class TestOnBitblas(runs.OnBitblas, Programs, More):
    """Every device."""


def test_integer_distances_that_pass_int64_are_refused():
    for weights, dtype in (([2**62, 2**62], "INT64"), ([2**63, 1], "UINT64"), ([2**63 - 1, 5], "INT64")):
        A = gb.Matrix.from_coo([0, 1], [1, 2], weights, dtype, nrows=3, ncols=3, device="cpu")
        with pytest.raises(gb.exceptions.InvalidValue, match=r"stays below 2\^63, got a weight of"):
            al.sssp(A, 0)
    A = gb.Matrix.from_coo([0, 1], [1, 2], [2**61, 2**61 - 1], nrows=3, ncols=3, device="cpu")
    assert al.sssp(A, 0).to_dict() == {0: 0, 1: 2**61, 2: 2**62 - 1}


@pytest.mark.parametrize(("n", "weight"), [(8, 2**60 - 1), (3, 3 * 10**18), (2, 2**62 - 1), (4, 2**61 - 1), (2, 2**61)])
@pytest.mark.parametrize("undirected", [False, True])
def test_integer_distances_up_to_2_63_are_exact(n, weight, undirected):
    """Also where a distance and delta, or three distances together, would pass 2^63."""
    i, j = list(range(n - 1)), list(range(1, n))
    ends = (i + j, j + i) if undirected else (i, j)
    A = gb.Matrix.from_coo(*ends, weight, "INT64", nrows=n, ncols=n, device="cpu")
    for delta in (None, 1, 1e30):
        assert al.sssp(A, 0, delta=delta).to_dict() == {k: k * weight for k in range(n)}
    assert al.sssp_tree(A, 0)[1].to_dict() == {k: max(0, k - 1) for k in range(n)}
    expected = {(a, b): abs(a - b) * weight for a in range(n) for b in range(0 if undirected else a, n)}
    for D in (al.all_pairs_distances(A), al.distances_from_each(A, list(range(n)))):
        assert edges(D) == expected


@pytest.mark.parametrize("seed", range(6))
def test_integer_distances_of_random_graphs_are_those_of_python(seed):
    rng = np.random.default_rng(seed)
    n, most = 14, [2**63 // 14 - 1, 2**63 // 42, 2**57][seed % 3]
    pairs = sorted({(int(u), int(v)) for u, v in rng.integers(0, n, (40, 2)) if u != v})
    weights = [most - int(x) for x in rng.integers(0, 1 << 40, len(pairs))]
    G = nx.DiGraph()
    G.add_nodes_from(range(n))
    G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(pairs, weights))
    A = gb.Matrix.from_coo(*zip(*pairs), np.array(weights), "INT64", nrows=n, ncols=n, device="cpu")
    expected = dict(nx.all_pairs_dijkstra_path_length(G))
    assert {v: al.sssp(A, v).to_dict() for v in range(n)} == expected
    assert edges(al.all_pairs_distances(A)) == {(u, v): d for u, of in expected.items() for v, d in of.items()}
    assert al.negative_cycle(A) == []


def test_low_integers_on_cycles_are_refused_or_found():
    """A walk along a negative cycle gets longer in every round, and must not come out above zero again."""
    for low, n in ((-(2**60), 1000), (-(2**63), 3)):
        A = gb.Matrix.from_coo([0, 1], [1, 0], [low, 1], nrows=n, ncols=n, device="cpu")
        for program in (lambda A: al.sssp(A, 0), al.negative_cycle, al.all_pairs_distances):
            match = rf"stays (below |above -)2\^63, got a weight of {low}\."
            with pytest.raises(gb.exceptions.InvalidValue, match=match):
                program(A)
    A = gb.Matrix.from_coo([0, 1], [1, 0], [-(2**50), 1], nrows=1000, ncols=1000, device="cpu")
    assert sorted(al.negative_cycle(A)) == [0, 1]
    for program in (lambda A: al.sssp(A, 0), al.all_pairs_distances):
        with pytest.raises(gb.exceptions.InvalidValue, match="negative cycle"):
            program(A)
    high = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], np.uint64(2**63 + 5), nrows=3, ncols=3, device="cpu")
    assert al.negative_cycle(high) == []  # as INT64 these would be below 0


@pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
def test_closeness_of_long_integers_is_that_of_floats(dtype):
    G = nx.gnp_random_graph(12, 0.3, seed=2, directed=True)
    for k, (u, v) in enumerate(G.edges):
        G[u][v]["weight"] = 2**62 + k
    rows, cols, values = zip(*G.edges(data="weight"))
    A = gb.Matrix.from_coo(rows, cols, np.array(values), dtype, nrows=12, ncols=12, device="cpu")
    for name in ("closeness_centrality", "harmonic_centrality"):
        found, expected = getattr(al, name)(A, weighted=True).to_dict(), getattr(nx, name)(G, distance="weight")
        assert found == pytest.approx(expected, rel=1e-12, abs=0) and max(found.values()) > 0
