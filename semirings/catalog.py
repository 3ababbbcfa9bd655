"""THE lists: every operator, monoid and semiring, one line each. A new entry here is tested, compiled and documented by
being here."""

from __future__ import annotations

import functools

from .algebra import BinaryOp, IndexUnaryOp, Monoid, Semiring, UnaryOp
from .dtypes import INT64
from .namespace import Namespace
from .rules import arithmetic, compare, inverse, logical, number, position, position_test, real, root, same

UNARY = {
    op.name: op
    for op in (
        UnaryOp("identity", "x"),
        UnaryOp("ainv", "negative(x)"),
        UnaryOp("minv", "1 / x", inverse),
        UnaryOp("abs", "absolute(x)"),
        UnaryOp("lnot", "x == 0"),
        UnaryOp("one", "1"),
        UnaryOp("sqrt", "sqrt(x)", root),
    )
}

BINARY = {
    op.name: op
    for op in (
        BinaryOp("first", "x", commutes_to="second"),
        BinaryOp("second", "y", commutes_to="first"),
        BinaryOp("any", "x", commutes_to="any"),
        BinaryOp("pair", "1", commutes_to="pair", default_type=INT64),
        BinaryOp("plus", "plus(x, y)", arithmetic, commutes_to="plus"),
        BinaryOp("minus", "minus(x, y)", arithmetic, commutes_to="rminus"),
        BinaryOp("rminus", "minus(y, x)", arithmetic, commutes_to="minus"),
        BinaryOp("times", "times(x, y)", arithmetic, commutes_to="times"),
        BinaryOp("truediv", "x / y", real, commutes_to="rtruediv"),
        BinaryOp("rtruediv", "y / x", real, commutes_to="truediv"),
        BinaryOp("min", "least(x, y)", arithmetic, commutes_to="min"),
        BinaryOp("max", "greatest(x, y)", arithmetic, commutes_to="max"),
        BinaryOp("lor", "(x != 0) | (y != 0)", commutes_to="lor"),
        BinaryOp("land", "(x != 0) & (y != 0)", commutes_to="land"),
        BinaryOp("lxor", "(x != 0) != (y != 0)", commutes_to="lxor"),
        BinaryOp("lxnor", "(x != 0) == (y != 0)", logical, commutes_to="lxnor"),
        BinaryOp("eq", "x == y", compare, commutes_to="eq"),
        BinaryOp("ne", "x != y", compare, commutes_to="ne"),
        BinaryOp("lt", "x < y", compare, commutes_to="gt"),
        BinaryOp("gt", "x > y", compare, commutes_to="lt"),
        BinaryOp("le", "x <= y", compare, commutes_to="ge"),
        BinaryOp("ge", "x >= y", compare, commutes_to="le"),
        BinaryOp("firsti", "ix", position, positional=True),
        BinaryOp("firstj", "jx", position, positional=True),
        BinaryOp("secondi", "iy", position, positional=True),
        BinaryOp("secondj", "jy", position, positional=True),
    )
}

INDEXUNARY = {
    op.name: op
    for op in (
        IndexUnaryOp("index", "plus(ix, t)", position, positional=True),
        IndexUnaryOp("indexle", "ix <= t", position_test, positional=True),
        IndexUnaryOp("indexgt", "ix > t", position_test, positional=True),
        IndexUnaryOp("rowindex", "plus(ix, t)", position, positional=True),
        IndexUnaryOp("colindex", "plus(jx, t)", position, positional=True),
        IndexUnaryOp("diagindex", "plus(jx - ix, t)", position, positional=True),
        IndexUnaryOp("tril", "jx - ix <= t", position_test, positional=True),
        IndexUnaryOp("triu", "jx - ix >= t", position_test, positional=True),
        IndexUnaryOp("diag", "jx - ix == t", position_test, positional=True),
        IndexUnaryOp("offdiag", "jx - ix != t", position_test, positional=True),
        IndexUnaryOp("rowle", "ix <= t", position_test, positional=True),
        IndexUnaryOp("rowgt", "ix > t", position_test, positional=True),
        IndexUnaryOp("colle", "jx <= t", position_test, positional=True),
        IndexUnaryOp("colgt", "jx > t", position_test, positional=True),
        IndexUnaryOp("valueeq", "x == t", compare),
        IndexUnaryOp("valuene", "x != t", compare),
        IndexUnaryOp("valuelt", "x < t", compare),
        IndexUnaryOp("valuele", "x <= t", compare),
        IndexUnaryOp("valuegt", "x > t", compare),
        IndexUnaryOp("valuege", "x >= t", compare),
    )
}

# One tuple per monoid: identity and terminal are functions of the type.
MONOIDS = {
    m.name: m
    for m in (
        Monoid("plus", BINARY["plus"], lambda t: 0, repeated="times(x, kx)", rule=number),
        Monoid("times", BINARY["times"], lambda t: 1, repeated="power(x, k)", rule=arithmetic),
        Monoid("min", BINARY["min"], lambda t: t.highest, lambda t: t.lowest),
        Monoid("max", BINARY["max"], lambda t: t.lowest, lambda t: t.highest),
        Monoid("any", BINARY["any"], lambda t: 0, lambda t: 0),
        Monoid("lor", BINARY["lor"], lambda t: False, lambda t: True, rule=logical),
        Monoid("land", BINARY["land"], lambda t: True, lambda t: False, rule=logical),
        Monoid("lxor", BINARY["lxor"], lambda t: False, repeated="where(k & 1, x, x != x)", rule=logical),
        Monoid("lxnor", BINARY["lxnor"], lambda t: True, repeated="where(k & 1, x, x == x)", rule=logical),
    )
}

# The semirings that algorithms name; every other {monoid}_{binary} of the two lists above exists on demand.
NAMED_SEMIRINGS = (
    "lor_land any_pair any_first any_second any_firsti any_firstj any_secondi any_secondj "
    "plus_times plus_first plus_second plus_pair plus_plus plus_min "
    "min_plus min_times min_first min_second min_max min_secondi min_firsti "
    "max_plus max_times max_first max_second max_min lxor_land land_lor"
).split()


@functools.cache
def compose(m: Monoid, op: BinaryOp) -> Semiring:
    """The semiring of a monoid and a multiplier: one object for each pair."""
    return Semiring(m, op)


def _semiring(name: str) -> Semiring | None:
    for m in MONOIDS.values():
        op = BINARY.get(name[len(m.name) + 1 :]) if name.startswith(m.name + "_") else None
        if op is not None:
            found = compose(m, op)
            return found if found.types else None
    return None


def _named(name: str) -> Semiring:
    found = _semiring(name)
    if found is None:
        raise KeyError(f"NAMED_SEMIRINGS: {name} is no monoid and operator that fit")
    return found


SEMIRINGS = {name: _named(name) for name in NAMED_SEMIRINGS}

unary = Namespace("unary", UNARY)
binary = Namespace("binary", BINARY)
indexunary = Namespace("indexunary", INDEXUNARY)
select = Namespace("select", {n: op for n, op in INDEXUNARY.items() if not n.endswith("index")})
monoid = Namespace("monoid", MONOIDS)
semiring = Namespace("semiring", SEMIRINGS, _semiring)

__all__ = ["BINARY", "INDEXUNARY", "MONOIDS", "NAMED_SEMIRINGS", "SEMIRINGS", "UNARY", "same"]
