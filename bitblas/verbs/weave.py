"""Unions and intersections of rows on the CPU, under a mask, in one pass: formats/csr/weave.cpu.py. Threads share
ranges of rows, each of which writes into room for all that it could have; then the gaps are closed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Operator, Typed
from semirings.dtypes import DataType, lookup_dtype

from ..build.stores import with_format
from ..device import Device, held
from ..formats import Structure
from ..formats.csr.format import Csr, close_gaps, index_type, rows_bytes
from ..kernels.prologue import Variant
from ..store import MatrixStore
from .join import one_value
from .matrix_variants import sift_variant, weave_variant
from .operands import ZERO, dummy
from .schedule import PARALLEL_ENTRIES, unit_bounds
from .sieve import Sieve

BOTH, UNION, FILLED, ONLY = range(4)  # weave.cpu.py
FEW = 1 << 16  # entries below which nobody asks whether they fit, unless there is a limit


class Weaving:
    """The kernel, and what it is given besides the operands."""

    __slots__ = ("kernel", "no_flags", "nothing", "zeros")

    def __init__(self, device: Device, variant: Variant, a: DataType, b: DataType) -> None:
        self.kernel, self.no_flags = device.kernel(variant), dummy(device, "uint8")
        self.nothing = dummy(device, a.np_type.char), dummy(device, b.np_type.char)
        self.zeros = ZERO[a.name], ZERO[b.name]


@functools.cache
def _weaving(
    device: Device, mode: int, op: Typed[Operator] | None, a: str, b: str, z: str, packed: tuple[bool, bool, bool],
    masked: int, flags: bool,
) -> Weaving:  # fmt: skip
    """One look for all of it. Types by name, which have their hashes; packed: the columns of A, B and the mask."""
    columns = tuple((f"{name}_PACKED", int(one)) for name, one in zip("ABM", packed, strict=True))
    types = tuple(map(lookup_dtype, (a, b, z)))
    return Weaving(device, weave_variant(mode, op, *types, columns, masked=masked, flags=flags), *types[:2])


def _foresee(a: Any, most: int, wide: int, what: str) -> None:
    """OutOfMemory unless there is room for so many entries with values of `wide` bytes."""
    if most >= FEW or held.limit is not None:
        need = rows_bytes(a.nrows, a.ncols, most) + wide * most
        a.device.foresee(f"{what} of {most} entries", need)


def weave(
    A: MatrixStore, B: MatrixStore, op: Typed[Operator], z: DataType, mode: int, *, mask: Any = None,
    replace: bool = False, defaults: tuple[Any, Any] | None = None,
) -> MatrixStore:  # fmt: skip
    """What the mode says of A and B, of type z, where `mask` allows it; elsewhere A, unless `replace`."""
    device, a = A.device, A.structure.rows()
    flags: Any = None
    if type(B) is Sieve and B.waits:
        b, flags, y = B.places.rows(), B.present, B.sums
    else:
        b = B.structure.rows()
        y = B.values_for(b.key, False)
    m = b if mask is None else mask.structure.rows()
    x, most = A.values_for(a.key, False), a.nvals + b.nvals
    iso = isinstance(x, np.generic) and isinstance(y, np.generic) and not op.op.positional
    value = None
    if iso:
        alone = (mode != BOTH and not (mode == ONLY and replace), mode != BOTH)
        value = one_value(device, (x, A.dtype), (y, B.dtype), op, z, mode != ONLY, alone, defaults)
    _foresee(a, most, 0 if value is not None else z.np_type.itemsize, "union or intersection")
    ptr, col = np.zeros(a.nrows + 1, index_type(most)), np.empty(most or 1, index_type(a.ncols))
    packed = a.width > 0, b.width > 0, m.width > 0
    masked = 0 if mask is None else 2 if m is b else 1
    if value is None:
        values: Any = np.empty(most or 1, z.np_type)
        w = _weaving(device, mode, op, A.dtype.name, B.dtype.name, z.name, packed, masked, flags is not None)
        (none_a, none_b), (left, right) = w.nothing, w.zeros
        first = (none_a, x, 0) if isinstance(x, np.generic) else (x if a.nvals else none_a, left, 1)
        second = (none_b, y, 0) if isinstance(y, np.generic) else (y if b.nvals else none_b, right, 1)
        if defaults is not None:
            left, right = A.dtype.np_type.type(defaults[0]), B.dtype.np_type.type(defaults[1])
    else:
        w = _weaving(device, mode, None, "BOOL", "BOOL", "BOOL", packed, masked, flags is not None)
        values, left, right = w.nothing[0], *w.zeros
        first = second = values, left, 0
    bounds = unit_bounds(a if a.nvals > b.nvals else b, device) if most >= PARALLEL_ENTRIES else None
    w.kernel(
        a.nrows, a.ptr, a.col, a.width, *first, left, b.ptr, b.col, b.width,
        w.no_flags if flags is None else flags.view(np.uint8), *second, right, m.ptr, m.col, m.width,
        int(masked != 0 and mask.complement), int(replace), ptr, col, values, bounds=bounds,
    )  # fmt: skip
    if bounds is not None:
        starts = a.ptr[bounds].astype(np.int64) + b.ptr[bounds]
        close_gaps(starts, bounds, ptr, (col,) if value is not None else (col, values))
    n = int(ptr[-1])
    if iso and value is None and mask is None and flags is None and mode != ONLY:
        common = most - n if mode != BOTH else n
        alone = (False, False) if mode == BOTH else (a.nvals > common, b.nvals > common)
        value = one_value(device, (x, A.dtype), (y, B.dtype), op, z, common > 0, alone, defaults)
    col.resize(n or 1, refcheck=False)
    if value is None:
        values.resize(n, refcheck=False)
    C = Csr(device, a.nrows, a.ncols, ptr.astype(index_type(n), copy=False), col, n)
    return with_format(MatrixStore(Structure(C), z, values if value is None else value))


@functools.cache
def _sifting(device: Device, op: Typed[Operator], a: str, packed: bool, valued: bool) -> Weaving:
    dtype = lookup_dtype(a)
    return Weaving(device, sift_variant(op, dtype, packed=packed, valued=valued), dtype, dtype)


def sift(A: MatrixStore, op: Typed[Operator], thunk: Any) -> MatrixStore:
    """The entries of A for which op(entry, row, column, thunk) is true."""
    device, a, dtype = A.device, A.structure.rows(), A.dtype
    x, most = A.values_for(a.key, False), a.nvals
    iso = isinstance(x, np.generic)
    w = _sifting(device, op, dtype.name, a.format.packed, not iso)
    _foresee(a, most, 0 if iso else dtype.np_type.itemsize, "selection")
    ptr, col = np.zeros(a.nrows + 1, index_type(most)), np.empty(most, index_type(a.ncols))
    values = x if iso else np.empty(most, dtype.np_type)
    given = (w.nothing[0], x, 0) if iso else (x, w.zeros[0], 1)
    bounds = unit_bounds(a, device) if most >= PARALLEL_ENTRIES else None
    limit = op.compute_type.np_type.type(thunk)
    w.kernel(a.nrows, a.ptr, a.col, a.width, *given, limit, ptr, col, w.nothing[1] if iso else values, bounds=bounds)
    if bounds is not None:
        close_gaps(a.ptr[bounds], bounds, ptr, (col,) if iso else (col, values))
    n = int(ptr[-1])
    if n == most:
        return A
    col.resize(n or 1, refcheck=False)
    if not iso:
        values.resize(n, refcheck=False)
    C = Csr(device, a.nrows, a.ncols, ptr, col, n)
    return with_format(MatrixStore(Structure(C), dtype, values))
