"""Tolerances: how far implementations of an operator may differ."""

from .catalog import COMPLEX_MATH, MATH

# Operators that platforms round differently, and the allowed difference in units in the last place (WITH_ZEROS: of the
# larger of the value and 1, because no library meets the zeros of these functions).
ULPS = dict.fromkeys((*MATH, *COMPLEX_MATH, "pow", "rpow", "atan2", "hypot"), 4) | {
    "erfc": 16,
    "lgamma": 16,
    "tgamma": 16,
}
ULPS |= {"numpy.rad2deg": 1, "numpy.deg2rad": 1}
ULPS |= dict.fromkeys((f"numpy.{name}" for name in ("float_power", "hypot", "logaddexp", "logaddexp2")), 4)
# For complex numbers, in units of the larger part: complex functions combine several real ones.
COMPLEX_ULPS = dict.fromkeys((*COMPLEX_MATH, "signum"), 16) | dict.fromkeys(("abs", "absfirst", "abssecond", "carg"), 4)
COMPLEX_ULPS |= {"numpy.reciprocal": 2, "numpy.sign": 2, "numpy.square": 2}  # NumPy fuses products and sums
COMPLEX_ULPS |= dict.fromkeys(("pow", "rpow", "numpy.float_power"), 1 << 11)
WITH_ZEROS = ("lgamma", "numpy.logaddexp", "numpy.logaddexp2")
for _name in ("ceil", "floor", "sqrt", "trunc"):
    del ULPS[_name]
    COMPLEX_ULPS[_name] = 16 * (_name == "sqrt")
