"""Lazy masked products: one sum per entry of the mask, and a flag whether any product contributed.

Positions without a product are no entries. They are dropped when the structure of the result is read. A sum over all
entries, which is the only use of many masked products, needs no dropping.
(GraphBLAS C API 2.1, section 2.5: a nonblocking implementation may delay results that are not used yet.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Monoid, Typed
from semirings.cached import cached_property
from semirings.dtypes import DataType

from ..formats import Structure
from ..kernels.variant import is_neutral
from ..store import MatrixStore, PlainValues
from ..typing import Array
from . import ewise_vector, udf, value_arrays
from .convert import filter_entries


class LazyMaskedProduct(MatrixStore):
    """places: positions that may have a sum; present: whether there is one (bools); sums: np.generic, or the identity
    of `monoid` where there is none."""

    deferred = True

    def __init__(
        self, places: Structure, dtype: DataType, sums: PlainValues, present: Array, monoid: Typed[Monoid]
    ) -> None:
        self.places, self.dtype, self.sums, self.present, self.monoid = places, dtype, sums, present, monoid
        self.order = None
        self.device, self.nrows, self.ncols = places.device, places.nrows, places.ncols
        self.plain = places.plain
        self.pending = True  # the structure has not been read yet

    @cached_property
    def _entries(self) -> MatrixStore:
        return filter_entries(MatrixStore(self.places, self.dtype, self.sums), self.present)

    def _computed(self) -> MatrixStore:
        self.pending = False
        return self._entries

    # Computed at first access.
    structure: Any = cached_property(lambda self: self._computed().structure)
    raw: Any = cached_property(lambda self: self._computed().raw)

    @property
    def iso(self) -> bool:
        return isinstance(self.sums, np.generic)

    def adds(self, monoid: Typed[Monoid]) -> bool:
        """Whether `total` can sum all entries without computing the structure."""
        return self.pending and not self.iso and self.places.nvals > 0 and not udf.computes(monoid)

    def total(self, monoid: Typed[Monoid]) -> np.generic | None:
        """The sum of all entries, None if there are none."""
        assert not isinstance(self.sums, np.generic)
        if self.device.host_memory and monoid == self.monoid and is_neutral(monoid.op, self.dtype):
            # Summing all of them takes less time than testing each flag
            total = value_arrays.reduce(self.device, monoid, self.sums)
            if total != monoid.identity:
                return total
        return ewise_vector.reduce_flagged(self.device, monoid, self.sums, self.present.view(np.uint8))
