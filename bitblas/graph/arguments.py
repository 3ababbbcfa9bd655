"""Convert arguments of Graph methods for the underlying program: vertex names become numbers."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tuning
from ..exceptions import InvalidValue
from .answers import Values

if TYPE_CHECKING:
    from ..core import Matrix
    from .graph import Graph

# Parameters that take a vertex, several vertices, values of vertices, or pairs of vertices.
VERTEX, VERTICES = ("source", "sink", "center"), ("sources", "starts", "vertices")
VERTEX_VALUES, PAIRS = ("personalization", "labels"), ("pairs",)


def convert_argument(graph: Graph, argument: str, value: Any) -> Any:
    """Convert an argument for the program."""
    if argument == "weighted":
        return check_weighted(value, graph.attributes)
    if value is None or hasattr(value, "nvals"):
        return value
    if argument in (*VERTEX, *VERTICES):
        numbers = _vertices(graph, value)
        return [numbers] if argument in VERTICES and isinstance(numbers, int) else numbers
    if argument in VERTEX_VALUES and isinstance(value, Values):
        return value.vector
    if argument in VERTEX_VALUES and isinstance(value, Mapping):
        import bitblas as gb

        at = [graph.vertex(name) for name in value]
        size, device = graph.matrix.nrows, graph.matrix.device.name
        return gb.Vector.from_coo(at, list(value.values()), size=size, device=device)
    if argument == VERTEX_VALUES[0] and isinstance(value, str | list | tuple | set):
        first = value if isinstance(value, str) else next(iter(value), graph.label(0))
        raise TypeError(f"{argument}: expected numbers by the names of vertices, {{{first!r}: 1.0}}, got {value!r}")
    if argument in PAIRS:
        return _entries(graph, argument, value)
    return value


def _vertices(graph: Graph, value: Any) -> int | list[int]:
    """The number of a vertex, or a list of numbers for several."""
    if isinstance(value, str) or not hasattr(value, "__iter__") or (hashable(value) and value in graph):
        return graph.vertex(value)
    return [graph.vertex(one) for one in value]


def _entries(graph: Graph, argument: str, pairs: Any) -> Matrix:
    """A Matrix with an entry for each pair of vertices; for a Graph its matrix."""
    import bitblas as gb

    if isinstance(pairs, type(graph)):
        return pairs.matrix
    rows = list(pairs)
    if any(isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 for pair in rows):
        raise InvalidValue(f"{argument}: expected pairs of vertices, a Graph or a Matrix, got {rows[:3]!r}")
    i, j = ([graph.vertex(pair[end]) for pair in rows] for end in (0, 1))
    n, device = graph.matrix.nrows, graph.matrix.device.name
    return gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, device=device)


def check_weighted(value: object, attributes: Iterable[str]) -> bool:
    """Validate `weighted`, True or False. TypeError otherwise, with a hint for the name of an attribute."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    by = f". Hint: g.by({value!r}) uses that attribute as the weights" if value in list(attributes) else ""
    raise TypeError(f"weighted: expected True or False, got {value!r}{by}")


def suggestion(label: object, labels: Sequence[Hashable]) -> str:
    """A suggestion after an unknown name: similar names, unless there are too many to compare."""
    if not isinstance(label, str) or len(labels) > tuning.count("graph.compared_names"):
        return ""
    names = [name for name in labels if isinstance(name, str)]
    near = [name for name in names if name.casefold() == label.casefold()][:2]
    near = near or difflib.get_close_matches(label, names, 2)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
