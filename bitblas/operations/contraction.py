"""Contraction of a graph on the CPU: S' A S for a map of the rows to groups, with one entry per pair of groups that has
entries.

The rows are sorted by group, and the rows of a group are added in a table with a place for each group; if the result is
a matrix, counting sorts then order the columns. Sums are INT64 (integers, BOOL) modulo 2^64, which is exact in any
order; the caller makes sure that they fit. A GPU contracts inside of a larger kernel (kernels/louvain_levels.cu).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semirings.dtypes import INT64, lookup_dtype

from .. import tuning
from ..device import Device, dummy
from ..formats import Structure
from ..formats.csr.layout import Csr, close_gaps, from_arrays
from ..kernels.variant import Variant
from ..store import MatrixStore, PlainValues
from ..typing import Array


def rows_of(A: MatrixStore) -> tuple[Csr, PlainValues]:
    """The matrix as plain rows, and its values in their order."""
    rows = A.structure.plain_rows()
    return rows, A.values_for(rows.key, False)


class Contracted(NamedTuple):
    """The rows of S' A S, whose columns are in no order, and its values and diagonal, INT64."""

    rows: Csr
    values: Array
    loop: Array


def contract_rows(device: Device, rows: Csr, values: PlainValues, group: Array, count: int) -> Contracted:
    """S' A S, count x count, where A (square) has these rows and integer values, and S the entry (v, group[v]) for each
    row v. All arrays are in host memory.

    group: INT32, one per row, below count. Raises OutOfMemory before it allocates.
    """
    nvals, iso = rows.nvals, isinstance(values, np.generic)
    device.foresee(f"contraction of {nvals} entries", 12 * nvals + 36 * count + 4 * rows.nrows)
    first, begin, ptr = (np.zeros(count + 1, np.int64) for _ in range(3))
    order, loop = np.empty(max(1, rows.nrows), np.int32), np.zeros(max(1, count), np.int64)
    types = ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(rows.col.dtype))
    device.kernel(Variant("formats/csr/group_rows"))(rows.nrows, count, group, rows.ptr, first, order, begin)
    col, sums = np.empty(max(1, nvals), np.int32), np.empty(max(1, nvals), np.int64)
    source = dummy(device, "int64") if iso else values
    constant = np.int64(int(values)) if iso else np.int64(0)
    bounds = None
    if device.splits(nvals, tuning.count("parallel.entries")):
        bounds = np.searchsorted(begin, np.linspace(0, nvals, device.parts + 1).astype(np.int64)).astype(np.int64)
        bounds[0], bounds[-1] = 0, count
    kernel = device.kernel(Variant("formats/csr/contract_rows", (*types, ("Z", INT64))))
    args = first, order, begin, rows.ptr, rows.col, source, constant, int(not iso), group
    kernel(count, count, *args, ptr, col, sums, loop, bounds=bounds)
    if bounds is not None:
        close_gaps(begin[bounds], bounds, ptr, (col, sums))
    nvals = int(ptr[-1])
    return Contracted(from_arrays(device, count, count, ptr, col[:nvals]), sums[:nvals], loop[:count])


def contract(device: Device, rows: Csr, values: PlainValues, group: Array, count: int) -> MatrixStore:
    """The same as a matrix: columns ascend, by two transposes."""
    found, sums, _ = contract_rows(device, rows, values, group, count)
    ptr, col, nvals = found.ptr.astype(np.int64), found.col, found.nvals
    device.foresee(f"transposes of {nvals} entries", 24 * nvals)
    for _ in range(2):
        t_ptr, t_col, t_sums = (
            np.zeros(count + 1, np.int64),
            np.empty(max(1, nvals), np.int32),
            np.empty(nvals, np.int64),
        )
        transpose = device.kernel(Variant("formats/csr/transpose_rows"))
        transpose(count, count, ptr, col, sums, t_ptr, t_col, t_sums if nvals else dummy(device, "int64"))
        ptr, col, sums = t_ptr, t_col, t_sums
    return MatrixStore(Structure(from_arrays(device, count, count, ptr, col[:nvals])), INT64, sums)
