"""Cost model and kernel choice of nibble rows (NIB)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import tuning
from ...kernels.constants import WORDS
from ..coded import CodedCost
from ..contract import CSR, Arguments, Format, Layout
from ..sampling import Sample
from ..schedule import Part, power_of_two
from . import binning, encoding

if TYPE_CHECKING:
    from ..csr.layout import Csr
    from .layout import Nib


class NibCost(CodedCost["Nib"]):
    """Cost model of rows of nibble gaps."""

    name = folder = "nib"
    scans = True

    def count(self, rows: Csr) -> float:
        return encoding.counted(rows)

    def sample(self, of: Sample) -> float:
        return encoding.sampled(of)

    def dot_key(self, shared: bool) -> str:
        """The CPU has no such kernel; rows are built for the operation."""
        return self.key if shared else CSR

    def dot_key_with(self, other: Format, nrows: int, ncols: int) -> str:
        """Plain rows of the other operand are not encoded for one operation; these are decoded instead."""
        return self.key if other.key == self.key else CSR

    def dot_lanes(self, layout: Layout) -> int:
        """One lane per word of a row."""
        return power_of_two(layout.work / max(1, layout.nrows), tuning.count("rows.dot_least_lanes"), 32)

    def lanes(self, layout: Nib, nrows: int, kind: int, *, push: bool) -> int:
        """So many that each has some words of a row; one if a row stops at its first hit."""
        if kind == WORDS and not push:
            return 1
        each = tuning.value("nib.push_words_per_lane") if push else tuning.value("nib.pull_words_per_lane")
        return power_of_two(len(layout.words) / max(1, nrows) / each, 1, 32)

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        factor = tuning.count("coded.early_factor") if kind == WORDS and not push else 1
        return tuning.count("rows.iterations") * factor * lanes

    def segment(self) -> int:
        return tuning.count("rows.segment_steps") * 32

    def is_binned(self, layout: Nib) -> bool:
        return super().is_binned(layout) and len(layout.words) * encoding.IN_WORD < binning.MOST_NIBBLES

    def grades(self, layout: Nib, part: Part | None = None) -> binning.DegreeBins:
        return binning.degree_bins(layout, part)

    def binned_contents(self, layout: Nib, ranked: bool) -> Arguments:
        return (layout.words, binning.entries_of(layout)) if ranked else super().binned_contents(layout, False)

    def hot(self, layout: Nib, columns: int) -> int:
        """The first columns, if most entries of long rows are in them, as in an order by degree."""
        key = "hot", columns, tuning.version()
        if key not in layout.cache:
            pays = binning.near_share(layout, columns) >= tuning.value("rows.hot_share")
            layout.cache[key] = min(columns, layout.ncols) if pays else 0
        return int(layout.cache[key])
