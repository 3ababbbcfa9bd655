"""Sizes of the parts of a Split, counted or estimated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..b2sr.choice import word_type
from ..b2sr.merging import Merge
from ..csr.format import Csr
from ..sample import SIZES, Sample
from .layout import Parts, best_parts, log_of, rule_of


def columns_below(csr: Csr) -> list[int]:
    """Entries in columns below 1, 2, 4, .. up to the first power of two above all columns; counted once. Peak memory: a
    byte per entry."""
    if "columns below" not in csr.cache:
        limits, col = [1 << k for k in range((csr.ncols - 1).bit_length() + 1)], csr.col[: csr.nvals]
        found = csr.device.to_host(csr.device.xp.stack([(col < limit).sum() for limit in limits]))
        csr.cache["columns below"] = found.tolist()
    below: list[int] = csr.cache["columns below"]
    return below


def counted(csr: Csr, tile: int) -> tuple[Parts, Merge, Any]:
    """The parts of the Split of these rows, and the Merge and counts that were computed for it."""
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


def paying(of: Sample, tile: int) -> float:
    """The share of the entries in tiles that save space, without near entries."""
    return float(np.count_nonzero(of.fills[SIZES.index(tile)] >= rule_of(of.ncols, tile, 0).far) / len(of.bits))


def sampled_parts(of: Sample, tile: int) -> Parts:
    """The parts of a Split, estimated from a sample of entries."""
    size = SIZES.index(tile)
    fill, tiles, whole = of.fills[size], of.share[size], of.tiles[size]

    def count(near_width: int) -> Parts:
        rule = rule_of(of.ncols, tile, near_width)
        listed = near = fill < rule.far
        if near_width:
            is_near = of.bits <= near_width - log_of(tile)
            near = (fill < rule.near) & is_near
            listed = near | (listed & ~is_near)
        in_near, in_rest = np.count_nonzero(near) if near_width else 0, np.count_nonzero(listed)
        return Parts(whole - float(tiles[listed].sum()), of.each * (in_rest - in_near), of.each * in_near, near_width)

    return best_parts(count, lambda: of.below, of.nrows, of.ncols, tile)
