"""Base class of `A.ss` and `v.ss`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from semirings.dtypes import cast_scalar

from ...device import Device
from ...exceptions import EmptyObject, NotImplementedException
from ..matrix.matrix import Matrix
from ..scalar import Scalar
from ..statement.scalar_operands import of
from ..vector.vector import Vector
from . import serialize

Parent = TypeVar("Parent", bound=Matrix | Vector)


class Extras(Generic[Parent]):
    __slots__ = ("_parent",)

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
        return serialize.to_bytes(self._parent, compression, level, opts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [n for n in dir(self) if not n.startswith("_")]
        raise NotImplementedException(f"ss.{name}: bitblas has no such extra of SuiteSparse; it has {', '.join(known)}")


def _from(seek: int, n: int) -> tuple[int, None]:
    return max(0, seek + n if seek < 0 else seek), None


__all__ = ["Extras"]
