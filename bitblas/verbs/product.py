"""The products: mxv, vxm and mxm over any semiring, with the mask in the kernel; and sums of rows, which are products.

GraphBLAS C API 2.1, sections 4.3.1 to 4.3.3.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.catalog import BINARY, MONOIDS, compose
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, UINT32, UINT64, DataType, lookup_dtype

from ..device import Device, balanced_bounds
from ..formats import Structure
from ..formats.build import filter_entries
from ..kernels import prologue
from ..kernels.prologue import Function, Variant
from ..plan import COUNT, LONGEST, VALUES, WORDS, Plan, plan_mxm, plan_mxv
from ..store import MatrixStore, VectorStore, dense_values, full_vector, words
from . import vector
from .vector import Mask, _dummy, mask_arguments, stored

PARALLEL_ENTRIES = 1 << 14  # below this a parallel launch on the CPU costs more than it saves
CELLS = (INT32, UINT32, INT64, UINT64, FP32, FP64)  # types that atomics can compare and swap
PLAIN = BINARY["pair"]


class MatrixMask(NamedTuple):
    """The entries that may be written, or that may not (complement)."""

    structure: Structure
    complement: bool


# ---- variants -------------------------------------------------------------------------------------------------------


def _index_types(form: Any, ranks: Any) -> tuple[tuple[str, DataType], ...]:
    key = ("types", None if ranks is None else ranks.dtype)
    if key not in form.cache:
        arrays = (("PTR", form.ptr), ("COL", form.col), ("PLACE", ranks))[: 2 if form.key == "csr" else 3]
        form.cache[key] = tuple((name, lookup_dtype(array.dtype)) for name, array in arrays)
    return form.cache[key]


def _algebra(semiring: Typed[Semiring] | None) -> tuple[Any, DataType, Any, DataType]:
    """Multiplier and its type, monoid and the type of the sum. WORDS, for which the semiring is None, needs none of
    them and is one variant for all."""
    if semiring is None:
        return PLAIN, BOOL, MONOIDS["any"], BOOL
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    return op, t, semiring.op.monoid, op.result_type(t)


@functools.cache
def mxv_variant(
    direction: str, key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int,
    a: DataType, u: DataType, *, flip: bool, full: bool, ranked: bool, lanes: int,
) -> Variant:  # fmt: skip
    """The pull or push kernel of a form for a semiring; `semiring` is None for WORDS."""
    folder = "csr" if key == "csr" else "b2sr"
    op, t, monoid, z = _algebra(semiring)
    functions, values, terminal = prologue.sum_of(monoid, z)
    if kind != VALUES:
        op, t, a, u, flip = PLAIN, BOOL, BOOL, BOOL, False
    mul = prologue.product(op, t, a, u, flip=flip)
    if mul.result is not z:
        mul = Function(mul.name, z, mul.args, mul.let, mul.expr)
    cell = z if z in CELLS else INT32
    constants = [("KIND", kind), ("U_FULL", int(full)), ("U_BOOL", int(u is BOOL)), ("Z_BOOL", int(z is BOOL))]
    constants += [("HAS_TERMINAL", terminal), ("LANES", lanes)]
    if folder == "b2sr":
        constants += [("TILE", int(key[4:])), ("RANKED", int(ranked)), ("NEUTRAL", int(prologue.is_neutral(monoid, z)))]
    if direction == "push":
        functions = (*functions, vector._cast("take", cell, z))
        types = (*types, ("C", cell))
    label = "words" if semiring is None else repr(semiring)
    return Variant(
        f"formats/{folder}/{direction}", (*types, ("A", a), ("U", u), ("Z", z)), tuple(constants), values,
        (*functions, mul), label,
    )  # fmt: skip


# ---- schedules: computed once per form ------------------------------------------------------------------------------


def _bounds(form: Any, device: Device) -> Any:
    """Parallel ranges of units on the CPU, their limits on whole words of the output."""
    if device.is_gpu or form.nvals < PARALLEL_ENTRIES:
        return None
    if "bounds" not in form.cache:
        form.cache["bounds"] = balanced_bounds(form.ptr, 4 * device.threads, 64 // form.rows_per_unit)
    return form.cache["bounds"]


class Hubs(NamedTuple):
    """Rows (or tile rows) too long for one group of lanes, cut into segments: rows of a launch of their own."""

    rows: Any
    first: Any  # segments of hub h: first[h] .. first[h + 1]
    begin: Any
    end: Any
    row_of: Any

    @property
    def segments(self) -> int:
        return len(self.row_of)


def _hubs(form: Any, longest: int) -> Hubs | None:
    if ("hubs", longest) not in form.cache:
        xp, ptr = form.device.xp, form.ptr
        length = ptr[1:] - ptr[:-1]
        rows = xp.flatnonzero(length > longest)
        found = None
        if len(rows):
            count = -(-length[rows].astype(np.int64) // longest)
            first = xp.zeros(len(rows) + 1, np.int64)
            xp.cumsum(count, out=first[1:])
            segment = xp.arange(int(first[-1]))
            hub = xp.searchsorted(first, segment, side="right") - 1
            begin = ptr[rows][hub] + (segment - first[hub]) * longest
            end = xp.minimum(begin + longest, ptr[rows + 1][hub])
            found = Hubs(rows, first, begin.astype(ptr.dtype), end.astype(ptr.dtype), rows[hub])
        form.cache["hubs", longest] = found
    return form.cache["hubs", longest]


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
    ranks = (form.ranks() if ranked else _dummy(device, "int32")) if key != "csr" else _dummy(device, "int32")
    full = not push and u.count == u.size
    a, v = (A.dtype, u.dtype) if kind == VALUES else (BOOL, BOOL)
    variant = mxv_variant(
        plan.direction, key, _index_types(form, ranks), None if kind == WORDS else semiring, kind, a, v,
        flip=flip, full=full, ranked=ranked, lanes=plan.lanes,
    )  # fmt: skip
    kernel = _kernel(device, variant)
    z = semiring.return_type if kind != WORDS else BOOL
    size = form.ncols if push else form.nrows
    identity = semiring.op.monoid.identity(z) if kind != WORDS else np.bool_(False)
    covered = not push and key not in ("csr", "b2sr4") and device.is_gpu and size > 0  # the kernel writes every word
    t_bits = (xp.empty if covered else xp.zeros)(words(size), np.uint64)
    cell = z if z in CELLS else INT32
    if kind == WORDS:
        t_val = _dummy(device, "int32" if push else "uint64")
    elif push:
        t_val = xp.full(max(1, size), cell.np_type.type(identity))
    else:
        t_val = dense_values(device, size, z)
    matrix = (form.col,) if key == "csr" else (form.col, form.bits, ranks)
    operands = (
        *matrix, *_matrix_values(device, a, a_values), u.present,
        *(stored(device, u.dtype, u.values) if kind == VALUES else stored(device, BOOL, np.bool_(True))),
    )  # fmt: skip
    masking = mask_arguments(device, mask)
    longest = LONGEST * plan.lanes if device.is_gpu else 1 << 62
    hubs = _hubs(form, longest) if device.is_gpu else None
    none = _dummy(device, "int64")
    rows = (form.ptr[:-1], form.ptr[1:], none, 0)
    if push:
        n = form.units if device.is_gpu else words(u.size)
        kernel(n, longest, *rows, *operands, *masking, t_bits, t_val)
        if hubs is not None:
            parts = (hubs.begin, hubs.end, hubs.row_of, 1)
            kernel(hubs.segments, longest, *parts, *operands, *masking, t_bits, t_val)
    else:
        value = z.np_type.type(0 if product is None else product)
        kernel(form.units, longest, *rows, *operands, *masking, value, t_bits, t_val, bounds=_bounds(form, device))
        if hubs is not None:
            _run_hubs(device, hubs, form, kernel, variant, operands, masking, value, t_bits, t_val, z, longest)
    if kind == WORDS:
        t = VectorStore(device, size, semiring.return_type, t_bits, semiring.return_type.np_type.type(product))
    elif push and cell is not z:
        t = vector.cast(VectorStore(device, size, cell, t_bits, t_val), z)
    else:
        t = VectorStore(device, size, z, t_bits, t_val)
    return t


@functools.cache
def hubs_variant(pull: Variant, rows: int) -> Variant:
    """The kernel that joins the segments of long rows for a pull kernel; `rows` of them per unit."""
    constants = tuple(c for c in pull.constants if c[0] in ("KIND", "Z_BOOL", "HAS_TERMINAL"))
    functions = tuple(f for f in pull.functions if f.name == "add")
    types = tuple(t for t in pull.types if t[0] == "Z")
    constants = (*constants, ("ROWS", rows), ("LANES", 256))
    return Variant("kernels/hubs", types, constants, pull.values, functions, pull.label)


def _run_hubs(
    device: Device, hubs: Hubs, form: Any, kernel: Any, variant: Variant, operands: tuple[Any, ...],
    masking: tuple[Any, ...], value: Any, t_bits: Any, t_val: Any, z: DataType, longest: int,
) -> None:  # fmt: skip
    """The long rows: their segments as rows of a vector of their own, then one block per row joins them."""
    per, xp = form.rows_per_unit, device.xp
    size = hubs.segments * per
    part_bits = xp.zeros(words(size), np.uint64)
    part_val = dense_values(device, size, z) if variant.constant("KIND") != WORDS else _dummy(device, "uint64")
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


def _matrix_values(device: Device, dtype: DataType, values: Any) -> tuple[Any, Any, int]:
    if isinstance(values, np.generic):
        return _dummy(device, dtype.np_type.name), values, 0
    return (values if len(values) else _dummy(device, dtype.np_type.name)), dtype.np_type.type(0), 1


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


@functools.cache
def dot_variant(
    key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int, a: DataType,
    b: DataType, lanes: int,
) -> Variant:  # fmt: skip
    """The dot kernel of a form for a semiring; `semiring` is None for WORDS."""
    op, t, monoid, z = _algebra(semiring)
    functions, values, terminal = prologue.sum_of(monoid, z)
    if kind != VALUES:
        op, t, a, b = PLAIN, BOOL, BOOL, BOOL
    mul = prologue.product_of_entries(op, t, a, b)
    if mul.result is not z:
        mul = Function(mul.name, z, mul.args, mul.let, mul.expr)
    folder, extra = ("csr", ()) if key == "csr" else ("b2sr", (("TILE", int(key[4:])),))
    constants = (
        ("KIND", kind), ("U_BOOL", 0), ("Z_BOOL", int(z is BOOL)), ("HAS_TERMINAL", terminal), ("LANES", lanes), *extra,
    )  # fmt: skip
    types = (*types, ("A", a), ("B", b), ("Z", z))
    label = "words" if semiring is None else repr(semiring)
    return Variant(f"formats/{folder}/dot", types, constants, values, (*functions, mul), label)


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
        where: tuple[Any, ...] = (rows, cols) if len(rows) else (_dummy(device, "int64"),) * 2
        n, types = len(rows), _index_types(left, None)
        same: Any = (left.ptr, left.col), (right.ptr, right.col)
    else:
        none = _dummy(device, "int32")
        ranks = tuple(f.ranks() if not isinstance(v, np.generic) else none for f, v in ((left, a_val), (right, b_val)))
        tile_rows = xp.searchsorted(at.ptr[1:], xp.arange(at.tiles), side="right").astype(np.int64)
        where = (tile_rows if at.tiles else _dummy(device, "int64"), at.col, at.bits, at.ranks())
        n, types = at.tiles, _index_types(left, at.ranks())
        same = (left.ptr, left.col, left.bits, ranks[0]), (right.ptr, right.col, right.bits, ranks[1])
    variant = dot_variant(key, types, None if kind == WORDS else semiring, kind, a_type, b_type, plan.lanes)
    value = z.np_type.type(0 if product is None else product)
    bounds = None
    if not device.is_gpu and at.nvals > PARALLEL_ENTRIES:
        bounds = np.linspace(0, n, 16 * device.threads + 1).astype(np.int64)
    _kernel(device, variant)(
        n, *where, *same[0], *_matrix_values(device, a_type, a_val), *same[1], *_matrix_values(device, b_type, b_val),
        value, present, sums, bounds=bounds,
    )  # fmt: skip
    if kind == WORDS:
        values = semiring.return_type.np_type.type(product)
    else:
        values = sums[: at.nvals]
    C = MatrixStore(Structure(at), semiring.return_type, values)
    return filter_entries(C, present[: at.nvals].astype(bool))


__all__ = ["COUNT", "INT64", "Mask", "MatrixMask", "mxm", "mxv", "reduce_rows"]
