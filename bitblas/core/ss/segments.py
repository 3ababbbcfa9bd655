"""`selectk`, `compactify`, `sort`, `scan`, `head`, by segmented sort, rank and scan.

The segments are rows, columns, or one whole vector. All segments are processed at once: a sort by segment, a rank
within it, a scan in steps of 1, 2, 4, ...
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from semirings import Monoid, Operator, Typed, binary, dtypes, monoid
from semirings.dtypes import BOOL, UINT64, DataType, check_cast

from ... import operations
from ...device import Device
from ...exceptions import DimensionMismatch, DomainMismatch
from ...operations import build, compressed, ewise_matrix, sorted_keys, value_arrays, vector_entries
from ...operations.build import Entries
from ...store import MatrixStore, VectorStore
from ..convert import check_size, same_device
from ..matrix.matrix import Matrix, TransposedMatrix
from ..matrix.read import is_columnwise
from ..operators import typed
from ..options import check_options
from ..scalar import Scalar
from ..statement.indexing import Operand, describe
from ..statement.running import guarded
from ..vector import Vector
from .base import Extras, Parent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from semirings import DataType

    from ..typing import Array, ArrayOrValue, DTypeArg, OperatorLike, SizeArg


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


# ---- Concatenate objects from tiles, split them into tiles, reshape them.


Rows = list[list[Matrix | TransposedMatrix]]


def _column(x: object) -> Matrix | TransposedMatrix:
    """A Matrix; a Vector as a column; a Scalar as 1 x 1."""
    if isinstance(x, Operand):
        x = x._resolve()
    if isinstance(x, (Matrix, TransposedMatrix)):
        return x
    if isinstance(x, Vector):
        return x.ss.reshape(x.size, 1)
    if isinstance(x, Scalar):
        tile = Matrix(x.dtype, 1, 1)
        if not x.is_empty:
            tile[0, 0] = x
        return tile
    raise TypeError(f"tiles: expected Matrices, Vectors and Scalars, got {describe(x)}")


def tiles_of(tiles: Any, ndim: int | None = None) -> tuple[Rows, int]:
    """The tiles as rows of matrices, and the dimensions of the result: 1 for a list of Vectors and Scalars.

    Raises TypeError, ValueError (none, or rows of several lengths).
    """
    if not isinstance(tiles, (list, tuple)):
        raise TypeError(f"tiles: expected a list or tuple, got {describe(tiles)}")
    if not tiles:
        raise ValueError("tiles: expected one or more tiles, got none")
    flat = not isinstance(tiles[0], (list, tuple))
    if flat and (ndim == 2 or getattr(tiles[0], "ndim", 2) == 2):
        raise TypeError(f"tiles: expected lists or tuples of tiles, one for each row, got {describe(tiles[0])}")
    if not flat and ndim == 1:
        raise TypeError("tiles: expected Vectors and Scalars, got a list")
    if any(isinstance(row, (list, tuple)) == flat or (flat and getattr(row, "ndim", 2) == 2) for row in tiles):
        raise TypeError("tiles: expected all to be lists of tiles, or all Vectors and Scalars")
    rows = [[_column(x)] for x in tiles] if flat else [[_column(x) for x in row] for row in tiles]
    if not rows[0] or len({len(row) for row in rows}) > 1:
        raise ValueError(f"tiles: expected rows of one length, of one tile or more, got {[len(row) for row in rows]}")
    return rows, 1 if flat else 2


def _places(sizes: list[int]) -> list[int]:
    """Start of each tile, and the end of the last."""
    return [0, *itertools.accumulate(sizes)]


def joined(rows: Rows, dtype: DTypeArg = None) -> tuple[MatrixStore, DataType]:
    """The matrix of these tiles, and its type: `dtype`, or that of the first. DimensionMismatch."""
    heights, widths = [row[0].nrows for row in rows], [x.ncols for x in rows[0]]
    for high, row in zip(heights, rows):
        for wide, x in zip(widths, row):
            if x.shape != (high, wide):
                raise DimensionMismatch(f"tiles: expected shape {(high, wide)} in this row and column, got {x.shape}")
    every = [x for row in rows for x in row]
    same_device("tiles", *every)
    kind = every[0].dtype if dtype is None else dtypes.lookup_dtype(dtype)
    for x in every:
        check_cast(x.dtype, kind)
    d = every[0].device
    parts = []
    for i, row in zip(_places(heights), rows):
        for j, x in zip(_places(widths), row):
            s = Segments.of(Matrix._from_store(ewise_matrix.cast(x._in_users_order, kind)))
            if len(s.segment):
                parts.append((s.segment + i, s.index + j, s.values))
    shape = sum(heights), sum(widths)
    if not parts:
        return ewise_matrix.empty(d, *shape, kind), kind
    values = [x for *_, x in parts]
    if all(sorted_keys.same_iso(values[0], x) for x in values):
        together: ArrayOrValue = values[0]
    else:
        together = d.xp.concatenate([d.full(len(i), x) if isinstance(x, np.generic) else x for i, _, x in parts])
    i, j = (d.xp.concatenate([part[k] for part in parts]) for k in (0, 1))
    return build.from_coo(Entries(d, *shape, i, j, together, kind)), kind


def as_vector(A: MatrixStore) -> VectorStore:
    """The store of a matrix of one column as a vector."""
    s = Segments.of(Matrix._from_store(A))
    return vector_entries.build(A.device, A.nrows, A.dtype, s.segment, s.values, distinct=True)


def concat(tiles: Any, dtype: DTypeArg = None, *, name: str | None = None, **opts: object) -> Matrix | Vector:
    """A Matrix from a list of rows of tiles, or a Vector from a list of Vectors and Scalars. In rows, a Vector is a
    column.

    dtype: if not given, that of the first tile. Raises TypeError, ValueError (no tiles, rows of several lengths),
    DimensionMismatch (tiles that do not fit), DeviceError.
    """
    check_options(opts)
    rows, ndim = tiles_of(tiles)
    with rows[0][0].device.guard:
        store, _ = joined(rows, dtype)
        return Matrix._from_store(store, name) if ndim == 2 else Vector._from_store(as_vector(store), name)


def sizes_of(chunks: Any, size: int) -> list[int]:
    """The sizes of the chunks of one dimension: of one number, of a list (None in it: the rest), or None: all.

    Raises TypeError, ValueError (below 0), DimensionMismatch unless their sum is `size`.
    """
    if chunks is None:
        return [size]
    if hasattr(chunks, "__index__"):
        step = check_size("chunks", chunks)
        if not step:
            raise ValueError("chunks: expected sizes above 0, got 0")
        return [min(step, size - at) for at in range(0, size, step)]
    if not isinstance(chunks, (list, tuple, np.ndarray)):
        raise TypeError(f"chunks: expected an integer, a list of them, or None, got {describe(chunks)}")
    found = [0 if c is None else check_size("chunks", c) for c in chunks]
    rest = [k for k, c in enumerate(chunks) if c is None]
    if len(rest) > 1:
        raise TypeError('chunks: expected None ("the rest") at most once')
    if rest:
        found[rest[0]] = max(0, size - sum(found))
    if sum(found) != size:
        raise DimensionMismatch(f"chunks: expected sizes with the sum {size}, got {found}")
    return found


def shape_of(nrows: Any, ncols: SizeArg, total: int) -> tuple[int, int]:
    """The requested shape, as two numbers or one pair; -1: the remaining factor. ValueError if it does not fit."""
    requested = nrows if ncols is None else (nrows, ncols)
    requested = tuple(requested) if hasattr(requested, "__len__") else (requested,)
    if len(requested) != 2:
        raise ValueError(f"shape: expected two numbers, got {requested}")
    known = [int(x) for x in requested if x != -1]
    if not known or min(known) < 0:
        raise ValueError(f"shape: expected two sizes, at most one of them -1, got {requested}")
    fill = total // known[0] if len(known) == 1 and known[0] else 0
    high, wide = (fill if x == -1 else int(x) for x in requested)
    if high * wide != total:
        raise ValueError(f"shape: expected {total} positions, got {requested}")
    return high, wide


class Tiles(Extras[Parent]):
    """Shared by Matrix and Vector."""

    __slots__ = ()

    def concat(self, tiles: Any, **opts: object) -> None:
        """Replace the entries by those of tiles of the same total size: of a Matrix rows of tiles, of a Vector Vectors
        and Scalars. Raises the errors of `gb.ss.concat`."""
        check_options(opts)
        p: Any = self._parent
        rows, _ = tiles_of(tiles, p.ndim)
        with self.device.guard:
            store, _ = joined(rows, p.dtype)
        if p.ndim == 2 and (store.nrows, store.ncols) != p.shape:
            raise DimensionMismatch(f"tiles: expected {p.shape} together, got {(store.nrows, store.ncols)}")
        if p.ndim == 1 and store.nrows != p.size:
            raise DimensionMismatch(f"tiles: expected {p.size} positions in total, got {store.nrows}")
        p << (Matrix._from_store(store) if p.ndim == 2 else Vector._from_store(as_vector(store)))


class MatrixTiles(Tiles[Matrix]):
    """Of a Matrix."""

    __slots__ = ()

    def split(self, chunks: Any, *, name: str | None = None, **opts: object) -> list[list[Matrix]]:
        """Rows of tiles. chunks: a size for both dimensions, or a pair: for each a size (the last chunk may be
        smaller), a list of sizes (None in it: the rest), or None: whole.

        Raises TypeError, ValueError, DimensionMismatch.
        """
        check_options(opts)
        A = self._parent
        pair = (chunks, chunks) if hasattr(chunks, "__index__") else chunks
        if not isinstance(pair, (list, tuple, np.ndarray)):
            raise TypeError(f"chunks: expected an integer or a pair, got {describe(chunks)}")
        if len(pair) != 2:
            raise ValueError(f"chunks: expected two, one for each dimension, got {len(pair)}")
        name = A.name if name is None else name
        heights, widths = (_places(sizes_of(c, n)) for c, n in zip(pair, A.shape))
        return [
            [A[a:b, c:d].new(name=f"{name}_{i}x{j}") for j, (c, d) in enumerate(itertools.pairwise(widths))]
            for i, (a, b) in enumerate(itertools.pairwise(heights))
        ]

    @guarded
    def reshape(
        self,
        nrows: SupportsIndex | tuple[int, int],
        ncols: SizeArg = None,
        order: str = "rowwise",
        *,
        inplace: bool = False,
        name: str | None = None,
        **opts: object,
    ) -> Matrix | None:
        """The entries in a Matrix of another shape with as many positions, in row-major or column-major order.

        nrows, ncols: two numbers or a pair; -1: the remaining factor. inplace: change the Matrix itself. Raises
        ValueError.
        """
        check_options(opts)
        A = self._parent
        shape = shape_of(nrows, ncols, A.nrows * A.ncols)
        positions, values = _positions(A, order)
        store = _placed(A, positions, values, shape, order)
        if not inplace:
            return Matrix._from_store(store, name)
        A._adopt(store)
        return None

    @guarded
    def flatten(self, order: str = "rowwise", *, name: str | None = None, **opts: object) -> Vector:
        """The entries in a Vector of nrows * ncols, by rows or by columns."""
        check_options(opts)
        A = self._parent
        positions, values = _positions(A, order)
        size = check_size("nrows * ncols", A.nrows * A.ncols)
        return Vector._from_store(vector_entries.build(A.device, size, A.dtype, positions, values, distinct=True), name)


class VectorTiles(Tiles[Vector]):
    """Of a Vector."""

    __slots__ = ()

    def split(self, chunks: Any, *, name: str | None = None, **opts: object) -> list[Vector]:
        """Vectors. chunks: a size (the last one may be smaller), a list of sizes (None in it: the rest). Raises
        TypeError, ValueError, DimensionMismatch."""
        check_options(opts)
        v = self._parent
        name = v.name if name is None else name
        ends = itertools.pairwise(_places(sizes_of(chunks, v.size)))
        return [v[a:b].new(name=f"{name}_{i}") for i, (a, b) in enumerate(ends)]

    @guarded
    def reshape(
        self,
        nrows: SupportsIndex | tuple[int, int],
        ncols: SizeArg = None,
        order: str = "rowwise",
        *,
        name: str | None = None,
        **opts: object,
    ) -> Matrix:
        """The entries in a Matrix with as many positions, in row-major or column-major order.

        nrows, ncols: two numbers or a pair; -1: the remaining factor. Raises ValueError.
        """
        check_options(opts)
        v = self._parent
        s = Segments.of(v)
        return Matrix._from_store(_placed(v, s.index, s.values, shape_of(nrows, ncols, v.size), order), name)


def _positions(A: Matrix, order: str) -> tuple[Array, ArrayOrValue]:
    """Linear positions of the entries in row-major or column-major order, and their values."""
    sorted_keys.check_keys(*A.shape)
    s = Segments.of(A, order)
    return s.segment * (A.nrows if s.columns else A.ncols) + s.index, s.values


def _placed(
    like: Matrix | Vector, positions: Array, values: ArrayOrValue, shape: tuple[int, int], order: str
) -> MatrixStore:
    columns = is_columnwise(order)
    step = max(1, shape[0] if columns else shape[1])
    major, minor = positions // step, positions % step
    rows, cols = (minor, major) if columns else (major, minor)
    return build.from_coo(Entries(like.device, *shape, rows, cols, values, like.dtype))
