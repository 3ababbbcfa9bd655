"""Functions that complex operators call, in Python: run on the host and compiled by Numba.

`complex.cuh` defines the same functions in CUDA C++. Complex results are FC64 for all argument types. Formulas: W.
Kahan, Branch cuts for complex elementary functions (1987), without its treatment of infinities, where annex G of C99 is
not followed.
"""

from __future__ import annotations

import numpy as np

from .functions import (
    HALF_PI,
    INF,
    LOG_2,
    LOG_10,
    NAN,
    absolute,
    asinh,
    atan2,
    ceil,
    copysign,
    cos,
    cosh,
    exp,
    exp2,
    expm1,
    floor,
    hypot,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    raised,
    rounded,
    sin,
    sinh,
    sqrt,
    tan,
    trunc,
)

# ---- Functions that complex operators call, in Python: run on the host and compiled by Numba.
#
# `complex.cuh` defines the same functions in CUDA
# C++. Complex results are FC64 for all argument types. Formulas: W. Kahan, Branch cuts for complex elementary functions
# (1987), without its treatment of infinities, where annex G of C99 is not followed.


def cartesian(x, y):
    return np.complex128(complex(x, y))


def real_part(x):
    return x.real


def imaginary_part(x):
    return x.imag


def conjugate(x):
    return np.conj(x)


def magnitude_of(x):
    return hypot(x.real, x.imag)


def angle_of(x):
    return atan2(x.imag, x.real)


def multiple_of(x, k):
    """The sum of k numbers x."""
    return cartesian(x.real * k, x.imag * k)


# ---- SuiteSparse's definitions --------------------------------------------------------------------------------------


