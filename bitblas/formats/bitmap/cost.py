"""Cost model of bitmaps.

They are built for multivector operands of products (plan/product.py), where they take the fewest bytes, or on request.
This folder's kernels read lines (operations/multivector.py); all others get plain rows, which are built for them.
"""

from __future__ import annotations

from ... import tuning
from ..contract import StructureFacts
from ..csr.cost import RowsCost
from ..csr.kernels import rows_format
from .lines import lines_of, places_of

MOST = 1 << 40  # positions: bits, not bytes


class BitmapCost(RowsCost):
    """A bit for each position."""

    name = "bitmap"
    timed = False

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = places_of(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} positions, got {nrows} x {ncols}; 'csr' holds more"

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        return places_of(facts.nrows, facts.ncols) <= tuning.count("bitmap.small")

    def predict_bytes(self, facts: StructureFacts) -> int:
        return 8 * lines_of(facts.nrows, facts.ncols).words

    def scratch(self, facts: StructureFacts) -> int:
        return 24 * facts.nvals


FORMATS = (rows_format(BitmapCost(), {"mxv": "multivector"}),)
