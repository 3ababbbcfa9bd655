"""`Graph`: in by names, out by names, from everywhere and back, and every algorithm of the catalog."""

from __future__ import annotations

import inspect
from itertools import pairwise

import pytest

import bitblas as gb
from bitblas import Graph, algorithms
from bitblas.exceptions import DimensionMismatch, InvalidValue
from bitblas.graph import Values, methods, validation

ROADS = [("Ulm", "Bern", 7.0), ("Bern", "Rom", 2.5), ("Ulm", "Rom", 11.0), ("Rom", "Bari", 4.0), ("Kiel", "Jena", 3.0)]
WAYS = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


@pytest.fixture
def roads():
    return Graph.from_edges(ROADS, directed=False)


def edges(graph):
    """The edges by name, each both ways where they have no direction."""
    return {(graph.label(i), graph.label(j)): x for i, row in graph.matrix.to_dicts().items() for j, x in row.items()}


def test_names_in_and_out(roads):
    assert (len(roads), roads.directed, roads.matrix.nvals) == (6, False, 10)
    assert "Rom" in roads and "Oslo" not in roads
    levels = roads.bfs("Ulm")
    assert dict(levels) == {"Ulm": 0, "Bern": 1, "Rom": 1, "Bari": 2} and levels.vector.size == 6
    assert roads.sssp("Ulm")["Bari"] == 13.5 and "Kiel" not in levels and len(levels) == 4
    with pytest.raises(KeyError, match="Kiel"):
        levels["Kiel"]
    with pytest.raises(InvalidValue, match="one of the 6 labels of the graph, got 'Oslo'"):
        roads.bfs("Oslo")
    distances, before = roads.sssp_tree("Ulm")
    assert before["Bari"] == "Rom" and before["Rom"] == "Bern" and distances["Rom"] == 9.5
    assert roads.connected_components().groups() == {"Ulm": ["Ulm", "Bern", "Rom", "Bari"], "Kiel": ["Kiel", "Jena"]}
    assert levels.largest(2) == [("Bari", 2), ("Bern", 1)] and levels.smallest(1) == [("Ulm", 0)]
    assert (levels.max(), levels.min(), levels.sum(), levels.mean(), levels.median()) == (2, 0, 4, 1.0, 1.0)
    with pytest.raises(InvalidValue, match="count: expected 0 or more, got -1"):
        levels.largest(-1)
    with pytest.raises(TypeError, match="got vertices"):
        before.max()
    assert roads.connected_components().classes and not levels.classes
    assert roads.bfs_levels(["Bari", "Kiel"], depth_limit=1).vector.nvals == 4
    assert sorted(roads.neighbors("Ulm")) == ["Bern", "Rom"]
    assert "Values({'Ulm': 0, 'Bern': 1, 'Rom': 1, 'Bari': 2}, 4 of 6 vertices)" == repr(levels)
    assert repr(roads) == "Graph(undirected, 6 vertices, 5 edges, FP64, 'Ulm', 'Bern', 'Rom', ..)"


def test_what_has_the_same_vertices_is_a_graph(roads):
    near = roads.ego_graph("Ulm")
    assert isinstance(near, Graph) and ("Bern", "Rom") in edges(near) and ("Rom", "Bari") not in edges(near)
    assert edges(roads.minimum_spanning_forest()).keys() == {e for a, b, _ in ROADS for e in ((a, b), (b, a))} - {
        ("Ulm", "Rom"), ("Rom", "Ulm")
    }  # fmt: skip
    value, flow = Graph.from_edges(ROADS).maximum_flow("Ulm", "Bari")
    assert value == 4.0 and edges(flow)["Rom", "Bari"] == 4.0
    some = roads.subgraph(["Rom", "Ulm", "Bern"])
    assert some.labels == ("Rom", "Ulm", "Bern") and edges(some)["Ulm", "Bern"] == 7.0 and some.matrix.nvals == 6
    components, which = Graph.from_edges(WAYS).condensation()
    assert components.labels is None and components.matrix.nvals == 1 and which["a"] == which["c"] != which["d"]


