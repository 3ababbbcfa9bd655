"""Convert edge tables from and to pandas, polars and Arrow, and graphs from and to igraph.

A table has one row per edge and named columns: the two ends and a value. The libraries are imported by the functions
that create their objects. Input is read through what the three libraries share, a column as a NumPy array; this copies
nothing if the numbers are contiguous and none is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import extras
from ..core import Matrix, TransposedMatrix, Vector
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, edges, validation
from ..typing import DTypeLike
from .build import DupOp, MatrixOptions, build, check_weights, host_coo
from .graphs import Numbering, count_used, graph_of_edges
from .table_columns import collected, numbers_of, single_type_names, vertex_columns, weights_of
from .weights import is_rounded, parse_weight_column

MOST = 1 << 60  # the maximum number of vertices
EDGES, VERTICES = ("source", "target", "weight"), ("vertex", "value")
Entries: TypeAlias = Matrix | TransposedMatrix | Vector | Graph  # what becomes a table
Columns: TypeAlias = dict[str, np.ndarray | list[Hashable]]  # of a table, by name


def from_table(
    table: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    *,
    size: int | None = None,
    labels: bool | None = None,
    base: int | None = None,
    directed: bool | None = None,
    decimal: str | None = None,
    dup_op: DupOp | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Graph:
    """A Graph of the rows of a table: a DataFrame of pandas or polars, an Arrow table, or a dictionary of arrays. Of a
    polars LazyFrame only the named columns are collected.

    source, target: the columns of the two ends of each edge: integers from 0 (or base=1), or names (strings, or
    categories that are strings), which are numbered in order of appearance. A category without a row is not a vertex.
    weight: the column of values, numbers; None: a pattern. decimal: the decimal mark, "," or ".", if that column may
    contain numbers as texts. size: the number of vertices; None: one more than the largest number; not for names.
    labels: True: integers are names too, such as sparse ids (a warning reports them); False: names are refused. base:
    the number of the first vertex, 0 or 1; None: 0, with a warning if that vertex has no edges. directed: False: every
    row is an edge in both directions; if both are present with different weights, the smaller is kept; None: True, with
    a warning if every edge is present in both directions with the same weight. dup_op ("plus", "min", "max", "first",
    ..) combines the weights of duplicate edges, and then those of both directions.

    Integers are read exactly, even in columns of objects. Raises InvalidValue for a column that does not exist, has
    missing values (None, NaN, NaT, pandas.NA, null) or an unsupported type (decimals, times, bytes), for a vertex out
    of range, and for duplicate edges with weights in one direction without dup_op.
    """
    options = MatrixOptions(dup_op, dtype, name, device, format, tile, packed)
    return graph_of_table(
        "table", table, (source, target, weight), Numbering(base, size, labels), directed, decimal, options
    )


def graph_of_columns(
    place: str,
    table: Any,
    columns: tuple[str, str, str | None],
    directed: bool | None,
    *,
    base: int | None = None,
    size: int | None = None,
    labels: bool | None = None,
    decimal: str | None = None,
    **options: Any,
) -> Graph:
    """The same with the options of `from_table` by name."""
    return graph_of_table(
        place, table, columns, Numbering(base, size, labels), directed, decimal, MatrixOptions(**options)
    )


def graph_of_table(
    place: str,
    table: Any,
    columns: tuple[str, str, str | None],
    numbering: Numbering,
    directed: bool | None,
    decimal: str | None,
    options: MatrixOptions,
) -> Graph:
    """The Graph that `from_table` returns. place: the name of the table in messages."""
    if isinstance(table, str | os.PathLike):
        raise TypeError(f"table: expected a table, got {os.fspath(table)!r}. Hint: Graph.read(path) reads a file")
    table = collected(table, columns)
    if not validation.is_table(table):
        raise TypeError(f"table: expected a table with named columns, got {validation.described(table)}")
    (source, target, weight), (_, size, labels) = columns, numbering
    first, directed = numbering.first, validation.flag("directed", directed)
    rows, cols, names = vertex_columns(table, source, target, validation.flag("labels", labels))
    values = None
    if weight is not None:
        rounded = is_rounded(options.dtype)
        column = weights_of(table, weight, len(rows), rounded=rounded)
        values = parse_weight_column(column, weight, decimal, rounded)
    if names is not None:
        if size is not None:
            raise InvalidValue(f"size: expected None for vertices that have names, got {size}")
        if labels is False:
            raise InvalidValue(f"labels: expected None or True for columns of names such as {names[0]!r}, got False")
        size, first = len(names), 0
    for ends, end in ((rows, source), (cols, target)):
        low, high = (int(ends.min()), int(ends.max())) if len(ends) else (first, first - 1)
        if low < first or high >= (MOST if size is None else first + size):
            got = low if low < first else high
            limit = f" to {first + size - 1}" if size is not None else " to 2^60 - 1" if low >= first else ""
            hint = ". Hint: pass labels=True if these are ids" if size is None else ""
            raise InvalidValue(f"column {end!r}: expected vertices from {first}{limit}, got {got}{hint}")
    rows, cols = rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)
    if first:
        rows, cols = rows - first, cols - first
    last = max((int(ends.max()) for ends in (rows, cols) if len(ends)), default=-1)
    vertices = 1 + last if size is None else size
    if names is None and len(rows):
        lowest = min(int(rows.min()), int(cols.min()))
        numbering.check(place, vertices, lowest, lambda: count_used(rows, cols, vertices))

    def where(i: int, j: int) -> str:
        one, other = (k + first if names is None else names[k] for k in (i, j))
        at = np.flatnonzero((rows == i) & (cols == j)).tolist()
        return f": expected every edge once, got {one!r} to {other!r} twice, in rows {at[0]} and {at[1]}"

    return graph_of_edges(place, rows, cols, values, vertices, names, directed, options, where)


def to_pandas(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """A pandas DataFrame, one row per entry: source, target and weight of a Matrix, vertex and value of a Vector.

    A: Matrix, Vector, or Graph, whose labels are used. labels: names of the vertices instead of their numbers. columns:
    other column names; two for a Matrix omit the values. Raises InvalidValue for columns that do not fit, ImportError
    without pandas.
    """
    return extras.load("pandas", "to_pandas").DataFrame(table_of(A, labels, columns))


def to_polars(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same as `to_pandas`, as a polars DataFrame. Labels must have one type, otherwise InvalidValue. ImportError
    without polars."""
    polars = extras.load("polars", "to_polars")
    return _typed(table_of(A, labels, columns), "polars", polars.DataFrame)


