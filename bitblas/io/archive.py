"""Read .npz archives safely: check the declared size of every array before unpacking it."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any, NamedTuple

import numpy as np

from .files import DEFLATE_RATIO

_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the ones that NumPy writes
_VERSION = (1, 0)  # the header version of arrays without fields: at most 64 KiB long


class Header(NamedTuple):
    """Shape and dtype of an array, before it is read."""

    shape: tuple[int, ...]
    dtype: np.dtype


class Archive:
    """The arrays of a file that is open for binary reading, by name. Nothing is unpickled.

    The methods raise ValueError for an array that is missing or that does not match its header; reading a damaged file
    raises the exceptions of NumPy, zipfile and zlib (`npz.FAULTS`).
    """

    def __init__(self, source: Any) -> None:
        stream = source if source.seekable() else io.BytesIO(source.read())
        self.size = stream.seek(0, io.SEEK_END)
        self._zip = zipfile.ZipFile(stream)
        self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def header(self, name: str) -> Header:
        """The header of an array, checked against the size of its member and the best possible compression."""
        if name not in self._members:
            raise ValueError(f"no array {name!r}")
        member = self._members[name]
        with self._zip.open(member) as stream:
            try:
                if np.lib.format.read_magic(stream) != _VERSION:
                    raise ValueError("an unsupported version of the format")
                shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            except MemoryError:
                raise
            except Exception as error:  # any error of Python's parser on a damaged header
                raise ValueError(f"no array as {name!r}: {error}") from None
            start = stream.tell()
        ratio = 1 if member.compress_type == zipfile.ZIP_STORED else DEFLATE_RATIO
        packed = member.compress_type in _PACKINGS and member.compress_size <= self.size
        if not packed or member.file_size > ratio * member.compress_size:
            raise ValueError(f"{member.file_size} bytes as {name!r}, packed in {member.compress_size}")
        if min(shape, default=0) < 0 or start + dtype.itemsize * math.prod(shape) != member.file_size:
            raise ValueError(f"{member.file_size} bytes as {name!r}, for an array of {shape} and {dtype}")
        return Header(shape, dtype)

    def read(self, name: str) -> np.ndarray:
        """The array, in native byte order."""
        with self._zip.open(self._members[name]) as stream:
            found = np.lib.format.read_array(stream, allow_pickle=False)
        return found.astype(found.dtype.newbyteorder("="), copy=False)
