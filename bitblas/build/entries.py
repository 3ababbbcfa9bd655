"""From entries to a structure, on the device that holds the data.

Every build says first what it takes (`Device.foresee`), beside its input.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings.dtypes import DataType

from ..device import Device
from ..exceptions import InvalidValue, OutOfMemory
from ..formats import Structure
from ..formats.csr import format as csr
from ..formats.csr.format import sort_entries
from ..formats.values import PackedValues, fit
from ..formats.values import packed as pack_values
from ..plan import choice as plan_choice
from ..plan import forms as plan_forms
from ..plan import values as plan_values
from ..store import MatrixStore


def from_coo(
    device: Device, nrows: int, ncols: int, rows: Any, cols: Any, values: Any, dtype: DataType,
    dup: Any = None, *, format: str = "auto", tile: int | None = None,
) -> MatrixStore:  # fmt: skip
    """Entries in any order. `values`: an array in that order, or np.generic (iso: duplicates fall together).

    Duplicates are combined in input order by `dup` (a typed BinaryOp or Monoid); ValueError without one. The arrays
    given stay the caller's.
    """
    xp = device.xp
    rows, cols = rows.astype(np.int64, copy=False), cols.astype(np.int64, copy=False)
    iso, keyed = isinstance(values, np.generic), nrows * ncols < 1 << 63
    if keyed:
        keys = rows * ncols
        keys += cols
        ascending = keys[1:] > keys[:-1]
    else:
        ascending = (rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (cols[1:] > cols[:-1]))
    is_sorted = bool(ascending.all())  # and without duplicates, as `to_coo` gives them
    besides = 9 if is_sorted else csr.sort_bytes(device, iso)  # bytes an entry
    most = _rows_bytes(nrows, ncols, len(rows), values, besides)
    if device.missing(most):
        from . import chunks

        itemsize = 0 if iso else int(values.itemsize)
        if chunks.peak(len(rows), 0, 0, nrows, ncols, itemsize) >= most:
            device.foresee(f"{len(rows)} entries", most)
        keys = ascending = None
        return chunks.from_arrays(device, nrows, ncols, rows, cols, values, dtype, dup, format=format, tile=tile)
    if is_sorted:
        keys = None
        cols = cols.astype(csr.index_type(ncols))  # a copy, of nobody else
        return _from_sorted(device, nrows, ncols, rows, cols, _own(values), dtype, format, tile)
    if keyed and iso and device.sorts_keys:  # nothing has to follow its entry: the keys alone are sorted
        keys.sort()
        xp.greater(keys[1:], keys[:-1], out=ascending)
        if not bool(ascending.all()):
            keys = xp.append(keys[:1], keys[1:][ascending])
        return from_sorted_keys(device, nrows, ncols, keys, values, dtype, format=format, tile=tile)
    keys = ascending = None
    rows, cols, values = ordered(device, nrows, ncols, rows, cols, values, dtype, dup)
    return _from_sorted(device, nrows, ncols, rows, cols, values, dtype, format, tile)


def ordered(
    device: Device, nrows: int, ncols: int, rows: Any, cols: Any, values: Any, dtype: DataType, dup: Any
) -> tuple[Any, Any, Any]:
    """The entries by row, then column, equal ones joined by `dup` in the order in which they came."""
    from ..verbs import arrays

    xp, iso = device.xp, isinstance(values, np.generic)
    order = sort_entries(device, rows, cols, nrows, ncols)
    rows, cols = rows[order], cols[order]
    fresh = xp.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1])
    if not iso:
        values = values[order]
    starts = xp.flatnonzero(fresh)
    if len(starts) < len(rows):
        if not iso:
            if dup is None:
                raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")
            values = arrays.fold_segments(device, dup, values, dtype, xp.append(starts, len(rows)))
        rows, cols = rows[starts], cols[starts]
    return rows, cols, values


def _rows_bytes(nrows: int, ncols: int, nvals: int, values: Any, besides: int) -> int:
    """Bytes of entries by rows with their values, and of what making them takes besides for each."""
    value = 0 if isinstance(values, np.generic) else int(values.itemsize)
    return csr.rows_bytes(nrows, ncols, nvals) + 16 * (nrows + 1) + (value + besides) * nvals


def _own(values: Any) -> Any:
    """A matrix keeps no array that somebody else may write to."""
    return values if isinstance(values, np.generic) else values.copy()


def from_csr(
    device: Device, nrows: int, ncols: int, ptr: Any, cols: Any, values: Any, dtype: DataType,
    dup: Any = None, *, format: str = "auto", tile: int | None = None,
) -> MatrixStore:  # fmt: skip
    """Entries row by row: taken as they are where the columns ascend in every row, else sorted; as in `from_coo`."""
    xp, nvals = device.xp, len(cols)
    after = xp.ones(nvals + 1, bool)
    if nvals:
        xp.greater(cols[1:], cols[:-1], out=after[1:-1])
    after[ptr] = True  # the first column of a row comes after nothing
    if bool(after.all()):
        device.foresee(f"rows of {nvals} entries", _rows_bytes(nrows, ncols, nvals, values, 1))
        ptr, cols = ptr.astype(csr.index_type(nvals)), cols.astype(csr.index_type(ncols))  # copies: of nobody else
        return _from_csr(device, nrows, ncols, ptr, cols, _own(values), dtype, format, tile)
    rows = csr.numbers_of(ptr, nvals, device)
    return from_coo(device, nrows, ncols, rows, cols, values, dtype, dup, format=format, tile=tile)


def from_sorted_keys(
    device: Device, nrows: int, ncols: int, keys: Any, values: Any, dtype: DataType,
    *, format: str = "auto", tile: int | None = None,
) -> MatrixStore:  # fmt: skip
    """Entries given by strictly increasing keys row * ncols + column (INT64)."""
    check_rows(device, nrows)
    device.foresee(f"rows of {len(keys)} entries", _rows_bytes(nrows, ncols, len(keys), values, 24))
    ptr, cols = csr.split_keys(device, keys, nrows, ncols)
    return _from_csr(device, nrows, ncols, ptr, cols, values, dtype, format, tile)


def _from_sorted(
    device: Device, nrows: int, ncols: int, rows: Any, cols: Any, values: Any, dtype: DataType,
    format: str, tile: int | None,
) -> MatrixStore:  # fmt: skip
    check_rows(device, nrows)
    ptr = csr.pointers_of(rows, nrows, device)
    return _from_csr(device, nrows, ncols, ptr, cols, values, dtype, format, tile)


def _from_csr(
    device: Device, nrows: int, ncols: int, ptr: Any, cols: Any, values: Any, dtype: DataType, format: str,
    tile: int | None,
) -> MatrixStore:  # fmt: skip
    return with_format(of_rows(csr.from_arrays(device, nrows, ncols, ptr, cols), dtype, values), format, tile)


def of_rows(rows: csr.Csr, dtype: DataType, values: Any) -> MatrixStore:
    """The matrix of these rows, in that form."""
    return MatrixStore(Structure(rows), dtype, values)


FEW_ROWS = 1 << 12  # up to which structures without entries are shared: 16 KB each


def empty(device: Device, nrows: int, ncols: int, dtype: DataType) -> MatrixStore:
    """A matrix without entries."""
    make = _shared_empty if nrows <= FEW_ROWS else _empty_structure
    return MatrixStore(make(device, nrows, ncols), dtype, dtype.np_type.type(0))


def _empty_structure(device: Device, nrows: int, ncols: int) -> Structure:
    check_rows(device, nrows)
    ptr = device.xp.zeros(nrows + 1, np.int32)
    return Structure(csr.from_arrays(device, nrows, ncols, ptr, device.xp.zeros(0, np.int32)))


_shared_empty = functools.lru_cache(64)(_empty_structure)


def check_rows(device: Device, nrows: int) -> None:
    """OutOfMemory for more row pointers than fit, or than any machine holds."""
    if nrows >= 1 << 40:
        raise OutOfMemory(f"nrows: {nrows} rows need {8 * nrows} bytes of row pointers (there is no hypersparse form)")
    device.foresee(f"row pointers of {nrows} rows (there is no hypersparse form)", 8 * nrows)


def with_format(A: MatrixStore, format: str = "auto", tile: int | None = None) -> MatrixStore:
    """The same matrix with its primary form as asked: "auto" leaves it as it is, but where the plan has to look."""
    if format == "auto" and tile is None:
        return in_form(A, plan_choice.when_made(A.structure, A.iso))
    return in_form(A, plan_forms.choose_form(A.structure, format, tile, iso=A.iso))


def in_form(A: MatrixStore, key: str) -> MatrixStore:
    """The same matrix with that primary form."""
    if key == A.structure.primary.key:
        return A
    values = A.raw_for(key, False)  # first: the pass that finds the order also finds the ranks
    return MatrixStore(A.structure.led_by(key), A.dtype, values).tagged(A.order)


def with_values(A: MatrixStore, packed: bool | None = None) -> MatrixStore:
    """The same matrix, its values packed (InvalidValue where they cannot be) or plain; None: packed where the plan
    wants it, else as they are. One value for all entries is left alone."""
    if packed is None and (A.deferred or not plan_values.wants_packed(A.nvals)):
        return A
    raw = A.raw
    if isinstance(raw, PackedValues):
        return A if packed is not False else MatrixStore(A.structure, A.dtype, raw.plain()).tagged(A.order)
    if isinstance(raw, np.generic) or not A.nvals or packed is False:
        return A
    found = fit(A.device, A.dtype, raw)
    if packed is None and not plan_values.packs(A.device, A.dtype, A.nvals, found):
        return A
    if isinstance(found, str):
        expected = "integers less than 2**32 apart"
        raise InvalidValue(f"packed: expected {expected}, got {found}; packed=None packs only what can be")
    return MatrixStore(A.structure, A.dtype, pack_values(A.device, A.dtype, raw, *found)).tagged(A.order)


def filter_entries(A: MatrixStore, keep: Any) -> MatrixStore:
    """The entries of A for which `keep` (bools in entry order) is true, in the same format."""
    if bool(keep.all()):
        return A
    kept, places = A.structure.primary.filter(keep)
    return MatrixStore(Structure(kept), A.dtype, A.taken(places))
