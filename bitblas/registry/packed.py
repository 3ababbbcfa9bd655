"""The variants of products that read packed values which are registered: one form of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semirings import semiring
from semirings.dtypes import FP32, INT32, INT64

from ..formats import CSR, MPLG, ROWS
from ..kernels.prologue import Variant
from ..plan.ending import End
from ..plan.product import VALUES
from ..verbs.variants import pull_variant, push_variant

FORMS = {CSR: INT64, MPLG: FP32, "b2sr8": INT64, "split8": INT64}  # and the type of the values


def packed_values() -> Iterator[Variant]:
    """Pulls of some entries of the vector and of all, by rows those read as a run; pushes."""
    for key, dtype in FORMS.items():
        names = ("PTR", "COL") if key in ROWS else ("PTR", "COL", "PLACE") if key != "split8" else ("PTR", "PLACE")
        args = key, tuple((name, INT32) for name in names), semiring.min_plus[dtype], VALUES, dtype, dtype
        how: dict[str, Any] = {"ranked": key not in ROWS, "lanes": 8, "packed": True}
        for full in (False, True):
            end, staged = End(dtype, dtype), full and key in ROWS
            yield pull_variant(*args, **how, flip=False, full=full, end=end, staged=staged)
        yield push_variant(*args, **how, flip=True)
