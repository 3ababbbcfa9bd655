"""Read and write Matrix Market files; every fault raises one InvalidValue with the file and the line.

Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935. SciPy parses the numbers in parallel; a
`Scan` checks the bytes first. Small files are parsed without SciPy, whose import takes longer than that.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np

from .. import tuning
from ..core import Matrix
from ..exceptions import InvalidValue, OutOfMemory
from ..typing import DTypeLike
from .build import (
    DUP_OP_HINT,
    Coordinates,
    DupOp,
    Entries,
    FileChunks,
    MatrixOptions,
    build,
    columns_of,
    in_chunks,
    is_power_of_two,
    repeated_entries,
    symmetry_of,
)
from .edgelist_parser import EdgeListOptions, Reader
from .files import (
    Input,
    Output,
    ReadStream,
    Source,
    bytes_to_build,
    check_fits,
    line_of,
    name_of,
    open_input,
    open_output,
)
from .weights import ROUNDED, Fault, Scan, integer_type, is_rounded, value_of

# ---- Parse small Matrix Market files without SciPy, whose import takes longer than the parsing.

# Syntax that Python and SciPy parse alike.
_LINE = {
    "pattern": rb"\d{1,18}[ \t]+\d{1,18}",
    "integer": rb"\d{1,18}[ \t]+\d{1,18}[ \t]+-?\d{1,18}",
    "unsigned-integer": rb"\d{1,18}[ \t]+\d{1,18}[ \t]+\d{1,18}",
    "real": rb"\d{1,18}[ \t]+\d{1,18}[ \t]+-?\d{1,200}(?:\.\d{0,200})?",
}
_TYPES = {"pattern": np.float64, "integer": np.int64, "unsigned-integer": np.uint64, "real": np.float64}


class ParsedEntries(NamedTuple):
    """The attributes of scipy.sparse.coo_array."""

    row: np.ndarray
    col: np.ndarray
    data: np.ndarray


def parse_small_body(text: bytes, head: Header) -> ParsedEntries | None:
    """Parse the entries, one per line, followed by their mirror images if the header states a symmetry; None for any
    other text, which SciPy may parse or reject with a reason."""
    field, symmetry, count = head.field, head.symmetry, head.entries
    if field not in _LINE:
        return None
    line = rb"[ \t]*" + _LINE[field] + rb"[ \t]*\r?"
    signed = symmetry != "skew-symmetric" or field != "unsigned-integer"
    if not (count and signed) or not re.fullmatch(rb"(?:%s\n)+" % line, text):
        return None
    words = text.split()
    width = len(words) // count
    if len(words) != count * (2 if field == "pattern" else 3):
        return None
    rows, cols = list(map(int, words[::width])), list(map(int, words[1::width]))
    if min(rows) < 1 or max(rows) > head.nrows or min(cols) < 1 or max(cols) > head.ncols:
        return None
    read = float if field == "real" else int
    values = np.ones(count) if width == 2 else np.array(list(map(read, words[2::width])), _TYPES[field])
    index = np.int32 if max(head.nrows, head.ncols) < 1 << 31 else np.int64
    row, col = np.array(rows, index) - 1, np.array(cols, index) - 1
    if symmetry == "general":
        return ParsedEntries(row, col, values)
    off = row != col
    mirrored = -values[off] if symmetry == "skew-symmetric" else values[off]
    return ParsedEntries(np.append(row, col[off]), np.append(col, row[off]), np.append(values, mirrored))


# ---- Parse Matrix Market files into arrays; every fault raises one InvalidValue with the file and the line.

_PARSED_FIELDS = {  # SciPy's name, the kind of the numbers, a value in words
    "pattern": ("pattern", "integer", ""),
    "integer": ("integer", "integer", "an integer"),
    "unsigned-integer": ("unsigned-integer", "integer", "an integer of 0 or more"),  # SciPy writes it for UINT64
    "real": ("real", "real", "a real number"),
    "double": ("real", "real", "a real number"),
    "complex": ("complex", "real", "a real and an imaginary part"),
}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
BOTH = "All integers must be from -2^63 to 2^63 - 1, or all from 0 to 2^64 - 1"
UNSIGNED = f"expected integers between -2^63 and 2^63 in a skew-symmetric matrix, got another one. {ROUNDED}"


class Header(NamedTuple):
    """The header and the size line. ``entries`` is the number of entries that the body must contain."""

    layout: str
    field: str
    symmetry: str
    nrows: int
    ncols: int
    entries: int
    lines: int

    @property
    def width(self) -> int:
        """Numbers per entry."""
        parts = {"pattern": 0, "complex": 2}.get(self.field, 1)
        return parts if self.layout == "array" else 2 + parts

    @property
    def entry(self) -> str:
        """The expected content of a line of the body, in words."""
        place = "" if self.layout == "array" else f"a row in 1..{self.nrows}, a column in 1..{self.ncols}"
        return ", ".join(part for part in (place, _PARSED_FIELDS[self.field][2]) if part)


def read_header(source: Source) -> Header:
    """Read and check the first lines of a file."""
    name, line = source.name, source.readline()
    words = line.decode("latin-1").lower().split()
    got = repr(line[:80].decode("latin-1").strip()) if line else "an empty file"
    if not words or words[0] != "%%matrixmarket":
        raise InvalidValue(f"{name}, line 1: expected '%%MatrixMarket matrix ...', got {got}")
    if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
        raise InvalidValue(
            f"{name}, line 1: expected '%%MatrixMarket matrix coordinate|array FIELD SYMMETRY', got {got}"
        )
    layout, field, symmetry = words[2:]
    if field not in _PARSED_FIELDS:
        raise InvalidValue(f"{name}, line 1: expected a field of real, integer, complex or pattern, got {field[:60]!r}")
    if symmetry not in _SYMMETRIES:
        raise InvalidValue(f"{name}, line 1: expected a symmetry of {', '.join(_SYMMETRIES)}, got {symmetry[:60]!r}")
    if field == "pattern" and (layout == "array" or symmetry == "skew-symmetric"):
        raise InvalidValue(f"{name}, line 1: expected a pattern in coordinate layout and not skew-symmetric, got {got}")
    if field == "unsigned-integer" and symmetry == "skew-symmetric":
        raise InvalidValue(f"{name}, line 1: expected signed values in a skew-symmetric matrix, got {got}")
    if symmetry == "hermitian" and field != "complex":
        raise InvalidValue(f"{name}, line 1: expected complex numbers in a hermitian matrix, got {got}")
    line = source.readline()
    while line.lstrip().startswith(b"%") or line.isspace():
        line = source.readline()
    lines = source.lines
    count = 3 if layout == "coordinate" else 2
    sizes = line.decode("latin-1").split()
    if len(sizes) != count or not all(s.isascii() and s.isdigit() and len(s) < 20 and int(s) < 1 << 63 for s in sizes):
        what = "rows, columns and entries" if count == 3 else "rows and columns"
        got = repr(" ".join(sizes)[:60]) if line else "the end of the file"
        raise InvalidValue(f"{name}, line {lines}: expected the size line, {what} below 2^63, got {got}")
    nrows, ncols = int(sizes[0]), int(sizes[1])
    if symmetry != "general" and nrows != ncols:
        raise InvalidValue(f"{name}, line {lines}: expected a square matrix ({symmetry}), got {nrows} x {ncols}")
    below = nrows * (nrows - (1 if symmetry == "skew-symmetric" else -1)) // 2
    declared = int(sizes[2]) if count == 3 else nrows * ncols if symmetry == "general" else below
    head = Header(layout, _PARSED_FIELDS[field][0], symmetry, nrows, ncols, declared, lines)
    most = None if source.room is None else (source.room + 1) // (2 * head.width)
    if most is not None and declared > most:
        raise InvalidValue(
            f"{name}, line {lines}: the size line declares {declared} entries, but a file of {source.size} bytes holds "
            f"at most {most}"
        )
    return head


# The header; then rows, columns and values.
Body: TypeAlias = tuple[Header, np.ndarray, np.ndarray, np.ndarray]


class _TooMany(Exception):
    """A body with more numbers than its header declares."""


class _IntegerOutOfRange(Exception):
    """An integer that does not fit its type."""

    def __init__(self, where: str, line: str) -> None:
        super().__init__(where, line)
        self.where, self.line = where, line  # the message; the text of the line, if it can be read again


class _CheckedStream:
    """A stream that passes a plain header to SciPy, and then the body in whole lines, each checked before.

    SciPy's reader reads beyond the end of its text if an exponent is cut off, and writes beyond the end of its array if
    there are too many values.
    """

    def __init__(self, source: Source, head: Header, field: str | None = None) -> None:
        self.head, self.field, self.scan = head, field or head.field, Scan(_PARSED_FIELDS[head.field][1], head.lines)
        self.fault: Exception | None = None
        self._pieces = self._lines(source)

    def _lines(self, source: Source) -> Iterator[bytes]:
        head = self.head
        size = f"{head.nrows} {head.ncols}" + (f" {head.entries}" if head.layout == "coordinate" else "")
        yield f"%%MatrixMarket matrix {head.layout} {self.field} {head.symmetry}\n{size}\n".encode()
        for block in source.blocks(tuning.count("file.chunk")):
            self.scan.feed(block)
            if self.scan.numbers > head.entries * head.width:
                raise _TooMany
            yield block if block.endswith(b"\n") else block + b"\n"

    def read(self, size: int = -1) -> bytes:
        try:
            return next(self._pieces, b"")
        except Exception as error:
            self.fault = error  # SciPy would not pass it on
            return b""


def parse(source: Input, progress: bool | None = None, rounded: bool = False) -> Body:
    """Read a file: its header, then rows, columns (int32, or int64 for sizes from 2^31 on) and values (float64,
    int64, uint64 or complex128), expanded. Integers are uint64 if one is 2^63 or more. rounded: integers that fit
    neither int64 nor uint64 become float64; otherwise they are refused.

    Raises OSError if it cannot be opened, InvalidValue if it is not a valid Matrix Market file, OutOfMemory.
    """
    rewind = _rewind(source)
    try:
        return _read_as(source, progress)
    except _IntegerOutOfRange as error:
        fault = error
    if rewind is None:
        raise InvalidValue(f"{fault.where}. Hint: pass a path, which can be read again with a wider type")
    for field in ("unsigned-integer", "real")[: 1 + rounded]:
        rewind()
        try:
            return _read_as(source, progress, field)
        except _IntegerOutOfRange:
            continue
    value = fault.line.split()[-1:]
    hint = "" if value and integer_type([value_of(value[0])]) is np.int64 else f". {BOTH}. {ROUNDED}"
    raise InvalidValue(f"{fault.where}{hint}")


def _rewind(source: Input) -> Callable[[], object] | None:
    """A function that moves an open file back to its current position; None if it cannot be read again."""
    if isinstance(source, (str, os.PathLike)):
        return lambda: None
    seek, tell, seekable = (getattr(source, name, None) for name in ("seek", "tell", "seekable"))
    try:
        return partial(seek, tell()) if seek and tell and seekable and seekable() else None
    except OSError:
        return None


def _read_as(source: Input, progress: bool | None, field: str | None = None) -> Body:
    """Parse integers as values of another field. Raises _IntegerOutOfRange for an integer that does not fit."""
    with open_input(source, progress) as stream:
        head = read_header(stream)
        check_fits(f"{stream.name}, line {head.lines}", head.nrows, head.ncols, head.entries)
        return head, *_read_body(stream, head, source, field)


def _read_body(
    stream: Source, head: Header, source: Input, field: str | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    body, name = _CheckedStream(stream, head, field), stream.name
    failure: Exception | None = None
    matrix: np.ndarray | ParsedEntries | None = None
    try:
        matrix = _parse_body(body, head if field is None else head._replace(field=field))
        while body.read():
            pass
    except MemoryError:
        raise OutOfMemory(f"{name}: {head.entries} entries do not fit in memory") from None
    except (ValueError, OverflowError) as error:
        failure = error
    if isinstance(body.fault, Fault):
        number, text = body.fault.line, body.fault.text
        hint = ". Hint: write exponents with E" if re.search(r"\d[dD][+-]?\d", text) else ""
        raise InvalidValue(f"{name}, line {number}: expected {head.entry}, got {text!r}{hint}")
    if body.fault is not None and not isinstance(body.fault, _TooMany):
        raise body.fault
    if failure is not None and body.fault is None and not str(failure).startswith("Truncated"):
        where, line = _translate_error(str(failure), head, name, source)
        raise _IntegerOutOfRange(where, line) if _is_wide(failure, head, field) else InvalidValue(where)
    if failure is not None or body.scan.numbers != head.entries * head.width:
        raise InvalidValue(f"{name}{_count_error(body.scan.numbers, head, source)}") from None
    if isinstance(matrix, np.ndarray):  # an array file
        rows, cols = (part.ravel() for part in np.indices(matrix.shape))
        return rows, cols, matrix.ravel()
    assert matrix is not None  # without a failure
    skew = head.symmetry == "skew-symmetric"
    wrong = matrix.row[(matrix.row == matrix.col) & (matrix.data != 0)] if skew else []
    if len(wrong):
        end = str(wrong[0] + 1)
        line = line_of(source, (end, end), 1, skip=head.lines)
        raise InvalidValue(
            f"{name}{line}: expected zeros on the diagonal of a skew-symmetric matrix, got another value in row {end}"
        )
    if skew and has_minimum(matrix.data):
        raise _IntegerOutOfRange(f"{name}: {UNSIGNED.partition('. ')[0]}", "")
    return matrix.row, matrix.col, matrix.data


def has_minimum(values: np.ndarray) -> bool:
    """Whether an integer is the minimum of its signed type, whose negative does not fit."""
    return values.dtype.kind == "i" and bool((values == np.iinfo(values.dtype).min).any())


def _parse_body(body: _CheckedStream, head: Header) -> np.ndarray | ParsedEntries:
    """Parse a body with SciPy; small ones without it, and empty arrays, for which SciPy divides by 0 rows."""
    if head.layout == "array" and not head.entries:
        kinds = {"integer": np.int64, "real": np.float64, "complex": np.complex128}
        return np.zeros((head.nrows, head.ncols), kinds.get(head.field, np.uint64))
    stream: ReadStream = body
    if head.layout == "coordinate" and head.entries < tuning.count("mm.python_entries"):
        start, text = body.read(), b"".join(iter(body.read, b""))
        if body.fault is None and (found := parse_small_body(text, head)) is not None:
            return found
        stream = io.BytesIO(start + text)
    from scipy.io import mmread

    return mmread(stream, spmatrix=False)


def _is_wide(failure: Exception, head: Header, field: str | None) -> bool:
    """Whether SciPy refuses an integer that does not fit its type; all have passed the `Scan`."""
    signed = head.field == "integer" and field == "unsigned-integer" and "nteger value" in str(failure)
    skew = head.symmetry == "skew-symmetric" and "out of bounds" in str(failure)
    return head.field in ("integer", "unsigned-integer") and (
        signed or (isinstance(failure, OverflowError) and ("out of range" in str(failure) or skew))
    )


def _translate_error(message: str, head: Header, name: str, source: Input) -> tuple[str, str]:
    """SciPy's message with the line number of the file and the text of the line; and that text alone ("": unknown)."""
    place = re.match(r"Line (\d+): (.*)", message)
    if not place:
        return f"{name}: {message}", ""
    number = int(place[1]) + head.lines - 2
    what = place[2].rstrip(".").lower()
    line = _text_of_line(source, number)
    return f"{name}, line {number}: {what}: expected {head.entry}, got {repr(line) if line else 'something else'}", line


