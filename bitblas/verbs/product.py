"""The products: mxv, vxm and mxm over any semiring, with the mask in the kernel; and sums of rows, which are products.

GraphBLAS C API 2.1, sections 4.3.1 to 4.3.3.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.catalog import BINARY, compose
from semirings.dtypes import BOOL, INT32, DataType, lookup_dtype

from ..device import Device
from ..formats import Structure
from ..formats.build import filter_entries
from ..formats.csr.format import from_arrays, index_type
from ..kernels.prologue import Variant, is_neutral
from ..plan import LONGEST, VALUES, WORDS, Plan, plan_mxm, plan_mxv
from ..store import MatrixStore, VectorStore, dense_values, full_vector, words
from . import vector
from .arrays import as_vector
from .operands import Mask, dummy, entry_values, mask_arguments, stored
from .schedule import PARALLEL_ENTRIES, Hubs, hubs_of, unit_bounds
from .variants import CELLS, dot_variant, hubs_variant, mxv_variant


class MatrixMask(NamedTuple):
    """The entries that may be written, or that may not (complement)."""

    structure: Structure
    complement: bool


def _index_types(form: Any, ranks: Any) -> tuple[tuple[str, DataType], ...]:
    key = ("types", None if ranks is None else ranks.dtype)
    if key not in form.cache:
        arrays = (("PTR", form.ptr), ("COL", form.col), ("PLACE", ranks))[: 2 if form.key == "csr" else 3]
        form.cache[key] = tuple((name, lookup_dtype(array.dtype)) for name, array in arrays)
    return form.cache[key]


# ---- mxv and vxm ----------------------------------------------------------------------------------------------------


def mxv(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool = False, flip: bool = False,
    mask: Mask | None = None,
) -> VectorStore:  # fmt: skip
    """t<mask> = A (+).(x) u, of the transpose where `transpose`; `flip`: u is the left operand (vxm)."""
    plan, product = plan_mxv(A, u, semiring, transpose=transpose, flip=flip)
    return run_mxv(plan, product, A, u, semiring, flip=flip, mask=mask)


def run_mxv(
    plan: Plan, product: Any, A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, flip: bool,
    mask: Mask | None,
) -> VectorStore:  # fmt: skip
    device, xp, kind, key = A.device, A.device.xp, plan.kind, plan.key
    push = plan.direction == "push"
    a_values = A.values_for(key, plan.transposed) if kind == VALUES else BOOL.np_type.type(True)
    ranked = kind == VALUES and not isinstance(a_values, np.generic) and _reads(semiring, "y" if flip else "x")
    form: Any = A.structure.form(key, transposed=plan.transposed)  # kernels take the arrays of their own form
    ranks = (form.ranks() if ranked else dummy(device, "int32")) if key != "csr" else dummy(device, "int32")
    full = not push and u.count == u.size
    a, v = (A.dtype, u.dtype) if kind == VALUES else (BOOL, BOOL)
    variant = mxv_variant(
        plan.direction, key, _index_types(form, ranks), None if kind == WORDS else semiring, kind, a, v,
        flip=flip, full=full, ranked=ranked, lanes=plan.lanes,
    )  # fmt: skip
    kernel = _kernel(device, variant)
    z = semiring.return_type if kind != WORDS else BOOL
    size = form.ncols if push else form.nrows
    covered = not push and key not in ("csr", "b2sr4") and device.is_gpu and size > 0  # the kernel writes every word
    t_bits = (xp.empty if covered else xp.zeros)(words(size), np.uint64)
    cell = z if z in CELLS else INT32
    if kind == WORDS:
        t_val = dummy(device, "int32" if push else "uint64")
    elif push:
        # Where identity + NaN is not NaN (min and max of floats), NaN itself is what a sum may begin with.
        begin = semiring.op.monoid.identity(z) if is_neutral(semiring.op.monoid, z) or z.kind != "f" else np.nan
        t_val = xp.full(max(1, size), cell.np_type.type(begin))
    else:
        t_val = dense_values(device, size, z)
    matrix = (form.col,) if key == "csr" else (form.col, form.bits, ranks)
    operands = (
        *matrix, *entry_values(device, a, a_values), u.present,
        *(stored(device, u.dtype, u.values) if kind == VALUES else stored(device, BOOL, np.bool_(True))),
    )  # fmt: skip
    masking = mask_arguments(device, mask)
    longest = LONGEST * plan.lanes if device.is_gpu else 1 << 62
    hubs = hubs_of(form, longest) if device.is_gpu else None
    none = dummy(device, "int64")
    rows = (form.ptr[:-1], form.ptr[1:], none, 0)
    if push:
        n = form.units if device.is_gpu else words(u.size)
        kernel(n, longest, *rows, *operands, *masking, t_bits, t_val)
        if hubs is not None:
            parts = (hubs.begin, hubs.end, hubs.row_of, 1)
            kernel(hubs.segments, longest, *parts, *operands, *masking, t_bits, t_val)
    else:
        value = z.np_type.type(0 if product is None else product)
        kernel(form.units, longest, *rows, *operands, *masking, value, t_bits, t_val, bounds=unit_bounds(form, device))
        if hubs is not None:
            _run_hubs(device, hubs, form, kernel, variant, operands, masking, value, t_bits, t_val, z, longest)
    if kind == WORDS:
        t = VectorStore(device, size, semiring.return_type, t_bits, semiring.return_type.np_type.type(product))
    elif push and cell is not z:
        t = vector.cast(VectorStore(device, size, cell, t_bits, t_val), z)
    else:
        t = VectorStore(device, size, z, t_bits, t_val)
    return t


def _run_hubs(
    device: Device, hubs: Hubs, form: Any, kernel: Any, variant: Variant, operands: tuple[Any, ...],
    masking: tuple[Any, ...], value: Any, t_bits: Any, t_val: Any, z: DataType, longest: int,
) -> None:  # fmt: skip
    """The long rows: their segments as rows of a vector of their own, then one block per row joins them."""
    per, xp = form.rows_per_unit, device.xp
    size = hubs.segments * per
    part_bits = xp.zeros(words(size), np.uint64)
    part_val = dense_values(device, size, z) if variant.constant("KIND") != WORDS else dummy(device, "uint64")
    parts = (hubs.begin, hubs.end, hubs.row_of, 1)
    kernel(hubs.segments, longest, *parts, *operands, *mask_arguments(device, None), value, part_bits, part_val)
    join = _kernel(device, hubs_variant(variant, per))
    join(len(hubs.rows) * per, hubs.rows, hubs.first, part_bits, part_val, *masking, t_bits, t_val)


@functools.cache
def _kernel(device: Device, variant: Variant) -> Any:
    return device.kernel(variant)


def _reads(semiring: Typed[Semiring], side: str) -> bool:
    """Whether the multiplier reads the matrix's values (side: the name that they have in its expression)."""
    op = semiring.op.binaryop
    return not op.positional and op.expr not in ("1", "y" if side == "x" else "x")


