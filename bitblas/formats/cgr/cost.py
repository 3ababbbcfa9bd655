"""Cost model of CGR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..coded import CodedCost
from ..sampling import Sample
from . import encoding

if TYPE_CHECKING:
    from ..csr.layout import Csr


class CgrCost(CodedCost):
    """Rows of intervals and residuals."""

    name = "cgr"

    def count(self, rows: Csr) -> float:
        return encoding.counted(rows)

    def sample(self, of: Sample) -> float:
        return encoding.sampled(of)
