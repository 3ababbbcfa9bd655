"""From entries, at once or in chunks, to a matrix on the device that holds the data; duplicates are combined.

Every build reports the memory that it needs in addition to its input before it allocates (`Device.foresee`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, INT32, DataType, lookup_dtype

from .. import tuning
from ..device import Device
from ..exceptions import OutOfMemory
from ..formats import CSR, FORMATS, Structure
from ..formats.catalog import builders
from ..formats.csr import layout as csr
from ..formats.csr.kernels import distribute_variant
from ..formats.hyper.layout import is_hyper
from ..formats.structure import is_by_rows
from ..store import MatrixStore, PlainValues
from ..typing import Array
from . import convert, value_arrays

# ---- Sort entries in any order and combine duplicates.


class Entries(NamedTuple):
    """Entries of a matrix in any order. values: an array in that order, or one for all entries. dup combines
    duplicates in input order (None: they are an error)."""

    device: Device
    nrows: int
    ncols: int
    rows: Array
    cols: Array
    values: PlainValues
    dtype: DataType
    dup: Typed | None = None


def _combined(entries: Entries, values: Array, ends: Array) -> Array:
    """The values of each run of duplicates, combined. ValueError without an operator."""
    if entries.dup is None:
        raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")
    return value_arrays.fold_segments(entries.device, entries.dup, values, entries.dtype, ends)


def ordered(entries: Entries) -> tuple[Array, Array, PlainValues]:
    """The entries by row, then column, duplicates combined by `dup` in input order."""
    device, nrows, ncols, rows, cols, values, *_ = entries
    xp, iso = device.xp, isinstance(values, np.generic)
    if iso and device.prefers_sorting and nrows * ncols < 1 << 63:  # keys alone are sorted
        keys = rows * ncols
        keys += cols
        keys.sort()
        keys = xp.append(keys[:1], keys[1:][keys[1:] > keys[:-1]])
        rows = keys // max(1, ncols)
        keys -= rows * ncols
        return rows, keys, values
    order = csr.sort_entries(device, rows, cols, nrows, ncols)
    rows, cols = rows[order], cols[order]
    fresh = xp.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1])
    if not isinstance(values, np.generic):
        values = values[order]
    starts = xp.flatnonzero(fresh)
    if len(starts) < len(rows):
        if not isinstance(values, np.generic):
            values = _combined(entries, values, xp.append(starts, len(rows)))
        rows, cols = rows[starts], cols[starts]
    return rows, cols, values


def counted(entries: Entries) -> tuple[Array, Array, PlainValues]:
    """The same by counting sort: row pointers, columns and values, in new arrays."""
    device, nrows, ncols, rows, cols, values, *_ = entries
    nvals = len(rows)
    rows_of, order = csr.counting_sort(device, nrows, ncols, rows, cols, not isinstance(values, np.generic))
    ptr, col = rows_of.ptr, rows_of.col
    if not isinstance(values, np.generic):
        values = values[order]
    fresh = np.ones(nvals, bool)
    np.not_equal(col[1:], col[:-1], out=fresh[1:])
    fresh[ptr[ptr < nvals]] = True  # the first of a row
    if fresh.all():
        return ptr, col, values
    starts = np.flatnonzero(fresh)
    if not isinstance(values, np.generic):
        values = _combined(entries, values, np.append(starts, nvals))
    return np.searchsorted(starts, ptr), col[starts], values


def in_order(
    device: Device, nrows: int, ncols: int, rows: Array, cols: Array, values: PlainValues
) -> tuple[Array, Array] | None:
    """Row pointers and columns of many entries on the host, if they are ordered by row and column, without duplicates,
    and within the matrix: one pass checks and builds all of that. None otherwise, or if memory may not suffice."""
    few = len(rows) < tuning.count("csr.counting_sort_from")
    if not device.host_memory or few or _is_hypersparse("auto", nrows, ncols, len(rows)):
        return None
    if device.missing(_rows_bytes(nrows, ncols, len(rows), values, 0)):
        return None
    return csr.in_order(device, nrows, ncols, rows, cols, csr.index_type(ncols))


def from_coo(
    entries: Entries, *, format: str = "auto", tile: int | None = None, ready: tuple[Array, Array] | None = None
) -> MatrixStore:
    """The matrix of entries in any order; ValueError for duplicates without an operator, unless all values are one. The
    arrays stay the caller's. ready: the result of `in_order` for them."""
    device, nrows, ncols, rows, cols, values, dtype, _ = entries
    if ready is not None:
        rows_of = csr.from_arrays(device, nrows, ncols, *ready)
        return convert.of_rows(rows_of, dtype, _copied(values), format, tile)
    xp, iso = device.xp, isinstance(values, np.generic)
    if _is_hypersparse(format, nrows, ncols, len(rows)):
        (row, i), (col, j) = (xp.unique(x.astype(np.int64, copy=False), return_inverse=True) for x in (rows, cols))
        small = from_coo(entries._replace(nrows=len(row), ncols=len(col), rows=i, cols=j), format="csr")
        return convert.widened(small, row, col, nrows, ncols)
    sorts = csr.sort_bytes(device, nrows, ncols, len(rows), iso)
    many = csr.uses_counting_sort(device, nrows, ncols, len(rows))
    if many and not device.missing(_rows_bytes(nrows, ncols, len(rows), values, 0) + sorts):
        ptr, cols, values = counted(entries)
        return convert.of_rows(csr.from_arrays(device, nrows, ncols, ptr, cols), dtype, values, format, tile)
    rows, cols = rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)
    if nrows * ncols < 1 << 63:
        keys = rows * ncols + cols
        ascending = keys[1:] > keys[:-1]
    else:
        ascending = (rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (cols[1:] > cols[:-1]))
    is_sorted = bool(ascending.all())  # also without duplicates, as from `to_coo`
    most = _rows_bytes(nrows, ncols, len(rows), values, 9 if is_sorted else 0) + (0 if is_sorted else sorts)
    if device.missing(most):
        itemsize = 0 if iso else int(values.itemsize)
        if peak(device, len(rows), 0, 0, nrows, ncols, itemsize) >= most:
            device.foresee(f"{len(rows)} entries", most)
        return from_entries(entries._replace(rows=rows, cols=cols), format=format, tile=tile)
    if is_sorted:
        cols, values = cols.astype(csr.index_type(ncols)), _copied(values)  # copies, which are not shared
    else:
        rows, cols, values = ordered(entries._replace(rows=rows, cols=cols))
    convert.check_rows(device, nrows)
    rows_of = csr.from_arrays(device, nrows, ncols, csr.pointers_of(rows, nrows, device), cols)
    return convert.of_rows(rows_of, dtype, values, format, tile)


