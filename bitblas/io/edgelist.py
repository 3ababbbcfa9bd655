"""Read and write edge lists: one edge per line, two vertices (numbers or names) and an optional weight. Read .sif
files."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import tuning
from ..core import Matrix
from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, validation
from ..graph.edges import both_ways
from ..typing import DTypeLike
from .build import (
    Coordinates,
    DuplicateEntry,
    DupOp,
    Entries,
    FileChunks,
    MatrixOptions,
    columns_of,
    in_chunks,
    symmetry_of,
    warn_conflicting_directions,
    with_reverse_edges,
)
from .edgelist_columns import USUAL_HEADERS, Columns, check_columns
from .edgelist_parser import EdgeListOptions, Names, Reader, delimiter_of, feed_all
from .files import Input, Output, Source, check_fits, line_of, name_of, open_input, open_output
from .graphs import Numbering, count_used, count_used_in, graph_of, graph_of_edges, has_conflicting_directions
from .weights import check_decimal, is_rounded, is_whole


def read_edgelist(
    source: Input,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    columns: Iterable[str | int] | None = None,
    header: bool | None = None,
    labels: bool | None = None,
    weights: bool | None = None,
    base: int | None = None,
    directed: bool | None = None,
    size: int | None = None,
    dup_op: DupOp | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    progress: bool | None = None,
    chunked: bool | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Graph:
    """Read an edge list: a Graph of the square adjacency Matrix and the labels of the vertices.

    Parameters
    ----------
    source
        A path (plain, gzip or bzip2) or an open file, binary or text. A line is ``from to`` or ``from
        to weight``; blank lines, and lines that start with # or %, are skipped.

    Raises
    ------
    OSError
        If the file cannot be opened.
    InvalidValue
        With file and line, for a line that is not an edge, has NaN as its weight or is longer than 1
        MiB.
    OutOfMemory

    Notes
    -----
    delimiter: one character; None: a comma for .csv, a tab for .tsv, otherwise any blanks.
    decimal: the decimal mark of weights: "," reads 3,14 and refuses 3.14. If the comma also separates the columns,
        quote such weights.
    columns: for a table with more columns, those of the two ends and optionally of the weight: a list of names from the
        first line, or of numbers from 0. None: there are two or three columns.
    header: whether the first line names the columns. None: it does if its first two fields cannot be vertices like
        those below it, which are integers, or if they are usual column names: source, target (from, to; src, dst), or
        two that occur in no other line (follower, followed; sender, receiver; ..). Any other first line is an edge, and
        is refused if its weight is a word. A warning reports a line that was read as an edge but may be a header.
    labels: whether vertices are names, numbered in order of appearance. None: if those of the first edge are not
        integers and no size is given. A warning suggests labels=True if most numbers have no edge, which is typical of
        ids.
    weights: whether a third column is the value (False: it is ignored); None: if there is one.
    base: the number of the first vertex, 0 or 1. None: 0, with a warning if that vertex has no edges.
    directed: False: every line is an edge in both directions; if the file has both with different weights, the smaller
        is kept, as in `Graph.to_undirected`. None: True, with a warning if every edge is present in both directions
        with the same weight.
    size: the number of vertices; None: one more than the largest number. Required for a file without edges.

    The dtype is BOOL (iso-valued) without weights; INT64 if all weights are integers, UINT64 if they are 0 or more and
    one is 2^63 or more, otherwise FP64; or ``dtype``, in which the weights must fit. Integers beyond 64 bits can be
    read with "FP64", rounded. Duplicate edges in one direction count once without weights. With weights they require
    ``dup_op`` ("plus", "min", "max", "first", ..), which also combines both directions of directed=False. ``progress``
    and ``chunked`` are those of `mmread`; ``device``, ``format``, ``tile`` and ``packed`` those of ``Matrix.from_coo``.
    """
    numbering, directed = Numbering(base, size, labels), validation.flag("directed", directed)
    first = numbering.first
    if size is not None and (not isinstance(size, int) or size < 0):
        raise InvalidValue(f"size: expected a number of vertices, got {size!r}")
    if labels and size is not None:
        raise InvalidValue("size: expected none together with labels=True, because the labels determine the size")
    options = MatrixOptions(dup_op, dtype, name, device, format, tile, packed)
    mark, rounded, whole = delimiter_of(source, delimiter), is_rounded(dtype), is_whole(dtype)
    layout = EdgeListOptions(mark, header, labels, weights, 0, False, check_decimal(decimal), rounded, whole)
    chosen = check_columns(columns)
    table = None if chosen is None else Columns(chosen, mark, name_of(source))
    if table is not None and table.named:
        layout = replace(layout, header=False)  # `Columns` reads that line
    if in_chunks(source, chunked, lambda: text_bytes(source)):
        edges = EdgeChunks(source, layout, first, size, directed is not False, table, progress)
        A = edges.matrix(options)
        if edges.labels is None:
            numbering.check(edges.name, A.nrows, edges.lowest, lambda: count_used_in(A))
        return graph_of(edges.name, A, edges.labels, directed)
    with open_input(source, progress) as stream:
        reader = Reader(stream.name, layout, first, size)
        reader.refuse_duplicates = dup_op is None
        for _ in feed_all(reader, stream.blocks() if table is None else table.of(stream.blocks())):
            pass
    rows, cols, values = reader.finish()
    n, names = reader.vertices, reader.labels
    if names is None:
        numbering.check(reader.name, n, reader.lowest, lambda: count_used(rows, cols, n))
    check_fits(reader.name, n, n, len(rows) * (2 if directed is False else 1))

    def where(i: int, j: int) -> str:
        one, other = (names[k] if names else str(k + first) for k in (i, j))
        line = "" if table else line_of(source, (one, other), 2, delimiter=mark, skip=0)
        return f"{line}: expected every edge once, got {one!r} to {other!r} twice"

    return graph_of_edges(reader.name, (rows, cols, values), n, names, directed, options, where, early=0)


def text_bytes(source: Input) -> int:
    """Estimated bytes to read an edge list at once."""
    with open_input(source, False) as stream:
        packed = tuning.count("file.packed_ratio") if stream.stream is not stream.raw else 1
        return tuning.count("edgelist.memory") * packed * (stream.size or 0)


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
        except DuplicateEntry:
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
        reader.refuse_duplicates = self.refuse_duplicates
        blocks = stream.blocks(tuning.count("file.chunked_block"))
        for _ in feed_all(reader, blocks if self.columns is None else self.columns.of(blocks)):
            for part in reader.take_parts():
                yield part if self.directed else with_reverse_edges(part)
        self.labels, self.shape = reader.labels, (reader.count_vertices(), reader.count_vertices())
        if reader.layout.weights:
            reader.weights.check(self.name)
            self.value_dtype = reader.weights.dtype
        self.lowest = reader.lowest


def write_edgelist(
    target: Output,
    matrix: Coordinates,
    *,
    delimiter: str | None = None,
    header: bool = False,
    labels: Iterable[Hashable] | None = None,
    weights: bool | None = None,
    base: int = 0,
    directed: bool = True,
    decimal: str = ".",
) -> None:
    """Write the entries of a square Matrix as lines ``from to`` or ``from to weight``, by row, then column.

    Parameters
    ----------
    target
        A path (``.gz`` is compressed; the file is written atomically) or a file open for binary
        writing.
    delimiter : optional
        As in `read_edgelist`; blanks are written as one space.
    header : optional
        Whether to write a first line of ``source``, ``target`` and ``weight``.
    decimal : optional
        The decimal mark of weights.
    labels : optional
        A name for each vertex, written instead of its number, in quotes if it contains the delimiter.
    weights : optional
        Whether to write values; None: unless all are True. Floats are written so that the same numbers
        are read back.
    directed : optional
        False: one line for an edge and its mirror image; the matrix must be symmetric.

    Raises
    ------
    DimensionMismatch
        If the matrix is not square.
    InvalidValue
        For directed=False with a matrix that is not symmetric, labels that could not be read back, NaN,
        base or delimiter.
    OSError
        If the file cannot be written.
    """
    rows, cols, values, shape = columns_of(matrix)
    if shape[0] != shape[1] or not hasattr(matrix, "nrows"):
        raise DimensionMismatch(f"matrix: expected a square matrix, got {shape[0]} x {shape[1]}")
    if base not in (0, 1):
        raise InvalidValue(f"base: expected 0 or 1, got {base!r}")
    if not directed:
        if symmetry_of(rows, cols, values) != "symmetric":
            raise InvalidValue("directed: expected a symmetric matrix for directed=False, got one that is not")
        upper = rows <= cols
        rows, cols, values = rows[upper], cols[upper], values[upper]
    if weights is None:
        weights = values.dtype != np.bool_ or not values.all()
    if weights and values.dtype.kind == "c":
        raise InvalidValue("weights: expected False for complex numbers, which an edge list cannot store")
    mark = delimiter_of(target, delimiter) or " "
    comma = check_decimal(decimal) == "," and values.dtype.kind == "f"
    if weights and values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidValue("weights: expected numbers, got NaN, which an edge list cannot store")
    names = None if labels is None else _written_names(labels, shape[0], mark)
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    line = mark.join(["%s", "%s", "%s"] if weights else ["%s", "%s"]) + "\n"
    first = tuple(names[int(end[0])].lower() for end in (rows, cols)) if names and len(rows) else ()
    with open_output(target) as stream:
        if header or first in USUAL_HEADERS:  # otherwise the first edge would be read as a header
            stream.write((line % ("source", "target", "weight")[: 3 if weights else 2]).encode())
        step = tuning.count("edgelist.written_lines")
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            ends = [(end[part] + base).tolist() for end in (rows, cols)]
            if names is not None:
                ends = [[names[i - base] for i in end] for end in ends]
            numbers = values[part].tolist()
            if comma:
                numbers = [quote(str(value).replace(".", ","), mark) for value in numbers]
            columns = [*ends, numbers] if weights else ends
            stream.write("".join(map(line.__mod__, zip(*columns))).encode())


def _written_names(labels: Iterable[Hashable], n: int, mark: str) -> list[str]:
    """The labels as text from which a reader restores them."""
    names = validation.different_names("labels", map(str, validation.different_names("labels", labels)))
    if len(names) != n:
        raise InvalidValue(f"labels: expected one for each of {n} vertices, got {len(names)}")
    return [quote(text, mark) for text in names]


def quote(text: str, mark: str) -> str:
    """A name as written in a line, quoted if necessary. InvalidValue for a name that could not be read back: lines
    separated by blanks have no quotes."""
    wrong = not text or text != text.strip() or "\n" in text or "\r" in text
    needs = mark in text or '"' in text or text[:1] in ("#", "%")
    if wrong or (mark == " " and (needs or any(map(str.isspace, text)))):
        raise InvalidValue(f"labels: expected names that can be written in a line separated by {mark!r}, got {text!r}")
    return '"' + text.replace('"', '""') + '"' if needs else text


# ---- Read Cytoscape's simple interaction format (.sif): a vertex, a relation, and its target vertices per line.


def read_sif(
    source: Input,
    *,
    relations: Collection[str] | None = None,
    directed: bool | None = None,
    progress: bool | None = None,
    **storage: Any,
) -> Graph:
    """Read a Cytoscape file: a Graph with the vertex names of the file, without weights.

    Parameters
    ----------
    source
        A path (plain, gzip or bzip2) or an open file. A line is ``name``, or ``name relation name name
        ..``, separated by tabs if the file contains any, otherwise by blanks.
    relations : optional
        Those to read, None: all; all vertices of the file are kept.
    directed : optional
        False: edges go both ways; None: from the first name of a line to the others, with a warning if
        every edge is present in both directions.
    storage
        As in Matrix.from_coo.

    Raises
    ------
    OSError
        If the file cannot be opened.
    InvalidValue
        With file and line, for a line of two fields.
    """
    directed = validation.flag("directed", directed)
    if isinstance(relations, str):
        raise TypeError(f"relations: expected a list of relations, got {relations!r}. Hint: [{relations!r}]")
    with open_input(source, progress) as file:
        name, text = file.name, b"".join(file.blocks()).decode(errors="replace").removeprefix("\ufeff")
    mark = "\t" if "\t" in text else None
    numbers: dict[str, int] = {}
    rows, cols = list[int](), list[int]()
    for k, line in enumerate(text.split("\n")):
        first, *rest = [x.strip() for x in line.split(mark)] if line.strip() else ("",)
        if len(rest) == 1:
            raise InvalidValue(f"{name}, line {k + 1}: expected a relation and a name after {first!r}, got {rest[0]!r}")
        ends = [numbers.setdefault(x, len(numbers)) for x in (first, *rest[1:]) if x]
        if rest and (relations is None or rest[0] in relations):
            rows += [ends[0]] * (len(ends) - 1)
            cols += ends[1:]
    i, j = np.array(rows, np.int64), np.array(cols, np.int64)
    return graph_of_edges(name, (i, j, None), len(numbers), list(numbers), directed, MatrixOptions(**storage))
