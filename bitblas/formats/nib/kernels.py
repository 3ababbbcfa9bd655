"""Kernel arguments of nibble rows: heads of groups of rows, and one string of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import INT32, lookup_dtype

from ... import tuning
from ...device import dummy
from ...kernels.variant import Variant
from ...typing import Array
from ..coded import Coded, hub_column_arguments
from ..contract import Arguments, Constants, Dot, Format, Types, compute_once
from ..schedule import Hubs, cut
from .binning import binned_constants
from .cost import NibCost
from .encoding import lanes_for

if TYPE_CHECKING:
    from .layout import Nib

DOT_INDICES = "COL", "MPTR", "APLACE", "BPLACE"
MARK = 3  # numbers per mark, the start of a segment of a long row: convert.cu


def marks_variant() -> Variant:
    return Variant("formats/nib/marks", (), (("LANES", 32),))


class NibFormat(NibCost):
    """Compile-time constants of kernels on nibble rows."""

    indices = ("PLACE",)
    dot_indices = DOT_INDICES

    def pull_constants(
        self, *, ranked: bool, neutral: bool, padded: bool, many_blocks: bool, staged: int, width: int
    ) -> Constants:
        return [*self.push_constants(ranked=ranked, neutral=neutral), ("WIDTH", width)]

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return [("RANKED", int(ranked))]

    def binned_constants(self, shared: int) -> Constants:
        return binned_constants(shared)

    def dot_constants(self, types: Types, lanes: int, mask: Format) -> Constants:
        # A block takes a row of the mask, GROUP lanes one of its entries.
        slots = tuning.count("nib.dot_slots")
        table = [("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1)]
        return [("LANES", 256), ("GROUP", lanes), ("COL_64", 0), *table]

    def dot(self, left: Nib, right: Nib, mask: Nib, ranked: tuple[bool, bool]) -> Dot:
        places = mask.ranks(), left.rank_argument(ranked[0]), right.rank_argument(ranked[1])
        types = tuple((name, lookup_dtype(x.dtype)) for name, x in zip(DOT_INDICES[1:], places, strict=True))
        at, a, b = ((layout.heads, layout.words, of) for layout, of in zip((mask, left, right), places, strict=True))
        return Dot(mask.nrows, (("COL", INT32), *types), at, a, b)


FORMATS = (NibFormat(),)


class NibArguments(Coded):
    """Kernel arguments of nibble rows."""

    def pushed(self, ranked: bool, longest: int) -> Arguments:
        """Includes the marks of the segments of `longest` words of its long rows."""
        found = self.hubs(longest)
        if found is None:
            none = dummy(self.device, "int64")
            return self.heads, self.words, self.rank_argument(ranked), 0, none, none, none, none
        marks = len(found.rows), found.rows, found.first, found.begin, found.end
        return self.heads, self.words, self.rank_argument(ranked), *marks

    def pulled(self, ranked: bool, *, read: bool = True) -> Arguments:
        """Includes the hub columns."""
        return self.heads, self.words, *hub_column_arguments(self, read, lanes_for(len(self.words), self.nrows))

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """Rows of more than `longest` words. begin: a mark per segment."""
        size, device, xp = part or longest, self.device, self.device.xp

        def limits(rows: Array, hub: Array, number: Array, count: Array) -> tuple[Array, Array]:
            begin, end = xp.empty(MARK * len(hub), np.int64), xp.empty(len(hub), np.int64)
            first = xp.flatnonzero(number == 0)
            device.kernel(marks_variant())(len(rows), self.heads, self.words, size, rows, first, begin, end)
            return begin, end

        key = "hubs", longest, size
        return compute_once(self.cache, key, lambda: cut(xp, self.lengths(), longest, size, limits))
