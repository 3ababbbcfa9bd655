"""Concatenate objects from tiles, split them into tiles, reshape them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from semirings import dtypes
from semirings.dtypes import check_cast

from ...exceptions import DimensionMismatch
from ...operations import build, ewise_matrix, sorted_keys, vector_entries
from ...operations.build import Entries
from ...store import MatrixStore, VectorStore
from ..convert import check_size, same_device
from ..matrix.arrays import is_columnwise
from ..matrix.matrix import Matrix, TransposedMatrix
from ..options import check_options
from ..scalar import Scalar
from ..statement.indexing import Operand, describe
from ..statement.running import guarded
from ..vector.vector import Vector
from .base import Extras
from .selection import Segments

Tiles = list[list[Matrix | TransposedMatrix]]

if TYPE_CHECKING:
    from semirings import DataType

    from ..typing import Array, ArrayOrValue, DTypeArg, SizeArg


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


def tiles_of(tiles: Any, ndim: int | None = None) -> tuple[Tiles, int]:
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


def joined(rows: Tiles, dtype: DTypeArg = None) -> tuple[MatrixStore, DataType]:
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


class MatrixTiles(Extras[Matrix]):
    """Of a Matrix."""

    __slots__ = ()

    def concat(self, tiles: Any, **opts: object) -> None:
        """Replace the entries by those of rows of tiles, whose total size is that of the Matrix. Raises the errors of
        `gb.ss.concat`."""
        check_options(opts)
        rows, _ = tiles_of(tiles, 2)
        with self.device.guard:
            store, _ = joined(rows, self._parent.dtype)
        if (store.nrows, store.ncols) != self._parent.shape:
            raise DimensionMismatch(f"tiles: expected {self._parent.shape} together, got {(store.nrows, store.ncols)}")
        self._parent << Matrix._from_store(store)

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


class VectorTiles(Extras[Vector]):
    """Of a Vector."""

    __slots__ = ()

    def concat(self, tiles: Any, **opts: object) -> None:
        """Replace the entries by the concatenation of Vectors and Scalars, of the same total size."""
        check_options(opts)
        rows, _ = tiles_of(tiles, 1)
        with self.device.guard:
            store, _ = joined(rows, self._parent.dtype)
        if store.nrows != self._parent.size:
            raise DimensionMismatch(f"tiles: expected {self._parent.size} positions in total, got {store.nrows}")
        self._parent << Vector._from_store(as_vector(store))

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


__all__ = ["MatrixTiles", "VectorTiles", "concat"]
