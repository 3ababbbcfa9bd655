"""Some entries of a matrix, from which formats estimate what they would hold of all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SAMPLES = 64  # blocks of 64 rows that are looked at, fewer where they hold more than
SAMPLED_ENTRIES = 1 << 16  # in all; but eight blocks at least


class Sample(NamedTuple):
    """Entries of some blocks of 64 rows, the numbers of these, and how many blocks each stands for. Columns beyond
    2**34 are numbered anew, so that a number of a tile and one of a row share 64 bits."""

    rows: Any
    cols: Any
    chosen: Any
    weights: Any
    nrows: int
    ncols: int


def picked(rows: Any) -> Sample:
    """Up to 64 blocks, evenly spaced, as in the B2SR paper (Algorithm 1). rows: a form by rows, on the CPU."""
    blocks = -(-rows.nrows // 64)
    picks = min(SAMPLES, max(8, SAMPLED_ENTRIES * rows.nrows // (64 * rows.nvals)))
    # Evenly spaced entries pick the blocks, so that a block counts by its size and a hub is not taken for the rule:
    # tiles = entries * the mean of tiles / entries over the picks.
    limits = rows.ptr[np.minimum(np.arange(blocks + 1) * 64, rows.nrows)].astype(np.int64)
    if blocks <= SAMPLES and rows.nvals <= SAMPLED_ENTRIES:  # small: look at everything
        chosen, weights = np.arange(blocks), np.ones(blocks)
    else:
        places = (np.arange(picks) + 0.5) * rows.nvals / picks
        chosen, times = np.unique(np.searchsorted(limits, places, side="right") - 1, return_counts=True)
        weights = times / np.diff(limits)[chosen] * rows.nvals / picks
    seen_rows, seen_cols = [], []
    for block in chosen:
        ptr = rows.ptr[block * 64 : block * 64 + 65].astype(np.int64)
        seen_rows.append(np.repeat(np.arange(len(ptr) - 1) + block * 64, np.diff(ptr)))
        seen_cols.append(rows.columns(int(ptr[0]), int(ptr[-1])).astype(np.int64))
    cols = np.concatenate(seen_cols)
    if rows.ncols > 1 << 34:  # what shares a tile still does
        cols = np.unique(cols >> 6, return_inverse=True)[1] << 6 | cols & 63
    return Sample(np.concatenate(seen_rows), cols, chosen, weights, rows.nrows, rows.ncols)
