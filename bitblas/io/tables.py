"""Convert edge tables from and to pandas, polars and Arrow; read and write them as Parquet files, through pyarrow.

Tables of other libraries (DuckDB, cuDF, ..) are read, and graphs and results given to them, by Arrow's protocol for
streams of batches, `__arrow_c_stream__` (Arrow PyCapsule interface), also through pyarrow.

A table has one row per edge and named columns: the two ends and a value. The libraries are imported by the functions
that create their objects. Input is read through what the three libraries share, a column as a NumPy array; this copies
nothing if the numbers are contiguous and none is missing.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

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
from .weights import is_rounded, parse_weight_column

MOST = 1 << 60  # the maximum number of vertices
EDGE_COLUMNS, VERTEX_COLUMNS = ("source", "target", "weight"), ("vertex", "value")
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
    """A Graph of the rows of a table: a DataFrame of pandas or polars, an Arrow table, a dictionary of arrays, or an
    object with `__arrow_c_stream__`, such as a DuckDB relation (read by pyarrow). Of a polars LazyFrame only the named
    columns are collected.

    Parameters
    ----------
    source, target : optional
        The columns of the two ends of each edge: integers from 0 (or base=1), or names (strings, or
        categories that are strings), which are numbered in order of appearance. A category without a
        row is not a vertex.
    weight : optional
        The column of values, numbers; None: a pattern.
    decimal : optional
        The decimal mark, "," or ".", if that column may contain numbers as texts.
    size : optional
        The number of vertices; None: one more than the largest number; not for names.
    labels : optional
        True: integers are names too, such as sparse ids (a warning reports them); False: names are
        refused.
    base : optional
        The number of the first vertex, 0 or 1; None: 0, with a warning if that vertex has no edges.
    directed : optional
        False: every row is an edge in both directions; if both are present with different weights, the
        smaller is kept; None: True, with a warning if every edge is present in both directions with the
        same weight. dup_op ("plus", "min", "max", "first", ..) combines the weights of duplicate edges,
        and then those of both directions.

    Raises
    ------
    InvalidValue
        For a column that does not exist, has missing values (None, NaN, NaT, pandas.NA, null) or an
        unsupported type (decimals, times, bytes), for a vertex out of range, and for duplicate edges
        with weights in one direction without dup_op.

    Notes
    -----
    Integers are read exactly, even in columns of objects.
    """
    options = MatrixOptions(dup_op, dtype, name, device, format, tile, packed)
    columns = source, target, weight
    return graph_of_columns(
        "table", table, columns, directed, base=base, size=size, labels=labels, decimal=decimal, **options._asdict()
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
    """The Graph that `from_table` returns. place: the name of the table in messages."""
    if isinstance(table, str | os.PathLike):
        raise TypeError(f"table: expected a table, got {os.fspath(table)!r}. Hint: Graph.read(path) reads a file")
    table = collect_columns(table, columns)
    if not validation.is_table(table):
        raise TypeError(f"table: expected a table with named columns, got {validation.described(table)}")
    source, target, weight = columns
    numbering, matrix_options = Numbering(base, size, labels), MatrixOptions(**options)
    first, directed = numbering.first, validation.flag("directed", directed)
    rows, cols, names = vertex_columns(table, source, target, validation.flag("labels", labels))
    values = None
    if weight is not None:
        rounded = is_rounded(matrix_options.dtype)
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

    return graph_of_edges(place, (rows, cols, values), vertices, names, directed, matrix_options, where)


def to_pandas(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """A pandas DataFrame, one row per entry: source, target and weight of a Matrix, vertex and value of a Vector.

    Parameters
    ----------
    A : Matrix
        Vector, or Graph, whose labels are used.
    labels : optional
        Names of the vertices instead of their numbers.
    columns : optional
        Other column names; two for a Matrix omit the values.

    Raises
    ------
    InvalidValue
        For columns that do not fit.
    ImportError
        Without pandas.
    """
    return extras.load("pandas", "to_pandas").DataFrame(table_of(A, labels, columns))


def to_polars(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same as `to_pandas`, as a polars DataFrame. Labels must have one type, otherwise InvalidValue.

    Raises
    ------
    ImportError
        Without polars.
    """
    polars = extras.load("polars", "to_polars")
    return _single_typed_table(table_of(A, labels, columns), "polars", polars.DataFrame)