def _text_of_line(source: Input, number: int) -> str:
    """The text of a line; "" if the source cannot be read again."""
    if not isinstance(source, (str, os.PathLike)):
        return ""
    with open_input(source) as stream:
        return next(islice(stream.stream, number - 1, None), b"")[:60].decode("latin-1").strip()


def _count_error(numbers: int, head: Header, source: Input) -> str:
    """The error for a body with too many or too few lines or numbers: the first line without ``head.width`` numbers, or
    the first surplus line, if the source can be read again; otherwise the counts."""
    expected = f"expected {head.entries} entries"
    if isinstance(source, (str, os.PathLike)):
        with open_input(source) as stream:
            entries = 0
            for number, line in enumerate(stream.stream, 1):
                count = len(line.split()) if number > head.lines else 0
                entries += count > 0
                if count not in (0, head.width):
                    only = " and nothing after it" if count > head.width else ""
                    got = line[:60].decode("latin-1").strip()
                    return f", line {number}: expected {head.entry}{only}, got {got!r}"
                if entries > head.entries:
                    return f", line {number}: {expected}, got more"
    if numbers == head.entries * head.width:
        return f": {expected}, one per line, got several in a line"
    if numbers > head.entries * head.width:
        return f": {expected}, got more"
    return f": cut off: {expected}, got {numbers // head.width}"


