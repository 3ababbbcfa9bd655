"""Sorted linear keys of a matrix, row * ncols + column (INT64), for operations by index; expand-sort-reduce products.

Values are in the order of the keys. Products over user-defined types sort all products by output position, then combine
those of each position from left to right along the shared dimension.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import INT64, DataType

from .. import tuning
from ..device import Device
from ..exceptions import NotImplementedException
from ..formats import CSR, Structure
from ..formats.hyper.layout import placed
from ..kernels.variant import Variant
from ..store import FlatStore, MatrixStore, PlainValues, RowLayout, VectorStore, plain, unpack
from ..typing import Array
from . import build, compressed, multivector, udf, value_arrays, vector_entries
from .operands import MatrixProduct, VectorProduct
from .udf import Operand, Work
from .value_arrays import take as take

# ---- Sorted linear keys of a matrix, row * ncols + column (INT64), with values in the same order, for operations by
# index. Functions that NumPy and CuPy share.


Keyed = tuple[Array, PlainValues]  # sorted keys, and the values in that order


def check_keys(nrows: int, ncols: int) -> None:
    if nrows * ncols >= 1 << 63:
        raise NotImplementedException(
            f"matrix: expected nrows * ncols below 2**63 for this operation, got {nrows} x {ncols}"
        )


def keys_of(structure: Structure, order: bool) -> tuple[Array, Array | None]:
    """Sorted keys, and the positions of their values (None: in that order)."""
    check_keys(structure.nrows, structure.ncols)
    layout, places = structure.primary.by_rows(order)
    rows, cols = layout.coo()
    rows *= structure.ncols
    rows += cols
    return rows, places


def entries(A: MatrixStore) -> tuple[Array, PlainValues]:
    """Sorted keys and the values in that order (np.generic: iso)."""
    keys, order = keys_of(A.structure, not A.iso)
    return keys, plain(A.taken(order))


def _rows_of(structure: Structure, order: bool) -> tuple[RowLayout, Array | None]:
    """CSR, and the positions of its values. On the CPU the auxiliary CSR of a tiled matrix, which is kept from the
    second request for rows on."""
    primary, again = structure.primary, structure.other_reads > 0
    if primary.format.by_rows or primary.compact or not structure.device.host_memory:
        return primary.by_rows(order)
    structure.other_reads += 1
    if not again and not structure.has(CSR):
        return primary.by_rows(order)
    layout: Any = structure.layout(CSR)
    return layout, structure.order(CSR) if order else None


def coo(A: MatrixStore, *, rows: bool = True, values: bool = True) -> tuple[Any, Any, Any]:
    """Rows, columns (INT64, by row, then column) and values as arrays; rows and values only if requested."""
    layout, order = _rows_of(A.structure, not A.iso)
    i, j = layout.coo() if rows else (None, layout.columns().astype(np.int64))
    if not values:
        return i, j, None
    return i, j, A.device.full(len(j), A.values) if A.iso else plain(A.taken(order))


FIND = Variant("kernels/find", (("COL", INT64),))


def find(device: Device, keys: Array, queries: Array) -> tuple[Array, Array]:
    """For each queried key its lower bound in the sorted keys, and whether it is present; both lists ascend."""
    xp, n = device.xp, len(queries)
    if not len(keys) or not n:
        return xp.zeros(n, np.int64), xp.zeros(n, bool)
    places, hit = xp.empty(n, np.int64), xp.empty(n, bool)
    bounds = device.ranges(n, tuning.count("parallel.entries"))
    device.kernel(FIND)(n, keys, len(keys), queries, places, hit.view(np.uint8), bounds=bounds)
    return places, hit


def same_iso(x: PlainValues, y: PlainValues) -> bool:
    return isinstance(x, np.generic) and isinstance(y, np.generic) and (bool(x == y) or bool(x != x and y != y))


def joined(device: Device, a: Keyed, b: Keyed) -> Keyed:
    """Merge two disjoint lists of (keys, values of one type) in linear time."""
    (ka, va), (kb, vb) = a, b
    if not len(kb):
        return a
    if not len(ka):
        return b
    xp = device.xp
    place = find(device, kb, ka)[0] + xp.arange(len(ka))
    free = xp.ones(len(ka) + len(kb), bool)
    free[place] = False
    keys = xp.empty(len(free), np.int64)
    keys[place], keys[free] = ka, kb
    if same_iso(va, vb):
        return keys, va
    values = xp.empty(len(keys), va.dtype)
    va, vb = (device.full(len(k), v) if isinstance(v, np.generic) else v for k, v in (a, b))
    values[place], values[free] = va, vb
    return keys, values


def store(like: MatrixStore, keys: Array, values: PlainValues, dtype: DataType) -> MatrixStore:
    return build.from_sorted_keys(like.device, like.nrows, like.ncols, keys, values, dtype)


def cast(A: MatrixStore, dtype: DataType) -> MatrixStore:
    """The same structure, values of another type."""
    if isinstance(A, FlatStore) and A.dtype is not dtype and not dtype._is_udt:
        return multivector.cast(A, dtype)
    if A.dtype is dtype:
        return A
    return MatrixStore(A.structure, dtype, value_arrays.cast(A.device, A.values, A.dtype, dtype))


# ---- Expand-sort-reduce products for semirings over user-defined types: sort all products by output position, then
# combine those of each position from left to right along the shared dimension.


def mxv(of: VectorProduct) -> VectorStore:
    """As `spmv.mxv`, without the epilogue."""
    A, u, semiring, transpose, flip, mask, _ = of
    xp = A.device.xp
    rows, cols, x = coo(A)
    at, k = (cols, rows) if transpose else (rows, cols)
    met = compressed.extract(u, k)
    order = xp.flatnonzero(unpack(u.device, met.present, met.size))
    if transpose:
        order = order[xp.argsort(at[order], kind="stable")]
    of_a, of_u = Operand(x, order), Operand(compressed.plain_values(met), order)
    first, second, places = (of_u, of_a, ("0", "jx", "jx", "ix")) if flip else (of_a, of_u, ("ix", "jx", "jx", "0"))
    index, values, dtype = _sum_products(A.device, semiring, at[order], first, second, at[order], k[order], places)
    t = vector_entries.build(A.device, A.ncols if transpose else A.nrows, dtype, index, values, distinct=True)
    if mask is not None:
        vector_entries.restrict(t, mask)
    return t


def mxm(of: MatrixProduct) -> MatrixStore:
    """As `spgemm.mxm`."""
    A, B, semiring, transpose_a, transpose_b, mask = of
    d, xp, (nrows, ncols) = A.device, A.device.xp, of.shape
    check_keys(nrows, ncols)
    i, k, x = _by_row(xp, *coo(A), transpose_a)
    of_b, j, y = _by_row(xp, *coo(B), transpose_b)
    allowed = None if mask is None else keys_of(mask.structure, False)[0]
    first, last = (xp.searchsorted(of_b, k, side) for side in ("left", "right"))
    ends = xp.cumsum(last - first)  # end of the products of each entry of A
    parts = []
    for low, high in _chunks(d, i, ends):
        begin = 0 if low == 0 else ends[low - 1]
        count = int(ends[high - 1] - begin) if high else 0
        a = low + xp.searchsorted(ends[low:high], begin + xp.arange(count), "right")
        b = begin + xp.arange(len(a)) - (ends[a] - last[a])
        at = i[a] * ncols + j[b]
        if allowed is not None and mask is not None:
            hit = placed(xp, allowed, at)[1] if len(allowed) else xp.zeros(len(at), bool)
            kept = xp.flatnonzero(~hit if mask.complement else hit)
            a, b, at = a[kept], b[kept], at[kept]
        order = xp.argsort(at, kind="stable")  # those of a row stay in the order of k
        # The position of the result does not determine k, so operators that read it are refused.
        parts.append(
            _sum_products(d, semiring, at[order], Operand(x, a[order]), Operand(y, b[order]), None, None, None)
        )
    at, values = (xp.concatenate([part[n] for part in parts]) for n in (0, 1))
    return build.from_sorted_keys(d, nrows, ncols, at, values, parts[0][2])


def _by_row(xp: ModuleType, rows: Array, cols: Array, values: Array, transposed: bool) -> tuple[Array, Array, Array]:
    if not transposed:
        return rows, cols, values
    order = xp.argsort(cols, kind="stable")
    return cols[order], rows[order], values[order]


def _chunks(device: Device, rows: Array, ends: Array) -> list[tuple[int, int]]:
    """Ranges of entries, whole rows each, with at most `most` products; at least one range."""
    n, most = len(rows), tuning.count("sorted_product.products")
    if not n or int(ends[-1]) <= most:
        return [(0, n)]
    xp, ranges, low = device.xp, [], 0
    while low < n:
        before = int(ends[low - 1]) if low else 0
        fits = int(xp.searchsorted(ends, before + most, "right"))
        begins = lambda at: int(xp.searchsorted(rows, rows[at], "left"))
        high = n if fits >= n else begins(fits)
        high = high if high > low else int(xp.searchsorted(rows, rows[low], "right"))
        ranges.append((low, high))
        low = high
    return ranges


def _sum_products(
    device: Device,
    semiring: Typed[Semiring],
    at: Array,
    x: Operand,
    y: Operand,
    rows: Array | None,
    cols: Array | None,
    places: tuple[str, ...] | None,
) -> tuple[Array, Array, DataType]:
    """The products of x and y, reduced by position (ascending): positions, sums, and the type of the sums."""
    op: Typed = semiring.op.binaryop[semiring.op.operand_type(semiring.dtype)]
    add: Typed = semiring.op.monoid[op.return_type]
    xp, n = device.xp, len(at)
    if not n:
        return at, xp.zeros(0, add.return_type.np_type), add.return_type
    starts = xp.flatnonzero(xp.concatenate((xp.ones(1, bool), at[1:] != at[:-1])))
    pointers = xp.concatenate((starts, xp.full(1, n, starts.dtype)))
    join = udf.plain(add)
    operand = {"x": x, "y": y}.get(op.op.expr)  # of first and second the unused operand may have any type
    if udf.is_call(join) and (operand is not None or (udf.is_call(op) and not op.op.positional)):
        product, operands = (op, {"x": x, "y": y}) if operand is None else (None, {"x": operand})
        sums = udf.run(device, Work(len(starts), product, operands, join, pointers))
        return at[starts], sums, add.return_type
    of_x, of_y = (v.values[v.at] for v in (x, y))
    if operand is not None:
        products = operand.values[operand.at]
    elif op.op.positional:
        if rows is None or cols is None or places is None:
            raise udf.unplaced(op)
        products = value_arrays.by_place(device, op, of_x, of_y, rows, cols, places)
    else:
        products = value_arrays.binary(device, op, of_x, of_y)
    return at[starts], value_arrays.fold_segments(device, add, products, add.return_type, pointers), add.return_type
