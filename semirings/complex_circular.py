"""Circular and hyperbolic functions of complex numbers and their inverses, in Python (see complex_functions.py)."""

from .complex_functions import cartesian, complex_sqrt
from .functions import (
    HALF_PI,
    INF,
    LOG_2,
    absolute,
    asinh,
    atan2,
    copysign,
    cos,
    cosh,
    exp,
    hypot,
    isfinite,
    isinf,
    log,
    log1p,
    sin,
    sinh,
    sqrt,
    tan,
)


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
