"""Sort entries by row and column: by keys, or, if there are many on the CPU, by counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device import Device
from ...kernels.prologue import Variant
from .choice import index_type, pointer_type
from .format import Csr, transposed

FEW = 1 << 14  # entries below which the CPU uses NumPy instead of loading a kernel


def counts(device: Device, nrows: int, ncols: int, nvals: int) -> bool:
    """Whether to use counting sort: not if most rows or columns are empty, because it also loops over these."""
    return not device.sorts_keys and nvals >= FEW and max(nrows, ncols) <= 8 * nvals


def by_counting(device: Device, nrows: int, ncols: int, rows: Any, cols: Any, order: bool) -> tuple[Csr, Any]:
    """Rows with ascending columns by counting sort, first by column, then by row; equal entries stay in input order.
    order[e]: the input position of entry e. Peak memory: the result, and 4 bytes per entry, 16 with the order (8 and 32
    from 2**31 entries on)."""
    nvals = len(rows)
    ptr, row = np.zeros(ncols + 1, pointer_type(nvals)), np.empty(nvals, index_type(nrows))
    came = np.empty(nvals if order else 1, pointer_type(nvals))
    kernel = device.kernel(Variant("formats/csr/by_columns", (), (("ORDER", int(order)),)))
    kernel(nvals, ncols, rows, cols, ptr, row, came)
    found, places = transposed(Csr(device, ncols, nrows, ptr, row, nvals), order)
    return found, came[places] if order else None


def sort_entries(device: Device, rows: Any, cols: Any, nrows: int, ncols: int) -> Any:
    """The order of the entries by row, then column; equal entries stay in input order."""
    if counts(device, nrows, ncols, len(rows)):
        return by_counting(device, nrows, ncols, rows, cols, True)[1]
    if nrows * ncols < 1 << 63:
        return device.xp.argsort(rows * ncols + cols, kind="stable")
    by_col = device.xp.argsort(cols, kind="stable")
    return by_col[device.xp.argsort(rows[by_col], kind="stable")]


def sort_bytes(device: Device, nrows: int, ncols: int, nvals: int, alone: bool) -> int:
    """Bytes that sorting needs in addition to input and output; alone: no values follow the entries."""
    if counts(device, nrows, ncols, nvals):
        return (16 if alone else 40) * nvals + 8 * (ncols + 1)
    return (80 if not device.sorts_keys else 16 if alone else 40) * nvals
