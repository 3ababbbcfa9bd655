"""The NetworkX backend with integer weights near and beyond the limits of 64 bits: NetworkX's numbers, or NetworkX."""

from __future__ import annotations

import random
from fractions import Fraction

import networkx as nx
import numpy as np
import nx_backend
import pytest

import bitblas.nx as bnx
from bitblas.nx import arrays

nx_backend.register()

SIZES = {
    "stamps": lambda rng: 1_760_000_000_000_000_000 + rng.randrange(10**15),
    "near 2^62": lambda rng: 2**62 - rng.randrange(1000),
    "both signs": lambda rng: rng.choice([-1, 1]) * (2**62 - rng.randrange(1000)),
}
KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
HALVES = [set(range(0, 12, 2)), set(range(1, 12, 2))]


def graph(kind, size, connected=False):
    rng = random.Random(7)
    G = kind()
    G.add_nodes_from(range(12))
    pairs = [(k, (k + 1) % 12) for k in range(12)] if connected else []
    for u, v in pairs + [(rng.randrange(12), rng.randrange(12)) for _ in range(36)]:
        G.add_edge(u, v, weight=SIZES[size](rng))
    return G


def both(function, G, *args, **options):
    """What the backend and NetworkX give."""
    return function(bnx.from_networkx(G), *args, backend="bitblas", **options), function(G, *args, **options)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_integers_are_exact(kind, size):
    G = graph(kind, size)
    H = bnx.from_networkx(G)
    for side in ("degree", "in_degree", "out_degree") if G.is_directed() else ("degree",):
        ours, theirs = getattr(H, side)(weight="weight"), getattr(G, side)(weight="weight")
        assert dict(ours) == dict(theirs) and ours[3] == theirs[3] and type(ours[3]) is int
    assert H.size("weight") == G.size("weight")
    for other in (None, HALVES[1]) if not G.is_directed() else (HALVES[1], {1, 2, 4}):
        ours, theirs = both(nx.cut_size, G, HALVES[0], other, weight="weight")
        assert ours == theirs and type(ours) is int
    ours, theirs = both(nx.volume, G, HALVES[0], weight="weight")
    assert ours == theirs and type(ours) is int
    for function in (nx.conductance, nx.edge_expansion, nx.normalized_cut_size):
        ours, theirs = both(function, G, HALVES[0], weight="weight")
        assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_sums_of_integers(kind, size):
    G = graph(kind, size)
    ours, theirs = both(nx.community.modularity, G, HALVES)
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    if not G.is_multigraph():
        for options in ({}, {"source": "in", "target": "in+out"}, {"source": "in+out"}) if G.is_directed() else ({},):
            ours, theirs = both(nx.average_neighbor_degree, G, weight="weight", **options)
            assert ours == theirs
        ours, theirs = both(nx.average_degree_connectivity, G, weight="weight")
        assert ours == pytest.approx(theirs, rel=1e-12)
    if size != "both signs":
        ours, theirs = both(nx.pagerank, G)
        assert ours == pytest.approx(theirs, rel=1e-5)
        assert min(ours.values()) > 0


def test_modularity_of_time_stamps():
    G = nx.Graph()
    G.add_weighted_edges_from((u, v, 1_760_000_000_000_000_000 + u) for u, v in nx.karate_club_graph().edges)
    parts = nx.community.greedy_modularity_communities(nx.karate_club_graph())
    ours, theirs = both(nx.community.modularity, G, parts)
    assert ours == pytest.approx(theirs, rel=1e-12) and 0.3 < ours < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_distances_up_to_2_63(kind):
    """Twelve nodes in a ring, paths of up to 11 edges: the sums over all pairs pass 2^63, the paths do not."""
    G = nx.cycle_graph(12, kind)
    nx.set_edge_attributes(G, 2**59 + 1, "weight")
    for function in (nx.wiener_index, nx.average_shortest_path_length):
        ours, theirs = both(function, G, weight="weight")
        assert ours == theirs > 2**59 and type(ours) is type(theirs)
    ours, theirs = both(nx.closeness_centrality, G, distance="weight")
    assert ours == theirs
    ours, theirs = both(nx.floyd_warshall, G)
    assert ours == theirs and type(ours[0][3]) is int
    if not G.is_multigraph():
        for function in (nx.center, nx.diameter, nx.radius, nx.periphery, nx.barycenter):
            ours, theirs = both(function, G, weight="weight")
            assert ours == theirs


def test_bounds_of_eccentricities_are_integers():
    G = nx.path_graph(5)
    for k, (u, v) in enumerate(G.edges):
        G[u][v]["weight"] = 2**56 + k
    for function in (nx.diameter, nx.radius, nx.center, nx.periphery):
        ours, theirs = both(function, G, weight="weight", usebounds=True)
        assert ours == theirs


