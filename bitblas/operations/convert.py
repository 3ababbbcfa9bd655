"""From rows to a store: in the requested or chosen format, with plain or bit-packed values. Conversion while in use."""

from __future__ import annotations

import functools
import threading
import weakref
from typing import Any

import numpy as np
from numpy import generic

from semirings.dtypes import DataType

from .. import tuning
from ..config import config
from ..device import Bounds, Device, memory
from ..device.threads import fork_safe
from ..exceptions import InvalidValue, OutOfMemory
from ..formats import FORMATS, Structure
from ..formats.csr import layout as csr
from ..formats.hyper import layout as hyper
from ..formats.packing import PackedValues, fit
from ..formats.packing import packed as pack_values
from ..plan import format_choice
from ..store import BITMAP, FlatStore, MatrixStore, PlainValues, RowLayout
from ..typing import Array

# ---- From rows to a store: in the requested or chosen format, with plain or bit-packed values.


def of_rows(
    rows: RowLayout, dtype: DataType, values: PlainValues, format: str = "auto", tile: int | None = None
) -> MatrixStore:
    """The matrix of these rows, in the requested format, or the one that the planner chooses."""
    A = MatrixStore(Structure(rows), dtype, values)
    if format == "auto" and tile is None and config.prefer != "memory" and memory.limit is None:
        return A  # no search: statements create many matrices
    return with_format(A, format, tile)


def of_room(
    device: Device,
    shape: tuple[int, int],
    arrays: tuple[Array, Array, PlainValues],
    dtype: DataType,
    bounds: Bounds,
    starts: Array | None,
) -> MatrixStore:
    """The matrix of rows that CPU threads wrote by ranges, from `starts` on, into a larger room. arrays: pointers,
    columns, and values (np.generic: iso), which become those of the matrix."""
    (nrows, ncols), (ptr, col, values) = shape, arrays
    array, room = None if isinstance(values, generic) else values, len(col)
    if bounds is not None and starts is not None:
        csr.close_gaps(starts, bounds, ptr, (col,) if array is None else (col, array))
    n = ptr.item(-1)
    if room >= tuning.count("memory.checked_entries"):
        col.resize(n or 1, refcheck=False)
        if array is not None:
            array.resize(n, refcheck=False)
        ptr = ptr.astype(csr.pointer_type(n), copy=False)
    elif n != room:  # a view takes half of the host time
        col, values = col[: n or 1], values if array is None else array[:n]
    return of_rows(csr.Csr(device, nrows, ncols, ptr, col, n), dtype, values)


def empty(device: Device, nrows: int, ncols: int, dtype: DataType) -> MatrixStore:
    """A matrix without entries."""
    make = _shared_empty if nrows <= tuning.count("cached.empty_rows") else _empty_structure
    return MatrixStore(make(device, nrows, ncols), dtype, dtype.np_type.type(0))


def _empty_structure(device: Device, nrows: int, ncols: int) -> Structure:
    if hyper.is_hyper(nrows, ncols, 0):
        return Structure(hyper.empty(device, nrows, ncols))
    check_rows(device, nrows)
    ptr = device.xp.zeros(nrows + 1, np.int32)
    return Structure(csr.from_arrays(device, nrows, ncols, ptr, device.xp.zeros(0, np.int32)))


_shared_empty = functools.lru_cache(64)(_empty_structure)


def check_rows(device: Device, nrows: int) -> None:
    """OutOfMemory for more row pointers than fit, or than any machine can hold."""
    if nrows >= 1 << 40:
        raise OutOfMemory(f"nrows: {nrows} rows need {8 * nrows} bytes of row pointers")
    device.foresee(f"row pointers of {nrows} rows", 8 * nrows)


def lists_rows(format: str) -> bool:
    """Whether the requested format may list the rows and columns that have entries."""
    return format == "auto" or any(known.hypersparse for known in FORMATS.values() if known.name == format)


