"""Registered variants of multivector products on bitmaps: rows of bytes and of words; ANY, BOOL sums, others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semirings import semiring
from semirings.catalog import MONOIDS
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64

from ..kernels.prologue import Variant
from ..plan.product import COUNT, VALUES
from ..verbs.narrow import fill_variant
from ..verbs.narrow_variants import PARTS, WHOLE, across_variant, join_lines_variant, lines_variant

TYPES = (("PTR", INT32), ("COL", INT32))
# (semiring, type of the matrix, type of the bitmap, whether the bitmap is the left operand)
PRODUCTS = (
    ("plus_times", FP32, FP32, False),
    ("plus_first", FP64, FP64, True),
    ("min_plus", INT64, INT64, False),
    ("lor_land", BOOL, BOOL, False),
)


def narrow() -> Iterator[Variant]:
    """All registered variants of multivector products."""
    yield from map(fill_variant, (INT64, FP32))
    for stride in (8, 64):
        for direction, mode in (("pull", WHOLE), ("pull", PARTS), ("push", WHOLE)):
            how: Any = (direction, TYPES, None, BOOL, BOOL, stride, False, 1 + (direction == "pull"), mode, False)
            yield lines_variant(*how)
        for name, a, x, flip in PRODUCTS:
            op = semiring[name][a]
            for mode in (WHOLE, PARTS):
                yield lines_variant("pull", TYPES, op, a, x, stride, flip, min(32, stride), mode, False)
            yield join_lines_variant(op.op.monoid[op.return_type], op.return_type, stride, min(32, stride))
        for name, x in (("plus", FP64), ("lor", BOOL)):
            yield across_variant(MONOIDS[name][x], x, stride, VALUES, min(32, stride))
        yield across_variant(MONOIDS["plus"][FP64], BOOL, stride, COUNT, 1)
