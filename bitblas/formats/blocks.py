"""Where the codes of rows stand that are no longer than they need to be: in blocks of 32 rows, a group.

`heads` has, for each group, the first 32-bit word of its block, and in the lowest 6 bits a width. The block begins with
32 numbers of that width: where each row ends, in units (nibbles, or bits) counted from the first one of the group. The
units of all its rows follow, from a new word on. Two words follow the last block, so that three may always be read. A
group without entries has no block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import Device
from ..kernels.prologue import Variant

GROUP = 32  # rows of a group: blocks.cuh, and blocks.cpu.py
HEAD_BITS = 6  # of a head, for the width of the ends of its rows
PAD = 2  # words after the last block, so that three may always be read


def groups_of(nrows: int) -> int:
    return -(-nrows // GROUP)


def blocks_bytes(nrows: int, words: float) -> int:
    """Bytes of heads and of so many words."""
    return 8 * (groups_of(nrows) + 1) + 4 * (round(words) + PAD)


def mean_words(nrows: int, units: float, in_word: int) -> float:
    """The words of blocks with so many units in all: the mean group has the ends that all have."""
    groups = groups_of(nrows)
    return units / in_word + groups * (0.5 + int(units / max(1, groups)).bit_length())


def blocks_of(device: Device, nrows: int, sizes: Any, in_word: int) -> tuple[Any, Any, Any]:
    """The heads of the groups of rows of these sizes, in units, of which a word has `in_word`; where each row ends in
    its group, and the words of all blocks. Peak memory: 24 bytes per row."""
    xp, groups = device.xp, groups_of(nrows)
    ends = xp.zeros(groups * GROUP, np.int64)
    ends[:nrows] = sizes
    ends = xp.cumsum(ends.reshape(groups, GROUP), axis=1)
    total = ends[:, -1]
    width = xp.frexp(total.astype(np.float64))[1].astype(np.int64)  # its bits, as it has fewer than 53
    block = xp.zeros(groups + 1, np.int64)
    xp.cumsum(width + (total + in_word - 1) // in_word, out=block[1:])
    heads = block << HEAD_BITS
    heads[:-1] |= width
    return heads, ends.reshape(-1), block[-1:]


def extents_variant(in_word: int) -> Variant:
    return Variant("formats/extents", (), (("IN_WORD", in_word), ("LANES", 1)))


def word_counts(device: Device, nrows: int, heads: Any, words: Any, in_word: int, bounds: Any) -> Any:
    """The words of each row, from its first unit on."""
    sizes = device.xp.zeros(max(1, nrows), np.int64)
    device.kernel(extents_variant(in_word))(nrows, heads, words, sizes, bounds=bounds)
    return sizes[:nrows]


def check_blocks(xp: Any, heads: Any, words: Any, nrows: int, in_word: int) -> None:
    """ValueError unless blocks stand one after the other and hold ends that do not fall: a reader of rows then stays
    within the words."""
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
    room = ((at[1:] - at[:-1] - width[:-1]) * in_word).astype(np.uint64)
    if not bool((ends[:, 1:] >= ends[:, :-1]).all() & (ends[:, -1] <= room).all()):
        raise ValueError("words: expected rows whose ends do not fall, within their blocks")