@pytest.mark.slow  # kernels of a dozen algorithms
def test_answers_of_other_shapes(roads):
    assert roads.distances_from_each(["Ulm", "Kiel"])["Kiel"]["Jena"] == 3.0
    walk, other = roads.random_walks(["Ulm", "Kiel"], 3, seed=1)
    assert walk[0] == "Ulm" and all(pair in edges(roads) for pair in pairwise(walk))
    assert set(other) == {"Kiel", "Jena"}
    classes = roads.color_classes()
    assert sorted(name for some in classes for name in some) == sorted(roads.labels)
    assert set(roads.spring_layout(rounds=2)) == set(roads.labels)
    cycle = Graph.from_edges([("a", "b", 1), ("b", "c", -3), ("c", "a", 1), ("c", "d", 1)]).negative_cycle()
    assert sorted(cycle) == ["a", "b", "c"]
    jumps = roads.pagerank(personalization={"Kiel": 1.0})
    assert set(dict(jumps.largest(2))) == {"Kiel", "Jena"} and sum(jumps.values()) == pytest.approx(1)
    found = roads.louvain()
    assert roads.modularity(found) == roads.modularity(dict(found)) > 0
    assert roads.bipartite_sides() is None and roads.triangle_count() == 1


def test_directions():
    ways = Graph.from_edges(WAYS)
    assert ways.directed and "a" not in ways.bfs("d") and "a" in ways.to_undirected().bfs("d")
    with pytest.warns(UserWarning, match=r"triangle_count: the graph is directed; .*to_undirected\(\)") as said:
        assert ways.triangle_count() == 1
    assert [one.filename for one in said] == [__file__]
    assert ways.to_undirected().triangle_count() == 1
    seen = Graph(ways.matrix, ways.labels)
    assert seen.directed and not Graph(ways.to_undirected().matrix).directed
    assert ways.local_clustering()["a"] == algorithms.local_clustering(ways.matrix, directed=True).get(0)
    assert ways.local_clustering(directed=False) == ways.to_undirected().local_clustering()
    with pytest.warns(UserWarning, match=r"louvain: .*to_undirected\(\), with the smaller of two weights"):
        roads_of_two().louvain(weighted=True)
    assert roads_of_two().to_undirected().matrix.to_dicts() == {0: {1: 2}, 1: {0: 2}}


def roads_of_two():
    return Graph.from_edges([("a", "b", 5), ("b", "a", 2)])


TABLE = {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "km": [5, 6, 7], "lanes": [1, 2, 2]}


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow"])
def test_tables(kind):
    maker = "table" if kind == "pyarrow" else "DataFrame"
    table = TABLE if kind == "dict" else getattr(pytest.importorskip(kind), maker)(TABLE)
    graph = Graph.from_table(table, weight="km", attributes=["lanes"], directed=False)
    assert graph.labels == ("a", "b", "c") and edges(graph)["c", "b"] == 6 and edges(graph.by("lanes"))["c", "a"] == 2
    assert graph.by("lanes").sssp("a")["c"] == 2
    with pytest.raises(InvalidValue, match="one of lanes, got 'height'"):
        graph.by("height")


def test_dataframes_out(roads):
    pytest.importorskip("pandas")
    graph = Graph.from_table(TABLE, weight="km", attributes=["lanes"], directed=False)
    found = graph.to_dataframe()
    assert found.to_dict("list") == {
        "source": ["a", "a", "b"], "target": ["b", "c", "c"], "weight": [5, 7, 6], "lanes": [1, 2, 2],
    }  # fmt: skip
    assert graph.to_dataframe("from", "to", "km").columns.tolist() == ["from", "to", "km", "lanes"]
    assert graph.to_dataframe(weight=None).columns.tolist() == ["source", "target", "lanes"]
    with pytest.raises(InvalidValue, match="columns: expected different names"):
        graph.to_dataframe(weight="lanes")
    again = Graph.from_table(found, weight="weight", attributes=["lanes"], directed=False)
    assert edges(again) == edges(graph)
    levels = roads.bfs("Ulm").to_dataframe()
    assert levels.to_dict("list") == {"vertex": ["Ulm", "Bern", "Rom", "Bari"], "value": [0, 1, 1, 2]}
    assert roads.bfs_parents("Bari").to_dataframe()["value"].tolist() == ["Rom", "Rom", "Bari", "Bari"]


def test_networkx_there_and_back():
    networkx = pytest.importorskip("networkx")
    G = networkx.Graph()
    G.add_edge((0, 1), "x", weight=2, lanes=3)
    G.add_edge("x", 7, weight=4, lanes=1)
    graph = Graph.from_networkx(G, attributes=["lanes"])
    with pytest.raises(InvalidValue, match="weight: expected an attribute of edges, got 'lane'"):
        Graph.from_networkx(G, weight="lane")
    assert graph.labels == ((0, 1), "x", 7) and graph.bfs((0, 1))[7] == 2 and not graph.directed
    assert graph.bfs([(0, 1), 7])["x"] == 1
    assert sorted(graph.to_networkx().edges(data=True), key=str) == sorted(G.edges(data=True), key=str)
    assert Graph.from_networkx(networkx.path_graph(3, networkx.DiGraph)).bfs(0)[2] == 2


