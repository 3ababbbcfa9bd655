"""Work partition of rows: parallel ranges on the CPU, whole words on a GPU. Computed once per stored format."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import Device, ranges
from ..device.jit import BLOCK

PARALLEL_ENTRIES = 1 << 14  # below this a parallel launch on the CPU costs more than it saves
READ_EARLY = 8  # approximate entries read of a row that stops at its first hit
DOTS = 32  # ranges of a mask per thread: rows that dot products read differ in length, and summing their lengths
# takes half of the time of the products of a mesh (triangles of Delaunay's graph n18: 18 ms, not 29)
LENGTHS = 4  # rows that are counted in the time of reading one entry


def unit_bounds(form: Any, device: Device, *, most: int | None = None, times: int = 1) -> Any:
    """Parallel ranges of units on the CPU, bounded at whole words of the output. most: approximate entries of a row
    that are read; if only row lengths are read (0), several cost as much as an entry. times: the work per entry. Long
    work is split into Chunks."""
    chunks = device.chunks(form.nvals * times) if most is None else 1
    if chunks == 1 and not device.splits(form.units // LENGTHS if most == 0 else form.nvals, PARALLEL_ENTRIES):
        return None
    if form.rows_per_unit != 1:
        most = None
    name = ("bounds", most, chunks)
    if name not in form.cache:
        ptr = form.ptr
        if most is not None:
            ptr = np.zeros(len(form.ptr), np.int64)
            np.cumsum(np.minimum(np.diff(form.ptr), most), out=ptr[1:])
        found = ranges.balanced(ptr, max(device.parts, chunks), 64 // form.rows_per_unit)
        form.cache[name] = found if chunks == 1 else ranges.chunked(found)
    return form.cache[name]


def pull_blocks(n: int, bits: int, lanes: int) -> int:
    """GPU blocks beyond those of n units, so that every bit of the words of their result, `bits` per unit, has its
    group of lanes: a pull writes whole words, so its output need not be cleared first."""
    padded = -(-n * bits // 64) * 64 // bits
    return -(-padded * lanes // BLOCK) - -(-n * lanes // BLOCK)
