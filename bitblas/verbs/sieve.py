"""What a product under a mask leaves: a sum at each place of the mask, and a flag whether there was any product.

Places without one are no entries. They are dropped when somebody asks where the entries are; a sum over all of them,
which is all that is asked of many masked products, needs no dropping, because what stands there is the identity.
(GraphBLAS C API 2.1, section 2.5: a nonblocking implementation may put off what nobody has asked for.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Monoid, Typed
from semirings.cached import cached_property
from semirings.dtypes import DataType

from ..build.stores import filter_entries
from ..formats import Structure
from ..kernels.prologue import is_neutral
from ..store import MatrixStore
from . import arrays


class Sieve(MatrixStore):
    """places: where a sum may be; present: whether there is one (bools); sums: np.generic, or the identity of `monoid`
    where there is none."""

    deferred = True

    def __init__(self, places: Structure, dtype: DataType, sums: Any, present: Any, monoid: Typed[Monoid]) -> None:
        self.places, self.dtype, self.sums, self.present, self.monoid = places, dtype, sums, present, monoid
        self.order = None
        self.device, self.nrows, self.ncols = places.device, places.nrows, places.ncols
        self.usual = places.usual
        self.waits = True  # nobody has asked yet where the entries are

    @cached_property
    def _entries(self) -> MatrixStore:
        return filter_entries(MatrixStore(self.places, self.dtype, self.sums), self.present)

    def _asked(self) -> MatrixStore:
        self.waits = False
        return self._entries

    # Made when they are asked for.
    structure: Any = cached_property(lambda self: self._asked().structure)
    raw: Any = cached_property(lambda self: self._asked().raw)

    @property
    def iso(self) -> bool:
        return isinstance(self.sums, np.generic)

    def total(self, monoid: Typed[Monoid]) -> np.generic | None:
        """The sum of all entries if it can be had without knowing which they are: None if not."""
        known = not self.waits or self.iso or not self.places.nvals
        if known or monoid != self.monoid or not is_neutral(monoid.op, self.dtype):
            return None
        total = arrays.reduce(self.device, monoid, self.sums)
        return None if total == monoid.identity else total  # the identity: perhaps there is no entry at all
