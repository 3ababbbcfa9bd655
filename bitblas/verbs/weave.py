"""eWiseAdd and eWiseMult of matrices on the CPU, under a mask, in one pass: formats/csr/weave.cpu.py.

Threads share ranges of rows. Each writes into room for the largest possible result; then the gaps are closed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy import generic  # attribute access on a module with __getattr__, such as NumPy, is slow

from semirings import Operator, Typed
from semirings.dtypes import DataType, lookup_dtype

from ..build.stores import of_rows
from ..device import Device, held, ranges
from ..formats.csr.format import Csr, close_gaps, index_type, pointer_type, rows_bytes
from ..kernels.prologue import Variant
from ..store import MatrixStore
from .join import one_value
from .matrix_variants import sift_variant, weave_variant
from .operands import ZERO, dummy
from .schedule import PARALLEL_ENTRIES, unit_bounds
from .sieve import Sieve

BOTH, UNION, FILLED, ONLY = range(4)  # weave.cpu.py
FEW = 1 << 16  # entries below which available memory is not checked, unless there is a limit


class Weaving:
    """The kernel, and its arguments besides the operands."""

    __slots__ = ("kernel", "no_flags", "no_x", "no_y", "zero_x", "zero_y")

    def __init__(self, device: Device, variant: Variant, a: DataType, b: DataType) -> None:
        self.kernel, self.no_flags = device.kernel(variant), dummy(device, "uint8")
        self.no_x, self.no_y = dummy(device, a.np_type.char), dummy(device, b.np_type.char)
        self.zero_x, self.zero_y = ZERO[a.name], ZERO[b.name]


@functools.cache
def _weaving(
    device: Device, mode: int, op: Typed[Operator] | None, a: str, b: str, z: str, masked: int, flags: bool,
    *packed: bool,
) -> Weaving:  # fmt: skip
    """One lookup for everything. Types by name, which have cached hashes; packed: the columns of A, B and the mask."""
    columns = tuple((f"{name}_PACKED", int(one)) for name, one in zip("ABM", packed, strict=True))
    types = tuple(map(lookup_dtype, (a, b, z)))
    return Weaving(device, weave_variant(mode, op, *types, columns, masked=masked, flags=flags), *types[:2])


def _foresee(a: Any, most: int, wide: int, what: str) -> None:
    """OutOfMemory unless this number of entries with values of `wide` bytes fits."""
    a.device.foresee(f"{what} of {most} entries", rows_bytes(a.nrows, a.ncols, most) + wide * most)


def _ranges(form: Any) -> Any:
    """One range of rows per thread, fewer than elsewhere: the results of all but the first have to be moved."""
    found = unit_bounds(form, form.device)
    if found is None or isinstance(found, ranges.Chunks):
        return found
    return found[:: max(1, form.device.parts // form.device.threads)].copy()


def _finished(
    a: Any, ptr: Any, col: Any, values: Any, dtype: DataType, starts: Any, bounds: Any, valued: bool
) -> MatrixStore:
    """The matrix of rows that were written by ranges, from `starts` on, into a larger room. values: an array, if
    `valued`, or one value."""
    if bounds is not None:
        close_gaps(starts, bounds, ptr, (col, values) if valued else (col,))
    n, most = ptr.item(-1), len(col)
    if most >= FEW:
        col.resize(n or 1, refcheck=False)
        if valued:
            values.resize(n, refcheck=False)
        ptr = ptr.astype(pointer_type(n), copy=False)
    elif n != most:  # a view takes half of the host time
        col, values = col[: n or 1], values[:n] if valued else values
    return of_rows(Csr(a.device, a.nrows, a.ncols, ptr, col, n), dtype, values)


def weave(
    A: MatrixStore, B: MatrixStore, op: Typed[Operator], z: DataType, mode: int, *, mask: Any = None,
    replace: bool = False, defaults: tuple[Any, Any] | None = None,
) -> MatrixStore:  # fmt: skip
    """A and B merged as the mode says, of type z, where `mask` allows it; elsewhere A, unless `replace`."""
    device, (a, x) = A.device, A.by_rows()
    flags: Any = None
    if type(B) is Sieve and B.waits and B.places.primary.format.by_rows:  # otherwise its sums are in another order
        b, flags, y = B.places.rows(), B.present, B.sums
    else:
        b, y = B.by_rows()
    m = b if mask is None else mask.structure.rows()
    nrows, most = a.nrows, a.nvals if mode == BOTH else a.nvals + b.nvals
    one_x, one_y = isinstance(x, generic), isinstance(y, generic)
    iso, value = one_x and one_y and not op.op.positional, None
    if iso:
        alone = (mode != BOTH and not (mode == ONLY and replace), mode != BOTH)
        value = one_value(device, (x, A.dtype), (y, B.dtype), op, z, mode != ONLY, alone, defaults)
    valued = value is None
    if most >= FEW or held.limit is not None:
        _foresee(a, most, z.np_type.itemsize if valued else 0, "union or intersection")
    ptr, col = np.zeros(nrows + 1, pointer_type(most)), np.empty(most or 1, index_type(a.ncols))
    masked = 0 if mask is None else 2 if m is b else 1
    names = (op, A.dtype.name, B.dtype.name, z.name) if valued else (None, "BOOL", "BOOL", "BOOL")
    w = _weaving(device, mode, *names, masked, flags is not None, a.width > 0, b.width > 0, m.width > 0)
    if valued:
        values = np.empty(most or 1, z.np_type)
    else:
        values, x, y, one_x, one_y = w.no_x, w.zero_x, w.zero_y, True, True
    left, right = w.zero_x, w.zero_y
    if defaults is not None and valued:
        left, right = A.dtype.np_type.type(defaults[0]), B.dtype.np_type.type(defaults[1])
    bounds = _ranges(a if a.nvals > b.nvals else b) if most >= PARALLEL_ENTRIES else None
    w.kernel(  # separate arguments: packing them doubles the host time
        nrows, a.ptr, a.col, a.width, w.no_x if one_x or not a.nvals else x, x if one_x else w.zero_x,
        0 if one_x else 1, left, b.ptr, b.col, b.width, w.no_flags if flags is None else flags.view(np.uint8),
        w.no_y if one_y or not b.nvals else y, y if one_y else w.zero_y, 0 if one_y else 1, right,
        m.ptr, m.col, m.width, 1 if masked and mask.complement else 0, 1 if replace else 0, ptr, col, values,
        bounds=bounds,
    )  # fmt: skip
    starts = None
    if bounds is not None:
        starts = a.ptr[bounds].astype(np.int64)
        if mode != BOTH:
            starts += b.ptr[bounds]
    C = _finished(a, ptr, col, values if valued else value, z, starts, bounds, valued)
    if iso and valued and mask is None and flags is None and mode != ONLY:
        common = C.nvals if mode == BOTH else most - C.nvals
        alone = (False, False) if mode == BOTH else (a.nvals > common, b.nvals > common)
        value = one_value(device, (x, A.dtype), (y, B.dtype), op, z, common > 0, alone, defaults)
        C = C if value is None else MatrixStore(C.structure, z, value)
    return C


@functools.cache
def _sifting(device: Device, op: Typed[Operator], a: str, packed: bool, valued: bool) -> Weaving:
    dtype = lookup_dtype(a)
    return Weaving(device, sift_variant(op, dtype, packed=packed, valued=valued), dtype, dtype)


def sift(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """The entries of A for which op(entry, row, column, thunk) is true."""
    device, dtype, (a, x) = A.device, A.dtype, A.by_rows()
    most = a.nvals
    iso = isinstance(x, np.generic)
    w = _sifting(device, op, dtype.name, a.format.packed, not iso)
    if most >= FEW or held.limit is not None:
        _foresee(a, most, 0 if iso else dtype.np_type.itemsize, "selection")
    ptr, col = np.zeros(a.nrows + 1, pointer_type(most)), np.empty(most, index_type(a.ncols))
    values = x if iso else np.empty(most, dtype.np_type)
    given = (w.no_x, x, 0) if iso else (x, w.zero_x, 1)
    bounds = _ranges(a) if most >= PARALLEL_ENTRIES else None
    limit = op.compute_type.np_type.type(thunk)
    w.kernel(a.nrows, a.ptr, a.col, a.width, *given, limit, ptr, col, w.no_y if iso else values, bounds=bounds)
    C = _finished(a, ptr, col, values, dtype, None if bounds is None else a.ptr[bounds], bounds, not iso)
    return A if C.nvals == most else C
