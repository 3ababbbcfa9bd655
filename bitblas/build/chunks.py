"""A matrix of entries that come in chunks, never all at once beside the result.

Two passes over the chunks: the entries of each row are counted, then each is put into its row; then bands of rows are
sorted, where they stand. Peak memory on the device, in bytes, for E entries given in chunks of at most K, n rows, c
bytes a column number (4, or 8 from 2**31 columns on) and v bytes a value (0: one for all):

    E (c + v) + 40 n + 96 max(K, b + the longest row)        b = E / 8, from 2**12 to 2**20

and D (c + v) more for a moment, where entries fall together so that D are left. Other forms are made of the rows after
that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from semirings.dtypes import DataType

from ..device import Device
from ..formats.csr import format as csr
from ..store import MatrixStore
from . import duplicates, stores

LEAST, MOST = 1 << 12, 1 << 20  # entries that are sorted together
SCRATCH = 96  # bytes for each entry of a chunk or band
ROW = 40  # bytes for each row

Chunk = tuple[Any, Any, Any]  # rows, columns (INT64), values (None where one value is all)


def band_of(entries: int) -> int:
    """Entries of a band."""
    return min(MOST, max(LEAST, entries // 8))


def peak(entries: int, largest: int, longest: int, nrows: int, ncols: int, itemsize: int) -> int:
    """The formula above, without what falling together takes."""
    band = min(entries, band_of(entries) + longest)
    c = csr.index_type(ncols).itemsize
    return entries * (c + itemsize) + ROW * (nrows + 1) + SCRATCH * max(largest, band)


class Counts:
    """The first pass: entries in each row, and what is the largest of anything."""

    def __init__(self, device: Device, nrows: int | None) -> None:
        self.device, self.entries, self.largest = device, 0, 0
        self.nrows = self.ncols = 0  # one more than the largest index seen
        self.rows = device.xp.zeros(0 if nrows is None else nrows, np.int64)

    def add(self, rows: Any, cols: Any) -> None:
        xp, k = self.device.xp, len(rows)
        if not k:
            return
        self.entries, self.largest = self.entries + k, max(self.largest, k)
        self.nrows, self.ncols = max(self.nrows, int(rows.max()) + 1), max(self.ncols, int(cols.max()) + 1)
        if self.nrows > len(self.rows):
            stores.check_rows(self.device, 2 * self.nrows)
            grown = xp.zeros(max(self.nrows, 2 * len(self.rows)), np.int64)
            grown[: len(self.rows)] = self.rows
            self.rows = grown
        ordered = xp.sort(rows)
        first, count = _runs(xp, ordered)
        self.rows[ordered[first]] += count

    def pointers(self, nrows: int) -> Any:
        """Where each row begins, and the end, INT64. The counts are given back."""
        ptr = self.device.xp.zeros(nrows + 1, np.int64)
        some = self.rows[:nrows]
        self.device.xp.cumsum(some, out=ptr[1 : len(some) + 1])
        ptr[len(some) + 1 :] = self.entries
        self.rows = some[:0].copy()
        return ptr


def _runs(xp: Any, ordered: Any) -> tuple[Any, Any]:
    """Where each run of equal numbers begins, and its length."""
    first = xp.concatenate((xp.zeros(1, np.int64), xp.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    return first, xp.diff(first, append=xp.asarray([len(ordered)]))


def from_counts(
    counts: Counts, chunks: Iterable[Chunk], nrows: int, ncols: int, value: Any, dtype: DataType, dup: Any = None,
    *, format: str = "auto", tile: int | None = None,
) -> MatrixStore:  # fmt: skip
    """The second pass: the matrix of the chunks that were counted. value: np.generic, one for all entries; None: the
    chunks bring values. Raises ValueError for other chunks than were counted, and for duplicates without `dup`."""
    device, entries = counts.device, counts.entries
    xp, longest = device.xp, int(counts.rows.max()) if len(counts.rows) else 0
    itemsize = 0 if value is not None else dtype.np_type.itemsize
    device.foresee(f"{entries} entries from chunks", peak(entries, counts.largest, longest, nrows, ncols, itemsize))
    ptr = counts.pointers(nrows)
    col = xp.empty(entries, csr.index_type(ncols))
    values = None if value is not None else xp.empty(entries, dtype.np_type)
    _fill(xp, chunks, ptr, col, values)
    total = _sort_bands(device, ncols, ptr, col, values, value, dtype, dup)
    if total < entries:
        col = col[:total].copy()
        values = None if values is None else values[:total].copy()
    rows = csr.from_arrays(device, nrows, ncols, ptr, col)
    del ptr, col
    return stores.of_rows(rows, dtype, value if values is None else values, format, tile)


def _fill(xp: Any, chunks: Iterable[Chunk], ptr: Any, col: Any, values: Any) -> None:
    """Every entry into its row, in the order in which they come."""
    at, seen = ptr[:-1].copy(), 0  # the next free place of each row
    for rows, cols, some in chunks:
        if not len(rows):
            continue
        order = xp.argsort(rows, kind="stable")
        rows, seen = rows[order], seen + len(rows)
        first, count = _runs(xp, rows)
        found = rows[first]
        if not bool((at[found] + count <= ptr[found + 1]).all()):
            raise ValueError("chunks: expected the same entries each time they are gone through, got others")
        run = xp.zeros(len(rows), np.int64)
        run[first[1:]] = 1
        xp.cumsum(run, out=run)  # the run of each entry
        place = (at[found] - first)[run]
        place += xp.arange(len(rows))
        col[place] = cols[order]
        if values is not None:
            values[place] = some[order]
        at[found] += count
    if seen < len(col):
        raise ValueError(f"chunks: expected {len(col)} entries each time they are gone through, got {seen}")


def _sort_bands(
    device: Device, ncols: int, ptr: Any, col: Any, values: Any, value: Any, dtype: DataType, dup: Any
) -> int:
    """Entries by column in each row, equal ones joined, band by band where they stand; `ptr` follows. How many are
    left."""
    xp, nrows, total = device.xp, len(ptr) - 1, 0
    cuts = xp.unique(xp.searchsorted(ptr, xp.arange(0, len(col), band_of(len(col)), dtype=np.int64)))
    cuts = xp.unique(xp.concatenate((cuts, xp.asarray([0, nrows]))))
    bounds = [device.to_host(x).tolist() for x in (cuts, ptr[cuts])]
    for a, b, p, q in zip(bounds[0], bounds[0][1:], bounds[1], bounds[1][1:], strict=False):
        local = ptr[a : b + 1] - p
        local[0] = 0  # that was the end of the band before
        rows = csr.numbers_of(local, q - p, device)
        cols = col[p:q].astype(np.int64)
        some = value if values is None else values[p:q]
        rows, cols, some = duplicates.ordered(device, b - a, ncols, rows, cols, some, dtype, dup)
        end = total + len(cols)
        col[total:end] = cols
        if values is not None:
            values[total:end] = some
        ptr[a : b + 1] = csr.pointers_of(rows, b - a, device)
        ptr[a : b + 1] += total
        total = end
    return total


def from_arrays(
    device: Device, nrows: int, ncols: int, rows: Any, cols: Any, values: Any, dtype: DataType, dup: Any,
    *, format: str = "auto", tile: int | None = None,
) -> MatrixStore:  # fmt: skip
    """The matrix of entries that are there, taken as chunks because sorting all of them would need too much."""
    one, step = isinstance(values, np.generic), band_of(len(rows)) // 4
    counts = Counts(device, nrows)
    for k in range(0, len(rows), step):
        counts.add(rows[k : k + step], cols[k : k + step])
    parts = ((rows[k : k + step], cols[k : k + step], None if one else values[k : k + step])
             for k in range(0, len(rows), step))  # fmt: skip
    value = values if one else None
    return from_counts(counts, parts, nrows, ncols, value, dtype, dup, format=format, tile=tile)
