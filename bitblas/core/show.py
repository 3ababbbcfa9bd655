"""Text and HTML representations: a header with the facts, and a table of values if it is small enough.

A table is a list of rows of text; large objects show their first and last rows and columns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import Device
from ..display import aligned
from ..display import html as as_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semirings import DataType

    from .typing import Array

MASK_LIMIT = 1 << 20  # positions of a mask that is converted to an object to show it; a complement may be full
LIMIT = 10  # rows and columns that are shown; of larger objects half of them from each end
Table = tuple[list[str], list[list[str]]]  # column headers, and rows whose first cell is a label


def _shown(n: int) -> list[int | None]:
    """The positions of a table's rows or columns; None marks omitted ones."""
    if n <= LIMIT:
        return list(range(n))
    half = LIMIT // 2
    return [*range(half), None, *range(n - half, n)]


def _text(x: object) -> str:
    shown = f"{x:.6g}" if isinstance(x, float) else str(x)
    return shown + ".0" if isinstance(x, float) and shown.lstrip("-").isdigit() else shown


def _cells(positions: list[int | None], found: Mapping[int, object]) -> list[str]:
    return ["..." if p is None else _text(found[p]) if p in found else "" for p in positions]


def _within(positions: list[int | None], at: Array, n: int) -> Array:
    """Which of the indices `at` are shown."""
    half = len(positions) // 2 if n > LIMIT else n
    return (at < half) | (at >= n - half)


def _host(device: Device, x: Array, keep: Array) -> list:
    """The selected part of an array of the device, or of the host for user-defined types."""
    return x[device.to_host(keep)].tolist() if isinstance(x, np.ndarray) else device.to_host(x[keep]).tolist()


def table(x: Any) -> Table:
    """Positions and values of a Vector, Matrix or TransposedMatrix, empty cells where there is no entry; no rows if it
    has no positions."""
    if not all(x.shape):
        return [], []
    *index, values = x.to_coo()
    if x.ndim == 1:
        index = [np.zeros_like(index[0]), *index]
    nrows, ncols = x.shape if x.ndim == 2 else (1, x.size)
    rows, cols, (i, j) = _shown(nrows), _shown(ncols), (at.view(np.int64) for at in index)
    keep = _within(rows, i, nrows) & _within(cols, j, ncols)
    found: dict[int, dict[int, object]] = {}
    for a, b, value in zip(*(_host(x.device, part, keep) for part in (i, j, values))):
        found.setdefault(a, {})[b] = value
    head = ["..." if c is None else str(c) for c in cols]
    if x.ndim == 1:
        return ["index", *head], [["value", *_cells(cols, found.get(0, {}))]]
    return ["", *head], [
        ["..."] * (1 + len(cols)) if r is None else [str(r), *_cells(cols, found.get(r, {}))] for r in rows
    ]


def facts(x: Any) -> dict[str, str]:
    """The facts in the header of a Matrix, TransposedMatrix or Vector."""
    sizes = {"size": x.size} if x.ndim == 1 else {"nrows": x.nrows, "ncols": x.ncols}
    layout = {} if x.ndim == 1 else {"format": x._matrix.format}
    iso = " (iso)" if (x._matrix if x.ndim == 2 else x)._stored.iso else ""
    named = {"nvals": x.nvals, **sizes, "dtype": f"{x.dtype}{iso}", **layout, "device": x.device.name}
    return {name: str(value) for name, value in named.items()}


def text(title: str, kind: str, named: dict[str, str], cells: Table) -> str:
    """The header in two lines, a rule, and the table."""
    head = aligned([[f'"{title}"', *named], [f"gb.{kind}", *named.values()]])
    columns, rows = cells
    body = aligned([columns, *rows]) if rows else []
    return "\n".join([*head, *(["-" * max(map(len, head)), *body] if body else [])])


def html(title: str, kind: str, named: dict[str, str], cells: Table) -> str:
    """The same for notebooks; the table can be folded by a click."""
    head = as_html([[title, *named], [f"gb.{kind}", *named.values()]])
    columns, rows = cells
    return f"<details open><summary>{head}</summary>{as_html([columns, *rows])}</details>" if rows else head


class Shown:
    """`repr` and `_repr_html_` of Matrix, TransposedMatrix and Vector."""

    __slots__ = ()
    name: Any

    def _show(self) -> tuple[str, str, dict[str, str], Table]:
        return self.name, type(self).__name__, facts(self), table(self)

    def __repr__(self) -> str:
        return text(*self._show())

    def _repr_html_(self) -> str:
        return html(*self._show())


class ShownScalar(Shown):
    """`repr` and `_repr_html_` of a Scalar."""

    __slots__ = ()
    value: Any
    dtype: DataType

    def _show(self) -> tuple[str, str, dict[str, str], Table]:
        return self.name, type(self).__name__, {"value": str(self.value), "dtype": str(self.dtype)}, ([], [])


class ShownMask(Shown):
    """`repr` and `_repr_html_` of a mask: allowed positions are 1, others are empty."""

    __slots__ = ()
    parent: Any
    structure: bool
    complement: bool
    new: Any

    def _show(self) -> tuple[str, str, dict[str, str], Table]:
        kind = ("Complemented" if self.complement else "") + ("StructuralMask" if self.structure else "ValueMask")
        known = facts(self.parent)
        small = math.prod(self.parent.shape) <= MASK_LIMIT
        allowed = table(self.new(int)) if small else ([], [])
        return self.name, f"{kind} of gb.{type(self.parent).__name__}", known, allowed


class ShownExpression(Shown):
    """`repr` and `_repr_html_` of a delayed value: its kind and shape; printing computes nothing."""

    __slots__ = ()
    shape: Any
    dtype: Any
    _text: Any

    def _show(self) -> tuple[str, str, dict[str, str], Table]:
        sizes = dict(zip({1: ("size",), 2: ("nrows", "ncols")}.get(len(self.shape), ()), map(str, self.shape)))
        try:
            dtype = str(self.dtype)
        except TypeError:  # an infix expression that needs an operator
            dtype = "?"
        return self._text(), type(self).__name__, {**sizes, "dtype": dtype}, ([], [])

    def __repr__(self) -> str:
        return text(*self._show()) + "\n\nNot computed yet: use .new(), or C << expr"
