"""Bit packing: arrays of non-negative integers with as many bits as the largest needs (kernels/views.cuh).

The string of the MPLG paper: number k of `width` bits (1 to 32) occupies bits [k * width, (k + 1) * width) of
little-endian 32-bit words. One padding word follows, so that a funnel shift can always read two.
"""

from __future__ import annotations

import functools
from typing import TypeAlias

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

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
