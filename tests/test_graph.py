"""`Graph`: in by names, out by names, from everywhere and back, and every algorithm of the catalog."""

from __future__ import annotations

import inspect
import itertools
import re

import numpy as np
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
    value, flow = Graph.from_edges(ROADS).maximum_flow("Ulm", "Bari")
    assert value == 4.0 and edges(flow)["Rom", "Bari"] == 4.0
    some = roads.subgraph(["Rom", "Ulm", "Bern"])
    assert some.labels == ("Rom", "Ulm", "Bern") and edges(some)["Ulm", "Bern"] == 7.0 and some.matrix.nvals == 6
    components, which = Graph.from_edges(WAYS).condensation()
    assert components.labels is None and components.matrix.nvals == 1 and which["a"] == which["c"] != which["d"]


@pytest.mark.slow  # kernels of a dozen algorithms
def test_answers_of_other_shapes(roads):
    """Those of the other algorithms: `test_names_go_in_and_come_out_everywhere`."""
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
    two = Graph.from_edges([("a", "b", 5), ("b", "a", 2)])
    with pytest.warns(UserWarning, match=r"louvain: .*to_undirected\(\), with the smaller of two weights"):
        two.louvain(weighted=True)
    assert two.to_undirected().matrix.to_dicts() == {0: {1: 2}, 1: {0: 2}}


TABLE = {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "km": [5, 6, 7], "lanes": [1, 2, 2]}


def test_dataframes_out(roads):
    pytest.importorskip("pandas")
    graph = Graph.from_table(TABLE, weight="km", attributes=["lanes"], directed=False)
    with pytest.raises(InvalidValue, match="one of lanes, got 'height'"):
        graph.by("height")
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


BLANK = gb.Matrix(bool, 2, 2)
REFUSED = {
    "one end": (lambda: Graph.from_edges([(1,)]), InvalidValue, "pairs, or triples"),
    "one label": (lambda: Graph(BLANK, ["a"]), InvalidValue, "labels: expected one for each of 2 vertices, got 1"),
    "shapes": (lambda: Graph(BLANK, attributes={"km": gb.Matrix(int, 3, 3)}), DimensionMismatch, "'km'"),
    "a name": (lambda: Graph(BLANK).shortest, AttributeError, "no algorithm, 'shortest'"),
    "a vertex": (lambda: Graph(BLANK).bfs(2), InvalidValue, r"a vertex in 0\.\.1, got 2"),
    "a table": (lambda: Graph(TABLE), TypeError, r"matrix: .* a Matrix, got dict. Hint: use Graph\.from_table"),
    "edges of a table": (lambda: Graph.from_edges(TABLE), TypeError, r"edges: expected pairs.*use Graph\.from_table"),
    "a matrix": (lambda: Graph.from_edges(BLANK), TypeError, r"edges: expected pairs.*Graph\(matrix"),
    "an array": (lambda: Graph.from_table(np.eye(2)), TypeError, r"a table .*, got numpy\.ndarray. .*from_edges"),
    "a table of a path": (lambda: Graph.from_table("a.csv"), TypeError, r"Graph\.read"),
    "no attributes": (lambda: Graph.from_edges(WAYS).by("x"), InvalidValue, "the graph has none"),
    "a path": (lambda: Graph("a.csv"), TypeError, r"matrix: expected a Matrix.*Graph\.read\(path\) reads a file"),
    "edges of a path": (lambda: Graph.from_edges("a.csv"), TypeError, r"edges: expected pairs.*Graph\.read reads a"),
}


@pytest.mark.parametrize("call, error, said", REFUSED.values(), ids=REFUSED)
def test_refused(call, error, said):
    """Typical first attempts raise errors that name the function which reads a table or a file."""
    with pytest.raises(error, match=said):
        call()


def test_every_algorithm_is_a_method(roads):
    """The docstring of a program and its facts agree about the matrix and the result."""
    listed = {
        name for name in algorithms.__all__ if getattr(algorithms, name).__module__.split(".")[-2] != "generators"
    }
    assert methods.names() == listed | {"bfs"} and listed < set(dir(roads))
    for name, program in methods.programs().items():
        doc = " ".join(inspect.getdoc(inspect.unwrap(program)).split())
        needs = ("structure (checked)" in doc or "structure is checked" in doc) and "unless directed" not in doc
        assert program.facts.undirected == needs, name
        assert list(inspect.signature(getattr(roads, name)).parameters)[:1] != ["A"], name
        for parameter in inspect.signature(program).parameters:
            if parameter in (*validation.VERTEX, *validation.VERTICES):
                assert "vertex" in doc or "vertices" in doc or "0 <= " in doc, name


