"""mxm over any semiring, with the mask in the kernel. GraphBLAS C API 2.1, section 4.3.1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import BOOL

from ..formats import Structure, format_of
from ..plan.mxm import plan_mxm
from ..plan.product import VALUES, WORDS, Plan
from ..store import MatrixStore
from .gustavson import row_by_row
from .matrix_variants import dot_variant
from .operands import entry_values
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
    A.structure.read_besides += 1
    B.structure.read_besides += 1
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
    format = format_of(key)
    at: Any = format.dot_mask(mask)
    z = semiring.return_type if kind != WORDS else BOOL
    places = max(1, at.nvals)
    present, sums = xp.empty(places, np.uint8), xp.empty(places if kind != WORDS else 1, z.np_type)
    given = format.dot(left, right, at, (not isinstance(a_val, np.generic), not isinstance(b_val, np.generic)))
    typed = None if kind == WORDS else semiring
    variant = dot_variant(key, given.types, typed, kind, a_type, b_type, plan.lanes, plan.wide, at.key)
    value = z.np_type.type(0 if product is None else product)
    bounds = None
    if not device.is_gpu and at.nvals > PARALLEL_ENTRIES:
        bounds = dot_bounds(right.ptr, at, device)
    compiled(device, variant)(
        given.units, *given.mask, *given.left, *entry_values(device, a_type, a_val), *given.right,
        *entry_values(device, b_type, b_val), left.ncols, value, present, sums, bounds=bounds,
    )  # fmt: skip
    found = semiring.return_type.np_type.type(product) if kind == WORDS else sums[: at.nvals]
    monoid = semiring.op.monoid[semiring.return_type]
    return Sieve(Structure(at), semiring.return_type, found, present[: at.nvals].view(bool), monoid)
