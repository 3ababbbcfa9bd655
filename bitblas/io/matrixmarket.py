"""Read and write Matrix Market files; every fault raises one InvalidValue with the file and the line.

Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935. NumPy parses the numbers. SciPy's reader is
faster, but it drops what follows a number, reads beyond the end of its text if an exponent is cut off, and writes
beyond the end of its array if there are too many values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from types import SimpleNamespace
from typing import NamedTuple

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
from .files import (
    Input,
    Output,
    Source,
    bytes_to_build,
    check_fits,
    line_of,
    name_of,
    open_input,
    open_output,
)
from .weights import INTEGER, NUMBER, ROUNDED, WeightType, integer_type, is_rounded, parse_columns, value_of

# ---- Parse Matrix Market files into arrays; every fault raises one InvalidValue with the file and the line.

FIELDS = {  # a value in words
    "pattern": "",
    "integer": "an integer",
    "unsigned-integer": "an integer of 0 or more",  # SciPy writes it for UINT64
    "real": "a real number",
    "complex": "a real and an imaginary part",
}
_NUMBERS = {"i8": INTEGER, "u8": re.compile(r"\+?\d+", re.ASCII), "f8": NUMBER}  # by the type of a value
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
    def ends(self) -> int:
        """Indices per entry."""
        return 0 if self.layout == "array" else 2

    @property
    def width(self) -> int:
        """Numbers per entry."""
        return self.ends + {"pattern": 0, "complex": 2}.get(self.field, 1)

    @property
    def kind(self) -> str:
        """NumPy's type of the values."""
        return {"integer": "i8", "unsigned-integer": "u8"}.get(self.field, "f8")

    def places(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of `count` elements of an array, whose columns follow each other, the lower triangle of a
        symmetric one."""
        if self.symmetry == "general":
            at = np.arange(first, first + count)
            return at % self.nrows, at // self.nrows
        cols, rows = np.triu_indices(self.nrows, 1 if self.symmetry == "skew-symmetric" else 0)
        return rows[first : first + count], cols[first : first + count]

    @property
    def entry(self) -> str:
        """The expected content of a line of the body, in words."""
        place = "" if self.layout == "array" else f"a row in 1..{self.nrows}, a column in 1..{self.ncols}"
        return ", ".join(part for part in (place, FIELDS[self.field]) if part)


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
    field = "real" if field == "double" else field
    if field not in FIELDS:
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
    head = Header(layout, field, symmetry, nrows, ncols, declared, lines)
    most = None if source.room is None else (source.room + 1) // (2 * head.width)
    if most is not None and declared > most:
        raise InvalidValue(
            f"{name}, line {lines}: the size line declares {declared} entries, but a file of {source.size} bytes holds "
            f"at most {most}"
        )
    return head


class Body:
    """Parses the lines after the header, block by block, with NumPy's reader. Each line must be one entry."""

    def __init__(self, name: str, head: Header, *, rounded: bool, refuse_duplicates: bool = False) -> None:
        self.name, self.head = name, head
        self.rounded = rounded  # whether values become floats, so that integers of any size are accepted
        self.refuse_duplicates = refuse_duplicates  # early, within a block
        self.weights = WeightType(rounded or head.kind == "f8")
        self.lines = self.count = self.blocks = 0  # lines, entries and blocks before the block

    def entries(self, stream: Source) -> Iterator[Entries]:
        """The entries of each block; values None for a pattern. InvalidValue, with the line, for a malformed one."""
        blocks = stream.blocks(tuning.count("file.chunked_block"))
        self.lines = stream.lines
        for block in blocks:
            if not block.isspace():
                yield self._parse(block)
            self.lines += block.count(b"\n")

    def check_count(self, count: int) -> None:
        if count != self.head.entries:
            raise InvalidValue(f"{self.name}: cut off: expected {self.head.entries} entries, got {count}")

    def _parse(self, block: bytes) -> Entries:
        head, table = self.head, self._columns(block)
        count = len(next(iter(table.values())))
        if self.count + count > head.entries:
            number, _ = self._line(block, head.entries - self.count)
            raise InvalidValue(f"{self.name}, line {number}: expected {head.entries} entries, got more")
        rows, cols = (table["row"] - 1, table["col"] - 1) if head.ends else head.places(self.count, count)
        outside = (rows < 0) | (rows >= head.nrows) | (cols < 0) | (cols >= head.ncols)
        if outside.any():
            raise self._fault(*self._line(block, outside.argmax()))
        values = table.get("value")
        if values is not None and head.kind != "f8":
            self.weights.add(values, real=False)
            self.weights.check(self.name)
        if "imaginary" in table:
            values = np.stack([table["value"], table["imaginary"]], 1).view(np.complex128).ravel()
        if values is not None and head.symmetry == "skew-symmetric":
            wrong = (rows == cols) & (values != 0)
            if wrong.any():
                number, _ = self._line(block, wrong.argmax())
                raise InvalidValue(
                    f"{self.name}, line {number}: expected zeros on the diagonal of a skew-symmetric matrix, got "
                    f"another value in row {rows[wrong][0] + 1}"
                )
        self.count, self.blocks = self.count + count, self.blocks + 1
        if self.refuse_duplicates and values is not None and is_power_of_two(self.blocks):
            at = repeated_entries(rows, cols)
            if len(at):
                number, _ = self._line(block, at.min())
                ends = f"row {rows[at.min()] + 1}, column {cols[at.min()] + 1}"
                expected = f"expected every entry once, got {ends} twice. Hint: {DUP_OP_HINT}"
                raise InvalidValue(f"{self.name}, line {number}: {expected}")
        return rows, cols, values

    def _columns(self, block: bytes) -> dict[str, np.ndarray]:
        """The numbers of a block, by column."""
        head = self.head
        names = [*("row", "col")[: head.ends], *("value", "imaginary")[: head.width - head.ends]]
        for kind in ("i8", "u8") if head.kind == "i8" else (head.kind,):
            table = parse_columns(block, [(name, "i8" if k < head.ends else kind) for k, name in enumerate(names)])
            if table is not None:
                return {name: table[name] for name in names}
        # a malformed line, or integers of different types
        lines = [self._fields(number, line) for number, line in self._lines(block)]
        found = {}
        for k, name in enumerate(names):
            texts = [fields[k] for fields in lines]
            if k < head.ends:
                found[name] = np.array(list(map(int, texts)), np.int64)
            else:
                values = self.weights.of_words(texts, ".")
                same = values.dtype.kind == "f" or head.kind == "i8"
                found[name] = values if same else values.astype(head.kind)
        return found

    def _fields(self, number: int, line: str) -> list[str]:
        """The numbers of a line. InvalidValue if it is not an entry."""
        head, fields = self.head, line.split()
        ends, values = fields[: head.ends], fields[head.ends :]
        right = len(fields) == head.width and all(map(INTEGER.fullmatch, ends))
        right = right and all(map(_NUMBERS[head.kind].fullmatch, values))
        far = right and any(value_of(end) >= 1 << 63 for end in ends)
        wide = right and head.kind != "f8" and not self.rounded and integer_type(list(map(value_of, values))) is None
        if right and not far and not wide:
            return fields
        hint = ". Hint: write exponents with E" if re.search(r"\d[dD][+-]?\d", line) else ""
        if wide and not far:
            hint = f". {BOTH}. {ROUNDED}"
        raise self._fault(number, line, "integer out of range: " if far or wide else "", hint)

    def _fault(self, number: int, line: str, what: str = "", hint: str = "") -> InvalidValue:
        more = " and nothing after it" if len(line.split()) > self.head.width else ""
        expected = f"{what}expected {self.head.entry}{more}, got {line[:60]!r}"
        return InvalidValue(f"{self.name}, line {number}: {expected}{hint}")

    def _lines(self, block: bytes) -> Iterator[tuple[int, str]]:
        """The lines that are not blank, with their numbers."""
        lines = enumerate(block.decode("latin-1").split("\n"), self.lines + 1)
        return ((number, line.strip()) for number, line in lines if line.strip())

    def _line(self, block: bytes, entry: int | np.intp) -> tuple[int, str]:
        return next(islice(self._lines(block), int(entry), None))


def expanded(name: str, head: Header, entries: Entries, rounded: bool) -> Entries:
    """The entries of a triangle, followed by their mirror images. InvalidValue for integers without a negative, unless
    they may be rounded."""
    rows, cols, values = entries
    if head.symmetry == "general":
        return entries
    off = rows != cols
    mirror = None if values is None else values[off]
    if values is not None and head.symmetry == "skew-symmetric":
        if values.dtype.kind == "u" or (values.dtype.kind == "i" and (values == np.iinfo(np.int64).min).any()):
            if not rounded:
                raise InvalidValue(f"{name}: {UNSIGNED}")
            values = values.astype(np.float64)
        mirror = -values[off]
    elif values is not None and head.symmetry == "hermitian":
        mirror = values[off].conj()
    both = None if values is None or mirror is None else np.append(values, mirror)
    return np.append(rows, cols[off]), np.append(cols, rows[off]), both


def parse(source: Input, progress: bool | None = None, rounded: bool = False) -> tuple[Header, Entries]:
    """Read a file: its header and its entries, expanded. Values are int64, uint64 if one is 2^63 or more, float64 or
    complex128. rounded: integers that fit neither int64 nor uint64 become float64; otherwise they are refused.

    Raises OSError if it cannot be opened, InvalidValue if it is not a valid Matrix Market file, OutOfMemory.
    """
    with open_input(source, progress) as stream:
        head = read_header(stream)
        check_fits(f"{stream.name}, line {head.lines}", head.nrows, head.ncols, head.entries)
        body = Body(stream.name, head, rounded=rounded)
        try:
            parts = list(body.entries(stream))
        except MemoryError:
            raise OutOfMemory(f"{stream.name}: {head.entries} entries do not fit in memory") from None
    body.check_count(body.count)
    none = np.zeros(0, np.int64)
    rows, cols = (np.concatenate([none, *(part[k] for part in parts)]) for k in (0, 1))
    values = None
    if head.field != "pattern":
        found = [part[2] for part in parts if part[2] is not None]
        kind = np.result_type("c16" if head.field == "complex" else head.kind, *found)
        kind = body.weights.dtype if head.field == "integer" else kind
        values = np.concatenate([np.zeros(0, kind), *(part.astype(kind, copy=False) for part in found)])
    if head.layout == "array" and head.symmetry == "skew-symmetric" and values is not None:
        rows, cols = (np.append(ends, np.arange(head.nrows)) for ends in (rows, cols))
        values = np.append(values, np.zeros(head.nrows, values.dtype))
    return head, expanded(body.name, head, (rows, cols, values), rounded)


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

    Parameters
    ----------
    source
        A path (plain, gzip or bzip2) or an open file, binary or text. Coordinate and array; real,
        integer, complex and pattern; general, symmetric, skew-symmetric and hermitian (these are
        expanded).
    chunked : optional
        Read the file twice, one block at a time (`Matrix.from_chunks`); None: if the entries do not fit
        at once. Chunked reading requires a path.
    progress : optional
        Whether to show a progress line on stderr; None: if stderr is a terminal, after one second.
    engine : optional
        As in python-graphblas, but all engines are the same reader.

    Raises
    ------
    OSError
        If the file cannot be opened.
    InvalidValue
        With file and line, for a malformed file, a duplicate entry, or a line of more than 1 MiB.
    OutOfMemory

    Notes
    -----
    The dtype is BOOL (iso-valued) for a pattern; INT64 for integer (UINT64 if all are 0 or more and one is 2^63 or
    more, and for unsigned-integer), FP64 for real and FC64 for complex; or ``dtype``, in which the values must fit.
    Integers beyond 64 bits can be read with "FP64", rounded. Explicit zeros are entries, and so is every element of an
    array file. A duplicate entry counts once in a pattern; with values it requires ``dup_op`` (``binary.plus`` for
    finite elements), as in python-graphblas. ``device``, ``format``, ``tile`` and ``packed`` are those of
    ``Matrix.from_coo``.

    In addition to the result, memory holds the entries once, about 24 bytes each.
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
    head, entries = parse(source, progress, rounded)

    def where(i: int, j: int) -> str:
        ends = str(i + 1), str(j + 1)
        line = line_of(source, ends, 2, mirrored=head.symmetry != "general", skip=head.lines)
        return f"{line}: expected every entry once, got row {ends[0]}, column {ends[1]} twice"

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
        body = Body(self.name, head, rounded=self.rounded, refuse_duplicates=self.refuse_duplicates)
        if head.field != "pattern":  # a file without entries needs a type too
            yield np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, head.kind)
        for part in body.entries(stream):
            yield expanded(self.name, head, part, self.rounded)
        if head.field == "integer":
            self.value_dtype = body.weights.dtype
        body.check_count(body.count)


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

    Parameters
    ----------
    target
        A path (``.gz`` is compressed; the file is written atomically) or a file open for binary
        writing.
    field : optional
        Real, integer, complex or pattern (which drops the values). None: BOOL becomes a pattern, or
        integers 0 and 1 if an entry is False; integers and complex numbers stay, floats are real.
    precision : optional
        Significant digits of a real, 1 to 17; None: as many as needed to read the same number back.
    symmetry : optional
        General, symmetric, skew-symmetric or hermitian; all but general write the lower triangle; None:
        detected. Explicit zeros are written. The dtype is not stored: read with ``mmread(...,
        dtype=)``.
    engine : optional
        As in python-graphblas; all engines are SciPy's writer.

    Raises
    ------
    OSError
        If the file cannot be written.
    InvalidValue
        For another field, symmetry or precision, or for a field or symmetry that the matrix does not
        have.
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
        plain = SimpleNamespace(write=stream.write)  # SciPy would seek in a BZ2File, which has only `tell`
        write(plain, coo, comment=comment, field=kind, precision=precision, symmetry=symmetry)


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
