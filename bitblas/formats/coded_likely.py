"""Hub columns of coded rows: the column of each row that a pull tries first (csr/likely.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import dummy
from ..kernels.prologue import Variant
from .csr.likely import UNEVEN, bits_of


def likely_variant(form: Any, lanes: int) -> Variant:
    """The kernel that finds them. form: or its class."""
    return Variant(form.format.kernel("likely"), (), (("LANES", lanes),))


def likely_of(form: Any, lanes: int, *given: Any) -> Any:
    """Of each row of a square matrix the column whose own row has most words, NO_ENTRIES where it has none, and the
    bits of the others; None where all rows have about as many.

    given: what the kernel takes besides. Held: 4 bytes and a bit a row. Peak memory: 12.
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
    """The same as steps take it, and whether there is any."""
    likely = likely_of(form, lanes, *given) if read else None
    none = dummy(form.device, "uint32"), dummy(form.device, "uint64")
    return *(none if likely is None else likely), np.int64(likely is not None)
