"""Decisions about lists: as for rows, except bytes; the format is built only on request."""

from __future__ import annotations

from ..contract import StructureFacts
from ..csr.cost import RowsCost, index_type


class ToyChoice(RowsCost):
    """Rows and columns of entries, one after the other."""

    name = "toy"
    timed = smallest = fused = False

    def predict_bytes(self, facts: StructureFacts) -> int:
        return max(1, facts.nvals) * sum(index_type(limit).itemsize for limit in (facts.nrows, facts.ncols))

    def scratch(self, facts: StructureFacts) -> int:
        return 8 * facts.nvals
