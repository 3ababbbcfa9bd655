"""Every function of the NetworkX backend's table against NetworkX itself: values, types, order, errors; also of start
vectors, personalization and dangling weights that are zero or incomplete. NetworkX's own tests through the backend."""

import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

import networkx as nx
import networkx_tests
import numpy as np
import nx_backend
import pytest
from nx_calls import CALLS, GRAPHS, TABLES, Calls

import bitblas.nx as bnx
from _nx_bitblas.table import TABLE
from bitblas.nx import community, interface

nx_backend.register()


def same(ours, theirs):
    """The same values, of the same Python types, and floats that are near."""
    if isinstance(theirs, Iterator):
        return same(list(ours), list(theirs))
    if isinstance(theirs, Mapping) and not isinstance(theirs, Counter):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
        return type(ours) in (int, float) and ours == pytest.approx(theirs, rel=1e-6, abs=1e-9, nan_ok=True)
    if isinstance(theirs, nx.Graph):
        ours = nx.utils.backends._load_backend("bitblas").convert_to_nx(ours)
        return type(ours) is type(theirs) and ours._adj == theirs._adj and ours._node == theirs._node
    if hasattr(theirs, "toarray"):
        theirs, ours = theirs.toarray(), ours.toarray()
    if isinstance(theirs, np.ndarray):
        return ours.dtype == theirs.dtype and np.allclose(ours, theirs, equal_nan=True)
    return type(ours) is type(theirs) and ours == theirs


def canonical(name, found):
    """A result without what NetworkX leaves open: the order of sets, numbers of components, the choice of a flow."""
    if name in PREDICTED and isinstance(found, list):  # in the order of a set of nodes
        return {frozenset(pair): score for *pair, score in found}
    if name in ("strongly_connected_components", "biconnected_components") and isinstance(found, list):
        return set(map(frozenset, found))
    if name == "all_shortest_paths" and isinstance(found, list):
        return set(map(tuple, found))
    if name == "articulation_points" and isinstance(found, list):
        return set(found)
    if name == "floyd_warshall_predecessor_and_distance" and isinstance(found[0], dict):
        return {u: set(before) for u, before in found[0].items()}, found[1]
    if name == "maximum_flow" and isinstance(found[1], dict):
        return found[0], {u: set(to) for u, to in found[1].items()}
    if name == "condensation" and not isinstance(found, tuple):
        C = nx.utils.backends._load_backend("bitblas").convert_to_nx(found)
        named = {c: frozenset(members) for c, members in C.nodes(data="members")}
        assert C.graph["mapping"] == {v: c for c, members in named.items() for v in members}
        return nx.relabel_nodes(C, named)
    return found


def measured(found, G, name, options):
    """Paths as their ends and their length."""
    if isinstance(found, list) and found and not isinstance(found[0], tuple):
        weight = None if "shortest_path" in name else "weight"
        weight = options.get("weight", weight)
        length = lambda u, v: min(d.get(weight, 1) for d in (G[u][v].values() if G.is_multigraph() else [G[u][v]]))
        return found[0], found[-1], sum(map(length, found, found[1:]))
    if isinstance(found, (list, tuple)):
        return type(found)(measured(each, G, name, options) for each in found)
    return {v: measured(p, G, name, options) for v, p in found.items()} if isinstance(found, dict) else found


def length_of(path, G, weight, default):
    edges = lambda u, v: G[u][v].values() if G.is_multigraph() else [G[u][v]]
    return sum(max(d.get(weight, default) for d in edges(u, v)) for u, v in pairwise(path))


def outcome(function, *args, **options):
    """The result of a call, an iterator as a list, or its error and message."""
    try:
        found = function(*args, **options)
        return list(found) if isinstance(found, Iterator) else found
    except Exception as error:
        return type(error), str(error)


