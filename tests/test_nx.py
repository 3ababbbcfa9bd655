"""The NetworkX backend: conversions, dispatch, and every function of the table against NetworkX itself."""

from __future__ import annotations

import inspect
import logging
import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

nx = pytest.importorskip("networkx")

import nx_backend  # noqa: E402

nx_backend.register()

import bitblas.nx as bnx  # noqa: E402
from bitblas.nx import info, interface, numbering  # noqa: E402
from bitblas.nx.table import HEAVY, OWN, SCAN, SEARCH, TABLE  # noqa: E402

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def graph(kind: type, n: int = 14, edges: int = 30, seed: int = 1, labels: str = "str", loops: bool = True):
    """A random graph with labels of a kind, weights of its own on most edges, and a node without edges."""
    rng = random.Random(seed)
    name = {"str": lambda k: f"v{k}", "int": lambda k: 3 * k - 7, "range": lambda k: k}.get(labels, lambda k: (k, "x"))
    G = kind(name="random")
    G.add_nodes_from(map(name, range(n) if labels == "range" else rng.sample(range(n), n)), colour="red")
    for _ in range(edges):
        u, v = rng.randrange(n - 1), rng.randrange(n - 1)
        if loops or u != v:
            G.add_edge(name(u), name(v), **({} if rng.random() < 0.3 else {"weight": rng.randint(1, 9)}))
    return G


def same(ours, theirs):
    """The same values, of the same Python types, and floats that are near."""
    if isinstance(theirs, Iterator):
        return same(list(ours), list(theirs))
    if isinstance(theirs, Mapping) and not isinstance(theirs, Counter):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
        return type(ours) in (int, float) and (
            math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-9) or (math.isnan(ours) and math.isnan(theirs))
        )
    if isinstance(theirs, nx.Graph):
        ours = nx.utils.backends._load_backend("bitblas").convert_to_nx(ours)
        return set(ours) == set(theirs) and set(ours.edges) == set(theirs.edges)
    if hasattr(theirs, "toarray"):
        theirs, ours = theirs.toarray(), ours.toarray()
    if isinstance(theirs, np.ndarray):
        return ours.dtype == theirs.dtype and np.allclose(ours, theirs)
    return type(ours) is type(theirs) and ours == theirs


def outcome(call):
    """What a call gives, an iterator as a list, or the error that it raises and its message."""
    try:
        found = call()
        return list(found) if isinstance(found, Iterator) else found
    except Exception as error:
        return type(error), str(error)


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


def test_labels_that_share_a_hash():
    G = nx.Graph([(-1, -2), (-2, "a"), ("a", 0.5), ((), None or frozenset())])
    assert hash(-1) == hash(-2)
    assert bnx.to_networkx(bnx.from_networkx(G))._adj == G._adj
    labels = [f"node {k}" for k in range(3000)]
    given = random.Random(2).choices(labels, k=5000)
    found = numbering.numbers_of(given, len(given), labels)
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
    u = list(G)[0]
    assert dict(H.nodes(data=True)) == dict(G.nodes(data=True)) and list(H.edges) == list(G.edges)
    assert dict(H[u]) == dict(G[u]) and H.has_edge(u, u) == G.has_edge(u, u) and u in H and [] not in H
    assert H.size() == G.size() and H.size("weight") == G.size("weight") and "Graph with 14 nodes" in repr(H)
    with pytest.raises(nx.NetworkXError, match="Frozen graph"):
        H.add_edge(1, 2)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = H.colour
    with pytest.raises(nx.NetworkXError, match="Node 99 is not in the graph"):
        list(H.nbunch_iter(99))
    with pytest.raises(nx.NetworkXError, match="Cannot reverse"):
        H.reverse()


# ---- dispatch -------------------------------------------------------------------------------------------------------


@pytest.fixture
def told(caplog):
    """What is logged, from nothing said yet."""
    interface._tell.cache_clear()
    caplog.set_level(logging.INFO, logger="bitblas.nx")
    yield caplog
    interface._tell.cache_clear()


def test_a_conversion_is_kept_until_the_graph_changes():
    G = nx.path_graph(5)
    nx.is_connected(G, backend="bitblas")
    kept = G.__networkx_cache__["backends"]["bitblas"]
    (first,) = kept.values()
    with pytest.warns(UserWarning, match="conversions to backend graphs are saved"):
        nx.bfs_layers(G, 0, backend="bitblas")
    assert list(kept.values()) == [first]
    G.add_node(9)
    assert not G.__networkx_cache__
    assert nx.is_connected(G, backend="bitblas") is False


