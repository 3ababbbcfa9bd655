"""The parts of the Split of some rows, counted or estimated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..b2sr.choice import word_type
from ..b2sr.merging import Merge
from ..csr.format import Csr
from ..sample import Sample
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


def sampled_parts(of: Sample, tile: int) -> Parts:
    """The same of a sample of rows, estimated for all."""

    def below() -> list[float]:
        """As `columns_below`."""
        entries = np.bincount(np.searchsorted(of.chosen, of.rows // 64), minlength=len(of.chosen))
        weight = np.repeat(of.weights, entries)
        return [float(weight[of.cols < 1 << k].sum()) for k in range((of.ncols - 1).bit_length() + 1)]

    keys = np.sort((of.rows // tile << 32) | (of.cols // tile))
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    held = np.diff(starts, append=len(keys))
    tile_col = keys[starts] & 0xFFFFFFFF
    weight = of.weights[np.searchsorted(of.chosen, (keys[starts] >> 32) // (64 // tile))]

    def count(near_width: int) -> Parts:
        rule = rule_of(of.ncols, tile, near_width)
        near = tile_col < rule.limit
        pays = held >= np.where(near, rule.near, rule.far)
        listed = weight * held * ~pays
        return Parts(float(weight[pays].sum()), float(listed[~near].sum()), float(listed[near].sum()), near_width)

    return best_parts(count, below, of.nrows, of.ncols, tile)