def to_arrow(A: Entries, labels: Sequence[Hashable] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same as `to_pandas`, as a pyarrow Table, without copying numbers. Labels must have one type,
    otherwise InvalidValue.

    Raises
    ------
    ImportError
        Without pyarrow.
    """
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
    full = VERTEX_COLUMNS if isinstance(A, Vector) else EDGE_COLUMNS
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

    Parameters
    ----------
    source, target, weight, options : optional
        As in `from_table`; without a column `weight` the result is a pattern.
    columns : optional
        Two or three columns, by name or number, instead of source, target and weight, as in
        `read_edgelist`.
    weights : optional
        False: none are read.
    directed : optional
        As in `from_table`, but None: as the file states, if `write_parquet` stated it.

    Raises
    ------
    InvalidValue
        With the file.
    OSError
    ImportError
        Without pyarrow.
    """
    parquet, name, chosen = load_parquet(), name_of(path), check_columns(columns)
    if chosen is not None and (source, target, weight) != EDGE_COLUMNS:
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
        if weight == EDGE_COLUMNS[2] and weight not in known:
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
    """Write a Matrix as a table of three columns: source, target and weight.

    Parameters
    ----------
    labels : optional
        Names of the vertices.
    directed : optional
        Whether the graph is directed, which is written as metadata of the table; None: not stated.

    Raises
    ------
    InvalidValue
        For labels that do not fit.
    ImportError
        Without pyarrow.
    """
    parquet, table = load_parquet(), to_arrow(A, labels)
    if validation.flag("directed", directed) is not None:
        text = b"true" if directed else b"false"
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: text})
    with open_output(target) as stream:
        parquet.write_table(table, stream)


# ---- Convert table columns (pandas, polars, Arrow, NumPy, lists) to arrays, and vertex names to numbers.
#
# A column is read exactly or refused, with its name, the row, and a hint. Integers never pass through floats. A
# missing value (None, NaN, NaT, pandas.NA, a null of Arrow or polars) is refused. The library of the table numbers
# the names of vertices; categories and dictionaries are numbered by their codes, without reading the text of each
# row.

VERTICES, WEIGHTS = "vertices (integers or strings)", "numbers"  # the role of a column
_TEXT, _BITS = frozenset("OUT"), 64
# Conversions of a column by library: to strings, to floats, and from times to integers.
_CASTS = {
    "pandas": (".astype(str)", ".astype(float)", ".astype('int64')"),
    "polars": (".cast(polars.String)", ".cast(polars.Float64)", ".to_physical()"),
    "pyarrow": (".cast('string')", ".cast('float64')", ".cast('int64')"),
    "numpy": (".astype(str)", ".astype(float)", ".astype('int64')"),
}
_TIMES = ("date", "time", "duration", "period")


class TooLarge(InvalidValue):
    """Integers that fit no common 64-bit type."""

    def __init__(self, message: str, values: list[int]) -> None:
        super().__init__(message)
        self.values = values


class Coded(NamedTuple):
    """A dictionary-encoded column: row k has the name `names[codes[k]]`. Some names may be unused."""

    codes: np.ndarray
    names: list[str]


class Ends(NamedTuple):
    """Vertex numbers of both ends of each edge, and the vertex names if there are any."""

    rows: np.ndarray
    cols: np.ndarray
    names: tuple[Hashable, ...] | None


def single_type_names(names: list[Hashable], library: str) -> list[Hashable] | np.ndarray:
    """Names as a column for a library whose columns have one type; integers as an exact array. InvalidValue for mixed
    types."""
    kinds = list(dict.fromkeys(map(type, names)))
    if len(kinds) > 1:
        other = next(name for name in names if type(name) is kinds[1])
        raise InvalidValue(
            f"labels: expected names of one type for a column of {library}, got {names[0]!r} and {other!r}. Hint: "
            "to_pandas accepts any; str() converts them to strings"
        )
    return _integers([name for name in names if isinstance(name, int)], "labels") if kinds == [int] else names


