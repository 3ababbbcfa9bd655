"""Turn programs on a Matrix into methods of Graph: names become numbers in arguments, and numbers names in results.

Parameters come from the signatures of the programs, everything else from their facts (`bitblas.algorithms._algorithm`).
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import foreign_names
from ..exceptions import GraphblasException, InvalidValue, warn
from . import documentation, edges, validation
from .answers import Values

if TYPE_CHECKING:
    from ..algorithms._algorithm import Algorithm
    from ..core import Matrix, Vector
    from .graph import Graph

Arguments = Mapping[str, Any]
Method = Callable[..., Any]
SHORT = {"bfs": "bfs_levels"}


@functools.cache
def programs() -> dict[str, Algorithm]:
    """The algorithms on a graph, by name."""
    from .. import algorithms

    found: dict[str, Algorithm] = {name: getattr(algorithms, name) for name in algorithms.__all__}
    return {name: program for name, program in found.items() if program.facts.answer != ("generated graph",)}


def names() -> set[str]:
    """The names of all methods."""
    return {*programs(), *SHORT}


def algorithm_of_method(name: str, kind: type) -> str:
    """The algorithm behind a method name. AttributeError if there is none."""
    name = SHORT.get(name, name)
    if name.startswith("_") or name not in programs():

        def hint() -> str:
            known = {*names(), *(one for one in type.__dir__(kind) if not one.startswith("_"))}
            return foreign_names.hint(name, foreign_names.GRAPH, known, method=True) or "dir(g) lists all names"

        text = f"Graph has no attribute, and bitblas.algorithms no algorithm, {name!r}"
        raise foreign_names.MissingAttribute(text, name, hint)
    return name


def method(graph: Graph, name: str) -> Method:
    """An algorithm as a method of this graph. AttributeError for an unknown name."""
    return MethodType(of_class(algorithm_of_method(name, type(graph))), graph)


@functools.cache
def of_class(name: str) -> Method:
    """An algorithm as a function of a Graph."""
    program = programs()[name]
    facts, signature = program.facts, inspect.signature(program)

    @functools.wraps(program)
    def method_of_graph(graph: Graph, *args: Any, **options: Any) -> Any:
        try:
            bound = signature.bind(graph.matrix, *args, **options)
        except TypeError as error:
            raise TypeError(f"{name}: {error}{_option_hint(args, options, signature)}") from None
        if facts.graph == "acyclic" and not graph.directed and graph.matrix.nvals:
            raise InvalidValue(
                f"{name}: expected a directed graph, got an undirected one, in which every edge is a cycle. Hint: pass "
                "directed=True to read the edges of a file or list as directed; any graph has connected_components()."
            )
        if facts.undirected and graph.directed:
            also = ', with the smaller of two weights; dup_op="plus" there adds them' if options.get("weighted") else ""
            warn(f"{name}: the graph is directed; edge directions are ignored, as in to_undirected(){also}")
            bound.arguments["A"] = edges.both_ways(graph.matrix)
        if "directed" in signature.parameters:
            if bound.arguments.setdefault("directed", graph.directed) is False and graph.directed:
                bound.arguments["A"] = edges.both_ways(graph.matrix)
        for argument in bound.arguments:
            bound.arguments[argument] = validation.convert_argument(graph, argument, bound.arguments[argument])
        try:
            answer = program(*bound.args, **bound.kwargs)
        except (GraphblasException, TypeError) as error:
            raise _by_name(graph, error) from None
        if name == "topological_levels":
            _check_acyclic(graph, answer)
        call = Call(bound.arguments, undirected=facts.undirected or not graph.directed)
        if bound.arguments.get("levels"):  # one answer for each level of a hierarchy
            return [add_names(graph, facts.answer[0], part, call) for part in answer]
        if len(facts.answer) == 1:
            return add_names(graph, facts.answer[0], answer, call)
        return tuple(add_names(graph, kind, part, call) for kind, part in zip(facts.answer, answer, strict=True))

    # The signature for inspect and help: the graph takes the place of its matrix.
    method_of_graph.__doc__ = documentation.of_method(program)
    first, *others = signature.parameters.values()
    vars(method_of_graph)["__signature__"] = signature.replace(parameters=[first.replace(name="self"), *others])
    return method_of_graph


class Named(type):
    """Makes algorithms attributes of the class for help and inspect: `Graph.pagerank` takes the Graph first."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name):
            return of_class(algorithm_of_method(name, cls))

    def __dir__(cls) -> list[str]:
        return [*type.__dir__(cls), *names()]


class Call(NamedTuple):
    """The arguments of a call, as the program takes them, and whether it ignores the directions of edges."""

    arguments: Arguments
    undirected: bool


def add_names(graph: Graph, kind: str, answer: Any, call: Call) -> Any:
    """A part of a result with names; None, the answer for a graph that has none, unchanged."""
    return None if answer is None else NAMED[kind](graph, kind, answer, call)


def _unchanged(graph: Graph, kind: str, answer: float, call: Call) -> float:
    return answer


