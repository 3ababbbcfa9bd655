"""Products of a full vector of which presence alone counts: the rows that have entries, whatever is multiplied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels.prologue import Variant
from ..store import VectorStore, words
from .operands import Allowed, Input

if TYPE_CHECKING:
    from .product import PreparedProduct


class Filled:
    """t = A (+).(x) u for a full u. One pull finds the rows that have entries; then they are kept with the form."""

    __slots__ = ("of",)

    def __init__(self, of: PreparedProduct) -> None:
        self.of = of

    @property
    def variants(self) -> tuple[Variant, ...]:
        return self.of.pull(self.of.z, None, None, False, False).variants

    def run(self, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None) -> VectorStore:
        """The product: a store of its own, or `free`, which is overwritten."""
        of = self.of
        if "filled" not in of.form.cache:
            t = of.pulled(given, u, None, None)
            of.form.cache["filled"] = t.present, t.nvals
        rows, count = of.form.cache["filled"]
        t = VectorStore(of.device, of.size, of.z, None, of.value) if free is None or free.dtype is not of.z else free
        if t.bits is None:
            t.bits = of.device.xp.empty(words(of.size), np.uint64)
        t.changed(grown=False)
        t.values = of.value
        if mask.step:
            np.bitwise_and(rows, mask.words ^ mask.flip, out=t.bits)
        else:
            t.bits[...] = rows
            t.count = count
        return t
