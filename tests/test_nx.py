"""The NetworkX backend: its graph, conversions, dispatch, and the calls that it leaves to NetworkX, with messages."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import os
import random
import subprocess
import sys
from collections import Counter
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
    for labels, times in (
        (cities, 0),
        ([(one, 1) for one in cities], 0),
        ("abcd", 1),
        ([("a", k) for k in range(4)], 2),
    ):
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
    """The log, with all warnings reset."""
    interface._log_once.cache_clear()
    caplog.set_level(logging.INFO, logger="bitblas.nx")
    yield caplog
    interface._log_once.cache_clear()


def test_a_conversion_is_kept_until_the_graph_changes(monkeypatch):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", set())
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


def test_a_graph_that_changes_while_it_is_sorted(monkeypatch):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    for order in (nx.topological_sort, nx.topological_generations):
        G = nx.DiGraph([(1, 2), (2, 3)])
        assert len(list(order(G, backend="bitblas"))) == 3
        # NetworkX raises one of the two, depending on the change; also without cached conversions
        for error, kept in ((RuntimeError, True), (nx.NetworkXUnfeasible, True), (RuntimeError, False)):
            monkeypatch.setattr(nx.config, "cache_converted_graphs", kept)
            with pytest.raises(error, match="Graph changed during iteration"):
                for _ in order(G, backend="bitblas"):
                    G.add_edge(4, 5)


def test_conversions_of_one_graph_share_its_structure(monkeypatch):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
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
    assert (
        "NetworkX is faster" in should("triangles", (G, [0, 1]), {}) and should("triangles", (G, range(9)), {}) is True
    )
    assert "search 1" in should("bfs_edges", (G, 0), {"depth_limit": 2}) and should("bfs_edges", (G, 0), {}) is True
    assert (
        "NetworkX is faster" in should("shortest_path", (G, 0, 9), {}) and should("shortest_path", (G, 0), {}) is True
    )
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


def test_a_fallback_is_said_once(told, monkeypatch):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    G = nx.cycle_graph(6)
    with nx.config.backend_priority(algos=["bitblas"]), nx.config.backends.bitblas(min_edges=0):
        G.edges[0, 1]["weight"] = "far"
        for _ in range(2):
            with pytest.raises(TypeError):
                nx.single_source_dijkstra_path_length(G, 0)
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
