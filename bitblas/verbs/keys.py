"""Sorted linear keys of a matrix, row * ncols + column (INT64), with values in the same order, for operations by index.
Functions that NumPy and CuPy share."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.dtypes import INT64, DataType

from ..build import entries as build
from ..device import Device
from ..exceptions import NotImplementedException
from ..flat import FlatStore
from ..formats import CSR, Structure
from ..kernels.prologue import Variant
from ..store import MatrixStore, plain
from . import arrays, narrow


def check_keys(nrows: int, ncols: int) -> None:
    if nrows * ncols >= 1 << 63:
        raise NotImplementedException(
            f"matrix: expected nrows * ncols below 2**63 for this operation, got {nrows} x {ncols}"
        )


PARALLEL_KEYS = 1 << 15  # below this a parallel launch on the CPU costs more than it saves (estimated)
FEW = 1 << 12  # entries up to which a structure caches its keys: at most 32 KB, and statements take less host time


def keys_of(structure: Structure, order: bool) -> tuple[Any, Any]:
    """Sorted keys, and the positions of their values (None: in that order)."""
    known = structure.primary.cache.get(("keys", order))
    if known is not None:
        return known
    check_keys(structure.nrows, structure.ncols)
    form, places = structure.primary.by_rows(order)
    rows, cols = form.coo()
    rows *= structure.ncols
    rows += cols
    found = rows, places
    if structure.nvals <= FEW:
        structure.primary.cache["keys", order] = found
    return found


def entries(A: MatrixStore) -> tuple[Any, Any]:
    """Sorted keys and the values in that order (np.generic: iso)."""
    keys, order = keys_of(A.structure, not A.iso)
    return keys, plain(A.taken(order))


def _rows_of(structure: Structure, order: bool) -> tuple[Any, Any]:
    """CSR, and the positions of its values. On the CPU the auxiliary CSR of a tiled matrix, which is kept from the
    second request for rows on."""
    primary, again = structure.primary, structure.read_besides > 0
    if primary.format.by_rows or primary.compact or not structure.device.host_memory:
        return primary.by_rows(order)
    structure.read_besides += 1
    if not again and not structure.has(CSR):
        return primary.by_rows(order)
    return structure.form(CSR), structure.order(CSR) if order else None


def coo(A: MatrixStore, *, rows: bool = True, values: bool = True) -> tuple[Any, Any, Any]:
    """Rows, columns (INT64, by row, then column) and values as arrays; rows and values only if requested."""
    form, order = _rows_of(A.structure, not A.iso)
    i, j = form.coo() if rows else (None, form.columns().astype(np.int64))
    if not values:
        return i, j, None
    return i, j, A.device.full(len(j), A.values) if A.iso else plain(A.taken(order))


FIND = Variant("kernels/find", (("COL", INT64),))


def find(device: Device, keys: Any, wanted: Any) -> tuple[Any, Any]:
    """For each wanted key its lower bound in the sorted keys, and whether it is present; both lists ascend."""
    xp, n = device.xp, len(wanted)
    if not len(keys) or not n:
        return xp.zeros(n, np.int64), xp.zeros(n, bool)
    places, hit = xp.empty(n, np.int64), xp.empty(n, bool)
    bounds = device.ranges(n, PARALLEL_KEYS)
    device.kernel(FIND)(n, keys, len(keys), wanted, places, hit.view(np.uint8), bounds=bounds)
    return places, hit


def take(values: Any, places: Any) -> Any:
    return values if isinstance(values, np.generic) else values[places]


def same_iso(x: Any, y: Any) -> bool:
    return isinstance(x, np.generic) and isinstance(y, np.generic) and (bool(x == y) or bool(x != x and y != y))


def joined(device: Device, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
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


def store(like: MatrixStore, keys: Any, values: Any, dtype: DataType) -> MatrixStore:
    A = build.from_sorted_keys(like.device, like.nrows, like.ncols, keys, values, dtype)
    form = A.structure.primary
    if len(keys) <= FEW and form.format.by_rows:
        form.cache["keys", True] = form.cache["keys", False] = keys, None
    return A


def cast(A: MatrixStore, dtype: DataType) -> MatrixStore:
    """The same structure, values of another type."""
    if isinstance(A, FlatStore) and A.dtype is not dtype and not dtype._is_udt:
        return narrow.cast(A, dtype)
    return A if A.dtype is dtype else MatrixStore(A.structure, dtype, arrays.cast(A.device, A.values, A.dtype, dtype))