def _is_hypersparse(format: str, nrows: int, ncols: int, nvals: int) -> bool:
    """Whether to list the rows and columns that have entries, because there are too many rows or columns."""
    return convert.lists_rows(format) and is_hyper(nrows, ncols, nvals)


def _rows_bytes(nrows: int, ncols: int, nvals: int, values: PlainValues, besides: int) -> int:
    """Bytes of CSR with values, and of temporary memory per entry."""
    value = 0 if isinstance(values, np.generic) else int(values.itemsize)
    return csr.rows_bytes(nrows, ncols, nvals) + 16 * (nrows + 1) + (value + besides) * nvals


def _copied(values: PlainValues) -> PlainValues:
    """A copy, because a matrix stores no array that others may write to."""
    return values if isinstance(values, np.generic) else values.copy()


def from_csr(
    entries: Entries, ptr: Array, ascending: bool, *, format: str = "auto", tile: int | None = None
) -> MatrixStore:
    """Entries row by row, whose rows are given by pointers; ascending: the columns of every row ascend. Else they are
    sorted; as in `from_coo`."""
    device, nrows, ncols, _, cols, values, dtype, _ = entries
    nvals = len(cols)
    if ascending:
        device.foresee(f"rows of {nvals} entries", _rows_bytes(nrows, ncols, nvals, values, 1))
        # Copies, which are not shared
        ptr, cols = ptr.astype(csr.pointer_type(nvals)), cols.astype(csr.index_type(ncols))
        rows_of = csr.from_arrays(device, nrows, ncols, ptr, cols)
        return convert.of_rows(rows_of, dtype, _copied(values), format, tile)
    return from_coo(entries._replace(rows=csr.numbers_of(ptr, nvals, device)), format=format, tile=tile)


