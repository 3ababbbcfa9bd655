"""How rows become nibbles, and nibbles rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

from ...device import Device, ranges
from ...kernels.prologue import Variant
from ..blocks import GROUP, PAD, blocks_of, groups_of, mean_words
from ..csr.format import PARALLEL_ENTRIES, Csr
from ..lanes import power_of_two
from ..sample import Sample

IN_WORD = 8  # nibbles of a word

MIRROR = Variant("formats/nib/mirror", (), (("LANES", 32),))


def encode_variant(ptr: DataType, fill: int, lanes: int) -> Variant:
    return Variant("formats/nib/encode", (("PTR", ptr),), (("FILL", fill), ("LANES", lanes)))


def decode_variant(fill: int, lanes: int) -> Variant:
    return Variant("formats/nib/decode", (), (("FILL", fill), ("LANES", lanes)))


def bounds_of(rows: Csr) -> Any:
    """Parallel ranges of rows on the CPU, in whole groups, whose words no two ranges share."""
    if not rows.device.splits(rows.nvals, PARALLEL_ENTRIES):
        return None
    return ranges.balanced(rows.ptr, rows.device.parts, GROUP)


def lanes_for(items: int, rows: int) -> int:
    """Lanes of a GPU for a row of so many entries, or words, in the mean, each of which takes some."""
    return power_of_two(items / max(1, rows) / 2, 1, 32)


def sizes_of(rows: Csr) -> Any:
    """The nibbles that each row takes. Peak memory: 8 bytes per row."""
    device, xp = rows.device, rows.device.xp
    sizes, none = xp.zeros(max(1, rows.nrows), np.int64), xp.zeros(1, np.int64)
    variant = encode_variant(lookup_dtype(rows.ptr.dtype), 0, lanes_for(rows.nvals, rows.nrows))
    run = device.kernel(variant)
    run(rows.nrows, rows.ptr, rows.col, sizes, none, none, xp.zeros(1, np.uint32), bounds=bounds_of(rows))
    return sizes[: rows.nrows]


def counted(rows: Csr) -> float:
    """The words that these rows take."""
    found = blocks_of(rows.device, rows.nrows, sizes_of(rows), IN_WORD)[2]
    return float(rows.device.to_host(found)[0])


def sampled(of: Sample) -> float:
    """The same of a sample of entries, estimated for all."""
    nibbles = of.each * float(np.maximum(1, -(-of.gaps.astype(np.int64) // 3)).sum())
    return mean_words(of.nrows, nibbles, IN_WORD)


def encoded(rows: Csr) -> tuple[Any, Any]:
    """The heads and the words of these rows. Peak memory: the result, and 40 bytes per row."""
    device, xp = rows.device, rows.device.xp
    heads, ends, total = blocks_of(device, rows.nrows, sizes_of(rows), IN_WORD)
    count = int(device.to_host(total)[0])
    device.foresee(f"nibbles of {rows.nvals} entries", 4 * (count + PAD))
    words = xp.zeros(count + PAD, np.uint32)
    variant = encode_variant(lookup_dtype(rows.ptr.dtype), 1, lanes_for(rows.nvals, rows.nrows))
    given = ends if len(ends) else xp.zeros(1, np.int64)
    device.kernel(variant)(
        rows.nrows, rows.ptr, rows.col, xp.zeros(1, np.int64), heads, given, words, bounds=bounds_of(rows)
    )
    return heads, words


def bounds_of_rows(device: Device, nrows: int, work: int) -> Any:
    """Parallel ranges of rows of encoded words on the CPU."""
    return device.ranges(nrows, PARALLEL_ENTRIES, work=work)


def pointers(device: Device, nrows: int, nvals: int, heads: Any, words: Any) -> Any:
    """The number of each row's first entry, and of all. Peak memory: the result, and 8 bytes per row."""
    xp = device.xp
    ptr, none = xp.zeros(nrows + 1, np.int64), xp.zeros(1, np.int32)
    counts = xp.zeros(max(1, nrows), np.int64)
    kernel = device.kernel(decode_variant(0, lanes_for(len(words), nrows)))
    kernel(nrows, heads, words, counts, none, bounds=bounds_of_rows(device, nrows, nvals))
    xp.cumsum(counts[:nrows], out=ptr[1:])
    if int(ptr[-1]) != nvals:
        raise ValueError(f"words: expected {nvals} entries, got {int(ptr[-1])}")
    return ptr


def decoded(device: Device, nrows: int, nvals: int, heads: Any, words: Any) -> tuple[Any, Any]:
    """Row pointers and columns. Peak memory: both, and 8 bytes per row."""
    ptr, col = pointers(device, nrows, nvals, heads, words), device.xp.empty(max(1, nvals), np.int32)
    kernel = device.kernel(decode_variant(1, lanes_for(len(words), nrows)))
    kernel(nrows, heads, words, ptr, col, bounds=bounds_of_rows(device, nrows, nvals))
    return ptr, col[:nvals]


def mirrored(device: Device, nrows: int, heads: Any, words: Any) -> bool:
    """Whether the rows equal the columns: by numbers made of all places, in one pass (formats/mirror.py). Peak memory:
    8 bytes for each 32 rows."""
    groups = groups_of(nrows)
    sums = device.xp.zeros(max(1, groups), np.uint64)
    bounds = device.ranges(groups, PARALLEL_ENTRIES, work=len(words), parts=device.threads)
    device.kernel(MIRROR)(groups, nrows, heads, words, sums, bounds=bounds)
    return int(sums.sum()) == 0
