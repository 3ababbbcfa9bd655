"""Read and write the text formats of graph partitioners and shortest-path benchmarks: METIS and DIMACS.

METIS (.metis, .graph): a header `vertices edges [format [vertex weights]]`, then a line for each vertex with its
neighbours, and the weight of each edge if the format says so. The graph is undirected, without self-loops.
DIMACS (.gr): a line `p sp vertices arcs`, then a line `a from to length` for each arc. Vertices count from 1 in both.

Karypis, Kumar: METIS, a software package for partitioning unstructured graphs, manual, section 4.1.
9th DIMACS Implementation Challenge: Shortest Paths. File formats (2005).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core import Matrix
from ..exceptions import DimensionMismatch, InvalidValue, warn
from ..graph import Graph
from ..typing import DTypeLike
from .build import DupOp, MatrixOptions, build, columns_of, symmetry_of
from .edgelist import read_edgelist
from .files import Input, Output, Source, check_fits, open_input, open_output

# ---- METIS.


class Header(NamedTuple):
    """The first line of a METIS file. skip: numbers of a line before its neighbours: size and weights of the vertex."""

    vertices: int
    edges: int
    weighted: bool
    skip: int


def read_metis(
    source: Input,
    *,
    dup_op: DupOp | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    progress: bool | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Graph:
    """Read a METIS file: an undirected Graph, whose weights are the integers of the file (BOOL, iso-valued, without
    weights). Weights and sizes of vertices are left out, with a warning. dup_op combines the weights of an edge that is
    listed twice.

    Parameters
    ----------
    source
        A path (plain, gzip, bzip2 or xz) or an open file.

    Raises
    ------
    OSError
        If it cannot be opened.
    InvalidValue
        With file and line, if it is not such a file, or not symmetric.
    OutOfMemory
    """
    options = MatrixOptions(dup_op, dtype, name, device, format, tile, packed)
    with open_input(source, progress) as stream:
        place, lines = stream.name, _numbered_lines(stream)
        head = _header_of(place, next(lines, None))
        check_fits(place, head.vertices, head.vertices, 2 * head.edges)
        counts = np.zeros(head.vertices, np.int64)
        parts: list[np.ndarray] = []
        for vertex, (number, text) in enumerate(lines):
            if vertex >= head.vertices:
                if not text.strip():
                    continue  # blank lines at the end
                raise InvalidValue(f"{place}, line {number}: expected {head.vertices} lines of vertices, got more")
            found = _integers(place, number, text)[head.skip :]
            counts[vertex] = len(found)
            if head.weighted and len(found) % 2:
                raise InvalidValue(f"{place}, line {number}: expected a weight for each neighbour, got {_shown(text)}")
            parts.append(found)
    if len(parts) < head.vertices:
        raise InvalidValue(f"{place}: expected {head.vertices} lines of vertices, got {len(parts)}")
    return _graph_of(place, head, counts, np.concatenate([np.zeros(0, np.int64), *parts]), options)


def _numbered_lines(stream: Source) -> Iterator[tuple[int, bytes]]:
    """The lines that are no comments, with their numbers."""
    number = 0
    for block in stream.blocks():
        for line in block.split(b"\n")[: -1 if block.endswith(b"\n") else None]:
            number += 1
            if not line.startswith(b"%"):
                yield number, line


def _integers(place: str, number: int, text: bytes) -> np.ndarray:
    try:
        found = np.array(text.split(), dtype=np.bytes_).astype(np.int64) if text.strip() else np.zeros(0, np.int64)
    except (ValueError, OverflowError):
        raise InvalidValue(f"{place}, line {number}: expected integers, got {_shown(text)}") from None
    return found


def _shown(text: bytes) -> str:
    return repr(text[:80].decode(errors="replace"))


def _header_of(place: str, line: tuple[int, bytes] | None) -> Header:
    """The first line. InvalidValue if it is none of METIS."""
    number, text = line or (1, b"")
    if b"\0" in text:
        raise InvalidValue(f"{place}: expected a METIS file, got binary data. Hint: read_webgraph reads WebGraph files")
    fields = text.split()
    expected = "vertices, edges, and optionally the format (such as 001) and the number of vertex weights"
    if not 2 <= len(fields) <= 4 or not all(field.isdigit() for field in fields):
        raise InvalidValue(f"{place}, line {number}: expected {expected}, got {_shown(text)}")
    kind = (fields[2] if len(fields) > 2 else b"0").rjust(3, b"0")
    if len(kind) > 3 or set(kind) - set(b"01"):
        raise InvalidValue(f"{place}, line {number}: expected a format of three digits 0 or 1, got {_shown(fields[2])}")
    sized, weighed, weighted = (digit == ord("1") for digit in kind)
    weights = int(fields[3]) if len(fields) > 3 else 1
    if sized or weighed:
        warn(f"{place}: the weights and sizes of vertices are left out")
    return Header(int(fields[0]), int(fields[1]), weighted, sized + (weights if weighed else 0))


def _graph_of(place: str, head: Header, counts: np.ndarray, numbers: np.ndarray, options: MatrixOptions) -> Graph:
    rows = np.repeat(np.arange(head.vertices), counts // 2 if head.weighted else counts)
    cols = (numbers[::2] if head.weighted else numbers) - 1
    values = numbers[1::2] if head.weighted else None
    if len(cols) != 2 * head.edges:
        raise InvalidValue(
            f"{place}: expected {head.edges} edges, each at both of its vertices, as the first line says, got "
            f"{len(cols)} neighbours"
        )
    outside = np.flatnonzero((cols < 0) | (cols >= head.vertices))
    if len(outside):
        raise InvalidValue(
            f"{place}: expected neighbours from 1 to {head.vertices}, got {cols[outside[0]] + 1} at vertex "
            f"{rows[outside[0]] + 1}"
        )
    A = build(place, (rows, cols, values), (head.vertices, head.vertices), options)
    if A.nvals != len(cols) and options.dup_op is None:
        raise InvalidValue(f"{place}: expected every neighbour of a vertex once, got one twice")
    if not A.isequal(A.T):
        raise InvalidValue(f"{place}: expected every edge at both of its vertices, with one weight, got others")
    return Graph(A, directed=False)


def write_metis(target: Output, matrix: Matrix) -> None:
    """Write the Matrix of an undirected graph as a METIS file: without weights if it is a pattern (all True), else with
    integers as weights.

    Raises
    ------
    DimensionMismatch
        Not square.
    InvalidValue
        Not symmetric, self-loops, weights that are not integers above 0.
    OSError
        If the file cannot be written.
    """
    rows, cols, values, (n, ncols) = columns_of(matrix)
    if n != ncols or not hasattr(matrix, "nrows"):
        raise DimensionMismatch(f"matrix: expected a square matrix, got {n} x {ncols}")
    if symmetry_of(rows, cols, values) != "symmetric":
        raise InvalidValue("matrix: expected a symmetric one for METIS, got another. Hint: graph.to_undirected()")
    if (rows == cols).any():
        raise InvalidValue("matrix: expected no self-loops for METIS, got some. Hint: A.select('offdiag')")
    weighted = values.dtype != np.bool_
    if not (values.all() if not weighted else values.dtype.kind in "iu" and (values > 0).all()):
        raise InvalidValue(f"matrix: expected True or integers above 0 as weights for METIS, got {values.dtype} values")
    ends = np.searchsorted(rows, np.arange(n + 1)).tolist()
    numbers = np.stack([cols + 1, values], 1) if weighted else cols[:, None] + 1
    with open_output(target) as stream:
        stream.write(f"{n} {len(rows) // 2}{' 001' if weighted else ''}\n".encode())
        for start in range(0, n, _ROWS):
            part = ends[start : min(start + _ROWS, n) + 1]
            texts = list(map(str, numbers[part[0] : part[-1]].ravel().tolist()))
            per, base = numbers.shape[1], part[0]
            lines = (" ".join(texts[per * (i - base) : per * (j - base)]) for i, j in pairwise(part))
            stream.write("".join(f"{line}\n" for line in lines).encode())


_ROWS = 1 << 16  # rows that are written at once

# ---- DIMACS.


class _EdgeLines:
    """A DIMACS file as an edge list, line by line: arcs without their letter, all other lines as comments."""

    def __init__(self, stream: Source) -> None:
        self.name, self.arcs, self.lines = stream.name, 0, 1
        self.problem: tuple[int, int] | None = None
        self._blocks, self._rest = stream.blocks(), b""

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._rest = self._converted(block)
        data, self._rest = (self._rest[:size], self._rest[size:]) if size >= 0 else (self._rest, b"")
        return data

    def _converted(self, block: bytes) -> bytes:
        lines = block.split(b"\n")
        last = lines.pop() if block.endswith(b"\n") else None
        for k, line in enumerate(lines):
            letter = line[:2]
            if letter == b"a ":
                continue
            if letter == b"p ":
                self._check_problem(line, self.lines + k)
            elif line.strip() and letter.rstrip() != b"c":
                place = f"{self.name}, line {self.lines + k}"
                raise InvalidValue(f"{place}: expected c (comment), p (problem) or a (arc), got {_shown(line)}")
        if self.problem is None and any(line.startswith(b"a ") for line in lines):
            raise InvalidValue(f"{self.name}: expected 'p sp vertices arcs' before the arcs, got none")
        arcs = [line[2:] if line.startswith(b"a ") else b"%" for line in lines]
        self.arcs += sum(line.startswith(b"a ") for line in lines)
        self.lines += len(lines)
        return b"\n".join([*arcs, *([] if last is None else [last])])

    def _check_problem(self, line: bytes, number: int) -> None:
        fields = line.split()
        if self.problem is not None or len(fields) != 4 or fields[1] != b"sp" or not (fields[2] + fields[3]).isdigit():
            raise InvalidValue(f"{self.name}, line {number}: expected one 'p sp vertices arcs', got {_shown(line)}")
        self.problem = int(fields[2]), int(fields[3])


def read_dimacs(source: Input, *, directed: bool | None = None, progress: bool | None = None, **options: Any) -> Graph:
    """Read a file of the 9th DIMACS challenge (shortest paths, .gr): a Graph of the arcs with their lengths.

    Parameters
    ----------
    source
        A path (plain, gzip, bzip2 or xz) or an open file.
    directed : optional
        False: every arc goes both ways; None: True.
    options
        dup_op (of parallel arcs), dtype, name and the storage options of `read_edgelist`.

    Raises
    ------
    OSError
        If it cannot be opened.
    InvalidValue
        With file and line, for other files, vertices beyond the number that the file states, parallel
        arcs without dup_op, and another number of arcs.
    OutOfMemory
    """
    with open_input(source, progress) as stream:
        lines = _EdgeLines(stream)
        first = lines.read()
        while lines.problem is None and (more := lines.read()):
            first += more
        if lines.problem is None:
            raise InvalidValue(f"{stream.name}: expected 'p sp vertices arcs', got no such line")
        rest = _Joined(first, lines)
        ways = True if directed is None else directed
        graph = read_edgelist(
            rest, delimiter=" ", header=False, weights=True, base=1, size=lines.problem[0], directed=ways, **options
        )
        if lines.arcs != lines.problem[1]:
            raise InvalidValue(
                f"{stream.name}: expected {lines.problem[1]} arcs, as the line 'p' says, got {lines.arcs}"
            )
    return graph


class _Joined:
    """What was read already, then the rest."""

    def __init__(self, first: bytes, rest: _EdgeLines) -> None:
        self.first, self.rest, self.name = io.BytesIO(first), rest, rest.name

    def read(self, size: int = -1) -> bytes:
        return self.first.read(size) or self.rest.read(size)
