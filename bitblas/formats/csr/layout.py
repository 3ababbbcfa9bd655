"""CSR: row pointers and sorted column numbers. The plain layout, through which all others convert.

Also: conversions between entry lists, sort keys and row pointers; sorting; a builder that appends bands of rows.
"""

from __future__ import annotations

import ctypes
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import lookup_dtype

from ... import tuning
from ...device import Bounds, Device, dummy, memory, threads
from ...exceptions import OutOfMemory
from ...kernels.variant import Variant
from ...typing import Array
from .. import validation
from ..contract import Layout, LazyDict, Order, Region, Types
from .kernels import FORMATS, column_types, index_type, pieces, rows_bytes
from .kernels import pointer_type as pointer_type

if TYPE_CHECKING:
    from typing import Self

# ---- Conversions between lists of rows and columns, sort keys, and row pointers.


class RowFaults(NamedTuple):
    """Faults of pointers and columns from outside."""

    pointers: bool  # not from 0 to the number of columns without decreasing
    columns: bool  # one is outside of `ncols`; not tested if pointers are wrong
    order: bool  # one does not ascend in its row; not tested if pointers are wrong


def are_pointers(ptr: Array, count: int) -> bool:
    """Whether they go from 0 to `count` without decreasing."""
    return len(ptr) > 0 and bool((ptr[0] == 0) & (ptr[-1] == count) & (ptr[1:] >= ptr[:-1]).all())


def find_row_faults(device: Device, ptr: Array, cols: Array, ncols: int) -> RowFaults:
    """Faults of pointers and columns (INT32 or INT64 each), with one synchronization on a GPU. Peak memory on the CPU:
    a byte per entry."""
    nrows, nvals = len(ptr) - 1, len(cols)
    if nrows > 0 and not device.host_memory:
        readback, of = memory.Readback(device, 3), (("PTR", lookup_dtype(ptr.dtype)), ("COL", lookup_dtype(cols.dtype)))
        device.kernel(Variant("formats/csr/check", of))(
            max(nrows, nvals), nrows, nvals, ncols, ptr, cols, readback.part(np.uint8, 0, 3)
        )
        return RowFaults(*map(bool, readback.read(np.uint8, 0, 3).tolist()))
    if not (fit := are_pointers(ptr, nvals)) or not nvals:
        return RowFaults(not fit, False, False)
    # Viewed as unsigned, negative numbers are large: one pass tests both bounds.
    columns = int(cols.view(f"u{cols.itemsize}").max()) >= min(ncols, 1 << (8 * cols.itemsize - 1))
    after = np.ones(nvals + 1, bool)
    np.greater(cols[1:], cols[:-1], out=after[1:-1])
    after[ptr] = True  # the first column of a row has no predecessor
    return RowFaults(False, columns, not bool(after.all()))


def numbers_of(ptr: Array, n: int, device: Device) -> Array:
    """The row of each of n entries, INT64: row i has the entries ptr[i] .. ptr[i + 1]."""
    xp, rows = device.xp, len(ptr) - 1
    if not n or rows == 1:
        return xp.zeros(n, np.int64)
    if device.host_memory:
        return np.repeat(np.arange(rows), ptr[1:] - ptr[:-1])
    out = xp.empty(n, np.int64)
    device.kernel(Variant("formats/csr/rows", (("PTR", lookup_dtype(ptr.dtype)),)))(n, rows, ptr, out)
    return out


def expanded(device: Device, counts: Array, begin: Array) -> tuple[Array, Array]:
    """For counts (2, 0, 3) from (5, 9, 1) on: owners 0 0 2 2 2 and positions 5 6 1 2 3."""
    xp = device.xp
    ptr = xp.zeros(len(counts) + 1, np.int64)
    counts.cumsum(out=ptr[1:])
    host = device.host_memory
    owner = np.repeat(np.arange(len(counts)), counts) if host else numbers_of(ptr, int(ptr[-1]), device)
    return owner, xp.arange(len(owner)) + (begin - ptr[:-1])[owner]


