"""Container file format: named arrays in one file that can be memory-mapped, used for saved matrices.

It contains no pickle, and nothing in it is executed.

    64 bytes   magic, byte order mark, version, bytes of the file and of the text, number and checksum of the next two
    text       JSON: the sections; each has a name, facts, and the name, type and length of its arrays
    checksums  CRC-32 of each block of 16 MiB of each array, uint32
    arrays     one after the other, each at the next multiple of 64 bytes

The header is these 64 bytes, the text and the checksums. Its own checksum and all lengths are verified whenever a file
is opened. The position of an array follows from the lengths, so arrays cannot overlap. Numbers have the byte order of
the machine that wrote the file; machines of the other byte order refuse it.

CRC-32 is zlib's: it detects every change of up to 32 consecutive bits, at 3.4 GB/s (measured, one core). Adler-32 is no
faster and weak on short blocks. A sum of words takes a ninth of the time but does not detect swapped words.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from semirings import dtypes

from .. import tuning
from ..atomic import replacing
from ..device import Device
from ..exceptions import InvalidValue
from ..typing import Array

MAGIC, MARK, VERSION = b"\x93bitblas", 0x01020304, 2
HEAD = struct.Struct("=8sIIQQQI20x")
BLOCK = 1 << 24  # bytes per checksum, and per copy
ALIGN = 64  # cache line
TYPES = {t.np_type.name: t.np_type for t in dtypes.ALL}
# Do not reserve memory for unwritten pages: a file may be larger than memory.
NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
PRIVATE: dict[str, int] = {"access": mmap.ACCESS_COPY}  # Windows, where a mapped file cannot change
if hasattr(mmap, "MAP_PRIVATE"):
    PRIVATE = {"flags": mmap.MAP_PRIVATE | NORESERVE, "prot": mmap.PROT_READ | mmap.PROT_WRITE}


class Section(NamedTuple):
    """Named arrays and facts about them. required: readers that do not support the section must refuse the file."""

    name: str
    facts: dict[str, Any]
    arrays: dict[str, Array]
    required: bool = True


class StoredSection(NamedTuple):
    """A section of an open file: the positions of its arrays."""

    name: str
    facts: dict[str, Any]
    arrays: dict[str, Place]
    required: bool


class Place(NamedTuple):
    """Position of an array in a file: its type, length, first byte, and first block number."""

    dtype: np.dtype
    length: int
    offset: int
    block: int

    @property
    def nbytes(self) -> int:
        return self.length * int(self.dtype.itemsize)


def _aligned(n: int) -> int:
    return -(-n // ALIGN) * ALIGN


def _blocks(nbytes: int) -> Iterator[tuple[int, int]]:
    return ((at, min(at + BLOCK, nbytes)) for at in range(0, nbytes, BLOCK))


# ---- writing ----


def write(path: str | os.PathLike[str], sections: list[Section], device: Device) -> None:
    """Write a file, whole or not at all. Memory: two blocks on the host. OSError if it cannot be written."""
    described = [
        {
            "name": s.name,
            "facts": s.facts,
            "required": s.required,
            "arrays": [[name, np.dtype(a.dtype).name, len(a)] for name, a in s.arrays.items()],
        }
        for s in sections
    ]
    text = json.dumps({"sections": described}).encode()
    arrays = [array for section in sections for array in section.arrays.values()]
    count = sum(-(-int(a.nbytes) // BLOCK) for a in arrays)
    sums: list[Future[int]] = []
    with replacing(path) as stream, ThreadPoolExecutor(1) as pool:
        end = HEAD.size + len(text) + 4 * count
        for array in arrays:
            begin = _aligned(end)
            stream.seek(begin)
            items = BLOCK // int(array.dtype.itemsize)
            for at in range(0, len(array), items):
                data = np.ascontiguousarray(device.to_host(array[at : at + items])).view(np.uint8).data
                if sums:
                    sums[-1].result()
                sums.append(pool.submit(zlib.crc32, data))
                stream.write(data)
            end = begin + int(array.nbytes)
        stream.truncate(end)
        body = text + np.array([x.result() for x in sums], np.uint32).tobytes()
        head = (MAGIC, MARK, VERSION, end, len(text), count)
        check = zlib.crc32(body, zlib.crc32(HEAD.pack(*head, 0)))
        stream.seek(0)
        stream.write(HEAD.pack(*head, check) + body)


# ---- reading ----


class Container:
    """An open file: its sections, whose arrays are Places. Raises OSError; InvalidValue, with name and reason, for
    files that are of another kind, truncated, damaged or inconsistent."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        with open(path, "rb") as stream:
            self.length = os.fstat(stream.fileno()).st_size
            text, sums = self._head(stream)
            self.sections, count = self._described(text, HEAD.size + len(text) + len(sums))
            if len(sums) != 4 * count:
                raise self.fault(f"expected {count} checksums, got {len(sums) / 4:g}")
            self.sums = np.frombuffer(sums, np.uint32)
            # Private and writable, so that NumPy reports the arrays as writable and kernels are not compiled again for
            # read-only ones. Nothing writes to them; a write would not change the file.
            self.map = mmap.mmap(stream.fileno(), 0, **PRIVATE)

    def fault(self, what: str) -> InvalidValue:
        return InvalidValue(f"{self.name}: {what}")

    def _head(self, stream: BinaryIO) -> tuple[bytes, bytes]:
        """The text and the block checksums, as bytes."""
        first = stream.read(HEAD.size)
        if first[: len(MAGIC)] != MAGIC:
            raise self.fault(f"expected a matrix saved by bitblas, got a file that begins with {first[:8]!r}")
        if len(first) < HEAD.size:
            raise self.fault(f"truncated: expected a header of {HEAD.size} bytes, got {len(first)}")
        _, mark, version, length, size, count, check = HEAD.unpack(first)
        if mark != MARK:
            swapped = mark == int.from_bytes(MARK.to_bytes(4, "big"), "little")
            got = "that of a machine of the other byte order" if swapped else "a damaged header"
            raise self.fault(f"expected a file of this machine's byte order, got {got}")
        if version != VERSION:
            raise self.fault(f"expected version {VERSION} of the format, got version {version}")
        if length != self.length:
            raise self.fault(
                f"expected {length} bytes according to its header, got {self.length}: it is truncated or damaged"
            )
        body = stream.read(size + 4 * count) if size + 4 * count <= self.length else b""
        blank = first[: HEAD.size - 24] + bytes(4) + first[HEAD.size - 20 :]
        if zlib.crc32(body, zlib.crc32(blank)) != check:
            raise self.fault("its header is damaged: checksum mismatch")
        return body[:size], body[size:]

    def _described(self, text: bytes, end: int) -> tuple[list[StoredSection], int]:
        """The sections, and the number of blocks of their arrays. end: of the header."""
        sections, block = [], 0
        try:
            for about in json.loads(text)["sections"]:
                name, facts, required = about["name"], about["facts"], about["required"]
                if not isinstance(name, str) or not isinstance(facts, dict) or not isinstance(required, bool):
                    raise ValueError(f"a section {name!r}")
                places: dict[str, Place] = {}
                for array, kind, length in about["arrays"]:
                    if type(length) is not int or length < 0 or kind not in TYPES or array in places:
                        raise ValueError(f"{length!r} numbers of {kind!r} as {array!r} of {name!r}")
                    begin = _aligned(end)
                    places[array] = place = Place(np.dtype(TYPES[kind]), length, begin, block)
                    end, block = begin + place.nbytes, block + -(-place.nbytes // BLOCK)
                sections.append(StoredSection(name, facts, places, required))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self.fault(f"expected a description of arrays in its header, got {error or type(error)}") from None
        if end != self.length:
            raise self.fault(f"expected {end} bytes according to the lengths of its arrays, got {self.length}")
        return sections, block

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(place.nbytes for section in self.sections for place in section.arrays.values())

    def load(self, section: StoredSection, device: Device, verify: bool) -> dict[str, Array]:
        """The arrays of a section: on the CPU mapped from the file, on a GPU copied block by block, each block checked.
        verify: check the blocks on the CPU too, which reads all of them."""
        found = {}
        for name, place in section.arrays.items():
            data = np.frombuffer(self.map, np.uint8, place.nbytes, place.offset if place.nbytes else 0)
            array = mapped = data.view(place.dtype)
            if not device.host_memory:
                array = device.xp.empty(place.length, place.dtype)
            items = int(place.dtype.itemsize)
            for a, b in self._checked(section, name, place, data) if verify or array is not mapped else ():
                if array is not mapped:
                    array[a // items : b // items] = device.asarray(mapped[a // items : b // items])
            found[name] = array
        return found

    def _checked(self, section: StoredSection, name: str, place: Place, data: Array) -> Iterator[tuple[int, int]]:
        """The blocks of an array in order; several threads compute their checksums."""
        blocks = list(_blocks(place.nbytes))
        with ThreadPoolExecutor(min(tuning.count("container.workers"), os.cpu_count() or 1)) as pool:
            sums = pool.map(lambda block: zlib.crc32(data[slice(*block)].data), blocks)
            for (a, b), found, expected in zip(blocks, sums, self.sums[place.block :], strict=False):
                if found != expected:
                    raise self.fault(
                        f"damaged: bytes {place.offset + a} to {place.offset + b} ({name} of section {section.name!r}) "
                        "do not match their checksum"
                    )
                yield a, b
