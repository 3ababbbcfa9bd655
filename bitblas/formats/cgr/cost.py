"""Cost model and kernel choice of CGR."""

from __future__ import annotations

from typing import Any

from ...kernels.constants import WORDS
from ..coded import EARLY, CodedCost
from ..contract import CSR
from ..sampling import Sample
from . import binning, encoding

LONGEST = 32  # words that one lane reads: four segments; longer rows have a segment per lane of a warp


class CgrCost(CodedCost):
    """Cost model of rows of intervals and residuals."""

    name = folder = "cgr"
    heavy = True
    keeps_hot_columns = (
        False  # a block of 1024 threads has few registers (RMAT 20 by degree, H200: 300 us, and 265 without)
    )
    part_lanes = 8  # rows a little too long for one lane have no more segments than this

    def count(self, rows: Any) -> float:
        return encoding.counted(rows)

    def sample(self, of: Sample) -> float:
        return encoding.sampled(of)

    def dot_key(self, shared: bool) -> str:
        """There is no such kernel; rows are built for the operation."""
        return CSR

    def lanes(self, layout: Any, nrows: int, kind: int, *, push: bool) -> int:
        """One lane reads a row of up to one segment of each kind."""
        return 1

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        return LONGEST * (EARLY if kind == WORDS and not push else 1) * lanes

    def grades(self, layout: Any, part: Any = None) -> Any:
        return binning.degree_bins(layout, part)

    def binned_contents(self, layout: Any, ranked: bool) -> tuple[Any, ...]:
        words, segment, places = layout.unit_contents(False)
        if not ranked:
            return words, segment, words, words, places
        entries = binning.entries_of(layout)
        return words, segment, entries.mark, entries.before, entries.first

    def segment(self) -> int:
        return 8 * self.part_lanes  # words: one segment per lane
