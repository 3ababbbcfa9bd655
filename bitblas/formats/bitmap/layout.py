"""Bitmap: dense presence bits for multivectors (tall-skinny matrices), in whole words per line.

With 64 columns a row is one word. A product with a sparse matrix combines words, so 64 searches cost little more than
one. Element-wise operations, under masks too, run as on vectors: the lines are the bitset of a vector over all
positions, and the values are an array over the same positions (operations/multivector.py).

A matrix has one line per position of its longer side, and a line has one bit per position of the shorter side: lines
are the rows of a tall or square matrix and the columns of a wide one. So the frontiers of 64 searches are one word per
vertex, whether the matrix has a row or a column per search. A line takes 8, 16 or 32 bits, or as many whole 64-bit
words as it needs, so kernels read whole lines and never part of a word of another line. Bits beyond the shorter side
are zero.

Entry order: row, column, as in CSR. Kernels that read rows get plain ones, which are built on first use and kept.
Bitmaps are built for multivector operands of products (plan/product.py), where they take the fewest bytes, or on
request.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from ... import tuning
from ...device import Device
from ...kernels.variant import Variant
from ...typing import Array
from .. import validation
from ..contract import LazyDict, Order, StructureFacts
from ..csr import layout as csr
from ..csr.kernels import RowsCost, rows_format

# ---- Bit positions.

WORD = 64
T = TypeVar("T", int, Array)


class Lines(NamedTuple):
    """`number` lines of `stride` bits, of which the first `width` are positions. tall: lines are rows."""

    number: int
    width: int
    stride: int
    tall: bool

    @property
    def places(self) -> int:
        """Total number of bits, including the padding of lines."""
        return self.number * self.stride

    @property
    def words(self) -> int:
        """Words of 64 bits; at least one, so that the array has an address."""
        return -(-self.places // WORD) or 1

    def place(self, rows: T, cols: T) -> T:
        """Position of the entry at a row and a column."""
        return rows * self.stride + cols if self.tall else cols * self.stride + rows

    def entry(self, places: T) -> tuple[T, T]:
        """Row and column of a position."""
        line, position = places // self.stride, places % self.stride
        return (line, position) if self.tall else (position, line)


@functools.lru_cache(1 << 10)
def lines_of(nrows: int, ncols: int) -> Lines:
    """The lines of a matrix of that shape."""
    width = min(nrows, ncols)
    stride = next((bits for bits in (8, 16, 32) if width <= bits), -(-width // WORD) * WORD)
    return Lines(max(nrows, ncols), width, stride, nrows >= ncols)


# ---- Cost.

MOST = 1 << 40  # positions: bits, not bytes


class BitmapCost(RowsCost):
    """A bit for each position."""

    name = "bitmap"
    timed = False

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = lines_of(nrows, ncols).places <= MOST
        return "" if fits else f"holds up to {MOST} positions, got {nrows} x {ncols}; 'csr' holds more"

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        return lines_of(facts.nrows, facts.ncols).places <= tuning.count("bitmap.small")

    def predict_bytes(self, facts: StructureFacts) -> int:
        return 8 * lines_of(facts.nrows, facts.ncols).words

    def scratch(self, facts: StructureFacts) -> int:
        return 24 * facts.nvals


FORMATS = (rows_format(BitmapCost(), {"mxv": "multivector"}),)


# ---- The layout.

MARK = Variant("formats/bitmap/mark", (), (("LANES", 1),))


@dataclass(eq=False)
class Bitmap(csr.RowsOnDemand):
    """In a tall matrix, the bit of row i, column j is bit i * stride + j."""

    device: Device
    nrows: int
    ncols: int
    bits: Array  # uint64
    count: int | None = None  # number of entries, if known
    cache = LazyDict()

    format = FORMATS[0]
    key = format.key

    @property
    def lines(self) -> Lines:
        return lines_of(self.nrows, self.ncols)

    @property
    def nvals(self) -> int:
        if self.count is None:
            self.count = len(self.places())
        return self.count

    def places(self) -> Array:
        """The position of each entry (INT64), in entry order. Peak memory: a byte per position, and 16 per entry."""
        xp, lines = self.device.xp, self.lines
        places = xp.flatnonzero(xp.unpackbits(self.bits.view(np.uint8), bitorder="little")).astype(np.int64, copy=False)
        if lines.tall:
            return places
        rows, cols = lines.entry(places)
        keys = rows * self.ncols + cols
        keys.sort()
        return lines.place(keys // self.ncols, keys % self.ncols)

    def plain(self) -> csr.Csr:
        """The same entries by rows, built on first use."""
        if "plain" not in self.cache:
            count = self.count or 0  # rows, and finding their entries
            needed = csr.rows_bytes(self.nrows, self.ncols, count) + 16 * count + self.lines.places
            self.device.foresee(f"rows of a bitmap of {self.nrows} x {self.ncols}", needed)
            rows, cols = self.coo()
            ptr = csr.pointers_of(rows, self.nrows, self.device)
            self.cache["plain"] = csr.from_arrays(self.device, self.nrows, self.ncols, ptr, cols)
        found: csr.Csr = self.cache["plain"]
        return found

    def coo(self) -> tuple[Array, Array]:
        return self.lines.entry(self.places())

    @classmethod
    def from_csr(cls, rows: csr.Csr, tile: int | None, order: bool) -> tuple[Bitmap, Order]:
        """Peak memory: the result, and 24 bytes per entry."""
        return cls.of(rows.device, rows.nrows, rows.ncols, lines_of(rows.nrows, rows.ncols).place(*rows.coo())), None

    @classmethod
    def of(cls, device: Device, nrows: int, ncols: int, places: Array) -> Bitmap:
        """A bitmap with entries at these distinct positions."""
        words = lines_of(nrows, ncols).words
        device.foresee(f"bitmap of {nrows} x {ncols}", 8 * words)
        bits = device.xp.zeros(words, np.uint64)
        if len(places):
            device.kernel(MARK)(len(places), places, bits)
        return cls(device, nrows, ncols, bits, len(places))

    def transpose(self, order: bool) -> tuple[Bitmap, Order]:
        if order or self.nrows == self.ncols:
            return super().transpose(order)
        return Bitmap(self.device, self.ncols, self.nrows, self.bits, self.count), None

    def arrays(self) -> dict[str, Array]:
        return {"bits": self.bits}

    @classmethod
    def restored(cls, device: Device, numbers: dict[str, int], arrays: dict[str, Array]) -> Bitmap:
        nrows, ncols, nvals = validation.expect_numbers(numbers, "nrows", "ncols", "nvals")
        if refusal := cls.format.cost.refusal(nrows, ncols):
            raise ValueError(f"numbers: {cls.key!r} {refusal}")
        (bits,) = validation.expect_arrays(arrays, bits=((np.uint64,), lines_of(nrows, ncols).words))
        return cls(device, nrows, ncols, bits, nvals)

    def check(self) -> None:
        xp, lines = self.device.xp, self.lines
        places = xp.flatnonzero(xp.unpackbits(self.bits.view(np.uint8), bitorder="little"))
        if len(places) != self.count:
            raise ValueError(f"bits: expected {self.count} set bits, got {len(places)}")
        if len(places) and not (int(places[-1]) < lines.places and int((places % lines.stride).max()) < lines.width):
            raise ValueError("bits: expected none beyond the matrix")
