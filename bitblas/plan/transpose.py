"""Whether a product may read the transpose: if it exists, if the matrix is symmetric, or if building it is amortized.

A product that prefers the transpose can often do without: it pushes along the matrix instead of pulling from the
transpose, or the other way round. One search does not amortize a sort of all entries; a search from many sources does.
The cost of doing without is counted in the structure, in reads of all its entries (`Structure.missed`).
"""

from __future__ import annotations

from ..formats import Structure

# Reads of all entries that building the transpose costs. CPU: SciPy's counting sort takes 3 to 20 ns an entry, a pull
# 0.3 to 1; GPU: a sort of 64-bit keys takes 0.11 ns and at least 0.25 ms, reading 4 bytes 0.0014 (H100).
TRANSPOSE_READS = {"cpu": 20.0, "gpu": 80.0}


def at_hand(structure: Structure, *, transposed: bool, valued: bool, made: bool = True) -> bool:
    """Whether a product may read the primary format, or that of the transpose. valued: values are read, whose positions
    have to be known, so a symmetric matrix cannot serve as its own transpose. made: the transpose may be built."""
    if not transposed or structure.has(structure.primary.key, transposed=True):
        return True
    return (made and is_repaid(structure)) or (structure.symmetric and not valued)


def is_repaid(structure: Structure) -> bool:
    """Whether building the transpose is amortized, and there is memory for it."""
    device, primary = structure.device, structure.primary
    if structure.missed < TRANSPOSE_READS[device.kind]:
        return False
    return not device.missing(primary.nbytes + 16 * primary.work)
