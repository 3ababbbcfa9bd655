"""Hub columns: the column of each row that a pull tries first.

Many rows have such a column, so a search has likely reached it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.prologue import Variant
from ..contract import Types
from ..hubs import longest_unit
from ..lanes import power_of_two

# Ratio of the longest row to the mean from which on hub columns are better guesses than the first column of a row.
UNEVEN = 4


def likely_variant(types: Types, packed: bool, lanes: int) -> Variant:
    """The kernel that finds hub columns."""
    return Variant("formats/csr/likely", types, (("PACKED", int(packed)), ("LANES", lanes)))


def bits_of(xp: Any, flags: Any) -> Any:
    """Pack flags into whole words of bits."""
    padded = xp.zeros(-(-len(flags) // 64) * 64, bool)
    padded[: len(flags)] = flags
    return xp.packbits(padded, bitorder="little").view(np.uint64)


def likely_of(form: Any, types: Types) -> Any:
    """Hub columns of a square matrix: for each row the column that has most entries itself; and the bits of the
    nonempty rows. None if all rows have similar lengths."""
    if "likely" not in form.cache:
        found = None
        if form.nrows == form.ncols and longest_unit(form) * form.nrows > UNEVEN * form.nvals:
            found = form.device.xp.empty(form.nrows, dict(types)["COL"].np_type)
            lanes = power_of_two(form.nvals / form.nrows, 4, 32)
            kernel = form.device.kernel(likely_variant(types, form.format.packed, lanes))
            kernel(form.nrows, form.ptr, form.col, form.width, found)
            found = found, bits_of(form.device.xp, form.ptr[1:] > form.ptr[:-1])
        form.cache["likely"] = found
    return form.cache["likely"]
