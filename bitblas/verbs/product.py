"""SpMV: mxv and vxm over any semiring, with the mask in the kernel; and row sums, which are products.

Decisions that do not depend on the vector's entries are made once per matrix, semiring and kind of vector, and cached
with the matrix: a repeated statement looks them up and runs. GraphBLAS C API 2.1, sections 4.3.2 and 4.3.3.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy import generic  # attribute access on a module with __getattr__, such as NumPy, is slow

from semirings import Monoid, Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, DataType, cast_scalar

from ..device import Device
from ..formats.bitmap.layout import lines_of
from ..formats.values import PackedValues
from ..kernels.prologue import Variant
from ..plan.beside import rent
from ..plan.choice import MUCH, could_gain
from ..plan.direction import is_lasting, missed
from ..plan.ending import End, plan_end
from ..plan.product import COUNT, VALUES, WORDS, Plan, is_fused, is_graded, is_staged, reads_matrix
from ..sparse import SparseStore
from ..store import MatrixStore, Raw, VectorStore, dense_values, full_vector, words
from . import deciding, expanded, filled, hyper_product, listed, narrow, narrow_sums, records, vector, virtual
from .graded import GradedPull
from .operands import (
    ZERO,
    Allowed,
    Input,
    Into,
    Mask,
    Old,
    Output,
    Values,
    allowed,
    entry_values,
    make,
    matrix_of,
    no_mask,
    nothing,
    overlap,
    stored,
)  # fmt: skip
from .pull import PullKernels, Reached
from .pull import compiled as compiled  # the name that other operations use
from .push import Push, WidePull, lengths

MANY = 64  # prepared products that a matrix caches; vectors with new iso values would add more without limit


def mxv(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], transpose: bool = False, flip: bool = False,
    mask: Mask | None = None, into: Into | None = None,
) -> VectorStore:  # fmt: skip
    """t<mask> = A (+).(x) u, of the transpose if `transpose`; `flip`: u is the left operand (vxm). With `into`, the
    statement is completed: the result is its w, changed in place, or a new store if w keeps nothing."""
    if semiring.dtype._is_udt and records.computes(semiring):
        return expanded.mxv(A, u, semiring, transpose=transpose, flip=flip, mask=mask, into=into)
    if type(u) is SparseStore:
        t = listed.mxv(A, u, semiring, transpose=transpose, flip=flip, mask=mask)
        if t is not None:
            return hyper_product.ended(t, mask, into)
    if not A.usual and (A.structure.composed or A.structure.renumbers):
        over = functools.partial(virtual.mxv, prepared=prepared) if A.structure.composed else hyper_product.mxv
        return over(mxv, A, u, semiring, transpose=transpose, flip=flip, mask=mask, into=into)
    if type(u) is SparseStore and (rows := hyper_product.rows_along(A, u, transposed=not transpose)) is not None:
        return hyper_product.mxv(mxv, rows, u, semiring, transpose=True, flip=flip, mask=mask, into=into)
    product, lost = prepared(A, u, semiring, transpose, flip)
    A.structure.missed += lost
    A.structure.reads += product.reads and not (product.pushes and MUCH * (u.count or 0) < u.size)
    if product.rents:
        deciding.lie_beside(A, product.plan, product.rents * (u.count or 0))
    return product.run(u, mask, into)


def prepared(
    A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], transpose: bool, flip: bool
) -> tuple[PreparedProduct, float]:
    """The prepared product, cached with the matrix, and the reads that it costs to do without the transpose."""
    x, known = u.values, A.prepared
    count = u.nvals if u.device.host_memory else u.count  # a pull that does not know that its vector is full is slower
    key = semiring, transpose, flip, u.dtype.name, x.tobytes() if isinstance(x, generic) else None
    found: deciding.Ways | None = known.get(key)
    if found is None:
        if len(known) >= MANY:
            known.clear()
        found = known[key] = deciding.Ways(deciding.case(A, x, semiring, transpose=transpose, flip=flip))
    elif (lasting := found.lasting.get(count)) is not None:
        return lasting, 0.0
    direction, case, seen = deciding.decide(A, u, found.case)
    if case.work is not None:  # the format that a push reads exists, and stays
        found.case = case if case.back else case._replace(back=None)  # its construction may be amortized later
    way = direction.push, (full := count == u.size)
    if way not in found.products:
        plan = deciding.planned(A, direction, case, seen)
        one = x if isinstance(x, generic) else None
        found.products[way] = PreparedProduct(plan, case.product, A, u.dtype, semiring, flip, full=full, value=one)
    if count is not None and is_lasting(direction, case, seen):
        if len(found.lasting) >= MANY:
            found.lasting.clear()
        found.lasting[count] = found.products[way]
    return found.products[way], missed(case, seen, direction)


class PreparedProduct:
    """A planned mxv or vxm with everything that does not depend on the entries of the vector."""

    __slots__ = ("algebra", "apart", "arguments", "device", "everywhere", "fills", "form", "fused", "graded",
                 "long", "matrix", "plain", "plan", "product", "pulls", "pushes", "reads", "rents", "semiring",
                 "size", "staged", "u_nothing", "u_type", "u_values", "u_zero", "under", "value", "z")  # fmt: skip

    def __init__(
        self, plan: Plan, product: Any, A: MatrixStore, u_type: DataType, semiring: Typed[Semiring], flip: bool,
        *, full: bool, value: np.generic | None = None,
    ) -> None:  # fmt: skip
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
        form: Any = A.structure.form(key, transposed=plan.transposed)  # kernels take the arrays of their own format
        self.rents = rent(form) if push and not ranked else 0.0
        self.z = z = semiring.return_type
        self.u_type = u_type if kind == VALUES else BOOL
        a_type = A.dtype if kind == VALUES else BOOL
        if plan.wide and kind == VALUES:  # lanes compute in one type, and A is iso
            a_values, a_type, self.u_type = cast_scalar(a_values, z), z, z
        full = not push and 0 < form.ncols and full  # without entries there is no gain, so no separate kernel
        options = {"flip": flip, "ranked": ranked, "full": full, "packed": isinstance(a_values, PackedValues)}
        self.algebra = (form.types(ranked), None if kind == WORDS else semiring, kind, a_type, options)
        self.size = form.ncols if push else form.nrows
        self.staged = is_staged(semiring, kind, form, full)
        self.graded = is_graded(semiring, kind, form, full, self.u_type)
        self.under = self.graded and form.format.grades_masked
        taken = lambda form: matrix_of(form, ranked, entry_values(device, a_type, a_values))
        self.form, self.matrix = form, taken(form)
        self.long = device.chunks(form.nvals) > 1  # an interrupt may end it, so it does not run in place
        if (wide := plan.wide) and full and kind == COUNT:
            wide, self.form = False, lengths(form, self.matrix.flat())
            self.algebra = (self.form.types(ranked), *self.algebra[1:])
            self.matrix = taken(self.form)
        self.arguments = self.matrix.flat()
        self.fills = 0.0 if full else filled.length(plan, form, semiring, self.u_type)
        self.u_values: Any = None if kind == VALUES else stored(device, BOOL, np.bool_(True))
        self.u_zero, self.u_nothing = ZERO[self.u_type.name], nothing(device, self.u_type)
        if kind == VALUES and value is not None and self.u_type is u_type:
            self.u_values = make(Values, (self.u_nothing, value, 0))
        self.value = z.np_type.type(0 if product is None else product)
        self.pulls: dict[Any, PullKernels | GradedPull] = {}
        self.fused: dict[tuple[str, Typed | None], bool] = {}
        self.plain, self.everywhere = is_fused(key, semiring, z, None), no_mask(device)  # the most common case
        self.apart: Any = Push(self) if push else WidePull(self) if wide else None
        if self.apart is None and full and kind == WORDS:
            self.apart = Reached(self)

    def run(self, u: VectorStore, mask: Mask | None, into: Into | None = None) -> VectorStore:
        """The product with a vector of the kind that this was prepared for. With `into` the statement is completed: its
        w is returned, changed in place; or a new store, if w keeps nothing."""
        values = self.u_values
        if values is None:
            x = u.values
            if u.dtype is not self.u_type:
                u = vector.cast(u, self.u_type)
                x = u.values
            if self.fills >= (filled.ROW if mask is None else filled.MASKED) and not isinstance(x, generic):
                values = filled.values_of(u, self.fills)
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
        return hyper_product.ended(t, mask, into)

    def _plain(self, into: Into) -> bool:
        return self.plain and into[2] is None and into[0].dtype is self.z and not (into[4] and self.under)

    def _fuses(self, into: Into) -> bool:
        # One more element-wise kernel costs less than rows that are not binned
        if self.under or (self.graded and into.mask is None):
            return False
        w, accum = into[0].dtype, into[2]
        found = self.fused.get((w.name, accum))
        if found is None:
            found = self.fused[w.name, accum] = is_fused(self.form.key, self.semiring, w, accum)
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
    ) -> PullKernels | GradedPull:
        """The kernels for an output of type w, with one value for all entries or (None) an array."""
        key = (w.name, None if value is None else value.tobytes(), accum, masked) if keeps else (w.name, masked)
        found = self.pulls.get(key)
        if found is None:
            one = self.product if self.plan.kind == WORDS else None
            if keeps:
                end = plan_end(self.z, one, w, value, accum)
            else:
                end = End(self.z, w) if one is None else End(BOOL, BOOL, store=False)
            graded = not keeps and (self.under if masked else self.graded)
            pull = GradedPull if graded else PullKernels
            found = self.pulls[key] = pull(self, end, w, masked)
        return found

    def bits(self, size: int) -> Any:
        """A bitset for a kernel that writes all of it; the CPU's kernels skip words without rows."""
        xp, whole = self.device.xp, self.device.shares_rows and size
        return (xp.empty if whole else xp.zeros)(words(size), np.uint64)

    def dense(self, size: int, dtype: DataType) -> Any:
        return self.bits(size) if dtype is BOOL else dense_values(self.device, size, dtype)