def collect_columns(table: Any, names: Iterable[str | None]) -> Any:
    """Collect these columns of a polars LazyFrame, or of a stream of Arrow batches; any other table is returned
    unchanged."""
    if validation.is_stream(table) and not _library(table):
        return _of_stream(table, names)
    if type(table).__name__ != "LazyFrame" or _library(table) != "polars":
        return table
    known = table.collect_schema().names()
    columns = list(dict.fromkeys(name for name in names if name is not None))
    for name in columns:
        _check_name(name, known)
    return table.select(columns).collect()


def _of_stream(table: Any, names: Iterable[str | None]) -> Any:
    """These columns of a stream as an Arrow table; the others of each batch are dropped."""
    kind = f"{type(table).__module__.partition('.')[0]}.{type(table).__qualname__}"
    pyarrow = extras.load("pyarrow", f"a table of {kind}")
    with pyarrow.RecordBatchReader.from_stream(table) as reader:
        known = reader.schema.names
        columns = list(dict.fromkeys(name for name in names if name is not None))
        for name in columns:
            _check_name(name, known)
            if known.count(name) > 1:
                raise InvalidValue(f"column {name!r}: expected one column of this name, got {known.count(name)}")
        places = [known.index(name) for name in columns]
        schema = pyarrow.schema([reader.schema.field(k) for k in places])
        return pyarrow.Table.from_batches([batch.select(places) for batch in reader], schema)


def arrow_stream(columns: Columns, requested_schema: object = None) -> Any:
    """Columns as a stream of Arrow batches, for `__arrow_c_stream__`. ImportError without pyarrow."""
    pyarrow = extras.load("pyarrow", "__arrow_c_stream__")
    return _single_typed_table(columns, "Arrow", pyarrow.table).__arrow_c_stream__(requested_schema)


def vertex_columns(table: Any, source: str, target: str, labels: bool | None) -> Ends:
    """Both ends of the edges. labels: True: integers are names too. InvalidValue for columns that are not vertices."""
    columns = [_column(_find(table, name), f"column {name!r}", VERTICES) for name in (source, target)]
    lengths = [len(column.data) for column in columns]
    if lengths[0] != lengths[1]:
        raise InvalidValue(
            f"columns {source!r} and {target!r}: expected as many rows in both, got {lengths[0]} and {lengths[1]}"
        )
    named = _numbered(columns)
    if named is not None:
        return named
    rows, cols = map(_array, columns)
    integers = all(part.dtype.kind in "iu" or _have_big_integers(part) for part in (rows, cols))
    if integers and not labels:
        return Ends(rows, cols, None)
    return _named_integers(rows, cols) if integers else _named(rows, cols, [column.called for column in columns])


def weights_of(table: Any, name: str, rows: int, *, rounded: bool = False) -> np.ndarray:
    """A column of numbers or Booleans; an array of objects if it contains texts. rounded: integers beyond 64 bits
    become floats. InvalidValue for other values, or a different number of rows."""
    try:
        found = _array(_column(_find(table, name), f"column {name!r}", WEIGHTS))
    except TooLarge as error:
        if not rounded:
            raise
        found = np.array(list(map(float, error.values)))
    if len(found) != rows:
        raise InvalidValue(f"column {name!r}: expected {rows} rows, as in the columns of vertices, got {len(found)}")
    return found


def numbers_of(values: list[object], called: str) -> np.ndarray:
    """An exact array of a list of numbers or Booleans. called: its name in errors. InvalidValue for other values."""
    found = _array(Column(values, called, WEIGHTS))
    text = next((k for k, value in enumerate(values) if isinstance(value, str)), None)
    if text is not None:
        raise InvalidValue(f"{called}: expected a number in every row, got {values[text]!r} in row {text}")
    return found


# ---- columns ----


def _check_name(name: str, known: Iterable[str]) -> None:
    if name not in (names := list(known)):
        raise InvalidValue(f"column {name!r}: expected one of {', '.join(map(repr, names))}")


