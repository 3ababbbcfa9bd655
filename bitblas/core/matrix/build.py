"""Matrices from arrays and lists, and back. GraphBLAS C API 2.1, sections 4.2.5 (build) and 4.2.8 (tuples)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from semirings import dtypes
from semirings.dtypes import cast_scalar

from ...build import entries as build
from ...device import Device
from ...exceptions import IndexOutOfBound, InvalidObject
from ...store import MatrixStore
from ...verbs import arrays, submatrix
from ...verbs import matrix as verbs
from ..convert import check_range, check_size, check_symmetric, device_of, index_array, scalar_type, value_array
from ..options import check_layout, check_options
from ..statement.door import guarded
from ..statement.operands import of
from ..statement.orders import in_users_order
from ..vector.build import check_lengths, duplicates
from .chunks import ChunkBuild
from .compressed import CompressedBuild, CompressedExport


class BeyondRows(IndexOutOfBound, InvalidObject):
    """Columns beyond the matrix: an index, and rows that make no matrix, as SuiteSparse says it."""


def _limit(indices: Any, given: Any, name: str) -> int:
    if given is not None:
        return check_size(name, given)
    if not len(indices):
        raise ValueError(f"{name}: expected one where there are no indices, got None")
    return int(indices.max()) + 1


class MatrixBuild(ChunkBuild, CompressedBuild):
    """The constructors of Matrix. format: "auto" (the plan chooses), "csr", "mplg", or "b2sr" or "split" with
    the `tile`; a "split" without one has the tiles that need the fewest bytes. packed: as `Matrix` says."""

    __slots__ = ()
    _from_store: ClassVar[Any]  # (store, name, ..): of the class that this is mixed into

    @classmethod
    def from_coo(
        cls, rows: Any, columns: Any, values: Any = 1.0, dtype: Any = None, *, nrows: Any = None, ncols: Any = None,
        dup_op: Any = None, name: str | None = None, device: str | Device | None = None, format: str | None = None,
        tile: int | None = None, packed: bool | None = None, symmetric: bool = False,
    ) -> Any:  # fmt: skip
        """A Matrix with values[k] at (rows[k], columns[k]).

        rows, columns: integers. values: as many, or one scalar for all entries, which is then stored once (equal
        indices fall together). nrows, ncols: one more than the largest index if not given. dup_op: joins the values
        of equal indices, in their order. symmetric: each (i, j) is there as (j, i) too, whatever the values: checked,
        in one pass. Raises ValueError (equal indices without dup_op; lengths; float indices), InvalidValue (symmetric),
        IndexOutOfBound, DeviceError, OutOfMemory.
        """
        layout = check_layout(format, tile, packed)
        d = device_of(device)
        i, j = index_array(d, rows, "rows"), index_array(d, columns, "columns")
        array, dtype = value_array(d, values, dtype)
        check_lengths(array, i, j)
        nrows, ncols = _limit(i, nrows, "nrows"), _limit(j, ncols, "ncols")
        check_range(i, nrows, "rows")
        check_range(j, ncols, "columns")
        dup = duplicates(dup_op, array, dtype)
        with d.guard:
            store = build.from_coo(d, nrows, ncols, i, j, array, dtype, dup, format=layout.format, tile=tile)
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    @classmethod
    def _from_rows(
        cls, d: Device, ptr: Any, cols: Any, values: Any, dtype: Any, nrows: int, ncols: Any, *, dup_op: Any = None,
        name: str | None = None, format: str | None = None, tile: int | None = None, packed: bool | None = None,
        symmetric: bool = False,
    ) -> Any:  # fmt: skip
        """Of row pointers and columns on device d. Raises BeyondRows for columns that are none."""
        layout = check_layout(format, tile, packed)
        array, dtype = value_array(d, values, dtype)
        check_lengths(array, cols)
        ncols = _limit(cols, ncols, "ncols")
        try:
            check_range(cols, ncols, "columns")
        except IndexOutOfBound as error:
            raise BeyondRows(str(error)) from None
        dup = duplicates(dup_op, array, dtype)
        with d.guard:
            store = build.from_csr(d, nrows, ncols, ptr, cols, array, dtype, dup, format=layout.format, tile=tile)
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    @classmethod
    def from_scalar(
        cls, value: Any, nrows: Any, ncols: Any, dtype: Any = None, *, name: str | None = None,
        device: str | Device | None = None, **opts: Any,
    ) -> Any:  # fmt: skip
        """A Matrix with the same value at every position."""
        check_options(opts)
        found, kind = of(value)
        if found is None:
            raise ValueError("value: expected one, got an empty Scalar")
        kind = kind if dtype is None else dtypes.lookup_dtype(dtype)
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        d = device_of(device)
        with d.guard:
            return cls._from_store(submatrix.full(d, *shape, cast_scalar(found, kind), kind), name)

    @classmethod
    def from_dense(
        cls, values: Any, missing_value: Any = None, *, dtype: Any = None, name: str | None = None,
        device: str | Device | None = None, format: str | None = None, tile: int | None = None,
        packed: bool | None = None, symmetric: bool = False, **opts: Any,
    ) -> Any:  # fmt: skip
        """A Matrix with an entry for each element of a two-dimensional array but those equal to `missing_value`."""
        check_options(opts)
        layout = check_layout(format, tile, packed)
        d = device_of(device)
        array, dtype = value_array(d, values, dtype)
        if isinstance(array, np.generic):
            raise TypeError("values: expected an array, got a scalar; use Matrix.from_scalar")
        if array.ndim != 2:
            raise ValueError(f"values: expected two dimensions, got {np.ndim(array)}")
        with d.guard:
            flat, keys = array.reshape(-1).copy(), d.xp.arange(array.size, dtype=np.int64)
            if missing_value is not None:
                keep = flat != missing_value
                flat, keys = flat[keep], keys[keep]
            nrows, ncols = array.shape
            store = build.from_sorted_keys(d, nrows, ncols, keys, flat, dtype, format=layout.format, tile=tile)
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)


class MatrixExport(CompressedExport):
    """What reads a Matrix or a TransposedMatrix whole."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def _stored(self) -> MatrixStore: ...

    @property
    def _whole(self) -> MatrixStore:
        """What it holds, in the user's order, for a look: it stays as it lies, and no second copy is kept."""
        return in_users_order(self, self._stored, keep=False)

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> Any:
        """(rows, columns, values) as arrays on the object's device: UINT64 by row, then column, and `dtype` or the
        Matrix's own. None in the place of what is not wanted; with sort=False in the order of the stored form."""
        i, j, x = self._coo(dtype, values, sort)
        return (i if rows else None, j if columns else None, x)

    @guarded
    def _coo(self, dtype: Any = None, values: bool = True, sort: bool = True) -> tuple[Any, Any, Any]:
        """Its own rows, columns and values, of a transpose too: by row, then column, or as they are stored."""
        A = self._whole if sort else self._stored
        order = A.order
        if dtype is not None:
            A = verbs.cast(A, dtypes.lookup_dtype(dtype)).tagged(order)
        if sort:
            i, j, x = verbs.coo(A)
        else:
            i, j = A.coo()
            x = A.device.full(len(i), A.values) if A.iso else A.values
        if values and x is A.raw:
            x = A.values.copy()  # what is given away may be written to
        return i.view(np.uint64), j.view(np.uint64), x if values else None

    @guarded
    def to_dense(self, fill_value: Any = None, dtype: Any = None, **opts: Any) -> Any:
        """An array of nrows x ncols, fill_value where there is no entry; of a type that holds both.

        Raises TypeError where entries are missing and no fill_value is given.
        """
        check_options(opts)
        A = self._whole
        full = A.nvals == A.nrows * A.ncols
        if fill_value is None:
            if not full:
                raise TypeError("fill_value must be given in `to_dense` when there are missing values")
            fill_value = False
        found, kind = of(fill_value)
        if found is None:
            raise TypeError("fill_value: expected a value, got an empty Scalar")
        if dtype is not None:
            kind = dtypes.lookup_dtype(dtype)
        else:
            kind = A.dtype if full else dtypes.unify(A.dtype, scalar_type(found))
        i, j, x = verbs.coo(A)
        out = A.device.xp.full((A.nrows, A.ncols), cast_scalar(found, kind))
        out[i, j] = arrays.cast(A.device, x, A.dtype, kind) if len(x) else x.astype(kind.np_type)
        return out
