"""Cost model of CGR."""

from __future__ import annotations

import numpy as np

from ...typing import Array
from .. import coded
from ..sampling import Sample

LEAST = 4  # least columns of an interval; also in walk.cuh and rows.cpu.py


def gamma_bits(x: Array | float) -> Array:
    """Bits of the gamma code of a number, or of a mean."""
    return 2 * np.floor(np.log2(x + 1.0)) + 1


class CgrCost(coded.CodedCost):
    """Rows of intervals and residuals."""

    name, code = "cgr", coded.CGR

    def sample(self, of: Sample) -> float:
        """Of entries in intervals from the mean interval length."""
        gaps, size = of.gaps.astype(np.int64), len(of.gaps)
        inside, begins = of.runs > 0, of.runs > 1
        others, starts = gaps[~inside], gaps[begins]
        rows = max(1.0, min(of.nrows, of.each * size))
        each = of.each / rows  # entries per row that a sample represents
        # A number of b bits is at least 2^(b - 1); adding 1 seldom changes the bit length.
        bits = 4.0 * (np.maximum(0, others - 1) // 3 + 1).sum() + (2.0 * np.maximum(0, starts - 1) + 1).sum()
        bits += len(starts) * gamma_bits(max(0.0, inside.sum() / max(1, len(starts)) - LEAST))
        heads = rows * (2 + gamma_bits(each * len(starts)) + gamma_bits(each * len(others)))
        return self.code.mean_words(of.nrows, of.each * float(bits) + float(heads))
