"""Split chunks of entries into bands of rows: rows of each band, its entries in each chunk, those entries by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from semirings.dtypes import BOOL, DataType, lookup_dtype

from ..device import Device
from ..formats.csr import format as csr
from ..formats.csr.samples import deal_variant
from . import duplicates

Chunk = tuple[Any, Any, Any]  # rows, columns (INT64), values (None for an iso matrix)
Source = Callable[[], Iterable[Chunk]]
OTHERS = "chunks: expected the same entries in every pass, got different ones"


class Band(NamedTuple):
    """Rows low .. high, and the number of their entries."""

    low: int
    high: int
    entries: int


def cut(device: Device, rows: Any, together: int, entries: int) -> list[Band]:
    """All rows in bands of about `entries` entries, or one long row. rows: the entries of each; together: number of
    rows that are not split between bands."""
    xp, whole = device.xp, len(rows) // together * together
    ends = xp.empty(-(-len(rows) // together), np.int64)
    ends[: whole // together] = rows[:whole].reshape(-1, together).sum(axis=1)
    ends[whole // together :] = rows[whole:].sum()
    xp.cumsum(ends, out=ends)
    total = int(ends[-1]) if len(ends) else 0
    cuts = xp.searchsorted(ends, xp.arange(entries, total, entries, dtype=np.int64)) + 1
    cuts = xp.unique(xp.append(cuts, xp.asarray([len(ends)])))
    places, sums = (device.to_host(x).tolist() for x in (cuts, ends[cuts - 1] if len(ends) else cuts))
    found, low, before = [], 0, 0
    for place, end in zip(places, sums, strict=True):
        high = min(place * together, len(rows))
        found.append(Band(low, high, end - before))
        low, before = high, end
    return found


class Parts:
    """The chunks of each band, one band after the other: in a single pass if rows ascend from chunk to chunk, else in
    one pass per band."""

    def __init__(self, source: Source, ascending: bool, entries: int) -> None:
        self.source, self.ascending, self.entries = source, ascending, entries
        self.chunks = iter(source()) if ascending else iter(())
        self.left: Chunk | None = None

    def of(self, band: Band, *, last: bool) -> Iterator[Chunk]:
        """Chunks with all entries of the band, and perhaps others. ValueError if the number of entries differs from the
        first pass."""
        seen = 0
        for chunk in self._ascending(band.high, last) if self.ascending else self.source():
            seen += len(chunk[0])
            if len(chunk[0]):
                yield chunk
        expected = band.entries if self.ascending else self.entries
        if seen != expected:
            raise ValueError(f"chunks: expected {expected} entries in every pass, got {seen}")

    def _ascending(self, high: int, last: bool) -> Iterator[Chunk]:
        while (chunk := next(self.chunks, None) if self.left is None else self.left) is not None:
            self.left = None
            mine = chunk[0] < high
            if last or bool(mine.all()):
                yield chunk
                continue
            self.left = part(chunk, ~mine)
            yield part(chunk, mine)
            return


def part(chunk: Chunk, where: Any) -> Chunk:
    """Some entries of a chunk."""
    rows, cols, values = chunk
    return rows[where], cols[where], None if values is None else values[where]


def sampled(device: Device, source: Source, rows: Any, ncols: int, together: int, step: int) -> tuple[Any, Any, Any]:
    """The first of each `step` groups of rows, in one more pass: pointers, columns as distances from their row (as if
    its number were its rank among the sampled rows), and the given entries of each."""
    xp, found = device.xp, []
    for i, j, _ in source():
        mine = i // together % step == 0
        found.append((i[mine], j[mine]))
    i, j = (xp.concatenate(parts) for parts in zip(*found, strict=True))
    i, j, _ = duplicates.ordered(device, len(rows), ncols, i, j, np.bool_(True), BOOL, None)
    groups = -(-len(rows) // together)
    at = xp.arange(-(-groups // step) * together)
    taken = at // together * (together * step) + at % together
    local = i // (together * step) * together + i % together
    given = xp.where(taken < len(rows), rows[xp.minimum(taken, len(rows) - 1)], 0)
    return csr.pointers_of(local, len(at), device), (j - i + local).astype(csr.index_type(ncols)), given


def fill(device: Device, parts: Iterable[Chunk], band: Band, ptr: Any, col: Any, values: Any) -> None:
    """Scatter every entry of the band to its row, in input order; entries without values in any order on devices where
    that is faster. ptr: start of each row. ValueError if the counts differ from the first pass."""
    at = ptr[:-1].copy()
    if values is None and device.shares_rows:
        kernel, none = device.kernel(deal_variant(lookup_dtype(col.dtype), 0)), device.xp.empty(1, col.dtype)
        for rows, cols, _ in parts:
            kernel(len(rows), rows, cols, band.low, band.high - band.low, at, ptr[1:], col if len(col) else none)
    else:
        for chunk in parts:
            _in_order(device.xp, chunk, band, at, ptr, col, values)
    if not bool((at == ptr[1:]).all()):
        raise ValueError(OTHERS)


def _in_order(xp: Any, chunk: Chunk, band: Band, at: Any, ptr: Any, col: Any, values: Any) -> None:
    rows, cols, some = chunk
    keep = (rows >= band.low) & (rows < band.high)
    if not bool(keep.all()):
        rows, cols, some = rows[keep], cols[keep], None if some is None else some[keep]
    if not len(rows):
        return
    order = xp.argsort(rows, kind="stable")
    rows = rows[order]
    rows -= band.low
    first, count = runs(xp, rows)
    found = rows[first]
    if not bool((at[found] + count <= ptr[found + 1]).all()):
        raise ValueError(OTHERS)
    run = xp.zeros(len(rows), np.int64)
    run[first[1:]] = 1
    xp.cumsum(run, out=run)  # the run of each entry
    place = (at[found] - first)[run]
    place += xp.arange(len(rows))
    col[place] = cols[order]
    if values is not None:
        values[place] = some[order]
    at[found] += count


def runs(xp: Any, ordered: Any) -> tuple[Any, Any]:
    """Start and length of each run of equal numbers."""
    first = xp.concatenate((xp.zeros(1, np.int64), xp.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    return first, xp.diff(first, append=xp.asarray([len(ordered)]))


def sort_rows(
    device: Device, ncols: int, ptr: Any, col: Any, values: Any, value: Any, dtype: DataType, dup: Any, step: int
) -> int:
    """Sort the entries of each row by column and combine duplicates, about `step` entries at once, in place; updates
    `ptr`. Returns the number of remaining entries."""
    xp, nrows, total = device.xp, len(ptr) - 1, 0
    cuts = xp.unique(xp.searchsorted(ptr, xp.arange(0, len(col), step, dtype=np.int64)))
    cuts = xp.unique(xp.concatenate((cuts, xp.asarray([0, nrows]))))
    bounds = [device.to_host(x).tolist() for x in (cuts, ptr[cuts])]
    for a, b, p, q in zip(bounds[0], bounds[0][1:], bounds[1], bounds[1][1:], strict=False):
        local = ptr[a : b + 1] - p
        local[0] = 0  # that was the end of the part before
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
