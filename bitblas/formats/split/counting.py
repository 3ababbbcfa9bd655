"""The parts of the Split of some rows, counted."""

from __future__ import annotations

from typing import Any

from ..b2sr.choice import word_type
from ..b2sr.merging import Merge
from ..csr.format import Csr
from .layout import Parts, best_parts, rule_of


def columns_below(csr: Csr) -> list[int]:
    """The entries in columns below 1, 2, 4, .. up to the first power of two that all are below; counted once. Peak
    memory: a byte per entry."""
    if "columns below" not in csr.cache:
        limits, col = [1 << k for k in range((csr.ncols - 1).bit_length() + 1)], csr.col[: csr.nvals]
        found = csr.device.to_host(csr.device.xp.stack([(col < limit).sum() for limit in limits]))
        csr.cache["columns below"] = found.tolist()
    below: list[int] = csr.cache["columns below"]
    return below


def counted(csr: Csr, tile: int) -> tuple[Parts, Merge, Any]:
    """The parts of the Split of these rows, and what counted them."""
    merge, counts = Merge(csr, tile, word_type(tile)), {}

    def count(near_width: int) -> Parts:
        out = counts[near_width] = merge.count(rule_of(csr.ncols, tile, near_width))
        tiles, near, far = csr.device.to_host(out[:, -1]).tolist()
        return Parts(tiles, far, near, near_width)

    parts = best_parts(count, lambda: columns_below(csr), csr.nrows, csr.ncols, tile)
    return parts, merge, counts[parts.near_width]


def count_parts(csr: Csr, tile: int) -> Parts:
    """The parts of the Split of these rows."""
    return counted(csr, tile)[0]
