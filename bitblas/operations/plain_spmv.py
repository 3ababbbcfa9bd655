"""SpMV on plain matrices: facts, choose, prepare, run. Hypersparse matrices and those with virtual nodes end here too.

`facts_of` reads what does not depend on the vector's entries, once per matrix, semiring and kind of vector. `choose`
turns it into a Plan, and counts entries only if the decision needs the number; `gb.explain` returns that Plan.
`PreparedProduct` has the plan's kernels and arguments; it is cached with the matrix, so that a repeated statement looks
it up and runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy import generic

from semirings import Semiring, Typed
from semirings.dtypes import BOOL, DataType, cast_scalar, lookup_dtype

from .. import tuning
from ..device import Device, Kernel
from ..formats import CSR, Layout, longest_unit
from ..formats.packing import PackedValues
from ..formats.schedule import Hubs
from ..kernels.variant import Variant
from ..plan.auxiliary_formats import extra_push_work, is_available, may_keep_rows, rows_amortized
from ..plan.direction import (
    Direction,
    Missing,
    ProductFacts,
    VectorFacts,
    choose_direction,
    is_cacheable,
    missed_reads,
    plan_mxv,
    product_facts,
)
from ..plan.epilogue import Epilogue, plan_epilogue
from ..plan.format_choice import could_gain
from ..plan.product import (
    BINNED,
    PRESENCE,
    PUSH,
    VALUES,
    WIDE,
    WORDS,
    Plan,
    has_fused_epilogue,
    is_staged,
    reads_matrix,
    with_bins,
)
from ..store import BITS, MatrixStore, Raw, VectorStore, words
from . import ewise_vector, hypersparse, spmv_kernels
from .operands import (
    ZERO,
    Allowed,
    Input,
    Into,
    Mask,
    Old,
    Output,
    PreparedKernel,
    Rows,
    Values,
    VectorProduct,
    allowed,
    entry_values,
    make,
    matrix_of,
    no_mask,
    nothing,
    overlap,
    stored,
)
from .spmv_kernels import (
    Pull,
    fresh_bits,
    fresh_values,
    prepare_binned_pull,
    prepare_pull,
    prepare_push,
    prepare_wide,
    row_lengths,
    run_presence,
    run_push,
    run_wide,
)

# ---- Facts.

# Monoids that end a row early; lor at the first true value, since most values of a Boolean object are true
EARLY_EXIT_MONOIDS = ("any", "lor")


def facts_of(A: MatrixStore, u: Raw, semiring: Typed[Semiring], *, transpose: bool, flip: bool) -> ProductFacts:
    """The case of A (+).(x) u, of the transpose if `transpose`; u: the vector's values, np.generic if iso."""
    layout = A.structure.primary
    facts = product_facts(semiring, layout.key, A.raw, u, transpose=transpose, flip=flip, device=A.device)
    nvals = A.structure.nvals
    facts = facts._replace(small=nvals <= tuning.value("pull.always.entries"))
    if may_keep_rows(layout) and not facts.valued:
        if A.structure.has(CSR, transposed=facts.push_transposed):
            facts = facts._replace(tile_entries=nvals / max(1, layout.work))
    ends = (
        facts.kind == WORDS or semiring.op.monoid.name in EARLY_EXIT_MONOIDS
    )  # whether a pull may stop at the first hit of a row
    together = layout.format.rows_per_unit
    if together > 1:  # at the first hit of the last of several rows
        ends = facts.kind == WORDS and layout.format.kernels["mxv.pull"].stops_finished_tile_rows
    if not ends or A.device.is_simt:
        return facts
    last = sum(1 / k for k in range(1, together + 1))  # mean number of hits of one row until each row has one
    return facts._replace(early_exit=nvals / max(1, A.ncols if transpose else A.nrows) / last)


# ---- Choose.


class Choice:
    """The plan of a product, and the prepared product, if there is one. missed: reads of the whole matrix that it costs
    to do without the transpose. products: those of other choices, by direction, and whether the vector is full."""

    __slots__ = ("missed", "plan", "product", "products")

    def __init__(self, plan: Plan, missed: float, products: dict[tuple[str, bool], PreparedProduct]) -> None:
        self.plan, self.missed, self.products = plan, missed, products
        self.product = products.get((plan.direction, plan.full))


