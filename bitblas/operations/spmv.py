"""SpMV: mxv and vxm over any semiring, with the mask in the kernel; SpMSpV; and row sums, which are products.

Decisions that do not depend on the vector's entries are made once per matrix, semiring and kind of vector, and cached
with the matrix: a repeated statement looks them up and runs. GraphBLAS C API 2.1, sections 4.3.2 and 4.3.3. SpMSpV on
the CPU gathers the rows of the active entries and sorts the products (formats/csr/push_list.cpu.py); its cost does not
depend on the size of the vector.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy import generic

from semirings import Monoid, Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, DataType, cast_scalar

from .. import tuning
from ..device import Device
from ..formats import CSR
from ..formats.bitmap.lines import lines_of
from ..formats.values import PackedValues
from ..kernels.variant import Variant
from ..plan.auxiliary_formats import extra_push_work, is_available
from ..plan.direction import is_cacheable, max_sorted_products, missed_reads
from ..plan.epilogue import Epilogue, plan_epilogue
from ..plan.format_choice import could_gain
from ..plan.product import COUNT, VALUES, WORDS, Plan, has_fused_epilogue, is_binned, is_staged, kind_of, reads_matrix
from ..store import MatrixStore, Raw, RowLayout, SparseStore, VectorStore, dense_values, full_vector, words
from ..typing import Array
from . import compressed, ewise_vector, hypersparse, multivector, sorted_keys, spmv_kernels, udf, virtual_nodes
from .operands import (
    ZERO,
    Allowed,
    Input,
    Into,
    Mask,
    Old,
    Output,
    Values,
    VectorProduct,
    allowed,
    dummy,
    entry_values,
    make,
    matrix_of,
    no_mask,
    nothing,
    overlap,
    stored,
)
from .spmv_kernels import DegreeBinnedPull, PullKernels, Push, Reached, WidePull, row_lengths
from .variants import push_variant

# ---- SpMSpV on the CPU: gather the rows of the active entries and sort the products (formats/csr/push_list.cpu.py).
#
# The cost does not depend on the size of the vector.

NO_MASK, LIST, BITS = range(3)  # push_list.cpu.py
PRODUCTS, ENTRIES = range(2)


class SpMSpV:
    """A product along the rows of a matrix: everything that does not depend on the entries of the vector."""

    __slots__ = ("kernel", "key", "kind", "matrix", "most", "product", "size", "sums", "variant", "z")

    def __init__(
        self,
        A: MatrixStore,
        u: SparseStore,
        semiring: Typed[Semiring],
        layout: RowLayout,
        small: MatrixStore,
        *,
        transposed: bool,
        flip: bool,
    ) -> None:
        device, z = A.device, semiring.return_type
        self.kind, product = kind_of(semiring, A.raw, u.listed, flip=flip)
        valued = self.kind == VALUES
        raw: Raw = BOOL.np_type.type(True)
        if valued:
            raw = small.raw_for(layout.key, transposed)
            raw = raw if isinstance(raw, np.generic) or reads_matrix(semiring, flip) else A.dtype.np_type.type(0)
        a_type, u_type = (A.dtype, u.dtype) if valued else (BOOL, BOOL)
        packed = not isinstance(raw, (np.generic, np.ndarray))
        self.variant: Variant = push_variant(
            layout.key,
            layout.format.view.types(layout, False),
            None if self.kind == WORDS else semiring,
            self.kind,
            a_type,
            u_type,
            flip=flip,
            ranked=not isinstance(raw, np.generic),
            lanes=1,
            packed=packed,
            kernel="push_list",
        )
        self.kernel, self.key, self.z = device.kernel(self.variant), layout.key, z
        self.sums = BOOL if self.kind == WORDS else z
        self.product = z.np_type.type(0 if product is None else product)
        rows = cols = none = dummy(device, "int64")
        listed = -1, -1
        if A.structure.hypersparse:
            rows, cols = hypersparse.lists(A)[:: -1 if transposed else 1]
            listed = len(rows), len(cols)
            rows, cols = (x if len(x) else none for x in (rows, cols))
        values = entry_values(device, a_type, raw)
        self.matrix = rows, listed[0], cols, listed[1], layout.ptr, layout.col, layout.width, *values
        self.most = max_sorted_products(layout.nvals)
        self.size = A.nrows if transposed else A.ncols

    def given(self, u: SparseStore, mask: Mask | None) -> tuple[tuple[Any, ...], Array]:
        """The kernel arguments, and where the kernel stores the number of products that it counted."""
        device, n = u.device, len(u.index)
        none = dummy(device, "int64")
        values = (
            entry_values(device, u.dtype, u.listed) if self.kind == VALUES else entry_values(device, BOOL, np.True_)
        )
        allowed: tuple[Any, ...] = none, NO_MASK, 0, 0
        if mask is not None and type(mask.words) is SparseStore:
            index = mask.words.index
            allowed = index if len(index) else none, LIST, len(index), int(mask.complement)
        elif mask is not None:
            allowed = mask.bits.view(np.int64), BITS, 0, int(mask.complement)
        places, told = np.empty(n or 1, np.int64), np.zeros(2, np.int64)
        operands = u.index if n else none, *values, *self.matrix, *allowed, self.product, places, told
        self.kernel(n, 0, *operands, none, dummy(device, self.sums.np_type.char))
        return operands, told

    def run(self, u: SparseStore, mask: Mask | None) -> VectorStore | None:
        """The product; None if it has too many products."""
        operands, told = self.given(u, mask)
        most = told.item(PRODUCTS)
        if most > self.most:
            return None
        index, sums = np.empty(most or 1, np.int64), np.empty(1 if self.kind == WORDS else most or 1, self.sums.np_type)
        self.kernel(len(u.index), 1, *operands, index, sums)
        count = told.item(ENTRIES)
        values = self.product if self.kind == WORDS else sums[:count]
        return compressed.as_bits_if_dense(SparseStore(u.device, self.size, self.z, index[:count], values))


def spmspv(
    A: MatrixStore, u: SparseStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool, mask: Mask | None
) -> VectorStore | None:
    """t<mask> = A (+).(x) u, of the transpose if `transpose`. None if the rows of the entries of u are not available,
    or hold too many entries."""
    product = _prepared_spmspv(A, u, semiring, transpose=transpose, flip=flip)
    return None if product is None else product.run(u, mask)


def explain_spmspv(
    A: MatrixStore, u: SparseStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool
) -> tuple[Plan, Variant] | None:
    """Its plan and its kernel."""
    product = _prepared_spmspv(A, u, semiring, transpose=transpose, flip=flip)
    products = 0 if product is None else product.given(u, None)[1].item(PRODUCTS)
    if product is None or products > product.most:
        return None
    reason = f"{len(u.index)} listed entries, whose rows hold {products}"
    verb, pushed = "vxm" if flip else "mxv", not transpose
    return Plan(verb, semiring.op.name, product.key, pushed, "push", product.kind, 1, reason), product.variant


def _prepared_spmspv(
    A: MatrixStore, u: SparseStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool
) -> SpMSpV | None:
    """The product, cached with the matrix; None if there are no rows to push along."""
    if A.device.is_simt:
        return None
    x = u.listed
    one = x.tobytes() if isinstance(x, np.generic) else None
    key = "list", semiring, transpose, flip, u.dtype.name, one, tuning.version()
    product: SpMSpV | None = A.prepared.get(key)
    if product is not None:
        return product
    small = hypersparse.compressed_matrix(A) if A.structure.hypersparse else A
    layout: Any = small.structure.held(CSR, transposed=not transpose)
    if layout is None and is_available(small.structure, transposed=not transpose, valued=not A.iso):
        layout = small.structure.layout(small.structure.primary.key, transposed=not transpose)
    if layout is None or not layout.format.by_rows or layout.format.hypersparse:
        return None
    product = A.prepared[key] = SpMSpV(A, u, semiring, layout, small, transposed=not transpose, flip=flip)
    return product


# ---- SpMV: mxv and vxm over any semiring, with the mask in the kernel; and row sums, which are products.


def mxv(
    A: MatrixStore,
    u: VectorStore,
    semiring: Typed[Semiring],
    transpose: bool = False,
    flip: bool = False,
    mask: Mask | None = None,
    into: Into | None = None,
) -> VectorStore:
    """t<mask> = A (+).(x) u, of the transpose if `transpose`; `flip`: u is the left operand (vxm). With `into`, the
    statement is completed: the result is its w, changed in place, or a new store if w keeps nothing."""
    if semiring.dtype._is_udt and udf.computes(semiring):
        return sorted_keys.mxv(VectorProduct(A, u, semiring, transpose, flip, mask, into))
    if type(u) is SparseStore:
        t = spmspv(A, u, semiring, transpose=transpose, flip=flip, mask=mask)
        if t is not None:
            return hypersparse.merge_into(t, mask, into)
    if not A.plain and (A.structure.has_virtual_nodes or A.structure.hypersparse):
        of = VectorProduct(A, u, semiring, transpose, flip, mask, into)
        virtual = A.structure.has_virtual_nodes
        return virtual_nodes.mxv(mxv, prepared, of) if virtual else hypersparse.mxv(mxv, of)
    if type(u) is SparseStore and (rows := hypersparse.rows_along(A, u, transposed=not transpose)) is not None:
        return hypersparse.mxv(mxv, VectorProduct(rows, u, semiring, True, flip, mask, into))
    product, lost = prepared(A, u, semiring, transpose, flip)
    A.structure.transpose_credit += lost
    small_push = product.pushes and tuning.value("format.push_read") * (u.count or 0) < u.size
    A.structure.reads += product.reads and not small_push
    if product.push_work:
        spmv_kernels.count_tile_push(A, product.plan, product.push_work * (u.count or 0))
    return product.run(u, mask, into)


def prepared(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], transpose: bool, flip: bool
) -> tuple[PreparedProduct, float]:
    """The prepared product, cached with the matrix, and the reads that it costs to do without the transpose."""
    x, known = u.values, A.prepared
    count = u.nvals if u.device.host_memory else u.count  # a pull that does not know that its vector is full is slower
    value = x.tobytes() if isinstance(x, generic) else None
    key = semiring, transpose, flip, u.dtype.name, value, tuning.version()
    cached: spmv_kernels.PreparedProducts | None = known.get(key)
    if cached is None:
        if len(known) >= tuning.count("cached.products"):
            known.clear()
        cached = known[key] = spmv_kernels.PreparedProducts(
            spmv_kernels.facts_of(A, x, semiring, transpose=transpose, flip=flip)
        )
    elif (lasting := cached.lasting.get(count)) is not None:
        return lasting, 0.0
    direction, case, vector_facts = spmv_kernels.decide(A, u, cached.case)
    if case.items is not None:  # the format that a push reads exists, and stays
        # the construction of the other format may be amortized later
        cached.case = case if case.pull_ready else case._replace(pull_ready=None)
    way = direction.push, (full := count == u.size)
    if way not in cached.products:
        plan = spmv_kernels.planned(A, direction, case, vector_facts)
        one = x if isinstance(x, generic) else None
        cached.products[way] = PreparedProduct(plan, case.product, A, u.dtype, semiring, flip, full=full, value=one)
    if count is not None and is_cacheable(direction, case, vector_facts):
        if len(cached.lasting) >= tuning.count("cached.products"):
            cached.lasting.clear()
        cached.lasting[count] = cached.products[way]
    return cached.products[way], missed_reads(case, vector_facts, direction)


class PreparedProduct:
    """A planned mxv or vxm with everything that does not depend on the entries of the vector."""

    __slots__ = (
        "algebra",
        "apart",
        "arguments",
        "device",
        "everywhere",
        "fills",
        "fused",
        "graded",
        "layout",
        "long",
        "matrix",
        "plain",
        "plan",
        "product",
        "pulls",
        "push_work",
        "pushes",
        "reads",
        "semiring",
        "size",
        "staged",
        "u_nothing",
        "u_type",
        "u_values",
        "u_zero",
        "under",
        "value",
        "z",
    )

    def __init__(
        self,
        plan: Plan,
        product: np.generic | None,
        A: MatrixStore,
        u_type: DataType,
        semiring: Typed[Semiring],
        flip: bool,
        *,
        full: bool,
        value: np.generic | None = None,
    ) -> None:
        """value: of all entries of the vector, if it is known to be iso."""
        device, kind, key = A.device, plan.kind, plan.key
        self.plan, self.product, self.semiring, self.device = plan, product, semiring, device
        self.pushes = push = plan.direction == "push"
        self.reads = could_gain(kind, semiring.return_type.np_type.itemsize, device, iso=A.iso)
        a_values: Raw = BOOL.np_type.type(True)
        if kind == VALUES:
            a_values = (
                A.raw_for(key, plan.transposed) if A.iso or reads_matrix(semiring, flip) else A.dtype.np_type.type(0)
            )
        ranked = not isinstance(a_values, np.generic)
        layout = A.structure.layout(key, transposed=plan.transposed)  # kernels take the arrays of their own format
        self.push_work = extra_push_work(layout) if push and not ranked else 0.0
        self.z = z = semiring.return_type
        self.u_type = u_type if kind == VALUES else BOOL
        a_type = A.dtype if kind == VALUES else BOOL
        if plan.wide and kind == VALUES:  # lanes compute in one type, and A is iso
            a_values, a_type, self.u_type = cast_scalar(a_values, z), z, z
        full = not push and 0 < layout.ncols and full  # without entries there is no gain, so no separate kernel
        options = {"flip": flip, "ranked": ranked, "full": full, "packed": isinstance(a_values, PackedValues)}
        self.algebra = (
            layout.format.view.types(layout, ranked),
            None if kind == WORDS else semiring,
            kind,
            a_type,
            options,
        )
        self.size = layout.ncols if push else layout.nrows
        self.staged = is_staged(semiring, kind, layout, full)
        self.graded = is_binned(semiring, kind, layout, full, self.u_type)
        self.under = self.graded and layout.format.kernels["mxv.pull.binned"].masked
        taken = lambda layout: matrix_of(layout, ranked, entry_values(device, a_type, a_values))
        self.layout, self.matrix = layout, taken(layout)
        self.long = device.chunks(layout.nvals) > 1  # an interrupt may end it, so it does not run in place
        if (wide := plan.wide) and full and kind == COUNT:
            wide, self.layout = False, row_lengths(layout, self.matrix.flat())
            self.algebra = (self.layout.format.view.types(self.layout, ranked), *self.algebra[1:])
            self.matrix = taken(self.layout)
        self.arguments = self.matrix.flat()
        self.fills = 0.0 if full else spmv_kernels.filled_row_length(plan, layout, semiring, self.u_type)
        self.u_values: Values | None = None if kind == VALUES else stored(device, BOOL, np.bool_(True))
        self.u_zero, self.u_nothing = ZERO[self.u_type.name], nothing(device, self.u_type)
        if kind == VALUES and value is not None and self.u_type is u_type:
            self.u_values = make(Values, (self.u_nothing, value, 0))
        self.value = z.np_type.type(0 if product is None else product)
        self.pulls: dict[Hashable, PullKernels | DegreeBinnedPull] = {}
        self.fused: dict[tuple[str, Typed | None], bool] = {}
        self.plain, self.everywhere = (
            has_fused_epilogue(key, semiring, z, None),
            no_mask(device),
        )  # the most common case
        self.apart: Any = Push(self) if push else WidePull(self) if wide else None
        if self.apart is None and full and kind == WORDS:
            self.apart = Reached(self)

    def run(self, u: VectorStore, mask: Mask | None, into: Into | None = None) -> VectorStore:
        """The product with a vector of the kind that this was prepared for. With `into` the statement is completed: its
        w is returned, changed in place; or a new store, if w keeps nothing."""
        values: Any = self.u_values
        if values is None:
            x = u.values
            if u.dtype is not self.u_type:
                u = ewise_vector.cast(u, self.u_type)
                x = u.values
            if self.fills and not isinstance(x, generic) and spmv_kernels.amortizes_fill(self.fills, mask):
                values = spmv_kernels.fill_missing(u, self.fills)
            else:
                values = (self.u_nothing, x, 0) if isinstance(x, generic) else (x, self.u_zero, 1)
        given = make(Input, (u.present, *values))
        open_at = self.everywhere if mask is None else allowed(self.device, mask)
        if self.apart is None:
            if into is None or self._plain(into) or self._fuses(into):
                return self._pull(given, open_at, into, mask is not None)
            t = self._pull(given, open_at, None, mask is not None)
        else:
            free = None if into is None or into.keeps or self.long or overlap(into.w, u, mask) else into.w
            t = self.apart.run(given, open_at, u, free)
        return hypersparse.merge_into(t, mask, into)

    def _plain(self, into: Into) -> bool:
        return self.plain and into[2] is None and into[0].dtype is self.z and not (into[4] and self.under)

    def _fuses(self, into: Into) -> bool:
        # One more element-wise kernel costs less than rows that are not binned
        if self.under or (self.graded and into.mask is None):
            return False
        w, accum = into[0].dtype, into[2]
        found = self.fused.get((w.name, accum))
        if found is None:
            found = self.fused[w.name, accum] = has_fused_epilogue(self.layout.key, self.semiring, w, accum)
        return found

    def variants(self, masked: bool) -> tuple[Variant, ...]:
        """The kernels of a statement whose output is new."""
        return (self.pull(self.z, None, None, False, masked) if self.apart is None else self.apart).variants

    def _pull(self, given: Input, open_at: Allowed, into: Into | None, masked: bool) -> VectorStore:
        """The product and its epilogue in one kernel: in place, unless w is read elsewhere too."""
        if into is None:
            w = VectorStore(self.device, self.size, self.z, None, self.z.np_type.type(0))
            accum, keeps, replace = None, False, False
        else:
            w, _, accum, replace, keeps = into
        x, bits = w.values, w.bits
        one = isinstance(x, generic)
        pull = None if keeps else self.pulls.get((w.dtype.name, masked))
        if pull is None:
            pull = self.pull(w.dtype, x if one else None, accum, keeps, masked)
        end, old = pull.end, pull.nothing
        u_bits, u_array, words = given[0], given[1], open_at[0]
        moved = self.long or bits is None or bits is u_bits or bits is u_array or bits is words
        moved = moved or x is u_bits or x is u_array or x is words
        if keeps:
            moved = moved or (end.store and one)
            old = make(Old, (w.present, *stored(self.device, w.dtype, x), int(moved), int(replace)))
        if moved:
            bits = self.bits(self.size)
        if not end.store:
            x = old.array
        elif moved or one:
            x = self.dense(self.size, w.dtype)
        pull.run(given, open_at, old, make(Output, (bits, x)))
        w.bits = bits
        if end.store:
            w.values = x
        elif not end.merge:
            w.values = pull.one
        w.changed(grown=end.merge and end.accum is not None and not replace)
        return w

    def pull(
        self, w: DataType, value: np.generic | None, accum: Typed | None, keeps: bool, masked: bool
    ) -> PullKernels | DegreeBinnedPull:
        """The kernels for an output of type w, with one value for all entries or (None) an array."""
        key = (w.name, None if value is None else value.tobytes(), accum, masked) if keeps else (w.name, masked)
        found = self.pulls.get(key)
        if found is None:
            one = self.product if self.plan.kind == WORDS else None
            if keeps:
                end = plan_epilogue(self.z, one, w, value, accum)
            else:
                end = Epilogue(self.z, w) if one is None else Epilogue(BOOL, BOOL, store=False)
            graded = not keeps and (self.under if masked else self.graded)
            pull = DegreeBinnedPull if graded else PullKernels
            found = self.pulls[key] = pull(self, end, w, masked)
        return found

    def bits(self, size: int) -> Array:
        """A bitset for a kernel that writes all of it; the CPU's kernels skip words without rows."""
        xp, whole = self.device.xp, self.device.is_simt and size
        return (xp.empty if whole else xp.zeros)(words(size), np.uint64)

    def dense(self, size: int, dtype: DataType) -> Array:
        return self.bits(size) if dtype is BOOL else dense_values(self.device, size, dtype)


