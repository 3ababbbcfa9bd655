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
from ..device import Device
from ..formats import Structure
from ..kernels.prologue import is_neutral
from ..store import MatrixStore
from . import arrays


class Sieve(MatrixStore):
    """places: where a sum may be; present: whether there is one (bools); sums: np.generic, or the identity of `monoid`
    where there is none."""

    deferred = True

    def __init__(self, places: Structure, dtype: DataType, sums: Any, present: Any, monoid: Typed[Monoid]) -> None:
        attributes = {"places": places, "dtype": dtype, "sums": sums, "present": present, "monoid": monoid}
        self.__dict__.update(attributes, copies={}, prepared={})

    @cached_property
    def _entries(self) -> MatrixStore:
        return filter_entries(MatrixStore(self.places, self.dtype, self.sums), self.present)

    def __getattr__(self, name: str) -> Any:
        """`structure` and `raw`, when they are asked for."""
        if name not in ("structure", "raw"):
            raise AttributeError(name)
        found = self.__dict__[name] = getattr(self._entries, name)
        return found

    @property
    def waits(self) -> bool:
        """Whether nobody has asked yet where the entries are."""
        return "structure" not in self.__dict__

    @property
    def iso(self) -> bool:
        return isinstance(self.sums, np.generic)

    @property
    def device(self) -> Device:
        return self.places.device

    @property
    def nrows(self) -> int:
        return self.places.nrows

    @property
    def ncols(self) -> int:
        return self.places.ncols

    def total(self, monoid: Typed[Monoid]) -> np.generic | None:
        """The sum of all entries if it can be had without knowing which they are: None if not."""
        known = not self.waits or self.iso or not self.places.nvals
        if known or monoid != self.monoid or not is_neutral(monoid.op, self.dtype):
            return None
        total = arrays.reduce(self.device, monoid, self.sums)
        return None if total == monoid.identity else total  # the identity: perhaps there is no entry at all
