"""The Matrix Market format, as arrays: every fault of a file is one InvalidValue with its name and line.

SciPy parses the numbers. Left alone it would take ``1.5`` for the integer 1, ``1.0D+02`` for 1.0 and drop what follows
on a line, so the bytes pass through a check on their way to it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .exceptions import InvalidValue, OutOfMemory

_SPACE = b" \t\r\n\v\f"
_INTEGER = _SPACE + b"0123456789+-"
_FLOAT = _INTEGER + b".eE" + b"infatyINFATY"
_FIELDS = {  # SciPy's name, the bytes that may stand in the body, a value in words
    "pattern": ("pattern", _INTEGER, ""),
    "integer": ("integer", _INTEGER, "an integer"),
    "unsigned-integer": ("unsigned-integer", _INTEGER, "an integer from 0 on"),  # what SciPy writes for UINT64
    "real": ("real", _FLOAT, "a real number"),
    "double": ("real", _FLOAT, "a real number"),
}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_UNPACK: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}
_GZIP_RATIO = 1032  # deflate cannot do better
_CHUNK = 1 << 20


class Header(NamedTuple):
    """What the first lines say. ``entries`` is the number of entries that the body must hold."""

    layout: str
    field: str
    symmetry: str
    nrows: int
    ncols: int
    entries: int
    lines: int

    @property
    def width(self) -> int:
        """Numbers in one entry."""
        return 1 if self.layout == "array" else 2 if self.field == "pattern" else 3

    @property
    def entry(self) -> str:
        """What a line of the body must hold, in words."""
        place = "" if self.layout == "array" else f"a row in 1..{self.nrows}, a column in 1..{self.ncols}"
        return ", ".join(part for part in (place, _FIELDS[self.field][2]) if part)


def name_of(source: Any) -> str:
    """How messages call a source: its path, or its name, or its type."""
    if isinstance(source, (str, os.PathLike)):
        return str(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


@contextmanager
def _opened(source: Any) -> Iterator[Any]:
    """The source as a binary stream, decompressed; what was opened here is closed."""
    with ExitStack() as stack:
        if isinstance(source, (str, os.PathLike)):
            stream: Any = stack.enter_context(open(source, "rb"))
        elif isinstance(source, io.TextIOBase):
            stream = io.BytesIO(source.read().encode())
        elif hasattr(source, "read"):
            stream = source if hasattr(source, "readline") else io.BytesIO(source.read())
        else:
            raise TypeError(f"source: expected a path or an open file, got {type(source).__name__}")
        if hasattr(stream, "peek"):
            magic = stream.peek(2)[:2]
        else:
            at = stream.tell()
            magic = stream.read(2)
            stream.seek(at)
        if magic in _UNPACK:
            stream = stack.enter_context(_UNPACK[magic](stream))
        elif isinstance(source, (str, os.PathLike)) and str(source).endswith(".gz"):
            raise InvalidValue(f"{source}: expected gzip data, as the name says, got {magic!r}")
        yield stream


def _read_header(stream: Any, name: str) -> Header:
    line = stream.readline(4096)
    words = line.decode("latin-1").lower().split()
    if not words or words[0] != "%%matrixmarket":
        got = repr(line[:40].decode("latin-1")) if line else "an empty file"
        raise InvalidValue(f"{name}, line 1: expected '%%MatrixMarket matrix ...', got {got}")
    if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
        raise InvalidValue(
            f"{name}, line 1: expected '%%MatrixMarket matrix coordinate|array FIELD SYMMETRY', got {' '.join(words)!r}"
        )
    layout, field, symmetry = words[2:]
    if field not in _FIELDS:
        raise InvalidValue(f"{name}, line 1: expected a field of real, integer or pattern, got {field!r}")
    if symmetry not in _SYMMETRIES:
        raise InvalidValue(f"{name}, line 1: expected a symmetry of {', '.join(_SYMMETRIES)}, got {symmetry!r}")
    if field == "pattern" and (layout == "array" or symmetry == "skew-symmetric"):
        raise InvalidValue(f"{name}, line 1: a pattern is neither an array nor skew-symmetric, got {' '.join(words)!r}")
    lines = 1
    while line and (lines == 1 or line.lstrip().startswith(b"%") or not line.strip()):
        line = stream.readline(_CHUNK)
        lines += 1
    wanted = 3 if layout == "coordinate" else 2
    sizes = line.decode("latin-1").split()
    if len(sizes) != wanted or not all(s.isascii() and s.isdigit() and int(s) < 1 << 63 for s in sizes):
        what = "rows, columns and entries" if wanted == 3 else "rows and columns"
        got = repr(" ".join(sizes)[:60]) if line else "the end of the file"
        raise InvalidValue(f"{name}, line {lines}: expected the size line, {what} below 2^63, got {got}")
    nrows, ncols = int(sizes[0]), int(sizes[1])
    if symmetry != "general" and nrows != ncols:
        raise InvalidValue(f"{name}, line {lines}: expected a square matrix ({symmetry}), got {nrows} x {ncols}")
    triangle = {"general": nrows * ncols, "symmetric": nrows * (nrows + 1) // 2}
    count = int(sizes[2]) if wanted == 3 else triangle.get(symmetry, nrows * (nrows - 1) // 2)
    return Header(layout, _FIELDS[field][0], symmetry, nrows, ncols, count, lines)


class _Checked:
    """A reader that gives SciPy a plain header and then the body, and looks at what goes by."""

    def __init__(self, stream: Any, head: Header) -> None:
        self.stream, self.allowed, self.newlines = stream, _FIELDS[head.field][1], head.lines
        size = f"{head.nrows} {head.ncols}" + (f" {head.entries}" if head.layout == "coordinate" else "")
        self.first = f"%%MatrixMarket matrix {head.layout} {head.field} {head.symmetry}\n{size}\n".encode()
        self.numbers, self.within = 0, False
        self.fault: tuple[int, str] | Exception | None = None

    def read(self, size: int = -1) -> bytes:
        if self.first:
            first, self.first = self.first, b""
            return first
        if self.fault is not None:
            return b""
        try:
            data = self.stream.read(max(size, _CHUNK))
        except Exception as error:
            self.fault = error  # it would not survive the way through SciPy
            return b""
        strange = data.translate(None, self.allowed)
        if strange:
            at = data.index(strange[:1])
            start = data.rfind(b"\n", 0, at) + 1
            text = data[start : at + 40].split(b"\n")[0].decode("latin-1").strip()
            self.fault = (self.newlines + data.count(b"\n", 0, at) + 1, text)
            return b""
        self.newlines += data.count(b"\n")
        if data:
            full = np.frombuffer(data, np.uint8) > 32
            self.numbers += int(np.count_nonzero(full[1:] & ~full[:-1])) + int(full[0] and not self.within)
            self.within = bool(full[-1])
        return data


def read(source: Any) -> tuple[Header, np.ndarray, np.ndarray, np.ndarray]:
    """Read a file: its header, then rows, columns (int32, or int64 for sizes from 2^31 on) and values (float64,
    int64 or uint64), expanded.

    Raises OSError if it cannot be opened, InvalidValue if it is no real Matrix Market file, OutOfMemory.
    """
    name = name_of(source)
    with _opened(source) as stream:
        try:
            head = _read_header(stream, name)
            _check_room(stream, head, name)
            return head, *_read_body(stream, head, name, source)
        except (EOFError, OSError, zlib.error) as error:
            if getattr(error, "errno", None) is not None:
                raise
            raise InvalidValue(f"{name}: expected whole compressed data, got a fault in it: {error}") from None


def _check_room(stream: Any, head: Header, name: str) -> None:
    """Refuse a count that the file cannot hold before memory is taken for it."""
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError):
        return
    if not stat.S_ISREG(status.st_mode) or isinstance(stream, bz2.BZ2File):
        return
    room = (status.st_size * (_GZIP_RATIO if isinstance(stream, gzip.GzipFile) else 1) + 1) // (2 * head.width)
    if head.entries > room:
        raise InvalidValue(
            f"{name}, line {head.lines}: the size line declares {head.entries} entries, but a file of "
            f"{status.st_size} bytes holds at most {room}"
        )


def _read_body(stream: Any, head: Header, name: str, source: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from scipy.io import mmread

    body = _Checked(stream, head)
    failure: Exception | None = None
    matrix: Any = None
    try:
        matrix = mmread(body)
        while body.read():
            pass
    except MemoryError:
        raise OutOfMemory(f"{name}: {head.entries} entries do not fit in memory") from None
    except (ValueError, OverflowError) as error:
        failure = error
    if isinstance(body.fault, Exception):
        raise body.fault
    if body.fault:
        number, text = body.fault
        hint = "; an exponent is written with E" if re.search(r"\d[dD][+-]?\d", text) else ""
        raise InvalidValue(f"{name}, line {number}: expected {head.entry}, got {text!r}{hint}")
    if failure is not None:
        raise InvalidValue(_explain(str(failure), head, name, source)) from None
    if body.numbers != head.entries * head.width:
        where = _first_line(source, head)
        raise InvalidValue(f"{name}{where[0]}: expected {head.entry} and nothing after it, got {where[1]}")
    if head.layout == "array":
        rows, cols = (part.ravel() for part in np.indices(matrix.shape))
        return rows, cols, np.asarray(matrix).ravel()
    if head.symmetry == "skew-symmetric" and (matrix.row == matrix.col).any():
        raise InvalidValue(f"{name}: expected no entry on the diagonal, as it is skew-symmetric, got one")
    return matrix.row, matrix.col, matrix.data


def _explain(message: str, head: Header, name: str, source: Any) -> str:
    """SciPy's words, with our line numbers and what stands there."""
    short = re.match(r"Truncated file\. Expected another (\d+) lines", message)
    if short:
        return f"{name}: cut off: expected {head.entries} entries, got {head.entries - int(short[1])}"
    place = re.match(r"Line (\d+): (.*)", message)
    if not place:
        return f"{name}: {message}"
    number = int(place[1]) + head.lines - 2
    if "Too many" in message:
        return f"{name}, line {number}: expected {head.entries} entries, got more"
    what = place[2].rstrip(".").lower()
    return f"{name}, line {number}: {what}: expected {head.entry}, got {_line(source, number)}"


def _line(source: Any, number: int) -> str:
    if not isinstance(source, (str, os.PathLike)):
        return "something else"
    with _opened(source) as stream:
        return repr(next(islice(stream, number - 1, None), b"")[:60].decode("latin-1").strip())


def _first_line(source: Any, head: Header) -> tuple[str, str]:
    """The first line of the body that has not ``head.width`` numbers: its place and its text."""
    if isinstance(source, (str, os.PathLike)):
        with _opened(source) as stream:
            for number, line in enumerate(stream, 1):
                if number > head.lines and len(line.split()) not in (0, head.width):
                    return f", line {number}", repr(line[:60].decode("latin-1").strip())
    return "", "more numbers"
