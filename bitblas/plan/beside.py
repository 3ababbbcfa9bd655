"""Auxiliary CSR rows for pushes: when a matrix stored as tiles gets plain rows too, on the CPU.

A push along tiles reads the tiles of eight rows for the entries of one: two to five times the time of a push along
rows (us, one thread, 1 % of the vector present, tiles and rows: delaunay_n14 37 and 12, road_ny 509 and 71; presence
alone 13 and 13, 111 and 30). Pulls keep using the tiles. Rows cost the 4 bytes an entry that tiles saved. So they are
made when their cost is amortized by what pushes have lost, and never if bytes count more than time.
"""

from __future__ import annotations

from ..config import config
from ..formats import CSR, Structure
from ..formats.contract import Form

# Entries pushed along tiles, per entry of the matrix, that amortize building rows: this takes some 10 ns an entry, and
# a push loses 5 to 60. LEAST: pushed entries below which rows are never built.
PUSHED, LEAST = 0.5, 1 << 16


def may_lie_beside(form: Form) -> bool:
    """Whether pushes would be faster along CSR rows, and those may be kept."""
    format = form.format
    usual = format.usual and not format.by_rows and format.kept_as(CSR) == CSR
    return usual and not form.device.shares_rows and not form.compact


def rent(form: Form) -> float:
    """Entries that a push along the format reads for one entry of the vector, if rows would be faster; else 0."""
    return form.nvals / max(1, form.nrows) if may_lie_beside(form) else 0.0


def is_repaid(structure: Structure) -> bool:
    """Whether pushes have lost as much as building rows takes, and memory allows it."""
    if structure.pushed < PUSHED * structure.nvals + LEAST:
        return False
    return config.prefer == "time" and config.memory_limit is None
