"""Encode rows as CGR codes, and decode them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

from ... import tuning
from ...kernels.variant import Variant
from ...typing import Array
from ..coded import RowSelection, all_rows, group_bounds
from ..contract import Order
from ..csr.layout import Csr

if TYPE_CHECKING:
    from .layout import Cgr

IN_WORD = 32  # bits per word
SEGMENT = 256  # bits per segment, the authors' choice
LEAST = 4  # least columns of an interval; also in code.cuh and code.cpu.py


def encode_variant(ptr: DataType, fill: int, listed: int) -> Variant:
    lanes = 64 if listed else 1
    return Variant("formats/cgr/encode", (("PTR", ptr),), (("FILL", fill), ("LISTED", listed), ("LANES", lanes)))


def decode_variant(fill: int, order: int) -> Variant:
    return Variant("formats/cgr/decode", (), (("FILL", fill), ("ORDER", order), ("LANES", 1)))


class Encoder:
    """Encodes rows; for a GPU the long ones are listed separately."""

    def __init__(self, rows: Csr) -> None:
        xp = rows.device.xp
        self.rows = rows
        self.longest = tuning.count("cgr.encode_longest") if rows.device.is_simt else max(1, rows.nvals)
        listed = xp.flatnonzero(rows.ptr[1:] - rows.ptr[:-1] > self.longest) if rows.device.is_simt else ()
        self.hubs = len(listed)
        self.row_of = listed if self.hubs else xp.zeros(1, np.int64)
        self.parts = xp.zeros(2 * max(1, self.hubs), np.int64)

    def run(self, fill: int, sizes: Array, heads: Array, ends: Array, words: Array) -> None:
        rows, device = self.rows, self.rows.device
        ptr = lookup_dtype(rows.ptr.dtype)
        arguments = SEGMENT, self.longest, self.row_of, self.parts, rows.ptr, rows.col, sizes, heads, ends, words
        device.kernel(encode_variant(ptr, fill, 0))(rows.nrows, *arguments, bounds=group_bounds(rows))
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
        self.run(1, none, heads, ends, words)


def decode(layout: Cgr, fill: int, counts: Array, col: Array, place: Order, selection: RowSelection) -> None:
    """One launch of the kernel `decode` over rows of a layout."""
    numbers = selection.rows if place is None else place
    run = layout.device.kernel(decode_variant(fill, int(place is not None)))
    what = layout.ncols, SEGMENT, layout.heads, layout.words, counts, col, numbers
    run(selection.size, selection.rows, selection.stride, *what, bounds=selection.bounds)


def check_codes(layout: Cgr) -> None:
    """ValueError unless all rows can be decoded within their words and columns."""
    xp = layout.device.xp
    wrong = xp.zeros(max(1, layout.nrows), np.int64)
    decode(layout, 2, wrong, xp.zeros(1, np.int32), None, all_rows(layout))
    if bool(wrong.any()):
        row = int(xp.flatnonzero(wrong)[0])
        raise ValueError(f"words: expected row {row} to decode within its bits, to columns below {layout.ncols}")