# ---- Read and write Matrix Market files.
#
# Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935.

_ENGINES = ("auto", "scipy", "fmm", "fast_matrix_market")
_FIELDS = ("real", "integer", "pattern", "complex")
DIGITS = 17  # significant digits that identify any FP64


def _choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value.lower() not in choices:
        raise InvalidValue(f"{name}: expected one of {', '.join(choices)}, got {value!r}")
    return value.lower()


def mmread(
    source: Input,
    engine: str = "auto",
    *,
    dup_op: DupOp | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    progress: bool | None = None,
    chunked: bool | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    packed: bool | None = None,
) -> Matrix:
    """Read a Matrix Market file into a Matrix.

    source: a path (plain, gzip or bzip2) or an open file, binary or text. Coordinate and array; real, integer, complex
    and pattern; general, symmetric, skew-symmetric and hermitian (these are expanded).

    The dtype is BOOL (iso-valued) for a pattern; INT64 for integer (UINT64 if all are 0 or more and one is 2^63 or
    more, and for unsigned-integer), FP64 for real and FC64 for complex; or ``dtype``, in which the values must fit.
    Integers beyond 64 bits can be read with "FP64", rounded. Explicit zeros are entries, and so is every element of an
    array file. A duplicate entry counts once in a pattern; with values it requires ``dup_op`` (``binary.plus`` for
    finite elements), as in python-graphblas. ``device``, ``format``, ``tile`` and ``packed`` are those of
    ``Matrix.from_coo``.

    In addition to the result, memory holds the entries once, about 24 bytes each. chunked: read the file twice, one
    block at a time (`Matrix.from_chunks`); None: if the entries do not fit at once. Chunked reading requires a path,
    and its errors locate a fault less precisely. progress: whether to show a progress line on stderr; None: if stderr
    is a terminal, after one second. engine: as in python-graphblas; all engines are SciPy's reader, which
    is fast_matrix_market.

    Raises OSError if the file cannot be opened; InvalidValue, with file and line, for a malformed file, a duplicate
    entry, or a line of more than 1 MiB; OutOfMemory.
    """
    options = MatrixOptions(dup_op, dtype, name, device, format, tile, packed)
    return read_with_symmetry(source, engine, options, progress, chunked)[0]


