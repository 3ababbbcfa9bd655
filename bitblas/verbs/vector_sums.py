"""Reduce a vector, or an array, to one value: GraphBLAS C API 2.1, section 4.3.10."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Monoid, Typed
from semirings.dtypes import DataType, cast_scalar, lookup_dtype

from ..device import Device
from ..device.readback import Readback
from ..sparse import SparseStore
from ..store import CHUNK, VectorStore, words
from . import local, reading, records
from .operands import PARALLEL_WORDS, stored
from .variants import reduce_variant

# Words of a chunk on the CPU: the same as a unit of an element-wise kernel in loops (loop/host/passes.py). Timing
# decides how many rounds of a loop run as statements, so both have to add in the same order and produce the same bits.
HOST_CHUNK = 64


@functools.cache
def _reduce(device: Device, monoid: Typed[Monoid], u: str, flags: bool = False) -> tuple[Any, DataType]:
    """Types by name, as in `pointwise`."""
    variant, z = reduce_variant(monoid, lookup_dtype(u), flags)
    return device.kernel(variant), z


def reduce(u: VectorStore, monoid: Typed[Monoid]) -> np.generic | None:
    """The monoid's reduction of all entries, None if there are none. Float sums have a fixed order: within chunks, then
    over chunks; on the CPU the latter from left to right. If the order matters, equal values are added in that order
    too, because a table of kernels does not know whether a vector is iso."""
    if type(u) is SparseStore:
        u = local.renumbered(u, u.index)
    device, size = u.device, u.size
    if isinstance(u.values, np.generic):
        if not u.nvals:
            return None
        x = cast_scalar(u.values, monoid.return_type)
        once = _repeated(monoid, x.dtype.char, x.tobytes(), u.nvals, not device.host_memory)
        if once is not None:
            return once
        if u.nvals == size > HOST_CHUNK * 64:
            return _of_equal(u, monoid)
    if records.computes(monoid):
        x = reading.entries(u)[1]
        if not len(x):
            return None
        sums = records.folded(device, records.plain(monoid), x, device.asarray([0, len(x)], np.int64))
        found: np.generic = device.to_host(sums)[0]
        return found
    operand = u.present, *stored(device, u.dtype, u.values)
    return _summed(device, monoid, u.dtype, size, operand, HOST_CHUNK if device.host_memory else CHUNK)


@functools.lru_cache(1 << 10)
def _repeated(monoid: Typed[Monoid], kind: str, value: bytes, k: int, rounded: bool) -> np.generic | None:
    """The sum of k equal values; None if it would be rounded and must not be."""
    x = np.frombuffer(value, kind)[0]
    found: np.generic = monoid.op.repeat(monoid.dtype, x, k)
    return found if rounded or monoid.op.repeats_exactly(monoid.dtype, x, k) else None


def _of_equal(u: VectorStore, monoid: Typed[Monoid]) -> np.generic | None:
    """Reduce a full iso vector on the CPU: equal chunks are summed once."""
    device, per, operand = u.device, HOST_CHUNK * 64, stored(u.device, u.dtype, u.values)
    parts = [(u.present, per), *([(u.present[u.size // per * HOST_CHUNK :], u.size % per)] if u.size % per else [])]
    found = [_summed(device, monoid, u.dtype, n, (bits, *operand), HOST_CHUNK) for bits, n in parts]
    z = monoid.return_type
    sums = np.full(u.size // per + len(found) - 1, found[0], z.np_type)
    sums[u.size // per :] = found[1:]
    some = np.ones(len(sums), np.uint8)
    return _summed(device, monoid.op[z], z, len(sums), (some, sums, z.np_type.type(0), 1), len(sums), flags=True)


def reduce_flagged(device: Device, monoid: Typed[Monoid], values: Any, present: Any) -> np.generic | None:
    """The same for an array (BOOL: bools), of which only values with a flag (UINT8) count."""
    dtype = lookup_dtype(values.dtype)
    return _summed(device, monoid, dtype, len(values), (present, values, dtype.np_type.type(0), 1), CHUNK, flags=True)


def _summed(
    device: Device, monoid: Typed[Monoid], dtype: DataType, size: int, operand: tuple[Any, ...], per: int, *,
    flags: bool = False,
) -> np.generic | None:  # fmt: skip
    """per: words of a chunk, of the first sums."""
    (kernel, z), n = _reduce(device, monoid, dtype.name, flags), words(size)
    while True:
        chunks = -(-n // per)
        told = Readback(device, 24) if chunks == 1 and not device.host_memory else None
        if told is not None:
            sums, some = told.part(z.np_type), told.part(np.uint8, 16)  # complex numbers take 16 bytes
        else:
            sums, some = device.xp.empty(chunks, z.np_type), device.xp.empty(chunks, np.uint8)
        bounds = device.ranges(chunks, PARALLEL_WORDS, work=n, parts=device.threads) if n >= PARALLEL_WORDS else None
        kernel(chunks, per, size, *operand, some, sums, bounds=bounds)
        if told is not None:
            return told.read(z.np_type)[0] if told.read(np.uint8, 16)[0] else None
        if chunks == 1:
            return sums[0] if some[0] else None
        kernel, _ = _reduce(device, monoid.op[z], z.name, True)
        operand, size, n = (some, sums, z.np_type.type(0), 1), chunks, words(chunks)
        if device.host_memory:
            per = n
