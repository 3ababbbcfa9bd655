"""Expand-sort-reduce products for semirings over user-defined types: sort all products by output position, then combine
those of each position from left to right along the shared dimension."""

from __future__ import annotations

from typing import Any

from semirings import Semiring, Typed

from ..build import entries as build
from ..device import Device
from ..formats.numbers import placed
from ..store import MatrixStore, VectorStore, unpack
from . import arrays, keys, local, masks, reading, records, vector, vector_build
from .operands import Into, Mask
from .record_work import Operand, Work

MOST = 1 << 22  # products that are expanded at a time, 40 bytes each, unless a row has more


def mxv(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool, mask: Mask | None,
    into: Into | None,
) -> VectorStore:  # fmt: skip
    """As `product.mxv`."""
    xp = A.device.xp
    rows, cols, x = keys.coo(A)
    at, k = (cols, rows) if transpose else (rows, cols)
    met = local.extract(u, k)
    order = xp.flatnonzero(unpack(u.device, met.present, met.size))
    if transpose:
        order = order[xp.argsort(at[order], kind="stable")]
    of_a, of_u = Operand(x, order), Operand(reading.plain_values(met), order)
    first, second, places = (of_u, of_a, ("0", "jx", "jx", "ix")) if flip else (of_a, of_u, ("ix", "jx", "jx", "0"))
    index, values, dtype = _summed(A.device, semiring, at[order], first, second, at[order], k[order], places)
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
    d, xp = A.device, A.device.xp
    nrows, ncols = A.ncols if transpose_a else A.nrows, B.nrows if transpose_b else B.ncols
    keys.check_keys(nrows, ncols)
    i, k, x = _by_row(xp, *keys.coo(A), transpose_a)
    of_b, j, y = _by_row(xp, *keys.coo(B), transpose_b)
    allowed = None if mask is None else keys.keys_of(mask.structure, False)[0]
    first, last = (xp.searchsorted(of_b, k, side) for side in ("left", "right"))
    ends = xp.cumsum(last - first)  # end of the products of each entry of A
    parts = []
    for low, high in _chunks(d, i, ends):
        begin = 0 if low == 0 else ends[low - 1]
        count = int(ends[high - 1] - begin) if high else 0
        a = low + xp.searchsorted(ends[low:high], begin + xp.arange(count), "right")
        b = begin + xp.arange(len(a)) - (ends[a] - last[a])
        at = i[a] * ncols + j[b]
        if allowed is not None:
            hit = placed(xp, allowed, at)[1] if len(allowed) else xp.zeros(len(at), bool)
            kept = xp.flatnonzero(~hit if mask.complement else hit)
            a, b, at = a[kept], b[kept], at[kept]
        order = xp.argsort(at, kind="stable")  # those of a row stay in the order of k
        # The position of the result does not determine k, so operators that read it are refused.
        parts.append(_summed(d, semiring, at[order], Operand(x, a[order]), Operand(y, b[order]), None, None, None))
    at, values = (xp.concatenate([part[n] for part in parts]) for n in (0, 1))
    return build.from_sorted_keys(d, nrows, ncols, at, values, parts[0][2])


def _by_row(xp: Any, rows: Any, cols: Any, values: Any, transposed: bool) -> tuple[Any, Any, Any]:
    if not transposed:
        return rows, cols, values
    order = xp.argsort(cols, kind="stable")
    return cols[order], rows[order], values[order]


def _chunks(device: Device, rows: Any, ends: Any) -> list[tuple[int, int]]:
    """Ranges of entries, whole rows each, with at most MOST products; at least one range."""
    n = len(rows)
    if not n or int(ends[-1]) <= MOST:
        return [(0, n)]
    xp, found, low = device.xp, [], 0
    while low < n:
        before = int(ends[low - 1]) if low else 0
        fits = int(xp.searchsorted(ends, before + MOST, "right"))
        begins = lambda at: int(xp.searchsorted(rows, rows[at], "left"))
        high = n if fits >= n else begins(fits)
        high = high if high > low else int(xp.searchsorted(rows, rows[low], "right"))
        found.append((low, high))
        low = high
    return found


def _summed(
    device: Device, semiring: Typed[Semiring], at: Any, x: Operand, y: Operand, rows: Any, cols: Any, places: Any
) -> tuple[Any, Any, Any]:
    """The products of x and y, reduced by position (ascending): positions, sums, and the type of the sums."""
    op: Typed = semiring.op.binaryop[semiring.op.operand_type(semiring.dtype)]
    add: Typed = semiring.op.monoid[op.return_type]
    xp, n = device.xp, len(at)
    if not n:
        return at, xp.zeros(0, add.return_type.np_type), add.return_type
    starts = xp.flatnonzero(xp.concatenate((xp.ones(1, bool), at[1:] != at[:-1])))
    pointers = xp.concatenate((starts, xp.full(1, n, starts.dtype)))
    join = records.plain(add)
    alone = {"x": x, "y": y}.get(op.op.expr)  # of first and second the unused operand may have any type
    if records.is_call(join) and (alone is not None or (records.is_call(op) and not op.op.positional)):
        product, operands = (op, {"x": x, "y": y}) if alone is None else (None, {"x": alone})
        sums = records.run(device, Work(len(starts), product, operands, join, pointers))
        return at[starts], sums, add.return_type
    if op.op.positional and places is None:
        raise records.unplaced(op)
    of_x, of_y = (v.values[v.at] for v in (x, y))
    if alone is not None:
        products = alone.values[alone.at]
    elif op.op.positional:
        products = arrays.by_place(device, op, of_x, of_y, rows, cols, places)
    else:
        products = arrays.binary(device, op, of_x, of_y)
    return at[starts], arrays.fold_segments(device, add, products, add.return_type, pointers), add.return_type
