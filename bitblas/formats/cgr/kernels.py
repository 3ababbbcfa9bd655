"""Kernel arguments of CGR: heads of groups of rows, and one string of words."""

from __future__ import annotations

import numpy as np

from ...device import dummy
from ...kernels.variant import Variant
from ...typing import Array
from ..coded import Coded, hub_column_arguments
from ..contract import Arguments, Constants, compute_once
from ..schedule import Hubs, cut
from .binning import binned_constants
from .cost import CgrCost

MARK = 6  # numbers per mark, the start of a part of a long row: convert.cu


def marks_variant() -> Variant:
    return Variant("formats/cgr/marks", (), (("LANES", 32),))


class CgrFormat(CgrCost):
    """Compile-time constants of kernels on CGR rows."""

    indices = ("PLACE",)

    def pull_constants(
        self, *, ranked: bool, neutral: bool, padded: bool, many_blocks: bool, staged: int, width: int
    ) -> Constants:
        return [*self.push_constants(ranked=ranked, neutral=neutral), ("WIDTH", width)]

    def binned_constants(self, shared: int) -> Constants:
        return binned_constants(shared)

    def push_constants(self, *, ranked: bool, neutral: bool) -> Constants:
        return [("RANKED", int(ranked))]


FORMATS = (CgrFormat(),)


class CgrArguments(Coded):
    """Kernel arguments of CGR rows."""

    segment: int

    def unit_contents(self, ranked: bool) -> Arguments:
        return self.words, self.segment, self.rank_argument(ranked)

    def pushed(self, ranked: bool, longest: int) -> Arguments:
        """Includes the marks of the parts of `longest` words of its long rows."""
        arguments = self.heads, self.words, self.rank_argument(ranked)
        found = self.hubs(longest)
        if found is None:
            none = dummy(self.device, "int64")
            return *arguments, 0, none, none, none, self.segment
        return *arguments, len(found.rows), found.rows, found.first, found.begin, self.segment

    def pulled(self, ranked: bool, *, read: bool = True) -> Arguments:
        """Includes the hub columns."""
        return self.heads, self.words, self.segment, *hub_column_arguments(self, read, 1, self.segment)

    def hubs(self, longest: int, part: int | None = None, share: int = 1) -> Hubs | None:
        """Rows of more than `longest` words. begin: a mark per part, which has the segments that begin in it."""
        size, device, xp = part or longest, self.device, self.device.xp

        def limits(rows: Array, hub: Array, number: Array, count: Array) -> tuple[Array, Array]:
            begin, first = xp.empty(MARK * len(hub), np.int64), xp.flatnonzero(number == 0)
            arguments = self.segment, self.heads, self.words, size, rows, first, begin
            device.kernel(marks_variant())(len(rows), *arguments)
            return begin, dummy(device, "int64")

        key = "hubs", longest, size
        return compute_once(self.cache, key, lambda: cut(xp, self.lengths(), longest, size, limits))