def test_what_pays(monkeypatch):
    can, should = interface.backend.can_run, interface.backend.should_run
    G = nx.path_graph(40)
    settings = nx.config.backends.bitblas
    assert "39 edges; bitblas is worth it from" in should("pagerank", (G,), {})
    monkeypatch.setattr(settings, "min_edges", 39)
    assert TABLE["pagerank"].cost == HEAVY and should("pagerank", (), {"G": G}) is True
    assert TABLE["isolates"].cost == SCAN and "NetworkX is done" in should("isolates", (G,), {})
    assert TABLE["bfs_layers"].cost == SEARCH
    assert [should("bfs_layers", (G, 0), {}) is True for _ in range(4)] == [False, False, True, True]
    assert G.__networkx_cache__["bitblas"] == 4
    G.__networkx_cache__.clear()
    nx.is_connected(G, backend="bitblas")
    assert should("isolates", (G,), {}) is True  # it is converted already
    view = G.subgraph(range(39))
    assert "39 edges" not in str(should("pagerank", (view,), {}))
    monkeypatch.setattr(settings, "min_edges", 0)
    assert should("isolates", (nx.Graph(),), {}) is True
    assert can("pagerank", (G,), {"weight": lambda u, v, data: 1}) == "a function as `weight`"
    assert can("pagerank", (G.edges,), {}).startswith("a graph of type networkx.classes.reportviews")
    assert can("bfs_edges", (G, 0, True), {}) is True
    assert can("bfs_edges", (nx.DiGraph(G), 0, True), {}) == "`reverse` of a directed graph"


def test_a_fallback_is_said_once(told, monkeypatch):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    G = nx.cycle_graph(6)
    with nx.config.backend_priority(algos=["bitblas"]), nx.config.backends.bitblas(min_edges=0):
        G.edges[0, 1]["weight"] = "far"
        for _ in range(2):
            with pytest.raises(TypeError):
                nx.single_source_dijkstra_path_length(G, 0)
            nx.betweenness_centrality(G, weight=None)
            assert nx.betweenness_centrality(G, weight="cost")
        nx.greedy_color(G)
    warned = [record.getMessage() for record in told.records if record.levelno == logging.WARNING]
    assert Counter("left to NetworkX" in text for text in warned) == {True: 2}
    assert any("'weight' holds str" in text for text in warned) and any(text.endswith("weights") for text in warned)
    assert any("greedy_color is left to NetworkX" in record.getMessage() for record in told.records)
    with pytest.raises(NotImplementedError, match="not implemented by 'bitblas' backend for the given arguments"):
        nx.betweenness_centrality(G, weight="cost", backend="bitblas")


def test_the_table_is_what_networkx_is_told():
    told_ = info.get_info()
    assert set(told_["functions"]) == set(TABLE) and told_["default_config"] == {"min_edges": info.MIN_EDGES}
    assert "Left to NetworkX: weights." in told_["functions"]["betweenness_centrality"]["additional_docs"]
    known = nx.utils.backends._registered_algorithms
    for name in TABLE:
        assert name in known and callable(getattr(interface.backend, name)), name
        if TABLE[name].module != OWN:
            run, theirs = getattr(interface.backend, name), interface._signature(name)
            assert list(inspect.signature(run).parameters) == list(theirs.parameters), name
    assert "pagerank" in dir(interface.backend)
    with pytest.raises(AttributeError, match="no function 'nothing'"):
        _ = interface.backend.nothing


def test_nothing_but_the_environment(tmp_path):
    """A new process in which NetworkX finds the backend by its entry points: the program knows nothing of bitblas."""
    code = (
        "import networkx as nx\n"
        "G = nx.gnm_random_graph(60, 300, seed=1)\n"
        "assert 'bitblas' in nx.config.backends, nx.config\n"
        "print(nx.is_connected(G), sorted(G.__networkx_cache__['backends']))\n"
    )
    path = os.pathsep.join([str(nx_backend.installed(tmp_path / "site")), *sys.path])
    env = os.environ | {"PYTHONPATH": path, "NETWORKX_BACKEND_PRIORITY": "bitblas"}
    code = code.replace("print", "nx.config.backends.bitblas.min_edges = 0\nprint")
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], env=env, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True ['bitblas']\n", "")


# ---- every function of the table, against NetworkX ----------------------------------------------------------------

