"""Equality of two vectors."""

from __future__ import annotations

import numpy as np

from ..device.readback import Readback
from ..sparse import SparseStore
from ..store import VectorStore, words
from . import local
from .operands import stored, word_bounds
from .reading import kernel_of


def equal(u: VectorStore, v: VectorStore) -> bool:
    """Whether two vectors of one type and size have the same entries with equal values."""
    device, n = u.device, words(u.size)
    if u.count is not None and v.count is not None and u.count != v.count:
        return False
    if type(u) is SparseStore or type(v) is SparseStore:
        if u.nvals != v.nvals:
            return False
        at = local.positions(u, v, union=False)
        return equal(local.renumbered(u, at), local.renumbered(v, at))
    told = Readback(device, 4)
    operands = (u.present, *stored(device, u.dtype, u.values), v.present, *stored(device, v.dtype, v.values))
    kernel_of(device, "equal", u.dtype, LANES=64)(n, u.size, *operands, told.part(np.uint32), bounds=word_bounds(u))
    return not told.read(np.uint32)[0]
