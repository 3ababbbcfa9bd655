"""Registered variants of special products: complex numbers, degree binning, multivectors, packed values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semirings import binary, monoid, semiring, unary
from semirings.catalog import MONOIDS
from semirings.dtypes import BOOL, FC32, FC64, FP32, FP64, INT32, INT64

from .. import tuning
from ..formats import CSR, FORMATS, format_of
from ..formats.coded import SHORT
from ..kernels.variant import Variant
from ..operations.multivector import fill_variant
from ..operations.spmv_kernels import binned_options
from ..operations.variants import (
    BOTH,
    LEFT,
    PARTS,
    WHOLE,
    elementwise_variant,
    fold_variant,
    hubs_variant,
    join_lines_variant,
    lines_variant,
    merge_variant,
    place_variant,
    pull_variant,
    push_variant,
    reduce_lines_variant,
    reduce_variant,
    vector_variant,
)
from ..plan.epilogue import Epilogue
from ..plan.product import COUNT, VALUES

# ---- Registered variants for complex numbers: each kernel that reads values, once.


def complex_numbers() -> Iterator[Variant]:
    """Products of the forms whose kernels are all registered, and vector kernels."""
    plus_times, end = semiring.plus_times[FC64], Epilogue(FC64, FC64)
    how: dict[str, Any] = {"lanes": 8}
    for format in (format for format in FORMATS.values() if format.registered == "all"):
        types = tuple((name, INT32) for name in format.view.indices)
        ranked = format.ranked  # for kernels that read values of the matrix
        yield pull_variant(
            format.key, types, plus_times, VALUES, FC64, FC64, **how, ranked=ranked, flip=False, full=True, end=end
        )
        yield push_variant(
            format.key, types, semiring.any_first[FC64], VALUES, FC64, FC64, **how, ranked=False, flip=True
        )
    yield hubs_variant(plus_times, VALUES, 1, end)
    yield elementwise_variant(LEFT, unary.exp[FC32], FC32, FC32, "x")[0]
    yield elementwise_variant(BOTH, binary.truediv[FC64], FC64, FC64, "xy")[0]
    yield reduce_variant(monoid.plus[FC64], FC64)[0]
    yield fold_variant(binary.plus[FC64], FC64)[0]
    yield merge_variant(FC64, Epilogue(FC64, FC64, binary.plus[FC64], merge=True))
    yield place_variant(FC64, FC64, values=True)
    yield vector_variant("put", FC64, DENSE=1)


# ---- Registered variants of degree-binned pulls: by degree, without hot columns, packed; codes also masked.


def graded() -> Iterator[Variant]:
    packed = next(format.key for format in FORMATS.values() if format.packed)
    hot = tuning.count("binned.shared.bytes")
    for key, name, dtype, a, shared, width in (
        (CSR, "plus_second", FP32, BOOL, hot, 0),
        (CSR, "plus_second", FP32, BOOL, 0, 0),
        (CSR, "plus_second", FP64, BOOL, hot, 0),
        (CSR, "min_plus", FP32, FP32, hot, 0),
        (packed, "plus_second", FP32, BOOL, hot, 0),
        ("nib", "plus_second", FP32, BOOL, hot, SHORT),
        ("nib", "plus_second", FP32, BOOL, 0, SHORT),
        ("nib", "plus_second", FP64, BOOL, 0, 0),
        ("nib", "min_plus", FP32, FP32, hot, SHORT),
        ("nib", "min_plus", FP32, FP32, 0, SHORT),
        ("cgr", "plus_second", FP32, BOOL, 0, SHORT),
        ("cgr", "plus_second", FP64, BOOL, 0, 0),
        ("cgr", "min_plus", FP32, FP32, 0, SHORT),
    ):
        types = tuple((name, INT32) for name in format_of(key).view.indices)
        op = semiring[name][dtype]
        end = Epilogue(op.return_type, op.return_type)
        how = {"flip": False, "ranked": a is not BOOL, "full": True, "packed": False}
        for masked in (False, True)[: 1 + (format_of(key).kernels["mxv.pull.binned"].masked and dtype is FP32)]:
            options = how | binned_options(key, shared, width, masked)
            yield pull_variant(key, types, op, VALUES, a, dtype, end=end, **options)


# ---- Registered variants of multivector products on bitmaps: rows of bytes and of words; ANY, BOOL sums, others.

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
            yield reduce_lines_variant(MONOIDS[name][x], x, stride, VALUES, min(32, stride))
        yield reduce_lines_variant(MONOIDS["plus"][FP64], BOOL, stride, COUNT, 1)


# ---- Registered variants of products that read packed values: one form of each kind.


def packed_values() -> Iterator[Variant]:
    """Pulls with sparse and full vectors, by rows also staged; pushes."""
    for format in (format for format in FORMATS.values() if format.kernels["mxv.pull"].fused or format.packed):
        dtype = FP32 if format.packed else INT64
        args = (
            format.key,
            tuple((name, INT32) for name in format.view.indices),
            semiring.min_plus[dtype],
            VALUES,
            dtype,
            dtype,
        )
        how: dict[str, Any] = {"ranked": format.ranked, "lanes": 8, "packed": True}
        for full in (False, True):
            end, staged = Epilogue(dtype, dtype), int(full and format.by_rows)
            yield pull_variant(*args, **how, flip=False, full=full, end=end, staged=staged)
        yield push_variant(*args, **how, flip=True)
