"""Hub columns of coded rows: the column of each row that a pull tries first (csr/likely.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import dummy
from ..kernels.prologue import Variant
from .csr.likely import UNEVEN, bits_of


def likely_variant(form: Any, lanes: int) -> Variant:
    """The kernel that finds hub columns. form: a layout or its class."""
    return Variant(form.format.kernel("likely"), (), (("LANES", lanes),))


def likely_of(form: Any, lanes: int, *given: Any) -> Any:
    """Hub columns of a square matrix: for each row the column whose own row has most words, NO_ENTRIES for an empty
    row; and the bits of the other rows. None if all rows have similar lengths.

    given: further kernel arguments. Kept: 4 bytes and a bit per row. Peak memory: 12 bytes per row.
    """
    if "likely" not in form.cache:
        found = None
        if form.nrows and form.nrows == form.ncols:
            length = form.lengths()
            if int(length.max()) * form.nrows > UNEVEN * form.work:
                found = form.device.xp.empty(form.nrows, np.uint32)
                form.device.kernel(likely_variant(form, lanes))(
                    form.nrows, form.heads, form.words, *given, length, found
                )
                found = found, bits_of(form.device.xp, length > 0)
        form.cache["likely"] = found
    return form.cache["likely"]


def guesses_of(form: Any, read: bool, lanes: int, *given: Any) -> tuple[Any, ...]:
    """The same as arguments of an advance, and whether there are any."""
    likely = likely_of(form, lanes, *given) if read else None
    none = dummy(form.device, "uint32"), dummy(form.device, "uint64")
    return *(none if likely is None else likely), np.int64(likely is not None)
