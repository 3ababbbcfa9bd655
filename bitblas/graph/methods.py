"""Turn programs on a Matrix into methods of Graph: names become numbers in arguments, and numbers names in results.

Parameters are taken from the signatures of the programs; the tables here state what a signature cannot.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import foreign_names
from ..exceptions import GraphblasException, InvalidValue, warn
from . import arguments, edges
from .answers import Values

if TYPE_CHECKING:
    from .graph import Graph

SHORT = {"bfs": "bfs_levels"}
# Programs whose values are vertices: predecessors, or representatives of classes.
VERTEX_VALUED = frozenset(
    {
        "bfs_parents",
        "connected_components",
        "label_propagation",
        "markov_clustering",
        "maximal_matching",
        "maximum_matching",
        "node2vec_walks",
        "random_walks",
        "strongly_connected_components",
        "weakly_connected_components",
    }
)
# Programs for undirected graphs; those with a parameter `directed` get it instead.
UNDIRECTED = frozenset(
    {
        "adamic_adar",
        "bipartite_projection",
        "bipartite_sides",
        "color_classes",
        "coloring",
        "connected_components",
        "core_numbers",
        "diameter",
        "diameter_bounds",
        "k_core",
        "k_truss",
        "leiden",
        "louvain",
        "markov_clustering",
        "maximal_independent_set",
        "maximal_matching",
        "maximum_matching",
        "minimum_spanning_forest",
        "resource_allocation",
        "spectral_layout",
        "spring_layout",
        "square_clustering",
        "transitivity",
        "triangle_count",
        "triangles_per_edge",
        "triangles_per_vertex",
    }
)
# Programs that have no result on undirected graphs.
DIRECTED = frozenset({"topological_levels"})
# Programs whose matrix is symmetric for all options.
SYMMETRIC = frozenset({"bipartite_projection", "k_core", "k_truss", "minimum_spanning_forest", "triangles_per_edge"})
# Programs whose matrix has a value per pair of vertices or per edge: it is undirected if the graph is.
# `top`, the best of each vertex, is directed; so are pairs given in one direction, flows, samples, and condensations.
PAIRWISE = frozenset(
    {
        "adamic_adar",
        "all_pairs_distances",
        "cosine",
        "edge_betweenness_centrality",
        "ego_graph",
        "jaccard",
        "overlap",
        "resource_allocation",
    }
)
# Programs whose values are class numbers.
CLASSES = frozenset({"bipartite_sides", "coloring", "label_propagation", "leiden", "louvain", "markov_clustering"})
CLASSES |= {name for name in VERTEX_VALUED if name.endswith("_components")}
METHOD_NOTE = """As a method of a Graph: A is its matrix. Vertices are passed by name, `source="Anna"`, and returned by
name: a Vector becomes `Values`, a mapping from names, a Matrix of the same vertices a Graph, and a Matrix with a row
for each source a dictionary of Values. Such a Graph is undirected, with each pair of vertices once, if this one is or
if its directions are ignored; the best of each vertex (top), pairs given in one direction, flows and samples are
directed.
personalization and labels may be dictionaries by name, `{"Anna": 1.0}`, or Values; pairs may be a list of pairs of
names. weighted is True or False: `by("lanes")` is the graph with another weight."""
ROW_PER_SOURCE = {
    "distances_from_each": "sources",
    "levels_from_each": "sources",
}  # a row for each vertex of that argument


# Searches from `source`: reached vertices have a value.
FROM_SOURCE = frozenset({"bfs_levels", "bfs_parents", "distances_from_each", "levels_from_each", "sssp", "sssp_tree"})


def missing_name_hint(name: str, kind: type) -> str:
    """A hint for a name that a Graph of this class does not have."""
    own = {*names(), *(one for one in type.__dir__(kind) if not one.startswith("_"))}
    return foreign_names.hint(name, foreign_names.GRAPH, own, method=True) or "dir(g) lists all names"


@functools.cache
def programs() -> dict[str, Callable[..., Any]]:
    """The algorithms on a graph, by name."""
    from .. import algorithms

    found = {name: getattr(algorithms, name) for name in algorithms.__all__}
    return {
        name: program for name, program in found.items() if next(iter(inspect.signature(program).parameters)) == "A"
    }


def names() -> set[str]:
    """The names of all methods."""
    return {*programs(), *SHORT}


def known(name: str, kind: type) -> str:
    """The algorithm behind a method name. AttributeError if there is none."""
    name = SHORT.get(name, name)
    if name.startswith("_") or name not in programs():
        text = f"Graph has no attribute, and bitblas.algorithms no algorithm, {name!r}"
        raise foreign_names.MissingAttribute(text, name, functools.partial(missing_name_hint, name, kind))
    return name


def method(graph: Graph, name: str) -> Callable[..., Any]:
    """An algorithm as a method of this graph. AttributeError for an unknown name."""
    return MethodType(of_class(known(name, type(graph))), graph)


@functools.cache
def of_class(name: str) -> Callable[..., Any]:
    """An algorithm as a function of a Graph."""
    program = programs()[name]
    signature = inspect.signature(program)

    @functools.wraps(program)
    def call(graph: Graph, *args: Any, **options: Any) -> Any:
        try:
            given = signature.bind(graph.matrix, *args, **options)
        except TypeError as error:
            raise TypeError(f"{name}: {error}{_option_hint(options, signature)}") from None
        if name in DIRECTED and not graph.directed and graph.matrix.nvals:
            raise InvalidValue(
                f"{name}: expected a directed graph, got an undirected one, in which every edge is a cycle. Hint: pass "
                "directed=True to read the edges of a file or list as directed; any graph has connected_components()."
            )
        if name in UNDIRECTED and graph.directed:
            also = ', with the smaller of two weights; dup_op="plus" there adds them' if options.get("weighted") else ""
            warn(f"{name}: the graph is directed; edge directions are ignored, as in to_undirected(){also}")
            given.arguments["A"] = edges.both_ways(graph.matrix)
        if "directed" in signature.parameters:
            if given.arguments.setdefault("directed", graph.directed) is False and graph.directed:
                given.arguments["A"] = edges.both_ways(graph.matrix)
        for argument in given.arguments:
            given.arguments[argument] = arguments.convert_argument(graph, argument, given.arguments[argument])
        try:
            answer = program(*given.args, **given.kwargs)
        except (GraphblasException, TypeError) as error:
            raise _by_name(graph, error) from None
        if name == "topological_levels":
            _check_acyclic(graph, answer)
        parts = [named(graph, name, part, given.arguments) for part in answer] if isinstance(answer, tuple) else None
        if parts is None:
            return named(graph, name, answer, given.arguments)
        if name == "sssp_tree":
            parts[1] = Values(graph, answer[1], vertices=True, absent=parts[0].absent)
        return tuple(parts)

    # The signature for inspect and help: the graph takes the place of its matrix.
    call.__doc__ = f"{inspect.getdoc(program)}\n\n{METHOD_NOTE}"
    first, *others = signature.parameters.values()
    vars(call)["__signature__"] = signature.replace(parameters=[first.replace(name="self"), *others])
    return call


class Named(type):
    """Makes algorithms attributes of the class for help and inspect: `Graph.pagerank` takes the Graph first."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name):
            return of_class(known(name, cls))

    def __dir__(cls) -> list[str]:
        return [*type.__dir__(cls), *names()]


