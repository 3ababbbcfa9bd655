"""Numbers shared by kernels and their callers: kinds of products, and return codes of CPU kernels.

Kinds (product.cuh): presence only (WORDS), the number of products if all have one value (COUNT), or values (VALUES).
"""

from __future__ import annotations

# ---- Kinds of products, as kernels number them.
#
# See product.cuh: presence only (WORDS), the number of products if all have one value (COUNT), or values (VALUES).

WORDS, COUNT, VALUES = range(3)
KINDS = ("words", "count", "values")


# ---- Constants shared by CPU kernels and their callers.

OTHERS = 1  # return code: the arguments have other types; nothing ran
NO_MEMORY = 2  # return code: a scratch array could not be allocated
