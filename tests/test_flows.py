"""Flows, cuts and maximum matchings against NetworkX and SciPy: the same program text on python-graphblas and on
bitblas. Of bitblas, every device runs them in slow tests.
"""

from fractions import Fraction

import networkx as nx
import numpy as np
import oracles
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS, as_dict, edges, few_graphs, full, matrix
from oracles import GRAPHS, Graph
from scipy.sparse import csgraph, csr_array

import bitblas
from bitblas.algorithms import _loops as loops
from bitblas.algorithms import maximum_flow, maximum_matching, minimum_cost_flow, minimum_cut


def capacities(graph, low, high):
    """{(i, j): capacity}, also of the last vertex."""
    values = graph.integers(low, high).tolist()
    return {(graph.n - 1, graph.n - 1): 0} | dict(zip(zip(graph.rows.tolist(), graph.cols.tolist()), values))


def networkx_value(capacity, source, sink):
    G = nx.DiGraph()
    G.add_edges_from((i, j, {"capacity": c}) for (i, j), c in capacity.items())
    G.add_nodes_from((source, sink))
    return nx.maximum_flow_value(G, source, sink)


def flow_fault(flow, capacity, source, sink, value):
    """The fault of {(i, j): amount} as a flow of that value, or None."""
    if any(not 0 < x <= capacity[e] for e, x in flow.items()):
        return "more than an edge holds"
    excess = {}
    for (i, j), x in flow.items():
        excess[i], excess[j] = excess.get(i, 0) - x, excess.get(j, 0) + x
    ends = {source: -value, sink: value}
    wrong = {v: x for v, x in excess.items() if x != ends.get(v, 0)}
    return f"more into {wrong} than out of it" if wrong else None


def check_flow(gb, capacity, source, sink, dtype="INT64"):
    """The value of the largest flow of {(i, j): capacity} and of the least cut: each is the proof of the other."""
    n = 1 + max(map(max, capacity))
    rows, cols = (np.array(x) for x in zip(*capacity, strict=True))
    values = np.array(list(capacity.values()), "float64" if dtype == "FP64" else dtype.lower())
    A = gb.Matrix.from_coo(rows, cols, values, nrows=n, ncols=n)
    value, F = maximum_flow(A, source, sink, gb=gb)
    least, side = minimum_cut(A, source, sink, gb=gb)
    flow, side = {edge: Fraction(x) for edge, x in edges(F).items()}, full(side)
    held = sum(Fraction(c) for (i, j), c in capacity.items() if side[i] and not side[j])
    assert side[source] and not side[sink] and value == least and F.dtype.name == dtype
    if dtype == "FP64":
        # rounding of the value, and of the flow into and out of each vertex
        assert type(value) is float and abs(Fraction(value) - held) <= held / 10**13
        assert all(0 < x <= Fraction(capacity[e]) for e, x in flow.items())
        balance = {v: sum(x * ((j == v) - (i == v)) for (i, j), x in flow.items()) for v in range(n)}
        balance[source], balance[sink] = balance[source] + held, balance[sink] - held
        through = max([held, *flow.values()])
        assert all(abs(x) <= through / 10**13 for x in balance.values())
    else:
        assert type(value) is int and value == held
        assert flow_fault(flow, capacity, source, sink, value) is None
    return value


def random_capacities(rng, n, most):
    """{(i, j): capacity}, with loops and edges both ways, of sizes from 0 to `most`, a source and a sink."""
    capacity = {}
    for i, j in rng.integers(0, n, (3 * n, 2)).tolist():
        any_of_them = int(rng.integers(0, most, dtype="uint64", endpoint=True))
        sizes = [any_of_them, any_of_them >> int(rng.integers(0, 60)), most, most - 1, int(rng.integers(0, 9))]
        capacity[i, j] = sizes[rng.integers(len(sizes))]
    capacity.setdefault((n - 1, n - 1), 0)
    return capacity, *rng.choice(n, 2, replace=False).tolist()


DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
LARGE = {
    "a sum of 2^63": (dict.fromkeys(DIAMOND, 2**62), 0, 3),
    "two of the largest": (dict.fromkeys(DIAMOND, 2**63 - 1), 0, 3),
    "a value beyond UINT64": (dict.fromkeys(DIAMOND, 2**64 - 1), 0, 3, "UINT64"),
    "UINT64 before 5": ({(0, 1): 2**64 - 1, (1, 2): 5}, 0, 2, "UINT64"),
    "the sink next to the source": ({(0, 1): 2**63, (1, 0): 2**64 - 1, (0, 2): 7, (2, 1): 2**64 - 1}, 0, 1, "UINT64"),
    "both ways": ({(0, 1): 2**62, (1, 0): 2**62, (1, 2): 2**62 + 1, (2, 1): 2**63 - 1, (2, 2): 2**63 - 1}, 0, 2),
    "no way": ({(0, 1): 2**63 - 1, (3, 2): 2**63 - 1, (1, 1): 2**63 - 1}, 0, 2),
    "loops alone": ({(0, 0): 2**63 - 1, (2, 2): 2**63 - 1}, 0, 2),
    "many edges": ({(i, j): 2**64 - 1 - i - 3 * j for i in range(9) for j in range(9)}, 4, 0, "UINT64"),
    "small next to large": ({(0, 1): 2**63 - 1, (1, 2): 3, (0, 2): 1, (2, 3): 2**63 - 1, (1, 3): 2**62}, 0, 3),
    "all bits count": ({(0, 1): 2**63 - 1, (0, 2): 2**62 + 1, (1, 3): 2**63 - 3, (2, 3): 2**62 + 5, (2, 1): 1}, 0, 3),
}


