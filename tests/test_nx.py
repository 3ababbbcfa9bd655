"""The NetworkX backend: its graph, conversions, dispatch, and the calls that it leaves to NetworkX, with messages;
integer weights near and beyond the limits of 64 bits: NetworkX's numbers, or NetworkX."""

import contextlib
import dataclasses
import inspect
import logging
import os
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from importlib import metadata

import networkx as nx
import numpy as np
import nx_backend
import pytest
from nx_calls import KINDS, graph

import bitblas.nx as bnx
from _nx_bitblas import info
from _nx_bitblas.table import HEAVY, OWN, SCAN, SEARCH, TABLE
from bitblas.nx import arrays, interface

nx_backend.register()


@contextlib.contextmanager
def prioritized():
    """bitblas runs what it can, of graphs of any size."""
    with nx.config.backend_priority(algos=["bitblas"]), nx.config.backends.bitblas(min_edges=0):
        yield


# ---- conversion -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", ["str", "int", "range", "tuple"])
@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(kind, labels):
    G = graph(kind, labels=labels)
    H = bnx.from_networkx(G)
    assert (len(H), H.number_of_edges(), list(H)) == (len(G), G.number_of_edges(), list(G))
    K = bnx.to_networkx(H)
    assert type(K) is kind and K._adj == G._adj and K._node == G._node and K.graph == G.graph
    assert [list(K._adj[u]) for u in K] == [list(G._adj[u]) for u in G]
    weighted = bnx.from_networkx(G, {"weight": 5}, preserve_edge_attrs=False, preserve_node_attrs=False)
    expected = [data.get("weight", 5) for *_, data in G.edges(data=True)]
    assert sorted(weighted.values_of("weight").tolist()) == sorted(expected)
    for side in ("degree", "in_degree", "out_degree") if G.is_directed() else ("degree",):
        for weight in (None, "weight"):
            ours, theirs = getattr(H, side)(weight=weight), getattr(G, side)(weight=weight)
            assert dict(ours) == dict(theirs) and ours[list(G)[3]] == theirs[list(G)[3]]
    if G.is_directed():
        R = bnx.to_networkx(H.reverse())
        assert R._succ == G.reverse()._succ


def test_labels_whose_hash_is_a_python_function_are_looked_up(monkeypatch):
    """In one another thread may run, and change what machine code reads."""
    city = dataclasses.make_dataclass("City", ["name"], frozen=True)
    cities = [city(k) for k in range(4)]
    read, asked = arrays.hashes, []
    monkeypatch.setattr(arrays, "hashes", lambda *given: asked.append(1) or read(*given))
    tuples = [(one, 1) for one in cities], [("a", k) for k in range(4)]
    for labels, times in ((cities, 0), (tuples[0], 0), ("abcd", 1), (tuples[1], 2)):
        H = nx.relabel_nodes(nx.path_graph(4), dict(enumerate(labels)))
        assert bnx.from_networkx(H).cols.tolist() == [1, 0, 2, 1, 3, 2] and len(asked) == times


def test_labels_that_share_a_hash():
    G = nx.Graph([(-1, -2), (-2, "a"), ("a", 0.5), ((), None or frozenset())])
    assert hash(-1) == hash(-2)
    assert bnx.to_networkx(bnx.from_networkx(G))._adj == G._adj
    labels = [f"node {k}" for k in range(3000)]
    given = random.Random(2).choices(labels, k=5000)
    found = arrays.numbers_of({k: {node: {}} for k, node in enumerate(given)}, len(given), labels)
    assert [labels[k] for k in found] == given
    one = nx.Graph([(0, 1), (1, 2)])
    one.add_edge(1.0, True)  # the same node, by other names
    assert bnx.from_networkx(one).cols.tolist() == [1, 0, 2, 1, 1]


