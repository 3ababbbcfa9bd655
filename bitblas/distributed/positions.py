"""Positional operators (rowindex, colindex, ..) on a share, whose first row is not row 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Typed, indexunary
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import INT64
from semirings.expressions import names_in

from ..core import Vector
from ..core.operators import find
from ..core.statement.operand import Operand
from ..exceptions import NotImplementedException
from ..verbs.reorder import OF_RESULT, SUMMED

# For an operator's text, the sign of LOW that turns a thunk t on the whole into the thunk on a share: t + LOW, t - LOW.
SHIFTS = {
    "plus(ix, t)": 1, "ix > t": -1, "ix <= t": -1, "minus(jx - ix, t)": 1, "jx - ix == t": 1, "jx - ix != t": 1,
    "jx - ix <= t": 1, "jx - ix >= t": 1,
}  # fmt: skip
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1  # range of thunks


def plain(op: Any) -> Any:
    return op.op if isinstance(op, Typed) else op


def thunk_on_share(op: Any, thunk: Any, low: int, kind: str) -> Any:
    """The thunk with which an IndexUnaryOp or SelectOp gives the same results on a share as on the whole. kind: the
    kind of operator that a text names."""
    if isinstance(op, str):
        try:
            op = find(op, kind)
        except ValueError:  # a name of another kind of operator
            return thunk
    expr = getattr(plain(op), "expr", None)
    if not isinstance(expr, str):
        return _refuse(op) if getattr(plain(op), "positional", False) else thunk
    if "ix" not in names_in(expr):
        return thunk
    if expr not in SHIFTS:
        return _refuse(op)
    value = 0 if thunk is None else thunk._resolve().value if isinstance(thunk, Operand) else thunk
    if value is None or not isinstance(value, (int, np.integer)):
        return thunk if value is None else value + SHIFTS[expr] * low
    # Python integers, so that no rank overflows: thunks of comparisons are clamped, sums wrap as on one device.
    shifted = int(value) + SHIFTS[expr] * low
    if expr.startswith(("plus", "minus")):
        return (shifted - LOWEST) % (1 << 64) + LOWEST
    return min(max(shifted, LOWEST), HIGHEST)


def free_of_positions(op: Any) -> Any:
    """Check that an operator reads no positions."""
    return _refuse(op) if getattr(plain(op), "positional", False) else op


def _refuse(op: Any) -> Any:
    raise NotImplementedException(f"{op!r}: this use of positions is not supported on distributed objects")


def reads_vector(f: Typed, flip: bool) -> bool:
    """Whether a product reads the vector's values."""
    names = names_in(f.op.binaryop.expr)
    return ("x" if flip else "y") in names


def check_product(f: Typed, flip: bool) -> None:
    """Check that a product does not read the row number of the result, which a share counts from its own first row."""
    if OF_RESULT[flip] in names_in(f.op.binaryop.expr):
        _refuse(f)


def by_value(part: Vector, f: Typed, low: int, flip: bool) -> tuple[Vector, Typed]:
    """Rewrite a product by the summed position as a product by value: the value at each position is its number."""
    expr = f.op.binaryop.expr
    base = expr.removesuffix(" + 1")
    if not f.op.is_positional or base not in SUMMED:
        return part, f
    numbers = part.apply(indexunary.index[INT64], low + (expr != base)).new()
    return numbers, compose(f.op.monoid, BINARY["first" if flip else "second"])[INT64]
