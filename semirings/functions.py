"""Functions that operator expressions call, in Python: run on the host and compiled by Numba.

`functions.cuh` defines the same functions in CUDA C++, where those of C99's <math.h> are built in; `laws.py` checks
that both agree. All value arguments of a call have the same type.
"""

import math

import numpy as np

acos, acosh, asin, asinh, atan, atanh = np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan, np.arctanh
sin, cos, tan, sinh, cosh, tanh = np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh
exp, exp2, expm1, log, log10, log1p, log2 = np.exp, np.exp2, np.expm1, np.log, np.log10, np.log1p, np.log2
sqrt, cbrt, ceil, floor, trunc, fmod = np.sqrt, np.cbrt, np.ceil, np.floor, np.trunc, np.fmod
atan2, hypot, copysign, isfinite, isinf, isnan = np.arctan2, np.hypot, np.copysign, np.isfinite, np.isinf, np.isnan
erf, erfc = math.erf, math.erfc
INF, NAN = np.inf, np.nan
LOG_2, LOG_10, HALF_PI = 0.6931471805599453, 2.302585092994046, 1.5707963267948966


def where(condition, x, y):
    return x if condition else y


def plus(x, y):
    """Integer sums, differences and products wrap; those of BOOL are or, xor and and."""
    return x + y


def minus(x, y):
    return x - y


def times(x, y):
    return x * y


def negative(x):
    return -x


def inverted(x):
    """All bits of an integer flipped."""
    return ~x


def absolute(x):
    return abs(x)


def least(x, y):
    """fmin: a number is preferred to NaN (GraphBLAS C API 2.1, table 3.9)."""
    return x if (x < y or y != y) else y


def greatest(x, y):
    """fmax: a number is preferred to NaN."""
    return x if (x > y or y != y) else y


def power(x, k):
    """The product of k >= 1 factors x, by squaring."""
    z = x
    k = k - 1
    while k > 0:
        if k & 1:
            z = z * x
        x = x * x
        k = k >> 1
    return z


# ---- integer division, as in SuiteSparse: x / 0 is the greatest or least value, 0 / 0 is 0 --------------------------


def quotient(x, y, bits):
    """x / y truncated towards zero. The least value divided by -1 is itself."""
    if y == 0:
        return 0 if x == 0 else (1 << (bits - 1)) - 1 if x > 0 else -(1 << (bits - 1))
    if y == -1:
        return x * y
    z = x // y
    return z + 1 if z < 0 and z * y != x else z


def unsigned_quotient(x, y):
    if y == 0:
        return x if x == 0 else ~(x & y)
    return x // y


def floor_quotient(x, y):
    """x / y rounded towards minus infinity; 0 if y is 0, as in NumPy."""
    return x * y if y == 0 or y == -1 else x // y


def unsigned_floor_quotient(x, y):
    return x * y if y == 0 else x // y


def floored(x, y):
    """x // y of floating-point numbers, as in Python; x / y if y is 0, as in NumPy."""
    if y == 0:
        return x / y
    rest = fmod(x, y)
    z = (x - rest) / y
    if rest != 0 and (y < 0) != (rest < 0):
        z = z - 1.0
    if z == 0:
        return copysign(0.0, x / y)
    down = floor(z)
    return down + 1.0 if z - down > 0.5 else down


def modulus(x, y):
    """x - y * floor_quotient(x, y), but 0 if y is 0, as in NumPy."""
    return x - x if y == 0 or y == -1 else x % y


def unsigned_modulus(x, y):
    return x - x if y == 0 else x % y


def real_modulus(x, y):
    """The remainder of floored(x, y), with the sign of y; NaN if y is 0."""
    rest = fmod(x, y)
    if rest == 0:
        return copysign(0.0, y)
    return rest + y if (y < 0) != (rest < 0) and rest == rest else rest


# ---- bits -----------------------------------------------------------------------------------------------------------