def test_views_and_classes_of_their_own():
    G = graph(nx.MultiDiGraph)
    part = G.subgraph(list(G)[2:9])
    assert bnx.to_networkx(bnx.from_networkx(part))._adj == {u: dict(part.adj[u]) for u in part}

    class Complement(nx.Graph):
        def adjacency(self):
            return ((u, {v: {} for v in self if v not in self._adj[u] and v != u}) for u in self)

    assert bnx.from_networkx(Complement(nx.path_graph(4))).number_of_edges() == 3


@pytest.mark.parametrize("value", ["2", None, 2**70, 1j, (1,), {"a": 1}])
def test_attributes_that_are_no_numbers(value, caplog):
    G = nx.path_graph(4)
    G.edges[1, 2]["odd attribute"] = value
    with pytest.raises(NotImplementedError, match="'odd attribute' holds"):
        bnx.from_networkx(G, {"odd attribute": 1}, preserve_edge_attrs=False)
    assert bnx.from_networkx(G).data[1] == {"odd attribute": value}


def test_numbers_keep_their_kind():
    G = nx.Graph()
    for edge, value in zip([(0, 1), (1, 2), (2, 3)], [True, 2, np.int32(7)]):
        G.add_edge(*edge, w=value)
    assert bnx.from_networkx(G).values_of("w").tolist() == [1, 2, 7]
    G.add_edge(3, 4, w=0.5)
    assert bnx.from_networkx(G).values_of("w").dtype == np.float64


def test_a_graph_of_the_backend_answers_as_networkx():
    G = graph(nx.Graph)
    H = bnx.from_networkx(G)
    u = next(iter(G))
    assert dict(H.nodes(data=True)) == dict(G.nodes(data=True)) and list(H.edges) == list(G.edges)
    assert dict(H[u]) == dict(G[u]) and H.has_edge(u, u) == G.has_edge(u, u) and u in H and [] not in H
    assert H.size() == G.size() and H.size("weight") == G.size("weight") and str(H) == str(G) in repr(H)
    for wrong, error, said in (
        (lambda: H.add_edge(1, 2), nx.NetworkXError, "Frozen graph"),
        (lambda: H.colour, AttributeError, "no attribute 'colour'"),
        (lambda: list(H.nbunch_iter(99)), nx.NetworkXError, "Node 99 is not in the graph"),
        (lambda: H.reverse(), nx.NetworkXError, "Cannot reverse"),
    ):
        with pytest.raises(error, match=said):
            wrong()


# ---- dispatch -------------------------------------------------------------------------------------------------------


@pytest.fixture
def told(caplog):
    """The log, with all warnings reset."""
    interface._log_once.cache_clear()
    caplog.set_level(logging.INFO, logger="bitblas.nx")
    yield caplog
    interface._log_once.cache_clear()


def test_a_conversion_is_kept_until_the_graph_changes(monkeypatch):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", set())
    G = nx.path_graph(5)
    with pytest.warns(UserWarning, match="NetworkX caches the conversion"):
        nx.is_connected(G, backend="bitblas")
    kept = G.__networkx_cache__["backends"]["bitblas"]
    (first,) = kept.values()
    nx.bfs_layers(G, 0, backend="bitblas")  # warnings are errors: this one is issued once
    assert list(kept.values()) == [first]
    G.add_node(9)
    assert not G.__networkx_cache__
    assert nx.is_connected(G, backend="bitblas") is False


def test_a_graph_that_changes_while_it_is_sorted(monkeypatch):
    for order in (nx.topological_sort, nx.topological_generations):
        G = nx.DiGraph([(1, 2), (2, 3)])
        assert len(list(order(G, backend="bitblas"))) == 3
        # NetworkX raises one of the two, depending on the change; also without cached conversions
        for error, kept in ((RuntimeError, True), (nx.NetworkXUnfeasible, True), (RuntimeError, False)):
            monkeypatch.setattr(nx.config, "cache_converted_graphs", kept)
            with pytest.raises(error, match="Graph changed during iteration"):
                for _ in order(G, backend="bitblas"):
                    G.add_edge(4, 5)


