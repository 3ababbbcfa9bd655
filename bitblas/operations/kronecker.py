"""Operations on a vector and a matrix: outer and Kronecker products, diagonals, a vector at the entries of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Operator, Typed

from ..formats import Region
from ..plan import operation as plan
from ..store import MatrixStore, PlainValues, VectorStore, unpack
from ..store import plain as unpacked
from . import build, compressed, convert, hypersparse, value_arrays, vector_entries
from .assign_extract import in_order
from .duplicates import Entries
from .ewise_matrix import plain
from .sorted_keys import check_keys, entries
from .value_arrays import take


def outer(u: VectorStore, v: VectorStore, op: Typed[Operator]) -> MatrixStore:
    """op(u[i], v[j])."""
    op, xp = plain(op), u.device.xp
    (i, x), (j, y) = compressed.entries(u), compressed.entries(v)
    at = xp.arange(len(i) * len(j), dtype=np.int64)
    a, b = at // max(1, len(j)), at % max(1, len(j))
    iso = u.iso and v.iso and not op.op.positional
    if iso or not len(at):
        values = op.op.evaluate(op.dtype, x=u.values, y=v.values) if iso else op.return_type.np_type.type(0)
    elif op.op.positional:  # u is a column, v a row
        values = value_arrays.by_place(u.device, op, x[a], y[b], i[a], j[b], ("ix", "0", "0", "jx"))
    else:
        values = value_arrays.binary(u.device, op, x[a], y[b])
    return build.from_coo(Entries(u.device, u.size, v.size, i[a], j[b], values, op.return_type))


def kronecker(A: MatrixStore, B: MatrixStore, op: Typed[Operator]) -> MatrixStore:
    """op(A[i, j], B[k, l]) at (i * B.nrows + k, j * B.ncols + l). GraphBLAS C API 2.1, section 4.3.12."""
    op, device, xp = plain(op), A.device, A.device.xp
    nrows, ncols = A.nrows * B.nrows, A.ncols * B.ncols
    if plan.kronecker_way(A, B, op) is plan.COMPRESSED:
        pairs = zip(hypersparse.lists(A), hypersparse.lists(B), (B.nrows, B.ncols), strict=True)
        rows, cols = ((a[:, None] * size + b).ravel() for a, b, size in pairs)
        a, b = (hypersparse.compress(x, *hypersparse.lists(x)) for x in (A, B))
        return hypersparse.widened(kronecker(a, b, op), rows, cols, nrows, ncols)
    check_keys(nrows, ncols)
    (ka, va), (kb, vb) = entries(A), entries(B)
    a, b = xp.repeat(xp.arange(len(ka)), len(kb)), xp.tile(xp.arange(len(kb)), len(ka))
    ia, ja, ib, jb = ka // max(1, A.ncols), ka % max(1, A.ncols), kb // max(1, B.ncols), kb % max(1, B.ncols)
    keys = (ia[a] * B.nrows + ib[b]) * ncols + ja[a] * B.ncols + jb[b]
    values: PlainValues = op.return_type.np_type.type(0)
    if op.op.positional and len(keys):
        # 0 * ix gives the literal the type of positions, which C++ requires.
        first = [f"quotient({of}, 0 * {of} + {n}, 64)" for of, n in (("ix", B.nrows), ("jx", B.ncols))]
        second = [f"({of} - {n} * {at})" for of, n, at in zip(("ix", "jx"), (B.nrows, B.ncols), first)]
        x, y = take(va, a), take(vb, b)
        values = value_arrays.by_place(device, op, x, y, keys // ncols, keys % ncols, (*first, *second))
    elif len(keys):
        values = value_arrays.binary(device, op, take(va, a), take(vb, b))
    return in_order(device, nrows, ncols, keys, values, op.return_type)


def broadcast(A: MatrixStore, u: VectorStore, *, columns: bool) -> MatrixStore:
    """u[j] (u[i] with `columns`) at each entry (i, j) of A for which u has an entry."""
    rows, cols = A.structure.coo()
    at = rows if columns else cols
    t = compressed.extract(u, at)
    keep = unpack(u.device, t.present, t.size)
    values = t.values if t.iso else compressed.plain_values(t)
    return convert.filter_entries(MatrixStore(A.structure, u.dtype, values), keep)


def from_diagonal(u: VectorStore, k: int) -> MatrixStore:
    """A matrix with u on diagonal k."""
    n = u.size + abs(k)
    i, x = compressed.entries(u)
    values = u.values if u.iso else x
    return build.from_coo(Entries(u.device, n, n, i + max(0, -k), i + max(0, k), values, u.dtype))


def diagonal(A: MatrixStore, k: int) -> VectorStore:
    """Diagonal k as a vector."""
    size = max(0, min(A.nrows + min(0, k), A.ncols - max(0, k)))
    layout: Any
    layout, places = A.structure.primary.clip(Region(diag_low=k, diag_high=k), not A.iso)
    cols = layout.columns().astype(np.int64) if layout.format.by_rows else layout.coo()[1]
    at, values = cols - k if k > 0 else cols, unpacked(A.taken(places))
    return vector_entries.build(A.device, size, A.dtype, at, values, distinct=True)
