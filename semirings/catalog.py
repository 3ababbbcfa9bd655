"""Catalog of all operators, monoids and semirings, one line each, with python-graphblas's names.

Tests, compilation and documentation iterate over these lists, so a new entry needs no other change.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from . import operators, rules
from .algebra import Monoid, Semiring, compose
from .dtypes import INT64
from .expressions import ByKind, but_complex
from .operators import BinaryOp, IndexUnaryOp, Parameterized, SelectOp, UnaryOp

# Functions of C99's <math.h> under their own names; complex ones are called complex_NAME.
MATH = "cbrt erf erfc lgamma tgamma".split()
COMPLEX_MATH = (
    "acos acosh asin asinh atan atanh ceil cos cosh exp exp2 expm1 floor log log10 log1p log2 sin sinh sqrt tan tanh "
    "trunc"
).split()

UNARY = {
    op.name: op
    for op in (
        UnaryOp("identity", "x"),
        UnaryOp("ainv", "negative(x)"),
        UnaryOp("minv", but_complex("1 / x", "complex_quotient(cartesian(1.0, 0.0), x)"), rules.inverse),
        UnaryOp("abs", but_complex("absolute(x)", "magnitude_of(x)"), rules.magnitude),
        UnaryOp("lnot", "x == 0", rules.ordered),
        UnaryOp("bnot", "inverted(x)", rules.integer),
        UnaryOp("one", "1"),
        *(UnaryOp(name, f"{name}(x)", rules.floating) for name in MATH),
        *(UnaryOp(name, but_complex(f"{name}(x)", f"complex_{name}(x)"), rules.inexact) for name in COMPLEX_MATH),
        UnaryOp("round", but_complex("rounded(x)", "complex_rounded(x)"), rules.inexact),
        UnaryOp("signum", but_complex("signum(x)", "complex_signum(x)"), rules.inexact),
        UnaryOp("conj", "conjugate(x)", rules.only_complex),
        UnaryOp("creal", "real_part(x)", rules.part),
        UnaryOp("cimag", "imaginary_part(x)", rules.part),
        UnaryOp("carg", "angle_of(x)", rules.part),
        UnaryOp("frexpx", "fraction_of(x)", rules.only_floating),
        UnaryOp("frexpe", "exponent_of(x)", rules.only_floating),
        UnaryOp("isfinite", but_complex("isfinite(x)", "complex_isfinite(x)"), rules.classify),
        UnaryOp("isinf", but_complex("isinf(x)", "complex_isinf(x)"), rules.classify),
        UnaryOp("isnan", but_complex("isnan(x)", "complex_isnan(x)"), rules.classify),
        UnaryOp("positioni", "ix", rules.position),
        UnaryOp("positioni1", "ix + 1", rules.position),
        UnaryOp("positionj", "jx", rules.position),
        UnaryOp("positionj1", "jx + 1", rules.position),
    )
}

BINARY = {
    op.name: op
    for op in (
        BinaryOp("first", "x", exchanged="second"),
        BinaryOp("second", "y", exchanged="first"),
        BinaryOp("any", "x", exchanged="any"),
        BinaryOp("pair", "1", exchanged="pair", default_type=INT64),
        BinaryOp("plus", "plus(x, y)", rules.arithmetic, exchanged="plus"),
        BinaryOp("minus", "minus(x, y)", rules.arithmetic, exchanged="rminus"),
        BinaryOp("rminus", "minus(y, x)", rules.arithmetic, exchanged="minus"),
        BinaryOp("times", "times(x, y)", rules.arithmetic, exchanged="times"),
        BinaryOp("truediv", but_complex("x / y", "complex_quotient(x, y)"), rules.real, exchanged="rtruediv"),
        BinaryOp("rtruediv", but_complex("y / x", "complex_quotient(y, x)"), rules.real, exchanged="truediv"),
        BinaryOp(
            "cdiv",
            ByKind("x", "quotient(x, y, bits)", "x / y", "unsigned_quotient(x, y)", "complex_quotient(x, y)"),
            rules.quotient, exchanged="rdiv",
        ),
        BinaryOp(
            "rdiv",
            ByKind("y", "quotient(y, x, bits)", "y / x", "unsigned_quotient(y, x)", "complex_quotient(y, x)"),
            rules.quotient, exchanged="cdiv",
        ),
        BinaryOp(
            "floordiv", ByKind("x & y", "floor_quotient(x, y)", "floored(x, y)", "unsigned_floor_quotient(x, y)"),
            rules.small_ordered, exchanged="rfloordiv",
        ),
        BinaryOp(
            "rfloordiv", ByKind("x & y", "floor_quotient(y, x)", "floored(y, x)", "unsigned_floor_quotient(y, x)"),
            rules.small_ordered, exchanged="floordiv",
        ),
        BinaryOp("pow", but_complex("raised(x, y)", "complex_power(x, y)"), rules.inverse, exchanged="rpow"),
        BinaryOp("rpow", but_complex("raised(y, x)", "complex_power(y, x)"), rules.small_inverse, exchanged="pow"),
        BinaryOp("min", "least(x, y)", rules.ordered_arithmetic, exchanged="min"),
        BinaryOp("max", "greatest(x, y)", rules.ordered_arithmetic, exchanged="max"),
        BinaryOp("absfirst", but_complex("absolute(x)", "magnitude_of(x)"), rules.magnitude, exchanged="abssecond"),
        BinaryOp("abssecond", but_complex("absolute(y)", "magnitude_of(y)"), rules.magnitude, exchanged="absfirst"),
        BinaryOp("lor", "(x != 0) | (y != 0)", rules.ordered, exchanged="lor"),
        BinaryOp("land", "(x != 0) & (y != 0)", rules.ordered, exchanged="land"),
        BinaryOp("lxor", "(x != 0) != (y != 0)", rules.ordered, exchanged="lxor"),
        BinaryOp("lxnor", "(x != 0) == (y != 0)", rules.logical, exchanged="lxnor"),
        BinaryOp("eq", "x == y", rules.compare, exchanged="eq"),
        BinaryOp("ne", "x != y", rules.compare, exchanged="ne"),
        BinaryOp("lt", "x < y", rules.order, exchanged="gt"),
        BinaryOp("gt", "x > y", rules.order, exchanged="lt"),
        BinaryOp("le", "x <= y", rules.order, exchanged="ge"),
        BinaryOp("ge", "x >= y", rules.order, exchanged="le"),
        BinaryOp("iseq", "x == y", rules.arithmetic, exchanged="iseq"),
        BinaryOp("isne", "x != y", rules.arithmetic, exchanged="isne"),
        BinaryOp("islt", "x < y", rules.ordered_arithmetic, exchanged="isgt"),
        BinaryOp("isgt", "x > y", rules.ordered_arithmetic, exchanged="islt"),
        BinaryOp("isle", "x <= y", rules.ordered_arithmetic, exchanged="isge"),
        BinaryOp("isge", "x >= y", rules.ordered_arithmetic, exchanged="isle"),
        BinaryOp("band", "x & y", rules.integer, exchanged="band"),
        BinaryOp("bor", "x | y", rules.integer, exchanged="bor"),
        BinaryOp("bxor", "x ^ y", rules.integer, exchanged="bxor"),
        BinaryOp("bxnor", "~(x ^ y)", rules.integer, exchanged="bxnor"),
        BinaryOp("bget", "get_bit(x, y, bits)", rules.integer),
        BinaryOp("bset", "include_bit(x, y, bits)", rules.integer),
        BinaryOp("bclr", "clear_bit(x, y, bits)", rules.integer),
        BinaryOp("bshift", "shift(x, y)", rules.integer),
        BinaryOp("binom", "binomial(x, y)", rules.long_integer),
        BinaryOp("atan2", "atan2(x, y)", rules.floating),
        BinaryOp("hypot", "hypot(x, y)", rules.floating, exchanged="hypot"),
        BinaryOp("fmod", "fmod(x, y)", rules.floating),
        BinaryOp("remainder", "remainder(x, y)", rules.floating),
        BinaryOp("cmplx", "cartesian(x, y)", rules.parts),
        BinaryOp("copysign", "copysign(x, y)", rules.floating),
        BinaryOp("ldexp", "scaled(x, y)", rules.from_integer),
        BinaryOp("firsti", "ix", rules.position, exchanged="secondi"),
        BinaryOp("firsti1", "ix + 1", rules.position, exchanged="secondi1"),
        BinaryOp("firstj", "jx", rules.position, exchanged="secondj"),
        BinaryOp("firstj1", "jx + 1", rules.position, exchanged="secondj1"),
        BinaryOp("secondi", "iy", rules.position, exchanged="firsti"),
        BinaryOp("secondi1", "iy + 1", rules.position, exchanged="firsti1"),
        BinaryOp("secondj", "jy", rules.position, exchanged="firstj"),
        BinaryOp("secondj1", "jy + 1", rules.position, exchanged="firstj1"),
    )
}  # fmt: skip
BINARY["oneb"] = BINARY["pair"]  # the C API's name
operators.BINARY.update(BINARY)


@functools.lru_cache(1 << 10)
def is_close(rel_tol: float = 1e-7, abs_tol: float = 0.0) -> BinaryOp:
    """x == y or abs(x - y) <= max(rel_tol * max(abs(x), abs(y)), abs_tol), in FP64, or FC64."""
    how = f"(x, y, {float(rel_tol)!r}, {float(abs_tol)!r})"
    return BinaryOp("isclose", but_complex(f"near{how}", f"complex_near{how}"), rules.close, exchanged="isclose")


PARAMETERIZED = {"isclose": Parameterized("isclose", is_close, "binary", is_commutative=True)}

INDEXUNARY = {
    op.name: op
    for op in (
        IndexUnaryOp("rowindex", "plus(ix, t)", rules.position),
        IndexUnaryOp("colindex", "plus(jx, t)", rules.position),
        IndexUnaryOp("diagindex", "minus(jx - ix, t)", rules.position),
        IndexUnaryOp("tril", "jx - ix <= t", rules.position_test),
        IndexUnaryOp("triu", "jx - ix >= t", rules.position_test),
        IndexUnaryOp("diag", "jx - ix == t", rules.position_test),
        IndexUnaryOp("offdiag", "jx - ix != t", rules.position_test),
        IndexUnaryOp("rowle", "ix <= t", rules.position_test),
        IndexUnaryOp("rowgt", "ix > t", rules.position_test),
        IndexUnaryOp("colle", "jx <= t", rules.position_test),
        IndexUnaryOp("colgt", "jx > t", rules.position_test),
        IndexUnaryOp("valueeq", "x == t", rules.compare),
        IndexUnaryOp("valuene", "x != t", rules.compare),
        IndexUnaryOp("valuelt", "x < t", rules.order),
        IndexUnaryOp("valuele", "x <= t", rules.order),
        IndexUnaryOp("valuegt", "x > t", rules.order),
        IndexUnaryOp("valuege", "x >= t", rules.order),
    )
}
# The index of a vector is a row.
INDEXUNARY |= {f"index{end}": INDEXUNARY[f"row{end or 'index'}"] for end in ("", "le", "gt")}
_TESTS = {op: SelectOp(op.name, op.expr, op.rule) for op in INDEXUNARY.values() if op.rule is not rules.position}
SELECT = {name: _TESTS[op] for name, op in INDEXUNARY.items() if op in _TESTS}


# One line per monoid: identity and terminal are functions of the type.
MONOIDS = {
    name: Monoid(name, BINARY[name], identity, terminal, repeated, rule)
    for name, identity, terminal, repeated, rule in (
        ("plus", lambda t: 0, None, but_complex("times(x, kx)", "multiple_of(x, k)"), rules.number),
        ("times", lambda t: 1, None, "power(x, k)", rules.arithmetic),
        ("min", lambda t: t.highest, lambda t: t.lowest, "x", rules.ordered),
        ("max", lambda t: t.lowest, lambda t: t.highest, "x", rules.ordered),
        ("any", lambda t: 0, lambda t: 0, "x", rules.same),
        ("lor", lambda t: False, lambda t: True, "x", rules.logical),
        ("land", lambda t: True, lambda t: False, "x", rules.logical),
        ("lxor", lambda t: False, None, "where(k & 1, x, x != x)", rules.logical),
        ("lxnor", lambda t: True, None, "where(k & 1, x, x == x)", rules.logical),
        ("eq", lambda t: True, None, "where(k & 1, x, x == x)", rules.boolean),
        ("bor", lambda t: 0, lambda t: t.highest, "x", rules.unsigned),
        ("band", lambda t: t.highest, lambda t: 0, "x", rules.unsigned),
        ("bxor", lambda t: 0, None, "where(k & 1, x, minus(x, x))", rules.unsigned),
        ("bxnor", lambda t: t.highest, None, "where(k & 1, x, inverted(minus(x, x)))", rules.unsigned),
    )
}

# The semirings that algorithms use; every other {monoid}_{binary} of the two lists above is created on demand.
NAMED_SEMIRINGS = (
    "lor_land any_pair any_first any_second any_firsti any_firstj any_secondi any_secondj "
    "plus_times plus_first plus_second plus_pair plus_plus plus_min "
    "min_plus min_times min_first min_second min_max min_secondi min_firsti "
    "max_plus max_times max_first max_second max_min lxor_land land_lor"
).split()


for _monoid in MONOIDS.values():
    operators.remember_monoid(_monoid.binaryop, _monoid, user_defined=False)


def find_semiring(
    name: str, monoids: Mapping[str, Monoid] = MONOIDS, operators: Mapping[str, BinaryOp] = BINARY
) -> Semiring | None:
    """{monoid}_{binary}, if they match for at least one type, else None."""
    for first, m in monoids.items():
        op = operators.get(name[len(first) + 1 :]) if name.startswith(f"{first}_") else None
        if op is not None and (found := compose(m, op)).types:
            return found
    return None


def semiring_names(monoids: Mapping[str, Monoid] = MONOIDS, operators: Mapping[str, BinaryOp] = BINARY) -> list[str]:
    """The names of all semirings of the two lists."""
    return [f"{m}_{op}" for m in monoids for op in operators if compose(monoids[m], operators[op]).types]


def _named(name: str) -> Semiring:
    found = find_semiring(name)
    if found is None:
        raise KeyError(f"NAMED_SEMIRINGS: {name} is not a monoid and an operator with matching types")
    return found


SEMIRINGS = {name: _named(name) for name in NAMED_SEMIRINGS}
