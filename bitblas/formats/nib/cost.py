"""Cost model of nibble rows (NIB)."""

from __future__ import annotations

import numpy as np

from .. import coded
from ..sampling import Sample


class NibCost(coded.CodedCost):
    """Rows of nibble gaps."""

    name, code = "nib", coded.NIB

    def sample(self, of: Sample) -> float:
        nibbles = of.each * float(np.maximum(1, -(-of.gaps.astype(np.int64) // 3)).sum())
        return self.code.mean_words(of.nrows, nibbles)
