"""Names of vertices, through every method of a Graph."""

import inspect

import pytest

from bitblas import Graph
from bitblas.exceptions import InvalidValue
from bitblas.graph import Values, methods, validation

GIVEN = {  # vertex numbers, and invalid ones
    "source": 3, "sink": 0, "center": 3, "sources": [3, 1], "starts": [3, 1], "vertices": [3, 1],
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
            if directed == program.facts.undirected or program.facts.graph == "acyclic":
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
    for bad in (lambda: names.path("v0", "v2", weighted="miles"), lambda: names.degree(weighted="miles")):
        with pytest.raises(TypeError, match="weighted: expected True or False, got 'miles'"):
            bad()
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
    seen = Graph(graph.matrix, graph.labels, attributes={"part": graph.matrix.select("<", 2).new()})
    assert graph.by("km").directed and seen.by("part").directed and seen.by("part").number_of_edges() == 2