def read_with_symmetry(
    source: Input, engine: str, options: MatrixOptions, progress: bool | None, chunked: bool | None
) -> tuple[Matrix, str]:
    """The Matrix that `mmread` returns, and the symmetry that the header of the file states."""
    _choice("engine", engine, _ENGINES)
    rounded = is_rounded(options.dtype)
    head = _header_for_chunks(source, chunked)
    if head is not None:
        options = options._replace(dup_op=None) if head.field == "pattern" else options
        return MatrixMarketChunks(source, head, progress, rounded).matrix(options), head.symmetry
    head, rows, cols, values = parse(source, progress, rounded)

    def where(i: int, j: int) -> str:
        ends = str(i + 1), str(j + 1)
        line = line_of(source, ends, 2, mirrored=head.symmetry != "general", skip=head.lines)
        return f"{line}: expected every entry once, got row {ends[0]}, column {ends[1]} twice"

    entries = rows, cols, None if head.field == "pattern" else values
    return build(name_of(source), entries, (head.nrows, head.ncols), options, where=where), head.symmetry


def _header_for_chunks(source: Input, chunked: bool | None) -> Header | None:
    """The header of a file to be read in chunks, None for any other source."""
    if not isinstance(source, (str, os.PathLike)) or chunked is False:
        in_chunks(source, chunked, int)
        return None
    with open_input(source, False) as stream:
        head = read_header(stream)
    needed = lambda: bytes_to_build(head.nrows, head.ncols, head.entries * (1 + (head.symmetry != "general")))
    known = head.layout == "coordinate" and head.field != "complex"
    if chunked and not known:
        raise InvalidValue(f"{name_of(source)}: chunked: expected coordinates of reals, integers or a pattern")
    return head if known and in_chunks(source, chunked, needed) else None


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
            for rows, cols, values in reader.take_parts():
                count += len(rows)
                if reader.weights.real and head.field != "real":
                    raise InvalidValue(f"{place}: expected {head.entry}, got something else")
                reader.weights.check(self.name)
                self._check(place, rows, cols, values)
                if self.refuse_duplicates and weights and is_power_of_two(reader.blocks_parsed):
                    self._check_once(rows, cols)
                yield from self._expanded(rows, cols, values)
        if weights and head.field == "integer":
            self.value_dtype = reader.weights.dtype
        if (count := self.total_entries(count)) != head.entries:
            raise InvalidValue(f"{self.name}: expected {head.entries} entries, got {count}")

    def total_entries(self, seen: int) -> int:
        """The number of entries in the file, of which `seen` were read."""
        return seen

    def _check_once(self, rows: np.ndarray, cols: np.ndarray) -> None:
        """Refuse a duplicate within a block early, before all entries are read and sorted."""
        at = repeated_entries(rows, cols)
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


