"""Encode rows as nibbles, and decode them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

from ... import tuning
from ...device import Device
from ...kernels.variant import Variant
from ...typing import Array
from ..coded import RowSelection, group_bounds, groups_of
from ..csr.layout import Csr
from ..schedule import power_of_two

if TYPE_CHECKING:
    from .layout import Nib

IN_WORD = 8  # nibbles per word

MIRROR = Variant("formats/nib/mirror", (), (("LANES", 32),))


def encode_variant(ptr: DataType, fill: int, lanes: int) -> Variant:
    return Variant("formats/nib/encode", (("PTR", ptr),), (("FILL", fill), ("LANES", lanes)))


def decode_variant(fill: int, lanes: int) -> Variant:
    return Variant("formats/nib/decode", (), (("FILL", fill), ("LANES", lanes)))


def lanes_for(items: int, rows: int) -> int:
    """GPU lanes for a row with that mean number of entries, or words, so that each lane takes some."""
    return power_of_two(items / max(1, rows) / tuning.value("nib.code_words_per_lane"), 1, 32)


def sizes_of(rows: Csr, first: int = 0) -> Array:
    """The nibbles that each row takes. first: the number of the first row. Peak memory: 8 bytes per row."""
    sizes, none = rows.device.xp.zeros(max(1, rows.nrows), np.int64), rows.device.xp.zeros(1, np.int64)
    _encode(rows, 0, first, sizes, none, none, rows.device.xp.zeros(1, np.uint32))
    return sizes[: rows.nrows]


def _encode(rows: Csr, fill: int, first: int, *arrays: Array) -> None:
    variant = encode_variant(lookup_dtype(rows.ptr.dtype), fill, lanes_for(rows.nvals, rows.nrows))
    rows.device.kernel(variant)(rows.nrows, first, rows.ptr, rows.col, *arrays, bounds=group_bounds(rows))


def fill(rows: Csr, heads: Array, ends: Array, words: Array, first: int = 0) -> None:
    """Write the nibbles of these rows into zeroed words at the positions in their heads. first: the number of the first
    row, which begins a group."""
    xp = rows.device.xp
    _encode(rows, 1, first, xp.zeros(1, np.int64), heads, ends, words)


def decode(layout: Nib, fill: int, counts: Array, col: Array, selection: RowSelection) -> None:
    """One launch of the kernel `decode` over rows of a layout."""
    run = layout.device.kernel(decode_variant(fill, lanes_for(len(layout.words), layout.nrows)))
    rows = selection.size, selection.rows, selection.stride
    run(*rows, layout.heads, layout.words, counts, col, bounds=selection.bounds)


def mirrored(device: Device, nrows: int, heads: Array, words: Array) -> bool:
    """Whether the matrix is symmetric, by hashes of all positions, in one pass (csr/layout.py). Peak memory: 8
    bytes per 32 rows."""
    groups = groups_of(nrows)
    sums = device.xp.zeros(max(1, groups), np.uint64)
    least = tuning.count("formats.parallel_entries")
    bounds = device.ranges(groups, least, work=len(words), parts=device.threads)
    device.kernel(MIRROR)(groups, nrows, heads, words, sums, bounds=bounds)
    return int(sums.sum()) == 0
