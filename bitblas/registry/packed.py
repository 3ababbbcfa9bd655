"""Registered variants of products that read packed values: one form of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semirings import semiring
from semirings.dtypes import FP32, INT32, INT64

from ..formats import FORMATS
from ..kernels.prologue import Variant
from ..plan.ending import End
from ..plan.product import VALUES
from ..verbs.variants import pull_variant, push_variant


def packed_values() -> Iterator[Variant]:
    """Pulls with sparse and full vectors, by rows also staged; pushes."""
    for format in (format for format in FORMATS.values() if format.fused or format.packed):
        dtype = FP32 if format.packed else INT64
        args = (
            format.key,
            tuple((name, INT32) for name in format.indices),
            semiring.min_plus[dtype],
            VALUES,
            dtype,
            dtype,
        )
        how: dict[str, Any] = {"ranked": format.ranked, "lanes": 8, "packed": True}
        for full in (False, True):
            end, staged = End(dtype, dtype), int(full and format.by_rows)
            yield pull_variant(*args, **how, flip=False, full=full, end=end, staged=staged)
        yield push_variant(*args, **how, flip=True)