def in_order(
    device: Device, nrows: int, ncols: int, rows: Array, cols: Array, kind: np.dtype
) -> tuple[Array, Array] | None:
    """Row pointers and columns (of type `kind`) of entries on the host (INT32 or INT64 each) that are sorted by row and
    column without duplicates. None if they are not, or if one is outside of the matrix."""
    nvals = len(rows)
    ends, col, wrong = np.zeros(nrows + 1, pointer_type(nvals)), np.empty(nvals, kind), np.zeros(1, np.uint8)
    bounds, chunks = None, device.chunks(nvals)
    if chunks > 1 or device.splits(nvals, tuning.count("formats.parallel_entries")):
        bounds = threads.even_ranges(nvals, max(device.parts, chunks))
        # Ranges of whole rows; if rows are unsorted, any ascending limits.
        bounds = np.maximum.accumulate(np.searchsorted(rows, rows[np.minimum(bounds, nvals - 1)]))
        bounds[0], bounds[-1] = 0, nvals
        bounds = bounds if chunks == 1 else threads.as_chunks(bounds)
    device.kernel(Variant("formats/csr/in_order"))(nvals, nrows, ncols, rows, cols, ends, col, wrong, bounds=bounds)
    if wrong[0]:
        return None
    return np.maximum.accumulate(ends, out=ends), col  # an empty row ends where the previous one does


def pointers_of(rows: Array, nrows: int, device: Device) -> Array:
    """Row pointers, INT64, of ascending row numbers."""
    xp = device.xp
    if not device.host_memory:  # counting would contend for one number if a row is long
        return xp.searchsorted(rows, xp.arange(nrows + 1, dtype=rows.dtype))
    ptr = np.zeros(nrows + 1, np.int64)
    np.cumsum(np.bincount(rows.view(np.int64), minlength=nrows), out=ptr[1:])
    return ptr


def split_keys(device: Device, keys: Array, nrows: int, ncols: int) -> tuple[Array, Array]:
    """Pointers (INT64) and columns of entries from their ascending keys row * ncols + column."""
    if device.host_memory and len(keys) < nrows:
        return pointers_of(keys // max(1, ncols), nrows, device), keys % max(1, ncols)
    first = device.xp.arange(nrows + 1) * ncols  # the least key of each row
    ptr = device.xp.searchsorted(keys, first)
    if device.host_memory:  # for NumPy, looking up the least keys is cheaper than dividing
        return ptr, keys - first[numbers_of(ptr, len(keys), device)]
    return ptr, keys % max(1, ncols)


# ---- CSR: row pointers and sorted column numbers. The plain layout, through which all others convert.


class Rows(Layout):
    """Base class of layouts by rows, with any storage of columns: row i has the entries ptr[i] .. ptr[i + 1], with
    ascending columns. Subclasses other than Csr change by way of a Csr."""

    if TYPE_CHECKING:

        @property
        def width(self) -> int:
            """Bits of a packed column number; 0: columns are plain."""

        def columns(self, low: int = 0, high: int | None = None) -> Array:
            """The columns of entries low .. high."""

        def columns_at(self, places: Array) -> Array:
            """The columns of these entries."""

    def by_rows(self, order: bool) -> tuple[Rows, Order]:
        return self, None

    def clip(self, region: Region, order: bool) -> tuple[Self, Order]:
        """The entries in a region; order[e]: the position of the result's entry e in this layout. Peak memory: see
        `clipped`."""
        rows, places = clipped(self, region, order)
        return self.from_csr(rows, None, False)[0], places

    def filter(self, keep: Array) -> tuple[Self, Array]:
        """The entries for which `keep` (bools in entry order) is true, and `keep`. Peak memory: the result, 4 bytes per
        entry (8 from almost 2**31 on), and that of one piece."""
        xp, device, nvals = self.device.xp, self.device, self.nvals
        before = xp.zeros(nvals + 1, pointer_type(nvals))  # entries kept before each entry
        xp.cumsum(keep, out=before[1:])
        limits = pieces(self)
        if len(limits) == 2:
            col = self.columns()[keep]
        else:
            at = device.to_host(before[device.asarray(np.array(limits))]).tolist()
            col = xp.empty(at[-1], index_type(self.ncols))
            for low, high, first, last in zip(limits, limits[1:], at, at[1:], strict=False):
                col[first:last] = self.columns(low, high)[keep[low:high]]
        rows = from_arrays(device, self.nrows, self.ncols, before[self.ptr], col)
        return self.from_csr(rows, None, False)[0], keep

    def transpose(self, order: bool) -> tuple[Self, Order]:
        """The transpose; order[e]: the position of the result's entry e in this layout. Peak memory: see
        `transposed`."""
        rows, places = transposed(self, order)
        return self.from_csr(rows, None, False)[0], places

    def is_symmetric(self) -> bool:
        packed = "PACKED", int(self.format.packed)
        return mirror_hash(self, "csr", packed, index_type(self.ncols), self.width) == 0

    def arrays(self) -> dict[str, Array]:
        return {"ptr": self.ptr, "col": self.col}


class RowsOnDemand(Rows):
    """Base class of layouts without kernels of their own: those of plain rows read what `plain` builds on first use. A
    subclass writes `from_csr`, `plain`, `arrays`, `restored` and `check`."""

    width = 0

    @abstractmethod
    def plain(self) -> Csr:
        """The same entries by rows, kept in `cache`."""

    @property
    def ptr(self) -> Array:
        return self.plain().ptr

    @property
    def col(self) -> Array:
        return self.plain().col

    def columns(self, low: int = 0, high: int | None = None) -> Array:
        return self.plain().columns(low, high)

    def columns_at(self, places: Array) -> Array:
        return self.plain().columns_at(places)

    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        return self.plain(), None

    def coo(self) -> tuple[Array, Array]:
        return self.plain().coo()


@dataclass(eq=False)
class Csr(Rows):
    """Row i has the entries ptr[i] .. ptr[i + 1]; `col` ascends within a row. Entry order: row, column."""

    device: Device
    nrows: int
    ncols: int
    ptr: Array  # nrows + 1
    col: Array  # nvals (at least 1 element, so that the array has an address)
    nvals: int
    cache = LazyDict()  # schedules of kernels: hubs, parallel bounds

    format = FORMATS[0]
    key = format.key
    width = 0  # bits of a packed column number: columns are plain

    @property
    def nbytes(self) -> int:
        return int(self.ptr.nbytes) + self.nvals * int(self.col.itemsize)

    def columns(self, low: int = 0, high: int | None = None) -> Array:
        """The columns of entries low .. high."""
        return self.col[low : self.nvals if high is None else high]

    def columns_at(self, places: Array) -> Array:
        """The columns of these entries."""
        return self.col[places]

    def coo(self) -> tuple[Array, Array]:
        return numbers_of(self.ptr, self.nvals, self.device), self.col[: self.nvals].astype(np.int64)

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Csr, Order]:
        return rows, None

    def to_csr(self, order: bool) -> tuple[Csr, Order]:
        return self, None

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Csr:
        nrows, ncols, nvals = validation.expect_numbers(numbers, "nrows", "ncols", "nvals")
        ptr, col = validation.expect_arrays(
            arrays, ptr=(validation.INDEX, nrows + 1), col=(validation.INDEX, max(1, nvals))
        )
        return cls(device, nrows, ncols, ptr, col, nvals)

    def check(self) -> None:
        validation.check_rows(self.device.xp, self.ptr, self.col, self.nvals, self.ncols)


