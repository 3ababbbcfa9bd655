"""Products that compute with values of user-defined types, on the host: all products one after the other, sorted by
where they go, then each place's joined from left to right. Memory: 40 bytes for each product."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Semiring, Typed

from ..build import entries as build
from ..store import MatrixStore, VectorStore, unpack
from . import arrays, keys, local, masks, reading, records, vector, vector_build
from .operands import Into, Mask


def mxv(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool, mask: Mask | None,
    into: Into | None,
) -> VectorStore:  # fmt: skip
    """As `product.mxv`."""
    records.check(A.device, semiring)
    rows, cols = A.structure.coo()
    at, k = (cols, rows) if transpose else (rows, cols)
    met = local.extract(u, k)
    there = unpack(u.device, met.present, met.size)
    order = np.flatnonzero(there)
    order = order[np.argsort(at[order], kind="stable")]
    of_u = reading.plain_values(met)[order]
    of_a = A.device.full(len(order), A.values) if A.iso else A.values[order]
    x, y, places = (of_u, of_a, ("0", "jx", "jx", "ix")) if flip else (of_a, of_u, ("ix", "jx", "jx", "0"))
    index, values, dtype = _summed(A, semiring, at[order], x, y, at[order], k[order], places)
    t = vector_build.build(A.device, A.ncols if transpose else A.nrows, dtype, index, values, distinct=True)
    if into is not None and into.keeps:
        vector.merge(into.w, t, mask, into.accum, into.replace)
        return into.w
    if mask is not None:
        masks.restrict(t, mask)
    return t


def mxm(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], *, transpose_a: bool, transpose_b: bool, mask: Any
) -> MatrixStore:
    """As `mxm.mxm`."""
    records.check(A.device, semiring)
    nrows, ncols = A.ncols if transpose_a else A.nrows, B.nrows if transpose_b else B.ncols
    keys.check_keys(nrows, ncols)
    i, k, x = keys.coo(A)
    of_b, j, y = keys.coo(B)
    if transpose_a:
        i, k = k, i
    if transpose_b:
        by_row = np.argsort(j, kind="stable")
        of_b, j, y = j[by_row], of_b[by_row], y[by_row]
    first, last = (np.searchsorted(of_b, k, side) for side in ("left", "right"))
    count = last - first
    a = np.repeat(np.arange(len(i)), count)
    b = np.arange(len(a)) - np.repeat(np.cumsum(count) - count - first, count)
    at = i[a] * ncols + j[b]
    if mask is not None:
        rows, cols = mask.structure.coo()
        kept = np.isin(at, rows * ncols + cols, invert=mask.complement)
        a, b, at = a[kept], b[kept], at[kept]
    order = np.lexsort((k[a], at))  # along k, whichever operand was transposed
    a, b, at = a[order], b[order], at[order]
    # The number that both share, k, is not said by the place of the result: operators that read it are refused.
    at, values, dtype = _summed(A, semiring, at, x[a], y[b], None, None, None)
    return build.from_sorted_keys(A.device, nrows, ncols, at, values, dtype)


def _summed(
    A: MatrixStore, semiring: Typed[Semiring], at: Any, x: Any, y: Any, rows: Any, cols: Any, places: Any
) -> tuple[Any, Any, Any]:
    """The products of x and y, those of one place (ascending) joined: the places, their sums, and the type of these."""
    device = A.device
    op: Typed = semiring.op.binaryop[semiring.op.operand_type(semiring.dtype)]
    add: Typed = semiring.op.monoid[op.return_type]
    fresh = np.ones(len(at), bool)
    fresh[1:] = at[1:] != at[:-1]
    starts = np.flatnonzero(fresh)
    if not len(at):
        return at, np.zeros(0, add.return_type.np_type), add.return_type
    if op.op.expr in ("x", "y"):
        products = x if op.op.expr == "x" else y
    elif op.op.positional and places is not None:
        products = arrays.by_place(device, op, x, y, rows, cols, places)
    elif op.op.positional:
        raise records.unplaced(op)
    else:
        products = arrays.binary(device, op, x, y)
    sums = arrays.fold_segments(device, add, products, add.return_type, np.append(starts, len(at)))
    return at[starts], sums, add.return_type
