"""mxv and vxm over any semiring, with the mask in the kernel; and sums of rows, which are products.

What does not depend on the entries of the vector is decided once per matrix, semiring and kind of vector, and kept with
the matrix: a statement that comes again looks it up and runs. GraphBLAS C API 2.1, sections 4.3.2 and 4.3.3.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.catalog import BINARY, compose
from semirings.dtypes import BOOL, INT32, DataType, cast, lookup_dtype

from ..device import Device
from ..kernels.prologue import Variant
from ..plan import LONGEST, VALUES, WORDS, Plan, is_light, is_sparse, may_push, plan_mxv
from ..store import MatrixStore, VectorStore, dense_values, full_vector, words
from . import vector
from .operands import Mask, dummy, entry_values, mask_arguments, stored
from .schedule import Hubs, hubs_of, unit_bounds
from .variants import CELLS, beginning, hubs_variant, lanes_variant, mxv_variant

MANY = 64  # prepared products that a matrix keeps; vectors with ever new iso values would make ever more


def index_types(form: Any, ranks: Any) -> tuple[tuple[str, DataType], ...]:
    """The types of a form's index arrays, by the names that kernels give them."""
    key = ("types", None if ranks is None else ranks.dtype)
    if key not in form.cache:
        arrays = (("PTR", form.ptr), ("COL", form.col), ("PLACE", ranks))[: 2 if form.key == "csr" else 3]
        form.cache[key] = tuple((name, lookup_dtype(array.dtype)) for name, array in arrays)
    return form.cache[key]


@functools.cache
def compiled(device: Device, variant: Variant) -> Any:
    return device.kernel(variant)


def mxv(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool = False, flip: bool = False,
    mask: Mask | None = None,
) -> VectorStore:  # fmt: skip
    """t<mask> = A (+).(x) u, of the transpose where `transpose`; `flip`: u is the left operand (vxm)."""
    value = u.values.tobytes() if isinstance(u.values, np.generic) else None
    key = (semiring, transpose, flip, u.dtype.name, value)
    found = A.prepared.get(key)
    if found is None:
        if len(A.prepared) >= MANY:
            A.prepared.clear()
        found = A.prepared[key] = may_push(semiring, A.values, u.values, flip=flip), {}
    push: bool = found[0] and is_sparse(u)
    if push:
        push = is_light(u, A.structure.form(A.structure.primary.key, transposed=not transpose))
    ways: dict[tuple[bool, bool], Product] = found[1]
    way = push, u.count == u.size
    if way not in ways:
        plan, product = plan_mxv(A, u, semiring, transpose=transpose, flip=flip)
        ways[way] = Product(plan, product, A, u, semiring, flip)
    return ways[way].run(u, mask)


