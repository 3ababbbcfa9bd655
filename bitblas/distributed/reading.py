"""Read files in shares: each rank reads a byte range of a text file, or the same number of rows of Parquet files.

A byte range goes from the start of a line to the end of one; rows come from the row groups that contain them.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .. import io, tuning
from ..core.convert import check_size
from ..exceptions import InvalidValue
from ..io.build import (
    Entries,
    check_overflow,
    check_values_fit,
    may_overflow,
    operator_name,
    results_fit,
    smaller_operator,
    sum_of_magnitudes,
    wide_type,
    with_reverse_edges,
)
from ..io.edgelist_parser import EdgeListOptions, Reader, delimiter_of
from ..io.files import Bytes, Source, open_input
from ..io.graphs import check_numbering
from ..io.tables import load_parquet, vertex_columns, weights_of
from ..io.weights import (
    WeightType,
    check_decimal,
    integral_as_int64,
    is_rounded,
    is_whole,
)
from .exchange import maximum_of_ranks
from .matrix import LayoutOptions, Matrix
from .start import current

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..core.typing import DTypeArg, OperatorArg

Input = str | os.PathLike[str] | IO[bytes]


class BuildOptions(LayoutOptions, total=False):
    """Options of `Matrix.from_coo`."""

    dup_op: OperatorArg
    dtype: DTypeArg
    name: str | None
    share: bool  # whether each rank has read another part


# ---- Read edge tables from Parquet files in shares: every rank reads the same number of rows, from the row groups
# that contain them.


def is_table(source: str | os.PathLike[str]) -> bool:
    """Whether the path is a Parquet file, or a folder that contains some."""
    path = Path(source)
    return any(path.glob("*.parquet")) if path.is_dir() else path.suffix.lower() == ".parquet"


def _read_parquet(source: str | os.PathLike[str], share: bool, columns: list[str], size: int | None) -> Entries:
    """Rows, columns and values (None without a weight) of this rank's share of the edges, or of all edges. columns: the
    names of the two ends, and of the weight."""
    parquet, group, path = load_parquet(), current(), Path(source)
    from pyarrow import ArrowInvalid, concat_tables

    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    try:
        opened = [parquet.ParquetFile(file) for file in files]
    except ArrowInvalid as error:
        raise InvalidValue(f"{source}: expected a Parquet file: {error}") from None
    groups = [(file, k) for file in opened for k in range(file.metadata.num_row_groups)]
    ends = np.cumsum([0, *(file.metadata.row_group(k).num_rows for file, k in groups)]).tolist()
    rank, ranks = (group.rank, group.size) if share else (0, 1)
    low, high = (ends[-1] * k // ranks for k in (rank, rank + 1))
    tables = [opened[0].schema_arrow.empty_table()]
    for (file, k), (begin, end) in zip(groups, pairwise(ends)):
        if begin < high and end > low:
            first = max(low, begin)
            tables.append(file.read_row_group(k, columns=columns).slice(first - begin, min(high, end) - first))
    table = concat_tables([table.select([c for c in columns if c in table.column_names]) for table in tables])
    try:
        i, j, names = vertex_columns(table, columns[0], columns[1], False)
        x = weights_of(table, columns[2], len(i)) if len(columns) > 2 else None
    except InvalidValue as error:
        raise InvalidValue(f"{source}: {error}; rows are counted from row {low}") from None
    if names is not None:
        raise InvalidValue(
            f"{source}: expected integers as vertices, because ranks cannot number names, got {names[0]!r}"
        )
    for name, array in zip(columns, (i, j)):
        bad = array[(array < 0) | (array >= (np.iinfo(np.int64).max if size is None else size))]
        if len(bad):
            last = "" if size is None else f" to {size - 1}"
            raise InvalidValue(f"{source}: column {name!r}: expected vertices from 0{last}, got {bad[0]}")
    return i.astype(np.int64, copy=False), j.astype(np.int64, copy=False), x


# ---- Read text files in shares: each rank reads a byte range, from the start of a line to the end of one.


class Part(Source):
    """A file whose `blocks` yields this rank's range of the rest of the file."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.stream, source.raw, source.name, False)
        self.lines = source.lines

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        group, file = current(), self.stream
        size = size or tuning.count("file.chunked_block")

        def find_range() -> int:
            begin, end = file.tell(), os.fstat(file.fileno()).st_size
            cuts = [_line_after(file, begin + k * (end - begin) // group.size, begin) for k in range(group.size)]
            self.range = (*cuts, end)[group.rank : group.rank + 2]
            return sum(block.count(b"\n") for block in self._range(size))

        newlines = group.all_or_none("read", find_range)
        self.lines += int(group.gather_host(np.array([newlines]))[: group.rank, 0].sum())
        return self._range(size)

    def _range(self, size: int) -> Iterator[bytes]:
        """Blocks of whole lines, of about `size` bytes."""
        at, end = self.range
        while at < end:
            self.stream.seek(at)
            data = self.stream.read(min(size, end - at))
            if at + len(data) < end:
                data += self.stream.readline()
            yield data
            at += len(data)


def _line_after(file: Bytes, position: int, begin: int) -> int:
    """The position of the first line that begins at `position` or later."""
    if position <= begin:
        return begin
    file.seek(position - 1)
    file.readline()
    return file.tell()


def read(path: Input, /, *, share: bool = True, file_format: str | None = None, **options: Any) -> Matrix:
    """Read a distributed Matrix from a file.

    share: each rank reads a byte range of a numeric edge list, and entries are sent to the owners of their rows; a
    folder written by `Matrix.save` is loaded. Compressed files (.gz) have no ranges: one rank reads them. From a
    Parquet file, or a folder of them, each rank reads the same number of rows, whatever the row groups; options:
    `source`, `target`, `weight`, `size`, `directed`, `dup_op`, `dtype`, as of `bitblas.io.from_table`. Without share,
    for other kinds of files, and of Matrix Market files, every rank reads the whole file and keeps its rows.
    options: those of `bitblas.io.read`.

    Raises OSError, InvalidValue (with file and line), DistributedError.
    """
    if isinstance(path, (str, os.PathLike)) and (file_format == "parquet" or (file_format is None and is_table(path))):
        return _table(path, share=share, **options)
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        return Matrix.load(path, **options)
    kind = io.file_format_of(path, file_format) if share else "mtx"
    if kind == "mtx":
        group = current()
        # no warning, because a Matrix has no direction
        options = {"directed": True, "device": group.device.name} | options
        whole = lambda: io.read(path, file_format, **options).matrix
        return Matrix.from_matrix(group.all_or_none("read", whole, alike=True))
    if kind in ("tsv", "csv", "edges"):
        return _edges(path, **({"delimiter": {"tsv": "\t", "csv": ","}.get(kind)} | options))
    raise InvalidValue(f"{path}: expected a text file, got format {kind}; pass share=False to read it on every rank")


def _table(
    path: str | os.PathLike[str],
    *,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    size: int | None = None,
    directed: bool | None = None,
    **how: Unpack[BuildOptions],
) -> Matrix:
    columns = [name for name in (source, target, weight) if name is not None]
    i, j, x = current().all_or_none("read", lambda: _read_parquet(path, how["share"], columns, size))
    if size is None:
        size = maximum_of_ranks(1 + max((int(ends.max()) for ends in (i, j) if len(ends)), default=-1))
    return _build_edges(path, [(i, j, x)], directed, check_size("size", size), how)


def _edges(
    source: Input,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    weights: bool | None = None,
    base: int | None = None,
    directed: bool | None = None,
    size: int | None = None,
    **how: Unpack[BuildOptions],
) -> Matrix:
    group, dtype = current(), how.get("dtype")
    options = EdgeListOptions(
        delimiter_of(source, delimiter),
        header,
        None,
        weights,
        decimal=check_decimal(decimal),
        rounded=is_rounded(dtype),
        whole=is_whole(dtype),
    )

    def probe_layout() -> tuple[Reader, bool]:
        with open_input(source, False) as stream:
            probe = Reader(stream.name, options, base or 0, size)
            for block in stream.blocks(tuning.count("file.chunked_block")):
                probe.feed(block)
                if probe.layout.columns:
                    break
            return probe, stream.stream is not stream.raw

    probe, packed = group.all_or_none("read", probe_layout, alike=True)
    if probe.layout.labels:
        raise InvalidValue(f"{source}: expected vertex numbers to read in shares, got names")
    first = group.rank == 0
    reader = Reader(probe.name, options if first else dataclasses.replace(probe.layout, header=False), base or 0, size)
    with open_input(source, False) as stream:
        part = stream if packed else Part(stream)
        blocks = part.blocks(tuning.count("file.chunked_block")) if first or not packed else iter(())
        reader.lines = part.lines

        def parse_blocks() -> list[Entries]:
            for block in blocks:
                reader.feed(block)
            return list(reader.take_parts())

        found = group.all_or_none("read", parse_blocks)
    n = maximum_of_ranks(reader.highest + 1) if size is None else check_size("size", size)
    if size is None and base is None:
        lowest = int(group.allreduce(np.array([reader.lowest]), np.minimum)[0])
        if first:
            check_numbering(probe.name, n, lowest, lambda: n, base_given=False)
    none = np.zeros(0, np.int64)
    found = found or [(none, none, none if probe.layout.weights else None)]
    return _build_edges(source, found, directed, n, how, reader.weights)


def _build_edges(
    source: Input,
    found: list[Entries],
    directed: bool | None,
    n: int,
    how: BuildOptions,
    weights: WeightType | None = None,
) -> Matrix:
    """The Matrix of the edges that this rank has read. directed: with False each edge counts in both directions; of two
    different values the smaller is kept, or they are combined by dup_op, as in `bitblas.io.read_edgelist`."""
    if directed is not False:
        return _build_matrix(source, found, n, how, weights)
    both = [with_reverse_edges(part) for part in found]
    if found[0][2] is None or how.get("dup_op") is not None:
        return _build_matrix(source, both, n, how, weights)
    one_way = _build_matrix(source, found, n, how, weights)  # refuses edges that are there twice
    return _build_matrix(source, both, n, {**how, "dup_op": smaller_operator(one_way.dtype)}, weights)


def _build_matrix(
    source: Input, chunks: list[Entries], n: int, how: BuildOptions, weights: WeightType | None = None
) -> Matrix:
    """The Matrix of what this rank has read. weights: their range, if some were rounded that must not be."""
    dup_op, dtype = how.get("dup_op"), how.get("dtype")
    rows, cols = (np.concatenate([chunk[k] for chunk in chunks]) for k in (0, 1))
    how = {"share": True, **how}
    parts = [chunk[2] for chunk in chunks if chunk[2] is not None]
    if not parts:
        how["dup_op"] = None
        return Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, **how)
    values = _as_one_type(source, parts, dtype, weights)
    if may_overflow(dup_op, values.dtype) and dtype is None:
        values = values.astype(wide_type(values.dtype))
    made = Matrix.from_coo(rows, cols, values, nrows=n, ncols=n, **how)
    if values.dtype.kind == "f" or not may_overflow(dup_op, made.dtype.np_type):
        return made
    # Whether sums have wrapped depends on the values of all ranks.
    total = float(current().allreduce(np.array([sum_of_magnitudes(values)]))[0])
    if not results_fit(dup_op, total, made.dtype.np_type):
        wide: BuildOptions = {"dup_op": operator_name(dup_op), "share": how["share"]}
        floats = Matrix.from_coo(rows, cols, values.astype(np.float64), nrows=n, ncols=n, **wide)
        current().all_or_none("read", lambda: check_overflow("weights", dup_op, made._part, floats._part))
    return made


def _as_one_type(source: Input, parts: list[np.ndarray], dtype: DTypeArg, weights: WeightType | None) -> np.ndarray:
    """The weights that this rank has read, in a type that holds those of all ranks. InvalidValue on every rank if there
    is no such type, or `dtype` does not hold them."""
    if weights is None:
        weights = WeightType(is_rounded(dtype), is_whole(dtype))
        for part in parts:
            weights.add(part, real=part.dtype.kind == "f")
    if is_whole(dtype):
        parts = list(map(integral_as_int64, parts))
    mine = weights.real, weights.low, weights.high, weights.beyond, np.result_type(*parts).char
    reals, lows, highs, beyond, chars = zip(*map(json.loads, current().texts(json.dumps(mine))))
    weights.real, weights.low, weights.high = any(reals), min(lows), max(highs)
    weights.beyond = next(filter(None, beyond), "")
    weights.check(str(source))
    kind = np.result_type(*chars)
    if weights.mixed or "d" in chars:
        kind = np.dtype(np.float64)
    elif "L" in chars:  # UINT64
        kind = np.dtype(np.int64 if weights.low < 0 else np.uint64)
    values = np.concatenate([part.astype(kind, copy=False) for part in parts])
    if dtype is not None:
        current().all_or_none("read", lambda: check_values_fit(str(source), values, dtype))
    return values