def test_names_are_no_copies(roads):
    assert isinstance(roads.pagerank(), Values) and roads.pagerank().graph is roads


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
        ([((8.1, 5.0), "b")], r"one type, got \(8.1, 5.0\) in row 0 and 'b' in row 0"),
        ([([1], [2])], "expected hashable"),
        ([("a", "b", 1.0), ("a", "b", 2.0)], r"'a' to 'b' twice, in rows 0 and 1. Hint: dup_op .*'plus'"),
    ):
        with pytest.raises(InvalidValue, match=said):
            Graph.from_edges(rows)


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
    for wrong, meant in (("Brn", "Bern"), ("ULM", "Ulm")):
        with pytest.raises(InvalidValue, match=f"got '{wrong}'; did you mean '{meant}'"):
            roads.bfs(wrong)
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


def test_methods_are_documented_as_methods_of_a_graph(roads):
    """Sections in NumPy's style, without the matrix, its shapes, and the library."""
    for name in methods.names():
        lines = inspect.getdoc(getattr(roads, name)).splitlines()
        heads = [above for above, below in itertools.pairwise(lines) if below and set(below) == {"-"}]
        assert heads[-1] == "References" and "Returns" in heads, name
        parameters = list(inspect.signature(getattr(roads, name)).parameters)
        assert ("Parameters" in heads) == bool(set(parameters) - {"gb"}), name
        said = " ".join(lines[: lines.index("References")]).replace("n x n, integers: the cost", "")
        assert not re.search(r"\bn x n\b|\bsize n\b|INT64|A not |\bA is\b|BOOL|of A\b(?!\))|^gb", said), (name, said)
        for parameter in parameters:
            assert parameter == "gb" or re.search(rf"\b{parameter}\b", said), (name, parameter)
    assert "Values\n    A mapping from vertices to values: 0 at the source" in Graph.bfs.__doc__


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


def test_what_takes_vertices_takes_names():
    """Integers that are names too; one where several are allowed; and whatever can be hashed."""
    ids = Graph.from_edges([(3, 0), (3, 1), (2, 4), (2, 5), (3, 4)], directed=False, labels=True)
    assert edges(ids.bipartite_projection([3, 2])) == {(3, 2): 1, (2, 3): 1}
    assert dict(ids.levels_from_each([3])[3]) == {3: 0, 0: 1, 1: 1, 4: 1, 2: 2, 5: 3}
    assert ids.has_edge(3, 4) and not ids.has_edge(3, 5)
    assert ids.random_walks(3, 1, seed=1)[0][0] == 3
    assert "Hint" not in Graph.pagerank.__doc__ and Graph.bfs(ids, 3)[5] == 3
    a, b, c = (8.1, 50.0), (8.3, 50.1), (8.4, 50.2)
    graph = Graph.from_edges([(a, b, 2.5), (b, c, 1.0), (a, c, 9.0)])
    assert graph.path(a, c) == [a, b, c] and graph.labels == (a, b, c) and graph.neighbors(a) == [b, c]


def test_vertices_without_edges_are_given_by_name():
    graph = Graph.from_edges([("a", "b", 2), ("b", "c", 3)], directed=False)
    wider = graph.with_vertices(["z", "c", "b", "a"])
    assert wider.labels == ("z", "c", "b", "a") and wider.degree()["z"] == 0 and wider.path("a", "c") == ["a", "b", "c"]
    assert not wider.directed and wider.matrix.to_dicts() == {1: {2: 3}, 2: {1: 3, 3: 2}, 3: {2: 2}}
    for wrong, said in ((["a", "b"], "got names without 'c'"), (["a", "b", "c", "a"], "got 'a' at positions 0 and 3")):
        with pytest.raises(InvalidValue, match=said):
            graph.with_vertices(wrong)
    assert len(graph.subgraph(["b", "a", "b"])) == 2


# ---- names of vertices, through every method -----------------------------------------------------------------------

GIVEN = {  # vertex numbers, and invalid ones
    "source": 3, "sink": 0, "target": 1, "center": 3, "sources": [3, 1], "starts": [3, 1], "vertices": [3, 1],
    "pairs": [(3, 1), (0, 2)],
    "personalization": {3: 1.0, 1: 2.0}, "labels": dict.fromkeys(range(6), 0), "k": 3, "length": 3, "counts": [2],
}  # fmt: skip
VERTICES = {*validation.VERTEX, *validation.VERTICES, *validation.VERTEX_VALUES, *validation.PAIRS}


