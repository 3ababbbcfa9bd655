"""Functions that operator expressions call, in Python: run on the host and compiled by Numba.

`functions.cuh` and, for complex numbers, `complex.cuh` define the same functions in CUDA C++, where those of C99's
<math.h> are built in; `laws.py` checks that they agree. All value arguments of a call have the same type.
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


# ---- NumPy functions without a GraphBLAS operator -------------------------------------------------------------------


def sign_bit(x):
    return copysign(1.0, x) < 0


def next_after(x, y):
    """The next number after x towards y."""
    return np.nextafter(x, y)


def spacing_of(x):
    """The distance to the next number away from zero; NaN at infinities."""
    return np.spacing(absolute(x) if x == 0 else x)


def integer_fmod(x, y):
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


# ---- Functions of complex numbers. Complex results are FC64 for all argument types. Formulas: W. Kahan, Branch cuts
# for complex elementary functions (1987), without its treatment of infinities, where annex G of C99 is not followed.


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


# ---- SuiteSparse's definitions for complex numbers -------------------------------------------------------------------


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


# ---- exponentials and logarithms of complex numbers ------------------------------------------------------------------


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


# ---- NumPy functions of complex numbers that GraphBLAS lacks ---------------------------------------------------------


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


# ---- circular and hyperbolic functions of complex numbers, and their inverses ----------------------------------------


def turned_back(z):
    """-i z."""
    return cartesian(z.imag, -z.real)


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
    return turned_back(hyperbolic_sine(-x.imag, x.real))


def complex_cos(x):
    return hyperbolic_cosine(-x.imag, x.real)


def complex_tan(x):
    return turned_back(hyperbolic_tangent(-x.imag, x.real))


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
    return turned_back(complex_asinh(cartesian(-x.imag, x.real)))


def complex_atan(x):
    return turned_back(complex_atanh(cartesian(-x.imag, x.real)))