def shift(x, y):
    """x << y, or x >> -y with the sign kept; y is taken as INT8, as in SuiteSparse."""
    k = np.int64(y) & 255
    k = k - 256 if k > 127 else k
    if k >= 0:
        return np.uint64(x) << np.uint64(k) if k < 64 else np.uint64(0)
    z = np.uint64(x) if x >= 0 else np.uint64(~x)  # an arithmetic shift of x is the shift of ~x, inverted
    z = z >> np.uint64(-k) if k > -64 else np.uint64(0)
    return z if x >= 0 else ~z


def numbered_bit(y, bits):
    """Bit number y, counted from 1; no bit if y is out of range."""
    return np.uint64(1) << np.uint64(y - 1) if y >= 1 and y <= bits else np.uint64(0)


def get_bit(x, y, bits):
    return (np.uint64(x) & numbered_bit(y, bits)) != 0


def include_bit(x, y, bits):
    return np.uint64(x) | numbered_bit(y, bits)


def clear_bit(x, y, bits):
    return np.uint64(x) & ~numbered_bit(y, bits)


# ---- C99 functions that NumPy or Numba lack, or for which the math module raises at the edges -----------------------


def rounded(x):
    """The nearest integer, ties away from zero."""
    z = trunc(x)
    return z + copysign(1.0, x) if absolute(x - z) >= 0.5 else z


def signum(x):
    return 1.0 if x > 0 else -1.0 if x < 0 else x


def fraction_of(x):
    """The fraction of frexp, in [0.5, 1); non-finite values are returned unchanged."""
    return math.frexp(x)[0] if isfinite(x) else x


def exponent_of(x):
    """The exponent of frexp; 0 for non-finite values."""
    return math.frexp(x)[1] if isfinite(x) else 0


def scaled(x, y):
    """x * 2**y, y truncated towards zero."""
    return np.ldexp(x, np.int32(least(greatest(y, -5000.0), 5000.0)))


def remainder(x, y):
    """x - n y, n being the integer nearest to x / y, ties to even: IEEE 754, section 5.3.1."""
    if y == 0 or y != y or not isfinite(x):
        return fmod(x, y)
    if isinf(y):
        return x
    z, width = absolute(x), absolute(y)
    z = fmod(z, width + width)
    if z + z > width:
        z = z - width
        if z + z >= width:
            z = z - width
    return -z if copysign(1.0, x) < 0 else z


def tgamma(x):
    if x == 0 or absolute(x) < 1e-300:
        return 1 / x
    if x > 171.6243769563027 or x != x:
        return x if x != x else INF
    return math.gamma(x) if x > 0 or x != floor(x) else NAN


def lgamma(x):
    return INF if x >= 2.5563481638716906e305 or (x <= 0 and x == floor(x)) else math.lgamma(x)


def raised(x, y):
    """x**y; NaN if either is NaN, even NaN**0, as in SuiteSparse. If both are integers and the power is below 2**64 it
    is rounded once, so that integers agree on every device.
    """
    if x != x or y != y:
        return x + y
    if y >= 0 and y <= 64 and y == floor(y) and absolute(x) < 1.8e19 and x == floor(x):
        base = np.uint64(absolute(x))
        z = np.uint64(1)
        for _ in range(int(y)):
            if np.float64(z) * np.float64(base) > 1.844674407370955e19:
                return x**y
            z = z * base
        return -np.float64(z) if x < 0 and fmod(y, 2.0) != 0 else np.float64(z)
    return x**y


def binomial(n, k):
    """n over k in INT64; 0 if an intermediate product overflows, or if k is not in 0..n."""
    if k > n or k < 0:
        return 0
    z = 1
    for i in range(min(k, n - k)):
        if z > 9223372036854775807 // (n - i):
            return 0
        z = z * (n - i) // (i + 1)
    return z


def near(x, y, rel_tol, abs_tol):
    """Whether the distance is within the larger of two bounds, as math.isclose."""
    return x == y or absolute(x - y) <= greatest(rel_tol * greatest(absolute(x), absolute(y)), abs_tol)
