"""Unions and intersections of rows on the CPU, under a mask, in one pass: formats/csr/weave.cpu.py. Threads share
ranges of rows, each of which writes into room for all that it could have; then the gaps are closed."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from semirings import Operator, Typed
from semirings.dtypes import DataType, lookup_dtype

from ..build.stores import with_format
from ..device import Device
from ..formats import Structure
from ..formats.csr.format import Csr, index_type, rows_bytes
from ..store import MatrixStore
from .join import one_value
from .matrix_variants import weave_variant
from .operands import ZERO, dummy, entry_values
from .schedule import PARALLEL_ENTRIES, unit_bounds
from .sieve import Sieve

BOTH, UNION, FILLED, ONLY = range(4)  # weave.cpu.py


@functools.cache
def _kernel(
    device: Device, mode: int, op: Typed[Operator] | None, a: str, b: str, z: str, a_packed: bool, b_packed: bool,
    m_packed: bool, masked: bool, flags: bool,
) -> Any:  # fmt: skip
    """Types by name, which have their hashes."""
    names = tuple((f"{name}_PACKED", int(one)) for name, one in zip("ABM", (a_packed, b_packed, m_packed), strict=True))
    types = (lookup_dtype(name) for name in (a, b, z))
    return device.kernel(weave_variant(mode, op, *types, names, masked=masked, flags=flags))


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
    wide = z.np_type.itemsize if value is None else 0
    device.foresee(f"union or intersection of {most} entries", rows_bytes(a.nrows, a.ncols, most) + wide * most)
    ptr, col = np.zeros(a.nrows + 1, index_type(most)), np.empty(most or 1, index_type(a.ncols))
    if value is None:
        values: Any = np.empty(most or 1, z.np_type)
        left, right = (
            (ZERO[A.dtype.name], ZERO[B.dtype.name])
            if defaults is None
            else (A.dtype.np_type.type(defaults[0]), B.dtype.np_type.type(defaults[1]))
        )
        kernel = _kernel(
            device, mode, op, A.dtype.name, B.dtype.name, z.name, a.format.packed, b.format.packed, m.format.packed,
            mask is not None, flags is not None,
        )  # fmt: skip
        first, second = (*entry_values(device, A.dtype, x), left), (*entry_values(device, B.dtype, y), right)
    else:
        values, first = dummy(device, "bool"), (dummy(device, "bool"), np.True_, 0, np.True_)
        second = first
        kernel = _kernel(
            device, mode, None, "BOOL", "BOOL", "BOOL", a.format.packed, b.format.packed, m.format.packed,
            mask is not None, flags is not None,
        )  # fmt: skip
    bounds = unit_bounds(a if a.nvals > b.nvals else b, device) if most >= PARALLEL_ENTRIES else None
    kernel(
        a.nrows, a.ptr, a.col, a.width, *first, b.ptr, b.col, b.width,
        dummy(device, "uint8") if flags is None else flags.view(np.uint8), *second, m.ptr, m.col, m.width,
        int(mask is not None and mask.complement), int(replace), ptr, col, values, bounds=bounds,
    )  # fmt: skip
    if bounds is not None:
        _close(a.ptr, b.ptr, bounds, ptr, (col,) if value is not None else (col, values))
    n = int(ptr[-1])
    if iso and value is None and mask is None and mode != ONLY:
        common = most - n if mode != BOTH else n
        alone = (False, False) if mode == BOTH else (a.nvals > common, b.nvals > common)
        value = one_value(device, (x, A.dtype), (y, B.dtype), op, z, common > 0, alone, defaults)
    col.resize(n or 1, refcheck=False)
    if value is None:
        values.resize(n, refcheck=False)
    C = Csr(device, a.nrows, a.ncols, ptr.astype(index_type(n), copy=False), col, n)
    return with_format(MatrixStore(Structure(C), z, values if value is None else value))


def _close(a: Any, b: Any, bounds: Any, ptr: Any, arrays: tuple[Any, ...]) -> None:
    """Moves what ranges of rows have written to where it belongs. a, b: the pointers of the operands."""
    done = 0
    for low, high in itertools.pairwise(bounds.tolist()):
        start = int(a[low]) + int(b[low])
        size = int(ptr[high]) - start if high > low else 0
        if start != done:
            for array in arrays:
                array[done : done + size] = array[start : start + size]
            ptr[low + 1 : high + 1] -= start - done
        done += size