def from_sorted_keys(
    device: Device,
    nrows: int,
    ncols: int,
    keys: Array,
    values: PlainValues,
    dtype: DataType,
    *,
    format: str = "auto",
    tile: int | None = None,
) -> MatrixStore:
    """Entries given by strictly increasing keys row * ncols + column (INT64)."""
    if _is_hypersparse(format, nrows, ncols, len(keys)):
        rows, cols = keys // max(1, ncols), keys % max(1, ncols)
        return from_coo(Entries(device, nrows, ncols, rows, cols, values, dtype), format=format, tile=tile)
    convert.check_rows(device, nrows)
    device.foresee(f"rows of {len(keys)} entries", _rows_bytes(nrows, ncols, len(keys), values, 24))
    ptr, cols = csr.split_keys(device, keys, nrows, ncols)
    return convert.of_rows(csr.from_arrays(device, nrows, ncols, ptr, cols), dtype, values, format, tile)


# ---- Build a matrix from chunks of entries that do not fit in memory together with the result.
#
# The first pass over the chunks counts the entries of each row. If few rows or columns have entries, these are listed,
# and one more pass makes a hypersparse matrix. Otherwise the matrix is built in bands of rows: the entries of a band
# are scattered to their rows, sorted in place, and appended to the format (`csr.LayoutBuilder`). Plain columns (CSR)
# are one band, because the band is the result. Other formats take fewer bytes and are made of chunks.bands bands, with
# one pass over the chunks for each; of chunks.most_bands bands in a single pass if rows ascend from chunk to chunk.
# Formats that cannot be made of bands are converted from plain rows.
#
# Peak memory on the device, in bytes, for E entries given in chunks of at most K, n rows, c bytes a column number (4,
# or 8 from 2**31 columns on), v bytes a value (0: one for all) and B entries in the largest band, of m rows:
#
#     F + B c + E v + 8 n + 24 m + 96 max(K, b + the longest row)      b = B / 8, from 2**12 to 2**20 (GPU: 2**24)
#
# where F is the size of the format; for plain columns, whose only band is the result,
#
#     E (c + v) + 40 n + 96 max(K, b + the longest row)
#
# and briefly D (c + v) more, if there are duplicates and D entries remain.

Chunk = tuple[Array, Array, Array | None]  # rows, columns (INT64), values (None for an iso matrix)
Source = Callable[[], Iterable[Chunk]]
OTHERS = "chunks: expected the same entries in every pass, got different ones"


class Band(NamedTuple):
    """Rows low .. high, and the number of their entries."""

    low: int
    high: int
    entries: int


def cut(device: Device, rows: Array, together: int, entries: int) -> list[Band]:
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
    bands, low, before = [], 0, 0
    for place, end in zip(places, sums, strict=True):
        high = min(place * together, len(rows))
        bands.append(Band(low, high, end - before))
        low, before = high, end
    return bands


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
        count = 0
        for chunk in self._ascending(band.high, last) if self.ascending else self.source():
            count += len(chunk[0])
            if len(chunk[0]):
                yield chunk
        expected = band.entries if self.ascending else self.entries
        if count != expected:
            raise ValueError(f"chunks: expected {expected} entries in every pass, got {count}")

    def _ascending(self, high: int, last: bool) -> Iterator[Chunk]:
        while (chunk := next(self.chunks, None) if self.left is None else self.left) is not None:
            self.left = None
            inside = chunk[0] < high
            if last or bool(inside.all()):
                yield chunk
                continue
            self.left = part(chunk, ~inside)
            yield part(chunk, inside)
            return


