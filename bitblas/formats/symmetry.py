"""Symmetry test without building the transpose.

Every entry has its mirror image if hashes of all entries' positions and of their mirror images have the same sum
(kernels/scramble.cuh).
"""

from __future__ import annotations

import numpy as np

from semirings.dtypes import lookup_dtype

from .. import tuning
from ..device import Device
from ..kernels.variant import Variant
from ..typing import Array


def is_symmetric(
    device: Device,
    family: str,
    constants: tuple[tuple[str, int], ...],
    items: int,
    nvals: int,
    ptr: Array,
    col: Array,
    col_type: np.dtype,
    units: int,
    *more: Array | int,
) -> bool:
    """Whether a structure equals its transpose, in one pass.

    family: the folder of the kernel, which determines what `items` are (entries or tiles). units, ptr, col: kernel
    arguments; col_type: type of column numbers; more: further arguments. Peak memory: 8 bytes per symmetry.chunk items.
    """
    chunk = tuning.count(f"symmetry.chunk.{family}")
    n = -(-items // chunk)
    sums = device.xp.zeros(max(1, n), "uint64")
    types = ("PTR", lookup_dtype(ptr.dtype)), ("COL", lookup_dtype(col_type))
    kernel = device.kernel(Variant(f"formats/{family}/mirror", types, (*constants, ("CHUNK", chunk), ("LANES", 32))))
    least = tuning.count("formats.parallel_entries")
    bounds = device.ranges(n, least, work=nvals, parts=device.threads, fresh=True)
    kernel(n, units, items, ptr, col, *more, sums, bounds=bounds)
    return int(sums.sum()) == 0