def from_arrays(device: Device, nrows: int, ncols: int, ptr: Array, col: Array) -> Csr:
    """A Csr from valid arrays, converted to the index types that fit; `col` keeps at least one element."""
    nvals = len(col)
    col = col.astype(index_type(ncols), copy=False)
    if nvals == 0:
        col = device.xp.zeros(1, col.dtype)
    return Csr(device, nrows, ncols, ptr.astype(pointer_type(nvals), copy=False), col, nvals)


# ---- shared with packed rows (formats/mplg): the same kernels read both ---------------------------------------------


def close_gaps(starts: Array, bounds: np.ndarray, ptr: Array, arrays: tuple[Array, ...]) -> None:
    """Move what ranges of rows (given by `bounds`) wrote from `starts` on to contiguous positions. ptr: the end of each
    row, including the gaps before the call."""
    if not isinstance(bounds, threads.Chunks):
        joined = threads.limit_ranges(np.arange(len(bounds)))  # ranges may be joined if there are few threads
        starts, bounds = starts[joined], bounds[joined]
    done = 0
    for low, high, start in zip(bounds[:-1].tolist(), bounds[1:].tolist(), starts.tolist(), strict=False):
        size = int(ptr[high]) - start if high > low else 0
        if start != done:
            for array in arrays:  # not by slices, because NumPy copies overlapping ones first
                at, wide = array.ctypes.data, array.itemsize
                ctypes.memmove(at + wide * done, at + wide * start, wide * size)
            ptr[low + 1 : high + 1] -= start - done
        done += size


FIND, FILL, ALL = range(3)  # passes of `clip` in convert.cu; the CPU does everything in one


