"""Blocks of 32 coded rows: a compressed index of where each row of variable-length codes begins and ends.

A block begins with 32 numbers of one width. Number r gives how many units (nibbles or bits) later row r ends than if
all rows of the group had equal lengths, in zigzag coding (2 d for d >= 0, else -2 d - 1). The end of a row is therefore
known without reading the rows before it, in about as many bits as its length alone would take. The units of all rows
follow, starting at a new word.

`heads` holds for each group the first 32-bit word of its block, and in the lowest 6 bits the width. Six words follow
the last block: a window is three words, and each lane of a warp reads one, four bits apart. A group without entries has
no block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import Device
from ..kernels.prologue import Variant

GROUP = 32  # rows per group; also in blocks.cuh and blocks.cpu.py
HEAD_BITS = 6  # bits of a head that hold the width of its numbers
EVENNESS = 3  # bits by which numbers are shorter than a group's unit count; 2 to 5 on average over graphs
PAD = 6  # words after the last block: the last of 32 lanes reads three words, 124 bits past the start of a code


def groups_of(nrows: int) -> int:
    return -(-nrows // GROUP)


def blocks_bytes(nrows: int, words: float) -> int:
    """Bytes of the heads and of that many words."""
    return 8 * (groups_of(nrows) + 1) + 4 * (round(words) + PAD)


def mean_words(nrows: int, units: float, in_word: int) -> float:
    """Estimated words of blocks with that many units in total, assuming that every group has the mean width."""
    groups = groups_of(nrows)
    width = max(0, int(units / max(1, groups)).bit_length() - EVENNESS)
    return units / in_word + groups * (0.5 + width)


def evenly(xp: Any, room: Any) -> Any:
    """Ends of a group's rows if they shared its units evenly, one line of 32 per group."""
    return room[:, None] * xp.arange(1, GROUP + 1) >> 5


def blocks_of(device: Device, nrows: int, sizes: Any, in_word: int) -> tuple[Any, Any, Any]:
    """Heads of the groups, the end of each row in its group, and the words of all blocks. sizes: units per row;
    in_word: units per word. Peak memory: 24 bytes per row."""
    xp, groups = device.xp, groups_of(nrows)
    ends = xp.zeros(groups * GROUP, np.int64)
    ends[:nrows] = sizes
    ends = xp.cumsum(ends.reshape(groups, GROUP), axis=1)
    words = (ends[:, -1] + in_word - 1) // in_word
    later = evenly(xp, words * in_word)
    xp.subtract(ends, later, out=later)
    xp.bitwise_xor(later << 1, later >> 63, out=later)
    if nrows % GROUP:  # the last group has fewer rows
        later[-1, nrows % GROUP :] = 0
    width = xp.frexp((later.max(axis=1) if groups else words).astype(np.float64))[1].astype(np.int64)  # bit length
    block = xp.zeros(groups + 1, np.int64)
    xp.cumsum(width + words, out=block[1:])
    heads = block << HEAD_BITS
    heads[:-1] |= width
    return heads, ends.reshape(-1), block[-1:]


def extents_variant(in_word: int) -> Variant:
    return Variant("formats/extents", (), (("IN_WORD", in_word), ("LANES", 1)))


def word_counts(device: Device, nrows: int, heads: Any, words: Any, in_word: int, bounds: Any) -> Any:
    """Words per row, counted from its first unit on."""
    sizes = device.xp.zeros(max(1, nrows), np.int64)
    device.kernel(extents_variant(in_word))(nrows, heads, words, sizes, bounds=bounds)
    return sizes[:nrows]


def check_blocks(xp: Any, heads: Any, words: Any, nrows: int, in_word: int) -> None:
    """ValueError unless blocks are contiguous and row ends do not decrease, so that reading rows stays within the
    words."""
    width, at = heads[:-1] & ((1 << HEAD_BITS) - 1), heads >> HEAD_BITS
    room = (at[1:] - at[:-1] - width) * in_word
    whole = int(at[0]) == 0 and int(heads[-1]) == (len(words) - PAD) << HEAD_BITS
    if not whole or bool((room < 0).any()):
        raise ValueError(f"heads: expected contiguous blocks from word 0 to {len(words) - PAD}")
    if not nrows:
        return
    start = (at[:-1] * 32)[:, None] + width[:, None] * xp.arange(GROUP)
    word, places = start >> 5, (start & 31).astype(np.uint64)
    wide = width[:, None].astype(np.uint64)
    last = len(words) - 1

    def part(k: int) -> Any:
        return words[xp.minimum(word + k, last)].astype(np.uint64)

    found = (part(0) | part(1) << np.uint64(32)) >> places
    over = (places + wide) > np.uint64(64)
    found |= xp.where(over, part(2) << (np.uint64(64) - xp.where(over, places, np.uint64(1))), np.uint64(0))
    later = (found & ((np.uint64(1) << wide) - np.uint64(1))).astype(np.int64)
    ends = (later >> 1 ^ -(later & 1)) + evenly(xp, room)
    if nrows % GROUP:  # the last group has fewer rows
        ends[-1, nrows % GROUP :] = ends[-1, nrows % GROUP - 1]
    falls = (ends[:, 1:] < ends[:, :-1]).any() | (ends[:, 0] < 0).any() | (ends[:, -1] > room).any()
    if bool(falls):
        raise ValueError("words: expected row ends that do not decrease, within their blocks")


def active_words(form: Any, bits: Any) -> int:
    """Words of the rows that `bits` selects, on the CPU."""
    total = np.zeros(1, np.int64)
    kernel = form.device.kernel(Variant("formats/active", (), (("IN_WORD", form.in_word),)))
    kernel(len(bits), form.heads, form.words, bits, total)
    return int(total[0])