def test_conversions_of_one_graph_share_its_structure():
    G = nx.DiGraph([("a", "b", {"weight": 2.5}), ("b", "c")])
    assert not nx.is_strongly_connected(G, backend="bitblas")
    (first,) = G.__networkx_cache__["backends"]["bitblas"].values()
    assert nx.single_source_dijkstra_path_length(G, "a", backend="bitblas") == {"a": 0, "b": 2.5, "c": 3.5}
    (second,) = G.__networkx_cache__["backends"]["bitblas"].values()  # which can do what the first one could
    assert second.cols is first.cols and second.structure is first.structure and not first.values
    G.add_edge("c", "a")
    assert nx.is_strongly_connected(G, backend="bitblas")


def test_what_pays(monkeypatch):
    can, should = interface.backend.can_run, interface.backend.should_run
    G = nx.path_graph(40)
    settings = nx.config.backends.bitblas
    assert "39 edges; bitblas pays off from" in should("pagerank", (G,), {})
    monkeypatch.setattr(settings, "min_edges", 39)
    assert TABLE["pagerank"].cost == HEAVY and should("pagerank", (), {"G": G}) is True
    assert TABLE["isolates"].cost == SCAN and "NetworkX is faster" in should("isolates", (G,), {})
    assert TABLE["descendants_at_distance"].cost == SEARCH
    assert [should("descendants_at_distance", (G, 0, 1), {}) is True for _ in range(4)] == [False, False, True, True]
    assert G.__networkx_cache__["bitblas"] == 4
    G.__networkx_cache__.clear()
    # some nodes alone, a search that goes not far, one that is met half way
    for name, args, options, said, pays in (
        ("triangles", (G, [0, 1]), {}, "NetworkX is faster", (G, range(9))),
        ("bfs_edges", (G, 0), {"depth_limit": 2}, "search 1", (G, 0)),
        ("shortest_path", (G, 0, 9), {}, "NetworkX is faster", (G, 0)),
    ):
        assert said in should(name, args, options) and should(name, pays, {}) is True
    G.__networkx_cache__.clear()
    nx.is_connected(G, backend="bitblas")
    assert should("isolates", (G,), {}) is True  # it is converted already
    view = G.subgraph(range(39))
    assert "39 edges" not in str(should("pagerank", (view,), {}))
    monkeypatch.setattr(settings, "min_edges", 0)
    assert should("isolates", (nx.Graph(),), {}) is True
    assert can("pagerank", (G,), {"weight": lambda u, v, data: 1}) == "a callable `weight`"
    assert can("pagerank", (G.edges,), {}).startswith("a graph of type networkx.classes.reportviews")
    assert can("bfs_edges", (G, 0, True), {}) is True
    assert can("bfs_edges", (nx.DiGraph(G), 0, True), {}) == "`reverse` of a directed graph"


def test_a_fallback_is_said_once(told):
    G = nx.cycle_graph(6)
    G.edges[0, 1]["weight"] = "far"
    with prioritized():
        for _ in range(2):
            with pytest.raises(TypeError):
                nx.single_source_dijkstra_path_length(G, 0)
            assert nx.square_clustering(nx.DiGraph(G), 0) is not None
        nx.greedy_color(G)
    warned = [record.getMessage() for record in told.records if record.levelno == logging.WARNING]
    assert Counter("left to NetworkX" in text for text in warned) == {True: 2}
    assert any("'weight' holds str" in text for text in warned) and any(
        text.endswith("directed graphs") for text in warned
    )
    assert any("greedy_color is left to NetworkX" in record.getMessage() for record in told.records)
    with pytest.raises(NotImplementedError, match="not implemented by 'bitblas' backend for the given arguments"):
        nx.square_clustering(nx.DiGraph(G), 0, backend="bitblas")