@functools.cache
def _clip(device: Device, types: Types, packed: bool, what: int, order: bool) -> Callable[..., None]:
    constants = (("PACKED", int(packed)), ("LANES", 8 if what == FILL else 1), ("FILL", what), ("ORDER", int(order)))
    return device.kernel(Variant("formats/csr/clip", types, constants))


def clipped(rows: Rows, region: Region, order: bool) -> tuple[Csr, Order]:
    """The entries of a CSR or an MPLG in a region; order[e]: the position of entry e there. Peak memory: the result,
    the order if requested, and an offset per row; on the CPU as if all entries were in the region."""
    xp, device, nrows = rows.device.xp, rows.device, rows.nrows
    kind, place_kind, nvals = index_type(rows.ncols), pointer_type(rows.nvals), rows.nvals
    types = (*rows.format.view.types(rows, False), ("PLACE", lookup_dtype(place_kind)))
    packed = rows.format.packed
    arguments = rows.ptr, rows.col, rows.width, *region
    if device.host_memory:
        ptr, col = np.zeros(nrows + 1, place_kind), np.empty(nvals or 1, kind)
        places = np.empty(nvals if order else 1, place_kind)
        bounds: Bounds = None
        if (chunks := device.chunks(nvals)) > 1:
            bounds = threads.as_chunks(threads.balanced_ranges(rows.ptr, max(device.parts, chunks)))
        elif device.splits(nvals, tuning.count("formats.parallel_entries")):
            bounds = threads.balanced_ranges(rows.ptr, device.parts)
        _clip(device, types, packed, ALL, order)(nrows, *arguments, ptr, ptr, col, places, bounds=bounds)
        if bounds is not None:
            close_gaps(rows.ptr[bounds], bounds, ptr, (col, places) if order else (col,))
        n = int(ptr[-1])
        col.resize(n or 1, refcheck=False)
        if order:
            places.resize(n, refcheck=False)
        return Csr(device, nrows, rows.ncols, ptr, col, n), places if order else None
    begin, out = xp.empty(nrows, place_kind), (xp.empty if nrows else xp.zeros)(nrows + 1, place_kind)
    none = dummy(device, kind.char), dummy(device, place_kind.char)
    _clip(device, types, packed, FIND, order)(nrows, *arguments, begin, out, *none)
    xp.cumsum(out, out=out)
    nvals = int(out[-1])
    col, places = xp.empty(max(1, nvals), kind), xp.empty(max(1, nvals) if order else 1, place_kind)
    _clip(device, types, packed, FILL, order)(nrows, *arguments, begin, out, col, places)
    return from_arrays(device, nrows, rows.ncols, out, col[:nvals]), places[:nvals] if order else None


def transposed(rows: Rows, order: bool) -> tuple[Csr, Order]:
    """The CSR of the transpose of a CSR or an MPLG; order[e]: the position there of the result's entry e.

    A GPU sorts the entries by column and row. Peak memory: the result, 16 bytes per entry, and 16 per column. The CPU
    uses a counting sort. Peak memory: the result.
    """
    nvals, xp, device, ncols = rows.nvals, rows.device.xp, rows.device, rows.ncols
    shift = max(1, (nvals if order else rows.nrows).bit_length())
    if device.prefers_sorting and shift + ncols.bit_length() > 64:
        raise OutOfMemory(f"transpose: {nvals} entries in {ncols} columns exceed the 64-bit sort keys of a GPU")
    device.foresee(f"transpose of {nvals} entries", rows_bytes(ncols, rows.nrows, nvals) + 16 * nvals)
    if not device.prefers_sorting:
        place_kind, kind = pointer_type(nvals), index_type(rows.nrows)
        ptr, col = np.zeros(ncols + 1, place_kind), np.empty(max(1, nvals), kind)
        sources = np.empty(max(1, nvals) if order else 1, place_kind)
        types = *column_types(rows), ("PLACE", lookup_dtype(place_kind)), ("ROW", lookup_dtype(kind))
        constants = ("PACKED", int(rows.format.packed)), ("ORDER", int(order))
        kernel = device.kernel(Variant("formats/csr/transpose", types, constants))
        kernel(rows.nrows, ncols, rows.ptr, rows.col, rows.width, ptr, col, sources)
        return Csr(device, ncols, rows.nrows, ptr, col, nvals), sources[:nvals] if order else None
    key = xp.empty(max(1, nvals), np.uint64)
    constants = (("PACKED", int(rows.format.packed)), ("ORDER", int(order)))
    device.kernel(Variant("formats/csr/keys", column_types(rows), constants))(
        nvals, rows.nrows, shift, rows.ptr, rows.col, rows.width, key
    )
    key = key[:nvals]
    key.sort()
    ptr = xp.searchsorted(key, xp.arange(ncols + 1, dtype=np.uint64) << np.uint64(shift))
    key &= np.uint64((1 << shift) - 1)
    places = key.astype(pointer_type(nvals)) if order else None
    col = xp.searchsorted(rows.ptr, places, side="right") - 1 if order else key
    return from_arrays(device, ncols, rows.nrows, ptr, col), places