def by_name(answer, name):
    """An answer of a Graph as mappings and lists, of what `name` makes of vertices."""
    if isinstance(answer, Values):
        return {name(v): name(x) if answer.vertices else x for v, x in answer.items()}
    if isinstance(answer, Graph):
        if len(answer) < 6:  # of components
            return answer.matrix.to_dicts()
        return {(name(u), name(v)): x for u, v, x in answer.to_dataframe().itertuples(index=False)}
    if isinstance(answer, dict):
        return {name(v): by_name(x, name) for v, x in answer.items()}
    if isinstance(answer, list):
        return [by_name(one, name) if isinstance(one, list) else name(one) for one in answer]
    return [by_name(one, name) for one in answer] if isinstance(answer, tuple) else answer


def _needs(program):
    return inspect.signature(program).parameters


def test_names_go_in_and_come_out_everywhere():
    """Each method gives the same for names as for numbers, in every argument and answer with vertices."""
    pytest.importorskip("pandas")
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)]
    name = lambda v: f"v{v}" if isinstance(v, int) else v
    swapped = lambda x: {name(v): y for v, y in x.items()} if isinstance(x, dict) else [name(v) for v in x]
    for directed in (True, False):
        numbers = Graph.from_edges([(u, v, 1.0) for u, v in edges], directed=directed)
        names = Graph(numbers.matrix, [name(v) for v in range(6)], directed=directed)
        for method, program in methods.programs().items():
            if directed == program.facts.undirected or program.facts.graph == "acyclic" or "costs" in _needs(program):
                continue
            wanted = inspect.signature(program).parameters
            given = {key: value for key, value in GIVEN.items() if key in wanted}
            if "sources" in given:
                given.pop("k", None)  # sources are arguments, or drawn
            renamed = given | {
                key: name(given[key]) if key in validation.VERTEX
                else [tuple(map(name, pair)) for pair in given[key]] if key in validation.PAIRS else swapped(given[key])
                for key in VERTICES & {*given}
            }  # fmt: skip
            found = by_name(getattr(names, method)(**renamed), lambda v: v)
            assert found == by_name(getattr(numbers, method)(**given), name), method
    with pytest.raises(InvalidValue, match=r"topological_levels: expected a directed graph.*Hint"):
        names.topological_levels()
    chain = Graph(Graph.from_edges([(2, 0), (0, 1)]).matrix, ["v0", "v1", "v2"])  # the others refuse no cycle
    assert dict(chain.topological_levels()) == {"v0": 1, "v1": 2, "v2": 0}
    assert names.random_walks("v5", 1) in ([["v5", "v4"]], [["v5"]])
    assert inspect.signature(Graph.pagerank).parameters.keys() > inspect.signature(names.pagerank).parameters.keys()


def test_some_pairs_have_a_direction():
    """What a graph without directions gives for some pairs, or the best of each vertex, is not lost in its table."""
    star = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("b", "e"), ("d", "e"), ("a", "c")], directed=False)
    for name in ("adamic_adar", "resource_allocation", "jaccard"):
        score = getattr(star, name)
        assert score(pairs=[("e", "c")]).to_dataframe()[["source", "target"]].values.tolist() == [["e", "c"]]
        best = score(top=1)
        assert len(best.to_dataframe()) == best.matrix.nvals
    assert len(star.sample_neighbors(["a"], 1, seed=1)) == 1


