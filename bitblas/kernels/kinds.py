"""What a product adds up, by number, as kernels are told (product.cuh): presence alone (WORDS), how many products there
are, all of one value (COUNT), or their values."""

from __future__ import annotations

WORDS, COUNT, VALUES = range(3)
KINDS = ("words", "count", "values")
