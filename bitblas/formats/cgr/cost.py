"""Cost model and kernel choice of CGR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import tuning
from ...kernels.constants import WORDS
from ..coded import CodedCost
from ..contract import Arguments
from ..sampling import Sample
from ..schedule import Part
from . import binning, encoding

if TYPE_CHECKING:
    from ..csr.layout import Csr
    from .layout import Cgr


class CgrCost(CodedCost["Cgr"]):
    """Cost model of rows of intervals and residuals."""

    name = folder = "cgr"
    heavy = True
    keeps_hot_columns = (
        False  # a block of 1024 threads has few registers (RMAT 20 by degree, H200: 300 us, and 265 without)
    )

    @property
    def part_lanes(self) -> int:
        return tuning.count("cgr.part_lanes")

    def count(self, rows: Csr) -> float:
        return encoding.counted(rows)

    def sample(self, of: Sample) -> float:
        return encoding.sampled(of)

    def lanes(self, layout: Cgr, nrows: int, kind: int, *, push: bool) -> int:
        """One lane reads a row of up to one segment of each kind."""
        return 1

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        factor = tuning.count("coded.early_factor") if kind == WORDS and not push else 1
        return tuning.count("cgr.longest") * factor * lanes

    def grades(self, layout: Cgr, part: Part | None = None) -> binning.DegreeBins:
        return binning.degree_bins(layout, part)

    def binned_contents(self, layout: Cgr, ranked: bool) -> Arguments:
        words, segment, places = layout.unit_contents(False)
        if not ranked:
            return words, segment, words, words, places
        entries = binning.entries_of(layout)
        return words, segment, entries.mark, entries.before, entries.first

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * self.part_lanes  # words: one segment per lane
