"""What is decided of lists: as of rows, but for their bytes; nobody gets one who does not ask for it."""

from __future__ import annotations

from ..choice import Seen
from ..csr.choice import RowsChoice, index_type


class ToyChoice(RowsChoice):
    """Rows and columns of entries, one after the other."""

    name = "toy"
    timed = smallest = fused = False
    registered = "few"

    def predict_bytes(self, seen: Seen) -> int:
        return max(1, seen.nvals) * sum(index_type(limit).itemsize for limit in (seen.nrows, seen.ncols))

    def scratch(self, seen: Seen) -> int:
        return 8 * seen.nvals
