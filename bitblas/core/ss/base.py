"""`serialize` and `deserialize`: objects as bytes and back.

The bytes are in a format of bitblas, compressed by zlib, not in SuiteSparse's. Truncated or changed bytes are refused,
and nothing in them is executed.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from semirings import dtypes
from semirings.dtypes import cast_scalar
from semirings.user_types import UserType, described

from ...device import Device
from ...exceptions import EmptyObject, InvalidObject, NotImplementedException
from ..convert import pickled
from ..matrix.matrix import Matrix
from ..options import check_options
from ..scalar import Scalar
from ..statement.scalar_operands import of
from ..vector import Vector

if TYPE_CHECKING:
    from ..matrix.matrix import Matrix
    from ..typing import DTypeArg
    from ..vector import Vector


HEAD = struct.Struct("<8sIQ")  # magic, checksum and length of the rest
MAGIC = b"\x93bitblob"
# Name of the compression in python-graphblas -> the highest level that it accepts, and zlib's default level.
METHODS = {"none": (0, 0), "default": (0, 6), "lz4": (0, 1), "lz4hc": (9, 9), "zstd": (19, 1)}


def _level(compression: str | None, level: int | None) -> int:
    """zlib's level. ValueError for another name or level, TypeError for a level with a method that has none."""
    name = "none" if compression is None else compression.lower()
    if name not in METHODS:
        raise ValueError(f"compression argument: expected one of {', '.join(METHODS)}, got {compression!r}")
    most, usual = METHODS[name]
    if level is None:
        return usual
    if not most:
        raise TypeError(f"level argument: not allowed for {name!r}, got {level!r}")
    if not 1 <= level <= most:
        raise ValueError(f"level argument: expected 1 to {most} for {name!r}, got {level!r}")
    return min(int(level), 9)


def to_bytes(
    parent: Matrix | Vector, compression: str | None, level: int | None, opts: dict[str, object]
) -> np.ndarray:
    """The bytes of an object, an array of UINT8."""
    check_options(opts)
    strength = _level(compression, level)
    stored, host = parent._stored, parent.device.to_host
    *index, values = (host(x) for x in parent.to_coo())
    arrays: dict[str, Any] = {f"index{k}": i for k, i in enumerate(index)}
    arrays |= {"shape": np.array(parent.shape, np.uint64), "dtype": np.array(parent.dtype.name)}
    if isinstance(parent.dtype, UserType):
        arrays["record"] = np.array(parent.dtype.described())
    stream = io.BytesIO()
    np.savez(stream, values=pickled(parent.dtype, stored.values)[0] if stored.iso else values, **arrays)
    body = zlib.compress(stream.getvalue(), strength)
    return np.frombuffer(HEAD.pack(MAGIC, zlib.crc32(body), len(body)) + body, np.uint8).copy()