def check_cheapest(gb, graph, low, seed=0):
    """The value, the cost and the flow against NetworkX. low: of the costs."""
    source, sink, limits, prices = 0, graph.n - 1, graph.integers(0, 7, seed), graph.integers(low, 9, seed + 1)
    A, K = matrix(gb, graph, limits, "UINT8"), matrix(gb, graph, prices, "INT16")
    value, cost, F = minimum_cost_flow(A, K, source, sink, gb=gb)
    capacity, price = ({e: x for e, x in edges(M).items() if e[0] != e[1]} for M in (A, K))
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j, {"capacity": c, "weight": price[i, j]}) for (i, j), c in capacity.items())
    assert value == nx.maximum_flow_value(G, source, sink)
    assert cost == nx.cost_of_flow(G, nx.max_flow_min_cost(G, source, sink))
    flow = edges(F)
    assert F.dtype == gb.dtypes.INT64 and flow_fault(flow, capacity, source, sink, value) is None
    assert cost == sum(x * price[e] for e, x in flow.items()) and type(cost) is type(value) is int


class Programs:
    @few_graphs
    def test_flows_and_cuts(self, gb, graph):
        capacity = capacities(graph, 0, 9)
        for source, sink in ((0, graph.n - 1), (graph.n // 2, 0)) if graph.n > 1 else ():
            assert check_flow(gb, capacity, source, sink) == networkx_value(capacity, source, sink)

    @pytest.mark.parametrize("seed", range(3))
    def test_flows_through_layers(self, gb, seed):
        """Flow at a dead end returns to the source, and edges are undirected."""
        rng = np.random.default_rng(seed)
        layers = [(8 * k + i, 8 * (k + 1) + int(j)) for k in range(5) for i in range(8) for j in rng.integers(0, 8, 3)]
        graph = Graph.of(52, [*layers, *((48, i) for i in range(8)), *((40 + i, 49) for i in range(4)), (9, 50)])
        capacity = capacities(graph, 1, 20)
        assert check_flow(gb, capacity, 48, 49) == networkx_value(capacity, 48, 49)

    def test_capacities_of_other_kinds(self, gb):
        graph = Graph.of(4, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)])
        value, F = maximum_flow(matrix(gb, graph, [0.5, 1.25, 2.0, 0.75, 9.0], "FP32"), 0, 3, gb=gb)
        assert value == 1.25 and type(value) is float and F.dtype == gb.dtypes.FP64
        assert edges(F) == {(0, 1): 0.5, (1, 3): 0.5, (0, 2): 0.75, (2, 3): 0.75}
        assert maximum_flow(matrix(gb, graph), 0, 3, gb=gb)[0] == 2
        assert maximum_flow(matrix(gb, Graph.of(3, [(0, 1)])), 0, 2, gb=gb)[0] == 0

    @pytest.mark.parametrize("case", LARGE, ids=LARGE.keys())
    def test_integers_near_the_limits_are_exact(self, gb, case):
        check_flow(gb, *LARGE[case])

    @pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
    def test_random_integers_near_the_limits_are_exact(self, gb, dtype):
        rng = np.random.default_rng(5)
        for _ in range(6):
            check_flow(gb, *random_capacities(rng, 8, 2**63 - 1 if dtype == "INT64" else 2**64 - 1), dtype)

    @pytest.mark.parametrize("program", [maximum_flow, minimum_cut])
    def test_flows_refuse(self, gb, program):
        InvalidValue, IndexOutOfBound = gb.exceptions.InvalidValue, gb.exceptions.IndexOutOfBound
        A, negative = matrix(gb, GRAPHS["tree"], -1, "INT64"), r"argument A: expected values of 0 or more.*Hint"
        inf, nan = (matrix(gb, GRAPHS["tree"], float(value), "FP64") for value in ("inf", "nan"))
        for capacity, source, sink, error, said in (
            (A, 0, 1, InvalidValue, negative), (inf, 0, 2, InvalidValue, negative), (nan, 0, 2, InvalidValue, negative),
            (A, 1, 1, InvalidValue, r"argument sink: expected a vertex other than the source, got 1\. Hint"),
            (A, 1, 15, IndexOutOfBound, r"argument sink: .*0 to 14, got 15"),
        ):  # fmt: skip
            with pytest.raises(error, match=said):
                program(capacity, source, sink, gb=gb)

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

    @few_graphs
    def test_cheapest_flow(self, gb, graph):
        if graph.n > 1:
            check_cheapest(gb, graph, 0)

    def test_cheapest_flow_with_costs_below_0(self, gb):
        i, j = np.sort(np.random.default_rng(3).integers(0, 20, (2, 70)), axis=0)
        check_cheapest(gb, Graph.of(20, zip(i, j, strict=True)), -5)

    def test_cheapest_flows_that_are_refused(self, gb):
        A = matrix(gb, Graph.of(3, [(0, 1), (1, 0), (1, 2)]), 2, "INT32")
        value, cost, F = minimum_cost_flow(A, gb.Matrix("INT8", 3, 3), 0, 2, gb=gb)
        assert (value, cost, edges(F)) == (2, 0, {(0, 1): 2, (1, 2): 2})
        for costs, match in (
            (A.apply(gb.unary.ainv).new(), "negative cycle"),
            (A.dup("FP64"), "costs: expected integers"),
        ):
            with pytest.raises(gb.exceptions.InvalidValue, match=match):
                minimum_cost_flow(A, costs, 0, 2, gb=gb)
        for values, match in ((-1, "values of 0 or more"), (2**61, r"below 2\^62"), (1.5, "A: expected integers")):
            with pytest.raises(gb.exceptions.InvalidValue, match=match):
                minimum_cost_flow(matrix(gb, Graph.of(3, [(0, 1), (1, 2)]), values), A, 0, 2, gb=gb)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument costs: .*below 2\^62"):
            minimum_cost_flow(A, A.apply(gb.binary.second, right=2**61).new(), 0, 2, gb=gb)
        with pytest.raises(gb.exceptions.InvalidValue, match="argument sink"):
            minimum_cost_flow(A, A, 0, 0, gb=gb)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="argument costs: expected a Matrix of 3 rows"):
            minimum_cost_flow(A, gb.Matrix(int, 2, 2), 0, 2, gb=gb)


