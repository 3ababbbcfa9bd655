"""Cost model of nibble rows (NIB)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..coded import CodedCost, counted_words, mean_words
from ..sampling import Sample
from .encoding import IN_WORD, sizes_of

if TYPE_CHECKING:
    from ..csr.layout import Csr


class NibCost(CodedCost):
    """Rows of nibble gaps."""

    name = "nib"

    def count(self, rows: Csr) -> float:
        return counted_words(rows, sizes_of(rows), IN_WORD)

    def sample(self, of: Sample) -> float:
        nibbles = of.each * float(np.maximum(1, -(-of.gaps.astype(np.int64) // 3)).sum())
        return mean_words(of.nrows, nibbles, IN_WORD)