def complex_quotient(x, y):
    """x / y by R. Smith's algorithm, with special cases for real, imaginary and infinite y."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if d == 0:
        return cartesian(a / c, b / c)
    if c == 0:
        return cartesian(b / d, -a / d)
    if isinf(c) and isinf(d):
        sign = 1.0 if (c < 0) == (d < 0) else -1.0
        whole = c + sign * d
        return cartesian((a + b * sign) / whole, (b - a * sign) / whole)
    if absolute(c) < absolute(d):
        ratio = c / d
        whole = ratio * c + d
        return cartesian((a * ratio + b) / whole, (b * ratio - a) / whole)
    ratio = d / c
    whole = ratio * d + c
    return cartesian((a + b * ratio) / whole, (b - a * ratio) / whole)


def complex_power(x, y):
    if x.imag == 0 and y.imag == 0 and (x.real >= 0 or isnan(y.real) or isinf(y.real) or y.real == trunc(y.real)):
        return cartesian(raised(x.real, y.real), 0.0)
    if complex_isnan(x) or complex_isnan(y):
        return cartesian(NAN, NAN)
    if y.real == 0 and y.imag == 0:
        return cartesian(1.0, 0.0)
    if x.real == 0 and x.imag == 0:
        return cartesian(0.0, 0.0) if y.real > 0 else cartesian(NAN, NAN)
    z = complex_log(x)
    return complex_exp(cartesian(y.real * z.real - y.imag * z.imag, y.real * z.imag + y.imag * z.real))


def complex_ceil(x):
    return cartesian(ceil(x.real), ceil(x.imag))


def complex_floor(x):
    return cartesian(floor(x.real), floor(x.imag))


def complex_trunc(x):
    return cartesian(trunc(x.real), trunc(x.imag))


def complex_rounded(x):
    return cartesian(rounded(x.real), rounded(x.imag))


def complex_signum(x):
    """x / abs(x); 0 for 0."""
    if x.real == 0 and x.imag == 0:
        return cartesian(0.0, 0.0)
    size = magnitude_of(x)
    return cartesian(x.real / size, x.imag / size)


def complex_isfinite(x):
    return isfinite(x.real) and isfinite(x.imag)


def complex_isinf(x):
    return isinf(x.real) or isinf(x.imag)


def complex_isnan(x):
    return isnan(x.real) or isnan(x.imag)


def complex_near(x, y, rel_tol, abs_tol):
    """Whether the distance is within the larger of two bounds, as cmath.isclose."""
    if x.real == y.real and x.imag == y.imag:
        return True
    apart, p, q = hypot(x.real - y.real, x.imag - y.imag), magnitude_of(x), magnitude_of(y)
    relative = rel_tol * (p if p > q or isnan(q) else q)
    return apart <= (relative if relative > abs_tol else abs_tol)


# ---- exponentials and logarithms ------------------------------------------------------------------------------------


def complex_exp(x):
    size = exp(x.real)
    return cartesian(size, x.imag) if x.imag == 0 else cartesian(size * cos(x.imag), size * sin(x.imag))


def complex_exp2(x):
    size = exp2(x.real)
    turn = x.imag * LOG_2
    return cartesian(size, x.imag) if x.imag == 0 else cartesian(size * cos(turn), size * sin(turn))


def complex_expm1(x):
    size = exp(x.real)
    half = sin(0.5 * x.imag)
    if x.imag == 0:
        return cartesian(expm1(x.real), x.imag)
    return cartesian(expm1(x.real) * cos(x.imag) - 2.0 * half * half, size * sin(x.imag))


def complex_log(x):
    size, p, q = magnitude_of(x), absolute(x.real), absolute(x.imag)
    if size > 0.5 and size < 2.0:  # log(size) would lose its significant digits here
        larger, smaller = (p, q) if p > q else (q, p)
        return cartesian(0.5 * log1p((larger - 1.0) * (larger + 1.0) + smaller * smaller), angle_of(x))
    if isinf(size):
        return cartesian(log(hypot(0.5 * p, 0.5 * q)) + LOG_2, angle_of(x))
    return cartesian(log(size), angle_of(x))


def complex_log1p(x):
    size = hypot(1.0 + x.real, x.imag)
    if size > 0.5 and size < 2.0:
        return cartesian(0.5 * log1p(x.real * (2.0 + x.real) + x.imag * x.imag), atan2(x.imag, 1.0 + x.real))
    return complex_log(cartesian(1.0 + x.real, x.imag))


def complex_log2(x):
    z = complex_log(x)
    return cartesian(z.real / LOG_2, z.imag / LOG_2)


def complex_log10(x):
    z = complex_log(x)
    return cartesian(z.real / LOG_10, z.imag / LOG_10)


def complex_sqrt(x):
    a, b = x.real, x.imag
    if a == 0 and b == 0:
        return cartesian(0.0, b)
    if isinf(b):
        return cartesian(INF, b)
    if isinf(a):
        return cartesian(a, b - b) if a > 0 else cartesian(b - b, copysign(INF, b))
    scale = 1.0  # avoids overflow and underflow of the sum of squares
    if absolute(a) > 1e300 or absolute(b) > 1e300:
        scale = 0.25
    elif absolute(a) < 1e-290 and absolute(b) < 1e-290:
        scale = 1.329227995784916e36
    back = 1.0 / sqrt(scale)
    a, b = a * scale, b * scale
    root = sqrt(0.5 * (absolute(a) + hypot(a, b)))
    other = b / (2.0 * root)
    return (
        cartesian(root * back, other * back) if a >= 0 else cartesian(absolute(other) * back, copysign(root, b) * back)
    )


# ---- NumPy functions that GraphBLAS lacks ---------------------------------------------------------------------------


def complex_reciprocal(x):
    """1 / x as in NumPy: NaN if x is 0."""
    if absolute(x.real) >= absolute(x.imag):
        ratio = x.imag / x.real
        whole = x.real + x.imag * ratio
        return cartesian(1.0 / whole, -ratio / whole)
    ratio = x.real / x.imag
    whole = x.real * ratio + x.imag
    return cartesian(ratio / whole, -1.0 / whole)


def is_before(x, y):
    """NumPy's order: by real part, then imaginary part; NaN precedes nothing."""
    return x.real < y.real or (x.real == y.real and x.imag < y.imag)


def complex_maximum(x, y):
    return x if complex_isnan(x) or (not complex_isnan(y) and not is_before(x, y)) else y


def complex_minimum(x, y):
    return x if complex_isnan(x) or (not complex_isnan(y) and not is_before(y, x)) else y


# ---- Circular and hyperbolic functions of complex numbers and their inverses, in Python.


def hyperbolic_sine(a, b):
    """sinh(a + bi)."""
    if b == 0:
        return cartesian(sinh(a), b)
    return cartesian(sinh(a) * cos(b) if a != 0 else a, cosh(a) * sin(b))