def _find(table: Any, name: str) -> Any:
    """A column of a table by name. InvalidValue if there is none or more than one."""
    known = list(getattr(table, "column_names", getattr(table, "columns", table)))  # of Arrow; of others
    _check_name(name, known)
    if known.count(name) > 1:
        raise InvalidValue(f"column {name!r}: expected one column of this name, got {known.count(name)}")
    column = table[name]
    if not hasattr(column, "__len__") or isinstance(column, str | bytes) or getattr(column, "ndim", 1) == 0:
        raise InvalidValue(f"column {name!r}: expected a list or an array, got {column!r}")
    return column


def _library(column: object) -> str:
    """The library of a column: pandas, polars, pyarrow, numpy; "" for lists and others."""
    library = type(column).__module__.partition(".")[0]
    return library if library in _CASTS else ""


class Column(NamedTuple):
    """A column, its name in errors, its role, the library that reads it, and the library of the user's object."""

    data: Any
    called: str
    role: str
    library: str = ""
    origin: str = ""


def _column(data: Any, called: str, role: str) -> Column:
    """A column with the library that reads it: Arrow for pandas columns that are backed by Arrow."""
    library = origin = _library(data)
    if library == "pandas":
        import pandas

        if isinstance(data, pandas.Index):
            data = data.to_series()
        dtype = data.dtype
        arrow = isinstance(dtype, getattr(pandas, "ArrowDtype", ()))
        if arrow or (isinstance(dtype, pandas.StringDtype) and dtype.storage.startswith("pyarrow")):
            data, library = data.array.__arrow_array__(), "pyarrow"
    if library == "pyarrow":
        import pyarrow

        data = data if isinstance(data, pyarrow.ChunkedArray) else pyarrow.chunked_array([data])
        if pyarrow.types.is_run_end_encoded(data.type):
            import pyarrow.compute

            chunks = [pyarrow.compute.run_end_decode(chunk) for chunk in data.chunks]
            data = pyarrow.chunked_array(chunks, data.type.value_type)
    return Column(data, called, role, library, origin)


def _array(column: Column) -> np.ndarray:
    """The values of a column: integers, floats or Booleans, or strings as objects."""
    reader = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}.get(column.library, _of_numpy)
    found = reader(column)
    if found.ndim != 1:
        raise InvalidValue(f"{column.called}: expected one value in a row, got an array of shape {found.shape}")
    if column.role != VERTICES or not len(found) or found.dtype.kind not in "fb":
        return found
    missing = np.flatnonzero(found != found)  # NaN
    if len(missing):
        got = f"none in {len(missing)} rows, the first is row {missing[0]}"
    else:
        got = f"{found[0]!s} in row 0, in a column of {found.dtype}"
    raise InvalidValue(
        f"{column.called}: expected vertices in every row, integers or names, got {got}. Hint: drop rows without "
        "a value, then astype(int)"
    )


def _of_pandas(column: Column) -> np.ndarray:
    data, dtype = column.data, column.data.dtype
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return _of_numpy(column)
    _check_missing(data.isna().to_numpy(), column, lambda k: data.iloc[k])
    if hasattr(dtype, "categories") and hasattr(data, "cat"):
        data = data.cat.categories.to_series().iloc[data.cat.codes.to_numpy()]
        return _array(_column(data, column.called, column.role)._replace(origin="pandas"))
    if isinstance(getattr(dtype, "numpy_dtype", None), np.dtype):  # Int64, Float64, boolean
        return _of_numpy(column._replace(data=data.to_numpy(dtype=dtype.numpy_dtype)))
    if isinstance(getattr(dtype, "subtype", None), np.dtype) and hasattr(data, "sparse"):
        return _of_numpy(column._replace(data=data.sparse.to_dense()))
    if type(dtype).__name__ == "StringDtype" or dtype.kind == "O":
        return _of_values(data.tolist(), column)
    raise _type_error(column, str(dtype))