def check_precision(precision: object) -> int | None:
    """Validate the significant digits of reals; None for as many as needed. InvalidValue unless an integer from 1 to
    17."""
    if precision is None:
        return None
    if not isinstance(precision, (int, np.integer)) or isinstance(precision, bool) or not 1 <= precision <= DIGITS:
        raise InvalidValue(f"precision: expected an integer from 1 to {DIGITS}, got {precision!r}")
    return int(precision)


def mmwrite(
    target: Output,
    matrix: Coordinates,
    engine: str = "auto",
    *,
    comment: str = "",
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = None,
) -> None:
    """Write a Matrix, or a Vector as one column, as a Matrix Market coordinate file.

    target: a path (``.gz`` is compressed; the file is written atomically) or a file open for binary writing.
    field: real, integer, complex or pattern (which drops the values). None: BOOL becomes a pattern, or integers 0 and 1
    if an entry is False; integers and complex numbers stay, floats are real. precision: significant digits of a real,
    1 to 17; None: as many as needed to read the same number back. symmetry: general, symmetric, skew-symmetric or
    hermitian; all but general write the lower triangle; None: detected. Explicit zeros are written. The dtype is not
    stored: read with ``mmread(..., dtype=)``. engine: as in python-graphblas; all engines are SciPy's writer.

    Raises OSError if the file cannot be written; InvalidValue for another field, symmetry or precision, or for a field
    or symmetry that the matrix does not have.
    """
    from scipy.io import mmwrite as write
    from scipy.sparse import coo_array

    _choice("engine", engine, _ENGINES)
    precision = check_precision(precision)
    rows, cols, values, shape = columns_of(matrix)
    kind, values = _as_field(values, None if field is None else _choice("field", field, _FIELDS))
    requested = None if symmetry is None else _choice("symmetry", symmetry, _SYMMETRIES)
    symmetry = _symmetry(rows, cols, values, shape, requested)
    if symmetry != "general":
        low = rows >= cols
        rows, cols, values = rows[low], cols[low], values[low]
    coo = coo_array((values, (rows, cols)), shape=shape)
    with open_output(target) as stream:
        write(stream, coo, comment=comment, field=kind, precision=precision, symmetry=symmetry)


