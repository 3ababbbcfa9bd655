"""NumPy's names for our operators: `unary.numpy.arcsin` is `unary.asin`. The pairs are python-graphblas'."""

from __future__ import annotations

from .algebra import compose
from .catalog import BINARY, MONOIDS, NUMPY_BINARY, UNARY
from .namespace import Namespace

_UNARY = {
    "abs": "abs", "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "bitwise_not": "bnot", "invert": "bnot", "logical_not": "lnot",
    "negative": "ainv", "positive": "identity", "rint": "round",
    **{name: name for name in (
        "cbrt ceil cos cosh exp exp2 expm1 floor isfinite isinf isnan log log10 log1p log2 sin sinh sqrt tan tanh trunc"
    ).split()},
}  # fmt: skip
_MONOID = {
    "add": "plus", "bitwise_and": "band", "bitwise_or": "bor", "bitwise_xor": "bxor", "equal": "eq", "fmax": "max",
    "fmin": "min", "logical_and": "land", "logical_or": "lor", "logical_xor": "lxor", "multiply": "times",
}  # fmt: skip
_BINARY = _MONOID | {
    "arctan2": "atan2", "copysign": "copysign", "divide": "truediv", "greater": "gt", "greater_equal": "ge",
    "hypot": "hypot", "ldexp": "ldexp", "less": "lt", "less_equal": "le", "not_equal": "ne", "power": "pow",
    "subtract": "minus", "true_divide": "truediv",
}  # fmt: skip

UNARY_NAMES = {name: UNARY[ours] for name, ours in _UNARY.items()}
BINARY_NAMES = {name: BINARY[ours] for name, ours in _BINARY.items()} | NUMPY_BINARY
MONOID_NAMES = {name: MONOIDS[ours] for name, ours in _MONOID.items()}

# What python-graphblas has under these names and bitblas has not.
LEFT_OUT = {
    "unary": "conj conjugate deg2rad degrees fabs rad2deg radians reciprocal sign signbit spacing square",
    "binary": "float_power floor_divide fmod gcd lcm left_shift logaddexp logaddexp2 maximum minimum nextafter "
    "right_shift",
    "monoid": "gcd hypot logaddexp logaddexp2 maximum minimum",
}


def _semiring(name: str) -> object | None:
    words = name.split("_")
    for k in range(1, len(words)):
        add, multiply = MONOID_NAMES.get("_".join(words[:k])), BINARY_NAMES.get("_".join(words[k:]))
        if add is not None and multiply is not None and compose(add, multiply).types:
            return compose(add, multiply)
    return None


unary = Namespace("unary.numpy", UNARY_NAMES)
binary = Namespace("binary.numpy", BINARY_NAMES)
monoid = Namespace("monoid.numpy", MONOID_NAMES)
semiring = Namespace("semiring.numpy", {}, _semiring)
