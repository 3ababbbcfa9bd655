"""Files: open, decompress, read in blocks, and replace atomically; every error names the file."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .. import device as devices
from ..atomic import replacing
from ..exceptions import InvalidValue
from ..formats.hyper.choice import is_hyper
from .progress import Progress

CHUNK = 1 << 18  # what fits the cache of a core, for the passes over it
LINE = 1 << 20  # bytes of a line, comments included: a longer one is refused before it fills the memory
_UNPACK: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}
_SUFFIX = {".gz": b"\x1f\x8b", ".bz2": b"BZ"}
DEFLATE_RATIO = 1032  # deflate cannot do better


def name_of(source: Any) -> str:
    """How messages call a source: its path, or its name, or its type."""
    if isinstance(source, (str, os.PathLike)):
        return str(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


class _Raw(io.RawIOBase):
    """Whatever has `read(size)`, as what a BufferedReader takes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        if isinstance(data, str):
            raise TypeError(f"{name_of(self.stream)}: expected a file open for binary reading, got one that gives text")
        buffer[: len(data)] = data
        return len(data)


class Source:
    """An open file as unpacked bytes, that knows its name and, where it is a regular file, how much it can hold."""

    def __init__(self, stream: Any, raw: Any, name: str, wanted: bool | None) -> None:
        self.stream, self.raw, self.name = stream, raw, name
        self.lines = 0  # that were given away before those at hand
        self.size: int | None = None
        try:
            status = os.fstat(raw.fileno())
            self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        except (AttributeError, OSError):
            pass
        self.progress, self.done = Progress(name, self.size, wanted), 0

    @property
    def room(self) -> int | None:
        """The most bytes that can come out; None if nobody knows."""
        if self.size is None or isinstance(self.stream, bz2.BZ2File):
            return None
        return self.size * (DEFLATE_RATIO if isinstance(self.stream, gzip.GzipFile) else 1)

    def read(self, size: int) -> bytes:
        data: bytes = self.stream.read(size)
        self.done += len(data)
        if self.progress.shown:
            self.progress.at(self.done if self.size is None else self.raw.tell())
        return data

    def readline(self) -> bytes:
        """The next line, b"" at the end. InvalidValue for one that is too long."""
        line: bytes = self.stream.readline(LINE + 1)
        if len(line) > LINE:
            raise self._too_long()
        self.lines += 1
        return line

    def blocks(self, size: int = 64 * CHUNK) -> Iterator[bytes]:
        """The rest of the file in blocks of whole lines, about `size` bytes each. InvalidValue for a line too long."""
        rest = b""
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
    """Where a line of more than LINE bytes begins, -1 if none does."""
    start = 0
    while len(block) - start > LINE:
        end = block.rfind(b"\n", start, start + LINE + 1)
        if end < 0:
            return start
        start = end + 1
    return -1


@contextmanager
def opened(source: Any, progress: bool | None = None) -> Iterator[Source]:
    """The source as unpacked bytes; what was opened here is closed.

    source: a path, or what has `read`: binary or text. Raises OSError if it cannot be opened; TypeError for something
    else; InvalidValue for compressed data with a fault, found when it is read.
    """
    with ExitStack() as stack:
        if isinstance(source, (str, os.PathLike)):
            raw: Any = stack.enter_context(open(source, "rb"))
        elif isinstance(source, io.BufferedReader):
            raw = source
        elif isinstance(source, io.TextIOBase):
            raw = io.BufferedReader(_Raw(io.BytesIO(source.read().encode())))
        elif hasattr(source, "read"):
            raw = io.BufferedReader(_Raw(source), CHUNK)
        else:
            raise TypeError(f"source: expected a path or an open file, got {type(source).__name__}")
        name = name_of(source)
        magic = raw.peek(2)[:2]
        expected = _SUFFIX.get(os.path.splitext(name)[1]) if isinstance(source, (str, os.PathLike)) else None
        if expected is not None and magic not in _UNPACK:
            raise InvalidValue(f"{name}: expected {name[-3:].strip('.')}ip data, as the name says, got {magic!r}")
        stream = stack.enter_context(_UNPACK[magic](raw)) if magic in _UNPACK else raw
        made = Source(stream, raw, name, progress)
        stack.callback(made.progress.close)
        try:
            yield made
        except (EOFError, OSError, zlib.error) as error:
            if getattr(error, "errno", None) is not None or stream is raw:
                raise
            raise InvalidValue(f"{name}: expected whole compressed data, got a fault in it: {error}") from None


def line_of(source: Any, ends: tuple[str, str], nth: int, *, mirrored: bool, delimiter: str | None, skip: int) -> str:
    """ ", line N" of the nth line after `skip` that begins with these two fields (or these exchanged, if mirrored).

    For messages: "" where the source cannot be read again.
    """
    if not isinstance(source, (str, os.PathLike)):
        return ""
    wanted = {ends, ends[::-1]} if mirrored else {ends}
    with opened(source) as stream:
        for number, line in enumerate(stream.stream, 1):
            fields = [part.strip().strip('"') for part in line.decode("utf-8", "replace").split(delimiter)]
            nth -= number > skip and tuple(fields[:2]) in wanted
            if not nth:
                return f", line {number}"
    return ""


class _Bz2(io.RawIOBase):
    """What is written into it, packed into a stream. BZ2File says where it is but cannot go there; SciPy tries."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.packer = stream, bz2.BZ2Compressor()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.stream.write(self.packer.compress(data))
        return len(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self.stream.write(self.packer.flush())


@contextmanager
def created(target: Any) -> Iterator[Any]:
    """A binary stream into a path, compressed where it ends in .gz or .bz2 and there whole or not at all, or into a
    file."""
    if hasattr(target, "write"):
        yield target
        return
    if not isinstance(target, (str, os.PathLike)):
        raise TypeError(f"target: expected a path or a file open for binary writing, got {type(target).__name__}")
    with replacing(target) as stream:
        suffix = os.path.splitext(os.fspath(target))[1]
        if suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as packed:
                yield packed
        elif suffix == ".bz2":
            with io.BufferedWriter(_Bz2(stream)) as packed:
                yield packed
        else:
            yield stream


def check_fits(place: str, nrows: int, ncols: int, entries: int = 0) -> None:
    """OutOfMemory where the row pointers and entries of a matrix would not fit; before memory is taken for them."""
    what = f"{place}: {nrows} x {ncols} with {entries} entries"
    devices.get("cpu").foresee(what, bytes_to_build(nrows, ncols, entries))


def bytes_to_build(nrows: int, ncols: int, entries: int) -> int:
    """Memory of the host for entries that are read at once: three numbers each, and pointers while they are sorted, or
    lists of the rows and columns that have entries where these are few."""
    if is_hyper(nrows, ncols, entries):
        return 72 * entries
    return 24 * max(nrows, ncols) + 24 * entries
