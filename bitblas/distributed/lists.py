"""Sparse exchange between ranks: send lists of (index, value) if these are shorter than the dense vector.

Used for values that changed since they were last sent, sums with few entries, and requested indices (wanted.py).
Numbers are sent in 32 bits if all fit. The lengths of all lists are exchanged first, so all ranks decide alike.
Indices count from the first index of the owning rank, which 32 bits can hold.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL

from ..core import Vector
from .group import Group
from .shares import WORD, Shares
from .start import current

LEAST = 1 << 20  # bytes of a vector below which it is sent whole: a call costs more than the bytes
GAIN = 1.25  # how many times shorter a list must be, because it must also be built and scattered
PLACE = 4  # bytes of an index in a list
LONG = np.iinfo(np.uint32).max  # maximum index within a rank


def shorter(group: Group, shares: Shares, entries: int, nbytes: int, whole: int) -> bool:
    """Whether lists with `entries` in total over all ranks are shorter than `whole` bytes."""
    return entries * (PLACE + nbytes) * GAIN <= whole and max(shares.counts) <= LONG


def cut(group: Group, at: Any, shares: Shares) -> list[int]:
    """The number of positions, out of ascending ones, that each rank owns."""
    xp = group.device.xp
    found: list[int] = np.diff(group.device.to_host(xp.searchsorted(at, xp.asarray(shares.bounds, at.dtype)))).tolist()
    return found


def changed(mine: Any, before: Any, shares: Shares) -> Any:
    """Update `before`, the values of all ranks, where those of this rank (`mine`) have changed. None if sending all
    values is as short."""
    group = current()
    xp, size = group.device.xp, mine.dtype.itemsize
    if before.nbytes < LEAST or size not in (1, 2, 4, 8) or before.dtype != mine.dtype:
        return None
    bits = f"u{size}"  # compares bits: NaN differs from itself, and -0.0 equals 0.0
    places = xp.flatnonzero(mine.view(bits) != before[shares.low : shares.high].view(bits))
    counts = group.told(np.array([len(places)]))[:, 0].tolist()
    as_bits = sum(counts) * PLACE > shares.size // 8  # a bit per position is shorter than the list
    if as_bits and (sum(counts) * size + shares.size // 8) * GAIN > before.nbytes:
        return None
    if not as_bits and not shorter(group, shares, sum(counts), size, before.nbytes):
        return None
    values = narrow(group, mine[places], lambda raw: group.allgather(raw, counts))
    if as_bits:
        flags = xp.zeros(shares.words[shares.rank] * WORD, bool)
        flags[places] = True
        words = group.allgather(xp.packbits(flags, bitorder="little").view(np.uint64), shares.words)
        at = xp.flatnonzero(xp.unpackbits(words.view(np.uint8), bitorder="little"))
    else:
        at = group.allgather(places.astype(np.uint32), counts).astype(np.int64)
        at += xp.repeat(xp.asarray(shares.bounds[:-1], np.int64), counts)
    before[at] = values
    return before


def narrow(group: Group, values: Any, send: Any) -> Any:
    """Apply send(values); 64-bit integers are sent in 32 bits if those of all ranks fit."""
    if values.dtype.kind not in "iu" or values.itemsize < 8 or not group.lists:
        return send(values)
    dtype = np.dtype(f"{values.dtype.kind}4")
    some = len(values) > 0
    low, high = (int(values.min()), int(values.max())) if some else (0, 0)
    fits = np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max
    if not group.told(np.array([fits])).all():
        return send(values)
    return send(values.astype(dtype)).astype(values.dtype)


def as_bytes(x: Any, send: Any) -> Any:
    """Send bools as bytes, a type that every call supports."""
    return send(x.view(np.uint8)).view(bool) if x.dtype == bool else send(x)


def joined(partial: Vector, shares: Shares, monoid: Typed, told: Any) -> Vector | None:
    """This rank's share of a sum (`exchange.joined`), exchanged as lists of entries; None if these are not shorter.
    told: the facts that all ranks share about their parts."""
    group = current()
    dtype, size, mine = partial.dtype, shares.size, shares.mine
    nbytes = 0 if told.one is not None else dtype.np_type.itemsize
    whole = size // 8 + (0 if told.one is not None else size // 8 if dtype is BOOL else size * nbytes)
    if not group.lists or whole < LEAST or not shorter(group, shares, told.entries, nbytes, group.size * whole):
        return None
    xp = group.device.xp
    at, values = partial.to_coo(values=nbytes > 0)
    sent = cut(group, at, shares)
    received = group.told(np.array(sent, np.int64))[:, group.rank].tolist()
    begins = xp.repeat(xp.asarray(shares.bounds[:-1], np.uint64), sent)
    places = group.alltoall((at - begins).astype(np.uint32), sent, received)
    if nbytes:
        send = lambda raw: as_bytes(raw, lambda x: group.alltoall(x, sent, received))
        values = narrow(group, values, send)
    total = Vector(dtype, mine, device=partial.device)
    ends = np.cumsum([0, *received]).tolist()
    for low, high in pairwise(ends):  # in rank order
        if high > low:
            held = values[low:high] if nbytes else told.one
            other = Vector.from_coo(places[low:high], held, dtype, size=mine, device=partial.device)
            total(monoid) << other if total.nvals else total << other
    return total