def reduce_rows(
    A: MatrixStore, monoid: Typed[Monoid], *, transpose: bool = False, into: Into | None = None
) -> VectorStore | None:
    """t(i) = the sum of row i (column i if `transpose`): A (+).first 1. Section 4.3.10."""
    if not A.usual and narrow.is_flat(A) and narrow.computes(monoid):
        lines = lines_of(A.nrows, A.ncols)
        return vector.finish(narrow_sums.reduce_lines(A, monoid, along=lines.tall != transpose), into)
    size, hyper, mask = A.nrows if transpose else A.ncols, A.structure.renumbers, None if into is None else into[1]
    if hyper or size > FEW:
        ones = hyper_product.ones(A, transpose) if hyper else full_vector(A.device, size, np.bool_(True), BOOL)
        return mxv(A, ones, _first(monoid), transpose, False, mask, into)
    ones, ways = _ones(A.device, size), A.prepared.get((monoid, transpose))
    if ways is not None and (product := ways.lasting.get(size)) is not None:
        A.structure.reads += product.reads
        return product.run(ones, mask, into)
    first = _first(monoid)
    t = mxv(A, ones, first, transpose, False, mask, into)
    if (ways := A.prepared.get((first, transpose, False, BOOL.name, ones.values.tobytes()))) is not None:
        A.prepared[monoid, transpose] = ways  # a shorter key, for the next call
    return t


FEW = 1 << 16  # positions up to which vectors of ones are cached: 8 KB each


@functools.lru_cache(64)
def _ones(device: Device, size: int) -> VectorStore:
    return full_vector(device, size, np.bool_(True), BOOL)


@functools.cache
def _first(monoid: Typed[Monoid]) -> Typed[Semiring]:
    return compose(monoid.op, BINARY["first"])[monoid.dtype]
