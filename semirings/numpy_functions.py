"""NumPy functions without a GraphBLAS operator, in Python: run on the host and compiled by Numba.

`numpy_functions.cuh` defines the same functions in CUDA C++. Operators that use them carry the text of either file.
"""

import numpy as np

from .functions import absolute, copysign, exp, exp2, log1p, modulus


def sign_bit(x):
    return copysign(1.0, x) < 0


def next_after(x, y):
    """The next number after x towards y."""
    return np.nextafter(x, y)


def spacing_of(x):
    """The distance to the next number away from zero; NaN at infinities."""
    return np.spacing(absolute(x) if x == 0 else x)


def rest(x, y):
    """The remainder of x / y truncated towards zero, with the sign of x; 0 if y is 0."""
    z = modulus(x, y)
    return z - y if z != 0 and (z < 0) != (x < 0) else z


def magnitude(x):
    """abs(x), also for the least integer."""
    return np.uint64(abs(np.int64(x)))


def common_divisor(x, y):
    x, y = np.uint64(x), np.uint64(y)
    while y != 0:
        x, y = y, x % y
    return x


def common_multiple(x, y):
    x, y = np.uint64(x), np.uint64(y)
    return x // common_divisor(x, y) * y if x != 0 and y != 0 else np.uint64(0)


def shifted_left(x, y, bits):
    """x << y; 0 if y is the width of the type or more."""
    return np.uint64(x) << np.uint64(y) if y >= 0 and y < bits else np.uint64(0)


def shifted_right(x, y, bits):
    """x >> y with the sign kept; 0 or -1 if y is the width of the type or more."""
    z = np.uint64(x) if x >= 0 else np.uint64(~x)
    z = z >> np.uint64(y) if y >= 0 and y < bits else np.uint64(0)
    return z if x >= 0 else ~z


def log_sum(x, y):
    """log(exp(x) + exp(y)), without intermediate overflow."""
    if x == y:
        return x + 0.6931471805599453
    return x + log1p(exp(y - x)) if x > y else y + log1p(exp(x - y)) if x < y else x + y


def log_sum2(x, y):
    """log2(2**x + 2**y), without intermediate overflow."""
    if x == y:
        return x + 1.0
    if x > y:
        return x + 1.4426950408889634 * log1p(exp2(y - x))
    return y + 1.4426950408889634 * log1p(exp2(x - y)) if x < y else x + y