def _of_polars(column: Column) -> np.ndarray:
    import polars

    data, dtype = column.data, column.data.dtype
    if data.null_count():
        _check_missing(data.is_null().to_numpy(), column, lambda k: None)
    if dtype in (polars.String, polars.Categorical, polars.Enum):
        return _objects(data.cast(polars.String).to_list())
    if dtype.is_float() or dtype == polars.Boolean or str(dtype) in _INTEGERS:
        return _of_numpy(column._replace(data=data.to_numpy()))
    if dtype.is_integer() or dtype in (polars.Object, polars.Null):
        return _of_values(data.to_list(), column)
    raise _type_error(column, str(dtype))


_INTEGERS = {f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)}  # of polars, as in NumPy


def _of_arrow(column: Column) -> np.ndarray:
    import pyarrow

    data, types = column.data, pyarrow.types
    if types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    if data.null_count:
        _check_missing(data.is_null().to_numpy(), column, lambda k: None)
    kind = data.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return _of_numpy(column._replace(data=data.to_numpy()))
    if types.is_null(kind) or _is_text(kind):
        return _objects(data.to_pylist())
    raise _type_error(column, str(kind))


def _is_text(kind: Any, view: bool = True) -> bool:
    """Whether an Arrow type is a string type. view: string views too."""
    import pyarrow

    types = pyarrow.types
    is_view = getattr(types, "is_string_view", lambda kind: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or (view and is_view(kind)))


def _of_numpy(column: Column) -> np.ndarray:
    data = column.data
    if isinstance(data, list | tuple):
        return _of_values(list(data), column)
    missing = np.ma.getmaskarray(data) if isinstance(data, np.ma.MaskedArray) else None
    found = np.asarray(data.to_numpy() if hasattr(data, "to_numpy") else data)
    if found.ndim != 1:
        return found
    if missing is not None:
        _check_missing(missing, column, lambda k: None)
    kind = found.dtype.kind
    if kind in "biu" or (kind == "f" and found.itemsize <= 8):
        wide = np.dtype(np.float32) if found.dtype == np.float16 else found.dtype.newbyteorder("=")
        return found.astype(wide, copy=False)
    if kind in _TEXT:
        return _of_values(found.tolist(), column)
    raise _type_error(column, str(found.dtype))


