"""Segmented sort, rank and scan: the segments are rows, columns, or one whole vector.

All segments are processed at once: a sort by segment, a rank within it, a scan in steps of 1, 2, 4, ...
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Operator, Typed
from semirings.dtypes import DataType

from ...build import entries as build
from ...device import Device
from ...exceptions import DomainMismatch
from ...store import MatrixStore, VectorStore
from ...verbs import arrays, keys, reading, vector_build
from ...verbs import matrix as verbs
from ..matrix.compressed import is_columnwise

HOW = ("random", "first", "last", "largest", "smallest")


class Segments(NamedTuple):
    """Entry e is in segment[e], which ascends, at index[e] (both INT64), initially ascending within a segment."""

    device: Device
    dtype: DataType
    shape: tuple[int, ...]  # of the matrix or the vector
    columns: bool  # whether a segment is a column
    segment: Any
    index: Any
    values: Any  # an array, or np.generic: iso

    @classmethod
    def of(cls, parent: Any, order: Any = "rowwise") -> Segments:
        """Of a Vector, or of a Matrix by rows or by columns. ValueError for another `order`."""
        columns = is_columnwise(order)
        if parent.ndim == 1:
            u: VectorStore = parent._in_users_order
            index, x = reading.entries(u)
            segment = u.device.xp.zeros(len(index), np.int64)
        else:
            A: MatrixStore = parent.T._in_users_order if columns else parent._in_users_order
            segment, index, x = keys.coo(A)
        stored = parent._stored
        return cls(
            parent.device, parent.dtype, parent.shape, columns, segment, index, stored.values if stored.iso else x
        )

    def ranks(self) -> Any:
        """The rank of each entry in its segment, from 0."""
        xp, n = self.device.xp, len(self.segment)
        fresh = xp.ones(n, bool)
        fresh[1:] = self.segment[1:] != self.segment[:-1]
        starts = xp.flatnonzero(fresh)
        return xp.arange(n) - starts[xp.cumsum(fresh) - 1]

    def counts(self) -> Any:
        """The number of entries in the segment of each entry."""
        before, behind = (self.device.xp.searchsorted(self.segment, self.segment, side=s) for s in ("left", "right"))
        return behind - before

    def taken(self, places: Any) -> Segments:
        """The entries at these positions."""
        return self._replace(
            segment=self.segment[places], index=self.index[places], values=keys.take(self.values, places)
        )

    def sorted_by(self, key: Any) -> Any:
        """Positions of the entries so that each segment ascends by `key`; stable."""
        order = self.device.xp.argsort(key, kind="stable")
        return order[self.device.xp.argsort(self.segment[order], kind="stable")]

    def ordered(self, how: str, seed: Any = None) -> Any:
        """Positions of the entries so that each segment begins with its first, last, smallest, largest or random
        entries."""
        if how == "random":
            return self.sorted_by(_random(self.device, len(self.segment), seed))
        if how == "last":
            return self.sorted_by(-self.index)
        if how == "first" or isinstance(self.values, np.generic):
            return self.device.xp.arange(len(self.segment))
        if self.dtype._is_udt:
            raise DomainMismatch(f"how: expected 'first', 'last' or 'random', got {how!r}: {self.dtype} has no order")
        up = self.sorted_by(self.values)
        return up if how == "smallest" else up[self.sorted_by(-self.ranks())]

    def scanned(self, op: Typed[Monoid]) -> Segments:
        """Each value combined by the monoid with all before it in its segment. If no segment has two entries, values
        and type are unchanged, as in python-graphblas."""
        d, n = self.device, len(self.segment)
        ranks, step = self.ranks(), 1
        longest = int(ranks.max()) + 1 if n else 0
        if longest < 2:
            return self
        x = d.xp.full(n, self.values) if isinstance(self.values, np.generic) else self.values
        join = verbs.plain(op)
        x = arrays.cast(d, x, self.dtype, join.dtype)
        while step < longest:
            places = d.xp.flatnonzero(ranks >= step)
            fresh = x.copy()
            fresh[places] = arrays.binary(d, join, x[places - step], x[places])
            x, step = fresh, 2 * step
        return self._replace(values=x, dtype=op.return_type)

    def sorted_with(self, op: Typed[Operator]) -> Any:
        """Positions of the entries so that op(x, y) holds for x before y in a segment: Batcher's odd-even merge sort,
        each step of which compares all its pairs at once. If neither op(x, y) nor op(y, x) holds, by index; if both
        hold, in reverse."""
        d, n = self.device, len(self.segment)
        xp, order = d.xp, d.xp.arange(n)
        for low, high in _network(xp, n):
            a, b = order[low], order[high]
            x, y = self.values[a], self.values[b]
            before, behind = arrays.binary(d, op, x, y), arrays.binary(d, op, y, x)
            late = self.index[a] > self.index[b]
            swap = xp.where(before == behind, late ^ before, behind)
            swap = (self.segment[a] > self.segment[b]) | ((self.segment[a] == self.segment[b]) & swap)
            order[low], order[high] = xp.where(swap, b, a), xp.where(swap, a, b)
        return order

    # ---- back to objects ----

    def stored(self, dtype: DataType | None = None, *, width: int | None = None) -> Any:
        """The store of the entries; width: another length of the segments."""
        kind = self.dtype if dtype is None else dtype
        if len(self.shape) == 1:
            size = self.shape[0] if width is None else width
            return vector_build.build(self.device, size, kind, self.index, self.values, distinct=True)
        rows, cols = (self.index, self.segment) if self.columns else (self.segment, self.index)
        nrows, ncols = self.shape
        if width is not None:
            nrows, ncols = (width, ncols) if self.columns else (nrows, width)
        return build.from_coo(self.device, nrows, ncols, rows, cols, self.values, kind)


def descending(x: Any) -> Any:
    """Keys that ascend where x descends; NaN stays last."""
    return -x if x.dtype.kind in "fc" else ~x


def _random(device: Device, n: int, seed: Any) -> Any:
    """n distinct keys in an order determined by the seed (None: random): SplitMix64 of seed, seed + 1, ..."""
    start = int(np.random.default_rng(seed).integers(1 << 63))
    x = device.xp.arange(n, dtype=np.uint64) + np.uint64(start)
    x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _network(xp: Any, n: int) -> Any:
    """The steps of Batcher's sorting network for n elements, each as two arrays: low and high positions of its
    pairs."""
    low = xp.arange(n)
    p = 1
    while p < n:
        k = p
        while k >= 1:
            at = low[: n - k]
            pairs = at[(at >= k % p) & ((at - k % p) % (2 * k) < k) & (at // (2 * p) == (at + k) // (2 * p))]
            yield pairs, pairs + k
            k //= 2
        p *= 2


def check_how(how: Any, known: tuple[str, ...] = HOW) -> str:
    """ValueError unless `how` is one of them."""
    if str(how).lower() not in known:
        raise ValueError(f"how: expected one of {', '.join(known)}, got {how!r}")
    return str(how).lower()


__all__ = ["Segments", "check_how", "descending"]
