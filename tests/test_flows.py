"""Flows, cuts and maximum matchings against NetworkX and SciPy: the same program text on python-graphblas and on
bitblas. Of bitblas, every device runs them in slow tests.
"""

import networkx as nx
import numpy as np
import oracles
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS, as_dict, edges, few_graphs, full, matrix
from oracles import GRAPHS, Graph
from scipy.sparse import csgraph

from bitblas.algorithms import maximum_flow, maximum_matching, minimum_cut


def capacities(graph, low, high):
    """A NetworkX DiGraph with the same numbers, and these."""
    values = graph.integers(low, high)
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    for i, j, value in zip(graph.rows.tolist(), graph.cols.tolist(), values.tolist(), strict=True):
        G.add_edge(i, j, capacity=value)
    return values, G


def flow_fault(flow, capacity, source, sink, value):
    """What is wrong with {(i, j): amount} as a flow of that value, or None."""
    if any(not 0 < x <= capacity[e] for e, x in flow.items()):
        return "more than an edge holds"
    excess = {}
    for (i, j), x in flow.items():
        excess[i], excess[j] = excess.get(i, 0) - x, excess.get(j, 0) + x
    ends = {source: -value, sink: value}
    wrong = {v: x for v, x in excess.items() if x != ends.get(v, 0)}
    return f"more into {wrong} than out of it" if wrong else None


class Programs:
    @few_graphs
    def test_flows_and_cuts(self, gb, graph):
        if graph.n < 2:
            return
        values, G = capacities(graph, 0, 9)
        capacity = {(i, j): G.edges[i, j]["capacity"] for i, j in G.edges if i != j}
        A = matrix(gb, graph, values, "INT64")
        for source, sink in ((0, graph.n - 1), (graph.n // 2, 0)):
            right = nx.maximum_flow_value(G, source, sink)
            value, F = maximum_flow(A, source, sink, gb=gb)
            assert value == right and type(value) is int and F.dtype == gb.dtypes.INT64
            assert flow_fault(edges(F), capacity, source, sink, value) is None
            value, side = minimum_cut(A, source, sink, gb=gb)
            side = full(side)
            assert value == right and side[source] and not side[sink]
            assert sum(c for (i, j), c in capacity.items() if side[i] and not side[j]) == right

    @pytest.mark.parametrize("seed", range(3))
    def test_flows_through_layers(self, gb, seed):
        """What comes to a dead end goes back to the source, and edges go both ways."""
        rng = np.random.default_rng(seed)
        layers = [(8 * k + i, 8 * (k + 1) + int(j)) for k in range(5) for i in range(8) for j in rng.integers(0, 8, 3)]
        graph = Graph.of(52, [*layers, *((48, i) for i in range(8)), *((40 + i, 49) for i in range(4)), (9, 50)])
        values, G = capacities(graph, 1, 20)
        value, F = maximum_flow(matrix(gb, graph, values, "INT64"), 48, 49, gb=gb)
        assert value == nx.maximum_flow_value(G, 48, 49)
        assert flow_fault(edges(F), {e: G.edges[e]["capacity"] for e in G.edges}, 48, 49, value) is None

    def test_capacities_of_other_kinds(self, gb):
        graph = Graph.of(4, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)])
        value, F = maximum_flow(matrix(gb, graph, [0.5, 1.25, 2.0, 0.75, 9.0], "FP32"), 0, 3, gb=gb)
        assert value == 1.25 and type(value) is float and F.dtype == gb.dtypes.FP64
        assert edges(F) == {(0, 1): 0.5, (1, 3): 0.5, (0, 2): 0.75, (2, 3): 0.75}
        assert maximum_flow(matrix(gb, graph), 0, 3, gb=gb)[0] == 2
        assert maximum_flow(matrix(gb, Graph.of(3, [(0, 1)])), 0, 2, gb=gb)[0] == 0

    @pytest.mark.parametrize("program", [maximum_flow, minimum_cut])
    def test_flows_refuse(self, gb, program):
        A = matrix(gb, GRAPHS["tree"], -1, "INT64")
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected values of 0 or more.*Hint"):
            program(A, 0, 1, gb=gb)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument sink: expected another vertex.*got 1\. Hint"):
            program(A, 1, 1, gb=gb)
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"argument sink: .*0 to 14, got 15"):
            program(A, 1, 15, gb=gb)

    @pytest.mark.parametrize("seed", range(3))
    def test_maximum_matching(self, gb, seed):
        rng = np.random.default_rng(seed)
        pairs = {(int(i), 60 + int(j)) for i, j in zip(rng.integers(0, 60, 110), rng.integers(0, 50, 110))}
        graph = Graph.of(110, pairs, symmetric=True)
        A = matrix(gb, graph)
        mate = maximum_matching(A, gb=gb)
        found = as_dict(mate)
        assert mate.dtype == gb.dtypes.INT64
        assert all(found[w] == v and (min(v, w), max(v, w)) in pairs for v, w in found.items())
        right = csgraph.maximum_bipartite_matching(graph.scipy()[:60][:, 60:], perm_type="column")
        assert len(found) == 2 * (right >= 0).sum()

    def test_a_matching_that_greed_does_not_find(self, gb):
        for n in (6, 40):
            path = matrix(gb, oracles.path(n, 5), True)
            assert maximum_matching(path, gb=gb).nvals == n
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected a bipartite graph.*Hint"):
            maximum_matching(matrix(gb, GRAPHS["karate"]), gb=gb)


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


@pytest.mark.slow
class TestOnBitblas(OnBitblas, Programs):
    """Every device."""
