"""Read and write edge tables in Parquet files, through pyarrow."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Hashable, Iterable, Sequence
from types import ModuleType
from typing import Any

from .. import extras
from ..exceptions import InvalidValue
from ..graph import Graph, validation
from .edgelist_columns import check_columns
from .files import Input, Output, created, name_of
from .tables import EDGES, Entries, graph_of_columns, to_arrow

_KEY = b"bitblas.directed"  # metadata key of the table, and its values
_STATED = {b"true": True, b"false": False}


def load() -> ModuleType:
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
    parquet, name, chosen = load(), name_of(path), check_columns(columns)
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
            source, target, weight = _chosen(name, chosen, known)
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


def _chosen(name: str, columns: Sequence[str | int], known: list[str]) -> tuple[str, str, str | None]:
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
    parquet, table = load(), to_arrow(A, labels)
    if validation.flag("directed", directed) is not None:
        text = b"true" if directed else b"false"
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: text})
    with created(target) as stream:
        parquet.write_table(table, stream)
