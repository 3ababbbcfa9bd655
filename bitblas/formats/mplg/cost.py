"""Cost model of packed rows, where it differs from that of plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import tuning
from .. import packing
from ..contract import CSR, Format, StructureFacts
from ..csr.cost import RowsCost, pointer_type

if TYPE_CHECKING:
    from ..csr.layout import Rows


def packed_bytes(nrows: int, ncols: int, nvals: int) -> int:
    """Bytes of row pointers and packed columns."""
    return (nrows + 1) * pointer_type(nvals).itemsize + 4 * packing.packed_words(nvals, packing.width_of(ncols))


class PackedCost(RowsCost):
    """Rows with packed columns."""

    name = "mplg"
    packed, fused = True, False

    @property
    def handicap(self) -> float:
        return tuning.value("formats.handicap")

    def refusal(self, nrows: int, ncols: int) -> str:
        """Columns have at most 32 bits, also those of the transpose."""
        fits = max(nrows, ncols) <= 1 << packing.MOST_BITS
        return "" if fits else f"holds up to 2**{packing.MOST_BITS} rows and columns, got {nrows} x {ncols}"

    def predict_bytes(self, facts: StructureFacts) -> int:
        return packed_bytes(facts.nrows, facts.ncols, facts.nvals)

    def cached_as(self, key: str) -> str:
        """Plain rows, which would need up to 32 times the memory, are built for an operation and dropped. Entries are
        in the same order in both."""
        return self.key if key == CSR else key

    def dot_key_with(self, other: Format, nrows: int, ncols: int) -> str:
        return self.key

    def fixed_width(self, layout: Rows) -> int:
        return layout.width if layout.nvals >= tuning.count("mplg.fixed_from") else 0
