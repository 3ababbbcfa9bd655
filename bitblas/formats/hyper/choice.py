"""Cost model of hypersparse matrices. They are used if few rows or columns have entries, or on request."""

from __future__ import annotations

from ..choice import Seen
from ..csr.choice import RowsChoice, rows_bytes

# Rows or columns below which nobody gets one unasked: 16 MB of row pointers, and vectors that hold bits in any case.
FLOOR = 1 << 22
SHARE = 16  # of them, for each entry: what an entry takes in the lists, in row pointers (SuiteSparse's hyper_switch)


def is_hyper(nrows: int, ncols: int, nvals: int) -> bool:
    """Whether rows and columns without entries are too many to have a pointer, or a bit, each."""
    most = max(nrows, ncols)
    return most >= FLOOR and nvals * SHARE < most


class HyperChoice(RowsChoice):
    """Rows and columns that have entries, listed; and plain rows of as many."""

    name = "hyper"
    timed = fused = opens = False
    renumbers, usual, registered = True, False, "few"

    def may_be_smallest(self, seen: Seen) -> bool:
        """It is made by its shape alone (`pays`)."""
        return False

    def predict_bytes(self, seen: Seen) -> int:
        rows, cols = min(seen.nrows, seen.nvals), min(seen.ncols, seen.nvals)
        return 8 * (rows + cols) + rows_bytes(rows, cols, seen.nvals)

    def scratch(self, seen: Seen) -> int:
        return 24 * seen.nvals
