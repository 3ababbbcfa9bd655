"""CSR: row pointers and sorted column numbers. The plain layout, through which all others convert."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from semirings.dtypes import lookup_dtype

from ...device import Device, dummy, ranges, threads
from ...exceptions import OutOfMemory
from ...kernels.prologue import Variant
from .. import mirror, sound
from ..choice import Format
from ..contract import Later, Region
from . import samples
from .call import FORMATS, RowsCall, column_types, pieces
from .choice import CLIP_ALONE, CLIP_LANES
from .choice import PARALLEL_ENTRIES as PARALLEL_ENTRIES
from .choice import index_type as index_type
from .choice import pointer_type as pointer_type
from .choice import rows_bytes as rows_bytes
from .entries import numbers_of as numbers_of
from .entries import pointers_of as pointers_of

# Entries whose mirror images are searched for before all are hashed, and the size from which on this is done: hashing
# takes 1 ns per entry.
LOOKED_UP, LOOKED_UP_OF = 32, 1 << 17


class Rows(RowsCall):
    """Base class of layouts by rows, with any storage of columns: row i has the entries ptr[i] .. ptr[i + 1], with
    ascending columns. Subclasses other than Csr change by way of a Csr."""

    rows_per_unit = 1  # a row is a unit
    compact = False

    @property
    def units(self: Any) -> int:
        """Number of units that kernels iterate over: rows."""
        return int(self.nrows)

    @property
    def work(self: Any) -> int:
        return int(self.nvals)

    def by_rows(self, order: bool) -> tuple[Any, Any]:
        return self, None

    def clip(self: Any, region: Region, order: bool) -> tuple[Any, Any]:
        """The entries in a region; order[e]: the position of the result's entry e in this layout. Peak memory: see
        `clipped`."""
        rows, places = clipped(self, region, order)
        return self.from_csr(rows, None, False)[0], places

    def filter(self: Any, keep: Any) -> tuple[Any, Any]:
        """The entries for which `keep` (bools in entry order) is true, and `keep`. Peak memory: see `picked`."""
        return self.from_csr(picked(self, keep), None, False)[0], keep

    def transpose(self: Any, order: bool) -> tuple[Any, Any]:
        """The transpose; order[e]: the position of the result's entry e in this layout. Peak memory: see
        `transposed`."""
        rows, places = transposed(self, order)
        return self.from_csr(rows, None, False)[0], places

    def is_symmetric(self) -> bool:
        """Whether the structure equals its transpose: see `mirrored`."""
        return mirrored(self)

    def equals(self, other: Any) -> bool:
        return sound.same(self, other)

    def arrays(self: Any) -> dict[str, Any]:
        return {"ptr": self.ptr, "col": self.col}

    def numbers(self: Any) -> dict[str, int]:
        return {"nrows": self.nrows, "ncols": self.ncols, "nvals": self.nvals}

    def adopt(self, twin: Any) -> None:
        """Nothing: another build computes nothing in addition."""


class Unlisted(Rows):
    """Base class of layouts that do not store rows: kernels that read rows get plain ones, which `plain` builds on
    first use."""

    width = 0  # bits of a packed column number: columns are plain

    plain: Callable[[], Csr]

    @property
    def ptr(self) -> Any:
        return self.plain().ptr

    @property
    def col(self) -> Any:
        return self.plain().col


@dataclass(eq=False)
class Csr(Rows):
    """Row i has the entries ptr[i] .. ptr[i + 1]; `col` ascends within a row. Entry order: row, column."""

    device: Device
    nrows: int
    ncols: int
    ptr: Any  # nrows + 1
    col: Any  # nvals (at least 1 element, so that the array has an address)
    nvals: int
    cache = Later()  # schedules of kernels: hubs, parallel bounds

    formats: ClassVar[tuple[Format, ...]] = FORMATS
    format = FORMATS[0]
    key = format.key
    width = 0  # bits of a packed column number: columns are plain

    @property
    def nbytes(self) -> int:
        return int(self.ptr.nbytes) + self.nvals * int(self.col.itemsize)

    def columns(self, low: int = 0, high: int | None = None) -> Any:
        """The columns of entries low .. high."""
        return self.col[low : self.nvals if high is None else high]

    def columns_at(self, places: Any) -> Any:
        """The columns of these entries."""
        return self.col[places]

    def coo(self) -> tuple[Any, Any]:
        return numbers_of(self.ptr, self.nvals, self.device), self.col[: self.nvals].astype(np.int64)

    @classmethod
    def from_csr(cls, rows: Csr, tile: int | None, order: bool) -> tuple[Csr, Any]:
        return rows, None

    def to_csr(self, order: bool) -> tuple[Csr, Any]:
        return self, None

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Any]) -> Csr:
        nrows, ncols, nvals = sound.counts(numbers, "nrows", "ncols", "nvals")
        ptr, col = sound.expect(arrays, ptr=(sound.INDEX, nrows + 1), col=(sound.INDEX, max(1, nvals)))
        return cls(device, nrows, ncols, ptr, col, nvals)

    def check(self) -> None:
        sound.check_rows(self.device.xp, self.ptr, self.col, self.nvals, self.ncols)

    @classmethod
    def samples(cls) -> Iterator[Variant]:
        return samples.samples()


def from_arrays(device: Device, nrows: int, ncols: int, ptr: Any, col: Any) -> Csr:
    """A Csr from valid arrays, converted to the index types that fit; `col` keeps at least one element."""
    nvals = len(col)
    col = col.astype(index_type(ncols), copy=False)
    if nvals == 0:
        col = device.xp.zeros(1, col.dtype)
    return Csr(device, nrows, ncols, ptr.astype(pointer_type(nvals), copy=False), col, nvals)


# ---- shared with packed rows (formats/mplg): the same kernels read both ---------------------------------------------


def close_gaps(starts: Any, bounds: Any, ptr: Any, arrays: tuple[Any, ...]) -> None:
    """Move what ranges of rows (given by `bounds`) wrote from `starts` on to contiguous positions. ptr: the end of each
    row, including the gaps before the call."""
    if not isinstance(bounds, ranges.Chunks):
        joined = threads.limited(np.arange(len(bounds)))  # ranges may be joined if there are few threads
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


FIND, FILL, ALL = range(3)  # passes of clip.cu; the CPU does everything in one


@functools.cache
def _clip(device: Device, types: Any, packed: bool, what: int, order: bool, lanes: int = 1) -> Any:
    constants = (("PACKED", int(packed)), ("LANES", lanes), ("FILL", what), ("ORDER", int(order)))
    return device.kernel(Variant("formats/csr/clip", types, constants))


def clipped(rows: Any, region: Region, order: bool) -> tuple[Csr, Any]:
    """The entries of a CSR or an MPLG in a region; order[e]: the position of entry e there. Peak memory: the result,
    the order if requested, and an offset per row; on the CPU as if all entries were in the region."""
    xp, device, nrows = rows.device.xp, rows.device, rows.nrows
    kind, place_kind, nvals = index_type(rows.ncols), pointer_type(rows.nvals), rows.nvals
    types = (*rows.types(False), ("PLACE", lookup_dtype(place_kind)))
    packed = rows.format.packed
    given = rows.ptr, rows.col, rows.width, *region
    if device.host_memory:
        ptr, col = np.zeros(nrows + 1, place_kind), np.empty(nvals or 1, kind)
        places = np.empty(nvals if order else 1, place_kind)
        bounds: Any = None
        if (chunks := device.chunks(nvals)) > 1:
            bounds = ranges.chunked(ranges.balanced(rows.ptr, max(device.parts, chunks)))
        elif device.splits(nvals, PARALLEL_ENTRIES):
            bounds = ranges.balanced(rows.ptr, device.parts)
        _clip(device, types, packed, ALL, order)(nrows, *given, ptr, ptr, col, places, bounds=bounds)
        if bounds is not None:
            close_gaps(rows.ptr[bounds], bounds, ptr, (col, places) if order else (col,))
        n = int(ptr[-1])
        col.resize(n or 1, refcheck=False)
        if order:
            places.resize(n, refcheck=False)
        return Csr(device, nrows, rows.ncols, ptr, col, n), places if order else None
    begin, out = xp.empty(nrows, place_kind), (xp.empty if nrows else xp.zeros)(nrows + 1, place_kind)
    none = dummy(device, kind.char), dummy(device, place_kind.char)
    _clip(device, types, packed, FIND, order)(nrows, *given, begin, out, *none)
    xp.cumsum(out, out=out)
    nvals = int(out[-1])
    col, places = xp.empty(max(1, nvals), kind), xp.empty(max(1, nvals) if order else 1, place_kind)
    lanes = CLIP_LANES if nvals > CLIP_ALONE * nrows else 1
    _clip(device, types, packed, FILL, order, lanes)(nrows, *given, begin, out, col, places)
    return from_arrays(device, nrows, rows.ncols, out, col[:nvals]), places[:nvals] if order else None


def transposed(rows: Any, order: bool) -> tuple[Csr, Any]:
    """The CSR of the transpose of a CSR or an MPLG; order[e]: the position there of the result's entry e.

    A GPU sorts the entries by column and row. Peak memory: the result, 16 bytes per entry, and 16 per column. The CPU
    uses a counting sort. Peak memory: the result.
    """
    nvals, xp, device, ncols = rows.nvals, rows.device.xp, rows.device, rows.ncols
    shift = max(1, (nvals if order else rows.nrows).bit_length())
    if device.sorts_keys and shift + ncols.bit_length() > 64:
        raise OutOfMemory(f"transpose: {nvals} entries in {ncols} columns exceed the 64-bit sort keys of a GPU")
    device.foresee(f"transpose of {nvals} entries", rows_bytes(ncols, rows.nrows, nvals) + 16 * nvals)
    if not device.sorts_keys:
        place_kind, kind = pointer_type(nvals), index_type(rows.nrows)
        ptr, col = np.zeros(ncols + 1, place_kind), np.empty(max(1, nvals), kind)
        came = np.empty(max(1, nvals) if order else 1, place_kind)
        types = *column_types(rows), ("PLACE", lookup_dtype(place_kind)), ("ROW", lookup_dtype(kind))
        constants = ("PACKED", int(rows.format.packed)), ("ORDER", int(order))
        kernel = device.kernel(Variant("formats/csr/transpose", types, constants))
        kernel(rows.nrows, ncols, rows.ptr, rows.col, rows.width, ptr, col, came)
        return Csr(device, ncols, rows.nrows, ptr, col, nvals), came[:nvals] if order else None
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


def mirrored(rows: Any) -> bool:
    """Whether a square CSR or MPLG equals its transpose."""
    if rows.device.host_memory and rows.nvals >= LOOKED_UP_OF and _lacks_one(rows):
        return False
    packed = (("PACKED", int(rows.format.packed)),)
    found = rows.nvals, rows.nvals, rows.ptr, rows.col, index_type(rows.ncols), rows.nrows, rows.width
    return mirror.is_symmetric(rows.device, "csr", packed, *found)


def _lacks_one(rows: Any) -> bool:
    """Whether one of a few sampled entries has no mirror image. On the CPU this detects directed graphs cheaply."""
    places = np.arange(LOOKED_UP) * rows.nvals // LOOKED_UP
    found = np.searchsorted(rows.ptr, places, side="right") - 1
    for i, j in zip(found.tolist(), rows.columns_at(places).tolist()):
        columns = rows.columns(int(rows.ptr[j]), int(rows.ptr[j + 1]))
        at = int(np.searchsorted(columns, i))
        if at == len(columns) or columns[at] != i:
            return True
    return False


def picked(rows: Any, keep: Any) -> Csr:
    """The entries of a CSR or an MPLG for which `keep` (bools in entry order) is true. Peak memory: the result, 4 bytes
    per entry (8 from almost 2**31 on), and that of one piece."""
    xp, device, nvals = rows.device.xp, rows.device, rows.nvals
    before = xp.zeros(nvals + 1, pointer_type(nvals))  # entries kept before each entry
    xp.cumsum(keep, out=before[1:])
    limits = pieces(rows)
    if len(limits) == 2:
        col = rows.columns()[keep]
    else:
        at = device.to_host(before[device.asarray(np.array(limits))]).tolist()
        col = xp.empty(at[-1], index_type(rows.ncols))
        for low, high, first, last in zip(limits, limits[1:], at, at[1:], strict=False):
            col[first:last] = rows.columns(low, high)[keep[low:high]]
    return from_arrays(device, rows.nrows, rows.ncols, before[rows.ptr], col)