def test_igraph_there_and_back():
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph([(0, 1), (1, 2)], directed=True)
    G.vs["name"], G.es["weight"] = ["a", "b", "c"], [2, 3]
    graph = Graph.from_igraph(G)
    assert graph.sssp("a")["c"] == 5 and graph.directed
    again = graph.to_igraph()
    assert (again.vs["name"], again.get_edgelist(), again.es["weight"]) == (["a", "b", "c"], [(0, 1), (1, 2)], [2, 3])


def test_files_there_and_back(tmp_path, roads):
    roads.write(tmp_path / "roads.csv")
    assert edges(Graph.read(tmp_path / "roads.csv", directed=False)) == edges(roads)
    assert gb.io.read is not None and gb.io.Graph is Graph


def test_refused():
    with pytest.raises(InvalidValue, match="pairs, or triples"):
        Graph.from_edges([(1,)])
    with pytest.raises(InvalidValue, match="labels: expected one for each of 2 vertices, got 1"):
        Graph(gb.Matrix(bool, 2, 2), ["a"])
    with pytest.raises(DimensionMismatch, match="'km'"):
        Graph(gb.Matrix(bool, 2, 2), attributes={"km": gb.Matrix(int, 3, 3)})
    with pytest.raises(AttributeError, match="no algorithm, 'shortest'"):
        Graph(gb.Matrix(bool, 2, 2)).shortest
    with pytest.raises(InvalidValue, match=r"a vertex in 0\.\.1, got 2"):
        Graph(gb.Matrix(bool, 2, 2)).bfs(2)
    assert len(Graph.from_edges([])) == 0


def test_every_algorithm_is_a_method(roads):
    """The docstring of a program and its facts agree about the matrix and the result."""
    listed = {
        name for name in algorithms.__all__ if getattr(algorithms, name).__module__.split(".")[-2] != "generators"
    }
    assert methods.names() == listed | {"bfs"} and listed < set(dir(roads))
    for name, program in methods.programs().items():
        doc = " ".join(inspect.getdoc(program).split())
        needs = ("structure (checked)" in doc or "structure is checked" in doc) and "unless directed" not in doc
        assert program.facts.undirected == needs, name
        assert list(inspect.signature(getattr(roads, name)).parameters)[:1] != ["A"], name
        for parameter in inspect.signature(program).parameters:
            if parameter in (*validation.VERTEX, *validation.VERTICES):
                assert "vertex" in doc or "vertices" in doc or "0 <= " in doc, name


def test_names_are_no_copies(roads):
    assert isinstance(roads.pagerank(), Values) and roads.pagerank().graph is roads


def test_a_path_is_no_graph(tmp_path):
    """Typical first attempts raise errors that name the function which reads a file."""
    (tmp_path / "trips.csv").write_text("from,to,hours\nUlm,Bern,7\nBern,Rom,9.5\n")
    path = str(tmp_path / "trips.csv")
    with pytest.raises(TypeError, match=r"matrix: expected a Matrix, got .*. Hint: Graph\.read\(path\) reads a file"):
        Graph(path)
    with pytest.raises(TypeError, match=r"edges: expected pairs.*Graph\.read reads a file"):
        Graph.from_edges(path)
    assert dict(Graph.read(path).sssp("Ulm")) == {"Ulm": 0.0, "Bern": 7.0, "Rom": 16.5}


def test_rows_of_unlike_length_or_kind_are_refused():
    """None of them loses its weight, or becomes a name, without a warning."""
    for rows, said in (
        ([("a", "b", 3.0), ("b", "c")], r"a triple in row 0 and a pair, \('b', 'c'\), in row 1"),
        ([("b", "c"), ("a", "b", 3.0)], r"a pair in row 0 and a triple, .*, in row 1"),
        ([("a", "b"), ("a", "b", 3.0, 4)], r"4 values in row 1.*from_table"),
        ([("a", 1), ("b", "c")], r"column 'target': .* 1 in row 0 and 'c' in row 1"),
        ([("a", 1), ("b", 2)], r"column 'target': .* 1 in row 0"),
        ([("a", "b"), 3], r"got 3 in row 1"),
        ([("a", "b", "3")], r"column 'weight': expected numbers, got text, '3' in row 0"),
        ([("a", "b", 1.0), ("a", "b", 2.0)], r"'a' to 'b' twice, in rows 0 and 1. Hint: dup_op .*'plus'"),
    ):
        with pytest.raises(InvalidValue, match=said):
            Graph.from_edges(rows)
    table = {"source": ["a"], "target": ["b"]}
    for what, said in (
        (table, r"got dict. Hint: use Graph\.from_table"),
        (Graph.from_edges([("a", "b")]).matrix, r"Graph\(matrix"),
    ):
        with pytest.raises(TypeError, match=rf"edges: expected pairs.*{said}"):
            Graph.from_edges(what)
    with pytest.raises(TypeError, match=r"matrix: expected a Matrix, got dict. Hint: use Graph\.from_table"):
        Graph(table)


