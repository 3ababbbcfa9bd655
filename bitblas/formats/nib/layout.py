"""Where what lies in NIB: groups of rows, their blocks, and the bytes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import DataType, lookup_dtype

from ...device import Device, ranges
from ...kernels.prologue import Variant
from ..csr.format import PARALLEL_ENTRIES, Csr
from ..lanes import power_of_two
from ..sample import Sample

GROUP = 32  # rows of a group: row.cuh, and row.cpu.py
HEAD_BITS = 6  # of a head, for the width of the ends of its rows
NIBBLES = 8  # of a word
PAD = 2  # words after the last block, so that three may always be read

EXTENTS = Variant("formats/nib/extents", (), (("LANES", 1),))
MIRROR = Variant("formats/nib/mirror", (), (("LANES", 32),))


def groups_of(nrows: int) -> int:
    return -(-nrows // GROUP)


def nib_bytes(nrows: int, words: float) -> int:
    """Bytes of heads and of so many words."""
    return 8 * (groups_of(nrows) + 1) + 4 * (round(words) + PAD)


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


def sizes_of(rows: Csr, first: int = 0) -> Any:
    """The nibbles that each row takes. first: the number of the first one. Peak memory: 8 bytes per row."""
    sizes, none = rows.device.xp.zeros(max(1, rows.nrows), np.int64), rows.device.xp.zeros(1, np.int64)
    _encode(rows, 0, first, sizes, none, none, rows.device.xp.zeros(1, np.uint32))
    return sizes[: rows.nrows]


def _encode(rows: Csr, fill: int, first: int, *arrays: Any) -> None:
    variant = encode_variant(lookup_dtype(rows.ptr.dtype), fill, lanes_for(rows.nvals, rows.nrows))
    rows.device.kernel(variant)(rows.nrows, first, rows.ptr, rows.col, *arrays, bounds=bounds_of(rows))


def blocks_of(device: Device, nrows: int, sizes: Any) -> tuple[Any, Any, Any]:
    """The heads of the groups of rows of these sizes, where each row ends in its group, and the words of all blocks."""
    xp, groups = device.xp, groups_of(nrows)
    ends = xp.zeros(groups * GROUP, np.int64)
    ends[:nrows] = sizes
    ends = xp.cumsum(ends.reshape(groups, GROUP), axis=1)
    total = ends[:, -1]
    width = xp.frexp(total.astype(np.float64))[1].astype(np.int64)  # its bits, as it has fewer than 53
    block = xp.zeros(groups + 1, np.int64)
    xp.cumsum(width + (total + NIBBLES - 1) // NIBBLES, out=block[1:])
    heads = block << HEAD_BITS
    heads[:-1] |= width
    return heads, ends.reshape(-1), block[-1:]


def counted(rows: Csr) -> float:
    """The words that these rows take."""
    found = blocks_of(rows.device, rows.nrows, sizes_of(rows))[2]
    return float(rows.device.to_host(found)[0])


def sampled(of: Sample) -> float:
    """The same of a sample of entries, estimated for all: the mean group has the ends that all have."""
    nibbles = of.each * float(np.maximum(1, -(-of.gaps.astype(np.int64) // 3)).sum())
    groups = groups_of(of.nrows)
    return nibbles / NIBBLES + groups * (0.5 + int(nibbles / max(1, groups)).bit_length())


def encoded(rows: Csr) -> tuple[Any, Any]:
    """The heads and the words of these rows. Peak memory: the result, and 40 bytes per row."""
    device, xp = rows.device, rows.device.xp
    heads, ends, total = blocks_of(device, rows.nrows, sizes_of(rows))
    count = int(device.to_host(total)[0])
    device.foresee(f"nibbles of {rows.nvals} entries", 4 * (count + PAD))
    words = xp.zeros(count + PAD, np.uint32)
    fill(rows, heads, ends, words)
    return heads, words


def fill(rows: Csr, heads: Any, ends: Any, words: Any, first: int = 0) -> None:
    """The nibbles of these rows into words that are zero there, where their heads say. first: the number of the first
    row, which begins a group."""
    xp = rows.device.xp
    _encode(rows, 1, first, xp.zeros(1, np.int64), heads, ends if len(ends) else xp.zeros(1, np.int64), words)


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


def word_counts(device: Device, nrows: int, heads: Any, words: Any) -> Any:
    """The words of each row, as kernels read them."""
    sizes = device.xp.zeros(max(1, nrows), np.int64)
    device.kernel(EXTENTS)(nrows, heads, words, sizes, bounds=bounds_of_rows(device, nrows, nrows))
    return sizes[:nrows]


def mirrored(device: Device, nrows: int, heads: Any, words: Any) -> bool:
    """Whether the rows equal the columns: by numbers made of all places, in one pass (formats/mirror.py). Peak memory:
    8 bytes for each 32 rows."""
    groups = groups_of(nrows)
    sums = device.xp.zeros(max(1, groups), np.uint64)
    bounds = device.ranges(groups, PARALLEL_ENTRIES, work=len(words), parts=device.threads)
    device.kernel(MIRROR)(groups, nrows, heads, words, sums, bounds=bounds)
    return int(sums.sum()) == 0


def check_blocks(xp: Any, heads: Any, words: Any, nrows: int) -> None:
    """ValueError unless blocks stand one after the other and hold ends that do not fall: a reader then stays within
    the words."""
    width, at = heads & ((1 << HEAD_BITS) - 1), heads >> HEAD_BITS
    whole = int(at[0]) == 0 and int(heads[-1]) == (len(words) - PAD) << HEAD_BITS
    if not whole or bool((at[1:] < at[:-1] + width[:-1]).any()):
        raise ValueError(f"heads: expected blocks from 0 to {len(words) - PAD} words, one after the other")
    if not nrows:
        return
    start = (at[:-1] * 32)[:, None] + width[:-1, None] * xp.arange(GROUP)
    word, shift = start >> 5, (start & 31).astype(np.uint64)
    wide = width[:-1, None].astype(np.uint64)
    last = len(words) - 1

    def part(k: int) -> Any:
        return words[xp.minimum(word + k, last)].astype(np.uint64)

    found = (part(0) | part(1) << np.uint64(32)) >> shift
    over = (shift + wide) > np.uint64(64)
    found |= xp.where(over, part(2) << (np.uint64(64) - xp.where(over, shift, np.uint64(1))), np.uint64(0))
    ends = found & ((np.uint64(1) << wide) - np.uint64(1))
    room = ((at[1:] - at[:-1] - width[:-1]) * NIBBLES).astype(np.uint64)
    if not bool((ends[:, 1:] >= ends[:, :-1]).all() & (ends[:, -1] <= room).all()):
        raise ValueError("words: expected rows whose ends do not fall, within their blocks")
