"""NumPy's names for existing operators: `unary.numpy.arcsin` is `unary.asin`. Same pairs as python-graphblas."""

from __future__ import annotations

from . import numpy_operators
from .algebra import Semiring, compose
from .catalog import BINARY, MONOIDS, UNARY
from .namespace import Namespace

_UNARY = {
    "abs": "abs", "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "bitwise_not": "bnot", "invert": "bnot", "logical_not": "lnot",
    "conj": "conj", "conjugate": "conj", "negative": "ainv", "positive": "identity", "rint": "round",
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
    "floor_divide": "floordiv", "ldexp": "ldexp", "less": "lt", "less_equal": "le", "not_equal": "ne", "power": "pow",
    "subtract": "minus", "true_divide": "truediv",
}  # fmt: skip

UNARY_NAMES = {name: UNARY[ours] for name, ours in _UNARY.items()} | numpy_operators.UNARY
BINARY_NAMES = {name: BINARY[ours] for name, ours in _BINARY.items()} | numpy_operators.BINARY
MONOID_NAMES = {name: MONOIDS[ours] for name, ours in _MONOID.items()} | numpy_operators.MONOIDS


def _semiring(name: str) -> Semiring | None:
    words = name.split("_")
    for k in range(1, len(words)):
        add, multiply = MONOID_NAMES.get("_".join(words[:k])), BINARY_NAMES.get("_".join(words[k:]))
        if add is not None and multiply is not None and compose(add, multiply).types:
            return compose(add, multiply)
    return None


def _semiring_names() -> list[str]:
    return [
        f"{m}_{op}" for m in MONOID_NAMES for op in BINARY_NAMES if compose(MONOID_NAMES[m], BINARY_NAMES[op]).types
    ]


unary = Namespace("unary.numpy", UNARY_NAMES)
binary = Namespace("binary.numpy", BINARY_NAMES)
monoid = Namespace("monoid.numpy", MONOID_NAMES)
semiring = Namespace("semiring.numpy", {}, _semiring, _semiring_names)
