"""Whether the values of a matrix are bit-packed, and the bytes that they take. See formats/packing.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semirings.dtypes import DataType

from .. import tuning
from ..config import config
from ..device import Device
from ..formats.packing import PackedValues, fit, packed_words
from ..store import MatrixStore


def wants_packed(A: MatrixStore) -> bool:
    """Whether values are packed automatically: if memory is preferred and there are enough entries."""
    return config.prefer == "memory" and not A.deferred and A.nvals >= tuning.count("packed_values.entries")


def packed_bytes(nvals: int, width: int) -> int:
    """Bytes of `nvals` packed values of `width` bits."""
    return 4 * packed_words(nvals, width)


def packs(device: Device, dtype: DataType, nvals: int, found: tuple[np.generic, int] | str) -> bool:
    """Whether values are packed automatically. found: their base and bits, or why they cannot be packed."""
    if isinstance(found, str):
        return False
    needed = packed_bytes(nvals, found[1])
    return needed < nvals * dtype.nbytes and not device.missing(needed)


class ValueBytes(NamedTuple):
    """Bytes of the values of a matrix: as an array of their type, packed to `width` bits, and as they are stored. plain
    is 0 if the matrix is iso, width is 0 if they cannot be packed."""

    plain: int = 0
    width: int = 0
    packed: int = 0
    held: int = 0

    def __str__(self) -> str:
        if not self.plain:
            return "values: one for all entries"
        packed = f"packed to {self.width} bits: {self.packed} bytes" if self.width else "cannot be packed"
        return f"values: {self.plain} bytes, {packed}; held: {self.held}"


NO_VALUES = ValueBytes()


def value_bytes(A: MatrixStore) -> ValueBytes:
    """Reads all values, unless they are packed."""
    raw = A.raw
    if isinstance(raw, np.generic) or not A.nvals:
        return NO_VALUES
    plain = A.nvals * A.dtype.nbytes
    if isinstance(raw, PackedValues):
        size = packed_bytes(A.nvals, raw.width)
        return ValueBytes(plain, raw.width, size, size)
    found = fit(A.device, A.dtype, raw)
    if isinstance(found, str):
        return ValueBytes(plain, held=plain)
    return ValueBytes(plain, found[1], packed_bytes(A.nvals, found[1]), plain)
