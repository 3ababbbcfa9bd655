"""NIB: the gaps between a row's columns as variable-length codes of nibbles.

The smallest layout of most graphs with scattered edges.

A row's first column is stored as its distance from the row's own number, in zigzag coding (2 d for d >= 0, else
-2 d - 1), each later one as its gap less 1. A value takes one nibble per 3 bits, at least one, lowest first; bit 3 of a
nibble marks the end of the value. GPU lanes therefore each take a word of eight nibbles and find the values that end in
it without guessing (walk.cuh).

Rows are in blocks of 32 (formats/coded.py). Entry order: row, column, as in CSR.

A relative of the nibble codes of Ligra+, which also store gaps in three bits a nibble with one that says whether the
value goes on (Shun, Dhulipala, Blelloch: Smaller and faster: parallel processing of compressed graphs with Ligra+. DCC
2015). There a thread decodes a row, of which it knows the degree and an offset.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from ... import tuning
from ...device import Device
from ...typing import Array
from .. import coded
from ..coded import NIB, Coded
from ..csr.layout import Csr, LayoutBuilder, trimmed
from .kernels import FORMATS


class Nib(Coded):
    """Rows of nibble gaps."""

    format, code = FORMATS[0], NIB


# ---- Incremental NIB builder: append bands of rows; each band is encoded at its final position.

CLASSES = 64  # classes of rows, by the bit length of their number of entries


def most_words(nrows: int, ncols: int, entries: int) -> float:
    """An upper bound of the words that rows take: that of even gaps, by Jensen's inequality, because a gap g takes at
    most 1 + log8 g nibbles; a row's first column is up to twice as far. Heads of blocks have up to 40 bits."""
    if not entries:
        return 0.0
    gap = max(1.0, nrows * ncols / entries)
    nibbles = entries * (1 + math.log2(gap) / 3) + min(nrows, entries) / 3
    return nibbles / NIB.in_word + coded.groups_of(nrows) * 41


def even_nibbles(device: Device, rows: Array, ncols: int) -> np.ndarray:
    """Nibbles of rows with these numbers of entries if gaps were even, in total for all rows of 1, 2 to 3, 4 to 7, ..
    entries."""
    found, size = np.zeros(CLASSES), tuning.count("nib.slice")
    for k in range(0, len(rows), size):
        found += device.to_host(_by_class(device.xp, rows[k : k + size], None, ncols))
    return found


def _by_class(xp: ModuleType, rows: Array, nibbles: Array | None, ncols: int) -> Array:
    entries = xp.maximum(rows, 1).astype(np.float64)
    bits = xp.log2(entries)
    if nibbles is None:
        nibbles = rows * (1 + (math.log2(ncols) - bits) / 3)
    return xp.bincount(bits.astype(np.int64), weights=nibbles, minlength=CLASSES)


class NibBuilder(LayoutBuilder):
    """Builder of nibble rows. The total number of words is extrapolated from the rows so far."""

    bands = guesses = True
    together = coded.GROUP

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        super().__init__(device, nrows, ncols, entries)
        self.input_entries = self.used = 0
        self.most = 0.0  # upper bound of the words of the appended rows
        self.expected = 0.0  # words of all rows, estimated from a sample; 0: no sample
        self.heads = device.xp.zeros(coded.groups_of(nrows) + 1, np.int64)
        self.words = device.xp.zeros(coded.PAD, np.uint32)

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        return coded.blocks_bytes(nrows, entries / NIB.in_word)

    def expect(self, ptr: Array, col: Array, input_entries: Array, rows: Array) -> None:
        sample = Csr(self.device, len(ptr) - 1, self.ncols, ptr, col if len(col) else self.room(0), len(col))
        sizes = NIB.sizes(sample)
        words = NIB.blocks(sample, sizes)[2]
        heads = (words - float(sizes.sum()) / NIB.in_word) / max(1, coded.groups_of(sample.nrows))
        sampled = self.device.to_host(_by_class(self.device.xp, input_entries, sizes.astype(np.float64), self.ncols))
        even = even_nibbles(self.device, input_entries, self.ncols)
        share = np.divide(sampled, even, out=np.ones(CLASSES), where=even > 0)
        nibbles = float(share @ even_nibbles(self.device, rows, self.ncols))
        self.expected = nibbles / NIB.in_word + heads * coded.groups_of(self.nrows)

    def append(self, ptr: Array, col: Array, input_entries: int) -> None:
        """As of any builder. OutOfMemory if the expected size of all rows does not fit."""
        rows = Csr(self.device, len(ptr) - 1, self.ncols, ptr, col if len(col) else self.room(0), len(col))
        heads, ends, count = NIB.blocks(rows, NIB.sizes(rows, self.rows))
        at = self.rows // coded.GROUP
        self.most += most_words(rows.nrows, self.ncols, input_entries)
        self.input_entries += input_entries
        heads += self.used << coded.HEAD_BITS
        self._make_room(self.used + count, rows.nrows)
        NIB.fill(rows, heads, ends, self.words, self.rows)
        self.heads[at : at + len(heads)] = heads
        self.rows, self.nvals, self.used = self.rows + rows.nrows, self.nvals + rows.nvals, self.used + count

    def _make_room(self, used: int, rows: int) -> None:
        """Allocate that many words, and those expected for the rows after the next ones."""
        if used + coded.PAD <= len(self.words):
            return
        left = self.nrows - self.rows - rows
        share = min(1.0, used / self.most) if self.most else 1.0
        by_rows = used + share * most_words(left, self.ncols, self.entries - self.input_entries)
        expected = by_rows * (tuning.value("nib.reserve_early") if left else 1.0)
        if used < self.expected:
            expected = self.expected * tuning.value("nib.reserve")
        size = max(used, math.ceil(expected)) + coded.PAD
        self.device.foresee(
            f"nib of {self.entries} entries, estimated from {self.input_entries or 'some'} of them", 4 * size
        )
        words = self.device.xp.zeros(size, np.uint32)
        words[: self.used] = self.words[: self.used]
        self.words = words

    def finish(self) -> Nib:
        words = trimmed(self.device, self.words, self.used + coded.PAD)
        return Nib(self.device, self.nrows, self.ncols, self.heads, words, self.nvals)


Nib.builder = NibBuilder