class Choices:
    """The facts of a product, and what was decided and prepared so far. lasting: choices by number of vector entries,
    if that alone decides."""

    __slots__ = ("facts", "lasting", "products")

    def __init__(self, facts: ProductFacts) -> None:
        self.facts = facts
        self.lasting: dict[int | None, Choice] = {}
        self.products: dict[tuple[str, bool], PreparedProduct] = {}

    def choose(self, A: MatrixStore, u: VectorStore, count: int | None) -> Choice:
        """Push or pull. count: the entries of u, None if unknown."""
        direction, facts, known = decide(A, u, self.facts)
        if facts.items is not None:  # the format that a push reads exists, and stays
            # the construction of the other format may be amortized later
            self.facts = facts if facts.pull_ready else facts._replace(pull_ready=None)
        plan = planned(A, direction, facts, known, full=count == u.size)
        choice = Choice(plan, missed_reads(facts, known, direction), self.products)
        if count is not None and is_cacheable(direction, facts, known):
            if len(self.lasting) >= tuning.count("cached.products"):
                self.lasting.clear()
            self.lasting[count] = choice
        return choice


def choose(A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], transpose: bool, flip: bool) -> Choice:
    """How A (+).(x) u runs now, of the transpose if `transpose`. Builds no format and compiles nothing."""
    x, known = u.values, A.prepared
    count = u.nvals if u.device.host_memory else u.count  # a pull that does not know that its vector is full is slower
    value = x.tobytes() if isinstance(x, generic) else None
    key = semiring, transpose, flip, u.dtype.name, value, tuning.version()
    cached: Choices | None = known.get(key)
    if cached is None:
        if len(known) >= tuning.count("cached.products"):
            known.clear()
        cached = known[key] = Choices(facts_of(A, x, semiring, transpose=transpose, flip=flip))
    elif (lasting := cached.lasting.get(count)) is not None:
        return lasting
    return cached.choose(A, u, count)


def decide(A: MatrixStore, u: VectorStore, of: ProductFacts) -> tuple[Direction, ProductFacts, VectorFacts]:
    """Push or pull, with the case and the facts about the vector that were needed. Builds no format."""
    known = VectorFacts(u.size, u.least, u.count)
    while isinstance(direction := choose_direction(of, known), Missing):
        layout = A.structure.held(of.push_key, transposed=of.push_transposed)
        if direction is Missing.VECTOR_ENTRIES:
            known = known._replace(nvals=u.nvals)
        elif direction is Missing.PULL_FORMAT:
            of = of._replace(pull_ready=is_available(A.structure, transposed=True, valued=of.valued))
        elif layout is None:
            # A matrix whose format was requested for its size gets no second format for pushes.
            may_build = not A.structure.primary.compact
            ready = is_available(A.structure, transposed=of.push_transposed, valued=of.valued, made=may_build)
            of = of._replace(push_ready=ready)
        elif direction is Missing.PUSH_FORMAT:
            of = of._replace(push_ready=True, items=layout.work, longest_unit=longest_unit(layout))
        else:
            known = known._replace(active=active_entries(u, layout))
    return direction, of, known


def planned(A: MatrixStore, direction: Direction, of: ProductFacts, known: VectorFacts, *, full: bool = False) -> Plan:
    """The plan of a case with a known direction. full: the vector has all entries."""
    push = direction.push
    transposed = of.push_transposed if push else of.pull_transposed
    primary, nrows = A.structure.primary, A.ncols if transposed else A.nrows
    kernels = primary.format.kernels
    kernel = kernels["mxv.push"] if push else kernels["mxv.pull"]
    lanes = kernel.lanes(primary, nrows, of.kind) if A.device.is_simt else 1
    return plan_mxv(of, known, direction, lanes, full=full)


def active_entries(u: VectorStore, layout: Layout) -> int:
    """Number of entries (tiles) in the rows (tile rows) of a format where u has entries."""
    device = u.device
    known: int | None = layout.format.kernels["mxv.push"].active(layout, u.present)
    if known is not None:
        return known
    total, ptr = device.xp.zeros(1, np.uint64), layout.ptr
    _count_kernel(device, ptr.dtype.char, layout.rows_per_unit)(words(u.size), u.present, ptr, total)
    return int(device.to_host(total)[0])