# The others need kernels of their own, or run in docs/networkx.md.
LIGHT = ("is_connected", "connected_components", "bfs_edges", "single_source_shortest_path", "triangles", "is_tree")
LIGHT += ("to_scipy_sparse_array", "number_of_selfloops", "degree_centrality", "cut_size")
ORDERED = {"bfs_edges", "bfs_layers", "single_source_shortest_path", "single_source_shortest_path_length", "pagerank"}
CLEAR = {"connected", "strong", "null"}  # of hits: the largest singular value is a single one
PREDICTED = {"jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment"}


REGISTERED = nx.utils.backends._registered_algorithms  # NetworkX 3.7 no longer dispatches all of them
OF_GRAPHS = [n for n in sorted(TABLE) if n in REGISTERED and REGISTERED[n].graphs and not n.endswith("_all")]


def original(name):
    """NetworkX's function, with arguments that it rejects before dispatching."""
    inner = REGISTERED[name]
    return getattr(sys.modules[inner.__module__], inner.__name__)


# Where there are several shortest paths NetworkX finds any of them: the ends and the length are compared.
ANY_PATH = ("bellman_ford_path", "single_target_shortest_path", "single_source_bellman_ford")
ANY_PATH += ("single_source_bellman_ford_path", "all_pairs_bellman_ford_path")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in LIGHT else pytest.mark.slow) for n in OF_GRAPHS])
def test_as_networkx(name, monkeypatch):
    monkeypatch.setattr("_nx_bitblas.table.FEW_EDGES", 0)  # communities of small graphs too
    function = original(name)
    needed = [p for p in list(interface._signature(name).parameters.values())[1:] if p.default is p.empty]
    ran = 0
    for kind, make in GRAPHS.items():
        G = make()
        c = Calls(G)
        short = kind in ("null", "one node")  # no nodes for arguments to name
        alone = [] if needed or "layout" in name else [c()]
        for args, options in alone if short else CALLS.get(name, lambda c: [c()])(c):
            if interface._refusal(name, (G, *args), options) or (name == "hits" and kind not in CLEAR):
                continue
            theirs = outcome(function, G, *args, **options)
            ours = outcome(function, bnx.from_networkx(G), *args, backend="bitblas", **options)
            if name == "leiden_communities":  # which NetworkX names, and leaves to backends
                assert not len(G) or nx.community.is_partition(G, ours), kind
                ours = theirs = None
            if name == "min_weighted_dominating_set" and isinstance(theirs, set):  # any of them
                assert nx.is_dominating_set(G, ours), kind
                ours = theirs = None
            if isinstance(ours, tuple) and ours[0] is NotImplementedError:
                continue
            backwards = G.is_directed() and name in ("bidirectional_shortest_path", "bidirectional_dijkstra")
            if name in ANY_PATH or backwards or (name == "shortest_path" and (len(args) == 2 or options)):
                ours, theirs = measured(ours, G, name, options), measured(theirs, G, name, options)
            if name == "dag_longest_path" and isinstance(theirs, list):  # any of several longest ones
                default = args[1] if args[1:] else 1
                weight = "nothing" if args else options.get("weight", "weight")
                ours, theirs = (length_of(path, G, weight, default) for path in (ours, theirs))
            if name == "max_flow_min_cost" and isinstance(theirs, dict):  # any of several optimal ones
                assert {u: set(to) for u, to in ours.items()} == {u: set(to) for u, to in theirs.items()}
                weight = options.get("weight", "weight")
                ours, theirs = (nx.cost_of_flow(nx.DiGraph(G), flow, weight) for flow in (ours, theirs))
            ours, theirs = canonical(name, ours), canonical(name, theirs)
            assert same(ours, theirs), (kind, args, options, ours, theirs)
            if name in ORDERED and isinstance(theirs, dict):
                assert list(ours) == list(theirs), (kind, args, options)
            ran += 1
    assert ran


def test_divisions_of_small_graphs_are_those_of_networkx():
    few, many = nx.karate_club_graph(), nx.ring_of_cliques(20, 5)
    assert "fewer than 100 edges" in interface.backend.can_run("louvain_communities", (few,), {})
    found = nx.community.louvain_communities(bnx.from_networkx(many), backend="bitblas")
    theirs = nx.community.louvain_communities(many, seed=1)
    assert nx.community.modularity(many, found) >= 0.99 * nx.community.modularity(many, theirs)
    levels = list(nx.community.louvain_partitions(bnx.from_networkx(many), backend="bitblas"))
    assert levels[-1] == found and all(any(a <= b for b in found) for a in levels[0])