def widened(A: MatrixStore, rows: Array, cols: Array, nrows: int, ncols: int) -> MatrixStore:
    """Expand a compressed matrix whose rows and columns correspond to these lists: to hypersparse, or by rows if there
    are too many entries for that."""
    inner, places = A.structure.primary.to_csr(not A.iso)
    wide = hyper.widened(inner, rows, cols, nrows, ncols)
    structure = Structure(wide if hyper.is_hyper(nrows, ncols, inner.nvals) else wide.plain())
    return MatrixStore(structure, A.dtype, A.taken(places))


def narrowed(A: MatrixStore, rows: Array, cols: Array) -> MatrixStore:
    """The entries of a matrix in these rows and columns (ascending lists), with compressed indices."""
    layout: Any = A.structure.primary
    if not layout.format.hypersparse:
        rows_of, places = layout.to_csr(not A.iso)
        layout, A = hyper.Hyper.from_csr(rows_of, None, False)[0], MatrixStore(A.structure, A.dtype, A.taken(places))
    inner, keep = hyper.narrowed(layout, rows, cols)
    return MatrixStore(Structure(inner), A.dtype, A.taken(keep))


def with_format(A: MatrixStore, format: str = "auto", tile: int | None = None) -> MatrixStore:
    """The same matrix with the requested primary format: "auto" keeps it, unless the planner has to search."""
    if isinstance(A, FlatStore) and format in ("auto", BITMAP):
        return A  # already, without computing facts of its structure
    if format == "auto" and tile is None:
        return convert_to(A, format_choice.initial_format(A.structure, A.iso))
    return convert_to(A, format_choice.choose_form(A.structure, format, tile, iso=A.iso))


def convert_to(A: MatrixStore, key: str) -> MatrixStore:
    """The same matrix with that primary format."""
    if key == A.structure.primary.key:
        return A
    values = A.raw_for(key, False)  # first, because the pass that finds the order also finds the ranks
    return MatrixStore(A.structure.with_primary(key), A.dtype, values).tagged(A.order)


def with_values(A: MatrixStore, packed: bool | None = None) -> MatrixStore:
    """The same matrix, its values packed (InvalidValue if they cannot be) or plain; None: packed if the planner wants
    it, else unchanged. Iso values are unchanged."""
    if packed is None and (isinstance(A, FlatStore) or not format_choice.wants_packed(A)):
        return A
    raw = A.raw
    if isinstance(raw, PackedValues):
        return A if packed is not False else MatrixStore(A.structure, A.dtype, raw.plain()).tagged(A.order)
    if isinstance(raw, np.generic) or not A.nvals or packed is False:
        return A
    packing = fit(A.device, A.dtype, raw)
    if packed is None and not format_choice.packs(A.device, A.dtype, A.nvals, packing):
        return A
    if isinstance(packing, str):
        expected = "integers less than 2**32 apart"
        raise InvalidValue(f"packed: expected {expected}, got {packing}; packed=None packs only if possible")
    return MatrixStore(A.structure, A.dtype, pack_values(A.device, A.dtype, raw, *packing)).tagged(A.order)


def filter_entries(A: MatrixStore, keep: Array) -> MatrixStore:
    """The entries of A for which `keep` (bools in entry order) is true, in the same format."""
    if bool(keep.all()):
        return A
    kept, places = A.structure.primary.filter(keep)
    return MatrixStore(Structure(kept), A.dtype, A.taken(places))


# ---- Convert a matrix in use to the format that the planner chooses.

_choosing = fork_safe(threading.Lock())


def in_chosen_format(A: MatrixStore, *, now: bool = False) -> MatrixStore:
    """The same matrix in the format that the planner chooses, once reads have amortized it, or (`now`) at once.
    Unchanged while another thread searches. Matrices that share the structure share the search and its result."""
    if not _choosing.acquire(blocking=now):
        return A
    try:
        key = format_choice.format_to_use(A.structure, A.iso, now=now)
        if key == A.structure.primary.key:
            return A
        choice = format_choice.choice_of(A.structure, A.iso)
        structure = None if choice.made is None else choice.made()
        if structure is None:
            try:
                B = convert_to(A, key)
            except OutOfMemory:
                format_choice.keep_format(A.structure, A.iso)
                return A
            choice.made = weakref.ref(B.structure)
            return B
        return MatrixStore(structure, A.dtype, A.raw_for(key, False)).tagged(A.order)
    finally:
        _choosing.release()
