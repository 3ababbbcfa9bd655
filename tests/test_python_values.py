"""Results for users are Python's numbers, strings and Booleans, not NumPy's: json.dumps, GML and GraphML accept
them."""

import io
import json
from collections.abc import Mapping

import numpy as np
import pytest

import bitblas as gb

networkx = pytest.importorskip("networkx")

EDGES = [("a", "b", 3), ("b", "c", 1), ("c", "a", 2), ("c", "d", 5)]


def plain(found):
    """Whether a result contains no NumPy object."""
    if isinstance(found, np.generic):
        return False
    if isinstance(found, Mapping):
        return all(plain(key) and plain(value) for key, value in found.items())
    return all(map(plain, found)) if isinstance(found, (list, tuple, set)) else True


def written(G):
    """JSON, GML and GraphML of a NetworkX graph: their contents, read again if they keep types."""
    json.dumps(list(G.edges(data=True)))
    files = io.BytesIO(), io.BytesIO()
    networkx.write_gml(G, files[0])
    networkx.write_graphml(G, files[1])
    networkx.parse_gml(files[0].getvalue().decode())
    networkx.parse_graphml(files[1].getvalue().decode())
    return networkx.node_link_graph(json.loads(json.dumps(networkx.node_link_data(G, edges="edges"))), edges="edges")


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", ["INT8", "INT64", "UINT64", "FP32", "FP64"])
def test_networkx_graphs_have_python_numbers(dtype, directed):
    G = gb.Graph.from_edges(EDGES, directed=directed, dtype=dtype).to_networkx()
    kind = float if dtype.startswith("FP") else int
    assert {type(data["weight"]) for *_, data in G.edges(data=True)} == {kind}
    again = written(G)
    assert again.edges == G.edges and type(again) is type(G)
    assert sorted(data["weight"] for *_, data in again.edges(data=True)) == [1, 2, 3, 5]


@pytest.mark.parametrize("directed", [True, False])
def test_edges_without_weights_have_no_attribute(directed):
    g = gb.Graph.from_edges([edge[:2] for edge in EDGES], directed=directed)
    G = g.to_networkx()
    assert all(data == {} for *_, data in G.edges(data=True)) and G.number_of_edges() == 4
    assert written(G).edges == G.edges
    again = gb.Graph.from_networkx(G)
    assert again.matrix.isequal(g.matrix.dup(again.matrix.dtype)) and again.labels == g.labels
    some = gb.Graph(gb.Matrix.from_coo([0, 1], [1, 0], [True, False], nrows=2, ncols=2), directed=True).to_networkx()
    assert [data["weight"] for *_, data in some.edges(data=True)] == [True, False]  # values, which are kept
    assert written(some).edges == some.edges and type(some[0][1]["weight"]) is bool


def test_attributes_are_python_values():
    table = {"source": ["a", "b"], "target": ["b", "c"], "w": [1, 2], "share": [0.5, 1.0], "open": [True, False]}
    G = gb.Graph.from_table(table, weight="w", attributes=["share", "open"]).to_networkx()
    assert list(G.edges(data=True))[1] == ("b", "c", {"weight": 2, "share": 1.0, "open": False})
    assert {type(value) for *_, data in G.edges(data=True) for value in data.values()} == {int, float, bool}
    assert written(G).edges == G.edges
    bare = gb.Graph.from_table({**table, "one": [True, True]}, attributes=["share"]).to_networkx()
    assert next(iter(bare.edges(data=True))) == ("a", "b", {"share": 0.5})


@pytest.mark.parametrize("make", [np.array, list, tuple])
@pytest.mark.parametrize("names", [np.array([10, 20]), np.array(["x", "y"]), np.array([0.5, 1.5], np.float32)])
def test_names_of_numpy_become_python_names(make, names):
    g = gb.Graph(gb.Matrix.from_coo([0, 1], [1, 0], [3, 4]), make(names), directed=True)
    assert g.labels == tuple(names.tolist()) and plain(g.labels)
    first, second = g.labels
    found = [g.label(1), g.neighbors(names[0]), g.path(names[0], second), dict(g.sssp(first)), list(g)]
    assert plain(found) and found[1] == [second] and json.dumps(found)
    assert g.sssp(first)[names[1]] == 3


