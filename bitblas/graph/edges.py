"""The edges of a Graph: as a table, in both directions, counted at each vertex."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from .. import extras
from ..exceptions import InvalidValue, warn
from . import arguments, given
from .answers import Values

if TYPE_CHECKING:
    from .graph import Graph


def dataframe(graph: Graph, source: str, target: str, weight: str | None) -> Any:
    """A pandas DataFrame of the edges, its columns called so, the attributes after them; weight None: without it."""
    pandas = extras.load("pandas", "to_dataframe")
    names = [source, target, *([] if weight is None else [weight]), *graph.attributes]
    if len(set(names)) < len(names):
        raise InvalidValue(f"columns: expected different names, got {', '.join(map(repr, names))}")
    found = list(edge_table(graph).values())
    if weight is None:
        del found[2]
    return pandas.DataFrame(dict(zip(names, found)))


def networkx(graph: Graph) -> Any:
    """A networkx.Graph, or DiGraph, of the names, weights and attributes."""
    library = extras.load("networkx", "to_networkx")
    made = library.DiGraph() if graph.directed else library.Graph()
    made.add_nodes_from(graph.vertices)
    sources, targets, *values = (list(column) for column in edge_table(graph).values())
    names = ("weight", *graph.attributes)
    made.add_edges_from((s, t, dict(zip(names, row))) for s, t, *row in zip(sources, targets, *values))
    return made


def edge_table(graph: Graph) -> dict[str, Any]:
    """Columns of the edges: source, target, weight, and the attributes; without a direction each edge once."""
    from ..io.build import host_coo

    matrices = {"weight": graph.matrix, **graph.attributes}
    if not graph.directed:
        import bitblas as gb

        matrices = {name: A.select(gb.select.triu).new() for name, A in matrices.items()}
    found: dict[str, Any] = {}
    for name, A in matrices.items():
        rows, cols, values = host_coo(A)
        if not found:
            found = {end: [graph._name(v) for v in at.tolist()] for end, at in (("source", rows), ("target", cols))}
        if len(values) != len(found["source"]):
            raise InvalidValue(f"attribute {name!r}: expected a value at every edge, got {len(values)}")
        found[name] = values
    return found


def both_ways(A: Any, dup_op: Any = None, **where: Any) -> Any:
    """Every edge in both directions; where the two have other values, the lesser one, or what dup_op makes of that of
    the vertex that comes first and the other. where: how it is stored."""
    import bitblas as gb

    from ..io.build import check_dup_op, lesser

    both = gb.Matrix(A.dtype, *A.shape, **{**where, "device": A.device})
    if dup_op is None:
        both << A.ewise_add(A.T, lesser(A.dtype))
        return both
    check_dup_op(dup_op)
    upper = A.select(gb.select.triu).new().ewise_add(A.select(gb.select.tril, -1).new().T, dup_op).new(A.dtype)
    both << upper.ewise_add(upper.T, lesser(A.dtype))
    return both


def is_symmetric(A: Any) -> bool:
    """Whether the structure of a square Matrix is that of its transpose: found once, and kept with it."""
    return bool(A.is_symmetric(values=False) if hasattr(A, "is_symmetric") else A._store.structure.symmetric)


def holds_names(graph: Graph, kind: str) -> bool:
    """Whether a file of that kind holds the names of the vertices."""
    if kind == "bitblas":
        return given.kind_of_names(graph.labels or ()) is not None
    return kind not in ("mtx", "npz")


def written(graph: Graph, kind: str) -> dict[str, Any]:
    """What is written of a graph beside its matrix, into a file of that kind. A warning says what such a file does not
    hold, and which names are read as numbers."""
    named = bool(graph.labels) and holds_names(graph, kind)
    lost = ["the names of the vertices"] if graph.labels and not named else []
    lost += [f"the attributes {', '.join(graph.attributes)}"] if graph.attributes else []
    if lost:
        warn(f"a file of format {kind} does not hold {' and '.join(lost)}: they are left out")
    elif kind not in ("parquet", "bitblas") and any(str(name).lstrip("+-").isdecimal() for name in graph.labels or ()):
        warn("names that are written as numbers are read as numbers, unless labels=True (--labels) says otherwise")
    more: dict[str, Any] = {"directed": graph._directed} if kind == "bitblas" else {}
    return {**more, "labels": graph.labels} if named else more


def loops(A: Any) -> Any:
    """The entries on the diagonal, a Matrix."""
    import bitblas as gb

    return A.select(gb.select.diag).new()


def ends(graph: Graph, *, out: bool, into: bool, weighted: bool) -> Values:
    """How many edges begin (out) and end (into) at each vertex, 0 too, or the sums of their weights."""
    import bitblas as gb

    A = graph.matrix
    weighted = arguments.weighted_by(weighted, graph.attributes) and A.dtype != gb.dtypes.BOOL
    real = weighted and A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64)
    total = gb.Vector(float if real else int, A.nrows, device=A.device.name)
    A, count = (A.dup(total.dtype), gb.monoid.plus) if weighted else (A, gb.agg.count)
    total[:] = 0
    if out:
        total(gb.binary.plus) << A.reduce_rowwise(count)
    if into:
        total(gb.binary.plus) << (A.reduce_columnwise(count) if graph.directed else loops(A).reduce_rowwise(count))
    return Values(graph, total)


def over(graph: Graph, names: Iterable[Hashable]) -> Graph:
    """The edges of a graph between other vertices, those that it has among them."""
    labels = tuple(names)
    number = {name: k for k, name in enumerate(labels)}
    absent = [name for name in graph.vertices if name not in number]
    if absent or len(number) < len(labels):
        got = f"none of {absent[0]!r}" if absent else f"{len(labels)} names, {len(number)} different ones"
        raise InvalidValue(f"names: expected each vertex of the graph, and each once, got {got}")
    at, n = [number[name] for name in graph.vertices], len(labels)

    def placed(A: Any) -> Any:
        whole = type(A)(A.dtype, n, n, device=A.device)
        whole[at, at] << A
        return whole

    more = {name: placed(A) for name, A in graph.attributes.items()}
    return type(graph)(placed(graph.matrix), labels, directed=graph.directed, attributes=more)
