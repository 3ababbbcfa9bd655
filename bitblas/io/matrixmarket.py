"""Read and write Matrix Market files.

Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935.
"""

from __future__ import annotations

import os

import numpy as np

from ..core import Matrix
from ..exceptions import InvalidValue
from ..typing import DTypeLike
from . import matrixmarket_parser
from .build import Coordinates, DupOp, MatrixOptions, build, columns_of, symmetry_of
from .chunks import MatrixMarketChunks, in_chunks
from .files import Input, Output, bytes_to_build, created, line_of, name_of, opened
from .weights import is_rounded

_ENGINES = ("auto", "scipy", "fmm", "fast_matrix_market")
_FIELDS = ("real", "integer", "pattern", "complex")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
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
    head, rows, cols, values = matrixmarket_parser.read(source, progress, rounded)

    def where(i: int, j: int) -> str:
        ends = str(i + 1), str(j + 1)
        line = line_of(source, ends, 2, mirrored=head.symmetry != "general", skip=head.lines)
        return f"{line}: expected every entry once, got row {ends[0]}, column {ends[1]} twice"

    entries = (rows, cols, None if head.field == "pattern" else values, (head.nrows, head.ncols))
    return build(name_of(source), *entries, options, where=where), head.symmetry


def _header_for_chunks(source: Input, chunked: bool | None) -> matrixmarket_parser.Header | None:
    """The header of a file to be read in chunks, None for any other source."""
    if not isinstance(source, (str, os.PathLike)) or chunked is False:
        in_chunks(source, chunked, int)
        return None
    with opened(source, False) as stream:
        head = matrixmarket_parser.read_header(stream)
    needed = lambda: bytes_to_build(head.nrows, head.ncols, head.entries * (1 + (head.symmetry != "general")))
    known = head.layout == "coordinate" and head.field != "complex"
    if chunked and not known:
        raise InvalidValue(f"{name_of(source)}: chunked: expected coordinates of reals, integers or a pattern")
    return head if known and in_chunks(source, chunked, needed) else None


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
    with created(target) as stream:
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