def test_triads():
    for edges in ([(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 2)], [(0, 1)]):
        for kind in (nx.DiGraph, nx.Graph):
            G = kind(edges)
            assert nx.is_triad(bnx.from_networkx(G), backend="bitblas") == nx.is_triad(G)


MADE = [n for n in sorted(TABLE) if n not in OF_GRAPHS]


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n == "path_graph" else pytest.mark.slow) for n in MADE])
def test_graphs_that_are_made(name):
    function = original(name)
    needed = [p for p in interface._signature(name).parameters.values() if p.default is p.empty]
    calls = TABLES.get(name, [tuple(3 for p in needed if p.kind is not p.VAR_POSITIONAL)])
    if "pandas" in name:
        calls = [(pytest.importorskip("pandas").DataFrame({"source": [0, 1], "target": [1, 2]}),)]
    if "scipy" in name or "biadjacency" in name:
        calls = [(pytest.importorskip("scipy.sparse").csr_array([[0, 2], [1, 0]]),)]
    seeded = {"seed": 1} if name == "random_labeled_tree" else {}
    for args in calls:
        assert interface._refusal(name, args, {}) is None
        theirs, ours = function(*args, **seeded), function(*args, backend="bitblas", **seeded)
        assert isinstance(ours, bnx.Graph) and same(ours, theirs), args
    if "create_using" in interface._signature(name).parameters:
        assert "to fill" in interface.backend.can_run(name, calls[0], {"create_using": nx.Graph()})


FLOWS = {
    "a sum of 2^63": [(0, 1, 2**62), (0, 2, 2**62), (1, 3, 2**62), (2, 3, 2**62)],
    "the largest of INT64": [(0, 1, 2**63 - 1), (0, 2, 2**63 - 1), (1, 3, 2**63 - 1), (2, 3, 2**63 - 2), (3, 1, 5)],
    "an edge without capacity": [(0, 1, 3), (1, 3, None), (0, 2, 2**50 + 1), (2, 3, 2**52)],
    # without an edge of unlimited capacity, floats may have any size
    "floats": [(0, 1, 0.1), (0, 2, 1e17), (2, 3, 0.7), (1, 3, 1e18)],
}


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.Graph])
@pytest.mark.parametrize("case", FLOWS)
def test_flows_of_large_capacities(case, kind):
    G = kind((u, v, {} if c is None else {"capacity": c}) for u, v, c in FLOWS[case])
    for function in (nx.maximum_flow_value, nx.minimum_cut_value, nx.minimum_cut, nx.maximum_flow):
        theirs, ours = function(G, 0, 3), function(G, 0, 3, backend="bitblas")
        value = ours if isinstance(ours, (int, float)) else ours[0]
        assert type(value) is (float if case == "floats" else int)
        assert value == (theirs if isinstance(theirs, (int, float)) else theirs[0])
    found = ours[1]
    assert all(0 <= x <= G[u][v].get("capacity", math.inf) for u in found for v, x in found[u].items())
    assert sum(found[0].values()) - sum(to.get(0, 0) for to in found.values()) == value


@pytest.mark.parametrize(("capacity", "reason"), [
    (2**64 - 1, "more than 64 bits"), (2**53 + 1, "2\\^53 and more"), (-1, "below 0"), (math.nan, "below 0, or NaN"),
])  # fmt: skip
def test_flows_that_are_left_to_networkx(capacity, reason):
    """Capacities that the matrix cannot represent exactly: NetworkX computes, and nothing is rounded."""
    G = nx.DiGraph([(0, 1, {"capacity": capacity}), (1, 2, {})])
    with pytest.raises(NotImplementedError, match=reason):
        community.maximum_flow_value(bnx.from_networkx(G, {"capacity": math.inf}, preserve_edge_attrs=False), 0, 2)


# ---- start vectors --------------------------------------------------------------------------------------------------

