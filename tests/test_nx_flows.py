"""Functions of NetworkX whose answers are not unique, on the backend: simple paths in order, flows that satisfy
demands, dominating sets. What NetworkX leaves open is checked by properties, the rest against NetworkX."""

import random
from itertools import islice, pairwise

import numpy as np
import pytest

import bitblas as gb

nx = pytest.importorskip("networkx", minversion="3.5")
min_weighted_dominating_set = nx.algorithms.approximation.min_weighted_dominating_set

OURS = {"backend": "bitblas"}
pytestmark = pytest.mark.filterwarnings("ignore:.*conversions to backend graphs")


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def outcome(function, *args, **options):
    try:
        found = function(*args, **options)
        return list(found) if hasattr(found, "__next__") else found
    except nx.NetworkXException as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", range(5))
def test_simple_paths_are_all_and_in_order(seed):
    rng = random.Random(seed)
    G = nx.gnp_random_graph(9, 0.3, seed=seed, directed=seed % 2 == 0)
    for u, v in G.edges:
        G[u][v]["weight"] = rng.randint(0, 4)
    for weight in (None, "weight"):
        length = lambda path, w=weight: len(path) if w is None else sum(G[u][v][w] for u, v in pairwise(path))
        for ends in ((0, 5), (3, 3), (0, "none"), ("none", 0)):
            theirs, ours = (outcome(nx.shortest_simple_paths, G, *ends, weight=weight, **how) for how in ({}, OURS))
            if isinstance(theirs, tuple):
                assert ours == theirs
                continue
            assert list(map(length, ours)) == list(map(length, theirs))
            assert set(map(tuple, ours)) == set(map(tuple, theirs)) and len(set(map(tuple, ours))) == len(ours)


def test_the_first_of_many_simple_paths():
    G = nx.complete_graph(12)  # tens of millions of paths
    paths = list(islice(nx.shortest_simple_paths(G, 0, 1, **OURS), 15))
    assert [len(path) for path in paths] == [2] + [3] * 10 + [4] * 4 and len(set(map(tuple, paths))) == 15


def with_demands(seed):
    rng = random.Random(seed)
    G = nx.gnp_random_graph(7, 0.5, seed=seed, directed=True)
    demand = np.zeros(7, int)
    for _ in range(3):
        (i, j), amount = rng.sample(range(7), 2), rng.randint(1, 4)
        demand[i] -= amount
        demand[j] += amount
    for v in np.flatnonzero(demand).tolist():
        G.nodes[v]["demand"] = int(demand[v])
    for u, v in G.edges:
        G[u][v]["weight"] = rng.randint(0, 9)
        if rng.random() < 0.8:
            G[u][v]["capacity"] = rng.randint(0, 6)
    return G, demand


def test_flows_that_satisfy_demands():
    feasible = 0
    for seed in range(6):
        G, demand = with_demands(seed)
        theirs, ours = outcome(nx.network_simplex, G), outcome(nx.network_simplex, G, **OURS)
        if isinstance(theirs[0], type):
            assert ours == theirs
            continue
        feasible += 1
        cost, flow = ours
        assert type(cost) is int and cost == theirs[0] == nx.cost_of_flow(G, flow)
        assert {u: set(to) for u, to in flow.items()} == {u: set(to) for u, to in theirs[1].items()}
        for v in G:
            assert sum(flow[u][v] for u in G.predecessors(v)) - sum(flow[v].values()) == demand[v]
        assert all(0 <= flow[u][v] <= G[u][v].get("capacity", np.inf) for u, v in G.edges)
        assert nx.min_cost_flow_cost(G, **OURS) == cost == nx.cost_of_flow(G, nx.min_cost_flow(G, **OURS))
    assert 0 < feasible < 6


def test_flows_that_do_not_exist():
    for G in (nx.DiGraph(), nx.DiGraph([(0, 1)])):
        G.add_nodes_from([(v, {"demand": 1}) for v in G])
        assert outcome(nx.network_simplex, G, **OURS) == outcome(nx.network_simplex, G)


@pytest.mark.parametrize("change", [{"weight": -1}, {"weight": 0.5}, {"capacity": 1.5}, {"capacity": -1}])
def test_what_flows_leave_to_networkx(change):
    G = nx.DiGraph([(0, 1, {"weight": 1}), (1, 0, change)])
    with pytest.raises(NotImplementedError):
        nx.network_simplex(G, **OURS)


@pytest.mark.parametrize("seed", range(3))
def test_dominating_sets(seed):
    G = nx.gnp_random_graph(30, 0.1, seed=seed)
    found = min_weighted_dominating_set(G, **OURS)
    assert nx.is_dominating_set(G, found)
    assert len(found) <= len(min_weighted_dominating_set(G)) + 3
    with pytest.raises(NotImplementedError, match="for the given arguments"):
        min_weighted_dominating_set(G, weight="cost", **OURS)
    assert min_weighted_dominating_set(nx.star_graph(20), **OURS) == {0}
