"""Bytes of lists. The format is built only on request; its kernels are those of rows."""

from __future__ import annotations

from ..contract import StructureFacts
from ..csr.kernels import RowsCost, index_type, rows_format


class ToyCost(RowsCost):
    """Rows and columns of entries, one after the other."""

    name = "toy"
    timed = False

    def predict_bytes(self, facts: StructureFacts) -> int:
        return max(1, facts.nvals) * sum(index_type(limit).itemsize for limit in (facts.nrows, facts.ncols))

    def scratch(self, facts: StructureFacts) -> int:
        return 8 * facts.nvals


FORMATS = (rows_format(ToyCost()),)
