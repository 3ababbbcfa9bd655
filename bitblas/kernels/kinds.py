"""Kinds of products, as kernels number them.

See product.cuh: presence only (WORDS), the number of products if all have one value (COUNT), or values (VALUES).
"""

from __future__ import annotations

WORDS, COUNT, VALUES = range(3)
KINDS = ("words", "count", "values")
