"""Tables of edges in and out: pandas, polars, Arrow; and igraph's graphs.

A table has a row for each edge and columns with names: its two ends, and a value. The libraries are imported by the
functions that make their objects; what comes in is read by what the three have in common, a column as a NumPy array,
which costs no copy of numbers that lie in one piece and of which none is missing.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .. import extras
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, edges, given
from .build import build, check_weights, host_coo, warn_of_gaps
from .weights import of_column

EDGES, VERTICES = ("source", "target", "weight"), ("vertex", "value")


def from_table(
    table: Any, source: str = "source", target: str = "target", weight: str | None = None, *, size: int | None = None,
    labels: bool | None = None, directed: bool | None = True, decimal: str | None = None, dup_op: Any = None,
    dtype: Any = None, name: str | None = None, device: str | None = None, format: str | None = None,
    tile: int | None = None, packed: bool | None = None,
) -> Graph:  # fmt: skip
    """A Graph of the rows of a table: a DataFrame of pandas or polars, an Arrow table, or a dictionary of arrays.

    source, target: the columns of the two ends of each edge, integers from 0, or else names (strings), which are
    numbered in the order in which they come. weight: the column of values, numbers; None: a pattern. decimal: "," or
    "." if that column may hold texts: numbers with this before the fraction. size: the number of vertices; None: as
    many as the largest number says; not for names. labels: True: integers are names too, ids of which most are not
    there (a warning says where that seems so); False: names are refused. directed: False: every row is an edge in both
    directions; where both are there, with other weights, the lesser one stands; None: the graph has directions unless
    every edge is there both ways, with one weight. dup_op ("plus", "min", "max", "first", ..) joins the weights of an
    edge that is there twice, and then those of both its directions.

    Raises InvalidValue for a column that is not there, has missing values (NaN too) or is of another kind, for a vertex
    out of range, and for an edge with a weight that is there twice in one direction, without dup_op.
    """
    if isinstance(table, str | os.PathLike):
        raise TypeError(f"table: expected a table, got {os.fspath(table)!r}; Graph.read(path) reads a file")
    if not given.is_table(table):
        raise TypeError(f"table: expected a table with names of columns, got {given.described(table)}")
    named = _encoded(table, source, target)
    rows, cols = named[:2] if named else (_end(table, name) for name in (source, target))
    values = None if weight is None else of_column(_column(table, weight), weight, decimal)
    known: tuple[Any, ...] | None = None
    if given.flag("labels", labels) or named or rows.dtype.kind not in "iu" or cols.dtype.kind not in "iu":
        if size is not None:
            raise InvalidValue(f"size: expected None for vertices that have names, got {size}")
        rows, cols, known = named or _named(rows, cols, (source, target))
        if labels is False:
            raise InvalidValue(f"labels: expected None or True for columns of names, got False; {known[0]!r} is one")
        size = len(known)
    for ends, end in ((rows, source), (cols, target)):
        low, high = (int(ends.min()), int(ends.max())) if len(ends) else (0, -1)
        if low < 0 or (size is not None and high >= size):
            got = low if low < 0 else high
            last = "" if size is None else f" to {size - 1}"
            raise InvalidValue(f"column {end!r}: expected vertices from 0{last}, got {got}")
    if size is None:
        size = 1 + max((int(ends.max()) for ends in (rows, cols) if len(ends)), default=-1)
        warn_of_gaps("table", rows, cols, size)
    rows, cols = rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)

    def where(i: int, j: int) -> str:
        one, other = (k if known is None else known[k] for k in (i, j))
        at = np.flatnonzero((rows == i) & (cols == j)).tolist()
        return f": expected every edge once, got {one!r} to {other!r} twice, in rows {at[0]} and {at[1]}"

    matrix = build(
        "table", rows, cols, values, (size, size), dup_op=dup_op, dtype=dtype, name=name,
        directed=directed is not False, where=where, device=device, format=format, tile=tile, packed=packed,
    )  # fmt: skip
    return Graph(matrix, known, directed=directed)


def to_pandas(A: Any, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """A pandas DataFrame, a row for each entry: source, target and weight of a Matrix, vertex and value of a Vector.

    A: Matrix, Vector, or Graph, whose labels are taken. labels: names for the vertices instead of their numbers.
    columns: other names for the columns; two for a Matrix leave the values out. Raises InvalidValue for columns that do
    not fit, ImportError without pandas.
    """
    return extras.load("pandas", "to_pandas").DataFrame(table_of(A, labels, columns))


def to_polars(A: Any, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same as `to_pandas`, as a polars DataFrame. ImportError without polars."""
    return extras.load("polars", "to_polars").DataFrame(table_of(A, labels, columns))


