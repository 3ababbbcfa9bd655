"""eWiseAdd and eWiseMult of matrices on a GPU, columns plain or packed.

formats/csr/match.cu finds the position of each entry of A in B; join.cu writes the entries of A, and those only in B,
to their final positions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Operator, Typed
from semirings.dtypes import DataType, lookup_dtype

from ..build.stores import filter_entries, of_rows
from ..device import Device
from ..formats import Structure
from ..formats.csr.call import column_types
from ..formats.csr.format import from_arrays, index_type, rows_bytes
from ..store import MatrixStore
from . import arrays
from .matrix_variants import join_variant, match_variant, packed_constants
from .operands import dummy, entry_values
from .product import compiled


class Meeting(NamedTuple):
    """For each entry of A: its position in B, and whether B has it; `below`: prefix sums of the hits."""

    place: Any
    hit: Any
    before: Any

    @property
    def common(self) -> int:
        return int(self.before[-1])


def _types(a: Any, b: Any) -> tuple[tuple[str, DataType], ...]:
    return *column_types(a), ("BPTR", lookup_dtype(b.ptr.dtype))


def meet(a: Any, b: Any) -> Meeting:
    """a, b: formats by rows."""
    device, xp, n = a.device, a.device.xp, a.nvals
    place, hit, before = xp.empty(max(1, n), b.ptr.dtype), xp.empty(max(1, n), np.uint8), xp.zeros(n + 1, a.ptr.dtype)
    run = compiled(device, match_variant(_types(a, b), packed_constants(a.key, b.key)))
    run(n, a.nrows, a.ptr, a.col, a.width, b.ptr, b.col, b.width, place, hit)
    xp.cumsum(hit[:n], out=before[1:])
    return Meeting(place, hit, before)


def join(
    A: MatrixStore, B: MatrixStore, op: Typed[Operator], z: DataType, *, intersect: bool = False,
    defaults: tuple[Any, Any] | None = None,
) -> MatrixStore:  # fmt: skip
    """The union (or intersection) of the entries, of type z: op where both have an entry, cast to z; elsewhere the
    single entry, cast to z, or op with the default for the other. op: a BinaryOp of the types of A and B."""
    device, xp = A.device, A.device.xp
    a, b = A.structure.rows(), B.structure.rows()
    met = meet(a, b)
    common = met.common
    if intersect:
        n, ptr = common, met.before[a.ptr]
    else:
        n, ptr = a.nvals + b.nvals - common, a.ptr.astype(np.int64) + b.ptr - met.before[a.ptr]
    alone = (False, False) if intersect else (a.nvals > common, b.nvals > common)
    given_values = (A.raw, A.dtype), (B.raw, B.dtype)
    value = one_value(device, *given_values, op, z, common > 0, alone, defaults)
    wide = 0 if value is not None else z.np_type.itemsize
    device.foresee(f"union or intersection of {n} entries", rows_bytes(a.nrows, a.ncols, n) + wide * n)
    col = xp.empty(max(1, n), index_type(a.ncols))
    if value is None:
        values: Any = xp.empty(max(1, n), z.np_type)
        given = tuple(
            (*entry_values(device, M.dtype, M.values_for(form.key, False)), M.dtype.np_type.type(default))
            for M, form, default in zip((A, B), (a, b), defaults or (0, 0), strict=True)
        )
    else:
        values, given = dummy(device, "bool"), ((dummy(device, "bool"), np.True_, 0, np.True_),) * 2
    for side in (0,) if intersect else (0, 1):
        count = (a, b)[side].nvals
        if count:
            variant = join_variant(
                _types(a, b), packed_constants(a.key, b.key), op if value is None else None, A.dtype, B.dtype, z,
                side=side, intersect=intersect, filled=defaults is not None,
            )  # fmt: skip
            left, right = (a.ptr, a.col, a.width, *given[0]), (b.ptr, b.col, b.width, *given[1])
            compiled(device, variant)(count, a.nrows, *left, *right, *met, col, values)
    C = from_arrays(device, a.nrows, a.ncols, ptr, col[:n])
    return of_rows(C, z, values[:n] if value is None else value)


def one_value(
    device: Device, x: tuple[Any, DataType], y: tuple[Any, DataType], op: Typed[Operator], z: DataType, common: bool,
    alone: tuple[bool, bool], defaults: tuple[Any, Any] | None,
) -> np.generic | None:  # fmt: skip
    """The single value of a union or intersection, of type z, if the operands imply that there is one. x, y: their
    values and types; common: whether both have some entry in common; alone: whether some entry is in one of them."""
    if not (isinstance(x[0], np.generic) and isinstance(y[0], np.generic)) or op.op.positional:
        return None

    def joined(a: Any, b: Any) -> np.generic:
        return arrays.cast(device, arrays.binary(device, op, a, b), op.return_type, z)

    found = [joined(x[0], y[0])] if common else []
    if defaults is None:
        found += [arrays.cast(device, v, t, z) for (v, t), some in zip((x, y), alone, strict=True) if some]
    else:
        a, b = (t.np_type.type(default) for (_, t), default in zip((x, y), defaults, strict=True))
        found += [joined(*pair) for pair, some in zip(((x[0], b), (a, y[0])), alone, strict=True) if some]
    first = found[0] if found else z.np_type.type(0)
    return first if all(bool(v == first) or bool(v != v and first != first) for v in found) else None


def restricted(A: MatrixStore, structure: Structure, inside: bool) -> MatrixStore:
    """The entries of A at the entries of the structure, or (inside False) at all other positions."""
    a = A.structure.rows()
    hit = meet(a, structure.rows()).hit[: a.nvals]
    return filter_entries(MatrixStore(Structure(a), A.dtype, A.raw_for(a.key, False)), hit == inside)
