"""Registered variants of degree-binned pulls: by degree, without hot columns, packed; codes also masked."""

from __future__ import annotations

from collections.abc import Iterator

from semirings import semiring
from semirings.dtypes import BOOL, FP32, FP64, INT32

from ..formats import CSR, FORMATS, format_of
from ..formats.coded_choice import SHORT
from ..kernels.prologue import Variant
from ..plan.ending import End
from ..plan.product import HOT_BYTES, VALUES
from ..verbs.graded import graded_variant


def graded() -> Iterator[Variant]:
    packed = next(format.key for format in FORMATS.values() if format.packed)
    for key, name, dtype, a, shared, width in (
        (CSR, "plus_second", FP32, BOOL, HOT_BYTES[0], 0),
        (CSR, "plus_second", FP32, BOOL, 0, 0),
        (CSR, "plus_second", FP64, BOOL, HOT_BYTES[0], 0),
        (CSR, "min_plus", FP32, FP32, HOT_BYTES[0], 0),
        (packed, "plus_second", FP32, BOOL, HOT_BYTES[0], 0),
        ("nib", "plus_second", FP32, BOOL, HOT_BYTES[0], SHORT),
        ("nib", "plus_second", FP32, BOOL, 0, SHORT),
        ("nib", "plus_second", FP64, BOOL, 0, 0),
        ("nib", "min_plus", FP32, FP32, HOT_BYTES[0], SHORT),
        ("nib", "min_plus", FP32, FP32, 0, SHORT),
        ("cgr", "plus_second", FP32, BOOL, 0, SHORT),
        ("cgr", "plus_second", FP64, BOOL, 0, 0),
        ("cgr", "min_plus", FP32, FP32, 0, SHORT),
    ):
        types = tuple((name, INT32) for name in format_of(key).indices)
        op = semiring[name][dtype]
        end = End(op.return_type, op.return_type)
        how = {"flip": False, "ranked": a is not BOOL, "full": True, "packed": False}
        yield graded_variant(key, types, op, VALUES, a, dtype, end, shared, width, **how)
        if format_of(key).grades_masked and dtype is FP32:
            yield graded_variant(key, types, op, VALUES, a, dtype, end, shared, width, masked=True, **how)