nodes = lambda G, *at: [list(G)[k % len(G)] for k in at]
CALLS = {
    "has_path": lambda G: [nodes(G, 0, 5), nodes(G, 0, 0)],
    "shortest_path": lambda G: [nodes(G, 1), [], ["nowhere"]],
    "shortest_path_length": lambda G: [nodes(G, 1), [], nodes(G, 2, 7), [None, *nodes(G, 3)], ["nowhere"]]
    + [{"weight": "weight"}, {"weight": "weight", "source": nodes(G, 2)[0]}, {"method": "magic"}],
    "single_source_shortest_path_length": lambda G: [nodes(G, 1), [*nodes(G, 1), 1], ["nowhere"]],
    "single_source_dijkstra_path_length": lambda G: [nodes(G, 1), [*nodes(G, 1), 7], ["nowhere"]],
    "multi_source_dijkstra_path_length": lambda G: [[nodes(G, 1, 4)], [[]], [nodes(G, 5), 6.5]],
    "betweenness_centrality": lambda G: [[], [None, False], {"endpoints": True}]
    + [{"k": 5, "seed": 2, "normalized": one, "endpoints": other} for one in (True, False) for other in (True, False)],
    "closeness_centrality": lambda G: [[], nodes(G, 3), {"distance": "weight"}, {"wf_improved": False}],
    "harmonic_centrality": lambda G: [[], {"nbunch": nodes(G, 1, 2)}, {"sources": nodes(G, 1, 2, 3)}]
    + [{"distance": "weight"}],
    "pagerank": lambda G: [[], {"weight": None}, {"personalization": {nodes(G, 1)[0]: 1}}, {"max_iter": 1}]
    + [{"dangling": {nodes(G, 2)[0]: 3}, "alpha": 0.5}, {"nstart": {nodes(G, 4)[0]: 1}}]
    + [{"personalization": {"nowhere": 1}}],
    "katz_centrality": lambda G: [[0.02], {"alpha": 0.01, "weight": "weight"}, {"alpha": 5, "max_iter": 3}]
    + [{"alpha": 0.02, "normalized": False, "beta": dict.fromkeys(G, 2)}, {"beta": {"nowhere": 1}}],
    "eigenvector_centrality": lambda G: [{"max_iter": 1000}, {"nstart": dict.fromkeys(G, 0)}, {"max_iter": 1}]
    + [{"weight": "weight", "max_iter": 1000}],
    "clustering": lambda G: [[], nodes(G, 1), [nodes(G, 1, 2)], {"weight": "weight"}],
    "average_clustering": lambda G: [[], {"count_zeros": False}, {"weight": "weight"}],
    "square_clustering": lambda G: [[], nodes(G, 1), [nodes(G, 1, 2)]],
    "triangles": lambda G: [[], nodes(G, 1), [nodes(G, 1, 2)]],
    "generalized_degree": lambda G: [[], nodes(G, 1), [nodes(G, 1, 2)]],
    "eccentricity": lambda G: [[], nodes(G, 1), {"weight": "weight"}],
    "shortest_paths": lambda G: [],
    "cut_size": lambda G: [[nodes(G, 1, 2, 3)], [nodes(G, 1, 2), nodes(G, 4, 5), "weight"]]
    if not G.is_directed()
    else [[nodes(G, 1, 2), nodes(G, 4, 5), "weight"]],
    "bfs_layers": lambda G: [nodes(G, 1), ["nowhere"]],
    "descendants_at_distance": lambda G: [[*nodes(G, 1), 2], [*nodes(G, 1), 0], ["nowhere", 1]],
    "bfs_edges": lambda G: [nodes(G, 1), {"source": nodes(G, 1)[0], "depth_limit": 1}],
    "is_k_regular": lambda G: [[2]],
    "is_isolate": lambda G: [nodes(G, 1)],
    "volume": lambda G: [[nodes(G, 1, 2)], [nodes(G, 1, 2), "weight"]],
    "to_scipy_sparse_array": lambda G: [[], [nodes(G, *reversed(range(len(G))))], {"weight": None, "format": "coo"}]
    + [{"dtype": float, "format": "rubbish"}, [[*nodes(G, *range(len(G) - 1)), "nowhere"]]]
    + [[nodes(G, 0, *range(len(G) - 1))]],
    "is_negatively_weighted": lambda G: [[]],
    "efficiency": lambda G: [nodes(G, 1, 5)],
    "jaccard_coefficient": lambda G: [[], [[nodes(G, 1, 2), nodes(G, 3, 3)]], [[(*nodes(G, 1), "nowhere")]]],
    "adamic_adar_index": lambda G: [[], [[nodes(G, 1, 2)]]],
    "floyd_warshall_numpy": lambda G: [[], {"nodelist": nodes(G, 1, 2)}, {"weight": None}],
}
CLEAR = {"connected", "strong", "null"}  # the largest singular value is a single one
PREDICTED = {"jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment"}
PAIRS = {"dijkstra_path_length", "bellman_ford_path_length"}
SETS = {"boundary_expansion", "node_expansion", "node_boundary", "is_dominating_set", "mixing_expansion"}
SETS |= {"conductance", "edge_expansion", "normalized_cut_size"}
SOURCES = {"descendants", "ancestors", "node_connected_component", "bfs_tree", "bfs_predecessors", "bfs_successors"}
SOURCES |= {"single_source_shortest_path", "single_target_shortest_path_length"}
SOURCES |= {"single_source_bellman_ford_path_length"}


