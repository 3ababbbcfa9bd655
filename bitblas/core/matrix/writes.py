"""A[i, j] = x: pending writes of single entries, merged at the next read, so that many of them cost one rebuild."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import verbs
from ...formats import CSR
from ...formats.packing import MOST_BITS
from ...formats.values import PackedValues, is_whole
from ...store import MatrixStore


class Writes(dict[tuple[int, int], np.generic | None]):
    """The pending value of each entry, None if it is to be deleted.

    `limits` are bounds of all values, stored and pending, as far as they are known: integers less than 2**32 apart can
    be packed, whatever is deleted or overwritten. None: no value is pending.
    """

    __slots__ = ("limits",)

    def __init__(self) -> None:
        super().__init__()
        self.limits: tuple[Any, Any] | None = None

    def clear(self) -> None:
        super().clear()
        self.limits = None

    def copy(self) -> Writes:
        made = Writes()
        made.update(self)
        return made

    def packs(self, held: MatrixStore, value: np.generic) -> bool:
        """Whether the values certainly can be packed, or are all equal, after one more value; False: unknown."""
        if held.dtype.kind == "c" or (held.dtype.kind != "f" and held.dtype.nbytes <= MOST_BITS // 8):
            return True
        x = value.item()
        low, high = self.limits or _limits(held) or (x, x)
        if not low == high == x or math.copysign(1, low) != math.copysign(1, x):  # NaN differs from itself
            if not (is_whole(low) and is_whole(high) and is_whole(x)):
                return False
            low, high = min(low, x), max(high, x)
            if high - low >= 1 << MOST_BITS:
                return False
        self.limits = low, high
        return True

    def into(self, held: MatrixStore) -> MatrixStore:
        """The matrix with the pending writes applied."""
        d = held.device
        plain = held.usual and d.host_memory and held.order is None and not isinstance(held.raw, PackedValues)
        if len(self) == 1 and plain and held.structure.primary.key == CSR:
            (((i, j), value),) = self.items()
            return verbs.submatrix.put_one(held, i, j, value)
        at = np.array(list(self), np.int64)
        if held.order is not None:
            at = d.to_host(held.order.places(d.asarray(at)))
        if verbs.narrow.is_flat(held) and not held.dtype._is_udt:
            return verbs.narrow.written(held, at, list(self.values())).tagged(held.order)
        if held.structure.renumbers:
            return self._into_hyper(held, at)
        keys = at[:, 0] * held.ncols + at[:, 1]
        order = np.argsort(keys)
        written = list(self.values())
        kept = np.array([x is not None for x in written], bool)[order]
        values = np.array([held.dtype.np_type.type(0) if x is None else x for x in written], held.dtype.np_type)[order]
        one = values[kept][0] if kept.any() else held.raw
        new: Any = values[kept]
        if (held.iso and (new == held.raw).all()) or (not held.nvals and len(new) and (new == one).all()):
            new = one  # an iso matrix stays iso
        put = new if isinstance(new, np.generic) else d.asarray(new)
        keys = keys[order]
        return verbs.submatrix.put(held, d.asarray(keys[kept]), put, d.asarray(keys[~kept])).tagged(held.order)

    def _into_hyper(self, held: MatrixStore, at: np.ndarray) -> MatrixStore:
        """The same for hypersparse matrices. at: stored positions of the writes."""
        d = held.device
        found = zip(verbs.hyper.lists(held), at.T, strict=True)
        rows, cols = (d.xp.union1d(some, d.asarray(fresh)) for some, fresh in found)
        inside = Writes()
        places = (d.to_host(some).searchsorted(fresh).tolist() for some, fresh in zip((rows, cols), at.T, strict=True))
        inside.update(zip(zip(*places, strict=True), self.values(), strict=True))
        written = inside.into(verbs.hyper.small(held, rows, cols))
        return verbs.hyper.widened(written, rows, cols, held.nrows, held.ncols).tagged(held.order)


def _limits(held: MatrixStore) -> tuple[Any, Any] | None:
    """Bounds of the values of a matrix if they cost nothing: NaN if they do; None without values."""
    if not held.nvals:
        return None
    if isinstance(held.raw, PackedValues):
        low = int(held.raw.base)
        return low, low + (1 << held.raw.width) - 1
    one = held.raw.item() if isinstance(held.raw, np.generic) else math.nan
    return one, one