def named(graph: Graph, name: str, answer: Any, given: Mapping[str, Any]) -> Any:
    """A result with names: Values for a Vector, a Graph for a Matrix of the same vertices."""
    made = type(graph)
    if hasattr(answer, "to_coo") and not hasattr(answer, "nrows"):
        reached = {"absent": _unreachable_text(graph, given)} if name in FROM_SOURCE else {}
        return Values(graph, answer, vertices=name in VERTEX_VALUED, classes=name in CLASSES, **reached)
    if isinstance(answer, list):  # a cycle
        return [graph._name(vertex) for vertex in answer]
    if not hasattr(answer, "nrows"):
        return answer
    if name == "condensation":
        return made(answer, directed=True)
    if name.endswith("_layout"):
        return dict(zip(graph.vertices, map(tuple, answer.to_dense().tolist())))
    if name in ROW_PER_SOURCE:
        return {
            graph._name(v): Values(graph, answer[k, :].new(), absent=_unreachable_text(graph, {"source": v}))
            for k, v in enumerate(given[ROW_PER_SOURCE[name]])
        }
    if name in VERTEX_VALUED or name == "color_classes":  # a row is a walk, or a set
        return _rows(graph, answer, vertices=name in VERTEX_VALUED)
    if name in SYMMETRIC:
        return made(answer, graph.labels, directed=False)
    both_ways = name in PAIRWISE and (not graph.directed or name in UNDIRECTED) and given.get("top") is None
    pairs = given.get("pairs")
    if not both_ways or (pairs is not None and made(pairs).directed):  # pairs in one direction stay directed
        return made(answer, graph.labels, directed=True)
    return made(_of_edges(name, answer), graph.labels, directed=False)