def hyperbolic_cosine(a, b):
    return cartesian(cosh(a) * cos(b), sinh(a) * sin(b) if a != 0 and b != 0 else a * b)


def hyperbolic_tangent(a, b):
    if absolute(a) > 20.0:
        return cartesian(copysign(1.0, a), 4.0 * sin(b) * cos(b) * exp(-2.0 * absolute(a)) if b != 0 else b)
    slope, size = tan(b), sinh(a)
    beta = 1.0 + slope * slope
    below = 1.0 + beta * size * size
    if isinf(beta):
        return cartesian(cosh(a) / size, 1.0 / (slope * size * size))
    return cartesian(beta * sqrt(1.0 + size * size) * size / below, slope / below)


def complex_sinh(x):
    return hyperbolic_sine(x.real, x.imag)


def complex_cosh(x):
    return hyperbolic_cosine(x.real, x.imag)


def complex_tanh(x):
    return hyperbolic_tangent(x.real, x.imag)


def complex_sin(x):
    z = hyperbolic_sine(-x.imag, x.real)
    return cartesian(z.imag, -z.real)


def complex_cos(x):
    return hyperbolic_cosine(-x.imag, x.real)


def complex_tan(x):
    z = hyperbolic_tangent(-x.imag, x.real)
    return cartesian(z.imag, -z.real)


def complex_asinh(x):
    if absolute(x.real) > 1e150 or absolute(x.imag) > 1e150:
        size = log(hypot(0.5 * x.real, 0.5 * x.imag)) + 2.0 * LOG_2
        return cartesian(copysign(size, x.real), atan2(x.imag, absolute(x.real)))
    p, q = complex_sqrt(cartesian(1.0 + x.imag, -x.real)), complex_sqrt(cartesian(1.0 - x.imag, x.real))
    return cartesian(asinh(p.real * q.imag - q.real * p.imag), atan2(x.imag, p.real * q.real - p.imag * q.imag))


def complex_acos(x):
    if absolute(x.real) > 1e150 or absolute(x.imag) > 1e150:
        size = log(hypot(0.5 * x.real, 0.5 * x.imag)) + 2.0 * LOG_2
        return cartesian(atan2(absolute(x.imag), x.real), -copysign(size, x.imag))
    p, q = complex_sqrt(cartesian(1.0 - x.real, -x.imag)), complex_sqrt(cartesian(1.0 + x.real, x.imag))
    return cartesian(2.0 * atan2(p.real, q.real), asinh(q.real * p.imag - q.imag * p.real))


def complex_acosh(x):
    if absolute(x.real) > 1e150 or absolute(x.imag) > 1e150:
        size = log(hypot(0.5 * x.real, 0.5 * x.imag)) + 2.0 * LOG_2
        return cartesian(size, atan2(x.imag, x.real))
    p, q = complex_sqrt(cartesian(x.real - 1.0, x.imag)), complex_sqrt(cartesian(x.real + 1.0, x.imag))
    return cartesian(asinh(p.real * q.real + p.imag * q.imag), 2.0 * atan2(p.imag, q.real))


def complex_atanh(x):
    sign = copysign(1.0, x.real)
    a, b = sign * x.real, sign * x.imag
    if a > 1e150 or absolute(b) > 1e150:
        size = hypot(0.5 * a, 0.5 * b)
        return cartesian(sign * (a / 4.0 / size / size) if isfinite(size) else sign * 0.0, sign * copysign(HALF_PI, b))
    if a == 1.0 and absolute(b) < 1e-150:
        if b == 0:
            return cartesian(sign * INF, sign * b)
        return cartesian(-sign * log(sqrt(absolute(b)) / sqrt(2.0)), sign * copysign(0.5 * atan2(2.0, -absolute(b)), b))
    apart = 1.0 - a
    turn = -0.5 * atan2(-2.0 * b, apart * (1.0 + a) - b * b)
    return cartesian(sign * (0.25 * log1p(4.0 * a / (apart * apart + b * b))), sign * turn)


def complex_asin(x):
    z = complex_asinh(cartesian(-x.imag, x.real))
    return cartesian(z.imag, -z.real)


def complex_atan(x):
    z = complex_atanh(cartesian(-x.imag, x.real))
    return cartesian(z.imag, -z.real)