def test_the_table_is_what_networkx_is_told():
    told_ = info.get_info()
    assert set(told_["functions"]) == set(TABLE) and told_["default_config"] == {"min_edges": info.MIN_EDGES}
    assert "Left to NetworkX: a callable `weight`." in told_["functions"]["betweenness_centrality"]["additional_docs"]
    known = nx.utils.backends._registered_algorithms
    for name in TABLE:
        assert name in known and callable(getattr(interface.backend, name)), name
        if TABLE[name].module != OWN:
            run, theirs = getattr(interface.backend, name), interface._signature(name)
            assert list(inspect.signature(run).parameters) == list(theirs.parameters), name
    assert "pagerank" in dir(interface.backend)
    with pytest.raises(AttributeError, match=r"does not implement NetworkX.s .nothing."):
        _ = interface.backend.nothing


def test_the_page_lists_the_table():
    _, _, page = (nx_backend.ROOT / "docs" / "networkx.md").read_text().partition("## The functions\n")
    assert [line for line in page.splitlines() if line.startswith("| ")][1:] == info.listing()


def test_nothing_but_the_environment(tmp_path):
    """A new process in which NetworkX finds the backend by its entry points: the program does not mention bitblas."""
    code = (
        "import networkx as nx\n"
        "G = nx.gnm_random_graph(60, 300, seed=1)\n"
        "assert 'bitblas' in nx.config.backends, nx.config\n"
        "import sys; assert 'bitblas' not in sys.modules and '_nx_bitblas.table' in sys.modules\n"
        "print(nx.is_connected(G), sorted(G.__networkx_cache__['backends']))\n"
    )
    there = metadata.entry_points(group="networkx.backends", name="bitblas")  # where this tree is installed
    path = os.pathsep.join(sys.path if there else [str(nx_backend.installed(tmp_path / "site")), *sys.path])
    env = os.environ | {"PYTHONPATH": path, "NETWORKX_BACKEND_PRIORITY": "bitblas"}
    code = code.replace("print", "nx.config.backends.bitblas.min_edges = 0\nprint")
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], env=env, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True ['bitblas']\n", "")


# ---- integer weights ------------------------------------------------------------------------------------------------

SIZES = {
    "stamps": lambda rng: 1_760_000_000_000_000_000 + rng.randrange(10**15),
    "near 2^62": lambda rng: 2**62 - rng.randrange(1000),
    "both signs": lambda rng: rng.choice([-1, 1]) * (2**62 - rng.randrange(1000)),
}
HALVES = [set(range(0, 12, 2)), set(range(1, 12, 2))]


def weighted_graph(kind, size):
    rng = random.Random(7)
    G = kind()
    G.add_nodes_from(range(12))
    pairs = [(rng.randrange(12), rng.randrange(12)) for _ in range(36)]
    G.add_weighted_edges_from((*pair, SIZES[size](rng)) for pair in pairs)
    return G


def both(function, G, *args, **options):
    """What the backend and NetworkX give."""
    return function(bnx.from_networkx(G), *args, backend="bitblas", **options), function(G, *args, **options)