def to_arrow(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same as `to_pandas`, as a pyarrow Table, without copying numbers. Labels must have one type, otherwise
    InvalidValue. ImportError without pyarrow."""
    pyarrow = extras.load("pyarrow", "to_arrow")
    return _typed(table_of(A, labels, columns), "Arrow", pyarrow.table)


def _typed(table: Columns, library: str, make: Callable[[Columns], Any]) -> Any:
    """A table of a library whose columns have one type. InvalidValue for labels that fit none of its types."""
    columns = {name: single_type_names(x, library) if isinstance(x, list) else x for name, x in table.items()}
    try:
        return make(columns)
    except (TypeError, ValueError, OverflowError) as error:
        labels = next((x for x in columns.values() if isinstance(x, list) and x), None)
        if labels is None:
            raise
        got = f"{labels[0]!r}: {' '.join(str(error).split())}"
        raise InvalidValue(
            f"labels: expected names that fit a column of {library}, got {got}. Hint: str() converts them to strings"
        ) from None


def table_of(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Columns:
    """Arrays by column name, as in `to_pandas`; ends with labels are lists."""
    if labels is not None:
        labels = validation.different_names("labels", labels)
    if isinstance(A, Graph):
        labels = A.labels if labels is None else labels
        A = A.matrix
    *ends, values = host_coo(A)
    full = VERTICES if isinstance(A, Vector) else EDGES
    names = full if columns is None else tuple(columns)
    if len(set(names)) != len(names) or len(names) not in (len(full), len(ends)):
        raise InvalidValue(f"columns: expected {len(full)} different names, for {', '.join(full)}, got {columns!r}")
    size = max(A.shape)
    if labels is not None and len(labels) < size:
        raise InvalidValue(f"labels: expected one for each of {size} vertices, got {len(labels)}")
    if labels is None:
        return dict(zip(names, [*(at.astype(np.int64, copy=False) for at in ends), values]))
    return dict(zip(names, [*([labels[k] for k in at.tolist()] for at in ends), values]))


def from_igraph(
    G: Any,
    weight: str | None = "weight",
    *,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
    dup_op: DupOp | None = "plus",
) -> Graph:
    """Convert an igraph.Graph: vertex k is its vertex k; labels are the vertex attribute `name`, if there is one.

    weight: the edge attribute with the values; without it, or with None, every edge has the value 1. An undirected edge
    is an entry in both directions. dup_op: combines parallel edges, by their sum as in `from_networkx`; None:
    InvalidValue. InvalidValue also for two vertices of one name, and if only some vertices have a name.
    """
    ends = np.array(G.get_edgelist(), np.int64).reshape(-1, 2)
    weighted = weight is not None and weight in G.es.attributes()
    values = np.ones(len(ends), np.int64)
    if weighted:
        try:
            values = numbers_of(G.es[weight], f"edge attribute {weight!r}")
        except InvalidValue:
            check_weights(((*end, value) for end, value in zip(ends.tolist(), G.es[weight])), weight)  # names the edge
            raise
    rows, cols = ends[:, 0], ends[:, 1]
    if not G.is_directed():
        apart = rows != cols
        rows, cols = np.concatenate([rows, cols[apart]]), np.concatenate([cols, rows[apart]])
        values = np.concatenate([values, values[apart]])
    if not weighted and dup_op is None:
        dup_op = "first"  # all are 1
    options = MatrixOptions(dup_op, None, name, device, format, tile, packed)
    matrix = build("igraph", rows, cols, values, (G.vcount(), G.vcount()), options)
    names = None
    if "name" in G.vs.attributes():
        strings = map(str, validation.different_names("vertex attribute 'name'", G.vs["name"]))
        names = validation.different_names("vertex attribute 'name', as strings", strings)
    return Graph._of_names(matrix, names, directed=G.is_directed())


def to_igraph(A: Matrix | TransposedMatrix | Graph, weight: str | None = "weight", *, directed: bool = True) -> Any:
    """An igraph.Graph with a vertex for each row of a square Matrix, or of a Graph, whose labels become the names.

    weight: the edge attribute for the values; None, or a Graph without weights: no attribute. directed: False: each
    edge once, from the upper triangle. Raises DimensionMismatch if A is not square, ImportError without igraph.
    """
    igraph = extras.load("igraph", "to_igraph")
    graph = A if isinstance(A, Graph) else None
    A = A.matrix if isinstance(A, Graph) else A
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"A: expected a square matrix, got {A.nrows} x {A.ncols}")
    rows, cols, values = host_coo(A)
    if not directed:
        upper = rows <= cols
        rows, cols, values = rows[upper], cols[upper], values[upper]
    G = igraph.Graph(n=A.nrows, edges=np.stack([rows, cols], axis=1).astype(np.int64).tolist(), directed=directed)
    if weight is not None and not (graph is not None and edges.unweighted(values)):
        G.es[weight] = values.tolist()
    if graph is not None and graph.labels is not None:
        G.vs["name"] = list(graph.labels)
    return G
