"""Chunked reading of files larger than memory: two passes, block by block, into `Matrix.from_chunks`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from semirings.dtypes import FP64, INT64

from .. import device as devices
from .. import tuning
from ..core import Matrix
from ..exceptions import InvalidValue, OutOfMemory
from ..graph.edges import both_ways
from ..typing import DTypeLike
from .build import (
    DUP_OP_HINT,
    MatrixOptions,
    cast_to,
    check_dup_op,
    check_held,
    check_overflow,
    fits,
    grows,
    mirrored,
    name_of,
    repeated,
    total_of,
    warn_conflicting_directions,
)
from .edgelist_columns import Columns
from .edgelist_parser import EdgeListOptions, Reader, fed
from .files import Input, Source, line_of, opened
from .graphs import has_conflicting_directions
from .labels import Names
from .matrixmarket_parser import UNSIGNED, Header, has_minimum, read_header

Entries: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray | None]  # rows, columns from 0, values (None: a pattern)


def in_chunks(source: Input, chunked: bool | None, needed: Callable[[], int]) -> bool:
    """Whether to read a file in chunks: as requested, otherwise if reading it at once would not fit in memory."""
    if isinstance(source, (str, os.PathLike)):
        return bool(devices.get("cpu").missing(needed())) if chunked is None else chunked
    if chunked:
        raise InvalidValue("chunked: expected a path because the file is read twice, got an open file")
    return False


def text_bytes(source: Input) -> int:
    """Estimated bytes to read an edge list at once."""
    with opened(source, False) as stream:
        packed = tuning.count("file.packed_ratio") if stream.stream is not stream.raw else 1
        return tuning.count("edgelist.memory") * packed * (stream.size or 0)


class FileChunks(ABC):
    """The entries of a file, as a repeatable iterable. The first pass sets `shape` and `value_dtype`, the type of all
    values. dtype: of the resulting Matrix, which must hold all values; None: `value_dtype`."""

    def __init__(self, source: Input, progress: bool | None) -> None:
        assert isinstance(source, (str, os.PathLike))  # only paths are read in chunks
        self.source, self.progress, self.name = source, progress, os.fspath(source)
        self.shape: tuple[int, ...] = ()
        self.entries_read, self.total = 0, 0.0  # entries, and the sum of their absolute values
        self.value_dtype: np.dtype | None = None
        self.dtype: DTypeLike | None = None
        self.once = False  # whether duplicate entries that occur while reading are refused

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        self.entries_read, self.total = 0, 0.0
        with opened(self.source, self.progress) as stream:
            for rows, cols, values in self.entries(stream):
                self.entries_read += len(rows)
                self.total += 0.0 if values is None or values.dtype.kind not in "iu" else total_of(values)
                if values is not None:
                    check_held(self.name, values, self.dtype)
                yield (rows, cols) if values is None else (rows, cols, values)

    @abstractmethod
    def entries(self, stream: Source) -> Iterator[Entries]:
        """Rows, columns and values (None: a pattern) of one part of the file after the other."""

    def matrix(self, options: MatrixOptions) -> Matrix:
        """The Matrix. Raises InvalidValue for duplicate entries with values if dup_op is None; OutOfMemory."""
        check_dup_op(options.dup_op)
        self.dtype, self.once = options.dtype, options.dup_op is None
        try:
            return self._joined(options)
        except MemoryError as error:
            raise OutOfMemory(f"{self.name}: {error}") from None
        except ValueError as error:
            if isinstance(error, InvalidValue) or "Duplicate" not in str(error):
                raise
            raise _Twice(f"{self.name}: expected every entry once, got one twice. Hint: {DUP_OP_HINT}") from None

    def _joined(self, options: MatrixOptions) -> Matrix:
        """`Matrix.from_chunks`, but sums and products of integers do not wrap: those of a small dtype are computed as
        INT64."""
        dup_op, kind, name = options.dup_op, options.type, options.name
        small = kind is not None and grows(dup_op, kind.np_type) and kind.nbytes < 8
        dtype = INT64 if small else kind
        A = Matrix.from_chunks(self, dup_op=dup_op, dtype=dtype, name=name, **options.storage)
        stored = A.dtype.np_type
        if grows(dup_op, stored) and A.nvals < self.entries_read and not fits(dup_op, self.total, stored):
            B = Matrix.from_chunks(self, dup_op=name_of(dup_op), dtype=FP64, device=options.device)
            check_overflow(self.name, dup_op, A, B)
        return cast_to(self.name, A, kind, name) if kind is not None and small else A


class _Twice(InvalidValue):
    """A duplicate entry."""


class EdgeChunks(FileChunks):
    """Chunks of an edge list. labels: the names of the vertices, after the first pass."""

    def __init__(
        self,
        source: Input,
        layout: EdgeListOptions,
        base: int,
        size: int | None,
        directed: bool,
        columns: Columns | None,
        progress: bool | None,
    ) -> None:
        super().__init__(source, progress)
        self.layout, self.base, self.size, self.directed, self.columns = layout, base, size, directed, columns
        self.index = Names()
        self.labels: tuple[str, ...] | None = None
        self.lowest = 0  # the smallest vertex with an edge, after the first pass

    def matrix(self, options: MatrixOptions) -> Matrix:
        """The Matrix; if the two directions of an edge have different values, the smaller is kept, as in `build`."""
        try:
            return super().matrix(options)
        except _Twice:
            if self.directed:
                raise
        self.directed = True
        A = super().matrix(MatrixOptions(options.dup_op, options.dtype, device=options.device))
        if has_conflicting_directions(A):
            warn_conflicting_directions(self.name)
        return both_ways(A, name=options.name, **options.storage)

    def entries(self, stream: Source) -> Iterator[Entries]:
        reader = Reader(stream.name, self.layout, self.base, self.size)
        reader.index = self.index  # names keep their numbers in every pass
        reader.once = self.once
        blocks = stream.blocks(tuning.count("file.chunked_block"))
        for _ in fed(reader, blocks if self.columns is None else self.columns.of(blocks)):
            for part in reader.taken():
                yield part if self.directed else mirrored(*part)
        self.labels, self.shape = reader.labels, (reader.counted(), reader.counted())
        if reader.layout.weights:
            reader.weights.check(self.name)
            self.value_dtype = reader.weights.dtype
        self.lowest = reader.lowest


class MatrixMarketChunks(FileChunks):
    """Chunks of a Matrix Market file in coordinate layout."""

    def __init__(self, source: Input, head: Header, progress: bool | None, rounded: bool = False) -> None:
        super().__init__(source, progress)
        self.head, self.shape = head, (head.nrows, head.ncols)
        self.rounded = rounded  # whether values become floats, so that integers of any size are accepted

    def entries(self, stream: Source) -> Iterator[Entries]:
        head = self.head
        if read_header(stream) != head:
            raise InvalidValue(f"{self.name}: expected the same file in both passes, got a different header")
        weights = head.field != "pattern"
        rounded = self.rounded or head.field == "real"
        layout = EdgeListOptions(None, False, False, weights, columns=2 + weights, nan=True, rounded=rounded)
        reader, count = Reader(stream.name, layout, 1, max(head.nrows, head.ncols)), 0
        blocks = stream.blocks(tuning.count("file.chunked_block"))
        reader.lines = stream.lines
        if weights:  # a file without entries needs a type too
            kind = {"real": np.float64, "unsigned-integer": np.uint64}.get(head.field, np.int64)
            yield np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, kind)
        for block in blocks:
            place = f"{self.name}, lines {reader.lines + 1} to {reader.lines + block.count(10)}"
            if b"%" in block or b"#" in block:
                raise InvalidValue(f"{place}: expected {head.entry}, got a comment")
            reader.feed(block)
            for rows, cols, values in reader.taken():
                count += len(rows)
                if reader.weights.real and head.field != "real":
                    raise InvalidValue(f"{place}: expected {head.entry}, got something else")
                reader.weights.check(self.name)
                self._check(place, rows, cols, values)
                if self.once and weights and reader.fed & (reader.fed - 1) == 0:  # check ever fewer blocks: 1, 2, 4, ..
                    self._check_once(rows, cols)
                yield from self._expanded(rows, cols, values)
        if weights and head.field == "integer":
            self.value_dtype = reader.weights.dtype
        if (count := self.counted(count)) != head.entries:
            raise InvalidValue(f"{self.name}: expected {head.entries} entries, got {count}")

    def counted(self, seen: int) -> int:
        """The number of entries in the file, of which `seen` were read."""
        return seen

    def _check_once(self, rows: np.ndarray, cols: np.ndarray) -> None:
        """Refuse a duplicate within a block early, before all entries are read and sorted."""
        at = repeated(rows, cols)
        if len(at):
            i, j = int(rows[at[0]]) + 1, int(cols[at[0]]) + 1
            line = line_of(self.source, (str(i), str(j)), 2, skip=self.head.lines)
            raise InvalidValue(
                f"{self.name}{line}: expected every entry once, got row {i}, column {j} twice. Hint: {DUP_OP_HINT}"
            )

    def _check(self, place: str, rows: np.ndarray, cols: np.ndarray, values: np.ndarray | None) -> None:
        head = self.head
        outside = (rows >= head.nrows).any() or (cols >= head.ncols).any()
        if outside or (values is not None and head.field == "unsigned-integer" and len(values) and values.min() < 0):
            raise InvalidValue(f"{place}: expected {head.entry}, got something else")
        if values is not None and head.symmetry == "skew-symmetric" and (values[rows == cols] != 0).any():
            raise InvalidValue(f"{place}: expected zeros on the diagonal of a skew-symmetric matrix, got another value")

    def _expanded(self, rows: np.ndarray, cols: np.ndarray, values: np.ndarray | None) -> Iterator[Entries]:
        """The entries of a triangle, and their mirror images."""
        if values is not None and self.head.field == "real":
            values = values.astype(np.float64, copy=False)
        elif values is not None and self.head.field == "unsigned-integer" and values.dtype.kind == "i":
            values = values.astype(np.uint64)
        skew = self.head.symmetry == "skew-symmetric"
        if values is not None and skew and (values.dtype.kind == "u" or has_minimum(values)):
            if not self.rounded:
                raise InvalidValue(f"{self.name}: {UNSIGNED}")
            values = values.astype(np.float64)
        yield rows, cols, values
        if self.head.symmetry == "general":
            return
        off = rows != cols
        mirror = None if values is None else -values[off] if skew else values[off]
        yield cols[off], rows[off], mirror
