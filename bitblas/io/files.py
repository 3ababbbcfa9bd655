"""Files: open, decompress, read in blocks with a progress line, and replace atomically; errors name the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shlex
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from .. import device as devices
from .. import display, tuning
from ..atomic import replacing
from ..exceptions import InvalidValue
from ..formats.hyper.layout import is_hyper

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class ReadStream(Protocol):
    """A file open for reading, binary or text."""

    def read(self, size: int = ..., /) -> bytes | str: ...


class WriteStream(Protocol):
    """A file open for binary writing."""

    def write(self, data: bytes, /) -> object: ...


# What users pass to readers and writers: a path or an open file.
Input: TypeAlias = str | os.PathLike[str] | ReadStream
Output: TypeAlias = str | os.PathLike[str] | WriteStream

Bytes: TypeAlias = io.BufferedReader | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile  # decompressed

# ---- A progress line on stderr while a large file is read.


class Progress:
    """Shows on stderr how much of a file has been read, if `shown`.

    show: True or False; None: if stderr is a terminal, after one second.
    """

    def __init__(self, name: str, total: int | None, show: bool | None) -> None:
        self.name, self.total = os.path.basename(name), total  # the whole path may not fit in a line
        self.shown = show if show is not None else sys.stderr.isatty()
        self.last = 0.0
        self.begin = time.monotonic() + (0.0 if show else tuning.value("progress.delay"))

    def at(self, done: int) -> None:
        """Report that `done` bytes of the file are read."""
        now = time.monotonic()
        if not self.shown or now - self.last < tuning.value("progress.file_interval") or now < self.begin:
            return
        self.last = now
        if self.total:
            full = min(20, 20 * done // self.total)
            share = f"[{'#' * full:<20}] {100 * done // self.total:3d} % of {self.total / 1e6:.0f} MB"
        else:
            share = f"{done / 1e6:.0f} MB"
        display.show_status(self, f"{self.name}: {share}")

    def close(self) -> None:
        """Remove the line."""
        display.clear_status(self)


# ---- Files: open, decompress, read in blocks, and replace atomically; every error names the file.

LINE = 1 << 20  # most bytes of a line, comments included; longer ones are refused before they fill memory
_UNPACK: dict[bytes, Callable[[io.BufferedReader], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZ": bz2.BZ2File,
    b"\xfd7": lzma.LZMAFile,
}
_SUFFIX = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
# Compressed files that are not read: how they begin, their suffix, and the command that unpacks them.
_REFUSED = (
    (b"\x28\xb5\x2f\xfd", ".zst", "zstd -d {name}"),
    (b"PK\x03\x04", ".zip", "unzip {name}"),
    (b"7z\xbc\xaf", ".7z", "7z x {name}"),
)
DEFLATE_RATIO = 1032  # the upper bound of deflate


def name_of(source: object) -> str:
    """The name of a source in messages: its path, its name, or its type."""
    if isinstance(source, (str, os.PathLike)):
        return str(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


def refuse_packed(name: str, magic: bytes = b"") -> None:
    """Raise InvalidValue, with the command that unpacks it, for a file that is compressed in another way."""
    for begin, suffix, command in _REFUSED:
        if name.lower().endswith(suffix) or magic.startswith(begin):
            how = command.format(name=shlex.quote(name))
            raise InvalidValue(f"{name}: expected a file that is plain, .gz, .bz2 or .xz, got {suffix}. Hint: {how}")


class _Raw(io.RawIOBase):
    """Wraps an object with `read(size)` for BufferedReader."""

    def __init__(self, stream: ReadStream) -> None:
        self.stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self.stream.read(len(view))
        if isinstance(data, str):
            raise TypeError(
                f"{name_of(self.stream)}: expected a file open for binary reading, got one that returns text"
            )
        view[: len(data)] = data
        return len(data)


class Source:
    """An open file as decompressed bytes, with its name and, for a regular file, an upper bound of its content."""

    def __init__(self, stream: Bytes, raw: io.BufferedReader, name: str, show: bool | None) -> None:
        self.stream, self.raw, self.name = stream, raw, name
        self.lines = 0  # lines returned so far
        self.size: int | None = None
        try:
            status = os.fstat(raw.fileno())
            self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        except (AttributeError, OSError):
            pass
        self.progress, self.done = Progress(name, self.size, show), 0

    @property
    def room(self) -> int | None:
        """An upper bound of the decompressed bytes; None if unknown."""
        if self.size is None or isinstance(self.stream, (bz2.BZ2File, lzma.LZMAFile)):
            return None
        return self.size * (DEFLATE_RATIO if isinstance(self.stream, gzip.GzipFile) else 1)

    def read(self, size: int) -> bytes:
        data: bytes = self.stream.read(size)
        self.done += len(data)
        if self.progress.shown:
            self.progress.at(self.done if self.size is None else self.raw.tell())
        return data

    def readline(self) -> bytes:
        """The next line, b"" at the end. InvalidValue if it is too long."""
        line: bytes = self.stream.readline(LINE + 1)
        if len(line) > LINE:
            raise self._too_long()
        self.lines += 1
        return line

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        """The rest of the file in blocks of whole lines, about `size` bytes each. InvalidValue for too long a line."""
        size, rest = size or tuning.count("file.block"), b""
        while data := self.read(size):
            cut = data.rfind(b"\n") + 1
            block, rest = (rest + data[:cut], data[cut:]) if cut else (b"", rest + data)
            lines = block.count(b"\n")
            if (long := _long_line(block)) >= 0 or len(rest) > LINE:
                self.lines += lines if long < 0 else block.count(b"\n", 0, long)
                raise self._too_long()
            if block:
                yield block
            self.lines += lines
        if rest:
            yield rest

    def _too_long(self) -> InvalidValue:
        return InvalidValue(f"{self.name}, line {self.lines + 1}: expected at most {LINE} bytes in a line, got more")


def _long_line(block: bytes) -> int:
    """The start of a line of more than LINE bytes, -1 if there is none."""
    start = 0
    while len(block) - start > LINE:
        end = block.rfind(b"\n", start, start + LINE + 1)
        if end < 0:
            return start
        start = end + 1
    return -1


@contextmanager
def open_input(source: Input, progress: bool | None = None) -> Iterator[Source]:
    """The source as decompressed bytes; files opened here are closed at the end.

    source: a path or an object with `read`, binary or text. Raises OSError if it cannot be opened; TypeError for other
    objects; InvalidValue for damaged compressed data, when it is read.
    """
    with ExitStack() as stack:
        if isinstance(source, (str, os.PathLike)):
            raw = stack.enter_context(open(source, "rb"))
        elif isinstance(source, io.BufferedReader):
            raw = source
        elif isinstance(source, io.TextIOBase):
            raw = io.BufferedReader(_Raw(io.BytesIO(source.read().encode())))
        elif hasattr(source, "read"):
            raw = io.BufferedReader(_Raw(source))
        else:
            raise TypeError(f"source: expected a path or an open file, got {type(source).__name__}")
        name = name_of(source)
        refuse_packed(name, raw.peek(4)[:4])
        magic = raw.peek(2)[:2]
        expected = _SUFFIX.get(os.path.splitext(name)[1]) if isinstance(source, (str, os.PathLike)) else None
        if expected is not None and magic not in _UNPACK:
            raise InvalidValue(f"{name}: expected {expected} data because of the file name, got {magic!r}")
        stream: Bytes = raw
        if magic in _UNPACK:
            stream = _UNPACK[magic](raw)
            stack.callback(stream.close)
        file = Source(stream, raw, name, progress)
        stack.callback(file.progress.close)
        try:
            yield file
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if getattr(error, "errno", None) is not None or stream is raw:
                raise
            raise InvalidValue(f"{name}: expected intact compressed data, got damaged data: {error}") from None


def line_of(
    source: Input, ends: tuple[str, str], nth: int, *, mirrored: bool = False, delimiter: str | None = None, skip: int
) -> str:
    """ ", line N" of the nth line after `skip` that starts with these two fields (or the swapped ones, if mirrored).

    For messages: "" if the source cannot be read again.
    """
    if not isinstance(source, (str, os.PathLike)):
        return ""
    pairs = {ends, ends[::-1]} if mirrored else {ends}
    with open_input(source) as stream:
        for number, line in enumerate(stream.stream, 1):
            fields = [part.strip().strip('"') for part in line.decode("utf-8", "replace").split(delimiter)]
            nth -= number > skip and tuple(fields[:2]) in pairs
            if not nth:
                return f", line {number}"
    return ""


@contextmanager
def open_output(target: Output) -> Iterator[WriteStream]:
    """A binary stream to a path, written atomically and compressed if the path ends in .gz, .bz2 or .xz, or to an open
    file."""
    if not isinstance(target, (str, os.PathLike)):
        if not hasattr(target, "write"):
            raise TypeError(f"target: expected a path or a file open for binary writing, got {type(target).__name__}")
        yield target
        return
    with replacing(target) as stream:
        suffix = os.path.splitext(os.fspath(target))[1]
        if suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as packed:
                yield packed
        elif suffix == ".bz2":
            with bz2.BZ2File(stream, "wb") as packed:
                yield packed
        elif suffix == ".xz":
            with lzma.LZMAFile(stream, "wb") as packed:
                yield packed
        else:
            yield stream


def check_fits(place: str, nrows: int, ncols: int, entries: int = 0) -> None:
    """Raise OutOfMemory if the row pointers and entries of a matrix would not fit, before allocating them."""
    what = f"{place}: {nrows} x {ncols} with {entries} entries"
    devices.get("cpu").foresee(what, bytes_to_build(nrows, ncols, entries))


def bytes_to_build(nrows: int, ncols: int, entries: int) -> int:
    """Host memory to read entries at once: three numbers per entry, and pointers for sorting (or lists of the nonempty
    rows and columns of a hypersparse matrix)."""
    if is_hyper(nrows, ncols, entries):
        return 72 * entries
    return 24 * max(nrows, ncols) + 24 * entries
