"""NumPy's names of operators, as in python-graphblas: `unary.numpy.arcsin` is `unary.asin`.

Also the operators that GraphBLAS lacks, such as `binary.numpy.gcd`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from . import catalog, rules
from .algebra import Monoid
from .expressions import ByKind, but_complex
from .operators import BinaryOp, UnaryOp, remember_monoid

# ---- Operators that GraphBLAS lacks.


def _of_integers(text: str, boolean: str, unsigned: str = "") -> ByKind:
    return ByKind(boolean, text, text, unsigned)


UNARY = {
    name: UnaryOp(f"numpy.{name}", expr, rule)
    for name, expr, rule in (
        ("deg2rad", "x * 0.017453292519943295", rules.floating),
        ("rad2deg", "x * 57.29577951308232", rules.floating),
        ("fabs", "absolute(x)", rules.floating),
        (
            "reciprocal",
            ByKind("x", "where(absolute(x) == 1, x, minus(x, x))", "1 / x", "", "complex_reciprocal(x)"),
            rules.small_inexact,
        ),
        (
            "sign",
            ByKind("x", "where(x > 0, 1, where(x < 0, -1, 0))", "signum(x) + 0", "x != 0", "complex_signum(x)"),
            rules.small_inexact,
        ),
        ("signbit", ByKind("x != x", "x < 0", "sign_bit(x)", "x != x"), rules.order),
        ("spacing", "spacing_of(x)", rules.floating),
        ("square", "times(x, x)", rules.small_boolean),
    )
}
UNARY |= {"radians": UNARY["deg2rad"], "degrees": UNARY["rad2deg"]}
_COMMUTATIVE = "gcd lcm logaddexp logaddexp2 hypot maximum minimum".split()
BINARY = {
    name: BinaryOp(f"numpy.{name}", expr, rule, exchanged=f"numpy.{name}" if name in _COMMUTATIVE else None)
    for name, expr, rule in (
        # "%": the result has the sign of the divisor, as in Python.
        ("mod", ByKind("0", "modulus(x, y)", "real_modulus(x, y)", "unsigned_modulus(x, y)"), rules.small_ordered),
        ("float_power", but_complex("raised(x, y)", "complex_power(x, y)"), rules.real),
        ("fmod", ByKind("0", "integer_fmod(x, y)", "fmod(x, y)", "unsigned_modulus(x, y)"), rules.small_ordered),
        (
            "gcd",
            _of_integers("common_divisor(magnitude(x), magnitude(y))", "x | y", "common_divisor(x, y)"),
            rules.integer_or_boolean,
        ),
        (
            "lcm",
            _of_integers("common_multiple(magnitude(x), magnitude(y))", "x & y", "common_multiple(x, y)"),
            rules.integer_or_boolean,
        ),
        ("left_shift", _of_integers("shifted_left(x, y, bits)", "x << y"), rules.integer_or_boolean),
        ("right_shift", _of_integers("shifted_right(x, y, bits)", "x >> y"), rules.integer_or_boolean),
        ("logaddexp", "log_sum(x, y)", rules.floating),
        ("logaddexp2", "log_sum2(x, y)", rules.floating),
        ("hypot", "hypot(x, y)", rules.floating),
        ("nextafter", "next_after(x, y)", rules.floating),
        # NaN if either operand is NaN; min and max return the number.
        ("maximum", but_complex("where((x >= y) | (x != x), x, y)", "complex_maximum(x, y)"), rules.same),
        ("minimum", but_complex("where((x <= y) | (x != x), x, y)", "complex_minimum(x, y)"), rules.same),
    )
}
BINARY["remainder"] = BINARY["mod"]
# gcd and hypot of a single negative number are that number, of several they are positive.
MONOIDS = {
    name: Monoid(f"numpy.{name}", BINARY[name], identity, None, repeated, rule)
    for name, identity, repeated, rule in (
        ("maximum", lambda t: t.lowest, "x", rules.same),
        ("minimum", lambda t: t.highest, "x", rules.same),
        ("gcd", lambda t: 0, "where(k > 1, absolute(x), x)", rules.integer),
        ("hypot", lambda t: 0, None, rules.only_floating),
        ("logaddexp", lambda t: t.lowest, None, rules.only_floating),
        ("logaddexp2", lambda t: t.lowest, None, rules.only_floating),
    )
}
for _monoid in MONOIDS.values():
    remember_monoid(_monoid.binaryop, _monoid, user_defined=False)


# ---- All of NumPy's names.

Named = TypeVar("Named", UnaryOp, BinaryOp, Monoid)


def _named(ops: Mapping[str, Named], names: str, lacking: Mapping[str, Named]) -> dict[str, Named]:
    """All operators by NumPy's names; those of the catalog as "numpy=ours", or one word if both are the same."""
    pairs = (word.partition("=") for word in names.split())
    return {name: ops[ours or name] for name, _, ours in pairs} | dict(lacking)


_BOTH = (
    "add=plus bitwise_and=band bitwise_or=bor bitwise_xor=bxor equal=eq fmax=max fmin=min logical_and=land "
    "logical_or=lor logical_xor=lxor multiply=times "
)
_UNARY = (
    "abs absolute=abs arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh arctan=atan arctanh=atanh bitwise_not=bnot "
    "invert=bnot logical_not=lnot conj conjugate=conj negative=ainv positive=identity rint=round cbrt ceil cos cosh "
    "exp exp2 expm1 floor isfinite isinf isnan log log10 log1p log2 sin sinh sqrt tan tanh trunc"
)
_BINARY = _BOTH + (
    "arctan2=atan2 copysign divide=truediv greater=gt greater_equal=ge floor_divide=floordiv ldexp less=lt "
    "less_equal=le not_equal=ne power=pow subtract=minus true_divide=truediv"
)
UNARY_NAMES = _named(catalog.UNARY, _UNARY, UNARY)
BINARY_NAMES = _named(catalog.BINARY, _BINARY, BINARY)
MONOID_NAMES = _named(catalog.MONOIDS, _BOTH, MONOIDS)