def from_bytes(kind: Any, data: np.ndarray | bytes, dtype: DTypeArg, name: str | None, opts: dict[str, object]) -> Any:
    """The object that these bytes contain. InvalidObject if they contain none, or one of another kind or type."""
    check_options(opts)
    raw = np.asarray(data, np.uint8).tobytes() if isinstance(data, np.ndarray) else bytes(data)
    if raw[: len(MAGIC)] != MAGIC or len(raw) < HEAD.size:
        raise InvalidObject(f"data: expected the result of serialize, got {raw[:8]!r}")
    _, check, length = HEAD.unpack_from(raw)
    body = raw[HEAD.size :]
    if len(body) != length or zlib.crc32(body) != check:
        raise InvalidObject(f"data: expected {length} bytes after the header, got {len(body)}: truncated or damaged")
    try:
        with np.load(io.BytesIO(zlib.decompress(body)), allow_pickle=False) as file:
            found = {key: file[key] for key in file.files}
        index = [found[f"index{k}"] for k in range(len(found["shape"]))]
        sizes = dict(zip(("nrows", "ncols") if len(index) == 2 else ("size",), found["shape"].tolist()))
        kind_of, record = str(found["dtype"]), found.get("record")
        stored = dtypes.lookup_dtype(kind_of) if record is None else described(kind_of, str(record))
        values = found["values"] if found["values"].ndim else found["values"][()]
    except (zlib.error, zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise InvalidObject(f"data: expected the result of serialize, got {error}") from None
    if dtype is not None and dtypes.lookup_dtype(dtype) is not stored:
        raise InvalidObject(f"dtype: expected {stored}, as serialized, got {dtype!r}")
    if ("size" in sizes) != (kind.__name__ == "Vector"):
        raise InvalidObject(f"data: expected a {kind.__name__}, got an object of shape {found['shape'].tolist()}")
    return kind.from_coo(*index, values, stored, name=name, **sizes)


# ---- Base class of `A.ss` and `v.ss`.


Parent = TypeVar("Parent", bound=Matrix | Vector)


class Extras(Generic[Parent]):
    __slots__ = ("_parent",)
    _kind: type[Parent]

    def __init__(self, parent: Parent) -> None:
        self._parent = parent

    @property
    def device(self) -> Device:
        return self._parent.device

    @property
    def nbytes(self) -> int:
        """Bytes on the device, cached formats included."""
        return self._parent.memory().total

    @property
    def is_iso(self) -> bool:
        """Whether a single value is stored for all entries."""
        return self._parent._stored.iso

    @property
    def iso_value(self) -> Scalar:
        """That value, a Scalar. ValueError if the object is not iso."""
        p = self._parent
        if not self.is_iso:
            raise ValueError(f"{type(p).__name__} is not iso-valued")
        return Scalar.from_value(p._stored.values, p.dtype) if p.nvals else Scalar(p.dtype)

    def _entries(self) -> tuple[list, list]:
        """Keys and values of the entries as Python objects, ascending."""
        *indices, values = (self.device.to_host(x).tolist() for x in self._parent.to_coo())
        return (list(zip(*indices)) if len(indices) == 2 else indices[0]), values

    def iterkeys(self, seek: int = 0) -> Iterator[object]:
        """The indices of the entries, from entry number `seek` on (negative: from the end)."""
        return islice(self._entries()[0], *_from(seek, self._parent.nvals))

    def itervalues(self, seek: int = 0) -> Iterator[object]:
        """The values of the entries, Python scalars."""
        return islice(self._entries()[1], *_from(seek, self._parent.nvals))

    def iteritems(self, seek: int = 0) -> Iterator[tuple]:
        """(row, column, value) or (index, value) of the entries."""
        keys, values = self._entries()
        pairs = ((*k, x) if isinstance(k, tuple) else (k, x) for k, x in zip(keys, values))
        return islice(pairs, *_from(seek, len(values)))

    def build_scalar(self, *indices_and_value: Any) -> None:
        """Entries of one value: build_scalar(rows, columns, value), build_scalar(indices, value). EmptyObject without a
        value."""
        *indices, value = indices_and_value
        p: Any = self._parent
        found, _ = of(Scalar(p.dtype) if value is None else value, p.dtype)
        if found is None:
            raise EmptyObject("value: expected a scalar, got none")
        p.build(*indices, cast_scalar(found, p.dtype))

    def serialize(self, compression: str | None = "default", level: int | None = None, **opts: object) -> np.ndarray:
        """The object as an array of bytes, for `Matrix.ss.deserialize` or `Vector.ss.deserialize`.

        compression: None or "none"; "default", "lz4", "lz4hc" or "zstd": by zlib, with a level of 1 to 9 (19) for the
        last two. Raises TypeError, ValueError. To write a Matrix to a file, use `A.save`, which is faster and atomic.
        """
        return to_bytes(self._parent, compression, level, opts)

    @classmethod
    def deserialize(
        cls, data: np.ndarray | bytes, dtype: DTypeArg = None, *, name: str | None = None, **opts: object
    ) -> Parent:
        """The Matrix or Vector from the result of `serialize`: an array or bytes. InvalidObject for anything else, or
        another dtype."""
        return from_bytes(cls._kind, data, dtype, name, opts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [n for n in dir(self) if not n.startswith("_")]
        raise NotImplementedException(f"ss.{name}: bitblas has no such extra of SuiteSparse; it has {', '.join(known)}")


def _from(seek: int, n: int) -> tuple[int, None]:
    return max(0, seek + n if seek < 0 else seek), None
