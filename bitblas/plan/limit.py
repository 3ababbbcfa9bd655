"""Choose a stored format under `config.memory_limit`: pure functions of facts, of the choice without a limit, and of
the bytes available for one matrix."""

from __future__ import annotations

from ..device import held
from ..formats import CSR, Structure, format_of
from ..formats.csr.choice import rows_bytes
from .facts import Facts, best_known


def within(seen: Facts, key: str, budget: int) -> tuple[str, str]:
    """The format to use instead of `key`, and why ("": use `key`).

    Entries arrive as CSR, so another format is built while CSR exists. A product may read the transpose: if a format
    and its transpose do not fit, the smallest format that can be built is used.
    """
    size = seen.bytes_of

    def can_be_built(k: str) -> bool:
        return k == CSR or size(CSR) + size(k) + format_of(k).scratch(seen) <= budget

    if can_be_built(key) and 2 * size(key) <= budget:
        return key, ""
    best = min(filter(can_be_built, seen.forms), key=size)
    if best == key:
        return key, ""
    needed = f"{key} and its transpose need {2 * size(key)} bytes" if can_be_built(key) else f"no room to build {key}"
    return best, f"memory_limit leaves {budget} bytes: {needed}, {best} is the smallest that can be built"


def budget_of(structure: Structure) -> int | None:
    """Bytes that the formats of a matrix may take under the limit, in addition to current usage; None without a
    limit."""
    if held.limit is None:
        return None
    seen: set[int] = set()
    arrays = [x for _, _, form, _ in structure.forms() for x in form.arrays().values()]
    own = sum(held.bytes_in(x, structure.device, seen) for x in arrays)
    return held.limit - held.bytes_on(structure.device) + own


def limited(structure: Structure, key: str, iso: bool) -> tuple[str, str]:
    """`within` for an existing matrix. Values that differ take more than any structure, so such matrices stay by
    rows."""
    budget = budget_of(structure) if iso else None
    if budget is None or (key == CSR and 2 * rows_bytes(structure.nrows, structure.ncols, structure.nvals) <= budget):
        return key, ""
    return within(best_known(structure), key, budget)