@functools.cache
def _count_kernel(device: Device, pointer: str, rows: int) -> Kernel:
    return device.kernel(Variant("kernels/weigh", (("PTR", lookup_dtype(pointer)),), (("ROWS", rows), ("LANES", 1))))


def count_tile_push(A: MatrixStore, plan: Plan, entries: float) -> None:
    """Count entries that are pushed along tiles: auxiliary CSR rows are built once that is amortized."""
    A.structure.rows_credit += entries
    if rows_amortized(A.structure):
        A.structure.layout(CSR, transposed=plan.transposed)
        A.prepared.clear()


def choose_pull(A: MatrixStore, facts: ProductFacts, size: int, *, full: bool) -> Plan:
    """The plan of a pull for many vectors of this size, of a loop. full: all of them have all entries."""
    direction = Direction(False, facts.fixed_order or "for every vector")
    return planned(A, direction, facts, VectorFacts(size), full=full and facts.kind == VALUES)


def explain(of: VectorProduct, *, masked: bool) -> Plan:
    """The plan of a product whose output is new. masked: it has a mask."""
    A, u, semiring, transpose, flip, *_ = of
    plan = choose(A, u, semiring, transpose, flip).plan
    layout = A.structure.held(plan.key, transposed=plan.transposed)
    if layout is None:
        return plan
    return with_bins(plan, layout, semiring, u.dtype, masked=masked, ordered=A.order is not None)


# ---- Prepare and run.


def prepare(choice: Choice, A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], flip: bool) -> PreparedProduct:
    """The product of a choice, cached with the matrix."""
    plan, x = choice.plan, u.values
    way = plan.direction, plan.full
    product = choice.products.get(way)
    if product is None:
        value = x if isinstance(x, generic) else None
        product = choice.products[way] = PreparedProduct(plan, A, u.dtype, semiring, flip, value=value)
    choice.product = product
    return product


def multiply(
    A: MatrixStore,
    u: VectorStore,
    semiring: Typed[Semiring],
    transpose: bool = False,
    flip: bool = False,
    mask: Mask | None = None,
    into: Into | None = None,
) -> VectorStore:
    """t<mask> = A (+).(x) u; the arguments of `spmv.mxv`."""
    choice = choose(A, u, semiring, transpose, flip)
    product, structure = choice.product or prepare(choice, A, u, semiring, flip), A.structure
    structure.transpose_credit += choice.missed
    small_push = product.pushes and tuning.value("format.push_read") * (u.count or 0) < u.size
    structure.reads += product.reads and not small_push
    if product.push_work:
        count_tile_push(A, product.plan, product.push_work * (u.count or 0))
    return product.run(u, mask, into)


