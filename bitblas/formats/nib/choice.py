"""What is decided of gaps in nibbles."""

from __future__ import annotations

from typing import Any

from ...kernels.kinds import WORDS
from .. import lanes as limits
from ..choice import Format, Listing, Seen
from ..contract import CSR
from ..lanes import power_of_two
from ..sample import Sample
from . import layout

MOST = (1 << 31) - 1  # rows and columns: a row's first value is twice as far as its column is from the row
EARLY = 8  # times as many steps for rows that end at their first hit, and are seldom gone through, as for sums
ALPHA = 16  # a frontier with more than 1/16 of all words pulls, as of all entries in csr/choice.py


class NibChoice(Format):
    """Rows of gaps."""

    name = folder = "nib"
    counts, nothing = "own", 0.0
    timed, scans = False, True
    registered = "thin"

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = max(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} rows and columns, got {nrows} x {ncols}; 'csr' holds more"

    def knows(self, seen: Seen) -> bool:
        return self.key in seen.own_of

    def count(self, rows: Any) -> float:
        return layout.counted(rows)

    def sample(self, of: Sample) -> float:
        return layout.sampled(of)

    def listing(self, seen: Seen) -> Listing:
        return Listing(0.0, 0.0, float(seen.nvals))

    def predict_bytes(self, seen: Seen) -> int:
        return layout.nib_bytes(seen.nrows, seen.own_of[self.key])

    def scratch(self, seen: Seen) -> int:
        return 40 * seen.nrows

    def dot_key(self, shared: bool) -> str:
        """A CPU has no such kernel; rows are made for the statement."""
        return self.key if shared else CSR

    def dot_beside(self, other: Format, nrows: int, ncols: int) -> str:
        """Plain rows of the other are not encoded for a statement; these are decoded."""
        return self.key if other.key == self.key else CSR

    def dot_lanes(self, form: Any) -> int:
        """One for each word of a row."""
        return power_of_two(form.work / max(1, form.nrows), 4, 32)

    def lanes(self, form: Any, nrows: int, kind: int, *, push: bool) -> int:
        """So many that each has some words of a row; one where a row ends at its first hit."""
        if kind == WORDS and not push:
            return 1
        return power_of_two(len(form.words) / max(1, nrows) / (1 if push else 2), 1, 32)

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        return limits.MAX_ITERATIONS * (EARLY if kind == WORDS and not push else 1) * lanes

    def segment(self) -> int:
        return 8 * 32

    def pull_threshold(self, form: Any) -> int:
        return int(form.work) // ALPHA
