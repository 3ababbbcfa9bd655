"""Cost model of virtual nodes. They are built on request, or to save memory if they have been mined before.

Products with vectors run on the graph that has them (operations/virtual_nodes.py); kernels that need all rows get plain
ones, which are built for them.
"""

from __future__ import annotations

from ..contract import Format, Kernels, StructureFacts
from ..csr.kernels import RowsCost, RowsPull, RowsPush, RowsView

MOST = 1 << 30  # rows and columns, so that as many nodes fit in addition


class VirtualCost(RowsCost):
    """Rows that share lists of columns. Mining takes too long to run during planning, so the size of the layout is
    known only after it was mined on request (`A.profile(virtual_nodes=True)`)."""

    name = "virtual"
    counts, nothing, timed = "asked", 0.0, False

    def refusal(self, nrows: int, ncols: int) -> str:
        fits = max(nrows, ncols) <= MOST
        return "" if fits else f"holds up to {MOST} rows and columns, got {nrows} x {ncols}; 'csr' holds more"

    def predict_bytes(self, facts: StructureFacts) -> int:
        return int(facts.own_of[self.key])

    def scratch(self, facts: StructureFacts) -> int:
        """On a GPU that of the codes: mining runs on the host and predicts its own memory."""
        return 40 * (facts.nrows + facts.nvals)


KERNELS: Kernels = {"mxv": "virtual_nodes", "mxv.pull": RowsPull(), "mxv.push": RowsPush()}
FORMATS = (Format(VirtualCost(), RowsView(), KERNELS, folder="csr", ranked=False),)
