"""Bit packing: arrays of non-negative integers with as many bits as the largest needs (kernels/views.cuh).

The string of the MPLG paper: number k of `width` bits (1 to 32) occupies bits [k * width, (k + 1) * width) of
little-endian 32-bit words. One padding word follows, so that a funnel shift can always read two.

Matrix values are packed by frame of reference: value = base + a packed number of few bits. Array values that are
integers within a range below 2**32 can be packed, floats too, except -0.0, fractions, infinities and NaN. (Zukowski et
al., Super-Scalar RAM-CPU Cache Compression, ICDE 2006.)
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from semirings.dtypes import BOOL, DataType, lookup_dtype

from .. import tuning
from ..device import Device
from ..kernels.variant import Variant
from ..typing import Array, DTypeLike

MOST_BITS = 32  # per number
Base: TypeAlias = np.generic | None  # None: 0


@functools.lru_cache(256)
def width_of(limit: int) -> int:
    """Bits needed for the numbers below `limit`: max(1, bit_length(limit - 1)). ValueError above 2**32."""
    width = max(1, int(limit - 1).bit_length())
    if width > MOST_BITS:
        raise ValueError(f"limit: packed numbers have at most {MOST_BITS} bits, {limit - 1} needs {width}")
    return width


def packed_words(size: int, width: int) -> int:
    """32-bit words of `size` packed numbers, including the padding word."""
    return -(-size * width // 32) + 1


def narrow_variant(number: DataType, gather: bool = False) -> Variant:
    """The kernel that packs numbers of that type; gather: numbers of a packed string, at positions of that type."""
    return Variant("kernels/narrow", (("NUMBER", number),), (("LANES", 1), ("GATHER", int(gather))))


def widen_variant(number: DataType, places: bool = False) -> Variant:
    """The kernel that unpacks numbers to an array of that type; places: only those at given positions."""
    return Variant("kernels/widen", (("NUMBER", number),), (("LANES", 1), ("PLACES", int(places))))


def pack(device: Device, numbers: Array, width: int, base: Base = None) -> Array:
    """Pack integers of any type, after subtracting `base` (None: 0), into `width` bits each. Returns uint32 of shape
    (packed_words(len(numbers), width),)."""
    string = device.xp.empty(packed_words(len(numbers), width), np.uint32)
    pack_into(device, numbers, width, string, base)
    return string


def pack_into(device: Device, numbers: Array, width: int, string: Array, base: Base = None) -> None:
    """Pack into existing words; bits beyond the last number become zero."""
    _narrow(device, numbers, width, string, numbers.dtype.type(0) if base is None else base, None)


def gather(device: Device, source: Array, places: Array, width: int) -> Array:
    """The numbers of a packed string at these positions (INT32 or INT64), as a packed string of the same width."""
    string = device.xp.empty(packed_words(len(places), width), np.uint32)
    _narrow(device, places, width, string, places.dtype.type(0), source)
    return string


def _narrow(device: Device, numbers: Array, width: int, string: Array, base: np.generic, source: Array | None) -> None:
    n = len(string)
    if not n:
        return
    bounds = device.ranges(n, tuning.count("packing.parallel_numbers"), work=len(numbers), fresh=True)
    run = device.kernel(narrow_variant(lookup_dtype(numbers.dtype), source is not None))
    nonempty = numbers if len(numbers) else device.xp.zeros(1, numbers.dtype)
    run(n, len(numbers), width, nonempty, base, string if source is None else source, string, bounds=bounds)


def unpack(
    device: Device, string: Array, size: int, width: int, dtype: DTypeLike, *, first: int = 0, base: Base = None
) -> Array:
    """Numbers first .. size of a packed string, plus `base`, as an array of type `dtype`."""
    skipped = first // 32  # groups of 32 numbers, which end at a word boundary
    size, first = size - 32 * skipped, first % 32
    return _widen(device, string[skipped * width :], size, width, dtype, None, base)[first:]


def unpack_at(device: Device, string: Array, places: Array, width: int, dtype: DTypeLike, base: Base = None) -> Array:
    """The numbers of a packed string at these positions (INT64), plus `base`, as an array of type `dtype`."""
    return _widen(device, string, len(places), width, dtype, places, base)


def _widen(
    device: Device, string: Array, size: int, width: int, dtype: DTypeLike, places: Array | None, base: Base
) -> Array:
    xp, gathers = device.xp, places is not None and size > 0
    numbers = xp.empty(max(1, size), dtype)
    bounds = device.ranges(size, tuning.count("packing.parallel_numbers"), fresh=True)
    run = device.kernel(widen_variant(lookup_dtype(numbers.dtype), places=gathers))
    least = numbers.dtype.type(0) if base is None else base
    run(size, width, string, places if gathers else xp.zeros(1, np.int64), least, numbers, bounds=bounds)
    return numbers[:size]


# ---- Values of a matrix.

EXACT = 1 << 53  # largest magnitude of packed floats: up to here FP64 represents every integer


@dataclass(frozen=True, eq=False)
class PackedValues:
    """Value k is `base` + number k of the packed `string`, `width` bits (1 to 32) each. Immutable."""

    device: Device
    dtype: DataType
    base: np.generic
    width: int
    count: int
    string: Array  # uint32: packed_words(count, width)

    def __len__(self) -> int:
        return self.count

    def plain(self, low: int = 0, high: int | None = None) -> Array:
        """Values low .. high as an array. Peak memory: the result."""
        high = self.count if high is None else high
        self.device.foresee(f"plain values of {high - low} entries", (high - low) * self.dtype.np_type.itemsize)
        numpy = self.dtype.np_type
        return unpack(self.device, self.string, high, self.width, numpy, first=low, base=self.base)

    def taken(self, places: Array) -> PackedValues:
        """The values at these positions (integers, or bools), packed with the same base and width. Peak memory: the
        result."""
        if places.dtype == bool:
            places = self.device.xp.flatnonzero(places)
        string = gather(self.device, self.string, places, self.width)
        return PackedValues(self.device, self.dtype, self.base, self.width, len(places), string)

    def again(self, values: Array) -> PackedValues:
        """Other values within the same limits, packed with the same base and width."""
        return packed(self.device, self.dtype, values, self.base, self.width)

    def check(self) -> None:
        """ValueError if a value exceeds its type, which no array of that type could produce."""
        numbers = unpack(self.device, self.string, self.count, self.width, np.uint32)
        most = int(self.base) + (int(numbers.max()) if self.count else 0)
        if most > (EXACT if self.dtype.kind == "f" else int(self.dtype.highest)):
            raise ValueError(f"values: expected {self.dtype}, got {most}")


def packed(device: Device, dtype: DataType, values: Array, base: np.generic, width: int) -> PackedValues:
    """Pack an array of values whose differences from `base` have at most `width` bits. Peak memory: the result."""
    device.foresee(f"packed values of {len(values)} entries", 4 * packed_words(len(values), width))
    string = pack(device, values, width, base)
    return PackedValues(device, dtype, base, width, len(values), string)


def base_of(dtype: DataType, base: object, width: object) -> np.generic:
    """`base` converted to the type. ValueError unless base and width (from a file) are integers within their ranges."""
    low, high = (-EXACT, EXACT) if dtype.kind == "f" else (int(dtype.lowest), int(dtype.highest))
    if type(width) is not int or not 1 <= width <= MOST_BITS:
        raise ValueError(f"values: expected 1 to {MOST_BITS} bits, got {width!r}")
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
    if width > MOST_BITS:
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
