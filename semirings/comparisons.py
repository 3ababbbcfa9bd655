"""Deferred comparisons for select: `select.value(A > 3)`, `select.row(A <= 2)`, `select.column`, `select.index`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .namespace import Namespace
from .operators import BinaryOp
from .typed import Typed

_TESTS = ("eq", "ne", "lt", "le", "gt", "ge")
_PREFIX = {"value": "value", "row": "row", "column": "col", "index": "index"}


def helpers(space: Namespace) -> dict[str, Callable[[Any], Any]]:
    """The four functions, which look up their operators in `space`."""
    return {what: partial(_resolve, space, what) for what in _PREFIX}


def _resolve(space: Namespace, what: str, expr: Any) -> Any:
    """The select for a comparison with a scalar: `select.value(A > 3)` is A.select(valuegt, 3). Comparisons of
    positions are <, <=, > and >=. TypeError for other expressions, ValueError for other comparisons.
    """
    op = getattr(expr, "op", None)
    found: Any = op.op if isinstance(op, Typed) else None
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
