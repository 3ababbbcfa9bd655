"""Read edge tables from Parquet files in shares: every rank reads the same number of rows, from the row groups that
contain them."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..core.convert import check_size
from ..exceptions import InvalidValue
from ..io.parquet import load
from ..io.weights import joined
from .start import current

Ends = tuple[Any, Any, Any]


def files_of(source: Any) -> list[Path]:
    """The file, or the files of a folder sorted by name."""
    path = Path(source)
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def is_table(source: Any) -> bool:
    """Whether the path is a Parquet file, or a folder that contains some."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = Path(source)
    return any(path.glob("*.parquet")) if path.is_dir() else path.suffix.lower() == ".parquet"


def read_rows(
    source: Any, share: bool, names: tuple[str, str, str | None], size: int | None
) -> tuple[Ends, int]:  # fmt: skip
    """Rows, columns and values (None without a weight) of this rank's share of the edges, or of all edges, and the
    number of vertices. names: the columns of the two ends and of the weight."""
    columns = [name for name in names if name is not None]
    i, j, x = current().all_or_none("read", lambda: _read(source, share, columns, size))
    if size is None:
        highest = max((int(ends.max()) for ends in (i, j) if len(ends)), default=-1)
        size = int(current().allreduce(np.array([highest + 1]), np.maximum)[0])
    return (i, j, x), check_size("size", size)


def _read(source: Any, share: bool, columns: list[str], size: int | None) -> Ends:
    parquet, group, files = load(), current(), files_of(source)
    opened = [_opened(parquet, file, columns) for file in files]
    groups = [(file, k) for file in opened for k in range(file.metadata.num_row_groups)]
    ends = np.cumsum([0, *(file.metadata.row_group(k).num_rows for file, k in groups)]).tolist()
    rank, ranks = (group.rank, group.size) if share else (0, 1)
    low, high = (ends[-1] * k // ranks for k in (rank, rank + 1))
    pieces: list[list[np.ndarray]] = []
    for (file, k), (begin, end) in zip(groups, pairwise(ends)):
        if begin < high and end > low:
            first = max(low, begin)
            table = file.read_row_group(k, columns=columns).slice(first - begin, min(high, end) - first)
            pieces.append([_array(source, table[name], name, first) for name in columns])
    arrays = [joined(f"{source}: column {name!r}", list(parts)) for name, parts in zip(columns, zip(*pieces))]
    arrays = arrays or _empty(opened[0], columns)
    for name, array in zip(columns, arrays[:2]):
        bad = array[(array < 0) | (array >= (np.iinfo(np.int64).max if size is None else size))]
        if len(bad):
            last = "" if size is None else f" to {size - 1}"
            raise InvalidValue(f"{source}: column {name!r}: expected vertices from 0{last}, got {bad[0]}")
    i, j = (array.astype(np.int64, copy=False) for array in arrays[:2])
    return i, j, arrays[2] if len(arrays) > 2 else None


def _opened(parquet: Any, path: Path, columns: list[str]) -> Any:
    """Open the file. InvalidValue if it is not a Parquet file, or lacks such numeric columns."""
    from pyarrow import ArrowInvalid, types

    try:
        file = parquet.ParquetFile(path)
    except ArrowInvalid as error:
        raise InvalidValue(f"{path}: expected a Parquet file: {error}") from None
    schema = file.schema_arrow
    for k, name in enumerate(columns):
        if name not in schema.names:
            known = ", ".join(map(repr, schema.names))
            raise InvalidValue(f"{path}: column {name!r}: expected one of {known}")
        kind = schema.field(name).type
        if not types.is_integer(kind) and not (k > 1 and (types.is_floating(kind) or types.is_boolean(kind))):
            what = "integers (names cannot be numbered when reading in shares)" if k < 2 else "numbers"
            raise InvalidValue(f"{path}: column {name!r}: expected {what}, got {kind}")
    return file


def _array(source: Any, column: Any, name: str, first: int) -> np.ndarray:
    """The numbers of a column; `first` is its first row."""
    if column.null_count:
        row = first + int(column.is_null().to_numpy().argmax())
        raise InvalidValue(
            f"{source}: column {name!r}: expected a value in every row, got {column.null_count} empty rows, "
            f"first: row {row}"
        )
    return _wide(column.to_numpy())


def _wide(values: np.ndarray) -> np.ndarray:
    """Convert half floats to FP32, which is exact; others are returned unchanged."""
    return values.astype(np.float32) if values.dtype == np.float16 else values


def _empty(file: Any, columns: list[str]) -> list[np.ndarray]:
    """Arrays of no rows: for a rank without rows, or an empty table."""
    return [_wide(np.zeros(0, file.schema_arrow.field(name).type.to_pandas_dtype())) for name in columns]