class PreparedProduct:
    """A planned mxv or vxm with everything that does not depend on the entries of the vector."""

    def __init__(
        self,
        plan: Plan,
        A: MatrixStore,
        u_type: DataType,
        semiring: Typed[Semiring],
        flip: bool,
        *,
        value: np.generic | None = None,
    ) -> None:
        """value: of all entries of the vector, if it is known to be iso."""
        device, kind, key, full = A.device, plan.kind, plan.key, plan.full
        self.semiring, self.device = semiring, device
        self.pushes = push = plan.kernel == PUSH
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
        self.plan = plan = with_bins(plan, layout, semiring, self.u_type, masked=False, ordered=A.order is not None)
        self.binned = plan.kernel == BINNED
        self.binned_under_masks = self.binned and layout.format.kernels["mxv.pull.binned"].masked
        taken = lambda layout: matrix_of(layout, ranked, entry_values(device, a_type, a_values))
        self.layout, self.matrix = layout, taken(layout)
        self.long = device.chunks(layout.nvals) > 1  # an interrupt may end it, so it does not run in place
        if plan.wide and plan.kernel != WIDE:
            self.layout = row_lengths(layout, self.matrix.flat())
            self.algebra = (self.layout.format.view.types(layout, ranked), *self.algebra[1:])
            self.matrix = taken(self.layout)
        self.arguments = self.matrix.flat()
        self.fills = 0.0 if full else spmv_kernels.filled_row_length(plan, layout, semiring, self.u_type)
        self.u_values: Values | None = None if kind == VALUES else stored(device, BOOL, np.bool_(True))
        self.u_zero, self.u_nothing = ZERO[self.u_type.name], nothing(device, self.u_type)
        if kind == VALUES and value is not None and self.u_type is u_type:
            self.u_values = make(Values, (self.u_nothing, value, 0))
        self.value = z.np_type.type(0 if plan.product is None else plan.product)
        self.pulls: dict[Hashable, Pull] = {}
        self.fused: dict[tuple[str, Typed | None], bool] = {}
        self.plain = has_fused_epilogue(key, semiring, z, None)  # the most common case
        self.everywhere = no_mask(device)
        # Products whose result is a separate vector; `kernels` are theirs. The others have pulls, one per epilogue.
        self.apart: Callable[..., VectorStore] | None = None
        self.kernels: tuple[PreparedKernel, ...] = ()
        if plan.kernel == PUSH:
            made = prepare_push(self)
            self.apart, self.kernels = functools.partial(run_push, made, self), (made.rows,)
        elif plan.kernel == WIDE:
            self.kernels = prepare_wide(self)
            self.apart = functools.partial(run_wide, self.kernels, self)
        elif plan.kernel == PRESENCE:
            pull = prepare_pull(self, Epilogue(BOOL, BOOL, store=False), z, False)
            self.apart = functools.partial(run_presence, pull, self)
            self.kernels = *pull.kernels, PreparedKernel(device, BITS, words(self.size), ())

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
            common = into is None or (self.plain and into[2] is None and into[0].dtype is self.z)
            if into is None or (common and not (into[4] and self.binned_under_masks)) or self._fuses(into):
                return self._pull(given, open_at, into, mask is not None)
            t = self._pull(given, open_at, None, mask is not None)
        else:
            free = None if into is None or into.keeps or self.long or overlap(into.w, u, mask) else into.w
            t = self.apart(given, open_at, u, free)
        return t if into is None or not into.keeps else hypersparse.merge_into(t, mask, into)

    def _fuses(self, into: Into) -> bool:
        # One more element-wise kernel costs less than rows that are not binned
        if self.binned_under_masks or (self.binned and into.mask is None):
            return False
        w, accum = into[0].dtype, into[2]
        found = self.fused.get((w.name, accum))
        if found is None:
            found = self.fused[w.name, accum] = has_fused_epilogue(self.layout.key, self.semiring, w, accum)
        return found

    def variants(self, masked: bool) -> tuple[Variant, ...]:
        """The kernels of a statement whose output is new."""
        if self.apart is None:
            kernels = self.pull(self.z, None, None, False, masked).kernels
        else:
            kernels = self.kernels
        return tuple(dict.fromkeys(kernel.variant for kernel in kernels))

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
            bits = fresh_bits(self.device, self.size)
        if not end.store:
            x = old.array
        elif moved or one:
            x = fresh_values(self.device, self.size, w.dtype)
        if pull.whole:  # building unused arguments costs the host as much as the call
            rows = pull.rows
            rows.kernel(rows.n, *rows.arguments, *given, *open_at, pull.value, *old, bits, x)
        else:
            pull.launch(pull, given, open_at, old, make(Output, (bits, x)), None)
        w.bits = bits
        if end.store:
            w.values = x
        elif not end.merge:
            w.values = pull.one
        w.changed(grown=end.merge and end.accum is not None and not replace)
        return w

    def pull(self, w: DataType, value: np.generic | None, accum: Typed | None, keeps: bool, masked: bool) -> Pull:
        """The kernels for an output of type w, with one value for all entries or (None) an array."""
        key = (w.name, None if value is None else value.tobytes(), accum, masked) if keeps else (w.name, masked)
        found = self.pulls.get(key)
        if found is None:
            one = self.plan.product if self.plan.kind == WORDS else None
            if keeps:
                end = plan_epilogue(self.z, one, w, value, accum)
            else:
                end = Epilogue(self.z, w) if one is None else Epilogue(BOOL, BOOL, store=False)
            binned = not keeps and (self.binned_under_masks if masked else self.binned)
            found = self.pulls[key] = (prepare_binned_pull if binned else prepare_pull)(self, end, w, masked)
        return found

    def segments(self, hubs: Hubs) -> tuple[Any, ...]:
        """The kernel arguments of the matrix for segments of long rows."""
        return self.matrix._replace(rows=Rows(hubs.begin, hubs.end, hubs.row_of, 1)).flat()
