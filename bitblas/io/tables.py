"""Convert edge tables from and to pandas, polars and Arrow; read and write them as Parquet files, through pyarrow.

A table has one row per edge and named columns: the two ends and a value. The libraries are imported by the functions
that create their objects. Input is read through what the three libraries share, a column as a NumPy array; this copies
nothing if the numbers are contiguous and none is missing.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from .. import extras
from ..core import Matrix, TransposedMatrix, Vector
from ..exceptions import InvalidValue
from ..graph import Graph, validation
from ..typing import DTypeLike
from .build import DupOp, MatrixOptions, host_coo
from .edgelist_columns import check_columns
from .files import Input, Output, name_of, open_output
from .graphs import Numbering, count_used, graph_of_edges
from .table_columns import collect_columns, single_type_names, vertex_columns, weights_of
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
    table = collect_columns(table, columns)
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

    return graph_of_edges(place, (rows, cols, values), vertices, names, directed, options, where)


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
    return _single_typed_table(table_of(A, labels, columns), "polars", polars.DataFrame)


def to_arrow(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same as `to_pandas`, as a pyarrow Table, without copying numbers. Labels must have one type, otherwise
    InvalidValue. ImportError without pyarrow."""
    pyarrow = extras.load("pyarrow", "to_arrow")
    return _single_typed_table(table_of(A, labels, columns), "Arrow", pyarrow.table)


def _single_typed_table(table: Columns, library: str, make: Callable[[Columns], Any]) -> Any:
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


# ---- Edge tables in Parquet files, through pyarrow.

_KEY = b"bitblas.directed"  # metadata key of the table, and its values
_STATED = {b"true": True, b"false": False}


def load_parquet() -> ModuleType:
    """Import pyarrow.parquet. The ImportError names what is missing."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f"Parquet files: pyarrow cannot be loaded ({error}); {extras.hint('arrow')}") from error
    return parquet


def read_parquet(
    path: Input,
    /,
    source: str = "source",
    target: str = "target",
    weight: str | None = "weight",
    *,
    columns: Iterable[str | int] | None = None,
    weights: bool | None = None,
    directed: bool | None = None,
    **options: Any,
) -> Graph:
    """Read a Graph from the rows of a Parquet file or a folder of such files; other columns are not read.

    source, target, weight, options: as in `from_table`; without a column `weight` the result is a pattern. columns: two
    or three columns, by name or number, instead of source, target and weight, as in `read_edgelist`. weights: False:
    none are read. directed: as in `from_table`, but None: as the file states, if `write_parquet` stated it.
    Raises InvalidValue (with the file), OSError, ImportError without pyarrow.
    """
    parquet, name, chosen = load_parquet(), name_of(path), check_columns(columns)
    if chosen is not None and (source, target, weight) != EDGES:
        raise InvalidValue("columns: expected none together with source, target or weight, got both")
    from pyarrow import ArrowInvalid

    if not isinstance(path, (str, os.PathLike)):
        if not (hasattr(path, "seekable") and path.seekable()):
            data = path.read()
            path = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    elif not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    try:
        dataset = parquet.ParquetDataset(path)
        known = dataset.schema.names
        if chosen is not None:
            source, target, weight = _columns_by_name(name, chosen, known)
        if weights is not None:
            weight = weight if weights else None
        if weight == EDGES[2] and weight not in known:
            weight = None
        table = dataset.read(columns=[column for column in (source, target, weight) if column in known])
    except ArrowInvalid as error:
        raise InvalidValue(f"{name}: expected a Parquet file: {error}") from None
    stated = _STATED.get((dataset.schema.metadata or {}).get(_KEY, b""))
    both = stated is False and directed is not True  # each edge is in the table in both directions
    ways = True if both else stated if directed is None else directed
    try:
        graph = graph_of_columns(name, table, (source, target, weight), ways, **options)
        return Graph(graph.matrix, graph.labels, directed=False) if both else graph
    except InvalidValue as error:
        text = str(error)
        raise InvalidValue(text if text.startswith(f"{name}:") else f"{name}: {text}") from None


def _columns_by_name(name: str, columns: Sequence[str | int], known: list[str]) -> tuple[str, str, str | None]:
    """The names of two or three columns. InvalidValue for columns that the file does not have."""
    if beyond := [k for k in columns if not isinstance(k, str) and k >= len(known)]:
        raise InvalidValue(f"{name}: columns: expected numbers from 0 to {len(known) - 1}, got {beyond[0]}")
    source, target, *weight = (column if isinstance(column, str) else known[column] for column in columns)
    return source, target, weight[0] if weight else None


def write_parquet(
    target: Output, A: Entries, *, labels: Sequence[Hashable] | None = None, directed: bool | None = None
) -> None:
    """Write a Matrix as a table of three columns: source, target and weight. labels: names of the vertices. directed:
    whether the graph is directed, which is written as metadata of the table; None: not stated.

    Raises InvalidValue for labels that do not fit, ImportError without pyarrow.
    """
    parquet, table = load_parquet(), to_arrow(A, labels)
    if validation.flag("directed", directed) is not None:
        text = b"true" if directed else b"false"
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: text})
    with open_output(target) as stream:
        parquet.write_table(table, stream)