class Product:
    """A planned mxv or vxm with everything that does not depend on the entries of the vector."""

    __slots__ = (
        "device", "form", "head", "hubs", "kernel", "longest", "plan", "product", "semiring", "size", "u_type",
        "u_values", "value", "variant", "z",
    )  # fmt: skip

    def __init__(
        self, plan: Plan, product: Any, A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], flip: bool
    ) -> None:
        device, kind, key = A.device, plan.kind, plan.key
        self.plan, self.product, self.semiring, self.device = plan, product, semiring, device
        push = plan.direction == "push"
        a_values = A.values_for(key, plan.transposed) if kind == VALUES else BOOL.np_type.type(True)
        ranked = kind == VALUES and not isinstance(a_values, np.generic) and _reads(semiring, "y" if flip else "x")
        form: Any = A.structure.form(key, transposed=plan.transposed)  # kernels take the arrays of their own form
        ranks = form.ranks() if ranked and key != "csr" else dummy(device, "int32")
        self.z = z = semiring.return_type if kind != WORDS else BOOL
        self.u_type = u.dtype if kind == VALUES else BOOL
        if plan.wide and kind == VALUES:  # lanes compute in one type
            a_values, self.u_type = cast(a_values, z), z
        a_type = lookup_dtype(a_values.dtype)
        types = index_types(form, ranks)
        if plan.wide:
            self.variant = lanes_variant((*types, ("Z", z)), semiring, kind, flip=flip)
        else:
            self.variant = mxv_variant(
                plan.direction, key, types, None if kind == WORDS else semiring, kind, a_type, self.u_type,
                flip=flip, full=not push and u.count == u.size, ranked=ranked, lanes=plan.lanes,
            )  # fmt: skip
        self.kernel = compiled(device, self.variant)
        self.form, self.size = form, form.ncols if push else form.nrows
        self.longest = LONGEST * plan.lanes if device.is_gpu else 1 << 62
        self.hubs = hubs_of(form, self.longest) if device.is_gpu else None
        rows = (form.ptr[:-1], form.ptr[1:], dummy(device, "int64"), 0)
        matrix = (form.col,) if key == "csr" else (form.col, form.bits, ranks)
        self.head = (*rows, *matrix, *entry_values(device, a_type, a_values))
        self.u_values = None if kind == VALUES else stored(device, BOOL, np.bool_(True))
        self.value = z.np_type.type(0 if product is None else product)

    def run(self, u: VectorStore, mask: Mask | None) -> VectorStore:
        """The product with a vector of the kind that this was made for."""
        if self.u_values is None and u.dtype is not self.u_type:
            u = vector.cast(u, self.u_type)
        u_values = self.u_values or stored(self.device, u.dtype, u.values)
        t = self._push if self.plan.direction == "push" else self._pull
        return t((*self.head, u.present, *u_values, *mask_arguments(self.device, mask)), u, mask)

    def _pull(self, operands: tuple[Any, ...], u: VectorStore, mask: Mask | None) -> VectorStore:
        device, size, z, words_only = self.device, self.size, self.z, self.plan.kind == WORDS
        covered = device.is_gpu and size > 0 and self.plan.key not in ("csr", "b2sr4")  # the kernel writes every word
        t_bits = (device.xp.empty if covered else device.xp.zeros)(words(size), np.uint64)
        t_val = dummy(device, "uint64") if words_only else dense_values(device, size, z)
        bounds = unit_bounds(self.form, device)
        self.kernel(self.form.units, self.longest, *operands, self.value, t_bits, t_val, bounds=bounds)
        if self.hubs is not None:
            self._join_hubs(self.hubs, operands[4:-3], operands[-3:], t_bits, t_val)
        if words_only:
            return self._words(t_bits)
        return VectorStore(device, size, z, t_bits, t_val)

    def _push(self, operands: tuple[Any, ...], u: VectorStore, mask: Mask | None) -> VectorStore:
        device, size, z = self.device, self.size, self.z
        t_bits = device.xp.zeros(words(size), np.uint64)
        cell = z if z in CELLS else INT32
        if self.plan.kind == WORDS:
            t_val = dummy(device, "int32")
        else:
            t_val = device.xp.empty(max(1, size), cell.np_type)
            if device.is_gpu:  # atomics join what is there
                t_val.fill(cell.np_type.type(beginning(self.semiring.op.monoid, z)))
        n = self.form.units if device.is_gpu else words(u.size)
        self.kernel(n, self.longest, *operands, t_bits, t_val)
        if self.hubs is not None:
            parts = (self.hubs.begin, self.hubs.end, self.hubs.row_of, 1)
            self.kernel(self.hubs.segments, self.longest, *parts, *operands[4:], t_bits, t_val)
        if self.plan.kind == WORDS:
            return self._words(t_bits)
        t = VectorStore(device, size, cell, t_bits, t_val)
        return t if cell is z else vector.cast(t, z)

    def _words(self, t_bits: Any) -> VectorStore:
        z = self.semiring.return_type
        return VectorStore(self.device, self.size, z, t_bits, z.np_type.type(self.product))

    def _join_hubs(
        self, hubs: Hubs, operands: tuple[Any, ...], masking: tuple[Any, ...], t_bits: Any, t_val: Any
    ) -> None:
        """The long rows: their segments as rows of a vector of their own, then one block per row joins them."""
        device, per, z = self.device, self.form.rows_per_unit, self.z
        size = hubs.segments * per
        part_bits = device.xp.zeros(words(size), np.uint64)
        part_val = dense_values(device, size, z) if self.plan.kind != WORDS else dummy(device, "uint64")
        parts = (hubs.begin, hubs.end, hubs.row_of, 1, *operands, *mask_arguments(device, None))
        self.kernel(hubs.segments, self.longest, *parts, self.value, part_bits, part_val)
        join = compiled(device, hubs_variant(self.variant, per))
        join(len(hubs.rows) * per, hubs.rows, hubs.first, part_bits, part_val, *masking, t_bits, t_val)


def _reads(semiring: Typed[Semiring], side: str) -> bool:
    """Whether the multiplier reads the matrix's values (side: the name that they have in its expression)."""
    op = semiring.op.binaryop
    return not op.positional and op.expr not in ("1", "y" if side == "x" else "x")


def reduce_rows(A: MatrixStore, monoid: Typed[Monoid], *, transpose: bool = False) -> VectorStore:
    """t(i) = the sum of row i (column i where `transpose`): A (+).first 1. Section 4.3.10."""
    ones = full_vector(A.device, A.nrows if transpose else A.ncols, np.bool_(True), BOOL)
    return mxv(A, ones, compose(monoid.op, BINARY["first"])[monoid.dtype], transpose=transpose)
