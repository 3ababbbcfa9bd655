"""Frame-of-reference compression of matrix values: value = base + a packed number of few bits.

Array values that are integers within a range below 2**32 can be packed, floats too, except -0.0, fractions, infinities
and NaN. (Zukowski et al., Super-Scalar RAM-CPU Cache Compression, ICDE 2006; the packed string is that of packing.py.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from semirings.dtypes import BOOL, DataType

from .. import tuning
from ..device import Device
from ..typing import Array
from . import packing

EXACT = 1 << 53  # largest magnitude of packed floats: up to here FP64 represents every integer


@dataclass(frozen=True, eq=False)
class PackedValues:
    """Value k is `base` + number k of the packed `string`, `width` bits (1 to 32) each. Immutable."""

    device: Device
    dtype: DataType
    base: np.generic
    width: int
    count: int
    string: Array  # uint32: packing.packed_words(count, width)

    def __len__(self) -> int:
        return self.count

    def plain(self, low: int = 0, high: int | None = None) -> Array:
        """Values low .. high as an array. Peak memory: the result."""
        high = self.count if high is None else high
        self.device.foresee(f"plain values of {high - low} entries", (high - low) * self.dtype.np_type.itemsize)
        numpy = self.dtype.np_type
        return packing.unpack(self.device, self.string, high, self.width, numpy, first=low, base=self.base)

    def taken(self, places: Array) -> PackedValues:
        """The values at these positions (integers, or bools), packed with the same base and width. Peak memory: the
        result."""
        if places.dtype == bool:
            places = self.device.xp.flatnonzero(places)
        string = packing.gather(self.device, self.string, places, self.width)
        return PackedValues(self.device, self.dtype, self.base, self.width, len(places), string)

    def again(self, values: Array) -> PackedValues:
        """Other values within the same limits, packed with the same base and width."""
        return packed(self.device, self.dtype, values, self.base, self.width)

    def check(self) -> None:
        """ValueError if a value exceeds its type, which no array of that type could produce."""
        numbers = packing.unpack(self.device, self.string, self.count, self.width, np.uint32)
        most = int(self.base) + (int(numbers.max()) if self.count else 0)
        if most > (EXACT if self.dtype.kind == "f" else int(self.dtype.highest)):
            raise ValueError(f"values: expected {self.dtype}, got {most}")


def packed(device: Device, dtype: DataType, values: Array, base: np.generic, width: int) -> PackedValues:
    """Pack an array of values whose differences from `base` have at most `width` bits. Peak memory: the result."""
    device.foresee(f"packed values of {len(values)} entries", 4 * packing.packed_words(len(values), width))
    string = packing.pack(device, values, width, base)
    return PackedValues(device, dtype, base, width, len(values), string)


def base_of(dtype: DataType, base: object, width: object) -> np.generic:
    """`base` converted to the type. ValueError unless base and width (from a file) are integers within their ranges."""
    low, high = (-EXACT, EXACT) if dtype.kind == "f" else (int(dtype.lowest), int(dtype.highest))
    if type(width) is not int or not 1 <= width <= packing.MOST_BITS:
        raise ValueError(f"values: expected 1 to {packing.MOST_BITS} bits, got {width!r}")
    if type(base) is not int or not low <= base <= high:
        raise ValueError(f"values: expected a base of {dtype}, got {base!r}")
    found: np.generic = dtype.np_type.type(base)
    if int(found) != base:
        raise ValueError(f"values: expected a base that {dtype} holds, got {base}")
    return found


def fit(device: Device, dtype: DataType, values: Array) -> tuple[np.generic, int] | str:
    """The base and width for packing a non-empty array of values, or the reason why it cannot be packed."""
    if dtype is BOOL:
        return np.False_, 1
    if dtype.kind == "c":
        return "complex numbers"
    if dtype.kind == "f":
        size = tuning.count("values.chunk")
        for at in range(0, len(values), size):
            if reason := _fault(device, values[at : at + size]):
                return reason
    low, high = int(values.min()), int(values.max())
    width = max(1, (high - low).bit_length())
    if width > packing.MOST_BITS:
        return f"{low} to {high}, whose difference has {width} bits"
    return dtype.np_type.type(low), width


def is_whole(x: float) -> bool:
    """Whether a Python number is an integer value that can be packed, range aside."""
    return isinstance(x, int) or (x.is_integer() and abs(x) <= EXACT and (x != 0 or math.copysign(1, x) > 0))


def _fault(device: Device, values: Array) -> str:
    """The first of these floats that cannot be packed as an integer, as text; "" if all can."""
    xp = device.xp
    wrong = ~((values == xp.trunc(values)) & (xp.abs(values) <= EXACT)) | ((values == 0) & xp.signbit(values))
    return f"{device.to_host(values[wrong][:1])[0]}" if bool(wrong.any()) else ""