def test_derived_graphs_keep_their_direction():
    """Each pair once in the table and in degrees of an undirected one, whatever an algorithm's matrix holds."""
    networkx = pytest.importorskip("networkx")
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e"), ("e", "f")]
    undirected, G = Graph.from_edges(pairs, directed=False), networkx.Graph(pairs)
    directed, D = Graph.from_edges(pairs), networkx.DiGraph(pairs)
    assert not undirected.ego_graph("d").directed and undirected.ego_graph("d").number_of_edges() == 2
    derived = {
        "ego_graph": lambda g: g.ego_graph("d"), "all_pairs_distances": lambda g: g.all_pairs_distances(),
        "edge_betweenness_centrality": lambda g: g.edge_betweenness_centrality(), "jaccard": lambda g: g.jaccard(),
        "overlap": lambda g: g.overlap(), "cosine": lambda g: g.cosine(), "subgraph": lambda g: g.subgraph("de"),
        "with_vertices": lambda g: g.with_vertices("abcdefg"), "cosine of pairs": lambda g: g.cosine(pairs=g),
    }  # fmt: skip
    for name, make in derived.items():
        once, each = make(undirected), make(directed)
        assert not once.directed and once.matrix.isequal(once.matrix.T.new()), name
        rows = once.to_dataframe()[["source", "target"]].to_numpy().tolist()
        assert len({frozenset(row) for row in rows}) == len(rows) == once.number_of_edges() > 0, name
        assert each.directed and each.number_of_edges() == each.matrix.nvals == len(each.to_dataframe()) > 0, name
    assert directed.ego_graph("e").number_of_edges() == 1 and directed.ego_graph("e").degree()["e"] == 1
    both = Graph.from_edges([("a", "b"), ("b", "a"), ("b", "c")])
    for part in (both.ego_graph("a"), both.subgraph("ab"), Graph(both.matrix, both.labels).subgraph("ab")):
        assert part.directed and part.number_of_edges() == 2 and part.degree()["a"] == 2
    for g, of in ((undirected, G), (directed, D)):
        found = g.edge_betweenness_centrality().to_networkx()
        wanted = networkx.edge_betweenness_centrality(of, normalized=False)
        assert {e: found.edges[e]["weight"] for e in found.edges} == pytest.approx(
            {e: wanted[e] if e in wanted else wanted[e[::-1]] for e in found.edges}
        )
        lengths = dict(networkx.all_pairs_shortest_path_length(of))
        found = g.all_pairs_distances().to_networkx()
        assert all(found.edges[e]["weight"] == lengths[e[0]][e[1]] for e in found.edges)
    some = undirected.edge_betweenness_centrality(sources=["a"]).to_networkx()
    assert some.edges["a", "c"]["weight"] == 4 / 2 and some.edges["e", "f"]["weight"] == 1 / 2
    assert undirected.jaccard(top=1).directed and undirected.maximum_flow("a", "f")[1].directed
    assert all(hop.directed for hop in undirected.sample_neighbors(["a"], 2, seed=1))
    assert not undirected.adamic_adar(pairs=[("d", "b"), ("b", "d")]).directed
    with pytest.warns(UserWarning, match="edge directions are ignored"):
        assert not directed.resource_allocation().directed


def test_the_directions_of_another_weight_are_those_of_the_graph():
    table = {"source": ["a", "b", "b"], "target": ["b", "a", "c"], "km": [1.0, 1.0, 2.0]}
    graph = Graph.from_table(table, weight="km", attributes=["km"])
    for call in (lambda: graph.path("a", "c", weighted="km"), lambda: graph.degree(weighted="km")):
        with pytest.raises(TypeError, match=r"weighted: expected True or False, got 'km'. Hint: g\.by\('km'\)"):
            call()
    seen = Graph(graph.matrix, graph.labels, attributes={"part": graph.matrix.select("<", 2).new()})
    assert graph.by("km").directed and seen.by("part").directed and seen.by("part").number_of_edges() == 2


def test_counts_density_and_reversal():
    nx = pytest.importorskip("networkx")
    roads = Graph.from_edges([("a", "b", 2), ("b", "c", 3), ("a", "c", 9)], directed=True)
    assert roads.number_of_nodes() == len(roads) == 3 and roads.density() == roads.to_networkx().size() / 6
    back = roads.reverse()
    assert back.directed and back.has_edge("c", "a") and not back.has_edge("a", "c") and back.labels == roads.labels
    assert back.reverse().isequal(roads) and not back.isequal(roads)
    for directed in (True, False):
        for pairs in ([], [(0, 0)], [(0, 1), (1, 2), (2, 2)]):
            graph = Graph.from_edges(pairs, directed=directed)
            assert graph.density() == pytest.approx(nx.density(graph.to_networkx())), (directed, pairs)
            assert graph.reverse().isequal(graph if not directed else graph.reverse().reverse().reverse())
    plain = Graph.from_table(
        {"s": ["a"], "t": ["b"], "w": [1], "x": [5]}, "s", "t", "w", attributes=["x"], directed=True
    )
    assert plain.reverse().attributes["x"].to_coo()[0].tolist() == [1]


def test_equal_graphs():
    one = Graph.from_edges([("a", "b", 2), ("b", "c", 3)], directed=True)
    other = Graph.from_edges([("b", "c", 3), ("a", "b", 2)], directed=True)
    assert one.labels != other.labels and one.isequal(other) and one != other and one == one
    floats = Graph(one.matrix.dup("FP64"), one.labels, directed=True)
    assert one.isequal(floats) and not one.isequal(floats, check_dtype=True)
    assert not one.isequal(one.to_undirected()) and not one.isequal(one.subgraph("ab"))
    assert not one.isequal(Graph.from_edges([("a", "b", 2), ("b", "d", 3)], directed=True))
    assert not one.isequal(Graph.from_edges([("a", "b", 2), ("b", "c", 4)], directed=True))
    assert not one.isequal(Graph(one.matrix, one.labels, directed=True, attributes={"x": one.matrix}))
    with pytest.raises(TypeError, match="other: expected a Graph, got bitblas"):
        one.isequal(one.matrix)