def part(chunk: Chunk, where: Array) -> Chunk:
    """Some entries of a chunk."""
    rows, cols, values = chunk
    return rows[where], cols[where], None if values is None else values[where]


def sampled(
    device: Device, source: Source, rows: Array, ncols: int, together: int, step: int
) -> tuple[Array, Array, Array]:
    """The first of each `step` groups of rows, in one more pass: pointers, columns as distances from their row (as if
    its number were its rank among the sampled rows), and the given entries of each."""
    xp, chunks = device.xp, []
    for i, j, _ in source():
        in_sample = i // together % step == 0
        chunks.append((i[in_sample], j[in_sample]))
    i, j = (xp.concatenate(parts) for parts in zip(*chunks, strict=True))
    i, j, _ = ordered(Entries(device, len(rows), ncols, i, j, np.bool_(True), BOOL))
    groups = -(-len(rows) // together)
    at = xp.arange(-(-groups // step) * together)
    source_row = at // together * (together * step) + at % together
    local = i // (together * step) * together + i % together
    lengths = xp.where(source_row < len(rows), rows[xp.minimum(source_row, len(rows) - 1)], 0)
    return csr.pointers_of(local, len(at), device), (j - i + local).astype(csr.index_type(ncols)), lengths


def fill(device: Device, parts: Iterable[Chunk], band: Band, ptr: Array, col: Array, values: Array | None) -> None:
    """Scatter every entry of the band to its row, in input order; entries without values in any order on devices where
    that is faster. ptr: start of each row. ValueError if the counts differ from the first pass."""
    at = ptr[:-1].copy()
    if values is None and device.is_simt:
        kernel, none = device.kernel(distribute_variant(lookup_dtype(col.dtype), 0)), device.xp.empty(1, col.dtype)
        for rows, cols, _ in parts:
            kernel(len(rows), rows, cols, band.low, band.high - band.low, at, ptr[1:], col if len(col) else none)
    else:
        for chunk in parts:
            _in_order(device.xp, chunk, band, at, ptr, col, values)
    if not bool((at == ptr[1:]).all()):
        raise ValueError(OTHERS)


def _in_order(
    xp: ModuleType, chunk: Chunk, band: Band, at: Array, ptr: Array, col: Array, values: Array | None
) -> None:
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
    row = rows[first]
    if not bool((at[row] + count <= ptr[row + 1]).all()):
        raise ValueError(OTHERS)
    run = xp.zeros(len(rows), np.int64)
    run[first[1:]] = 1
    xp.cumsum(run, out=run)  # the run of each entry
    place = (at[row] - first)[run]
    place += xp.arange(len(rows))
    col[place] = cols[order]
    if values is not None and some is not None:
        values[place] = some[order]
    at[row] += count


def runs(xp: ModuleType, ordered: Array) -> tuple[Array, Array]:
    """Start and length of each run of equal numbers."""
    first = xp.concatenate((xp.zeros(1, np.int64), xp.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
    return first, xp.diff(first, append=len(ordered))


def sort_rows(device: Device, to: Target, ptr: Array, col: Array, values: PlainValues, step: int) -> int:
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
        some = values if isinstance(values, np.generic) else values[p:q]
        rows, cols, some = ordered(Entries(device, b - a, to.ncols, rows, cols, some, to.dtype, to.dup))
        end = total + len(cols)
        col[total:end] = cols
        if not isinstance(values, np.generic):
            values[total:end] = some
        ptr[a : b + 1] = csr.pointers_of(rows, b - a, device)
        ptr[a : b + 1] += total
        total = end
    return total


# ---- The passes over the chunks.

SCRATCH = 96  # bytes per entry of a chunk, or of a group that is sorted at once
ROW = 40  # bytes per row


def step_of(device: Device, entries: int) -> int:
    """Number of entries that are sorted at once."""
    step = max(tuning.count("chunks.least_entries"), entries // tuning.count("chunks.steps"))
    return min(tuning.count(f"chunks.most_entries.{device.kind}"), step)


def peak(device: Device, entries: int, largest: int, longest: int, nrows: int, ncols: int, itemsize: int) -> int:
    """The formula for plain columns, without duplicates."""
    step = min(entries, step_of(device, entries) + longest)
    c = csr.index_type(ncols).itemsize
    return entries * (c + itemsize) + ROW * (nrows + 1) + SCRATCH * max(largest, step)


class Listed:
    """Distinct numbers from chunks, ascending, with their counts."""

    def __init__(self, device: Device) -> None:
        self.device = device
        none = device.xp.zeros(0, np.int64)
        self.numbers, self.counts = none, none
        self.parts: list[tuple[Array, Array]] = []  # of chunks, until they are as many as the distinct numbers
        self.waiting = 0

    def add(self, numbers: Array) -> None:
        self._take(*self.device.xp.unique(numbers, return_counts=True))

    def _take(self, numbers: Array, counts: Array) -> None:
        self.parts.append((numbers, counts))
        self.waiting += len(numbers)
        if self.waiting > max(tuning.count("chunks.least_entries"), len(self.numbers)):
            self.all()

    def all(self) -> tuple[Array, Array]:
        """The numbers, and their counts."""
        if self.parts:
            xp = self.device.xp
            numbers, counts = (xp.concatenate(x) for x in zip((self.numbers, self.counts), *self.parts, strict=True))
            self.numbers, place = xp.unique(numbers, return_inverse=True)
            self.counts = xp.bincount(place, counts, len(self.numbers)).astype(np.int64)
            self.parts, self.waiting = [], 0
        return self.numbers, self.counts

    def places(self, numbers: Array) -> Array:
        """Positions of numbers in this list. ValueError for others."""
        known, _ = self.all()
        place = self.device.xp.searchsorted(known, numbers)
        if not len(known) or not bool((known[self.device.xp.minimum(place, len(known) - 1)] == numbers).all()):
            raise ValueError(OTHERS)
        return place


class Counts:
    """The first pass: entries in each row, and maxima. ascending: no row of a chunk precedes a row of an earlier chunk.
    Non-empty rows are listed as long as they are a small share of all rows; else `rows` has a count for each row."""

    def __init__(self, device: Device, nrows: int | None) -> None:
        self.device, self.entries, self.largest = device, 0, 0
        self.nrows = self.ncols = 0  # one more than the largest index seen
        self.ascending = True
        self.given = nrows or 0
        self.listed: Listed | None = Listed(device) if is_hyper(self.given, 0, 0) else None
        self.rows = device.xp.zeros(0 if self.listed or nrows is None else nrows, np.int64)

    def add(self, rows: Array, cols: Array) -> None:
        device, k = self.device, len(rows)
        if not k:
            return
        self.entries, self.largest = self.entries + k, max(self.largest, k)
        self.ascending &= int(rows.min()) + 1 >= self.nrows
        self.nrows, self.ncols = max(self.nrows, int(rows.max()) + 1), max(self.ncols, int(cols.max()) + 1)
        self._list(is_hyper(max(self.nrows, self.given), 0, self.entries))
        if self.listed is not None:
            self.listed.add(rows)
            return
        if self.nrows > len(self.rows):
            convert.check_rows(device, 2 * self.nrows)
            grown = device.xp.zeros(max(self.nrows, 2 * len(self.rows)), np.int64)
            grown[: len(self.rows)] = self.rows
            self.rows = grown
        if device.is_simt:
            none = device.xp.zeros(1, np.int32)
            kernel = device.kernel(distribute_variant(INT32, 1))
            kernel(k, rows, cols, 0, len(self.rows), self.rows, self.rows, none)
            return
        ordered = device.xp.sort(rows)
        first, count = runs(device.xp, ordered)
        self.rows[ordered[first]] += count

    def _list(self, few: bool) -> None:
        """List the rows that have entries, or count all rows."""
        if few and self.listed is None:
            self.listed = Listed(self.device)
            some = self.device.xp.flatnonzero(self.rows)
            self.listed._take(some, self.rows[some])
            self.rows = self.rows[:0].copy()
        elif not few and self.listed is not None:
            self._count(max(self.nrows, self.given))

    def _count(self, nrows: int) -> None:
        assert self.listed is not None
        convert.check_rows(self.device, nrows)
        self.rows = self.device.xp.zeros(nrows, np.int64)
        some, counts = self.listed.all()
        self.rows[some] = counts
        self.listed = None

    def sized(self, nrows: int, listed: bool) -> None:
        """Set the number of rows. listed: list those that have entries."""
        if listed:
            self._list(True)
            return
        if self.listed is not None:
            self._count(max(nrows, self.nrows))
        some = self.rows[:nrows]
        if nrows > len(some):
            some = self.device.xp.zeros(nrows, np.int64)
            some[: len(self.rows)] = self.rows
        self.rows = some


class Target(NamedTuple):
    """The matrix that is built. value: of all entries; None: the chunks have values."""

    nrows: int
    ncols: int
    value: np.generic | None
    dtype: DataType
    dup: Typed | None = None
    format: str = "auto"
    tile: int | None = None

    @property
    def itemsize(self) -> int:
        return 0 if self.value is not None else self.dtype.np_type.itemsize


def from_counts(counts: Counts, source: Source, to: Target) -> MatrixStore:
    """The matrix of the chunks that were counted. source: returns them again at each call. Raises ValueError for chunks
    that differ from the first pass, and for duplicates without `dup`; OutOfMemory."""
    device, xp = counts.device, counts.device.xp
    nrows, ncols, value, dtype, _, format, tile = to
    listed = is_hyper(nrows, ncols, counts.entries) and convert.lists_rows(format)
    counts.sized(nrows, listed)
    if listed:
        return _listed(counts, source, to)
    key, number = _chosen(counts, to)
    growing = builders()[key](device, nrows, ncols, counts.entries)
    # Odd, because row numbers may have patterns in powers of two
    few = counts.entries // step_of(device, counts.entries) | 1
    if growing.guesses and number > 1 and few > 1:
        growing.expect(*sampled(device, source, counts.rows, ncols, growing.together, few), counts.rows)
    some = cut(device, counts.rows, growing.together, max(1, -(-counts.entries // number)))
    values: PlainValues = xp.empty(counts.entries, dtype.np_type) if value is None else value
    parts, total = Parts(source, counts.ascending and number > 1, counts.entries), 0
    for band in some:
        ptr = xp.zeros(band.high - band.low + 1, np.int64)
        xp.cumsum(counts.rows[band.low : band.high], out=ptr[1:])
        if number == 1:
            counts.rows = counts.rows[:0].copy()  # frees the memory
        col = growing.room(band.entries)[: band.entries]
        part_values = values if isinstance(values, np.generic) else values[total : total + band.entries]
        some_values = None if isinstance(part_values, np.generic) else part_values
        fill(device, parts.of(band, last=band is some[-1]), band, ptr, col, some_values)
        left = sort_rows(device, to, ptr, col, part_values, step_of(device, band.entries))
        growing.append(ptr, col[:left], band.entries)
        del ptr, col
        total += left
    if not isinstance(values, np.generic) and total < counts.entries:
        values = values[:total].copy()
    layout = growing.finish()
    del growing
    if is_by_rows(layout) and layout.key == CSR:
        return convert.of_rows(layout, dtype, values, format, tile)
    return MatrixStore(Structure(layout), dtype, values)


def _listed(counts: Counts, source: Source, to: Target) -> MatrixStore:
    """The same if few rows or columns have entries: as a compressed matrix of these, with their lists."""
    device, rows, cols = counts.device, counts.listed, Listed(counts.device)
    if not counts.entries or rows is None:
        return convert.empty(device, to.nrows, to.ncols, to.dtype)
    for _, j, _ in source():
        cols.add(j)

    def again() -> Iterator[Chunk]:
        for i, j, x in source():
            yield rows.places(i), cols.places(j), x

    (row, entries), (col, _) = rows.all(), cols.all()
    small = Counts(device, 0)
    small.rows, small.entries = entries, counts.entries
    small.largest, small.ascending = counts.largest, counts.ascending
    compressed = from_counts(small, again, to._replace(nrows=len(row), ncols=len(col), format=CSR, tile=None))
    return convert.widened(compressed, row, col, to.nrows, to.ncols)


def _chosen(counts: Counts, to: Target) -> tuple[str, int]:
    """The format to build, and the number of bands. If the user requested none, a format that is built in bands is used
    if no other fits. OutOfMemory if none fits."""
    device, entries, nrows, ncols, format = counts.device, counts.entries, to.nrows, to.ncols, to.format
    fits = {k: g for k, g in builders().items() if g.bands and not FORMATS[k].cost.refusal(nrows, ncols)}
    if format in fits:
        key, plain = format, 0
    else:
        longest = int(counts.rows.max()) if len(counts.rows) else 0
        key, plain = CSR, peak(device, entries, counts.largest, longest, nrows, ncols, to.itemsize)
        if not device.missing(plain):
            return CSR, 1
    most_bands = tuning.count("chunks.most_bands")
    least = {k: _peak_of(g, counts, to, most_bands) for k, g in fits.items()}
    for k in (key,) if key in fits else sorted(least, key=least.__getitem__, reverse=True) * (format == "auto"):
        for number in _numbers(entries, counts.ascending):
            if not device.missing(_peak_of(fits[k], counts, to, number)):
                return k, number
    others = [k for k, need in least.items() if k != key and not device.missing(need)]
    needed = plain or least[key]
    hint = "".join(f"; format={k!r} needs {least[k]} bytes{' or more' * fits[k].guesses}" for k in others)
    what = f"{entries} entries from chunks as {key}: needs {needed} bytes on device {device.name!r}"
    raise OutOfMemory(f"{what}, {device.missing(needed)}{hint}")


def _numbers(entries: int, ascending: bool) -> Iterator[int]:
    """Numbers of bands to try: the maximum for one pass, or few, then twice as many, and so on."""
    most = max(1, min(tuning.count("chunks.most_bands"), entries // tuning.count("chunks.least_entries")))
    number = most if ascending else min(tuning.count("chunks.bands"), most)
    while number <= most:
        yield number
        number = 2 * number if 2 * number <= most or number == most else most


def _peak_of(layout: type[csr.LayoutBuilder], counts: Counts, to: Target, number: int) -> int:
    """The formula for a format with this number of bands, for rows of equal length."""
    device, entries, nrows, ncols = counts.device, counts.entries, to.nrows, to.ncols
    longest = int(counts.rows.max()) if len(counts.rows) else 0
    band = min(entries, -(-entries // number) + longest)
    step = min(band, step_of(device, band) + longest)
    least = layout.least_bytes(nrows, ncols, entries) + band * csr.index_type(ncols).itemsize + entries * to.itemsize
    return least + 24 * (-(-nrows // number) + 1) + SCRATCH * max(counts.largest, step)


def from_entries(entries: Entries, *, format: str = "auto", tile: int | None = None) -> MatrixStore:
    """The matrix of entries in memory, processed as chunks because sorting all of them at once would need too much
    memory."""
    device, nrows, ncols, rows, cols, values, dtype, dup = entries
    value = values if isinstance(values, np.generic) else None
    step = max(1, step_of(device, len(rows)) // tuning.count("chunks.slices"))

    def parts() -> Iterator[Chunk]:
        for k in range(0, len(rows), step):
            some = None if isinstance(values, np.generic) else values[k : k + step]
            yield rows[k : k + step], cols[k : k + step], some

    counts = Counts(device, nrows)
    for i, j, _ in parts():
        counts.add(i, j)
    return from_counts(counts, parts, Target(nrows, ncols, value, dtype, dup, format, tile))
