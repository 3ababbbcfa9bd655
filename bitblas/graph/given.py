"""What people give for a graph: rows of edges as columns, and words about what is neither rows nor a Matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np

from ..exceptions import InvalidValue

NAMES = ("source", "target", "weight")


def columns_of(edges: Iterable[Any]) -> dict[str, Any]:
    """The columns of pairs, or of triples with a weight. TypeError for a table; InvalidValue for rows of other lengths,
    or of two."""
    if is_table(edges) or hasattr(edges, "nvals"):
        raise TypeError(f"edges: expected pairs, or triples with a weight, got {described(edges)}")
    rows = list(edges)
    if not rows:
        return {name: np.zeros(0, np.int64) for name in NAMES[:2]}
    if isinstance(rows[0], dict):
        raise TypeError(
            "edges: expected pairs, or triples with a weight, got dictionaries. Hint: Graph.from_table("
            "pandas.DataFrame(rows), 'source', 'target', 'weight') takes them, with the names of their keys"
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
                "Graph.from_table takes the columns of a table by their names"
            )
    if len(lengths) > 1:
        row = next(k for k, one in enumerate(rows) if len(one) != len(rows[0]))
        first, other = ("a pair" if len(rows[k]) == 2 else "a triple" for k in (0, row))
        raise InvalidValue(
            f"edges: expected pairs everywhere, or triples with a weight everywhere, got {first} in row 0 and {other}, "
            f"{rows[row]!r}, in row {row}. Hint: give every edge a weight, or none"
        )
    return {name: list(column) for name, column in zip(NAMES, zip(*rows))}


def numbered(table: dict[str, Any]) -> tuple[Any, ...] | None:
    """The names of vertices that are neither strings nor numbers (coordinates, dates), which become numbers in the
    columns, as they come; None for others. InvalidValue where not all are of one kind."""
    if not len(table["source"]) or isinstance(table["source"][0], str | Number | np.generic):
        return None
    ends = list(chain.from_iterable(zip(table["source"], table["target"])))
    kind = type(ends[0])
    for place, end in enumerate(ends):
        if type(end) is not kind:
            raise InvalidValue(
                f"edges: expected vertices of one kind, got {ends[0]!r} in row 0 and {end!r} in row {place // 2}"
            )
    try:
        index = {name: number for number, name in enumerate(dict.fromkeys(ends))}
    except TypeError:
        raise InvalidValue(
            f"edges: expected vertices that can be hashed, got {ends[0]!r} in row 0. Hint: tuple() of a list can"
        ) from None
    for end in NAMES[:2]:
        table[end] = [index[name] for name in table[end]]
    return tuple(index)


def names_of(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Labels as a tuple; NumPy's numbers and texts become Python's, which JSON and other libraries take."""
    found = tuple(labels.tolist() if isinstance(labels, np.ndarray) and labels.dtype.kind in "biufU" else labels)
    # a tuple of Python's objects, as one graph gives another, is not looked through
    kinds = set(map(type, found[:1] if found is labels else found))
    if not any(issubclass(kind, np.number | np.bool_ | np.str_) for kind in kinds):
        return found
    return tuple(x.item() if isinstance(x, np.number | np.bool_ | np.str_) else x for x in found)


def kind_of_names(labels: Sequence[Any]) -> str | None:
    """What a file of bitblas' own holds them as: "text" of strings, "integers" of 64 bits; None for others."""
    if all(isinstance(name, str) for name in labels):
        return "text"
    return "integers" if all(map(_is_integer, labels)) else None


def _is_integer(name: Any) -> bool:
    return isinstance(name, int | np.integer) and not isinstance(name, bool) and -(1 << 63) <= int(name) < 1 << 63


def flag(name: str, value: Any) -> bool | None:
    """True, False or None. TypeError for what is none of them."""
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    raise TypeError(f"{name}: expected True, False or None, got {value!r}")


def is_table(value: Any) -> bool:
    """Whether it is a DataFrame, an Arrow table, or a dictionary of columns."""
    return isinstance(value, dict) or hasattr(value, "columns") or hasattr(value, "column_names")


def described(value: Any) -> str:
    """What something is, and the method that makes a Graph of it."""
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__qualname__}".removeprefix("builtins.")
    if hasattr(value, "nvals"):
        return f"{kind}; Graph(matrix, labels) takes it"
    if is_table(value):
        return f"{kind}; Graph.from_table(table, 'source', 'target', 'weight') takes it, with the names of its columns"
    for library in ("networkx", "igraph"):
        if library in (part.__module__.partition(".")[0] for part in type(value).__mro__):
            return f"{kind}; Graph.from_{library} takes it"
    if hasattr(value, "tocoo"):
        return f"{kind}; bitblas.io.from_scipy_sparse makes a Matrix of it"
    return f"{kind}; Graph.from_edges takes pairs or triples"
