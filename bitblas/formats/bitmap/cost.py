"""Cost model of bitmaps.

They are built for multivector operands of products (plan/product.py), where they take the fewest bytes, or on request.
"""

from __future__ import annotations

from ... import tuning
from ..contract import StructureFacts
from ..csr.cost import RowsCost, rows_bytes
from .lines import lines_of, places_of

MOST = 1 << 40  # positions: bits, not bytes


class BitmapCost(RowsCost):
    """A bit for each position."""

    name = "bitmap"
    timed = fused = opens = False
    bits, usual = True, False

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = places_of(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} positions, got {nrows} x {ncols}; 'csr' holds more"

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        return places_of(facts.nrows, facts.ncols) <= tuning.count("bitmap.small")

    def predict_bytes(self, facts: StructureFacts) -> int:
        return 8 * lines_of(facts.nrows, facts.ncols).words

    def scratch(self, facts: StructureFacts) -> int:
        return 24 * facts.nvals

    def rows_bytes(self, nrows: int, ncols: int, nvals: int) -> int:
        """Bytes of the plain rows built for kernels that read rows, and of finding their entries."""
        return rows_bytes(nrows, ncols, nvals) + 16 * nvals + places_of(nrows, ncols)