def _check_acyclic(graph: Graph, levels: Any) -> None:
    """Raise InvalidValue unless each vertex has a topological level."""
    if missing := len(graph) - levels.nvals:
        from ..io.build import host_coo

        without = np.setdiff1d(np.arange(len(graph)), host_coo(levels)[0])[:3]
        some = ", ".join(repr(graph._name(vertex)) for vertex in without.tolist())
        raise InvalidValue(
            f"topological_levels: expected an acyclic graph, got one with {missing} of {len(graph)} vertices on or "
            f"behind cycles: {some}{', ..' if missing > 3 else ''}. Hint: strongly_connected_components().groups() "
            "lists the vertices of cycles; condensation() contracts each group to a vertex, which removes all cycles."
        )


def _of_edges(name: str, answer: Any) -> Any:
    """The values of undirected edges from those of both directions, which differ only by rounding. Betweenness from
    some sources is the mean of both directions, as in NetworkX."""
    if name != "edge_betweenness_centrality":
        return edges.both_ways(answer)
    both = answer.ewise_add(answer.T, "plus").new()
    both << both.apply("times", right=0.5)
    return both


def _unreachable_text(graph: Graph, given: Mapping[str, Any]) -> str:
    """The message about a vertex without a value, for a search from `source`."""
    source = given["source"]
    limit = "" if given.get("depth_limit") is None else f" by {given['depth_limit']} edges"
    several = isinstance(source, list)
    return f"cannot be reached from {'any of the sources' if several else repr(graph._name(source))}{limit}"


def _option_hint(options: Mapping[str, Any], signature: inspect.Signature) -> str:
    """A suggestion after a call with an unknown option."""
    known = list(signature.parameters)[1:]
    wrong = next((name for name in options if name not in known), None)
    if wrong is None:
        return ""
    near = difflib.get_close_matches(wrong, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; the options are {', '.join(known)}"


def _by_name(graph: Graph, error: Exception) -> Exception:
    """Translate an error of a program for its method: "the graph", and vertices by name. error.way: the numbers of the
    vertices that the message lists."""
    text = str(error).replace("argument A: expected a square adjacency matrix", "expected a square matrix")
    text = text.replace("argument A:", "the graph:")
    if way := getattr(error, "way", None):
        text = text.replace(" -> ".join(map(str, way)), " -> ".join(str(graph._name(vertex)) for vertex in way))
    return error if text == str(error) else type(error)(text)


def _rows(graph: Graph, table: Any, vertices: bool) -> list[list[Any]]:
    """The vertex names in each row: of its values, or of its columns."""
    from ..io.build import host_coo

    rows, cols, values = host_coo(table)
    parts = np.split(values if vertices else cols, np.searchsorted(rows, np.arange(1, table.nrows)))
    return [[graph._name(v) for v in part.tolist()] for part in parts]
