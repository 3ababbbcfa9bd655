"""The public namespaces: unary, binary, indexunary, select, monoid, semiring, op; and select's deferred comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from . import numpy_names
from .catalog import BINARY, INDEXUNARY, MONOIDS, PARAMETERIZED, SELECT, SEMIRINGS, UNARY, find_semiring, semiring_names
from .namespace import Namespace
from .operators import BinaryOp
from .registration import register
from .text import ORDER, any_from_string, from_string, get_semiring
from .typed import Typed

if TYPE_CHECKING:
    from .names import (
        BinaryNames,
        IndexbinaryNames,
        IndexunaryNames,
        MonoidNames,
        OpNames,
        SelectNames,
        SemiringNames,
        UnaryNames,
    )


# ---- Deferred comparisons for select: `select.value(A > 3)`, `select.row(A <= 2)`, `select.column`, `select.index`.

_TESTS = ("eq", "ne", "lt", "le", "gt", "ge")
_PREFIX = {"value": "value", "row": "row", "column": "col", "index": "index"}


def comparison_helpers(space: Namespace) -> dict[str, Callable[[Any], object]]:
    """The four functions, which look up their operators in `space`."""
    return {what: partial(_select_of_comparison, space, what) for what in _PREFIX}


def _select_of_comparison(space: Namespace, what: str, expr: Any) -> object:
    """The select for a comparison with a scalar: `select.value(A > 3)` is A.select(valuegt, 3). Comparisons of
    positions are <, <=, > and >=. TypeError for other expressions, ValueError for other comparisons.
    """
    op = getattr(expr, "op", None)
    found = op.op if isinstance(op, Typed) else None
    method = "apply" if getattr(expr, "ndim", None) else "ewise_mult"  # comparing a Scalar is an ewise_mult
    if getattr(expr, "method", None) != method or not isinstance(found, BinaryOp) or len(expr.args) != 2:
        raise TypeError(
            f"Expected ScalarExpression, VectorExpression, or MatrixExpression that compares with a scalar; "
            f"found {type(expr).__name__}. Typical usage: select.{what}(x <= 5)"
        )
    tensor, thunk = expr.args
    test = found.name.removeprefix("is")
    if test not in _TESTS:
        raise ValueError(f"select.{what}: expected a comparison, got {found!r}")
    if what != "value" and test in ("lt", "ge"):  # C API 2.1 only has le and gt
        test, thunk = {"lt": "le", "ge": "gt"}[test], int(thunk) - 1
    if f"{_PREFIX[what]}{test}" not in space:
        raise ValueError(f"Unknown or unregistered select method: {_PREFIX[what]}{test}")
    return tensor.select(space[f"{_PREFIX[what]}{test}"], thunk)


# ---- The public namespaces: unary, binary, indexunary, select, monoid, semiring, op.

unary = cast("UnaryNames", Namespace("unary", dict(UNARY)))
binary = cast("BinaryNames", Namespace("binary", {**BINARY, **PARAMETERIZED}))
indexunary = cast("IndexunaryNames", Namespace("indexunary", dict(INDEXUNARY)))
indexbinary = cast("IndexbinaryNames", Namespace("indexbinary", {}))
select = cast("SelectNames", Namespace("select", dict(SELECT)))
monoid = cast("MonoidNames", Namespace("monoid", dict(MONOIDS)))
semiring = cast("SemiringNames", Namespace("semiring", dict(SEMIRINGS), find_semiring, semiring_names))


def _of_all(name: str, spaces: Sequence[Namespace]) -> Namespace:
    """A namespace with the names of several; the first namespace that has a name wins."""

    find = lambda key: next((found for space in spaces if (found := space._find(key)) is not None), None)
    return Namespace(name, {}, find, lambda: (key for space in spaces for key in space.__all__))


op = cast("OpNames", _of_all("op", (unary, binary, monoid, semiring)))
op_numpy = _of_all("op.numpy", (numpy_names.unary, numpy_names.binary, numpy_names.monoid, numpy_names.semiring))
SPACES: dict[str, Namespace] = {
    "unary": unary,
    "binary": binary,
    "indexunary": indexunary,
    "select": select,
    "monoid": monoid,
    "semiring": semiring,
    "indexbinary": indexbinary,
}

for _family in ORDER:
    SPACES[_family]._help(from_string=partial(from_string, _family, spaces=SPACES))
for _family in ("unary", "binary", "monoid", "semiring"):
    SPACES[_family]._help(numpy=getattr(numpy_names, _family))
op._help(numpy=op_numpy, from_string=partial(any_from_string, spaces=SPACES))
semiring._help(get_semiring=partial(get_semiring, space=semiring))
select._help(**comparison_helpers(select))
register(SPACES)
