"""`selectk`, `compactify`, `sort`, `scan`, `head`, by segmented sort, rank and scan.

The segments are rows, columns, or one whole vector. All segments are processed at once: a sort by segment, a rank
within it, a scan in steps of 1, 2, 4, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semirings import Monoid, Operator, Typed, binary, dtypes, monoid
from semirings.dtypes import BOOL, UINT64, DataType

from ... import operations
from ...device import Device
from ...exceptions import DomainMismatch
from ...operations import build, compressed, ewise_matrix, sorted_keys, value_arrays, vector_entries
from ...operations.build import Entries
from ...store import MatrixStore
from ..convert import check_size
from ..matrix.arrays import is_columnwise
from ..matrix.matrix import Matrix
from ..operators import typed
from ..options import check_options
from ..statement.running import guarded
from ..vector.vector import Vector
from .base import Extras, Parent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..typing import Array, DTypeArg, OperatorLike

# ---- Segmented sort, rank and scan: the segments are rows, columns, or one whole vector.

HOW = ("random", "first", "last", "largest", "smallest")


class Segments(NamedTuple):
    """Entry e is in segment[e], which ascends, at index[e] (both INT64), initially ascending within a segment."""

    device: Device
    dtype: DataType
    shape: tuple[int, ...]  # of the matrix or the vector
    columns: bool  # whether a segment is a column
    segment: Array
    index: Any  # an array; tuples have a method of this name
    values: Any  # an array, or np.generic: iso

    @classmethod
    def of(cls, parent: Matrix | Vector, order: str = "rowwise") -> Segments:
        """Of a Vector, or of a Matrix by rows or by columns. ValueError for another `order`."""
        columns = is_columnwise(order)
        if isinstance(parent, Vector):
            u = parent._in_users_order
            index, x = compressed.entries(u)
            segment = u.device.xp.zeros(len(index), np.int64)
        else:
            A: MatrixStore = parent.T._in_users_order if columns else parent._in_users_order
            segment, index, x = sorted_keys.coo(A)
        stored = parent._stored
        return cls(
            parent.device, parent.dtype, parent.shape, columns, segment, index, stored.values if stored.iso else x
        )

    def ranks(self) -> Array:
        """The rank of each entry in its segment, from 0."""
        xp, n = self.device.xp, len(self.segment)
        fresh = xp.ones(n, bool)
        fresh[1:] = self.segment[1:] != self.segment[:-1]
        starts = xp.flatnonzero(fresh)
        return xp.arange(n) - starts[xp.cumsum(fresh) - 1]

    def counts(self) -> Array:
        """The number of entries in the segment of each entry."""
        before, after = (self.device.xp.searchsorted(self.segment, self.segment, side=s) for s in ("left", "right"))
        return after - before

    def take(self, places: Array) -> Segments:
        """The entries at these positions."""
        return self._replace(
            segment=self.segment[places], index=self.index[places], values=sorted_keys.take(self.values, places)
        )

    def sorted_by(self, key: Array) -> Array:
        """Positions of the entries so that each segment ascends by `key`; stable."""
        order = self.device.xp.argsort(key, kind="stable")
        return order[self.device.xp.argsort(self.segment[order], kind="stable")]

    def ordered(self, how: str, seed: int | None = None) -> Array:
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
        join = ewise_matrix.plain(op)
        x = value_arrays.cast(d, x, self.dtype, join.dtype)
        while step < longest:
            places = d.xp.flatnonzero(ranks >= step)
            fresh = x.copy()
            fresh[places] = value_arrays.binary(d, join, x[places - step], x[places])
            x, step = fresh, 2 * step
        return self._replace(values=x, dtype=op.return_type)

    def sorted_with(self, op: Typed[Operator]) -> Array:
        """Positions of the entries so that op(x, y) holds for x before y in a segment: Batcher's odd-even merge sort,
        each step of which compares all its pairs at once. If neither op(x, y) nor op(y, x) holds, by index; if both
        hold, in reverse."""
        d, n = self.device, len(self.segment)
        xp, order = d.xp, d.xp.arange(n)
        for low, high in _network(xp, n):
            a, b = order[low], order[high]
            x, y = self.values[a], self.values[b]
            before, after = value_arrays.binary(d, op, x, y), value_arrays.binary(d, op, y, x)
            late = self.index[a] > self.index[b]
            swap = xp.where(before == after, late ^ before, after)
            swap = (self.segment[a] > self.segment[b]) | ((self.segment[a] == self.segment[b]) & swap)
            order[low], order[high] = xp.where(swap, b, a), xp.where(swap, a, b)
        return order

    # ---- back to objects ----

    def stored(self, dtype: DataType | None = None, *, width: int | None = None) -> Any:
        """The store of the entries; width: another length of the segments."""
        kind = self.dtype if dtype is None else dtype
        if len(self.shape) == 1:
            size = self.shape[0] if width is None else width
            return vector_entries.build(self.device, size, kind, self.index, self.values, distinct=True)
        rows, cols = (self.index, self.segment) if self.columns else (self.segment, self.index)
        nrows, ncols = self.shape
        if width is not None:
            nrows, ncols = (width, ncols) if self.columns else (nrows, width)
        return build.from_coo(Entries(self.device, nrows, ncols, rows, cols, self.values, kind))


def descending(x: Array) -> Array:
    """Keys that ascend where x descends; NaN stays last."""
    return -x if x.dtype.kind in "fc" else ~x


def _random(device: Device, n: int, seed: int | None) -> Array:
    """n distinct keys in an order determined by the seed (None: random): SplitMix64 of seed, seed + 1, ..."""
    start = int(np.random.default_rng(seed).integers(1 << 63))
    x = device.xp.arange(n, dtype=np.uint64) + np.uint64(start)
    x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _network(xp: ModuleType, n: int) -> Iterator[tuple[Array, Array]]:
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


def check_how(how: str, known: tuple[str, ...] = HOW) -> str:
    """ValueError unless `how` is one of them."""
    if str(how).lower() not in known:
        raise ValueError(f"how: expected one of {', '.join(known)}, got {how!r}")
    return str(how).lower()


# ---- `selectk`, `compactify`, `sort`, `scan`, `head`: in each row, in each column, or in a whole vector.

# Comparisons that a plain sort of keys implements, and whether it is descending.
DOWN = {binary.lt: False, binary.le: False, binary.gt: True, binary.ge: True}


class Choosing(Extras[Parent]):
    """Shared by Matrix and Vector. Results are new objects."""

    __slots__ = ()

    def _made(
        self, segments: Segments, name: str | None, dtype: DataType | None = None, width: int | None = None
    ) -> Parent:
        kind: Any = Matrix if self._parent.ndim == 2 else Vector
        return kind._from_store(segments.stored(dtype, width=width), name)

    def _selectk(self, how: str, k: int, order: str, name: str | None, seed: int | None) -> Parent:
        how = check_how(how)
        if k < 0:
            raise ValueError(f"k: expected a number of entries, got {k}; negative k is not allowed")
        s = Segments.of(self._parent, order)
        places = s.ordered(how, seed)[s.ranks() < k]
        return self._made(s.take(self.device.xp.sort(places)), name)

    def _compactify(
        self, how: str, k: int | None, order: str, reverse: bool, asindex: bool, name: str | None, seed: int | None
    ) -> Parent:
        how = check_how(how)
        s = Segments.of(self._parent, order)
        ranks = s.ranks()
        width = (int(ranks.max()) + 1 if len(ranks) else 0) if k is None else check_size("k", k)
        found = s.take(s.ordered(how, seed)[ranks < width])
        if reverse and how != "random":
            found = found.take(found.sorted_by(-found.ranks()))
        if asindex:
            found = found._replace(values=found.index.astype(np.uint64), dtype=UINT64)
        return self._made(found._replace(index=found.ranks()), name, width=width)

    def _sort(
        self, op: OperatorLike, order: str, values: bool, permutation: bool
    ) -> tuple[Parent | None, Parent | None]:
        f = self._typed(op, "binary")
        if f.return_type is not BOOL:
            raise DomainMismatch(
                f"op: expected a comparison, which gives BOOL, got {op!r}, which gives {f.return_type}"
            )
        s = Segments.of(self._parent, order)
        found = s.take(_sorted(s, f))
        ranks = found.ranks()
        sorted_values = self._made(found._replace(index=ranks), "Values") if values else None
        if not permutation:
            return sorted_values, None
        where = found._replace(index=ranks, values=found.index.astype(np.uint64), dtype=UINT64)
        return sorted_values, self._made(where, "Permutation")

    def _scan(self, op: OperatorLike, order: str, name: str | None) -> Parent:
        s = Segments.of(self._parent, order)
        return self._made(s.scanned(self._typed(op, "monoid")), name)

    def _typed(self, op: OperatorLike, kind: str) -> Typed:
        found = typed(op, kind, self._parent.dtype)
        operations.udf.check_device(found, self._parent.device)
        return found

    @guarded
    def head(self, n: int = 10, dtype: DTypeArg = None, *, sort: bool = False) -> tuple[Array, ...]:
        """The first n entries (by row, then column) in the form of `to_coo`."""
        *index, values = self._parent.to_coo(None if dtype is None else dtypes.lookup_dtype(dtype))
        return (*(i[:n] for i in index), values[:n])


def _sorted(s: Segments, op: Typed) -> Array:
    if isinstance(s.values, np.generic):
        return s.device.xp.arange(len(s.segment))
    down = DOWN.get(op.op)
    if down is not None:
        return s.sorted_by(descending(s.values) if down else s.values)
    return s.sorted_with(op)


class MatrixChoosing(Choosing[Matrix]):
    """order: "rowwise" or "columnwise", and synonyms; ValueError for anything else."""

    __slots__ = ()

    @guarded
    def selectk(
        self, how: str, k: int, order: str = "rowwise", *, name: str | None = None, seed: int | None = None
    ) -> Matrix:
        """Up to k entries of each row (column).

        how: "first", "last", "smallest" and "largest" (of equal ones the first, the last), or "random": each with the
        same probability, determined by `seed`. Raises ValueError for another one, or a k below 0.
        """
        return self._selectk(how, k, order, name, seed)

    @guarded
    def compactify(
        self,
        how: str = "first",
        k: int | None = None,
        order: str = "rowwise",
        *,
        reverse: bool = False,
        asindex: bool = False,
        name: str | None = None,
        seed: int | None = None,
    ) -> Matrix:
        """The entries of each row moved to the left (of each column to the top), in the order of `how`.

        how, seed: as in `selectk`. k: columns (rows) of the result, so that k entries of each stay; None: enough to
        keep all. reverse: reverse the remaining entries. asindex: their original columns (rows) instead of their
        values. Raises ValueError.
        """
        return self._compactify(how, k, order, reverse, asindex, name, seed)

    @guarded
    def sort(
        self,
        op: OperatorLike = binary.lt,
        order: str = "rowwise",
        *,
        values: bool = True,
        permutation: bool = True,
        **opts: object,
    ) -> tuple[Matrix | None, Matrix | None]:
        """(Values, Permutation): the entries of each row (column) sorted and moved to the left (top), and their
        original columns (rows); None for a result that was not requested.

        op: a comparison, such as `binary.lt` for ascending order; equal ones keep their order. Raises DomainMismatch
        for an operator that does not return BOOL.
        """
        check_options(opts)
        return self._sort(op, order, values, permutation)

    @guarded
    def scan(
        self, op: OperatorLike = monoid.plus, order: str = "rowwise", *, name: str | None = None, **opts: object
    ) -> Matrix:
        """Prefix sums: each entry combined with those before it in its row (column). Raises TypeError unless op is a
        monoid."""
        check_options(opts)
        return self._scan(op, order, name)


class VectorChoosing(Choosing[Vector]):
    """selectk, compactify, sort and scan of a Vector."""

    __slots__ = ()

    @guarded
    def selectk(self, how: str, k: int, *, name: str | None = None, seed: int | None = None) -> Vector:
        """Up to k entries.

        how: "first", "last", "smallest" and "largest" (of equal ones the first, the last), or "random": each with the
        same probability, determined by `seed`. Raises ValueError for another one, or a k below 0.
        """
        return self._selectk(how, k, "rowwise", name, seed)

    @guarded
    def compactify(
        self,
        how: str = "first",
        size: int | None = None,
        *,
        reverse: bool = False,
        asindex: bool = False,
        name: str | None = None,
        seed: int | None = None,
    ) -> Vector:
        """The entries moved to the beginning, in the order of `how`.

        how, seed: as in `selectk`. size: of the result; None: the number of entries. reverse: reverse the remaining
        entries. asindex: their original indices instead of their values. Raises ValueError.
        """
        return self._compactify(how, size, "rowwise", reverse, asindex, name, seed)

    @guarded
    def sort(
        self, op: OperatorLike = binary.lt, *, values: bool = True, permutation: bool = True, **opts: object
    ) -> tuple[Vector | None, Vector | None]:
        """(Values, Permutation): the entries sorted and moved to the beginning, and their original indices; None for a
        result that was not requested. op: as in `Matrix.ss.sort`."""
        check_options(opts)
        return self._sort(op, "rowwise", values, permutation)

    @guarded
    def scan(self, op: OperatorLike = monoid.plus, *, name: str | None = None, **opts: object) -> Vector:
        """Prefix sums: each entry combined with those before it. TypeError unless op is a monoid."""
        check_options(opts)
        return self._scan(op, "rowwise", name)
