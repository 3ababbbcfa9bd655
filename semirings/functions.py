"""What the operator expressions of the catalogue may call, in Python: read by the host and by Numba.

`functions.cuh` holds the same functions, with the same names, for CUDA C++; `laws.py` checks that both agree.
All value arguments of one call have one type.
"""


def where(condition, x, y):
    return x if condition else y


def plus(x, y):
    """Sums, differences and products of integers wrap; those of BOOL are or, xor and and."""
    return x + y


def minus(x, y):
    return x - y


def times(x, y):
    return x * y


def negative(x):
    return -x


def absolute(x):
    return abs(x)


def least(x, y):
    """fmin: a NaN loses against a number (GraphBLAS C API 2.1, table 3.9)."""
    return x if (x < y or y != y) else y


def greatest(x, y):
    """fmax: a NaN loses against a number."""
    return x if (x > y or y != y) else y


def power(x, k):
    """x multiplied k >= 1 times, by squaring."""
    z = x
    k = k - 1
    while k > 0:
        if k & 1:
            z = z * x
        x = x * x
        k = k >> 1
    return z