def _as_field(values: np.ndarray, field: str | None) -> tuple[str | None, np.ndarray]:
    """SciPy's name of the field, and the values as FC, FP, INT64, or UINT64 if needed."""
    if field == "pattern" or (field is None and values.dtype == np.bool_ and values.all()):
        return "pattern", np.ones(len(values))
    if field == "complex" or (field is None and values.dtype.kind == "c"):
        return "complex", values if values.dtype.kind == "c" else values.astype(np.complex128)
    if values.dtype.kind == "c":
        raise InvalidValue(f"field: expected 'complex' for complex values, got {field!r}")
    if field == "real" or (field is None and values.dtype.kind == "f"):
        return "real", values if values.dtype.kind == "f" else values.astype(np.float64)
    if values.dtype == np.uint64 and (values >> np.uint64(63)).any():
        return None, values  # SciPy then writes unsigned-integer
    if values.dtype.kind == "f" and not ((np.abs(values) < 2.0**63) & (values == np.floor(values))).all():
        raise InvalidValue("field: expected 'real' for values that are not all integers, got 'integer'")
    return "integer", values.astype(np.int64)


def _symmetry(
    rows: np.ndarray, cols: np.ndarray, values: np.ndarray, shape: tuple[int, int], requested: str | None
) -> str:
    """The symmetry of the entries, or the requested one if they have it."""
    general = requested == "general" or shape[0] != shape[1]
    found = "general" if general else symmetry_of(rows, cols, values, requested)
    if requested not in (None, found):
        raise InvalidValue(f"symmetry: expected a matrix that is {requested}, got one that is not")
    return found
