"""Registered variants for complex numbers: each kernel that reads values, once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semirings import binary, monoid, semiring, unary
from semirings.dtypes import FC32, FC64, INT32

from ..formats import FORMATS
from ..kernels.prologue import Variant
from ..plan.ending import End
from ..plan.product import VALUES
from ..verbs.variants import (
    BOTH,
    LEFT,
    elementwise_variant,
    fold_variant,
    hubs_variant,
    merge_variant,
    place_variant,
    pull_variant,
    push_variant,
    reduce_variant,
    vector_variant,
)


def complex_numbers() -> Iterator[Variant]:
    """Products of the forms whose kernels are all registered, and vector kernels."""
    plus_times, end = semiring.plus_times[FC64], End(FC64, FC64)
    how: dict[str, Any] = {"lanes": 8}
    for format in (format for format in FORMATS.values() if format.registered == "all"):
        types = tuple((name, INT32) for name in format.indices)
        ranked = format.ranked  # for kernels that read values of the matrix
        yield pull_variant(
            format.key, types, plus_times, VALUES, FC64, FC64, **how, ranked=ranked, flip=False, full=True, end=end
        )  # fmt: skip
        yield push_variant(
            format.key, types, semiring.any_first[FC64], VALUES, FC64, FC64, **how, ranked=False, flip=True
        )  # fmt: skip
    yield hubs_variant(plus_times, VALUES, 1, end)
    yield elementwise_variant(LEFT, unary.exp[FC32], FC32, FC32, "x")[0]
    yield elementwise_variant(BOTH, binary.truediv[FC64], FC64, FC64, "xy")[0]
    yield reduce_variant(monoid.plus[FC64], FC64)[0]
    yield fold_variant(binary.plus[FC64], FC64)[0]
    yield merge_variant(FC64, End(FC64, FC64, binary.plus[FC64], merge=True))
    yield place_variant(FC64, FC64, values=True)
    yield vector_variant("put", FC64, DENSE=1)
