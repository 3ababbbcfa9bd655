"""Symmetry test without building the transpose.

Every entry has its mirror image if hashes of all entries' positions and of their mirror images have the same sum
(kernels/scramble.cuh).
"""

from __future__ import annotations

import numpy as np

from semirings.dtypes import lookup_dtype

from .. import tuning
from ..kernels.variant import Variant
from ..typing import Array
from .contract import Layout


def is_symmetric(
    layout: Layout, folder: str, constant: tuple[str, int], col_type: np.dtype, *more: Array | int
) -> bool:
    """Whether a structure equals its transpose, in one pass.

    folder: of the kernel; constant, more: its further compile-time constant and arguments; col_type: type of column
    numbers. Peak memory: 8 bytes per symmetry.chunk items.
    """
    device, chunk = layout.device, tuning.count(f"symmetry.chunk.{folder}")
    n = -(-layout.work // chunk)
    sums = device.xp.zeros(max(1, n), "uint64")
    types = ("PTR", lookup_dtype(layout.ptr.dtype)), ("COL", lookup_dtype(col_type))
    kernel = device.kernel(Variant(f"formats/{folder}/mirror", types, (constant, ("CHUNK", chunk), ("LANES", 32))))
    least = tuning.count("formats.parallel_entries")
    bounds = device.ranges(n, least, work=layout.nvals, parts=device.threads, fresh=True)
    kernel(n, layout.units, layout.work, layout.ptr, layout.col, *more, sums, bounds=bounds)
    return int(sums.sum()) == 0
