"""Exact arithmetic on capacities and flows of any size, stored as FP64 or UINT64 arrays."""

import math
import sys

LARGEST, SMALLEST = sys.float_info.max, math.ulp(0.0)  # the positive floats


def holds_floats(A, gb):
    return A.dtype in (gb.dtypes.FP32, gb.dtypes.FP64)


def most_at_a_vertex(A, gb):
    """An upper bound of the total capacity of the edges at one vertex, in and out: a float."""
    plus, most = gb.monoid.plus[gb.dtypes.FP64], gb.monoid.max[gb.dtypes.FP64]
    sums = A.reduce_rowwise(plus).new(), A.reduce_columnwise(plus).new()
    return sum(max(0.0, float(x.reduce(most, allow_empty=False).new().value)) for x in sums)


def bits_of(total):
    """The least k with total < 2^k, for an int or a float."""
    return math.frexp(total)[1] if isinstance(total, float) else total.bit_length()


def times_power(x, bits):
    """x times 2^bits, for an FP64 or UINT64 array, or a float; UINT64 bits that are shifted out are lost."""
    if isinstance(x, float) or x.dtype.kind == "f":
        half = bits // 2  # 2^bits may overflow a float
        return x * 2.0**half * 2.0 ** (bits - half)
    return x << x.dtype.type(bits) if bits >= 0 else x >> x.dtype.type(-bits)


def minimum(x, y):
    """The element-wise minimum, for arrays of any device."""
    return x * (x <= y) + y * (x > y)


def total(x):
    """The exact sum of an FP64 array, as a float, or of a UINT64 array, as a Python int of any size."""
    if x.dtype.kind == "f":
        return float(x.sum())
    half = x.dtype.type(32)
    high = x >> half
    return (int(high.sum()) << 32) + int((x - (high << half)).sum())


def arcs_of(A, gb, kind):
    """Rows, columns and capacities of the edges, by row; each edge has a reverse arc, of capacity 0 if missing in A."""
    B = A.dup(kind)
    # B = A off the diagonal; B += 0 A'
    B << B.select(gb.select.offdiag)
    zeros = B.apply(gb.binary.times, right=0).new()
    B(gb.binary.plus) << zeros.T
    i, j, capacity = B.to_coo()
    return i.astype("int64"), j.astype("int64"), capacity
