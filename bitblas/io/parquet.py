"""Tables of edges in Parquet files, by pyarrow."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Hashable, Sequence
from typing import Any

from .. import extras
from ..exceptions import InvalidValue
from ..graph import Graph
from .files import created, name_of
from .tables import EDGES, from_table, to_arrow


def load() -> Any:
    """pyarrow.parquet. ImportError says what is missing."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f"Parquet files: pyarrow cannot be loaded ({error}); {extras.hint('arrow')}") from error
    return parquet


def read_parquet(
    path: Any, /, source: str = "source", target: str = "target", weight: str | None = "weight", *,
    directed: bool | None = None, **options: Any,
) -> Graph:  # fmt: skip
    """A Graph of the rows of a Parquet file, or of a folder of such files; columns not named are not read.

    source, target, weight, directed, options: as in `from_table`; a table without a column `weight` gives a pattern.
    Raises InvalidValue (with the file), OSError, ImportError without pyarrow.
    """
    parquet, name = load(), name_of(path)
    from pyarrow import ArrowInvalid

    if not isinstance(path, (str, os.PathLike)) and not path.seekable():
        path = io.BytesIO(path.read())
    if isinstance(path, (str, os.PathLike)) and not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    try:
        found = parquet.ParquetDataset(path)
        known = found.schema.names
        if weight == EDGES[2] and weight not in known:
            weight = None
        table = found.read(columns=[column for column in (source, target, weight) if column in known])
    except ArrowInvalid as error:
        raise InvalidValue(f"{name}: expected a Parquet file: {error}") from None
    try:
        return from_table(table, source, target, weight, directed=directed, **options)
    except InvalidValue as error:
        raise InvalidValue(f"{name}: {error}") from None


def write_parquet(target: Any, A: Any, *, labels: Sequence[Hashable] | None = None) -> None:
    """Write a Matrix as a table of three columns, source, target and weight. labels: names for the vertices.

    Raises InvalidValue for labels that do not fit, ImportError without pyarrow.
    """
    parquet, table = load(), to_arrow(A, labels)
    with created(target) as stream:
        parquet.write_table(table, stream)