def _values(graph: Graph, kind: str, vector: Vector, call: Call) -> Values:
    from ..algorithms._algorithm import CLASSES, VERTEX_VALUED

    unreached = kind in ("distance per vertex", "parent per vertex")
    absent = {"absent": _unreachable_text(graph, call.arguments)} if unreached else {}
    return Values(graph, vector, vertices=kind in VERTEX_VALUED, classes=kind in CLASSES, **absent)


def _values_per_source(graph: Graph, kind: str, matrix: Matrix, call: Call) -> dict[Any, Values]:
    sources = call.arguments["sources"]
    return {
        graph._name(v): Values(
            graph, matrix[k, :].new(), absent=_unreachable_text(graph, {**call.arguments, "source": v})
        )
        for k, v in enumerate(range(len(graph)) if sources is None else sources)
    }


def _vertices(graph: Graph, kind: str, vertices: list[int], call: Call) -> list[Any]:
    return [graph._name(vertex) for vertex in vertices]


def _positions(graph: Graph, kind: str, matrix: Matrix, call: Call) -> dict[Any, tuple[float, ...]]:
    return dict(zip(graph.vertices, map(tuple, matrix.to_dense().tolist())))


def _rows(graph: Graph, kind: str, matrix: Matrix, call: Call) -> list[list[Any]]:
    """The vertices of each row: its values in a walk, its columns in a set."""
    from ..io.build import host_coo

    rows, cols, values = host_coo(matrix)
    parts = np.split(values if kind == "walks" else cols, np.searchsorted(rows, np.arange(1, matrix.nrows)))
    return [[graph._name(v) for v in part.tolist()] for part in parts]


def _list(graph: Graph, kind: str, vector: Vector, call: Call) -> list[Any]:
    """The values of a full Vector."""
    from ..io.build import host_coo

    return host_coo(vector)[1].tolist()


def _component_graph(graph: Graph, kind: str, matrix: Matrix, call: Call) -> Graph:
    return type(graph)(matrix, directed=True)


def _undirected_graph(graph: Graph, kind: str, matrix: Matrix, call: Call) -> Graph:
    return type(graph)(matrix, graph.labels, directed=False)


def _directed_graph(graph: Graph, kind: str, matrix: Matrix, call: Call) -> Graph:
    return type(graph)(matrix, graph.labels, directed=True)


def _directed_graphs(graph: Graph, kind: str, matrices: tuple[Matrix, ...], call: Call) -> tuple[Graph, ...]:
    return tuple(_directed_graph(graph, kind, matrix, call) for matrix in matrices)


def _graph(graph: Graph, kind: str, matrix: Matrix, call: Call) -> Graph:
    """Undirected if the call ignores directions. The best of each vertex (`top`) and pairs given in one direction stay
    directed. Values of both directions differ only by rounding. Betweenness from some sources is the mean of both
    directions, normalized their sum, as in NetworkX."""
    pairs = call.arguments.get("pairs")
    one_way = call.arguments.get("top") is not None or (pairs is not None and type(graph)(pairs).directed)
    if one_way or not call.undirected:
        return _directed_graph(graph, kind, matrix, call)
    if kind == "value per edge":
        both = matrix.ewise_add(matrix.T, "plus").new()
        both << both.apply("times", right=1.0 if call.arguments.get("normalized") else 0.5)
    else:
        both = edges.both_ways(matrix)
    return _undirected_graph(graph, kind, both, call)


# How each kind of answer gets names. The type stubs read the types from these functions.
NAMED: dict[str, Callable[[Graph, str, Any, Call], Any]] = {
    "count": _unchanged,
    "number": _unchanged,
    "vertices": _vertices,
    **dict.fromkeys(
        ("value per vertex", "class per vertex", "vertex per vertex", "representative per vertex"), _values
    ),
    **dict.fromkeys(("distance per vertex", "parent per vertex"), _values),
    "distances per source": _values_per_source,
    **dict.fromkeys(("value per pair", "value per edge", "subgraph"), _graph),
    "flow per edge": _directed_graph,
    "undirected graph": _undirected_graph,
    "edges per hop": _directed_graphs,
    "graph of components": _component_graph,
    "positions": _positions,
    "walks": _rows,
    "value per walk": _list,
    "vertex sets": _rows,
}


def _check_acyclic(graph: Graph, levels: Vector) -> None:
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


def _unreachable_text(graph: Graph, values: Arguments) -> str:
    """The message about a vertex without a value, for a search from `source`."""
    source = values["source"]
    limit = "" if values.get("depth_limit") is None else f" by {values['depth_limit']} edges"
    if values.get("limit") is not None:
        limit = f" within {values['limit']}"
    several, other = isinstance(source, list), "" if values.get("targets") is None else "is no target, or "
    return f"{other}cannot be reached from {'any of the sources' if several else repr(graph._name(source))}{limit}"


def _option_hint(args: Sequence[Any], options: Iterable[str], signature: inspect.Signature) -> str:
    """A suggestion after a call with an unknown option, or with too many arguments without names."""
    known = [name for name in signature.parameters if name not in ("A", "gb")]
    wrong = next((name for name in options if name not in known), None)
    if wrong is None:
        named = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY and p.name in known]
        return f"; pass these by name: {', '.join(named)}" if args and named else ""
    if wrong == "weight" and "weighted" in known:
        return "; weighted=True takes the weights, and g.by(name) is the graph with another attribute as weight"
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
