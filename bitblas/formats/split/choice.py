"""Cost model of Split (bit tiles and single entries). layout.py decides which entries go into tiles."""

from __future__ import annotations

from typing import Any

from ...kernels.kinds import WORDS
from .. import lanes as limits
from ..b2sr.choice import TiledChoice
from ..choice import Listing, Seen
from ..contract import CSR
from ..csr.choice import UNROLL
from ..lanes import power_of_two
from ..sample import Sample
from . import layout
from .counting import count_parts, paying, sampled_parts

FEWEST, MOST = 0.1, 0.6  # shares of entries in dense tiles between which a Split is considered when choosing for time


class SplitChoice(TiledChoice):
    """Dense tiles and single entries."""

    name = folder = "split"
    counts, nothing, heavy = "own", layout.Parts(0.0, 0.0), True
    handicap = 1.1  # error of predictions; code that cannot read a Split converts it to rows for each operation

    def __init__(self, tile: int) -> None:
        super().__init__(tile)
        self.registered = "thin" if self.fused else "words"

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = layout.fits(ncols, self.tile)
        return "" if fits else f"holds up to {(1 << 32) // self.tile} columns with tiles of {self.tile}, got {ncols}"

    def knows(self, seen: Seen) -> bool:
        return self.key in seen.own_of

    def count(self, rows: Any) -> layout.Parts:
        return count_parts(rows, self.tile)

    def may_pay(self, of: Sample) -> bool:
        """If dense tiles hold some of the entries, but not so many that all might as well be in tiles. (Of 62 graphs in
        three orders, those for which it is chosen for time have 0.15 to 0.46 of their entries there.)"""
        return FEWEST <= paying(of, self.tile) <= MOST

    def sample(self, of: Sample) -> layout.Parts:
        return sampled_parts(of, self.tile)

    def fact(self, told: Any) -> layout.Parts:
        return layout.Parts(*told)

    def listing(self, seen: Seen) -> Listing:
        parts = seen.own_of[self.key]
        return Listing(parts.tiles, seen.nvals - parts.in_rest, parts.in_rest)

    def predict_bytes(self, seen: Seen) -> int:
        return layout.predict_bytes(seen.nrows, seen.ncols, self.tile, seen.own_of[self.key])

    def scratch(self, seen: Seen) -> int:
        return 100 * self.units(seen.nrows) + seen.nvals + 4 * round(self.listing(seen).items)

    def dot_key(self, shared: bool) -> str:
        """There is no such kernel; rows are built for the operation."""
        return CSR

    def lanes(self, form: Any, nrows: int, kind: int, *, push: bool) -> int:
        """A third of the loads, as for tiles (not measured)."""
        units = max(1, self.units(nrows))
        if push:
            return power_of_two((form.tiles + form.in_rest) / units / 2, 2, 32)
        share = self.share(kind)
        fewest = 4 if self.tile == 4 and kind == WORDS else share
        return power_of_two((form.tiles * share + form.in_rest) / units / 3, fewest, 32)

    def longest(self, kind: int, lanes: int, *, push: bool = False, staged: bool = False) -> int:
        """In single entries; a tile counts as many as it costs."""
        return limits.MAX_ITERATIONS * (1 if push else 3 if kind == WORDS else 8) * lanes

    def segment(self) -> int:
        return 8 * UNROLL * 32