@pytest.mark.parametrize("case", ["a sum of 2^63", "a value beyond UINT64", "UINT64 before 5", "all bits count"])
def test_integers_near_the_limits_on_a_device(device, case):
    check_flow(bitblas, *LARGE[case])


def test_random_integers_near_the_limits_against_networkx(device):
    rng = np.random.default_rng(1)
    for _ in range(20 if device == "cpu" else 1):
        capacity, source, sink = random_capacities(rng, 9, 2**64 - 1)
        assert check_flow(bitblas, capacity, source, sink, "UINT64") == networkx_value(capacity, source, sink)


def test_floats_of_any_size_end(device):
    """Sums of such floats are rounded, which once left excess that could go nowhere."""
    check_flow(bitblas, {(0, 1): 0.1, (0, 2): 0.7, (1, 3): 0.3, (2, 1): 0.3, (2, 3): 1e-20, (3, 0): 1e18}, 0, 3, "FP64")
    rng = np.random.default_rng(3)
    for low, high in ((-2, 0), (-20, 20), (-300, 300)):
        for _ in range(10 if device == "cpu" else 1):
            capacity, source, sink = random_capacities(rng, 14, 9)
            capacity = {edge: float(rng.random() * 10.0 ** rng.integers(low, high)) for edge in capacity}
            check_flow(bitblas, capacity, source, sink, "FP64")


def test_a_long_chain(device):
    n = 1000 if device == "cpu" else 40
    capacity = {(i, i + 1): 1 + i % 7 + 2 * (i < n // 2) for i in range(n - 1)}
    check_flow(bitblas, capacity, 0, n - 1)


@pytest.mark.parametrize("seed", range(2))
def test_flows_are_those_of_scipy(device, seed):
    rng, n = np.random.default_rng(seed), 400 if device == "cpu" else 12
    rows, cols = rng.integers(0, n, (2, 5 * n))
    S = csr_array((rng.integers(0, 1000, 5 * n).astype("int32"), (rows, cols)), shape=(n, n))
    S.setdiag(0)
    A = bitblas.io.from_scipy_sparse(S)
    for source, sink in ((0, 1), (n // 2, 0)):
        right = csgraph.maximum_flow(S, source, sink).flow_value
        assert maximum_flow(A, source, sink)[0] == minimum_cut(A, source, sink)[0] == right


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""

    def test_long_paths_take_few_searches(self, gb, monkeypatch):
        """Excess goes all the way before heights are measured again: rounds grow with the length, not its square."""
        rounds, repeat = [], loops.repeat

        def counted(body, while_, limit=None):
            repeat(lambda k: (rounds.append(k), body(k)), while_, limit)

        monkeypatch.setattr(loops, "repeat", counted)
        n = 200
        capacity = {(i, i + 1): 9 - 5 * (i == n // 2) for i in range(n - 1)}
        check_flow(gb, capacity, 0, n - 1)
        assert n < len(rounds) < 16 * n


@pytest.mark.slow
class TestOnBitblas(OnBitblas, Programs):
    """Every device."""
