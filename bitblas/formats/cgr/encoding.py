"""Encode rows as CGR codes, and decode them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

from ... import tuning
from ...device import Bounds, threads
from ...kernels.variant import Variant
from ...typing import Array
from ..coded import GROUP, PAD, RowSelection, all_rows, blocks_of, mean_words
from ..contract import Order
from ..csr.layout import Csr
from ..sampling import Sample

if TYPE_CHECKING:
    from .layout import Cgr

IN_WORD = 32  # bits per word
SEGMENT = 256  # bits per segment, the authors' choice
ENDLESS = 1 << 40  # more bits than a row has: rows have one segment of each kind
LEAST = 4  # least columns of an interval; also in code.cuh and code.cpu.py


def encode_variant(ptr: DataType, fill: int, listed: int) -> Variant:
    lanes = 64 if listed else 1
    return Variant("formats/cgr/encode", (("PTR", ptr),), (("FILL", fill), ("LISTED", listed), ("LANES", lanes)))


def decode_variant(fill: int, order: int) -> Variant:
    return Variant("formats/cgr/decode", (), (("FILL", fill), ("ORDER", order), ("LANES", 1)))


def bounds_of(rows: Csr) -> Bounds:
    """Parallel ranges of rows on the CPU, in whole groups, so that no two ranges share words."""
    if not rows.device.splits(rows.nvals, tuning.count("formats.parallel_entries")):
        return None
    return threads.balanced_ranges(rows.ptr, rows.device.parts, GROUP)


class Encoder:
    """Encodes rows; for a GPU the long ones are listed separately."""

    def __init__(self, rows: Csr, segment: int) -> None:
        xp = rows.device.xp
        self.rows, self.segment = rows, segment
        self.longest = tuning.count("cgr.encode_longest") if rows.device.is_simt else max(1, rows.nvals)
        listed = xp.flatnonzero(rows.ptr[1:] - rows.ptr[:-1] > self.longest) if rows.device.is_simt else ()
        self.hubs = len(listed)
        self.row_of = listed if self.hubs else xp.zeros(1, np.int64)
        self.parts = xp.zeros(2 * max(1, self.hubs), np.int64)

    def run(self, fill: int, sizes: Array, heads: Array, ends: Array, words: Array) -> None:
        rows, device = self.rows, self.rows.device
        ptr = lookup_dtype(rows.ptr.dtype)
        arguments = self.segment, self.longest, self.row_of, self.parts, rows.ptr, rows.col, sizes, heads, ends, words
        device.kernel(encode_variant(ptr, fill, 0))(rows.nrows, *arguments, bounds=bounds_of(rows))
        if self.hubs:
            device.kernel(encode_variant(ptr, fill, 1))(self.hubs, *arguments)

    def sizes(self) -> Array:
        """The bits that each row takes. Peak memory: 8 bytes per row."""
        xp, rows = self.rows.device.xp, self.rows
        sizes, none = xp.zeros(max(1, rows.nrows), np.int64), xp.zeros(1, np.int64)
        self.run(0, sizes, none, none, xp.zeros(1, np.uint32))
        return sizes[: rows.nrows]

    def fill(self, heads: Array, ends: Array, words: Array) -> None:
        """Write the codes into zeroed words, after `sizes` was called."""
        none = self.rows.device.xp.zeros(1, np.int64)
        self.run(1, none, heads, ends if len(ends) else none, words)


def counted(rows: Csr) -> float:
    """The words that these rows take."""
    found = blocks_of(rows.device, rows.nrows, Encoder(rows, SEGMENT).sizes(), IN_WORD)[2]
    return float(rows.device.to_host(found)[0])


def gamma_bits(x: Array | float) -> Array:
    """Bits of the gamma code of a number, or of a mean."""
    return 2 * np.floor(np.log2(x + 1.0)) + 1


def sampled(of: Sample) -> float:
    """The same, estimated from a sample of entries; for those in intervals from the mean interval length."""
    gaps, size = of.gaps.astype(np.int64), len(of.gaps)
    inside, begins = of.runs > 0, of.runs > 1
    others, starts = gaps[~inside], gaps[begins]
    rows = max(1.0, min(of.nrows, of.each * size))
    each = of.each / rows  # entries per row that a sample represents
    # A number of b bits is at least 2^(b - 1); adding 1 seldom changes the bit length.
    bits = 4.0 * (np.maximum(0, others - 1) // 3 + 1).sum() + (2.0 * np.maximum(0, starts - 1) + 1).sum()
    bits += len(starts) * gamma_bits(max(0.0, inside.sum() / max(1, len(starts)) - LEAST))
    heads = rows * (2 + gamma_bits(each * len(starts)) + gamma_bits(each * len(others)))
    return mean_words(of.nrows, of.each * float(bits) + float(heads), IN_WORD)


def encoded(rows: Csr, segment: int) -> tuple[Array, Array]:
    """The heads and the words of these rows. Peak memory: the result, and 40 bytes per row."""
    device, xp = rows.device, rows.device.xp
    encoder = Encoder(rows, segment)
    heads, ends, total = blocks_of(device, rows.nrows, encoder.sizes(), IN_WORD)
    count = int(device.to_host(total)[0])
    device.foresee(f"codes of {rows.nvals} entries", 4 * (count + PAD))
    words = xp.zeros(count + PAD, np.uint32)
    encoder.fill(heads, ends, words)
    return heads, words


def decode(layout: Cgr, fill: int, counts: Array, col: Array, place: Order, selection: RowSelection) -> None:
    """One launch of the kernel `decode` over rows of a layout."""
    numbers = selection.rows if place is None else place
    run = layout.device.kernel(decode_variant(fill, int(place is not None)))
    what = layout.ncols, layout.segment, layout.heads, layout.words, counts, col, numbers
    run(selection.size, selection.rows, selection.stride, *what, bounds=selection.bounds)


def check_codes(layout: Cgr) -> None:
    """ValueError unless all rows can be decoded within their words and columns."""
    xp = layout.device.xp
    wrong = xp.zeros(max(1, layout.nrows), np.int64)
    decode(layout, 2, wrong, xp.zeros(1, np.int32), None, all_rows(layout))
    if bool(wrong.any()):
        row = int(xp.flatnonzero(wrong)[0])
        raise ValueError(f"words: expected row {row} to decode within its bits, to columns below {layout.ncols}")
