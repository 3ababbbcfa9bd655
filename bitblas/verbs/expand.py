"""General mxm by expansion, sorting and compression (Bell, Dalton, Olson: SIAM J. Sci. Comput. 34(4), 2012).

Every product is made, sorted by row and column, and equal places are summed in order. Rows are taken in blocks, so
that at most BLOCK_PRODUCTS products exist at a time: about 48 bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import INT64
from semirings.expressions import code

from ..formats.build import from_coo, from_sorted_keys
from ..store import MatrixStore
from . import arrays

BLOCK_PRODUCTS = 1 << 25


def expand_sort_compress(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], transpose_a: bool, transpose_b: bool, mask: Any
) -> MatrixStore:
    """C = A (+).(x) B; entries outside the mask are dropped before they are summed."""
    device, xp = A.device, A.device.xp
    a, b = A.structure.form("csr", transposed=transpose_a), B.structure.form("csr", transposed=transpose_b)
    a_val, b_val = A.values_for("csr", transpose_a), B.values_for("csr", transpose_b)
    allowed = None
    if mask is not None:
        rows, cols = mask.structure.form("csr").coo()
        allowed = (rows * b.ncols + cols, mask.complement)
    rows, cols = a.coo()
    lengths = (b.ptr[1:] - b.ptr[:-1]).astype(np.int64)[cols]
    first = xp.zeros(len(cols) + 1, np.int64)  # products before entry e of A
    xp.cumsum(lengths, out=first[1:])
    keys, values = [], []
    for start, stop in _blocks(device.to_host(first), device.to_host(a.ptr)):
        low = int(first[start])
        product = xp.arange(int(first[stop]) - low) + low
        e = xp.searchsorted(first, product, side="right") - 1
        f = b.ptr[cols[e]].astype(np.int64) + product - first[e]
        i, k, j = rows[e], cols[e], b.col[f].astype(np.int64)
        key = i * b.ncols + j
        if allowed is not None:
            keep = _members(xp, key, allowed[0]) != allowed[1]
            key, i, k, j, e, f = (x[keep] for x in (key, i, k, j, e, f))
        if len(key):
            products = _products(device, semiring, a_val, b_val, i, k, j, e, f)
            block = _summed(device, semiring, key, products, b.ncols, a.nrows)
            keys.append(block[0])
            values.append(block[1])
    z = semiring.return_type
    all_keys = xp.concatenate(keys) if keys else xp.zeros(0, np.int64)
    all_values = xp.concatenate(values) if values else xp.zeros(0, z.np_type)
    return from_sorted_keys(device, a.nrows, b.ncols, all_keys, all_values, z)


def _blocks(first: np.ndarray, ptr: np.ndarray) -> Any:
    """Ranges of entries of A, whole rows, with at most BLOCK_PRODUCTS products (or one row)."""
    row, nrows = 0, len(ptr) - 1
    while row < nrows:
        limit = first[ptr[row]] + BLOCK_PRODUCTS
        end = max(row + 1, int(np.searchsorted(first[ptr], limit, side="right")) - 1)
        if ptr[end] > ptr[row]:
            yield int(ptr[row]), int(ptr[end])
        row = end


def _members(xp: Any, keys: Any, sorted_keys: Any) -> Any:
    """Which keys occur among the sorted ones."""
    if not len(sorted_keys):
        return xp.zeros(len(keys), bool)
    place = xp.minimum(xp.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return sorted_keys[place] == keys


def _products(device: Any, semiring: Typed[Semiring], a: Any, b: Any, i: Any, k: Any, j: Any, e: Any, f: Any) -> Any:
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    if op.positional:
        return eval(code(op.expr), {"ix": i, "jx": k, "iy": k, "jy": j}).astype(op.result_type(t).np_type, copy=False)
    x = a if isinstance(a, np.generic) else a[e]
    y = b if isinstance(b, np.generic) else b[f]
    z = arrays.binary(device, op[t], x, y)
    return device.xp.full(len(i), z) if isinstance(z, np.generic) else z


def _summed(device: Any, semiring: Typed[Semiring], keys: Any, values: Any, ncols: int, nrows: int) -> tuple[Any, Any]:
    xp = device.xp
    order = xp.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    fresh = xp.ones(len(keys), bool)
    fresh[1:] = keys[1:] != keys[:-1]
    starts = xp.flatnonzero(fresh)
    monoid = semiring.op.monoid[semiring.return_type]
    return keys[starts], arrays.reduce_segments(device, monoid, values, xp.append(starts, len(keys)))


__all__ = ["INT64", "expand_sort_compress", "from_coo"]
