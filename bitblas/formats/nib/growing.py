"""Rows that come band after band: each band is encoded where it will stand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...device import Device
from ..csr.choice import index_type
from ..csr.format import Csr
from ..csr.growing import trimmed
from . import layout
from .format import Nib

MORE = 1.03  # times the words that are expected are taken, so that they seldom have to be moved


def most_words(nrows: int, ncols: int, entries: int) -> float:
    """Words that rows take at most: those of even gaps, by Jensen's inequality, as a gap g takes no more nibbles than
    1 + log8 g; a row's first column is up to twice as far. Heads of blocks have up to 40 bits."""
    if not entries:
        return 0.0
    gap = max(1.0, nrows * ncols / entries)
    nibbles = entries * (1 + math.log2(gap) / 3) + min(nrows, entries) / 3
    return nibbles / layout.NIBBLES + layout.groups_of(nrows) * 41


class GrowingNibbles:
    """Gaps in nibbles. How many words all rows will take is expected from those that came."""

    bands = True
    together = layout.GROUP

    def __init__(self, device: Device, nrows: int, ncols: int, entries: int) -> None:
        """entries: that are to come, those that fall together counted as often as they come."""
        self.device, self.nrows, self.ncols, self.entries = device, nrows, ncols, entries
        self.rows = self.nvals = self.given = self.used = 0
        self.most = 0.0  # words that the rows that came could have taken
        self.heads = device.xp.zeros(layout.groups_of(nrows) + 1, np.int64)
        self.words = device.xp.zeros(layout.PAD, np.uint32)

    @staticmethod
    def least_bytes(nrows: int, ncols: int, entries: int) -> int:
        """Bytes that it takes, of which it is known at the beginning that they are not less."""
        return layout.nib_bytes(nrows, entries / layout.NIBBLES)

    def room(self, entries: int) -> Any:
        """Where the columns of the next rows may stand until they are sorted."""
        return self.device.xp.empty(max(1, entries), index_type(self.ncols))

    def append(self, ptr: Any, col: Any, given: int) -> None:
        """The next rows, all groups of them whole but the last one: INT64 pointers from 0 and ascending columns, of so
        many entries as were given. Raises OutOfMemory where what is expected of all rows does not fit."""
        rows = Csr(self.device, len(ptr) - 1, self.ncols, ptr, col if len(col) else self.room(0), len(col))
        sizes = layout.sizes_of(rows, self.rows)
        heads, ends, total = layout.blocks_of(self.device, rows.nrows, sizes)
        count, at = int(self.device.to_host(total)[0]), self.rows // layout.GROUP
        self.most += most_words(rows.nrows, self.ncols, given)
        self.given += given
        heads += self.used << layout.HEAD_BITS
        self._make_room(self.used + count, rows.nrows)
        layout.fill(rows, heads, ends, self.words, self.rows)
        self.heads[at : at + len(heads)] = heads
        self.rows, self.nvals, self.used = self.rows + rows.nrows, self.nvals + rows.nvals, self.used + count

    def _make_room(self, used: int, rows: int) -> None:
        """Room for so many words, and for those expected after the next rows."""
        if used + layout.PAD <= len(self.words):
            return
        left = self.nrows - self.rows - rows
        share = min(1.0, used / self.most) if self.most else 1.0
        expected = used + share * most_words(left, self.ncols, self.entries - self.given)
        size = math.ceil(expected * (MORE if left else 1.0)) + layout.PAD
        self.device.foresee(f"nib of {self.entries} entries, as the first {self.given} tell", 4 * size)
        words = self.device.xp.zeros(size, np.uint32)
        words[: self.used] = self.words[: self.used]
        self.words = words

    def finish(self) -> Nib:
        """The form of all rows that came."""
        words = trimmed(self.device, self.words, self.used + layout.PAD)
        return Nib(self.device, self.nrows, self.ncols, self.heads, words, self.nvals)
