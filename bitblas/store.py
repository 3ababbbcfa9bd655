"""Stores: the data of a Matrix or Vector on one device. The public objects of `core` refer to these.

The entries of a vector are marked in a bitset of 64-bit words, bit i % 64 of word i // 64; bits past the size are zero.
Values are *iso*, one NumPy scalar for all entries, or an array of length `size` (values at positions without an entry
are undefined), or, for BOOL, a second bitset (zero where there is no entry).

A vector with few entries is a sorted list of positions (SparseStore), if that is shorter than one bit per position: ten
entries of 10^8 positions take 160 bytes, and positions go to 2^60. Operations compress the positions that they touch
and run on those. Reading the bits of such a store converts it to bits for good.

A multivector (FlatStore) is one vector of all its positions: the bits of its bitmap (formats/bitmap) are the bitset of
that vector, so the kernels of vectors run all element-wise operations on it in one pass, without going through rows.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from semirings.cached import cached_property
from semirings.dtypes import BOOL, DataType

from . import formats, tuning
from .device import Device, memory
from .formats import CSR, Structure
from .formats.bitmap.layout import Lines, lines_of
from .formats.contract import LazyDict
from .formats.packing import PackedValues
from .kernels.variant import Variant
from .order import Order
from .typing import Array

if TYPE_CHECKING:
    from semirings import Monoid, Typed

    from .formats.csr.layout import Rows
    from .operations.operands import Mask

# ---- Stores: the data of a Matrix or Vector on one device. The public objects of `core` refer to these.

CHUNK = 1 << 8  # words whose entries are counted, listed or summed together: 16384 entries for a block of 256 threads
COUNT = Variant("kernels/count", (), (("LANES", 256), ("CHUNK", CHUNK)))
DENSE = Variant("kernels/dense", (("U", BOOL),), (("LANES", 1), ("U_BOOL", 1)))
PACK = Variant("kernels/pack", (), (("LANES", 64),))
BITS = Variant("kernels/bits", (), (("LANES", 1),))

ALL, NONE = ~np.uint64(0), np.uint64(0)


@functools.cache
def zero_word(device: Device) -> Array:
    """Passed to kernels in place of an absent bitset."""
    return device.xp.zeros(1, np.uint64)


def words(size: int) -> int:
    """64-bit words of a bitset of `size` bits; at least one, so that every array has an address."""
    return (size + 63) >> 6 or 1


def write_bits(
    device: Device, size: int, w: Array, t: Array | None, mask: Mask | None = None, replace: bool = True
) -> None:
    """w<mask, replace> = t on bitsets of `size` bits, in place; t None: all bits are set. mask: its `bits`, and whether
    they are complemented."""
    none = zero_word(device)
    fresh = (none, 0, ALL) if t is None else (t, 1, NONE)
    where = (none, 0, ALL) if mask is None else (mask.bits, 1, ALL if mask.complement else NONE)
    device.kernel(BITS)(words(size), size, w, *fresh, *where, int(replace))


def full_bits(device: Device, size: int) -> Array:
    """A bitset with all `size` bits set."""
    if size // 8 >= tuning.count("memory.checked_bytes"):
        device.foresee(f"bits of {size} positions", size // 8)
    bits: Array = device.xp.empty(words(size), np.uint64)
    write_bits(device, size, bits, None)
    return bits


def unpack(device: Device, bits: Array, size: int) -> Array:
    """A bitset as an array of `size` bools."""
    if device.host_memory:
        return np.unpackbits(bits.view(np.uint8), bitorder="little")[:size].view(bool)
    flags: Array = device.xp.empty(size, bool)
    device.kernel(DENSE)(size, bits, bits, np.bool_(True), 0, np.bool_(False), flags)
    return flags


def set_bits(bits: np.ndarray) -> np.ndarray:
    """Positions of the set bits in a bitset of the host (INT64, ascending). Zero words and zero bytes are skipped if
    few bits are set."""
    some = (bits != 0).nonzero()[0]
    if tuning.count("bits.unpacked_words") * len(some) > len(bits):
        return np.unpackbits(bits.view(np.uint8), bitorder="little").view(bool).nonzero()[0]
    octets = bits[some].view(np.uint8)
    at = (octets != 0).nonzero()[0]
    inside = np.unpackbits(octets[at], bitorder="little").view(bool).nonzero()[0]
    at = at[inside >> 3]
    positions: np.ndarray = (some[at >> 3] << 6) + ((at & 7) << 3) + (inside & 7)
    return positions


def pack(device: Device, flags: Array) -> Array:
    """An array of bools as a bitset."""
    size = len(flags)
    if not device.host_memory:
        bits: Array = device.xp.empty(words(size), np.uint64)
        device.kernel(PACK)(words(size), size, device.xp.ascontiguousarray(flags), bits)
        return bits
    packed = np.packbits(flags, bitorder="little")
    bits = np.zeros(words(size), np.uint64)
    bits.view(np.uint8)[: len(packed)] = packed
    return bits


@memory.track_memory
@dataclass(eq=False)
class VectorStore:
    """A vector of `size` positions. Owned by one Vector: operations return fresh ones, statements write into that of
    their output."""

    device: Device
    size: int
    dtype: DataType
    bits: Array | None  # the bitset; None: there is no entry, and the bits have not been read yet
    values: Any  # np.generic: iso
    count: int | None = None  # nvals if it is known
    least: int = 0  # lower bound: entries at the last count, if none can have been removed since
    order: Order | None = None  # the order in which positions are stored; None: the user's

    @property
    def present(self) -> Array:
        """The bitset of the positions that have an entry."""
        if self.bits is None:
            self.bits = self.device.xp.zeros(words(self.size), np.uint64)
        return self.bits

    @present.setter
    def present(self, bits: Array) -> None:
        self.bits = bits

    @property
    def iso(self) -> bool:
        return isinstance(self.values, np.generic)

    @property
    def nvals(self) -> int:
        if self.count is None:
            counts = self.chunk_counts() if self.device.host_memory else self._counted()
            self.count = sum(counts.tolist()) if len(counts) < CHUNK else int(counts.sum())
        return self.count

    def chunk_counts(self) -> Array:
        """The number of entries in each CHUNK words."""
        counts: Array = self.device.xp.empty(-(-words(self.size) // CHUNK), np.uint32)
        self._count_chunks(counts)
        return counts

    def _count_chunks(self, counts: Array | np.generic) -> None:
        n = words(self.size)
        self.device.kernel(COUNT)(-(-n // CHUNK), n, self.present, counts)

    def _counted(self) -> np.ndarray:
        """The same on the host."""
        chunks = -(-words(self.size) // CHUNK)
        if 4 * chunks > memory.READBACK_BYTES:
            return self.device.to_host(self.chunk_counts())
        counts = memory.Readback(self.device, 4 * chunks)
        self._count_chunks(counts.part(np.uint32, 0, chunks))
        return counts.read(np.uint32, 0, chunks)

    def changed(self, *, grown: bool) -> None:
        """Invalidate the cached count. grown: no entry was removed."""
        self.least = max(self.least, self.count or 0) if grown else 0
        self.count = None

    def with_value(self, dtype: DataType, value: np.generic) -> VectorStore:
        """The same entries, all with one value of that type; they share the bits."""
        return VectorStore(self.device, self.size, dtype, self.present, value, self.count)

    def copy(self) -> VectorStore:
        values = self.values if self.iso else self._copied_values()
        bits = None if self.bits is None else self.bits.copy()
        return VectorStore(self.device, self.size, self.dtype, bits, values, self.count, order=self.order)

    def _copied_values(self) -> Array:
        if self.dtype is BOOL or self.count is None or not self.device.host_memory:
            return self.values.copy()
        if self.count * tuning.count("vector.copied_entries") > self.size:
            return self.values.copy()
        values, at = np.empty_like(self.values), set_bits(self.present)
        values[at] = self.values[at]
        return values


def empty_vector(device: Device, size: int, dtype: DataType) -> VectorStore:
    """A vector without entries: iso, so that it stores only a bitset, allocated at first use."""
    return VectorStore(device, size, dtype, None, dtype.np_type.type(0), 0)


def full_vector(device: Device, size: int, value: np.generic, dtype: DataType) -> VectorStore:
    """A vector with the same value everywhere."""
    return VectorStore(device, size, dtype, full_bits(device, size), dtype.np_type.type(value), size)


def dense_values(device: Device, size: int, dtype: DataType, blank: bool = True) -> Array:
    """An uninitialised array for the values of a vector; for BOOL a bitset, zeroed if `blank`."""
    if dtype is BOOL:
        return (device.xp.zeros if blank else device.xp.empty)(words(size), np.uint64)
    return device.xp.empty(max(1, size), dtype.np_type)


# Values: one for all entries (np.generic: iso), or an array.
PlainValues: TypeAlias = "np.generic | Array"
# The values of a matrix as they are stored: also bit-packed.
Raw: TypeAlias = "np.generic | PackedValues | Array"
# Layouts of plain and of packed rows.
RowLayout: TypeAlias = "Rows"


def plain(values: Raw) -> PlainValues:
    """Values as np.generic or an array: packed ones are unpacked, and not cached."""
    return values.plain() if isinstance(values, PackedValues) else values


class Removed(NamedTuple):
    """The entries that selections removed from the result of C<C> = C plus.pair C', so that its values are still the
    counts of C (operations/supports.py).

    keys: row * nrows + column of each, ascending; None: too many, as `why` says. of: the structure of C, until it is
    known to be symmetric.
    """

    keys: Array | None
    of: Structure | None = None
    why: str = ""


@memory.track_memory
class MatrixStore:
    """A matrix: an immutable structure plus values in its entry order: iso, an array (BOOL: bools), or packed. It is
    never changed.

    raw: the values as they are stored. `values`: as an array or one value; packed ones are unpacked at every call, and
    not cached. copies: gathered values for formats that are not primary. prepared: cached products, with decisions that
    do not have to be made again. order: the order of rows and columns; None: the user's. plain: see
    formats/contract.py.
    """

    copies, prepared = LazyDict(), LazyDict()
    deferred = False  # whether computing the structure costs more than reading the entries

    def __init__(
        self,
        structure: Structure,
        dtype: DataType,
        raw: Raw,
        copies: dict[tuple[str, bool], Raw] | None = None,
        order: Order | None = None,
    ) -> None:
        self.structure, self.dtype, self.raw, self.order = structure, dtype, raw, order
        if copies is not None:
            self.copies = copies
        # Plain attributes, because every statement reads them several times.
        self.device, self.nrows, self.ncols = structure.device, structure.nrows, structure.ncols
        self.plain = structure.plain

    @property
    def iso(self) -> bool:
        return isinstance(self.raw, np.generic)

    @property
    def packed(self) -> bool:
        """Whether values are bit-packed."""
        return isinstance(self.raw, PackedValues)

    @property
    def values(self) -> Any:
        """One value (np.generic: iso), or an array."""
        return plain(self.raw)

    def values_for(self, key: str, transposed: bool) -> Any:
        """The same in the entry order of a format."""
        is_primary = key == self.structure.primary.key and not transposed
        raw = self.raw if is_primary else self.raw_for(key, transposed)
        return raw.plain() if isinstance(raw, PackedValues) else raw

    def by_rows(self) -> tuple[RowLayout, Any]:
        """A format by rows, plain or packed, and the values in its order."""
        layout = self.structure.rows()
        raw = self.raw if layout is self.structure.primary else self.raw_for(layout.key, False)
        return layout, raw.plain() if isinstance(raw, PackedValues) else raw

    def raw_for(self, key: str, transposed: bool) -> Raw:
        """The values in the entry order of a format; a gathered copy is cached as long as this matrix lives, packed if
        the values are."""
        if isinstance(self.raw, np.generic) or (key == self.structure.primary.key and not transposed):
            return self.raw
        key = self.structure.cached_as(key)
        if key == self.structure.primary.key and not transposed:
            return self.raw
        if (key, transposed) in self.copies:
            return self.copies[key, transposed]
        copy = self.taken(self.structure.order(key, transposed=transposed))
        if self.structure.keeps(key):
            self.copies[key, transposed] = copy
        return copy

    def taken(self, places: Array | None) -> Raw:
        """The values at these positions (integers, or bools as a filter; None: all), packed if they are."""
        if places is None or isinstance(self.raw, np.generic):
            return self.raw
        return self.raw.taken(places) if isinstance(self.raw, PackedValues) else self.raw[places]

    def uncached(self) -> MatrixStore:
        """The same matrix for a single read of its rows, which are not cached unless they exist already."""
        if self.structure.has(CSR):
            return self
        return MatrixStore(Structure(self.structure.primary), self.dtype, self.raw).tagged(self.order)

    def coo(self) -> tuple[Array, Array]:
        """Rows and columns of the entries (INT64, the user's indices) in stored order."""
        rows, cols = self.structure.coo()
        return (rows, cols) if self.order is None else (self.order.numbers(rows), self.order.numbers(cols))

    def tagged(self, order: Order | None) -> MatrixStore:
        """The same arrays, tagged with the order in which they were computed."""
        if self.order is order:
            return self
        twin = copy.copy(self)
        twin.order = order
        return twin

    @property
    def nvals(self) -> int:
        return self.structure.nvals

    def reduced_rows(self, monoid: Typed[Monoid], *, transpose: bool) -> VectorStore | None:
        """The reduction of each row (column if `transpose`) of a matrix that is not computed yet, without computing it;
        None for others."""
        return None

    def aggregated(self, name: str, transpose: bool) -> VectorStore | None:
        """The same for an aggregator of that name."""
        return None


# ---- Sparse vectors: a sorted list of positions, used if it is shorter than one bit per position.
#
# Ten entries of 10^8 positions take 160 bytes, and positions go to 2^60. Operations compress the positions that they
# touch (`operations/compressed.py`) and run on those. Reading the bits of such a store converts it to bits for good.

INDEX = np.dtype(np.int64)


def is_sparse(device: Device, nvals: int, size: int) -> bool:
    """Whether a vector with `nvals` of `size` entries is stored as a sorted list."""
    if size < tuning.count(f"list.positions.{device.kind}"):
        return False
    return nvals * tuning.count("list.bits_per_entry") < size


@memory.track_memory
class SparseStore(VectorStore):
    """index: positions of the entries (INT64, ascending); listed: their values, one for all (np.generic) or an array
    (BOOL: bools). Both are read-only. Becomes a plain VectorStore when `bits` or `values` are read."""

    index: Array
    listed: Any  # np.generic: iso

    def __init__(
        self, device: Device, size: int, dtype: DataType, index: Array, listed: PlainValues, order: Order | None = None
    ) -> None:
        known = {"device": device, "size": size, "dtype": dtype, "index": index, "listed": listed, "order": order}
        self.__dict__.update(known, count=len(index))
        if isinstance(listed, np.generic):
            self.__dict__["values"] = listed

    def __getattr__(self, name: str) -> Any:
        if name not in ("bits", "values"):
            raise AttributeError(name)
        self._expand()
        return self.__dict__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("bits", "values"):
            self._expand()  # it is a VectorStore from now on
        object.__setattr__(self, name, value)

    @property
    def iso(self) -> bool:
        return isinstance(self.listed, np.generic)

    def with_value(self, dtype: DataType, value: np.generic) -> SparseStore:
        return SparseStore(self.device, self.size, dtype, self.index, value)

    def copy(self) -> SparseStore:
        return SparseStore(self.device, self.size, self.dtype, self.index, self.listed, self.order)

    def become(self, other: VectorStore) -> None:
        """Take over the content of another store of the same size and type, in place."""
        order = self.order
        self.__dict__.clear()
        self.__dict__.update(other.__dict__, order=order)
        object.__setattr__(self, "__class__", type(other))

    def _expand(self) -> None:
        """OutOfMemory if one bit per position does not fit."""
        device, size, n = self.device, self.size, self.count
        wide = 0 if self.iso else self.dtype.np_type.itemsize if self.dtype is not BOOL else 0.125
        device.foresee(f"vector: bits of {size} positions, which this operation needs,", int(size // 8 + wide * size))
        bits, values = _bits_at(device, size, self.index), self.listed
        if not self.iso:
            values = dense_values(device, size, self.dtype)
            if self.dtype is BOOL:
                values = _bits_at(device, size, self.index[self.listed])
            else:
                values[self.index] = self.listed
        self.become(VectorStore(device, size, self.dtype, bits, values, n))


def _bits_at(device: Device, size: int, index: Array) -> Array:
    """A bitset with the bits at these positions set; they ascend."""
    if not device.host_memory:
        flags = device.xp.zeros(size, bool)
        flags[index] = True
        return pack(device, flags)
    bits, at = np.zeros(words(size), np.uint64), index >> 6
    if len(at):
        starts = np.flatnonzero(np.append(True, at[1:] != at[:-1]))
        bits[at[starts]] = np.bitwise_or.reduceat(np.uint64(1) << (index & 63).astype(np.uint64), starts)
    return bits


def is_blank(u: VectorStore) -> bool:
    """Whether it has no bits, like the result of `empty_vector`."""
    return type(u) is VectorStore and u.count == 0 and u.bits is None and u.order is None and u.iso


def empty_sparse_vector(device: Device, size: int, dtype: DataType) -> VectorStore:
    """A vector without entries, for callers that read it before anything is written."""
    zero = dtype.np_type.type(0)
    if not is_sparse(device, 0, size):
        return VectorStore(device, size, dtype, None, zero, 0)
    return SparseStore(device, size, dtype, device.xp.zeros(0, INDEX), zero)


# ---- Bitmaps with their values: a multivector as one vector of all its positions.
#
# The bits of a bitmap (formats/bitmap) are the bitset of such a vector, so the kernels of vectors run all element-wise
# operations on it in one pass, under masks too, without going through rows.

BITMAP = "bitmap"


class FlatStore(MatrixStore):
    """flat: the vector of all positions. Operations return fresh ones; a statement may write into that of its output
    while it is not shared: it belongs to one Matrix, and its `structure`, on which caches depend, was never read."""

    def __init__(self, flat: VectorStore, nrows: int, ncols: int) -> None:
        self.flat, self.dtype, self.order, self.plain = flat, flat.dtype, None, False
        self.copies, self.prepared = {}, {}
        self.device, self.nrows, self.ncols = flat.device, nrows, ncols
        self.owner_count = 0  # number of matrices that hold it

    @property
    def lines(self) -> Lines:
        return lines_of(self.nrows, self.ncols)

    @property
    def key(self) -> str:
        return BITMAP

    @property
    def writable(self) -> bool:
        """Whether a statement of the matrix that owns it may write into it."""
        return self.owner_count == 1 and "structure" not in self.__dict__ and "raw" not in self.__dict__

    def _raw(self) -> PlainValues:
        values = self.flat.values
        if self.flat.iso:
            return values
        layout: Any = self.structure.primary
        places = layout.places()
        if self.dtype.np_type.kind != "b":
            return values[places]
        return (values[places >> 6] >> (places & 63).astype(values.dtype) & values.dtype.type(1)).astype(bool)

    # Computed at first access.
    structure: Any = cached_property(lambda self: Structure(self._form()))
    raw: Any = cached_property(_raw)

    def _form(self) -> Any:
        layout: Any = formats.class_of(BITMAP)
        return layout(self.device, self.nrows, self.ncols, self.flat.present, self.flat.count)

    def pattern(self) -> Structure:
        """The structure for a mask; not cached."""
        return self.__dict__.get("structure") or Structure(self._form())

    @property
    def iso(self) -> bool:
        return self.flat.iso

    @property
    def packed(self) -> bool:
        return False

    @property
    def nvals(self) -> int:
        return self.flat.nvals

    def tagged(self, order: Order | None) -> FlatStore:
        if self.order is order:
            return self
        twin = FlatStore(self.flat.copy(), self.nrows, self.ncols)
        twin.order = order
        return twin

    def copy(self) -> FlatStore:
        """The same in new arrays."""
        twin = FlatStore(self.flat.copy(), self.nrows, self.ncols)
        twin.order = self.order
        return twin


def bits_of(structure: Structure) -> Array:
    """The bits of a structure of any format; those of a bitmap itself."""
    layout: Any = structure.layout(BITMAP)
    return layout.bits


def flat_of(A: MatrixStore) -> VectorStore:
    """A matrix of any format as a vector of all positions: its own, or computed once; read-only."""
    if isinstance(A, FlatStore):
        return A.flat
    flat: VectorStore | None = A.prepared.get("flat")
    if flat is None:
        device, lines = A.device, lines_of(A.nrows, A.ncols)
        layout: Any = A.structure.layout(BITMAP)
        values = A.values_for(BITMAP, False)
        if not A.iso:
            array = dense_values(device, lines.places, A.dtype)
            if A.dtype.np_type.kind == "b":
                flags = device.xp.zeros(lines.places, bool)
                flags[layout.places()] = values
                array = pack(device, flags)
            else:
                array[layout.places()] = values
            values = array
        flat = VectorStore(device, lines.places, A.dtype, layout.bits, values, layout.nvals)
        A.prepared["flat"] = flat
    return flat


def refusal(nrows: int, ncols: int) -> str:
    """Why there is no bitmap of that shape."""
    return formats.format_of(BITMAP).cost.refusal(nrows, ncols)