def _objects(values: Sequence[object]) -> np.ndarray:
    """An object array of these values."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


# ---- objects of Python ----


def _of_values(values: list[Any], column: Column) -> np.ndarray:
    """Convert objects to the narrowest of int64, uint64 and float64 that is exact for all, or to strings. InvalidValue,
    with the row, for other objects and for numbers that fit no such type."""
    kinds = set(map(type, values))
    if all(issubclass(kind, str) for kind in kinds):
        plain = values if kinds <= {str} else list(map(str.__str__, values))  # NumPy's strings
        return _objects(plain) if kinds or column.role == VERTICES else np.zeros(0)
    sound: tuple[type, ...] = (int, np.integer)
    sound += (float, np.floating) if column.role == WEIGHTS else ()  # NaN is refused later
    if not all(issubclass(kind, sound) for kind in kinds):
        missing = np.fromiter(map(validation.is_missing, values), bool, len(values))
        _check_missing(missing, column, values.__getitem__)
    if any(issubclass(kind, str) for kind in kinds):
        if column.role == WEIGHTS:
            return _objects(values)
        texts = next(k for k, value in enumerate(values) if isinstance(value, str))
        other = next(k for k, value in enumerate(values) if not isinstance(value, str))
        raise InvalidValue(
            f"{column.called}: expected names (strings) in every row, or numbers in every row, got "
            f"{values[other]!r} in row {other} and {values[texts]!r} in row {texts}. Hint: str() makes names of numbers"
        )
    for k, value in _of_other_types(values, kinds, column.role):
        raise _type_error(column, f"{value!r} in row {k}", type(value).__name__)
    if len(kinds) == 1 and issubclass(next(iter(kinds)), np.generic):
        return _of_numpy(column._replace(data=np.array(values)))
    if kinds <= {bool, np.bool_}:
        return np.array(values, np.bool_)
    if not any(issubclass(kind, float | np.floating) for kind in kinds):
        return _integers(values, column.called, column.role)
    for k, value in enumerate(values if len(kinds) > 1 else ()):
        if isinstance(value, int | np.integer) and not _is_exact(int(value)):
            raise InvalidValue(
                f"{column.called}: expected integers that are exact in FP64, next to fractions, got {value!r} in row "
                f"{k}. Hint: float() rounds it; int() for all rows keeps it"
            )
    return np.array(values, np.float64)


def _is_exact(integer: int) -> bool:
    """Whether an integer is exact in FP64."""
    try:
        return float(integer) == integer
    except OverflowError:
        return False


def _of_other_types(values: list[Any], kinds: set[type], role: str) -> Iterator[tuple[int, object]]:
    """The rows whose values are not integers, and, for weights, not floats or Booleans either."""
    wide = (np.longdouble, np.clongdouble) if np.dtype(np.longdouble).itemsize > 8 else ()
    allowed: tuple[type, ...] = (int, np.integer)
    allowed += (float, np.floating, np.bool_) if role == WEIGHTS or len(kinds) == 1 else ()
    wrong = {kind for kind in kinds if not issubclass(kind, allowed) or issubclass(kind, wide)}
    if role == VERTICES and len(kinds) > 1:
        wrong |= {bool} & kinds
    return ((k, value) for k, value in enumerate(values if wrong else ()) if type(value) in wrong)


def _integers(values: list[int], called: str, role: str = WEIGHTS) -> np.ndarray:
    """Integers as int64, or uint64 if needed. If they fit neither: Python integers for vertices, which may be ids;
    InvalidValue with the row for weights."""
    for dtype in (np.int64, np.uint64):
        try:
            return np.array(values, dtype)
        except OverflowError:
            pass
    if role == VERTICES:
        return np.array(list(map(int, values)), object)
    top, low = max(values), min(values)
    k = values.index(top if top >= 1 << _BITS else low)
    also = f" and {top!r} in row {values.index(top)}" if top < 1 << _BITS and low >= -(1 << _BITS - 1) else ""
    got = f"got {values[k]!r} in row {k}{also}. Hint: dtype='FP64' rounds them"
    raise TooLarge(f"{called}: expected integers that fit INT64 or UINT64, {got}", values)


# ---- what is refused ----


def _check_missing(missing: np.ndarray, column: Column, value_of: Callable[[int], object]) -> None:
    """Raise InvalidValue if a row has no value."""
    if not missing.any():
        return
    k = int(missing.argmax())
    hint = ""
    if column.origin == "pandas" and str(column.data.dtype if column.library == "pandas" else "str") in _OF_NAMES:
        hint = ". Hint: pandas.read_csv reads names such as NA as missing, unless keep_default_na=False"
    raise InvalidValue(
        f"{column.called}: expected a value in every row, got {np.count_nonzero(missing)} rows without one, the first "
        f"is row {k} ({value_of(k)!r}){hint}"
    )


_OF_NAMES = ("object", "str", "string", "category")


def _type_error(column: Column, got: str, kind: str = "") -> InvalidValue:
    """The error for a column of an unsupported type, or, with the type of the object, for a row."""
    objects = ("str()", "float()", "time.timestamp() or date.toordinal()")
    if column.origin == "pandas":
        objects = (".astype(str)", ".astype(float)", "pandas.to_datetime(column).astype('int64')")
    text, real, whole = objects if kind else _CASTS.get(column.origin, objects)
    words = (kind or got).lower()
    if kind == "bytes":
        hint = f"{'.str' if column.origin == 'pandas' else 'bytes'}.decode('utf-8') converts them to strings"
    elif column.role == VERTICES:
        hint = f"{text} converts them to names"
    elif "complex" in words:
        hint = "abs() or .real converts them to numbers"
    elif any(word in words for word in _TIMES):
        hint = f"{whole} converts them to numbers"
    else:
        hint = f"{real} converts them to FP64, rounded"
    return InvalidValue(
        f"{column.called}: expected {column.role}, got {got if kind else f'values of type {got}'}. Hint: {hint}"
    )


# ---- names to numbers ----


def _numbered(columns: list[Column]) -> Ends | None:
    """Both columns numbered by the library of the table; None if one does not hold names, or lacks a value."""
    index: dict[str, int] = {}
    parts = []
    for column in columns:
        coded = _coded(column)
        if coded is None:
            return None
        number = np.fromiter((index.setdefault(text, len(index)) for text in coded.names), np.int64, len(coded.names))
        parts.append(number[coded.codes.astype(np.int64, copy=False)])
    texts = list(index)
    rows, cols, order, _ = _in_order(np.concatenate(parts))
    return Ends(rows, cols, tuple([texts[k] for k in order.tolist()]))


def _coded(column: Column) -> Coded | None:
    """A column of strings, string categories or dictionaries, numbered by its library, which is ten times faster than
    Python; None for others, or if a value is missing."""
    data = column.data
    if column.library == "pyarrow":
        import pyarrow

        kind = data.type.value_type if pyarrow.types.is_dictionary(data.type) else data.type
        if data.null_count or not _is_text(kind):
            return None
        if not _is_text(kind, view=False):
            data = data.cast(pyarrow.large_string())
        chunks = data.dictionary_encode().unify_dictionaries().chunks
        if any(chunk.dictionary.null_count for chunk in chunks):
            return None
        parts = [np.zeros(0, np.int64), *(chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks)]
        return Coded(np.concatenate(parts), chunks[0].dictionary.to_pylist() if chunks else [])
    if column.library == "polars":
        import polars

        if data.dtype not in (polars.String, polars.Categorical, polars.Enum) or data.null_count():
            return None
        data = data.cast(polars.Categorical) if data.dtype == polars.String else data
        _, first, codes = np.unique(data.to_physical().to_numpy(), return_index=True, return_inverse=True)
        return Coded(codes, data.gather(first).cast(polars.String).to_list())
    if column.library == "pandas":
        import pandas

        if not hasattr(data.dtype, "categories") and not pandas.api.types.is_string_dtype(data):
            return None
        codes, found = pandas.factorize(data)
        names = found.tolist()
        return Coded(codes, names) if codes.min(initial=0) == 0 and set(map(type, names)) <= {str} else None
    return None


def _have_big_integers(array: np.ndarray) -> bool:
    """Whether an array contains Python integers beyond 64 bits."""
    return array.dtype == object and len(array) > 0 and all(type(value) is int for value in array.tolist())


def _named_integers(rows: np.ndarray, cols: np.ndarray) -> Ends:
    """Integers as names."""
    plain = rows.dtype == cols.dtype  # otherwise NumPy may convert both to floats
    whole = np.concatenate([rows, cols] if plain else [rows.astype(object), cols.astype(object)])
    i, j, _, places = _in_order(np.unique(whole, return_inverse=True)[1])
    return Ends(i, j, tuple(whole[places].tolist()))


def _named(rows: np.ndarray, cols: np.ndarray, names: list[str]) -> Ends:
    """Number names in Python, for columns that no library numbers."""
    ends = [array.tolist() for array in (rows, cols)]
    for array, listed, called in zip((rows, cols), ends, names):
        row = next((k for k, value in enumerate(listed) if not isinstance(value, str)), None)
        if row is not None:
            raise InvalidValue(
                f"{called}: expected integers in both columns of vertices, or strings in both, got "
                f"{listed[row]!r} in row {row}, in a column of {array.dtype}. Hint: str() converts numbers to names"
            )
    index: dict[str, int] = {label: k for k, label in enumerate(dict.fromkeys(chain.from_iterable(zip(*ends))))}
    numbered = [np.fromiter(map(index.__getitem__, listed), np.int64, len(listed)) for listed in ends]
    return Ends(numbered[0], numbered[1], tuple(index))


def _in_order(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Renumber vertices by first appearance in the rows, from the codes of all sources followed by all targets. Returns
    the numbers of both ends, and for each number its code and the position where it first occurs."""
    edges = len(codes) // 2
    both = codes.reshape(2, edges).T.ravel()
    first = np.full(int(both.max(initial=0)) + 1, len(both))
    first[both[::-1]] = np.arange(len(both))[::-1]  # of several writes to one position, the last wins
    order = np.argsort(first)
    order = order[: np.count_nonzero(first < len(both))]
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(order))
    places = first[order]
    return number[codes[:edges]], number[codes[edges:]], order, places // 2 + places % 2 * edges
