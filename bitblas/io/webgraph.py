"""Read WebGraph files, the format of published web crawls: BASE.graph and BASE.properties.

BASE.graph holds compressed adjacency lists, BASE.properties the parameters of the compression. The rows are decoded
sequentially, so that no offsets are needed, by a kernel of bitblas (kernels/reading.cpu.py); the package `webgraph`
also requires an index, which only its Rust tools create.

Boldi, Vigna: The WebGraph framework I: compression techniques. WWW 2004.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

from .. import device as devices
from .. import tuning
from ..core import Matrix
from ..exceptions import InvalidValue, OutOfMemory
from ..kernels.variant import Variant
from .files import Progress

WEBGRAPH = Variant("kernels/webgraph")
PROPERTIES_BYTES = 1 << 18  # most bytes of BASE.properties that are read
PAD = 32  # bytes of ones after the last byte, which terminate codes that run past the end of the file
SLACK = 16  # most bytes after the last row: files are padded to whole words
WIDEST = 1 << 10  # largest window of rows that a row may copy from; writers use 7 or 16
INPUT, ROOM, FAULT = 1, 2, 3  # kernels/reading.cpu.py
FAULTS = (
    "number of columns", "reference", "number of blocks", "list of blocks", "number of intervals",
    "start of an interval", "length of an interval", "list of columns",
)  # fmt: skip
CODES = ("UNARY", "GAMMA", "DELTA", "ZETA")
# Parts with a code of their own, and their default codes; OUTDEGREES applies to other parts too.
PARTS = {
    "OUTDEGREES": "GAMMA", "REFERENCES": "UNARY", "BLOCKS": "GAMMA", "BLOCK_COUNT": "GAMMA", "INTERVALS": "GAMMA",
    "RESIDUALS": "ZETA", "OFFSETS": "GAMMA",
}  # fmt: skip


@dataclass(frozen=True)
class Properties:
    """The contents of BASE.properties."""

    nodes: int
    arcs: int
    before: int  # rows that a row may copy from
    least: int  # least columns of an interval; 0: no intervals
    k: int  # of zeta codes
    codes: tuple[tuple[str, str], ...]

    @property
    def how(self) -> np.ndarray:
        """The parameters of the kernel."""
        code = {part: CODES.index(name) for part, name in self.codes}
        parts = ("OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", *3 * ("INTERVALS",), "RESIDUALS")
        return np.array([*(code[part] for part in parts), self.before, self.least, self.k])


def properties_of(path: str) -> Properties:
    """Parse BASE.properties. Raises OSError; InvalidValue for unsupported graph classes, codes and byte orders."""
    with open(path, "rb") as stream:
        text = stream.read(PROPERTIES_BYTES).decode("latin-1")
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, mark, value = line.strip().partition("=")
        if mark and key[:1] not in "#!":
            found[key.strip().lower()] = value.strip().replace("\\", "")

    def number(key: str, low: int, high: int, default: int | None = None) -> int:
        try:
            value = int(str(found.get(key, default)))
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise InvalidValue(f"{path}: expected {key} from {low} to {high}, got {found.get(key, 'none')}")
        return value

    kind = found.get("graphclass", "").removeprefix("class ").rpartition(".")[2]
    if kind != "BVGraph":
        raise InvalidValue(f"{path}: expected the properties of a BVGraph, got graphclass={kind or 'none'}")
    if found.get("endianness", "big") != "big":
        raise InvalidValue(f"{path}: expected a graph whose bits are big-endian, got endianness={found['endianness']}")
    number("version", 0, 0, 0)
    return Properties(
        number("nodes", 0, 1 << 60),
        number("arcs", 0, 1 << 62),
        number("windowsize", 0, WIDEST),
        number("minintervallength", 0, 1 << 30),
        number("zetak", 1, 30, 3),
        codes_of(path, found),
    )


def codes_of(path: str, stated: dict[str, str]) -> tuple[tuple[str, str], ...]:
    codes = dict(PARTS)
    for flag in stated.get("compressionflags", "").split("|"):
        part, _, code = flag.strip().upper().rpartition("_")
        if not part and not code:
            continue
        if part not in PARTS or code not in CODES:
            known = f"{', '.join(PARTS)}, each with {', '.join(CODES)}"
            raise InvalidValue(f"{path}: expected compressionflags of {known}, got {flag.strip()}")
        codes[part] = code
        if part == "BLOCKS" and "endianness" in stated:  # such writers use one code for the blocks and their number
            codes["BLOCK_COUNT"] = code
    return tuple(codes.items())


class WebGraphChunks:
    """The entries of a graph, row by row, as a repeatable iterable."""

    def __init__(self, base: str, progress: bool | None) -> None:
        self.graph, self.progress = f"{base}.graph", progress
        self.properties = properties_of(f"{base}.properties")
        self.shape = (self.properties.nodes,) * 2

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        arcs, expected = 0, self.properties.arcs
        progress = Progress(self.graph, os.stat(self.graph).st_size, self.progress)
        try:
            with open(self.graph, "rb") as stream:
                for rows, cols in self._decoded(stream):
                    arcs += len(cols)
                    if progress.shown:
                        progress.at(stream.tell())
                    if arcs > expected:
                        break
                    yield rows, cols
        finally:
            progress.close()
        if arcs != expected:
            more = "more" if arcs > expected else arcs
            raise InvalidValue(f"{self.graph}: expected {expected} arcs according to its properties, got {more}")

    def _decoded(self, stream: IO[bytes]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        host, before, nodes = devices.get("cpu"), self.properties.before, self.properties.nodes
        kernel, how = host.kernel(WEBGRAPH), self.properties.how
        block, entries = tuning.count("webgraph.block"), tuning.count("webgraph.chunk_entries")
        data, whole, size = b"", False, block
        words, first, room = np.zeros(0, np.uint32), 0, entries
        state, col = np.zeros(4, np.int64), np.zeros(0, np.int64)
        known = np.zeros(before + 1, np.int64)  # starts in `kept` of the rows that may be copied from
        kept = col
        while first < nodes:
            if not len(words):
                new = stream.read(size)
                whole = len(new) < size
                data = data[int(state[0]) >> 3 :] + new
                state[0] &= 7
                words = _words(data)
            rows = min(tuning.count("webgraph.chunk_rows"), nodes - first)
            col = np.zeros(len(kept) + room, np.int64)
            col[: len(kept)] = kept
            ptr = np.zeros(before + rows + 1, np.int64)
            ptr[: before + 1] = known
            work = np.empty(2 * len(col) + 4, np.int64)
            kernel(rows, words, 8 * len(data), how, nodes, first, ptr, col, work, state)
            done, why, needed = (int(x) for x in state[1:])
            if done:
                begin = ptr[before]
                number = np.arange(first, first + done)
                # rows before `begin` belong to the previous chunk
                lengths = np.diff(ptr[before : before + done + 1])
                yield np.repeat(number, lengths), col[begin : ptr[before + done]].copy()
                known = ptr[done : done + before + 1] - ptr[done]
                kept = col[ptr[done] : ptr[done + before]].copy()
                first += done
            if why == INPUT and whole:
                raise InvalidValue(f"{self.graph}: expected {nodes} rows, got the end of the file in row {first}")
            if why == INPUT:
                words, size = words[:0], block if done else 2 * size
            elif why == ROOM:
                room = max(entries, needed)
                host.foresee(f"{self.graph}, row {first}: {needed} columns", 40 * needed)
            elif why:
                raise InvalidValue(
                    f"{self.graph}: expected a valid {FAULTS[why - FAULT]} in row {first}, got an invalid one"
                )
        rest = len(data) - (int(state[0]) + 7 >> 3) + len(stream.read(SLACK))
        if rest >= SLACK:
            raise InvalidValue(f"{self.graph}: expected the end of the file after {nodes} rows, got more bytes")


def _words(data: bytes) -> np.ndarray:
    """Bytes as 32-bit words, padded with ones."""
    padded = data + b"\xff" * (PAD + -len(data) % 4)
    return np.frombuffer(padded, ">u4").astype(np.uint32)


def read_webgraph(
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    device: str | None = None,
    format: str | None = None,
    tile: int | None = None,
    progress: bool | None = None,
) -> Matrix:
    """Read a WebGraph into a Matrix: BOOL, True for each arc; rows are sources.

    Parameters
    ----------
    source
        The base path of the files, or the path of .graph or .properties; both files are needed,
        .offsets is not. The graph is read in chunks (twice or more, see `Matrix.from_chunks` also for
        peak memory) directly into `format`.

    Raises
    ------
    OSError
        If a file cannot be opened.
    InvalidValue
        With its name, if it is damaged, has labels, is little-endian, or uses codes other than unary,
        gamma, delta and zeta.
    OutOfMemory
    """
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source: expected a path, got {type(source).__name__}")
    base = os.fspath(source)
    for suffix in (".graph", ".properties"):
        base = base.removesuffix(suffix)
    chunks = WebGraphChunks(base, progress)
    try:
        return Matrix.from_chunks(chunks, name=name, device=device, format=format, tile=tile)
    except MemoryError as error:
        raise error if isinstance(error, OutOfMemory) else OutOfMemory(f"{chunks.graph}: {error}") from None
