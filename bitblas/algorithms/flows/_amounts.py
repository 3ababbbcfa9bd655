"""Exact arithmetic on capacities and flows of any size, stored as FP64 or UINT64 arrays."""

import math
import sys

LARGEST, SMALLEST = sys.float_info.max, math.ulp(0.0)  # floats above 0


def holds_floats(A, gb):
    return A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64)


def most_at_a_vertex(A, gb):
    """A bound of the sum of the capacities of the edges of a vertex, both ways: a float."""
    plus, most = gb.monoid.plus[gb.dtypes.FP64], gb.monoid.max[gb.dtypes.FP64]
    sums = A.reduce_rowwise(plus).new(), A.reduce_columnwise(plus).new()
    return sum(max(0.0, float(x.reduce(most, allow_empty=False).new().value)) for x in sums)


def bits_of(total):
    """The least k with total < 2^k, of an int or a float."""
    return math.frexp(total)[1] if isinstance(total, float) else total.bit_length()


def times_power(x, bits):
    """x times 2^bits, for an array of FP64 or UINT64, or a float; bits of UINT64 that are shifted out are lost."""
    if isinstance(x, float) or x.dtype.kind == "f":
        half = bits // 2  # 2^bits may be no float
        return x * 2.0**half * 2.0 ** (bits - half)
    return x << x.dtype.type(bits) if bits >= 0 else x >> x.dtype.type(-bits)


def lesser(x, y):
    """The lesser of two numbers, for arrays of any device."""
    return x * (x <= y) + y * (x > y)


def total(x):
    """The sum of an array of FP64, as a float, or of UINT64, as a Python int of any size."""
    if x.dtype.kind == "f":
        return float(x.sum())
    half = x.dtype.type(32)
    high = x >> half
    return (int(high.sum()) << 32) + int((x - (high << half)).sum())


def arcs_of(A, gb, kind):
    """Rows, columns and capacities of the edges, by row, each with the one back, whose capacity may be 0."""
    B = A.dup(kind)
    # B = A without its diagonal; B += 0 A'
    B << B.select(gb.select.offdiag)
    zeros = B.apply(gb.binary.times, right=0).new()
    B(gb.binary.plus) << zeros.T
    i, j, capacity = B.to_coo()
    return i.astype("int64"), j.astype("int64"), capacity