def test_names_of_networkx_nodes_become_python_names():
    G = networkx.DiGraph()
    G.add_weighted_edges_from((np.int64(u), np.int64(u + 1), np.int32(u)) for u in (5, 6, 7))
    g = gb.Graph.from_networkx(G)
    assert plain(g.labels) and g.labels == (5, 6, 7, 8) and written(g.to_networkx()).edges == g.to_networkx().edges
    assert g.vertex(np.int64(7)) == 2


def test_other_names_stay_what_they_are():
    dates = np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")
    for names in (list(dates), [("a", 1), ("b", 2)], [frozenset("a"), frozenset("b")]):
        assert gb.Graph(gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2), names).labels == tuple(names)


def test_answers_are_python_values():
    g = gb.Graph.from_edges(EDGES, directed=False)
    found_by_vertex = [g.degree(), g.degree(weighted=True), g.pagerank(), g.connected_components(), g.bfs("a")]
    for found in [*found_by_vertex, g.core_numbers()]:
        assert plain([dict(found), found.largest(2), found.smallest(2), list(found.values()), found.groups()])
        assert plain(found["a"]) and json.dumps([dict(found), found.largest(2)])
        if not found.vertices:
            assert plain([found.max(), found.min(), found.sum(), found.mean(), found.median()])
    assert plain([g.number_of_edges(), g.has_edge("a", "b"), g.neighbors("a"), g.path("a", "d"), g.triangle_count()])
    assert plain([g.matrix.to_dicts(), g.degree().vector.to_dict(), g.matrix.get(0, 1)])


def test_values_that_are_no_parents_have_no_way():
    mates = gb.Graph.from_edges([("a", "b"), ("c", "d")], directed=False).maximal_matching()
    with pytest.raises(gb.exceptions.InvalidValue, match="got values that form a cycle"):
        mates.way("a")


def test_igraph_edges_without_weights_have_no_attribute():
    pytest.importorskip("igraph")
    bare, weighted = (gb.Graph.from_edges([edge[:size] for edge in EDGES]).to_igraph() for size in (2, 3))
    assert bare.es.attributes() == [] and bare.ecount() == 4
    assert sorted(weighted.es["weight"]) == [1, 2, 3, 5] and plain(weighted.es["weight"])
    assert plain(gb.Graph(gb.Matrix.from_coo([0], [1], 2, nrows=2, ncols=2), np.array([5, 6])).to_igraph().vs["name"])


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.MultiGraph, networkx.MultiDiGraph])
@pytest.mark.parametrize("dup_op", [None, "plus", "min", "first"])
@pytest.mark.parametrize("wrong", [None, "7", (1, 2), 2**70, -(2**63) - 1])
def test_weights_that_are_no_numbers_are_named(kind, dup_op, wrong):
    G = kind()
    G.add_edge("a", "b", weight=2)
    G.add_edge("b", "c", weight=wrong)
    for read in (gb.Graph.from_networkx, gb.io.from_networkx):
        with pytest.raises(gb.exceptions.InvalidValue, match="as 'weight' of every edge, got") as error:
            read(G, dup_op=dup_op)
        assert f"got {wrong!r} on the edge from 'b' to 'c'" in str(error.value)


def test_integers_that_no_type_holds_together_are_refused():
    for kind in (networkx.Graph, networkx.MultiGraph):
        G = kind()
        G.add_weighted_edges_from([("a", "b", 2**63), ("b", "c", -1)])  # NumPy takes these for floats
        with pytest.raises(gb.exceptions.InvalidValue, match=f"got {2**63} on the edge from 'a' to 'b'"):
            gb.Graph.from_networkx(G)
    with pytest.raises(gb.exceptions.InvalidValue, match="a number from -128 to 127"):
        gb.Graph.from_networkx(networkx.Graph([(0, 1, {"weight": 300})]), dtype="INT8")
    igraph = pytest.importorskip("igraph")
    for weights in ([2**63, -1], [None, 1], ["x", 1]):
        G = igraph.Graph(3, [(0, 1), (1, 2)])
        G.es["weight"] = weights
        with pytest.raises(gb.exceptions.InvalidValue, match="on the edge from 0 to 1"):
            gb.Graph.from_igraph(G)