def to_arrow(A: Any, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same as `to_pandas`, as a pyarrow Table, which copies no numbers. ImportError without pyarrow."""
    return extras.load("pyarrow", "to_arrow").table(table_of(A, labels, columns))


def table_of(A: Any, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> dict[str, Any]:
    """Arrays by the names of columns, as `to_pandas` has them; ends with labels are lists."""
    if isinstance(A, Graph):
        A, labels = A.matrix, A.labels if labels is None else labels
    *ends, values = host_coo(A)
    full = EDGES if len(ends) == 2 else VERTICES
    names = full if columns is None else tuple(columns)
    if len(set(names)) != len(names) or len(names) not in (len(full), len(ends)):
        raise InvalidValue(f"columns: expected {len(full)} different names, for {', '.join(full)}, got {columns!r}")
    size = max(A.nrows, A.ncols) if len(ends) == 2 else A.size
    if labels is not None and len(labels) < size:
        raise InvalidValue(f"labels: expected one for each of {size} vertices, got {len(labels)}")
    made: list[Any] = [at.astype(np.int64, copy=False) for at in ends]
    if labels is not None:
        made = [[labels[k] for k in at.tolist()] for at in made]
    return dict(zip(names, [*made, values]))


def _column(table: Any, name: str) -> np.ndarray:
    """A column as an array. InvalidValue where it is not there, or has values that are missing."""
    known = getattr(table, "column_names", None) or getattr(table, "columns", None)
    known = list(table if known is None else known)
    if name not in known:
        raise InvalidValue(f"column {name!r}: expected one of {', '.join(map(repr, known))}")
    column = table[name]
    missing = getattr(column, "null_count", 0)  # of polars a method, of Arrow a number
    missing = missing() if callable(missing) else missing
    array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if array.dtype == object and not missing:
        missing = sum(value is None or value != value for value in array)
    if missing:
        first = next((f", the first is row {k}" for k, x in enumerate(array.tolist()) if x is None or x != x), "")
        hint = ". Hint: pandas.read_csv takes names such as NA for none, unless keep_default_na=False"
        hint = hint if type(column).__module__.startswith("pandas") and array.dtype.kind == "O" else ""
        got = f"got {missing} rows without one{first}{hint}"
        raise InvalidValue(f"column {name!r}: expected a value in every row, {got}")
    if array.dtype.kind == "U" and isinstance(column, (list, tuple)):  # else made text of what was none
        other = next((k for k, value in enumerate(column) if not isinstance(value, str)), None)
        if other is not None:
            text = next((k for k, value in enumerate(column) if isinstance(value, str)), other)
            raise InvalidValue(
                f"column {name!r}: expected names (strings) in every row, or numbers in every row, got "
                f"{column[other]!r} in row {other} and {column[text]!r} in row {text}"
            )
    if array.ndim != 1:
        raise InvalidValue(f"column {name!r}: expected one value in a row, got an array of shape {array.shape}")
    return array


def _end(table: Any, name: str) -> np.ndarray:
    """A column of vertices. InvalidValue for floats, which say that a value is missing, or that they are no names."""
    array = _column(table, name)
    if array.dtype.kind == "f" and len(array):
        missing = np.flatnonzero(np.isnan(array))
        got = (
            f"none in {len(missing)} rows, the first is row {missing[0]}" if len(missing) else f"{array[0]!s} in row 0"
        )
        raise InvalidValue(
            f"column {name!r}: expected vertices in every row, integers or names, got {got}. Hint: leave out rows "
            "without a value, then astype(int)"
        )
    return array


def _named(
    rows: np.ndarray, cols: np.ndarray, names: tuple[str, str]
) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
    """Numbers for both ends, from names, or integers that are names; and the names."""
    if rows.dtype.kind in "iu" and cols.dtype.kind in "iu":
        plain = rows.dtype == cols.dtype  # else NumPy may make floats of both
        whole = np.concatenate([rows, cols] if plain else [rows.astype(object), cols.astype(object)])
        return _in_order(np.unique(whole, return_inverse=True)[1], lambda at: whole[at].tolist())
    ends = [array.tolist() for array in (rows, cols)]
    for array, listed, name in zip((rows, cols), ends, names):
        row = next((k for k, value in enumerate(listed) if not isinstance(value, str)), None)
        if row is not None:
            raise InvalidValue(
                f"column {name!r}: expected integers in both columns of vertices, or strings in both, got "
                f"{listed[row]!r} in row {row}, in a column of {array.dtype}. Hint: str() makes names of numbers"
            )
    index: dict[str, int] = {label: k for k, label in enumerate(dict.fromkeys(chain.from_iterable(zip(*ends))))}
    numbered = [np.fromiter(map(index.__getitem__, listed), np.int64, len(listed)) for listed in ends]
    return numbered[0], numbered[1], tuple(index)


def _encoded(table: Any, source: str, target: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]] | None:
    """Numbers of both ends, and the names, where these are strings and the library of the table can number them, which
    is ten times as fast as Python; None else, and where a value is missing."""
    library = type(table).__module__.partition(".")[0]
    known: Any = getattr(table, "column_names", None) or getattr(table, "columns", ())
    if library not in ("pandas", "polars", "pyarrow") or not {source, target} <= set(known):
        return None
    columns = [table[source], table[target]]
    if library == "pyarrow":
        import pyarrow

        if any(c.null_count or c.type not in (pyarrow.string(), pyarrow.large_string()) for c in columns):
            return None
        whole = pyarrow.chunked_array([chunk for c in columns for chunk in c.chunks], columns[0].type)
        coded = whole.dictionary_encode().unify_dictionaries()
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in coded.chunks])
        return _in_order(codes, lambda at: whole.take(at).to_pylist())
    if library == "polars":
        import polars

        if any(column.dtype != polars.String or column.null_count() for column in columns):
            return None
        whole = polars.concat(columns)
        return _in_order(whole.cast(polars.Categorical).to_physical().to_numpy(), lambda at: whole.gather(at).to_list())
    import pandas

    if not all(pandas.api.types.is_string_dtype(column) for column in columns):
        return None
    whole = pandas.concat(columns, ignore_index=True)
    codes, found = pandas.factorize(whole)
    if (codes < 0).any() or not all(isinstance(label, str) for label in found):
        return None
    return _in_order(codes, lambda at: whole.iloc[at].tolist())


def _in_order(codes: np.ndarray, taken: Any) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
    """Numbers of both ends, as they come in rows, and their names. codes: of all sources, then of all targets; taken:
    the names at these places."""
    edges = len(codes) // 2
    both = codes.reshape(2, edges).T.ravel()
    first = np.full(int(both.max(initial=0)) + 1, len(both))
    first[both[::-1]] = np.arange(len(both))[::-1]  # of several that are written to one place, the last one stays
    order = np.argsort(first)
    order = order[: np.count_nonzero(first < len(both))]
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(order))
    places = first[order]
    labels = tuple(taken(places // 2 + places % 2 * edges))
    return number[codes[:edges]], number[codes[edges:]], labels


def from_igraph(
    G: Any, weight: str | None = "weight", *, name: str | None = None, device: str | None = None,
    format: str | None = None, tile: int | None = None, packed: bool | None = None, dup_op: Any = "plus",
) -> Graph:  # fmt: skip
    """A Graph of an igraph.Graph: vertex k is its vertex k, its label the attribute `name`, if vertices have one.

    weight: the attribute of edges that holds the values; without it, or with None, every edge has the value 1. An
    undirected edge is an entry in both directions. dup_op: what parallel edges become, their sum as in `from_networkx`;
    None: InvalidValue.
    """
    ends = np.array(G.get_edgelist(), np.int64).reshape(-1, 2)
    weighted = weight is not None and weight in G.es.attributes()
    values = np.array(G.es[weight]) if weighted else np.ones(len(ends), np.int64)
    if weighted and values.dtype.kind not in "biu":
        check_weights(((*end, value) for end, value in zip(ends.tolist(), G.es[weight])), weight)
    if values.dtype.kind not in "biuf":
        raise InvalidValue(f"edge attribute {weight!r}: expected a number at every edge, got {values.dtype}")
    rows, cols = ends[:, 0], ends[:, 1]
    if not G.is_directed():
        apart = rows != cols
        rows, cols = np.concatenate([rows, cols[apart]]), np.concatenate([cols, rows[apart]])
        values = np.concatenate([values, values[apart]])
    if not weighted and dup_op is None:
        dup_op = "first"  # all are 1
    matrix = build(
        "igraph", rows, cols, values, (G.vcount(), G.vcount()), dup_op=dup_op, dtype=None, name=name,
        device=device, format=format, tile=tile, packed=packed,
    )  # fmt: skip
    names = tuple(map(str, G.vs["name"])) if "name" in G.vs.attributes() else None
    return Graph(matrix, names, directed=G.is_directed())


def to_igraph(A: Any, weight: str | None = "weight", *, directed: bool = True) -> Any:
    """An igraph.Graph with a vertex for each row of a square Matrix, or of a Graph, whose labels are the names.

    weight: the edge attribute that holds the values; None: none does, nor those of a Graph without weights. directed:
    False takes each edge once, from the upper triangle. Raises DimensionMismatch if A is not square, ImportError
    without igraph.
    """
    igraph = extras.load("igraph", "to_igraph")
    whole = A
    A, labels = (A.matrix, A.labels) if isinstance(A, Graph) else (A, None)
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"A: expected a square matrix, got {A.nrows} x {A.ncols}")
    rows, cols, values = host_coo(A)
    if not directed:
        upper = rows <= cols
        rows, cols, values = rows[upper], cols[upper], values[upper]
    G = igraph.Graph(n=A.nrows, edges=np.stack([rows, cols], axis=1).astype(np.int64).tolist(), directed=directed)
    if weight is not None and not (isinstance(whole, Graph) and edges.unweighted(values)):
        G.es[weight] = values.tolist()
    if labels is not None:
        G.vs["name"] = list(labels)
    return G
