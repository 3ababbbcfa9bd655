"""Build matrices from arrays and lists. GraphBLAS C API 2.1, section 4.2.5 (build)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import build, verbs
from ...device import Device
from ...exceptions import IndexOutOfBound, InvalidObject, OutputNotEmpty
from ...flat import FlatStore
from ...formats.csr.entries import checked
from ..building import check_lengths, dense_values, duplicates, one_value
from ..convert import (
    alike,
    check_distinct,
    check_range,
    check_size,
    check_symmetric,
    device_of,
    entry_array,
    index_array,
    value_array,
)
from ..options import check_layout, check_options
from ..statement.operands import OF_PYTHON
from .chunks import ChunkBuild
from .compressed import CompressedBuild, fault_of_pointers

if TYPE_CHECKING:
    from typing_extensions import Self


FEW = 512  # entries up to which a bitmap gets them by single writes: the largest width of a bitmap


class BeyondRows(IndexOutOfBound, InvalidObject):
    """Columns beyond the matrix: both errors that SuiteSparse raises for it, a bad index and an invalid object."""


def _limit(indices: Any, given: Any, name: str) -> int:
    if given is not None:
        return check_size(name, given)
    if not len(indices):
        raise ValueError(f"{name}: expected a size, because there are no indices, got None")
    return int(indices.max()) + 1


class MatrixBuild(ChunkBuild, CompressedBuild):
    """The constructors of Matrix, and `build`.

    format: "auto" (the planner chooses), "csr", "mplg", "nib", "cgr", "hyper", or "b2sr" or "split" with the `tile`; a
    "split" without one uses the tile size of the fewest bytes. packed: see `Matrix`.
    """

    __slots__ = ()

    @classmethod
    def from_coo(
        cls, rows: Any, columns: Any, values: Any = 1.0, dtype: Any = None, *, nrows: Any = None, ncols: Any = None,
        dup_op: Any = None, name: str | None = None, device: str | Device | None = None, format: str | None = None,
        tile: int | None = None, packed: bool | None = None, symmetric: bool = False,
    ) -> Self:  # fmt: skip
        """A Matrix with values[k] at (rows[k], columns[k]).

        rows, columns: integers. values: as many, or one scalar for all entries, which is then stored once (duplicates
        are merged). nrows, ncols: one more than the largest index if not given. dup_op: combines the values of
        duplicates, in their order. symmetric: for each (i, j) there is a (j, i), whatever the values: this is checked
        in one pass. Raises ValueError (duplicates without dup_op; lengths; float indices), InvalidValue (symmetric),
        IndexOutOfBound, DeviceError, OutOfMemory.
        """
        layout = check_layout(format, tile, packed)
        d = device_of(device)
        i, j = index_array(d, rows, "rows", narrow=True), index_array(d, columns, "columns", narrow=True)
        array, dtype = entry_array(d, values, dtype)
        check_lengths(array, i, j)
        nrows, ncols = _limit(i, nrows, "nrows"), _limit(j, ncols, "ncols")
        ready = build.entries.in_order(d, nrows, ncols, i, j, array)
        if ready is None:
            check_range(i, nrows, "rows")
            check_range(j, ncols, "columns")
        dup = duplicates(dup_op, array, dtype)
        with d.guard:
            found = alike(d, array, dup)
            store = build.entries.from_coo(
                d, nrows, ncols, i, j, found, dtype, dup, format=layout.format, tile=tile, ready=ready
            )
            if found is not array:
                check_distinct(store.nvals, len(i))
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    @classmethod
    def _from_rows(
        cls, d: Device, ptr: Any, cols: Any, values: Any, dtype: Any, nrows: int, ncols: Any, *, dup_op: Any = None,
        name: str | None = None, format: str | None = None, tile: int | None = None, packed: bool | None = None,
        symmetric: bool = False,
    ) -> Self:  # fmt: skip
        """From row pointers and columns on device d. Raises InvalidValue for invalid pointers, BeyondRows for invalid
        columns."""
        layout = check_layout(format, tile, packed)
        array, dtype = entry_array(d, values, dtype)
        check_lengths(array, cols)
        ncols = _limit(cols, ncols, "ncols")
        with d.guard:
            wrong = checked(d, ptr, cols, ncols)
        if wrong.pointers:
            raise fault_of_pointers(len(cols))
        if wrong.columns:
            try:
                check_range(cols, ncols, "columns")
            except IndexOutOfBound as error:
                raise BeyondRows(str(error)) from None
        dup = duplicates(dup_op, array, dtype)
        with d.guard:
            store = build.entries.from_csr(
                d, nrows, ncols, ptr, cols, array, dtype, dup, not wrong.order, format=layout.format, tile=tile
            )
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    @classmethod
    def from_scalar(
        cls, value: Any, nrows: Any, ncols: Any, dtype: Any = None, *, name: str | None = None,
        device: str | Device | None = None, **opts: Any,
    ) -> Self:  # fmt: skip
        """A Matrix with the same value at every position."""
        check_options(opts)
        one, kind = one_value(value, dtype)
        shape = check_size("nrows", nrows), check_size("ncols", ncols)
        d = device_of(device)
        with d.guard:
            return cls._from_store(verbs.submatrix.full(d, *shape, one, kind), name)

    @classmethod
    def from_dense(
        cls, values: Any, missing_value: Any = None, *, dtype: Any = None, name: str | None = None,
        device: str | Device | None = None, format: str | None = None, tile: int | None = None,
        packed: bool | None = None, symmetric: bool = False, **opts: Any,
    ) -> Self:  # fmt: skip
        """A Matrix with an entry for each element of a two-dimensional array that differs from `missing_value`."""
        check_options(opts)
        layout = check_layout(format, tile, packed)
        d = device_of(device)
        array, dtype = dense_values(d, values, dtype, cls)
        with d.guard:
            flat, keys = array.reshape(-1).copy(), d.xp.arange(array.size, dtype=np.int64)
            if missing_value is not None:
                keep = flat != missing_value
                flat, keys = flat[keep], keys[keep]
            nrows, ncols = array.shape
            store = build.entries.from_sorted_keys(d, nrows, ncols, keys, flat, dtype, format=layout.format, tile=tile)
            check_symmetric(store.structure, symmetric)
        return cls._from_store(store, name, layout)

    def build(
        self, rows: Any, columns: Any, values: Any, *, dup_op: Any = None, clear: bool = False,
        nrows: Any = None, ncols: Any = None,
    ) -> None:  # fmt: skip
        """Insert entries into a Matrix without entries, or after `clear`.

        nrows, ncols: resize it first. Raises OutputNotEmpty, and the errors of `from_coo`.
        """
        if self.nvals and not clear:
            raise OutputNotEmpty(f"build: expected a Matrix without entries, got {self.nvals}; clear=True deletes them")
        if nrows is None and ncols is None and (few := self._few(rows, columns, values)) is not None:
            if self.nvals:
                self._adopt(self._emptied())
            self._pending.update(few)
            return
        shape = self.nrows if nrows is None else nrows, self.ncols if ncols is None else ncols
        array, _ = value_array(self.device, values, self.dtype)
        fresh = type(self).from_coo(
            rows, columns, array, self.dtype, nrows=shape[0], ncols=shape[1], dup_op=dup_op, device=self.device
        )
        self._adopt(fresh._store)

    def _few(self, rows: Any, columns: Any, values: Any) -> dict[tuple[int, int], np.generic] | None:
        """The writes for lists of a few entries of a bitmap, each position once; else None."""
        some = type(rows) is type(columns) is type(values) is list and len(rows) == len(columns) == len(values) <= FEW
        if not some or type(self._data) is not FlatStore or self._layout.packed:
            return None
        dtype, inside = self.dtype, lambda side, size: not side or 0 <= min(side) <= max(side) < size
        if not {*map(type, rows), *map(type, columns)} <= {int} or not all(map(inside, (rows, columns), self.shape)):
            return None
        if not {*map(OF_PYTHON.get, map(type, values))} <= {dtype}:
            return None
        try:
            found = dict(zip(zip(rows, columns), map(dtype.np_type.type, values)))
        except OverflowError:  # the constructor raises the error
            return None
        return found if len(found) == len(rows) else None
