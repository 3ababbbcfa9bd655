"""List the entries of a Split row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..csr.entries import split_keys
from ..csr.format import Csr, from_arrays, pointer_type, pointers_of, rows_bytes
from ..csr.sorting import sort_entries

if TYPE_CHECKING:
    from .format import Split


def rows_of(split: Split, order: bool) -> tuple[Csr, Any]:
    """Plain rows; order[e]: the position of entry e in the Split. The entries are sorted. Peak memory: the result, 48
    bytes per entry, and 8 per row."""
    device, nrows, ncols = split.device, split.nrows, split.ncols
    needed = rows_bytes(nrows, ncols, split.nvals) + 48 * split.nvals + 8 * nrows
    device.foresee(f"CSR of {split.nvals} entries", needed)
    if device.host_memory and nrows * ncols < 1 << 63:
        return _merged(split, order)
    rows, cols = split.coo()
    places = sort_entries(device, rows, cols, nrows, ncols)
    made = from_arrays(device, nrows, ncols, pointers_of(rows[places], nrows, device), cols[places])
    return made, places.astype(pointer_type(split.nvals)) if order else None


def _merged(split: Split, order: bool) -> tuple[Csr, Any]:
    """The same on the CPU: the rows of tiles are already sorted, and NumPy's stable sort exploits sorted runs."""
    tiles, first = split.tile_part().to_csr(order)
    at, keys = split.in_tiles, np.empty(split.nvals, np.int64)
    rows, cols = tiles.coo()
    np.add(rows * split.ncols, cols, out=keys[:at])
    rows, cols = np.empty((2, split.nvals - at), np.int64)
    split.write_rest(rows, cols)
    np.add(rows * split.ncols, cols, out=keys[at:])
    places = None
    if order:
        sorts = keys.argsort(kind="stable")
        places = np.concatenate((first, np.arange(at, split.nvals)))[sorts].astype(pointer_type(split.nvals))
    keys.sort(kind="stable")
    ptr, col = split_keys(split.device, keys, split.nrows, split.ncols)
    return from_arrays(split.device, split.nrows, split.ncols, ptr, col), places