def reduce_rows(
    A: MatrixStore, monoid: Typed[Monoid], *, transpose: bool = False, into: Into | None = None
) -> VectorStore | None:
    """t(i) = the sum of row i (column i if `transpose`): A (+).first 1. Section 4.3.10."""
    if not A.plain and multivector.is_flat(A) and multivector.computes(monoid):
        lines = lines_of(A.nrows, A.ncols)
        return ewise_vector.commit(multivector.reduce_lines(A, monoid, along=lines.tall != transpose), into)
    size, hyper, mask = A.nrows if transpose else A.ncols, A.structure.hypersparse, None if into is None else into[1]
    if hyper or size > tuning.count("cached.full_positions"):
        ones = hypersparse.ones(A, transpose) if hyper else full_vector(A.device, size, np.bool_(True), BOOL)
        return mxv(A, ones, _first(monoid), transpose, False, mask, into)
    ones, ways = _ones(A.device, size), A.prepared.get((monoid, transpose, tuning.version()))
    if ways is not None and (product := ways.lasting.get(size)) is not None:
        A.structure.reads += product.reads
        return product.run(ones, mask, into)
    first, version = _first(monoid), tuning.version()
    t = mxv(A, ones, first, transpose, False, mask, into)
    if (ways := A.prepared.get((first, transpose, False, BOOL.name, ones.values.tobytes(), version))) is not None:
        A.prepared[monoid, transpose, version] = ways  # a shorter key, for the next call
    return t


@functools.lru_cache(64)
def _ones(device: Device, size: int) -> VectorStore:
    return full_vector(device, size, np.bool_(True), BOOL)


@functools.cache
def _first(monoid: Typed[Monoid]) -> Typed[Semiring]:
    return compose(monoid.op, BINARY["first"])[monoid.dtype]