def check(function, G, *args, near=None, **options):
    """The number of NetworkX, of its type, or near to it; what the backend gives."""
    ours, theirs = both(function, G, *args, **options)
    assert ours == (theirs if near is None else pytest.approx(theirs, rel=near, abs=near))
    assert type(ours) is type(theirs)
    return ours


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_integers_are_exact(kind, size):
    G = weighted_graph(kind, size)
    H = bnx.from_networkx(G)
    for side in ("degree", "in_degree", "out_degree") if G.is_directed() else ("degree",):
        ours, theirs = getattr(H, side)(weight="weight"), getattr(G, side)(weight="weight")
        assert dict(ours) == dict(theirs) and ours[3] == theirs[3] and type(ours[3]) is int
    assert H.size("weight") == G.size("weight")
    for other in (None, HALVES[1]) if not G.is_directed() else (HALVES[1], {1, 2, 4}):
        assert type(check(nx.cut_size, G, HALVES[0], other, weight="weight")) is int
    assert type(check(nx.volume, G, HALVES[0], weight="weight")) is int
    for function in (nx.conductance, nx.edge_expansion, nx.normalized_cut_size):
        check(function, G, HALVES[0], weight="weight", near=1e-12)
    # shares of sums
    check(nx.community.modularity, G, HALVES, near=1e-9)
    if not G.is_multigraph():
        for options in ({}, {"source": "in", "target": "in+out"}, {"source": "in+out"}) if G.is_directed() else ({},):
            check(nx.average_neighbor_degree, G, weight="weight", **options)
        check(nx.average_degree_connectivity, G, weight="weight", near=1e-12)
    if size != "both signs":
        assert min(check(nx.pagerank, G, near=1e-6).values()) > 0


def test_modularity_of_time_stamps():
    G = nx.Graph()
    G.add_weighted_edges_from((u, v, 1_760_000_000_000_000_000 + u) for u, v in nx.karate_club_graph().edges)
    parts = nx.community.greedy_modularity_communities(nx.karate_club_graph())
    assert 0.3 < check(nx.community.modularity, G, parts, near=1e-12) < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_distances_up_to_2_63(kind):
    """Twelve nodes in a ring, paths of up to 11 edges: the sums over all pairs pass 2^63, the paths do not."""
    G = nx.cycle_graph(12, kind)
    nx.set_edge_attributes(G, 2**59 + 1, "weight")
    for function in (nx.wiener_index, nx.average_shortest_path_length):
        assert check(function, G, weight="weight") > 2**59
    check(nx.closeness_centrality, G, distance="weight")
    ours, theirs = both(nx.floyd_warshall, G)
    assert ours == theirs and type(ours[0][3]) is int
    if not G.is_multigraph():
        for function in (nx.center, nx.diameter, nx.radius, nx.periphery, nx.barycenter):
            check(function, G, weight="weight")


def test_bounds_of_eccentricities_are_integers():
    G = nx.path_graph(5)
    nx.set_edge_attributes(G, {(k, k + 1): 2**56 + k for k in range(4)}, "weight")
    for function in (nx.diameter, nx.radius, nx.center, nx.periphery):
        check(function, G, weight="weight", usebounds=True)


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
def test_longer_distances_are_left_to_networkx(name, weight):
    """Also where the answer is an iterator, which is read when the dispatch of NetworkX has returned."""
    G = nx.cycle_graph(6)
    nx.set_edge_attributes(G, weight, "weight")
    listed = lambda found: dict(found) if hasattr(found, "__next__") else found
    expected = listed(getattr(nx, name)(G, **LENGTHS[name]))
    with prioritized():
        assert listed(getattr(nx, name)(G, **LENGTHS[name])) == expected


@pytest.mark.parametrize("function", [nx.pagerank, nx.cut_size, nx.volume, nx.community.modularity, nx.to_numpy_array])
def test_integers_beyond_64_bits_are_left_to_networkx(function):
    G = nx.cycle_graph(6)
    nx.set_edge_attributes(G, 2**70, "weight")
    parts = {"cut_size": ({0, 1},), "volume": ({0, 1},), "modularity": ([{0, 1, 2}, {3, 4, 5}],)}
    args = parts.get(function.__name__, ())
    expected = function(G, *args, weight="weight")
    with pytest.raises(NotImplementedError):
        function(G, *args, weight="weight", backend="bitblas")
    with prioritized():
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
    G = nx.DiGraph([("a", "b", {"weight": value})])
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
    assert not arrays.fits_int64(np.array([-(2**63)])) and not arrays.fits_int64(np.array([2**60]), 8)
    assert arrays.fits_int64(np.array([1e300]))