def test_both_directions_are_one_edge():
    """Undirected, the lesser of the two values is kept, as in `to_undirected`, or the result of dup_op."""
    both = [("a", "b", 5), ("b", "a", 2), ("b", "c", 4)]
    with pytest.warns(UserWarning, match="both directions with different values"):
        read = Graph.from_edges(both, directed=False)
    assert edges(read) == edges(Graph.from_edges(both).to_undirected())
    assert edges(read)["a", "b"] == edges(read)["b", "a"] == 2
    assert edges(Graph.from_edges(both, directed=False, dup_op="plus"))["a", "b"] == 7


def test_ways(roads):
    """Along weights where edges have some, else by the fewest edges."""
    assert roads.path("Ulm", "Bari") == ["Ulm", "Bern", "Rom", "Bari"] and roads.path("Rom", "Rom") == ["Rom"]
    assert roads.path("Ulm", "Bari", weighted=False) == ["Ulm", "Rom", "Bari"]
    ways = Graph.from_edges(WAYS)
    assert ways.path("a", "d") == ["a", "b", "c", "d"] and Graph.from_edges([(0, 2), (2, 1)]).path(0, 1) == [0, 2, 1]
    with pytest.raises(InvalidValue, match="'a' cannot be reached from 'd'"):
        ways.path("d", "a")


def test_errors_say_names(roads):
    """What may have been meant, whence a vertex cannot be reached, and the vertices that are wrong."""
    with pytest.raises(InvalidValue, match=r"got 'Brn'; did you mean 'Bern'"):
        roads.bfs("Brn")
    with pytest.raises(KeyError, match="'Kiel' cannot be reached from 'Ulm'"):
        roads.sssp("Ulm")["Kiel"]
    with pytest.raises(KeyError, match="cannot be reached from any of the sources by 1 edges"):
        roads.bfs(["Ulm", "Bern"], depth_limit=1)["Bari"]
    with pytest.raises(TypeError, match=r"pagerank: got an unexpected .* 'weigthed'; did you mean 'weighted'"):
        roads.pagerank(weigthed=True)
    cycle = Graph.from_edges([("a", "b", 1), ("b", "c", -3), ("c", "a", 1)])
    with pytest.raises(InvalidValue, match=r"the graph: expected no negative cycle .*(a -> b -> c -> a|b -> c|c -> a)"):
        cycle.sssp("a")
    weights = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, float("nan")], nrows=2, ncols=2)
    with pytest.raises(InvalidValue, match=r"the graph: .* got y -> x, an edge whose weight is NaN"):
        Graph(weights, ["x", "y"]).sssp("x")
    assert list(roads) == list(roads.vertices) == list(roads.labels)
    assert "As a method of a Graph" in roads.pagerank.__doc__


def test_degrees_and_numbers_of_edges():
    """A loop counts twice as an end and once as an edge."""
    g = Graph.from_edges([("a", "b", 2.5), ("b", "a", 1.5), ("b", "c", 1.0), ("c", "c", 4.0)])
    assert (g.number_of_edges(), dict(g.degree())) == (4, {"a": 2, "b": 3, "c": 3})
    assert (dict(g.in_degree()), dict(g.out_degree(weighted=True))) == (
        {"a": 1, "b": 1, "c": 2}, {"a": 2.5, "b": 2.5, "c": 4.0}
    )  # fmt: skip
    u = g.to_undirected("plus")
    assert u.matrix.to_dicts() == {0: {1: 4.0}, 1: {0: 4.0, 2: 1.0}, 2: {1: 1.0, 2: 4.0}}
    assert g.to_undirected("first").matrix.to_dicts()[1] == {0: 2.5, 2: 1.0} and "3 vertices, 3 edges" in repr(u)
    assert dict(u.degree()) == dict(u.in_degree()) == {"a": 1, "b": 2, "c": 3}
    few = Graph.from_table({"source": [0], "target": [2], "w": [200]}, weight="w", dtype="UINT8")
    assert dict(few.degree(weighted=True)) == {0: 200, 1: 0, 2: 200}
    with pytest.raises(InvalidValue, match="Hint: 'plus'"):
        g.to_undirected("sum")