# ---- Symmetry tests, in one pass that does not build the transpose.
#
# A sum, modulo 2^64, over all entries: hash of the position less hash of its mirror image. Two entries that are mirror
# images of each other add nothing, so the sum of a symmetric matrix is 0: it is never taken for an asymmetric one. Any
# other matrix has entries without mirror images. Their terms are differences of two 64-bit hashes, spread evenly over
# all 2^64 numbers, and so is their sum: it is 0 with probability 2^-64, 5e-20, for each matrix tested. If the hash of a
# position is a product f(row) g(column) (rows on the CPU, virtual nodes), 2-adic divisors make that up to 33 * 2^-64,
# 2e-18. A million tests a second for a year give one wrong answer with a probability of 6e-5, so nothing confirms the
# result. The hashes are fixed, so that a matrix gives the same answer in every process; they do not protect against a
# matrix that was constructed to deceive them.


def mirror_hash(layout: Layout, folder: str, constant: tuple[str, int], col_type: np.dtype, *more: Array | int) -> int:
    """The sum over all entries of the hash of their position less that of their mirror image (kernels/views.cuh).

    folder: of the kernel; constant, more: its further compile-time constant and arguments; col_type: type of column
    numbers. Peak memory: 8 bytes per symmetry.chunk items.
    """
    device, chunk = layout.device, tuning.count(f"symmetry.chunk.{folder}")
    n = -(-layout.work // chunk)
    sums = device.xp.zeros(max(1, n), "uint64")
    types = ("PTR", lookup_dtype(layout.ptr.dtype)), ("COL", lookup_dtype(col_type))
    kernel = device.kernel(Variant(f"formats/{folder}/mirror", types, (constant, ("CHUNK", chunk), ("LANES", 32))))
    least = tuning.count("formats.parallel_entries")
    bounds = device.ranges(n, least, work=layout.nvals, parts=device.threads, fresh=True)
    kernel(n, layout.units, layout.work, layout.ptr, layout.col, *more, sums, bounds=bounds)
    return int(sums.sum())


def scrambled(x: Array) -> Array:
    """64-bit hashes of integers: `scramble` of kernels/views.cuh."""
    y = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    y = (y ^ (y >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    y = (y ^ (y >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return y ^ (y >> np.uint64(31))


def mirror_hash_of(rows: Array, cols: Array) -> int:
    """The same sum for entries with these rows and columns, as the kernels of tiles and codes take it. Peak memory: 40
    bytes per entry."""
    row, column, three = scrambled(rows), scrambled(cols), np.uint64(3)
    return int((scrambled(row * three + column) - scrambled(column * three + row)).sum())


# ---- Sort entries by row and column: by keys, or, if there are many on the CPU, by counting.


def uses_counting_sort(device: Device, nrows: int, ncols: int, nvals: int) -> bool:
    """Whether to use counting sort: not if most rows or columns are empty, because it also loops over these."""
    many = not device.prefers_sorting and nvals >= tuning.count("csr.counting_sort_from")
    return many and max(nrows, ncols) <= tuning.value("csr.counting_sort_span") * nvals


def counting_sort(device: Device, nrows: int, ncols: int, rows: Array, cols: Array, order: bool) -> tuple[Csr, Order]:
    """Rows with ascending columns by counting sort, first by column, then by row; equal entries stay in input order.
    order[e]: the input position of entry e. Peak memory: the result, and 4 bytes per entry, 16 with the order (8 and 32
    from 2**31 entries on)."""
    nvals = len(rows)
    ptr, row = np.zeros(ncols + 1, pointer_type(nvals)), np.empty(nvals, index_type(nrows))
    sources = np.empty(nvals if order else 1, pointer_type(nvals))
    kernel = device.kernel(Variant("formats/csr/by_columns", (), (("ORDER", int(order)),)))
    kernel(nvals, ncols, rows, cols, ptr, row, sources)
    found, places = transposed(Csr(device, ncols, nrows, ptr, row, nvals), order)
    return found, sources[places] if order else None


def sort_entries(device: Device, rows: Array, cols: Array, nrows: int, ncols: int) -> Array:
    """The order of the entries by row, then column; equal entries stay in input order."""
    if uses_counting_sort(device, nrows, ncols, len(rows)):
        order = counting_sort(device, nrows, ncols, rows, cols, True)[1]
        assert order is not None
        return order
    if nrows * ncols < 1 << 63:
        return device.xp.argsort(rows * ncols + cols, kind="stable")
    by_col = device.xp.argsort(cols, kind="stable")
    return by_col[device.xp.argsort(rows[by_col], kind="stable")]


def sort_bytes(device: Device, nrows: int, ncols: int, nvals: int, without_values: bool) -> int:
    """Bytes that sorting needs in addition to input and output; without_values: no values follow the entries."""
    if uses_counting_sort(device, nrows, ncols, nvals):
        return (16 if without_values else 40) * nvals + 8 * (ncols + 1)
    return (80 if not device.prefers_sorting else 16 if without_values else 40) * nvals


# ---- Incremental CSR builder: append bands of rows; columns are stored at their final position.


class LayoutBuilder(ABC):
    """Builder that takes rows in ascending order. entries: the number of entries to come, duplicates included."""

    bands = False  # whether it is smaller than plain columns, so that bands pay off
    together = 32  # rows that must be in the same band
    guesses = False  # whether its final size is only known at the end

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        self.device, self.nrows, self.ncols, self.entries = device, nrows, ncols, entries
        self.rows = self.nvals = 0  # appended so far

    @staticmethod
    @abstractmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        """A lower bound of its size in bytes, known in advance."""

    def expect(self, ptr: Array, col: Array, input_entries: Array, rows: Array) -> None:
        """Estimate the final size, if it is not known in advance, from sampled groups of rows: pointers as in `append`;
        columns as if each row had the number it has here; the number of input entries in each of these rows, and in
        each row of all."""
        return None  # known in advance

    def room(self, entries: int) -> Array:
        """Memory for the columns of the next rows until they are sorted."""
        return self.device.xp.empty(max(1, entries), index_type(self.ncols))

    @abstractmethod
    def append(self, ptr: Array, col: Array, input_entries: int) -> None:
        """Append rows (whole groups of `together`; the last may be partial): INT64 pointers from 0, ascending columns
        in the memory that `room` returned; input_entries: number of entries before duplicates were combined."""

    @abstractmethod
    def finish(self) -> Layout:
        """The layout of all appended rows."""


class RowPointersBuilder(LayoutBuilder):
    """Shared by builders of layouts by rows: the array of row pointers, allocated at the start."""

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        super().__init__(device, nrows, ncols, entries)
        self.ptr = device.xp.zeros(nrows + 1, pointer_type(entries))

    def _point(self, ptr: Array, entries: int) -> None:
        rows = len(ptr) - 1
        self.ptr[self.rows + 1 : self.rows + rows + 1] = ptr[1:] + self.nvals
        self.rows, self.nvals = self.rows + rows, self.nvals + entries

    def _pointers(self) -> Array:
        return self.ptr.astype(pointer_type(self.nvals), copy=False)


class CsrBuilder(RowPointersBuilder):
    """Builder of a CSR."""

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        super().__init__(device, nrows, ncols, entries)
        self.col = device.xp.empty(entries, index_type(ncols))

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        return rows_bytes(nrows, ncols, entries)

    def room(self, entries: int) -> Array:
        return self.col[self.nvals : self.nvals + entries]

    def append(self, ptr: Array, col: Array, input_entries: int) -> None:
        self._point(ptr, len(col))

    def finish(self) -> Csr:
        col = self.col if self.nvals == self.entries else self.col[: self.nvals].copy()
        del self.col
        return from_arrays(self.device, self.nrows, self.ncols, self._pointers(), col)


Csr.builder = CsrBuilder


def trimmed(device: Device, array: Array, size: int) -> Array:
    """The beginning of an array, copied if this frees enough and there is memory for the copy."""
    wasted = (len(array) - size) * array.itemsize
    if (
        wasted == 0
        or tuning.value("formats.trim_part") * wasted <= array.nbytes
        or device.missing(size * array.itemsize)
    ):
        return array[:size]
    return array[:size].copy()
