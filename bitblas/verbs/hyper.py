"""Hypersparse matrices: compress the non-empty rows and columns of all operands to 0..k-1, run the ordinary operation,
map the indices of the result back.

`rows` and `cols` are always lists of indices (INT64, ascending).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ..build.stores import narrowed
from ..build.stores import widened as widened  # the name that other operations use
from ..formats import Structure, numbers
from ..store import MatrixStore


def lists(A: MatrixStore | Structure) -> tuple[Any, Any]:
    """The rows and the columns that have entries."""
    structure: Any = getattr(A, "structure", A)
    form = structure.primary
    if form.format.renumbers:
        return form.rows, form.cols
    xp = structure.device.xp
    found = tuple(map(xp.unique, form.coo()))
    return found[0], found[1]


def joint(*of: Any) -> tuple[Any, Any]:
    """The rows and the columns that have entries in any of these stores or structures (None: nothing)."""
    rows = cols = None
    for x in of:
        if x is not None:
            more, xp = lists(x), x.device.xp
            rows = more[0] if rows is None else numbers.union(xp, rows, more[0])
            cols = more[1] if cols is None else numbers.union(xp, cols, more[1])
    return rows, cols


def own(A: MatrixStore) -> MatrixStore:
    """The compressed matrix of A's own rows and columns, cached as long as A lives."""
    found: MatrixStore | None = A.prepared.get("own")
    if found is None:
        found = A.prepared["own"] = narrowed(A, *lists(A))
    return found


def small(A: MatrixStore, rows: Any, cols: Any) -> MatrixStore:
    """The entries in these rows and columns, with compressed indices."""
    mine: Any = A.structure.primary
    same = A.structure.renumbers and mine.rows is rows and mine.cols is cols
    return own(A) if same else narrowed(A, rows, cols)


def pattern(structure: Structure, rows: Any, cols: Any) -> Structure:
    """The same for a structure."""
    return narrowed(MatrixStore(structure, BOOL, BOOL.np_type.type(True)), rows, cols).structure


def entrywise(run: Callable[..., MatrixStore], A: MatrixStore, B: MatrixStore, *masks: Structure) -> MatrixStore:
    """run(a, b, *masks) on compressed matrices of one shape, and compressed mask structures."""
    rows, cols = joint(A, B, *masks)
    t = run(small(A, rows, cols), small(B, rows, cols), *(pattern(m, rows, cols) for m in masks))
    return widened(t, rows, cols, A.nrows, A.ncols)


def asked(index: Any, held: Any, size: int, xp: Any) -> tuple[Any, Any, int]:
    """Resolve an index (an array, a range, or None: all) against the listed rows or columns `held`: their positions in
    `held`, the positions in the index, and the size of the index."""
    if index is None:
        return None, held, size
    if isinstance(index, range):
        position, place = numbers.within(held, index)
        return place, position, len(index)
    place, there = numbers.placed(xp, held, index)
    return place[there], xp.flatnonzero(there), len(index)


def reached(index: Any, held: Any, given: Any, size: int, xp: Any) -> tuple[Any, Any, Any]:
    """Resolve the index of an assignment (as in `asked`): the rows (or columns) that have entries (`held`) or are
    assigned to, the positions of the index among them (None: all), and which of its `size` positions it takes of the
    assigned value, which has entries at `given`."""
    if index is None:
        rows = numbers.union(xp, held, given)
        return rows, None, rows
    if isinstance(index, range):  # positions where neither has an entry do not change
        taken = numbers.union(xp, numbers.within(held, index)[0], given)
        index = index.start + index.step * taken
    else:
        taken = xp.arange(size, dtype=np.int64)
    rows = numbers.union(xp, held, xp.unique(index))
    return rows, xp.searchsorted(rows, index), taken