def scatter(device: Device, size: int, indices: Any, values: Any, monoid: Typed[Monoid]) -> VectorStore:
    """t(i) = the sum of the values (one or more) with index i, in any order: a push along the matrix with an entry at
    (k, indices[k]) for each value k."""
    n = len(indices)
    paths = Structure(from_arrays(device, n, size, device.xp.arange(n + 1, dtype=index_type(n)), indices))
    A, u = MatrixStore(paths, BOOL, BOOL.np_type.type(True)), as_vector(device, values, n)
    semiring = compose(monoid.op, BINARY["second"])[monoid.dtype]
    plan = Plan("mxv", semiring.op.name, paths.primary.key, False, "push", VALUES, 1, "an entry a row")
    return run_mxv(plan, None, A, u, semiring, flip=False, mask=None)


def reduce_rows(A: MatrixStore, monoid: Typed[Monoid], *, transpose: bool = False) -> VectorStore:
    """t(i) = the sum of row i (column i where `transpose`): A (+).first 1. Section 4.3.10."""
    ones = full_vector(A.device, A.nrows if transpose else A.ncols, np.bool_(True), BOOL)
    return mxv(A, ones, compose(monoid.op, BINARY["first"])[monoid.dtype], transpose=transpose)


# ---- mxm ------------------------------------------------------------------------------------------------------------


def mxm(
    A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], *, transpose_a: bool = False, transpose_b: bool = False,
    mask: MatrixMask | None = None,
) -> MatrixStore:  # fmt: skip
    """C<mask> = A (+).(x) B, of the transposes where asked for."""
    plan, product = plan_mxm(A, B, semiring, mask is not None and not mask.complement)
    if plan.direction == "dot":
        assert mask is not None
        return _dot(plan, product, A, B, semiring, transpose_a, transpose_b, mask.structure)
    from .expand import expand_sort_compress

    return expand_sort_compress(A, B, semiring, transpose_a, transpose_b, mask)


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
    at: Any = mask.form(key)
    z = semiring.return_type if kind != WORDS else BOOL
    present, sums = xp.zeros(max(1, at.nvals), np.uint8), xp.empty(max(1, at.nvals) if kind != WORDS else 1, z.np_type)
    if key == "csr":
        rows, cols = at.coo()
        where: tuple[Any, ...] = (rows, cols) if len(rows) else (dummy(device, "int64"),) * 2
        n, types = len(rows), _index_types(left, None)
        same: Any = (left.ptr, left.col), (right.ptr, right.col)
    else:
        none = dummy(device, "int32")
        ranks = tuple(f.ranks() if not isinstance(v, np.generic) else none for f, v in ((left, a_val), (right, b_val)))
        tile_rows = xp.searchsorted(at.ptr[1:], xp.arange(at.tiles), side="right").astype(np.int64)
        where = (tile_rows if at.tiles else dummy(device, "int64"), at.col, at.bits, at.ranks())
        n, types = at.tiles, _index_types(left, at.ranks())
        same = (left.ptr, left.col, left.bits, ranks[0]), (right.ptr, right.col, right.bits, ranks[1])
    variant = dot_variant(key, types, None if kind == WORDS else semiring, kind, a_type, b_type, plan.lanes)
    value = z.np_type.type(0 if product is None else product)
    bounds = None
    if not device.is_gpu and at.nvals > PARALLEL_ENTRIES:
        bounds = np.linspace(0, n, 16 * device.threads + 1).astype(np.int64)
    _kernel(device, variant)(
        n, *where, *same[0], *entry_values(device, a_type, a_val), *same[1], *entry_values(device, b_type, b_val),
        value, present, sums, bounds=bounds,
    )  # fmt: skip
    if kind == WORDS:
        values = semiring.return_type.np_type.type(product)
    else:
        values = sums[: at.nvals]
    C = MatrixStore(Structure(at), semiring.return_type, values)
    return filter_entries(C, present[: at.nvals].astype(bool))
