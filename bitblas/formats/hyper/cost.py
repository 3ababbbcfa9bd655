"""Cost model of hypersparse matrices. They are used if few rows or columns have entries, or on request."""

from __future__ import annotations

from ... import tuning
from ..contract import StructureFacts
from ..csr.cost import RowsCost, rows_bytes


def is_hyper(nrows: int, ncols: int, nvals: int) -> bool:
    """Whether empty rows and columns are too many to store a pointer, or a bit, for each."""
    most = max(nrows, ncols)
    return most >= tuning.count("hyper.floor") and nvals * tuning.count("hyper.share") < most


class HyperCost(RowsCost):
    """Lists of the rows and columns that have entries, and plain rows of that many."""

    name = "hyper"
    timed = fused = opens = False
    renumbers, usual = True, False

    def may_be_smallest(self, facts: StructureFacts) -> bool:
        """The shape alone decides whether it is used (`is_hyper`)."""
        return False

    def predict_bytes(self, facts: StructureFacts) -> int:
        rows, cols = min(facts.nrows, facts.nvals), min(facts.ncols, facts.nvals)
        return 8 * (rows + cols) + rows_bytes(rows, cols, facts.nvals)

    def scratch(self, facts: StructureFacts) -> int:
        return 24 * facts.nvals
