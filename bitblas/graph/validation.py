"""Validate what users pass to Graph, and convert arguments of its methods: vertex names become numbers."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tuning
from ..exceptions import InvalidValue
from .answers import Values

if TYPE_CHECKING:
    from ..core import Matrix
    from .graph import Graph


# ---- Validate user input for a Graph: edge rows, vertex names, options, and errors for unsupported objects.

NAMES = ("source", "target", "weight")


def columns_of(edges: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """The columns of pairs, or of triples with a weight. TypeError for a table; InvalidValue for rows of other or mixed
    lengths."""
    if is_table(edges) or hasattr(edges, "nvals"):
        raise TypeError(f"edges: expected pairs, or triples with a weight, got {described(edges)}")
    if hasattr(edges, "__array__") and hasattr(edges, "shape"):  # a tensor, whose elements are no numbers
        edges = np.asarray(edges)
        if edges.ndim == 2 and edges.shape[0] == 2 and edges.shape[1] > 3:
            raise InvalidValue(
                f"edges: expected an array with a row for each edge, got {edges.shape[0]} x {edges.shape[1]}. Hint: "
                "pass edges.T"
            )
    try:
        rows = list(edges)
    except TypeError:
        if hasattr(edges, "__iter__"):  # an error of the iterator itself
            raise
        raise TypeError(f"edges: expected a list of pairs, or of triples with a weight, got {edges!r}") from None
    if not rows:
        return {name: np.zeros(0, np.int64) for name in NAMES[:2]}
    if isinstance(rows[0], dict):
        raise TypeError(
            "edges: expected pairs, or triples with a weight, got dictionaries. Hint: Graph.from_table("
            "pandas.DataFrame(rows), 'source', 'target', 'weight') accepts them; pass the names of the keys"
        )
    try:
        lengths = set(map(len, rows))
    except TypeError:
        row = next(k for k, one in enumerate(rows) if not hasattr(one, "__len__"))
        raise InvalidValue(f"edges: expected pairs, or triples with a weight, got {rows[row]!r} in row {row}") from None
    for row, one in enumerate(rows if not lengths <= {2, 3} else ()):
        if len(one) not in (2, 3):
            raise InvalidValue(
                f"edges: expected pairs, or triples with a weight, got {len(one)} values in row {row}. Hint: "
                "Graph.from_table selects columns of a table by name"
            )
    if len(lengths) > 1:
        row = next(k for k, one in enumerate(rows) if len(one) != len(rows[0]))
        first, other = ("a pair" if len(rows[k]) == 2 else "a triple" for k in (0, row))
        raise InvalidValue(
            f"edges: expected pairs everywhere, or triples with a weight everywhere, got {first} in row 0 and {other}, "
            f"{rows[row]!r}, in row {row}. Hint: give a weight to every edge or to none"
        )
    return {name: list(column) for name, column in zip(NAMES, zip(*rows))}


def number_names(table: dict[str, Any]) -> tuple[Hashable, ...] | None:
    """The names of vertices that are neither strings nor numbers (coordinates, dates), and replace them in the columns
    by numbers in order of appearance; None for others. InvalidValue if one is missing or their types differ."""
    if not len(table["source"]) or isinstance(table["source"][0], str | Number | np.number | np.bool_):
        return None
    ends = list(chain.from_iterable(zip(table["source"], table["target"])))
    if hasattr(ends[0], "__dlpack__"):
        raise InvalidValue(
            f"edges: expected names or numbers of vertices, got {ends[0]!r} in row 0. Hint: pass one array of shape "
            "(edges, 2), or convert each by .item()"
        )
    lacking = next((place for place, end in enumerate(ends) if is_missing(end)), None)
    if lacking is not None:
        raise InvalidValue(
            f"edges: expected two vertices in every row, got {ends[lacking]!r} in row {lacking // 2}. Hint: drop "
            "rows without a value"
        )
    kind = type(ends[0])
    for place, end in enumerate(ends):
        if type(end) is not kind:
            raise InvalidValue(
                f"edges: expected vertices of one type, got {ends[0]!r} in row 0 and {end!r} in row {place // 2}"
            )
    try:
        index = {name: number for number, name in enumerate(dict.fromkeys(ends))}
    except TypeError:
        raise InvalidValue(
            f"edges: expected hashable vertices, got {ends[0]!r} in row 0. Hint: convert lists by tuple()"
        ) from None
    for end in NAMES[:2]:
        table[end] = [index[name] for name in table[end]]
    return tuple(index)


_PLAIN = {str, int}  # types of names that are never missing values


def different_names(argument: str, names: Iterable[Hashable]) -> tuple[Any, ...]:
    """The names as a tuple. InvalidValue, with the positions, if two are equal (1, 1.0 and True are equal), if one is
    missing (None, NaN), or if one is not hashable."""
    labels = tuple(names)
    if not set(map(type, labels)) <= _PLAIN:
        for k, name in enumerate(labels):
            if is_missing(name):
                raise InvalidValue(f"{argument}: expected a name for every vertex, got {name!r} at position {k}")
            try:
                hash(name)
            except TypeError:
                raise InvalidValue(
                    f"{argument}: expected hashable names, got {name!r} at position {k}. Hint: convert lists by tuple()"
                ) from None
    if len(set(labels)) < len(labels):
        first: dict[Hashable, int] = {}
        for k, name in enumerate(labels):
            if (place := first.setdefault(name, k)) < k:
                both = f"{name!r} at positions {place} and {k}"
                if repr(labels[place]) != repr(name):
                    both = f"{labels[place]!r} at position {place} and {name!r} at position {k}, which are equal"
                raise InvalidValue(f"{argument}: expected different names, got {both}")
    return labels


def is_missing(value: object) -> bool:
    """Whether a value is missing: None, NaN, NaT, pandas.NA; also a tuple that contains NaN, which equals no other."""
    if isinstance(value, tuple):
        return any(part is not None and is_missing(part) for part in value)
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor unequal
        return True
    except (ValueError, ArithmeticError):  # an array; a signaling NaN
        return isinstance(value, Number)


def names_of(labels: Iterable[Hashable]) -> tuple[Any, ...]:
    """Labels as a tuple; NumPy scalars become Python objects, which JSON and other libraries accept."""
    found = tuple(labels.tolist() if isinstance(labels, np.ndarray) and labels.dtype.kind in "biufU" else labels)
    # a tuple of Python objects, as passed between graphs, is checked by its first element
    kinds = set(map(type, found[:1] if found is labels else found))
    if not any(issubclass(kind, np.number | np.bool_ | np.str_) for kind in kinds):
        return found
    return tuple(x.item() if isinstance(x, np.number | np.bool_ | np.str_) else x for x in found)


def kind_of_names(labels: Sequence[Hashable]) -> str | None:
    """The label type in bitblas' file format: "text" for strings, "integers" for 64-bit integers; None for others."""
    if all(isinstance(name, str) for name in labels):
        return "text"
    return "integers" if all(map(_is_integer, labels)) else None


