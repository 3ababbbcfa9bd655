"""Contraction of a graph on the CPU: S' A S for a map of the rows to groups, with one entry per pair of groups that has
entries.

The rows are sorted by group, and the rows of a group are added in a table with a place for each group; a counting sort
then orders the columns. Sums are INT64 (integers, BOOL) modulo 2^64, which is exact in any order; the caller makes sure
that they fit. A GPU contracts inside of a larger kernel (kernels/louvain_levels.cu).
"""

from __future__ import annotations

import numpy as np

from semirings.dtypes import INT64, lookup_dtype

from .. import tuning
from ..device import Device, dummy
from ..formats import Structure
from ..formats.csr.layout import Csr, from_arrays, pointer_type
from ..kernels.variant import Variant
from ..store import MatrixStore, PlainValues
from ..typing import Array


def rows_of(A: MatrixStore) -> tuple[Csr, PlainValues]:
    """The matrix as plain rows, and its values in their order."""
    rows = A.structure.plain_rows()
    return rows, A.values_for(rows.key, False)


def contract(
    device: Device, rows: Csr, values: PlainValues, group: Array, count: int, *, symmetric: bool = False
) -> MatrixStore:
    """S' A S, INT64, count x count, where A (square) has these rows and integer values, and S the entry (v, group[v])
    for each row v. All arrays are in host memory.

    group: INT32, one per row, below count. symmetric: whether the values of A equal those of its transpose.
    Raises OutOfMemory before it allocates.
    """
    nvals, iso = rows.nvals, isinstance(values, np.generic)
    device.foresee(f"contraction of {nvals} entries", nvals * (26 if iso else 56))
    first, begin = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    order, length = np.empty(max(1, rows.nrows), np.int32), np.zeros(max(1, count), np.int64)
    types = ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(rows.col.dtype))
    device.kernel(Variant("formats/csr/group_rows"))(rows.nrows, count, group, rows.ptr, first, order, begin)
    room = max(1, rows.nvals)
    col, sums = np.empty(room, np.int32), np.empty(room, np.int64)
    source = dummy(device, "int64") if iso else values
    constant = np.int64(int(values)) if iso else np.int64(0)
    bounds = None
    if device.splits(rows.nvals, tuning.count("parallel.entries")):
        bounds = np.searchsorted(begin, np.linspace(0, rows.nvals, device.parts + 1).astype(np.int64)).astype(np.int64)
        bounds[0], bounds[-1] = 0, count
    kernel = device.kernel(Variant("formats/csr/contract_rows", (*types, ("Z", INT64))))
    args = first, order, begin, rows.ptr, rows.col, source, constant, int(not iso), group, length, col, sums
    kernel(count, count, *args, bounds=bounds)
    nvals = int(length.sum())
    for _ in range(1 if symmetric else 2):
        ptr, t_col, t_sums = np.zeros(count + 1, np.int64), np.empty(max(1, nvals), np.int32), np.empty(nvals, np.int64)
        transpose = device.kernel(Variant("formats/csr/transpose_rows"))
        transpose(count, count, begin, length, col, sums, ptr, t_col, t_sums if nvals else dummy(device, "int64"))
        begin, length, col, sums = ptr, np.diff(ptr), t_col, t_sums
    return _store(device, count, begin, col[:nvals], sums)


def _store(device: Device, count: int, ptr: Array, col: Array, sums: Array) -> MatrixStore:
    rows = from_arrays(device, count, count, ptr.astype(pointer_type(len(col)), copy=False), col)
    return MatrixStore(Structure(rows), INT64, sums)
