"""Auxiliary formats, built when amortized: the transpose, and plain rows of a matrix stored as tiles.

A product that prefers the transpose can often do without: it pushes along the matrix instead of pulling from the
transpose, or the other way round. One search does not amortize a sort of all entries; a search from many sources does.
The cost of doing without is counted in the structure, in reads of all its entries (`Structure.transpose_credit`).

Plain rows serve pushes on the CPU. A push along tiles reads the tiles of eight rows for the entries of one: two to five
times the time of a push along rows (us, one thread, 1 % of the vector present, tiles and rows: delaunay_n14 37 and 12,
road_ny 509 and 71; presence alone 13 and 13, 111 and 30). Pulls keep using the tiles. Rows cost the 4 bytes an entry
that tiles saved. So they are made when their cost is amortized by what pushes have lost, and never if bytes count more
than time.
"""

from __future__ import annotations

from .. import tuning
from ..config import config
from ..formats import CSR, Structure
from ..formats.contract import Layout

# ---- Auxiliary CSR rows for pushes: when a matrix stored as tiles gets plain rows too, on the CPU.


def may_keep_rows(layout: Layout) -> bool:
    """Whether pushes would be faster along CSR rows, and those may be kept."""
    format = layout.format
    plain = format.plain and not format.by_rows and format.cached_as(CSR) == CSR
    return plain and not layout.device.is_simt and not layout.compact


def extra_push_work(layout: Layout) -> float:
    """Entries that a push along the format reads for one entry of the vector, if rows would be faster; else 0."""
    return layout.nvals / max(1, layout.nrows) if may_keep_rows(layout) else 0.0


def rows_amortized(structure: Structure) -> bool:
    """Whether pushes have lost as much as building rows takes, and memory allows it."""
    needed = tuning.value("rows_for_push.per_entry") * structure.nvals + tuning.value("rows_for_push.least")
    if structure.rows_credit < needed:
        return False
    return config.prefer == "time" and config.memory_limit is None


# ---- Whether a product may read the transpose: if it exists, if the matrix is symmetric, or if building it is
# amortized.


def is_available(structure: Structure, *, transposed: bool, valued: bool, made: bool = True) -> bool:
    """Whether a product may read the primary format, or that of the transpose. valued: values are read, whose positions
    have to be known, so a symmetric matrix cannot serve as its own transpose. made: the transpose may be built."""
    if not transposed or structure.has(structure.primary.key, transposed=True):
        return True
    return (made and transpose_amortized(structure)) or (structure.symmetric and not valued)


def transpose_amortized(structure: Structure) -> bool:
    """Whether building the transpose is amortized, and there is memory for it."""
    device, primary = structure.device, structure.primary
    if structure.transpose_credit < tuning.value(f"transpose.reads.{device.kind}"):
        return False
    return not device.missing(primary.nbytes + 16 * primary.work)
