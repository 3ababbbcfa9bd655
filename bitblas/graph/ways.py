"""Ways through a graph: the vertices on a shortest path from one to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..exceptions import InvalidValue

if TYPE_CHECKING:
    from .graph import Graph


def path(graph: Graph, source: Any, target: Any, weighted: bool | None) -> list[Any]:
    """The names on a shortest path. weighted: by the sum of weights, or by the number of edges; None: by weights where
    edges have some. InvalidValue where there is no way."""
    if weighted is None:
        weighted = str(graph.matrix.dtype) != "BOOL"
    before = graph.sssp_tree(source)[1] if weighted else graph.bfs_parents(source)
    parents = dict(zip(*(part.tolist() for part in before.entries)))
    start, at = graph.vertex(source), graph.vertex(target)
    if at not in parents:
        raise InvalidValue(f"target: {target!r} cannot be reached from {source!r}")
    way = [at]
    while way[-1] != start:
        way.append(parents[way[-1]])
    return [graph.label(vertex) for vertex in reversed(way)]
