"""Cost model of virtual nodes. They are built on request, or to save memory if they have been mined before."""

from __future__ import annotations

from ..contract import CSR, StructureFacts
from ..csr.cost import RowsCost

MOST = 1 << 30  # rows and columns, so that as many nodes fit in addition


class VirtualCost(RowsCost):
    """Rows that share lists of columns. Mining takes too long to run during planning, so the size of the layout is
    known only after it was mined on request (`A.profile(virtual_nodes=True)`)."""

    name = "virtual"
    counts, nothing = "asked", 0.0
    has_virtual_nodes, usual = True, False
    timed = fused = opens = by_rows = reads_values = scans = spreads = pushes_by_output_word = False

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = max(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} rows and columns, got {nrows} x {ncols}; 'csr' holds more"

    def predict_bytes(self, facts: StructureFacts) -> int:
        return int(facts.own_of[self.key])

    def scratch(self, facts: StructureFacts) -> int:
        """On a GPU that of the codes: mining runs on the host and predicts its own memory."""
        return 40 * (facts.nrows + facts.nvals)

    def rows_key(self) -> str:
        return CSR

    def dot_key(self, shared: bool) -> str:
        """There is no such kernel; rows are built for the operation."""
        return CSR
