"""Whether a product may read the transpose: if it exists, if the matrix is symmetric, or if building it is amortized.

A product that prefers the transpose can often do without: it pushes along the matrix instead of pulling from the
transpose, or the other way round. One search does not amortize a sort of all entries; a search from many sources does.
The cost of doing without is counted in the structure, in reads of all its entries (`Structure.missed`).
"""

from __future__ import annotations

from ..formats import Structure

# Reads of all entries that making the transpose takes. CPU: SciPy's counting sort, 3 to 20 ns an entry, where a pull
# takes 0.3 to 1; GPU: a sort of 64-bit keys, 0.11 ns and 0.25 ms at least, where 4 bytes take 0.0014 (H100).
TRANSPOSE_READS = {"cpu": 20.0, "gpu": 80.0}


def at_hand(structure: Structure, *, transposed: bool, valued: bool, made: bool = True) -> bool:
    """Whether a product may read the primary form, or that of the transpose. valued: with values, whose places have to
    be known, so that a symmetric matrix does not serve as its own transpose. made: it may be made for it."""
    if not transposed or structure.has(structure.primary.key, transposed=True):
        return True
    return (made and is_repaid(structure)) or (structure.symmetric and not valued)


def is_repaid(structure: Structure) -> bool:
    """Whether making the transpose is: and there is room for it."""
    device, primary = structure.device, structure.primary
    if structure.missed < TRANSPOSE_READS[device.kind]:
        return False
    return not device.missing(primary.nbytes + 16 * primary.work)
