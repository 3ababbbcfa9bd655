"""mxm over any semiring, with the mask in the kernel. GraphBLAS C API 2.1, section 4.3.1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, lookup_dtype

from ..formats import ROWS, Structure
from ..formats.csr.format import index_type
from ..plan.mxm import plan_mxm
from ..plan.product import VALUES, WORDS, Plan
from ..store import MatrixStore
from .gustavson import row_by_row
from .matrix_variants import DOT_INDICES, dot_variant
from .operands import dummy, entry_values
from .product import compiled
from .schedule import PARALLEL_ENTRIES, dot_bounds
from .sieve import Sieve


class MatrixMask(NamedTuple):
    """The entries that may be written, or that may not (complement)."""

    structure: Structure
    complement: bool


def mxm(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], *, transpose_a: bool = False, transpose_b: bool = False,
    mask: MatrixMask | None = None,
) -> MatrixStore:  # fmt: skip
    """C<mask> = A (+).(x) B, of the transposes where asked for."""
    plan, product = plan_mxm(A, B, semiring, mask is not None and not mask.complement)
    if plan.direction == "dot":
        assert mask is not None
        return _dot(plan, product, A, B, semiring, transpose_a, transpose_b, mask.structure)
    return row_by_row(plan, product, A, B, semiring, transpose_a, transpose_b, mask)


def _dot(
    plan: Plan, product: Any, A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], ta: bool, tb: bool,
    mask: Structure,
) -> MatrixStore:  # fmt: skip
    device, xp, key, kind = A.device, A.device.xp, plan.key, plan.kind
    true = BOOL.np_type.type(True)
    a_val, b_val = (A.values_for(key, ta), B.values_for(key, not tb)) if kind == VALUES else (true, true)
    a_type, b_type = (A.dtype, B.dtype) if kind == VALUES else (BOOL, BOOL)
    left: Any = A.structure.form(key, transposed=ta)
    right: Any = B.structure.form(key, transposed=not tb)
    at: Any = mask.rows() if key in ROWS else mask.form(key)
    z = semiring.return_type if kind != WORDS else BOOL
    places = max(1, at.nvals)
    present, sums = xp.empty(places, np.uint8), xp.empty(places if kind != WORDS else 1, z.np_type)
    types: tuple[Any, ...]
    if key in ROWS:
        where: tuple[Any, ...] = (at.ptr, at.nrows, at.col, at.width, right.width)
        n = at.nvals
        same: tuple[tuple[Any, ...], ...] = (left.ptr, left.col), (right.ptr, right.col)
        types = (left.ptr.dtype, index_type(left.ncols), right.ptr.dtype, at.ptr.dtype, index_type(at.ncols))
    else:
        none = dummy(device, "int32")
        ranks = tuple(f.ranks() if not isinstance(v, np.generic) else none for f, v in ((left, a_val), (right, b_val)))
        where = (at.ptr, at.tile_rows, at.col, at.bits, at.ranks())
        n = at.tiles
        same = (left.ptr, left.col, left.bits, ranks[0]), (right.ptr, right.col, right.bits, ranks[1])
        indices = (left.ptr, left.col, right.ptr, at.ptr, at.col, *ranks, at.ranks())
        types = tuple(array.dtype for array in indices)
    named = tuple((name, lookup_dtype(dtype)) for name, dtype in zip(DOT_INDICES, types, strict=False))
    typed = None if kind == WORDS else semiring
    variant = dot_variant(key, named, typed, kind, a_type, b_type, plan.lanes, plan.wide, at.key)
    value = z.np_type.type(0 if product is None else product)
    bounds = None
    if not device.is_gpu and at.nvals > PARALLEL_ENTRIES:
        bounds = dot_bounds(right.ptr, at, device)
    compiled(device, variant)(
        n, *where, *same[0], *entry_values(device, a_type, a_val), *same[1], *entry_values(device, b_type, b_val),
        left.ncols, value, present, sums, bounds=bounds,
    )  # fmt: skip
    found = semiring.return_type.np_type.type(product) if kind == WORDS else sums[: at.nvals]
    monoid = semiring.op.monoid[semiring.return_type]
    return Sieve(Structure(at), semiring.return_type, found, present[: at.nvals].view(bool), monoid)