def _is_integer(name: object) -> bool:
    return isinstance(name, int | np.integer) and not isinstance(name, bool) and -(1 << 63) <= int(name) < 1 << 63


def check_options(
    function: str, options: Iterable[str], known: Iterable[str], elsewhere: Mapping[str, str] = {}
) -> None:
    """Raise TypeError for an option that a function does not have. elsewhere: hints for some options."""
    names = list(known)
    wrong = next((name for name in options if name not in names), None)
    if wrong is None:
        return
    near = difflib.get_close_matches(wrong, names, 1)
    hint = elsewhere.get(wrong) or (f"did you mean {near[0]!r}?" if near else "")
    suffix = f". Hint: {hint}" if hint else ""
    raise TypeError(f"{function}: expected options among {', '.join(names)}, got {wrong!r}{suffix}")


def flag(name: str, value: object) -> bool | None:
    """Validate True, False or None. TypeError otherwise."""
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    raise TypeError(f"{name}: expected True, False or None, got {value!r}")


def is_table(value: object) -> bool:
    """Whether an object is a DataFrame, an Arrow table, a stream of Arrow batches, or a dictionary of columns."""
    known = hasattr(value, "columns") or hasattr(value, "column_names")
    return isinstance(value, dict) or known or is_stream(value)


def is_stream(value: object) -> bool:
    """Whether an object of another library gives a stream of Arrow batches."""
    return hasattr(value, "__arrow_c_stream__") and type(value).__module__.partition(".")[0] != "bitblas"


def described(value: object) -> str:
    """The type of an object, and how to make a Graph of it."""
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__qualname__}".removeprefix("builtins.")
    if hasattr(value, "nvals"):
        return f"{kind}. Hint: use Graph(matrix, labels)"
    if is_table(value):
        return f"{kind}. Hint: use Graph.from_table(table, 'source', 'target', 'weight') with its column names"
    for library in ("networkx", "igraph"):
        if library in (part.__module__.partition(".")[0] for part in type(value).__mro__):
            return f"{kind}. Hint: use Graph.from_{library}"
    if hasattr(value, "tocoo"):
        return f"{kind}. Hint: bitblas.io.from_scipy_sparse makes a Matrix of it"
    return f"{kind}. Hint: Graph.from_edges accepts pairs or triples"


# ---- Convert arguments of Graph methods for the underlying program: vertex names become numbers.

# Parameters that take a vertex, several vertices, values of vertices, or pairs of vertices.
VERTEX, VERTICES = ("source", "sink", "center", "target"), ("sources", "starts", "vertices", "targets")
VERTEX_VALUES, PAIRS = ("personalization", "labels"), ("pairs",)


def convert_argument(graph: Graph, argument: str, value: Any) -> Any:
    """Convert an argument for the program."""
    if argument == "weighted":
        return check_weighted(value, graph.attributes)
    if value is None or hasattr(value, "nvals"):
        return value
    if argument == "costs":
        return graph.by(value).matrix
    if argument in (*VERTEX, *VERTICES):
        numbers = _vertex_numbers(graph, value)
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
        return _pair_matrix(graph, argument, value)
    return value


def _vertex_numbers(graph: Graph, value: Any) -> int | list[int]:
    """The number of a vertex, or a list of numbers for several."""
    if isinstance(value, str) or not hasattr(value, "__iter__") or (hashable(value) and value in graph):
        return graph.vertex(value)
    return [graph.vertex(one) for one in value]


def _pair_matrix(graph: Graph, argument: str, pairs: Any) -> Matrix:
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
