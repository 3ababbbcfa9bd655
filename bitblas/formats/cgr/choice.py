"""What is decided of intervals and gaps in bits."""

from __future__ import annotations

from typing import Any

from ...kernels.kinds import WORDS
from ..blocks import blocks_bytes
from ..choice import Format, Listing, Seen
from ..contract import CSR
from ..sample import Sample
from . import layout

MOST = (1 << 31) - 1  # rows and columns: a row's first value is twice as far as its column is from the row
LONGEST = 32  # words that one lane reads: four segments; the lanes of a warp have a segment each of longer rows
EARLY = 8  # times as many for rows that end at their first hit, and are seldom gone through
ALPHA = 16  # a frontier with more than 1/16 of all words pulls, as of all entries in csr/choice.py


class CgrChoice(Format):
    """Rows of intervals and residuals."""

    name = folder = "cgr"
    counts, nothing = "own", 0.0
    timed = False
    registered = "thin"
    heavy = True
    part_lanes = 8  # rows that are a little too long for one lane have no more segments

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
        return blocks_bytes(seen.nrows, seen.own_of[self.key])

    def scratch(self, seen: Seen) -> int:
        return 40 * seen.nrows

    def dot_key(self, shared: bool) -> str:
        """There is no such kernel; rows are made for the statement."""
        return CSR

    def lanes(self, form: Any, nrows: int, kind: int, *, push: bool) -> int:
        """A row of up to a segment of each kind is read by one."""
        return 1

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        return LONGEST * (EARLY if kind == WORDS and not push else 1) * lanes

    def segment(self) -> int:
        return 8 * self.part_lanes  # words: a segment each

    def pull_threshold(self, form: Any) -> int:
        return int(form.work) // ALPHA
