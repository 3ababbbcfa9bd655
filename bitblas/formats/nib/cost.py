"""Cost model of nibble rows (NIB)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..coded import CodedCost
from ..sampling import Sample
from . import encoding

if TYPE_CHECKING:
    from ..csr.layout import Csr


class NibCost(CodedCost):
    """Rows of nibble gaps."""

    name = "nib"

    def count(self, rows: Csr) -> float:
        return encoding.counted(rows)

    def sample(self, of: Sample) -> float:
        return encoding.sampled(of)