def calls_of(name, G):
    if name in PAIRS:
        return [nodes(G, 0, 5), nodes(G, 0, 0), nodes(G, 0, len(G) - 1), ["nowhere", *nodes(G, 1)]]
    if name in SETS:
        return [[nodes(G, 1, 2, 3)]]
    if name in SOURCES:
        return [nodes(G, 1), ["nowhere"]]
    return CALLS.get(name, lambda G: [[]])(G)


GRAPHS = {
    "graph": lambda: graph(nx.Graph, edges=40),
    "connected": lambda: nx.relabel_nodes(nx.karate_club_graph().subgraph(range(20)).copy(), str),
    "digraph": lambda: graph(nx.DiGraph, edges=40, labels="int"),
    "strong": lambda: nx.compose(nx.cycle_graph(9, nx.DiGraph), nx.gnp_random_graph(9, 0.2, seed=1, directed=True)),
    "multigraph": lambda: graph(nx.MultiGraph, edges=40, labels="tuple"),
    "multidigraph": lambda: graph(nx.MultiDiGraph, edges=40),
    "loopless": lambda: graph(nx.Graph, loops=False, labels="range"),
    "tree": lambda: nx.balanced_tree(2, 3),
    "arborescence": lambda: nx.balanced_tree(2, 2, nx.DiGraph),
    "bipartite": lambda: nx.complete_bipartite_graph(3, 4),
    "one node": lambda: nx.empty_graph(1),
    "null": nx.Graph,
}
LIGHT = ("is_connected", "connected_components", "bfs_edges", "single_source_shortest_path", "pagerank", "triangles")
LIGHT += ("single_source_dijkstra_path_length", "to_scipy_sparse_array", "number_of_selfloops", "is_tree", "is_forest")
ORDERED = {"bfs_edges", "bfs_layers", "single_source_shortest_path", "single_source_shortest_path_length", "pagerank"}
SHORT = {"null", "one node"}  # too few nodes for arguments that name some


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in LIGHT else pytest.mark.slow) for n in sorted(TABLE)])
def test_as_networkx(name):
    inner = nx.utils.backends._registered_algorithms[name]
    function = getattr(sys.modules[inner.__module__], inner.__name__)  # with what it refuses, before it dispatches
    needed = [p for p in list(interface._signature(name).parameters.values())[1:] if p.default is p.empty]
    ran = 0
    for kind, make in GRAPHS.items():
        G = make()
        calls = ([] if needed else [[]]) if kind in SHORT else calls_of(name, G)
        for call in calls:
            args, options = ([], call) if isinstance(call, dict) else (call, {})
            if interface._refusal(name, (G, *args), options) or (name == "hits" and kind not in CLEAR):
                continue
            theirs = outcome(lambda: function(G, *args, **options))
            ours = outcome(lambda: function(bnx.from_networkx(G), *args, backend="bitblas", **options))
            if isinstance(ours, tuple) and ours[0] is NotImplementedError:
                continue
            if name in PREDICTED and call == [] and isinstance(theirs, list):  # in the order of a set of strings
                ours, theirs = ({frozenset(pair): score for *pair, score in found} for found in (ours, theirs))
            assert same(ours, theirs), (kind, call, ours, theirs)
            if name in ORDERED and isinstance(theirs, dict):
                assert list(ours) == list(theirs), (kind, call)
            ran += 1
    assert ran
