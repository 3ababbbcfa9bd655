"""Read files in shares: each rank reads a byte range of a text file, or the same number of rows of Parquet files.

A byte range goes from the start of a line to the end of one; rows come from the row groups that contain them.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from .. import io, tuning
from ..core.convert import check_size
from ..exceptions import InvalidValue
from ..io.build import check_held, check_overflow, fits, grows, mirrored, name_of, smaller_operator, total_of, wide_type
from ..io.chunks import MatrixMarketChunks
from ..io.edgelist_parser import EdgeListOptions, Reader, delimiter_of
from ..io.files import Source, opened
from ..io.graphs import check_numbering
from ..io.matrixmarket_parser import read_header
from ..io.parquet import load
from ..io.weights import ROUNDED, WeightType, check_decimal, integral_as_int64, is_rounded, is_whole, joined
from .group import CONFIRM
from .matrix import Matrix
from .start import current

# ---- Read edge tables from Parquet files in shares: every rank reads the same number of rows, from the row groups
# that contain them.

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


def read_rows(source: Any, share: bool, names: tuple[str, str, str | None], size: int | None) -> tuple[Ends, int]:
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


# ---- Read text files in shares: each rank reads a byte range, from the start of a line to the end of one.


class Part(Source):
    """A file whose `blocks` yields this rank's range of the rest of the file."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.stream, source.raw, source.name, False)
        self.lines = source.lines
        self.met = False  # whether all ranks have determined their ranges

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        group, file = current(), self.stream
        size = size or tuning.count("file.chunked_block")

        def ranged() -> int:
            begin, end = file.tell(), os.fstat(file.fileno()).st_size
            cuts = [_line_after(file, begin + k * (end - begin) // group.size, begin) for k in range(group.size)]
            self.range = (*cuts, end)[group.rank : group.rank + 2]
            return sum(block.count(b"\n") for block in self._range(size))

        newlines = group.all_or_none("read", ranged)
        self.lines += int(group.told(np.array([newlines]))[: group.rank, 0].sum())
        self.met = True
        return self._whole_lines(size)

    def _range(self, size: int) -> Iterator[bytes]:
        at, end = self.range
        while at < end:
            self.stream.seek(at)
            data = self.stream.read(min(size, end - at))
            yield data
            at += len(data)

    def _whole_lines(self, size: int) -> Iterator[bytes]:
        rest = b""
        for data in self._range(size):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield rest + data[:cut]
            rest = data[cut:] if cut else rest + data
        if rest:
            yield rest


def _line_after(file: Any, position: int, begin: int) -> int:
    """The position of the first line that begins at `position` or later."""
    if position <= begin:
        return begin
    file.seek(position - 1)
    file.readline()
    return int(file.tell())


class MarketPart(MatrixMarketChunks):
    """This rank's entries of a Matrix Market file."""

    part: Part | None = None
    compared = False  # whether all ranks have counted their entries

    def entries(self, stream: Source) -> Iterator[Any]:
        self.part = Part(stream)
        return super().entries(self.part)

    def counted(self, seen: int) -> int:
        numbers = current().told(np.array([seen]), CONFIRM)
        self.compared = True
        current().raise_remote_failures("read", numbers[:, 0])
        return int(numbers.sum())

    def all(self) -> list[Any]:
        """This rank's entries; DistributedError if another rank fails before it has counted its own."""
        try:
            return list(self)
        except Exception as error:
            if self.part is not None and self.part.met and not self.compared:
                current().confirm("read", error)
            raise


def read(path: Any, /, *, share: bool = True, file_format: str | None = None, **options: Any) -> Matrix:
    """Read a distributed Matrix from a file.

    share: each rank reads a byte range of a Matrix Market file of coordinates or of a numeric edge list, and entries
    are sent to the owners of their rows; a folder written by `Matrix.save` is loaded. Compressed files (.gz) have no
    ranges: one rank reads them. From a Parquet file, or a folder of them, each rank reads the same number of rows,
    whatever the row groups; options: `source`, `target`, `weight`, `size`, `directed`, `dup_op`, `dtype`, as of
    `bitblas.io.from_table`. Without share every rank reads the whole file and keeps its rows, for other kinds of files.
    options: those of `bitblas.io.read`.

    Raises OSError, InvalidValue (with file and line), DistributedError.
    """
    if file_format == "parquet" or (file_format is None and is_table(path)):
        return _table(path, share, **options)
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        loaded: Matrix = Matrix.load(path, **options)
        return loaded
    if not share:
        group = current()
        # no warning, because a Matrix has no direction
        options = {"directed": True, "device": group.device.name} | options
        whole = lambda: io.read(path, file_format, **options).matrix
        return Matrix.from_matrix(group.all_or_none("read", whole, alike=True))
    kind = io.file_format_of(path, file_format)
    if kind == "mtx":
        return _market(path, **options)
    if kind in ("tsv", "csv", "edges"):
        return _edges(path, **({"delimiter": {"tsv": "\t", "csv": ","}.get(kind)} | options))
    raise InvalidValue(f"{path}: expected a text file, got format {kind}; pass share=False to read it on every rank")


def _table(
    path: Any,
    share: bool,
    *,
    dup_op: Any = None,
    dtype: Any = None,
    name: str | None = None,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    size: int | None = None,
    directed: bool | None = None,
    **layout: Any,
) -> Matrix:
    ends, n = read_rows(path, share, (source, target, weight), size)
    return _edges_of(path, [ends], directed, n, dup_op, dtype, name, layout, share=share)


def _market(source: Any, *, dup_op: Any = None, dtype: Any = None, name: str | None = None, **layout: Any) -> Matrix:
    group = current()

    def headed() -> Any:
        with opened(source, False) as stream:
            return read_header(stream), stream.stream is not stream.raw

    head, packed = group.all_or_none("read", headed, alike=True)
    if head.layout != "coordinate" or head.field == "complex":
        raise InvalidValue(f"{source}: expected coordinates of real numbers; pass share=False to read it on every rank")
    how, none = (source, head, False, is_rounded(dtype)), np.zeros(0, np.int64)
    if packed:
        made = (MatrixMarketChunks if group.rank == 0 else _Nothing)(*how)
        found = group.all_or_none("read", lambda: list(made))
    else:
        found = MarketPart(*how).all()
    if head.field == "pattern":
        found = [(none, none), *found]
    return _built(source, found, head.field == "pattern", head.nrows, head.ncols, dup_op, dtype, name, layout)


class _Nothing(MatrixMarketChunks):
    """The empty part of the other ranks if one rank reads the whole file."""

    def entries(self, stream: Source) -> Iterator[Any]:
        none = np.zeros(0, np.int64)
        yield none, none, None if self.head.field == "pattern" else none


def _edges(
    source: Any,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    weights: bool | None = None,
    base: int | None = None,
    directed: bool | None = None,
    size: int | None = None,
    dup_op: Any = None,
    dtype: Any = None,
    name: str | None = None,
    **layout: Any,
) -> Matrix:
    asked = EdgeListOptions(
        delimiter_of(source, delimiter),
        header,
        None,
        weights,
        decimal=check_decimal(decimal),
        rounded=is_rounded(dtype),
        whole=is_whole(dtype),
    )
    group = current()

    def probed() -> Any:
        with opened(source, False) as stream:
            probe = Reader(stream.name, asked, base or 0, size)
            for block in stream.blocks(tuning.count("file.chunked_block")):
                probe.feed(block)
                if probe.layout.columns:
                    break
            return probe, stream.stream is not stream.raw

    probe, packed = group.all_or_none("read", probed, alike=True)
    if probe.layout.labels:
        raise InvalidValue(f"{source}: expected vertex numbers to read in shares, got names")
    first = group.rank == 0
    reader = Reader(probe.name, asked if first else dataclasses.replace(probe.layout, header=False), base or 0, size)
    with opened(source, False) as stream:
        part = stream if packed else Part(stream)
        blocks = part.blocks(tuning.count("file.chunked_block")) if first or not packed else iter(())
        reader.lines = part.lines

        def fed() -> list[Any]:
            for block in blocks:
                reader.feed(block)
            return list(reader.taken())

        found = group.all_or_none("read", fed)
    n = (
        int(group.allreduce(np.array([reader.highest + 1]), np.maximum)[0])
        if size is None
        else check_size("size", size)
    )
    if size is None and base is None:
        lowest = int(group.allreduce(np.array([reader.lowest]), np.minimum)[0])
        if first:
            check_numbering(probe.name, n, lowest, lambda: n, base_given=False)
    none = np.zeros(0, np.int64)
    found = found or [(none, none, none if probe.layout.weights else None)]
    return _edges_of(source, found, directed, n, dup_op, dtype, name, layout, seen=reader.weights)


def _edges_of(
    source: Any,
    found: list[Any],
    directed: bool | None,
    n: int,
    dup_op: Any,
    dtype: Any,
    name: str | None,
    layout: dict[str, Any],
    *,
    share: bool = True,
    seen: WeightType | None = None,
) -> Matrix:
    """The Matrix of the edges that this rank has read. directed: with False each edge counts in both directions; of two
    different values the smaller is kept, or they are combined by dup_op, as in `bitblas.io.read_edgelist`."""
    pattern = found[0][2] is None
    lessers = directed is False and not pattern and dup_op is None
    if directed is False and not lessers:
        found = [mirrored(*part) for part in found]
    how = {"dup_op": dup_op, "dtype": dtype, "name": name, "share": share}
    made = _built(
        source, [part[:2] if pattern else part for part in found], pattern, n, n, **how, layout=layout, seen=seen
    )
    if not lessers:
        return made
    both: Matrix = made.ewise_add(made.T, smaller_operator(made.dtype)).new(name=name)
    if not layout:
        return both
    i, j, x = both._part.to_coo()
    return _built(
        source, [(i + both.shares.low, j, x)], False, n, n, **(how | {"dup_op": None, "share": True}), layout=layout
    )


def _built(
    source: Any,
    chunks: list[Any],
    pattern: bool,
    nrows: int,
    ncols: int,
    dup_op: Any,
    dtype: Any,
    name: str | None,
    layout: Any,
    share: bool = True,
    seen: WeightType | None = None,
) -> Matrix:
    """The Matrix of what this rank has read. seen: the range of its weights, if some were rounded that must not be."""
    rows, cols = (np.concatenate([chunk[k] for chunk in chunks]) for k in (0, 1))
    how: dict[str, Any] = {"nrows": nrows, "ncols": ncols, "share": share}
    if pattern:
        return cast(Matrix, Matrix.from_coo(rows, cols, True, dtype, dup_op=None, name=name, **how, **layout))
    values = _as_one_type(source, [chunk[2] for chunk in chunks], dtype, seen)
    if grows(dup_op, values.dtype) and dtype is None:
        values = values.astype(wide_type(values.dtype))
    made: Matrix = Matrix.from_coo(rows, cols, values, dtype, dup_op=dup_op, name=name, **how, **layout)
    held = made.dtype.np_type
    if values.dtype.kind == "f" or not grows(dup_op, held):
        return made
    # Whether sums have wrapped depends on the values of all ranks.
    total = float(current().allreduce(np.array([total_of(values)]))[0])
    if not fits(dup_op, total, held):
        floats = Matrix.from_coo(rows, cols, values.astype(np.float64), dup_op=name_of(dup_op), **how)
        current().all_or_none("read", lambda: check_overflow("weights", dup_op, made._part, floats._part))
    return made


def _as_one_type(source: Any, parts: list[np.ndarray], dtype: Any, seen: WeightType | None) -> np.ndarray:
    """The weights that this rank has read, in a type that holds those of all ranks. InvalidValue on every rank if there
    is no such type, or `dtype` does not hold them."""
    if seen is None:
        seen = WeightType(is_rounded(dtype), is_whole(dtype))
        for part in parts:
            seen.add(part, real=part.dtype.kind == "f")
    if is_whole(dtype):
        parts = list(map(integral_as_int64, parts))
    unsigned = any(part.dtype == np.uint64 for part in parts)
    floats = any(part.dtype.kind == "f" for part in parts)
    kinds = [seen.real, seen.low < 0, seen.high >= 1 << 63, seen.mixed, unsigned, floats]
    told = current().told(np.array([*kinds, ord(np.result_type(*parts).char)])).reshape(-1, len(kinds) + 1)
    found: list[bool] = np.any(told[:, :-1], axis=0).tolist()
    real, negative, large, mixed, unsigned, floats = found
    mixed |= negative and large
    if mixed and not seen.rounded and (seen.whole or not real):
        seen.check(str(source))
        expected = "expected weights from -2^63 to 2^63 - 1, or from 0 to 2^64 - 1, got both"
        raise InvalidValue(f"{source}: {expected}. {ROUNDED}")
    kind = np.result_type(*map(chr, told[:, -1].tolist()))
    if floats or mixed:
        kind = np.dtype(np.float64)
    elif unsigned:
        kind = np.dtype(np.int64 if negative else np.uint64)
    values = np.concatenate([part.astype(kind, copy=False) for part in parts])
    if dtype is not None:
        current().all_or_none("read", lambda: check_held(str(source), values, dtype))
    return values