START_GRAPHS = {
    "karate": lambda: nx.Graph(nx.karate_club_graph()),
    "with a sink": lambda: nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)]),
    "two parts": lambda: nx.Graph([(0, 1), (1, 2), (2, 0), (5, 6), (6, 7), (7, 5)]),
}
VECTORS = {
    "zero": lambda G: dict.fromkeys(G, 0), "zero as floats": lambda G: dict.fromkeys(G, 0.0),
    "no node": lambda G: {}, "one node": lambda G: {0: 1}, "sum of 0": lambda G: {**dict.fromkeys(G, 0), 0: 1, 1: -1},
    "another node": lambda G: {"nowhere": 1}, "one more node": lambda G: {**dict.fromkeys(G, 1.0), "nowhere": 1.0},
    "one part": lambda G: {2: 1, 1: 3, 0: 2}, "backwards": lambda G: {v: 1.0 + v for v in reversed(list(G))},
    "NaN": lambda G: {**dict.fromkeys(G, 1.0), 0: float("nan")},
}  # fmt: skip


def check(function, G, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of a division by 0
        theirs = outcome(function, G, **options)
    ours = outcome(function, bnx.from_networkx(G), backend="bitblas", **options)
    assert same(ours, theirs), (options, ours, theirs)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
    return theirs


@pytest.mark.parametrize("argument", ["nstart", "dangling", "personalization"])
@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("kind", START_GRAPHS)
def test_pagerank(kind, name, argument):
    G = START_GRAPHS[kind]()
    check(nx.pagerank, G, **{argument: VECTORS[name](G)})


def test_pagerank_says_of_zeros_what_networkx_does():
    G = START_GRAPHS["with a sink"]()
    zero, converted = dict.fromkeys(G, 0), bnx.from_networkx(G)
    for argument in ("nstart", "dangling"):
        with pytest.raises(nx.PowerIterationFailedConvergence, match="within 7 iterations"):
            nx.pagerank(converted, max_iter=7, **{argument: zero}, backend="bitblas")
    with pytest.raises(ZeroDivisionError):
        nx.pagerank(converted, nstart=zero, personalization=zero, backend="bitblas")


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("kind", START_GRAPHS)
def test_centralities_and_hubs(kind, name):
    G = START_GRAPHS[kind]()
    check(nx.katz_centrality, G, alpha=0.02, nstart=VECTORS[name](G))
    check(nx.eigenvector_centrality, G, max_iter=1000, nstart=VECTORS[name](G))
    if name != "NaN" and kind != "two parts":  # whose largest singular value is there twice
        check(nx.hits, G, nstart=VECTORS[name](G))


def test_katz_of_a_part_takes_nothing_from_other_nodes():
    G = nx.DiGraph([(0, 1), (1, 0), (2, 0)])
    found = check(nx.katz_centrality, G, alpha=0.1, nstart={0: 1, 1: 1}, normalized=False)
    assert found == pytest.approx({0: 10 / 9, 1: 10 / 9}, rel=1e-5)
    check(nx.katz_centrality, G, alpha=0.1, nstart={1: 1, 0: 1}, beta=dict.fromkeys(G, 2))


def test_hubs_of_graphs_that_scipy_refuses():
    for G in (nx.empty_graph(1), nx.empty_graph(3), nx.path_graph(1)):
        check(nx.hits, G)
    check(nx.hits, nx.path_graph(3), max_iter=0)


# ---- NetworkX's own tests: those that reach a function that runs here pass, as on NetworkX alone ---------------------

PARTS = ("algorithms/shortest_paths", "algorithms/traversal", "algorithms/link_analysis", "algorithms/components")
LEAST = 0.98


@pytest.mark.slow
def test_they_pass():
    alone, ours = networkx_tests.run(PARTS, backend=False), networkx_tests.run(PARTS)
    passed = alone.named("passed")
    assert len(ours.reached & passed) > 100
    assert len(ours.reached & passed & ours.named("passed")) >= LEAST * len(ours.reached & passed)
    assert passed - ours.named("passed") == set()