def test_a_subgraph_ignores_names_that_the_graph_lacks():
    graph = Graph.from_edges([("a", "b"), ("b", "c")], directed=False)
    assert graph.subgraph(["b", "nobody", "a", 7]).isequal(graph.subgraph(["a", "b"]))
    assert len(graph.subgraph(["nobody"])) == 0


def test_the_2_truss_has_all_edges_but_loops():
    graph = Graph.from_edges([(0, 0), (0, 1), (1, 2), (2, 0), (2, 3)], directed=False)
    found = graph.k_truss(2)
    assert found.to_dataframe().values.tolist() == [[0, 1, 1], [0, 2, 1], [1, 2, 1], [2, 3, 0]]


def test_paths_with_names():
    nx = pytest.importorskip("networkx")
    roads = Graph.from_edges(
        [("a", "b", 1), ("b", "d", 1), ("a", "c", 1), ("c", "d", 1), ("a", "d", 3)], directed=False
    )
    paths, lengths = roads.k_shortest_paths("a", "d", 3)
    assert lengths == [2, 2, 3] and paths[2] == ["a", "d"] and sorted(paths[:2]) == [list("abd"), list("acd")]
    assert sorted(roads.all_shortest_paths("a", "d")) == sorted(paths[:2])
    assert dict(roads.sssp("a", targets=["d", "b"])) == {"b": 1, "d": 2}
    with pytest.raises(KeyError, match="'c' is no target, or cannot be reached from 'a'"):
        _ = roads.sssp("a", targets=["d"])["c"]
    with pytest.raises(KeyError, match="'d' cannot be reached from 'a' within 1"):
        _ = roads.sssp("a", limit=1)["d"]
    assert roads.distances_of_pairs([("a", "d"), ("d", "b")]).to_dataframe().values.tolist() == [
        ["a", "d", 2],
        ["d", "b", 1],
    ]
    rows = roads.distances_from_each(None, targets="d")
    assert {name: dict(row) for name, row in rows.items()} == {
        "a": {"d": 2},
        "b": {"d": 1},
        "d": {"d": 0},
        "c": {"d": 1},
    }
    assert set(roads.articulation_points()) == set() and roads.bridges().number_of_edges() == 0
    tail = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")], directed=False)
    assert list(tail.articulation_points()) == ["c"] and tail.bridges().has_edge("d", "c")
    blocks = tail.biconnected_components()
    assert not blocks.directed and sorted(w for *_, w in blocks.to_dataframe().values.tolist()) in (
        [0, 0, 0, 1],
        [0, 1, 1, 1],
    )
    flights = Graph.from_edges([("a", "b", 2), ("b", "c", 2), ("a", "c", 3)], directed=True)
    assert flights.dag_longest_path() == (["a", "b", "c"], 4)
    with pytest.raises(gb.exceptions.InvalidValue, match="the graph: expected an acyclic graph"):
        Graph.from_edges([("a", "b"), ("b", "a")], directed=True).dag_longest_path()
    for ends in (False, True):
        theirs = nx.betweenness_centrality(roads.to_networkx(), weight="weight", endpoints=ends)
        assert dict(roads.betweenness_centrality(weighted=True, normalized=True, endpoints=ends)) == pytest.approx(
            theirs
        )
    theirs = nx.edge_betweenness_centrality(roads.to_networkx(), weight="weight")
    found = roads.edge_betweenness_centrality(weighted=True, normalized=True).to_networkx()
    assert {edge: found.edges[edge]["weight"] for edge in theirs} == pytest.approx(theirs)


def test_the_cheapest_flow_by_an_attribute():
    table = {"a": ["s", "s", "x", "y"], "b": ["x", "y", "t", "t"], "room": [2, 2, 1, 2], "price": [1, 3, 1, 1]}
    pipes = Graph.from_table(table, "a", "b", "room", attributes=["price"], directed=True)
    value, cost, flow = pipes.minimum_cost_flow("price", "s", "t")
    assert (value, cost) == (3, 2 + 2 * 4) and flow.directed and flow.matrix.nvals == 4
    with pytest.raises(InvalidValue, match="attribute: expected one of price, got 'cost'"):
        pipes.minimum_cost_flow("cost", "s", "t")