LENGTHS = {
    "average_shortest_path_length": {"weight": "weight"}, "wiener_index": {"weight": "weight"},
    "closeness_centrality": {"distance": "weight"}, "harmonic_centrality": {"distance": "weight"},
    "eccentricity": {"weight": "weight"}, "barycenter": {"weight": "weight"}, "floyd_warshall": {},
    "all_pairs_dijkstra_path_length": {}, "all_pairs_bellman_ford_path_length": {}, "all_pairs_dijkstra": {},
    "all_pairs_dijkstra_path": {}, "all_pairs_bellman_ford_path": {}, "shortest_path_length": {"weight": "weight"},
    "diameter": {"weight": "weight", "usebounds": True},
}  # fmt: skip


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("weight", [2**62 - 5, 2**70])
def test_longer_distances_are_left_to_networkx(name, weight, monkeypatch):
    """Also where the answer is an iterator, which is read when the dispatch of NetworkX has returned."""
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    G = nx.cycle_graph(6)
    nx.set_edge_attributes(G, weight, "weight")
    listed = lambda found: dict(found) if hasattr(found, "__next__") else found
    expected = listed(getattr(nx, name)(G, **LENGTHS[name]))
    with nx.config.backend_priority(algos=["bitblas"]), nx.config.backends.bitblas(min_edges=0):
        assert listed(getattr(nx, name)(G, **LENGTHS[name])) == expected


@pytest.mark.parametrize("function", [nx.pagerank, nx.cut_size, nx.volume, nx.community.modularity, nx.to_numpy_array])
def test_integers_beyond_64_bits_are_left_to_networkx(function, monkeypatch):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    G = nx.cycle_graph(6)
    nx.set_edge_attributes(G, 2**70, "weight")
    parts = {"cut_size": ({0, 1},), "volume": ({0, 1},), "modularity": ([{0, 1, 2}, {3, 4, 5}],)}
    args = parts.get(function.__name__, ())
    expected = function(G, *args, weight="weight")
    with pytest.raises(NotImplementedError):
        function(G, *args, weight="weight", backend="bitblas")
    with nx.config.backend_priority(algos=["bitblas"]), nx.config.backends.bitblas(min_edges=0):
        found = function(G, *args, weight="weight")
    assert np.array_equal(found, expected) if isinstance(expected, np.ndarray) else found == expected


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_as_arrays(kind):
    G = kind()
    G.add_weighted_edges_from([("a", "b", 2**62), ("a", "b", 2**62), ("b", "c", 5)])
    ours, theirs = both(nx.to_numpy_array, G)
    assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs) and ours[0, 1] == 2.0**63
    ours, theirs = both(nx.to_numpy_array, G, dtype=object)
    assert ours.tolist() == theirs.tolist() and ours[0, 1] == 2**63
    for function in (nx.to_numpy_array, nx.to_scipy_sparse_array):
        with pytest.raises((OverflowError, NotImplementedError)):
            function(bnx.from_networkx(G), dtype=np.int64, backend="bitblas")
    with pytest.raises(NotImplementedError):  # SciPy would wrap
        nx.to_scipy_sparse_array(bnx.from_networkx(G), backend="bitblas")
    ours, theirs = both(nx.to_scipy_sparse_array, G, dtype=float)
    assert np.array_equal(ours.toarray(), theirs.toarray()) and ours[0, 1] == 2.0**63


@pytest.mark.parametrize("value", [300, -129, float("nan"), 1e300])
def test_arrays_of_small_integers_do_not_wrap(value):
    G = nx.DiGraph()
    G.add_edge("a", "b", weight=value)
    for function in (nx.to_numpy_array, nx.to_scipy_sparse_array):
        with pytest.raises((OverflowError, ValueError)) as theirs:
            function(G, dtype="int8")
        with pytest.raises(theirs.type) as ours:
            function(bnx.from_networkx(G), dtype="int8", backend="bitblas")
        assert str(ours.value) == str(theirs.value)


def test_trees_of_the_lowest_integer():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, -(2**63)), (1, 2, 3), (0, 2, 4)])
    for function in (nx.minimum_spanning_tree, nx.maximum_spanning_tree):
        ours, theirs = both(function, G)
        assert set(bnx.to_networkx(ours).edges) == set(theirs.edges)


def test_sums_in_two_words():
    rng = random.Random(3)
    for low, high in ((-(2**63), 2**63 - 1), (2**62, 2**63 - 1), (-5, 5), (-(2**63), -(2**63))):
        values = np.array([rng.randint(low, high) for _ in range(500)], np.int64)
        groups = np.array([rng.randrange(7) for _ in range(500)])
        of = [sum(v for v, g in zip(values.tolist(), groups.tolist()) if g == k) for k in range(8)]
        assert arrays.sum_by_group(values, groups, 8).tolist() == of
        assert arrays.exact_sum(values) == sum(values.tolist())
        assert arrays.exact_sum(arrays.sum_by_group(values, groups, 8)) == sum(of)
    assert arrays.exact_sum(np.array([0.5, 2.0**70])) == float(Fraction(1, 2) + 2**70)
    assert arrays.fits_int64(np.array([2**60, -(2**60)])) and not arrays.fits_int64(np.array([2**62, 2**62]))
    assert (
        not arrays.fits_int64(np.array([-(2**63)]))
        and not arrays.fits_int64(np.array([2**60]), 8)
        and arrays.fits_int64(np.array([1e300]))
    )
