"""Shared cost model of coded rows (coded.py)."""

from __future__ import annotations

from typing import Any

from .blocks import active_words, blocks_bytes
from .choice import Format, Listing, Seen

MOST = (1 << 31) - 1  # rows and columns: a row's first value is twice the distance of its column from the row
EARLY = 8  # one lane reads 8 times as much if rows may stop at their first hit as it reads for sums
ALPHA = 16  # a frontier with more than 1/16 of all words pulls; csr/choice.py does the same with entries

GRADED_FROM = 1 << 20  # entries; below this a launch takes as long (estimated)
SHORT = 24
WALKED = 4  # entries per word that an advance walks


class CodedChoice(Format):
    """Cost model of layouts whose rows can only be read from their beginning."""

    counts, nothing = "own", 0.0
    timed = False
    picks = True
    registered = "thin"
    grades_masked = True  # lanes sharing a row take 3x as long (RMAT 20, half of the rows: 567 us, and 183)

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = max(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} rows and columns, got {nrows} x {ncols}; 'csr' holds more"

    def knows(self, seen: Seen) -> bool:
        return self.key in seen.own_of

    def listing(self, seen: Seen) -> Listing:
        return Listing(0.0, 0.0, float(seen.nvals))

    def predict_bytes(self, seen: Seen) -> int:
        return blocks_bytes(seen.nrows, seen.own_of[self.key])

    def scratch(self, seen: Seen) -> int:
        return 40 * seen.nrows

    def active(self, form: Any, bits: Any) -> int | None:
        """CPU only: a push reads few rows, while computing the words before each row reads all of them."""
        return active_words(form, bits) if form.device.host_memory else None

    def is_graded(self, form: Any) -> bool:
        return bool(form.nvals >= GRADED_FROM)

    def fixed_width(self, form: Any) -> int:
        """Bits per value: SHORT if no value has more bits, so that each code fits into one word; 0: any."""
        return SHORT if 2 * max(form.nrows, form.ncols) <= 1 << SHORT else 0

    def walked(self, entries: int) -> int:
        """Words that are pushed one after the other; each lane completes some entries of a word."""
        return max(1, entries // WALKED)

    def pull_threshold(self, form: Any) -> int:
        return int(form.work) // ALPHA
