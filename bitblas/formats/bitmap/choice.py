"""Cost model of bitmaps.

They are built for multivector operands of products (plan/narrow.py), where they take the fewest bytes, or on request.
"""

from __future__ import annotations

from ..choice import Seen
from ..csr.choice import RowsChoice, rows_bytes
from .layout import lines_of, places_of

MOST = 1 << 40  # places: bits, not bytes
SMALL = 1 << 12  # places up to which it may be chosen for memory: rows that are made for who reads those are kept


class BitmapChoice(RowsChoice):
    """A bit for each place."""

    name = "bitmap"
    timed = fused = opens = False
    bits, usual, registered = True, False, "few"

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = places_of(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} places, got {nrows} x {ncols}; 'csr' holds more"

    def may_be_smallest(self, seen: Seen) -> bool:
        return places_of(seen.nrows, seen.ncols) <= SMALL

    def predict_bytes(self, seen: Seen) -> int:
        return 8 * lines_of(seen.nrows, seen.ncols).words

    def scratch(self, seen: Seen) -> int:
        return 24 * seen.nvals

    def rows_bytes(self, nrows: int, ncols: int, nvals: int) -> int:
        """Of the plain rows that are made for whoever reads it by rows, with what finds their entries."""
        return rows_bytes(nrows, ncols, nvals) + 16 * nvals + places_of(nrows, ncols)
