"""Read and write edge lists: one edge per line, two vertices (numbers or names) and an optional weight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..exceptions import DimensionMismatch, InvalidValue
from ..graph import Graph, given
from .assumptions import check_numbering, count_used, count_used_in, graph_of
from .build import build, columns_of, mirrored, symmetry_of
from .chunks import EdgeChunks, text_bytes
from .chunks import chunked as chunked_
from .columns import Columns
from .columns import asked as columns_asked
from .edges import Layout, Reader, delimiter_of
from .files import check_fits, created, line_of, name_of, opened
from .header import ALWAYS
from .weights import decimal_of, is_rounded, is_whole
from .wrong import fed

_LINES = 1 << 16  # written at once


def read_edgelist(
    source: Any, *, delimiter: str | None = None, decimal: str = ".", columns: Any = None, header: bool | None = None,
    labels: bool | None = None, weights: bool | None = None, base: int | None = None, directed: bool | None = None,
    size: int | None = None, dup_op: Any = None, dtype: Any = None, name: str | None = None,
    progress: bool | None = None, chunked: bool | None = None, device: str | None = None, format: str | None = None,
    tile: int | None = None, packed: bool | None = None,
) -> Graph:  # fmt: skip
    """Read an edge list: a Graph of the square adjacency Matrix and the labels of the vertices.

    source: a path (plain, gzip or bzip2) or an open file, binary or text. A line is ``from to`` or ``from to weight``;
    blank lines, and lines that begin with # or %, are left out.

    delimiter: one character; None: a comma for .csv, a tab for .tsv, else any blanks.
    decimal: what stands before the fraction of a weight: "," reads 3,14, and no 3.14. Where the comma divides the
        columns too, such a weight stands in quotes.
    columns: of a table of more columns those of the two ends, and of the weight, if it is wanted: a list of their names
        in the first line, or of their numbers from 0. None: there are two or three.
    header: whether the first line names the columns; None: if its first two fields cannot be vertices like those below
        it, which are integers, or are words that tables use: source, target (from, to; src, dst), or two that no other
        line has (follower, followed; sender, receiver; ..). Any other first line is an edge, and refused if it has a
        word in the place of its weight. A warning says where a line that was read as an edge may name the columns.
    labels: whether vertices are names, numbered as they come; None: if those of the first edge are no integers and no
        size is given. A warning says if most numbers have no edge, as those of ids: labels=True.
    weights: whether a third column is the value (False: it is left out); None: if there is one.
    base: the number of the first vertex, 0 or 1. None: 0, and a warning says if that vertex has no edges.
    directed: False: every line is an edge in both directions; where the file has both, with other weights, the lesser
        one stands, as in `Graph.to_undirected`. None: True, and a warning says if every edge is present in both
        directions with the same weight.
    size: the number of vertices; None: one more than the largest number. A file without an edge needs it.

    The dtype is BOOL, with one value for all entries, without weights; INT64 if all weights are integers, UINT64 if
    they are 0 or more and one is 2^63 or more, else FP64; or ``dtype``, which must hold the weights: integers that are
    too large for 64 bits are read with "FP64", rounded. An edge that is there twice in one direction counts once
    without weights; else ``dup_op`` ("plus", "min", "max", "first", ..) must say how to join them, and joins both
    directions of directed=False too. ``progress`` and ``chunked`` are those of `mmread`, ``device``, ``format``,
    ``tile`` and ``packed`` those of ``Matrix.from_coo``.

    Raises OSError if the file cannot be opened; InvalidValue, with file and line, for a line that is no edge,
    has NaN as its weight or more than 1 MiB; OutOfMemory.
    """
    if base not in (None, 0, 1):
        raise InvalidValue(f"base: expected 0 or 1, got {base!r}")
    first, directed = base or 0, given.flag("directed", directed)
    if size is not None and (not isinstance(size, int) or size < 0):
        raise InvalidValue(f"size: expected a number of vertices, got {size!r}")
    if labels and size is not None:
        raise InvalidValue("size: expected none together with labels=True, which count the vertices")
    asked = Layout(
        delimiter_of(source, delimiter), header, labels, weights, decimal=decimal_of(decimal),
        rounded=is_rounded(dtype), whole=is_whole(dtype),
    )  # fmt: skip
    chosen = columns_asked(columns)
    of_table = None if chosen is None else Columns(chosen, asked.delimiter, name_of(source))
    if of_table is not None and of_table.named:
        asked = replace(asked, header=False)  # that line is read already
    if chunked_(source, chunked, lambda: text_bytes(source)):
        edges = EdgeChunks(source, asked, first, size, mirrored if directed is False else None, progress)
        edges.columns = of_table
        storage: dict[str, Any] = {"device": device, "format": format, "tile": tile, "packed": packed}
        A = edges.matrix(dup_op=dup_op, dtype=dtype, name=name, **storage)
        if size is None and labels is None and edges.labels is None:
            check_numbering(edges.name, A.nrows, edges.lowest, lambda: count_used_in(A), base_given=base is not None)
        return graph_of(edges.name, A, edges.labels, directed)
    with opened(source, progress) as stream:
        reader = Reader(stream.name, asked, first, size)
        reader.once = dup_op is None
        for _ in fed(reader, stream.blocks() if of_table is None else of_table.of(stream.blocks())):
            pass
    rows, cols, values = reader.finish()
    n = reader.vertices
    if size is None and labels is None and reader.labels is None:
        check_numbering(reader.name, n, reader.lowest, lambda: count_used(rows, cols, n), base_given=base is not None)
    check_fits(reader.name, n, n, len(rows) * (2 if directed is False else 1))

    def where(i: int, j: int) -> str:
        one, other = (reader.labels[k] if reader.labels else str(k + first) for k in (i, j))
        line = "" if of_table else line_of(source, (one, other), 2, mirrored=False, delimiter=asked.delimiter, skip=0)
        return f"{line}: expected every edge once, got {one!r} to {other!r} twice"

    A = build(
        reader.name, rows, cols, values, (n, n), dup_op=dup_op, dtype=dtype, name=name,
        directed=directed is not False, where=where, first=0, device=device, format=format, tile=tile, packed=packed,
    )  # fmt: skip
    return graph_of(reader.name, A, reader.labels, directed)


def write_edgelist(
    target: Any, matrix: Any, *, delimiter: str | None = None, header: bool = False, labels: Any = None,
    weights: bool | None = None, base: int = 0, directed: bool = True, decimal: str = ".",
) -> None:  # fmt: skip
    """Write the entries of a square Matrix as lines ``from to`` or ``from to weight``, by row, then column.

    target: a path (``.gz`` is compressed; the file appears whole or not at all) or a file open for binary writing.
    delimiter: as in `read_edgelist`; blanks are written as one space. header: a first line of ``source``, ``target``
    and ``weight``. decimal: what stands before the fraction of a weight. labels: a name for each vertex, to write in
    place of its number, in quotes where it holds the delimiter. weights: None: unless all are True; floats are written
    so that they read back the same. directed: False: one line for an edge and its mirror image; the matrix must be
    symmetric.

    Raises DimensionMismatch if the matrix is not square; InvalidValue for a matrix that is not symmetric where it must
    be, labels that could not be read back, NaN, base or delimiter; OSError if the file cannot be written.
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
        raise InvalidValue("weights: expected False for complex numbers, which an edge list does not hold")
    mark = delimiter_of(target, delimiter) or " "
    comma = decimal_of(decimal) == "," and values.dtype.kind == "f"
    if weights and values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidValue("weights: expected numbers, got NaN, which an edge list does not hold")
    names = None if labels is None else _checked(labels, shape[0], mark)
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    line = mark.join(["%s", "%s", "%s"] if weights else ["%s", "%s"]) + "\n"
    first = tuple(names[int(end[0])].lower() for end in (rows, cols)) if names and len(rows) else ()
    with created(target) as stream:
        if header or first in ALWAYS:  # else it would be taken for the names of columns
            stream.write((line % ("source", "target", "weight")[: 3 if weights else 2]).encode())
        for start in range(0, len(rows), _LINES):
            part = slice(start, start + _LINES)
            ends = [(end[part] + base).tolist() for end in (rows, cols)]
            if names is not None:
                ends = [[names[i - base] for i in end] for end in ends]
            found = values[part].tolist()
            if comma:
                found = [quoted(str(value).replace(".", ","), mark) for value in found]
            columns = [*ends, found] if weights else ends
            stream.write("".join(map(line.__mod__, zip(*columns))).encode())


def _checked(labels: Any, n: int, mark: str) -> list[str]:
    """The labels as text that a reader gives back."""
    names = given.different_names("labels", map(str, given.different_names("labels", labels)))
    if len(names) != n:
        raise InvalidValue(f"labels: expected one for each of {n} vertices, got {len(names)}")
    return [quoted(text, mark) for text in names]


def quoted(text: str, mark: str) -> str:
    """A name as it stands in a line, in quotes where it needs some. InvalidValue for one that could not be read back:
    in lines divided by blanks there are no quotes."""
    wrong = not text or text != text.strip() or "\n" in text or "\r" in text
    needs = mark in text or '"' in text or text[:1] in ("#", "%")
    if wrong or (mark == " " and (needs or any(map(str.isspace, text)))):
        raise InvalidValue(f"labels: expected names that can stand in a line divided by {mark!r}, got {text!r}")
    return '"' + text.replace('"', '""') + '"' if needs else text
