"""SpMV on plain matrices: facts, choose, prepare, run. Hypersparse matrices and those with virtual nodes end here too.

`facts_of` reads what does not depend on the vector's entries, once per matrix, semiring and kind of vector. `choose`
turns it into a Plan, and counts entries only if the decision needs the number; `gb.explain` returns that Plan.
`PreparedProduct` has the plan's kernels and arguments; it is cached with the matrix, so that a repeated statement looks
it up and runs.

A pull has its epilogue in the kernel: one launch for rows, one for segments of very long rows. A push, and the CPU's
pull by whole tiles, write a separate vector, which `merge` writes into the output. A degree-binned pull
(formats/csr/kernels.py) bins rows by length, and each block caches a part of the vector.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy import generic

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, INT64, DataType, cast_scalar, lookup_dtype

from .. import tuning
from ..device import Bounds, Device, Kernel, threads
from ..formats import CSR, EVERYWHERE, Layout, Structure, longest_unit
from ..formats.csr.layout import Csr, pointer_type
from ..formats.csr.sums import HOT, VEC, sums_of
from ..formats.packing import PackedValues
from ..formats.schedule import Hubs, Part, block_constants
from ..kernels.variant import Variant
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
from ..plan.format_choice import (
    could_gain,
    extra_push_work,
    is_available,
    may_copy_for_sums,
    may_keep_rows,
    rows_amortized,
    sums_amortized,
    with_sums,
)
from ..plan.product import (
    BINNED,
    COUNT,
    PRESENCE,
    PULL,
    PUSH,
    SUMS,
    VALUES,
    WIDE,
    WORDS,
    Epilogue,
    Plan,
    has_fused_epilogue,
    hot_bytes,
    hot_columns,
    plan_epilogue,
    reads_matrix,
    sums_numbers,
    with_bins,
)
from ..store import BITS, NONE, MatrixStore, Raw, VectorStore, dense_values, full_bits, words
from ..typing import Array
from . import ewise_vector, hypersparse
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
    dummy,
    entry_values,
    make,
    matrix_of,
    no_mask,
    nothing,
    overlap,
    pull_blocks,
    stored,
    unit_bounds,
)
from .variants import (
    Algebra,
    cell_of,
    constants,
    hubs_variant,
    initialize_variant,
    lanes_variant,
    order_sums_variant,
    pull_variant,
    push_variant,
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
    together, pull = layout.format.rows_per_unit, layout.format.kernels["mxv.pull"]
    if together > 1:  # at the first hit of the last of several rows
        ends = facts.kind == WORDS and pull.stops_finished_tile_rows
    ends = ends and pull.stops_rows
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


def count_sum(A: MatrixStore) -> None:
    """Count a product that a copy for sums would make faster: it is built once that is amortized."""
    A.structure.sums_credit += 1
    if sums_amortized(A.structure):
        A.prepared.clear()


def sums_values(A: MatrixStore, layout: Layout, transposed: bool) -> Array:
    """The values of A in the order of its copy for sums, cached as long as A lives."""
    key = "sums", transposed
    if key not in A.copies:
        values: Any = A.raw_for(layout.key, transposed)
        A.copies[key] = sums_of(layout, hot_columns(A.device), valued=True).values(values)
    found: Array = A.copies[key]
    return found


def choose_pull(A: MatrixStore, facts: ProductFacts, size: int, *, full: bool) -> Plan:
    """The plan of a pull for many vectors of this size, of a loop. full: all of them have all entries."""
    direction = Direction(False, facts.fixed_order or "for every vector")
    return planned(A, direction, facts, VectorFacts(size), full=full and facts.kind == VALUES)


def explain(of: VectorProduct) -> Plan:
    """The plan of a product whose output is new."""
    A, u, semiring, transpose, flip, *_ = of
    plan = choose(A, u, semiring, transpose, flip).plan
    layout = A.structure.held(plan.key, transposed=plan.transposed)
    if layout is None:
        return plan
    plan = with_bins(plan, layout, semiring, u.dtype, ordered=A.order is not None)
    return with_sums(plan, A, layout, semiring, u.dtype)


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
    if product.misses_sums:
        count_sum(A)
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
        device, kind, key = A.device, plan.kind, plan.key
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
        self.size = layout.ncols if push else layout.nrows
        plan = with_bins(plan, layout, semiring, self.u_type, ordered=A.order is not None)
        self.plan = plan = with_sums(plan, A, layout, semiring, self.u_type)
        self.binned = plan.kernel in (BINNED, SUMS)
        # A copy for sums, which is not amortized yet, would make it faster
        copies = may_copy_for_sums(plan, A, layout, semiring, self.u_type)
        self.misses_sums = copies and not sums_amortized(A.structure)
        self.slot_values: Raw = a_values
        if plan.kernel == SUMS and ranked:
            self.slot_values = sums_values(A, layout, plan.transposed)
        taken = lambda layout: matrix_of(layout, ranked, entry_values(device, a_type, a_values))
        self.layout, self.matrix = layout, taken(layout)
        self.long = device.chunks(layout.nvals) > 1  # an interrupt may end it, so it does not run in place
        if plan.wide and plan.kernel != WIDE:
            self.layout = row_lengths(layout, self.matrix.flat())
            self.matrix = taken(self.layout)
        types, packed = self.layout.format.view.types(layout, ranked), isinstance(a_values, PackedValues)
        what = self.layout.key, types, None if kind == WORDS else semiring, kind, a_type, self.u_type
        self.algebra = Algebra(*what, flip, ranked, packed)
        self.arguments = self.matrix.flat()
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
            values = (self.u_nothing, x, 0) if isinstance(x, generic) else (x, self.u_zero, 1)
        given = make(Input, (u.present, *values))
        open_at = self.everywhere if mask is None else allowed(self.device, mask)
        if self.apart is None:
            common = into is None or (self.plain and into[2] is None and into[0].dtype is self.z)
            if into is None or (common and not (into[4] and self.binned)) or self._fuses(into):
                return self._pull(given, open_at, into, mask is not None)
            t = self._pull(given, open_at, None, mask is not None)
        else:
            free = None if into is None or into.keeps or self.long or overlap(into.w, u, mask) else into.w
            t = self.apart(given, open_at, u, free)
        return t if into is None or not into.keeps else hypersparse.merge_into(t, mask, into)

    def _fuses(self, into: Into) -> bool:
        # One more element-wise kernel costs less than rows that are not binned
        if self.binned:
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
            pull.launch(pull, given, open_at, old, make(Output, (bits, x)), ())
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
            prepare = prepare_pull
            if self.binned and not keeps:
                prepare = prepare_sums if self.plan.kernel == SUMS else prepare_binned_pull
            found = self.pulls[key] = prepare(self, end, w, masked)
        return found

    def segments(self, hubs: Hubs) -> tuple[Any, ...]:
        """The kernel arguments of the matrix for segments of long rows."""
        return self.matrix._replace(rows=Rows(hubs.begin, hubs.end, hubs.row_of, 1)).flat()


# ---- Pulls: the kernels of a product with one epilogue. One launch for rows, one for segments of very long rows.


class Pull(NamedTuple):
    """The kernels of a pull with one epilogue: of all rows, of segments of very long rows, and the one that combines
    the sums of segments. `launch`: `launch_rows`, `launch_binned`, or those of
    pieces and of copies for sums."""

    launch: Callable[[Pull, Input, Allowed, Old, Output, tuple[Output, ...]], None]
    device: Device
    end: Epilogue
    value: np.generic  # of all products, if they are equal
    one: np.generic  # of all entries of a new output whose values are not written
    nothing: Old
    rows: PreparedKernel
    segments: PreparedKernel | None = None
    join: PreparedKernel | None = None
    parts: int = 0  # sums of segments
    whole: bool = False  # on the CPU, in one range: `rows` may be called without `launch`
    masked: bool = False  # binned rows: the kernel reads the mask
    bins: tuple[int, int, Array] = (0, 0, np.zeros(0, np.uint64))  # hot columns, positions, and the rows with entries
    ones: Array | None = None  # bits of `parts`, all set
    sums: Pull | None = None  # `rows` are pieces of rows: the pull that sums these for each row
    piece: Epilogue | None = None  # how the sums of pieces end
    # Of a copy for sums, `rows` orders the vector: the type of that, and whether it is needed if u has an array; and
    # the kernels of the parts.
    ordered: tuple[DataType, bool] | None = None
    slices: tuple[PreparedKernel, ...] = ()

    @property
    def kernels(self) -> tuple[PreparedKernel, ...]:
        found = tuple(kernel for kernel in (self.rows, *self.slices, self.segments, self.join) if kernel is not None)
        return found if self.sums is None else (*found, *self.sums.kernels)

    def scratch(self) -> tuple[Output, ...]:
        """Scratch memory for the sums of segments, if rows are split and values are summed; for those of pieces, and
        then for those of segments of their lists; with a copy for sums, for its vector and its sums of segments."""
        if self.sums is not None and self.piece is not None:
            z = self.piece.z
            values = fresh_values(self.device, self.parts, z) if self.piece.store else nothing(self.device, z)
            return Output(fresh_bits(self.device, self.parts), values), *self.sums.scratch()
        if self.ordered is not None:
            ordered = fresh_values(self.device, self.rows.n, self.ordered[0])
            return (Output(ordered, fresh_values(self.device, max(1, self.parts), self.end.z)),)
        if self.join is None or not self.parts:
            return ()
        bits = fresh_bits(self.device, self.parts) if self.ones is None else self.ones
        return (Output(bits, fresh_values(self.device, self.parts, self.end.z)),)


def fresh_bits(device: Device, size: int) -> Array:
    """A bitset for a kernel that writes all of it; the CPU's kernels skip words without rows."""
    return (device.xp.empty if device.is_simt and size else device.xp.zeros)(words(size), np.uint64)


def fresh_values(device: Device, size: int, dtype: DataType) -> Array:
    return fresh_bits(device, size) if dtype is BOOL else dense_values(device, size, dtype)


def prepare_pull(of: PreparedProduct, end: Epilogue, w: DataType, masked: bool) -> Pull:
    """w: type of the output. masked: under a mask."""
    device, plan, layout = of.device, of.plan, of.layout
    if (pieces := layout.format.view.pieces(layout)) is not None:
        return prepare_pieces(of, end, w, masked, *pieces)
    kind, semiring = of.algebra.kind, of.algebra.semiring
    padded = not device.is_simt or layout.ncols % layout.rows_per_unit != 0
    variants = functools.partial(pull_variant, of.algebra, full=plan.full, padded=padded)
    cost = layout.format.kernels["mxv.pull"]
    # Any entry will do, and all products are equal: a row ends at its first entry, whatever its length.
    of_any = kind == VALUES and semiring is not None and semiring.op.monoid.name == "any"
    first = of_any and plan.full and device.is_simt and layout.rows_per_unit == 1
    lanes = 1 if first else plan.lanes
    bounds, n, per = unit_bounds(layout, device), layout.units, layout.rows_per_unit
    variant = variants(end=end, lanes=lanes)
    value, one = end.z.np_type.type(of.value), cast_scalar(of.value, w)
    pull = functools.partial(Pull, launch_rows, device, end, value, one, no_output(device, end.w))
    if first or not device.is_simt:
        rows = PreparedKernel(device, variant, n, (1 << 62, *of.arguments), bounds)
        return pull(rows, whole=bounds is None and not device.is_simt)
    numbers = semiring is not None and sums_numbers(semiring, kind, layout, plan.full, of.u_type)
    # H200, us on a stencil, by lanes -> together: FP64 127 -> 95, INT64 109 -> 145
    numbers = numbers and (end.z.kind == "f" or end.z.nbytes <= 4)
    if numbers and not masked and cost.stages(layout, of.algebra.ranked):
        variant = variants(end=end, lanes=1, staged=True)
        return pull(PreparedKernel(device, variant, n, (EVERYWHERE, *of.arguments), None, pull_blocks(n, per, 1)))
    longest = cost.longest(kind, lanes)
    rows = PreparedKernel(device, variant, n, (longest, *of.arguments), bounds, pull_blocks(n, per, lanes))
    presence = kind == WORDS and not end.store
    part = longest if presence else min(longest, cost.segment())
    hubs = layout.format.view.hubs(layout, longest, part, cost.share(kind))
    if hubs is None:
        return pull(rows)
    segments = of.segments(hubs)
    if presence:  # needs no sums of segments
        return pull(rows, PreparedKernel(device, variant, hubs.segments, (longest, *segments)))
    # Process segments of open rows like rows of a vector of their own; then one block per long row combines them.
    variant = variants(end=Epilogue(end.z, end.z), lanes=cost.part_lanes)
    extra = pull_blocks(hubs.segments, per, cost.part_lanes)
    cut = PreparedKernel(device, variant, hubs.segments, (EVERYWHERE, *segments), None, extra)
    join = hubs_variant(semiring, kind, per, end)
    joined = PreparedKernel(device, join, len(hubs.rows) * per, (hubs.rows, hubs.first))
    return pull(rows, cut, joined, hubs.segments * per)


def launch_rows(pull: Pull, u: Input, mask: Allowed, old: Old, to: Output, scratch: tuple[Output, ...] = ()) -> None:
    """Compute a product into the output. scratch: from `Pull.scratch`, for callers that must not allocate now."""
    tail = *u, *mask, pull.value, *old, *to
    pull.rows.run(*tail)
    if pull.segments is None:
        return
    parts = scratch or pull.scratch()
    if pull.join is None or not parts:
        pull.segments.run(*tail)
        return
    pull.segments.run(*u, *mask, pull.value, *no_output(pull.device, pull.end.z), *parts[0])
    pull.join.run(*parts[0], *mask, *old, *to)


def prepare_pieces(of: PreparedProduct, end: Epilogue, w: DataType, masked: bool, runs: int, rows: Csr) -> Pull:
    """The same for pieces of rows: their sums, which have no order among each other, then those of rows, in the order
    of `rows`, which lists the pieces of each."""
    device, plan, z = of.device, of.plan, of.z
    presence = plan.kind == WORDS
    part = Epilogue(BOOL, BOOL, store=False) if presence else Epilogue(z, z)
    variant = pull_variant(of.algebra, part, plan.lanes, full=plan.full)
    bounds = device.ranges(runs, tuning.count("parallel.entries"), work=of.layout.nvals)
    pieces = PreparedKernel(device, variant, runs, (EVERYWHERE, *of.arguments), bounds)
    lanes = rows.format.kernels["mxv.pull"].lanes(rows, rows.nrows, plan.kind) if device.is_simt else 1
    inner = plan._replace(key=CSR, transposed=False, lanes=lanes, kernel=PULL, full=False)
    if not presence:
        inner = inner._replace(kind=VALUES, product=None)
    semiring = compose(of.semiring.op.monoid, BINARY["second"])[z]
    listed = PreparedProduct(inner, MatrixStore(Structure(rows), BOOL, np.True_), z, semiring, False)
    value = part.z.np_type.type(of.value)
    pull = Pull(launch_pieces, device, end, value, cast_scalar(of.value, w), no_output(device, end.w), pieces)
    return pull._replace(parts=64 * max(1, runs), sums=prepare_pull(listed, end, w, masked), piece=part)


def launch_pieces(pull: Pull, u: Input, mask: Allowed, old: Old, to: Output, scratch: tuple[Output, ...] = ()) -> None:
    """As `launch_rows`."""
    sums, piece, (parts, *rest) = pull.sums, pull.piece, scratch or pull.scratch()
    assert sums is not None and piece is not None
    pull.rows.run(*u, *mask, pull.value, *no_output(pull.device, piece.z), *parts)
    sums.launch(sums, piece_input(parts, piece.z), mask, old, to, tuple(rest))


def piece_input(parts: Output, z: DataType) -> Input:
    """The sums of pieces, as a vector from which those of rows are pulled."""
    return Input(parts.bits, parts.array, ZERO[z.name], 1)


def prepare_binned_pull(
    of: PreparedProduct, end: Epilogue, w: DataType, masked: bool, part: Part | None = None
) -> Pull:
    """The same for rows binned by length (formats/csr/kernels.py), into a vector of which nothing is kept: each block
    caches a part of the vector. w: type of an output with the type of the sums. part: only some rows, without a
    mask."""
    device, layout, binned = of.device, of.layout, of.layout.format.kernels["mxv.pull.binned"]
    bins, size = binned.bins(layout, part), of.size if part is None else part.size
    shared, width = hot_bytes(device), binned.width(layout)
    hot = binned.hot(layout, shared // of.u_type.nbytes) if part is None and binned.keeps_hot_columns else 0
    shared = shared if hot else 0
    flags = *binned.constants(shared), ("MASKED", int(masked))
    variant = pull_variant(of.algebra, end, 32, full=of.plan.full, width=width, binned=flags)
    matrix = *binned.contents(layout, of.algebra.ranked), *of.matrix.values
    rows = PreparedKernel(device, variant, bins.runs, (*bins.pieces, *matrix))
    pull = Pull(launch_binned, device, end, of.value, of.value, no_output(device, end.w), rows)
    pull = pull._replace(masked=masked, bins=(hot, size, bins.reached), parts=bins.segments, ones=bins.ones)
    if bins.hubs is None:
        return pull
    join, hubs = hubs_variant(of.algebra.semiring, of.algebra.kind, 1, end), bins.hubs
    return pull._replace(join=PreparedKernel(device, join, len(hubs.rows), (hubs.rows, hubs.first)))


def prepare_sums(of: PreparedProduct, end: Epilogue, w: DataType, masked: bool) -> Pull:
    """The same by a copy for sums (formats/csr/sums.py)."""
    device, u, layout = of.device, of.u_type, of.layout
    copy, shared = sums_of(layout, hot_columns(device)), hot_bytes(device)
    permuted = copy.order is not None
    order = dummy(device, "uint32") if copy.order is None else copy.order
    ordering = order_sums_variant(u, permuted=permuted)
    rows = PreparedKernel(device, ordering, len(order) if permuted else layout.ncols, (order,))
    pull = Pull(launch_sums, device, end, of.value, of.value, no_output(device, end.w), rows)
    values, weighted = entry_values(device, of.algebra.a, of.slot_values), of.algebra.ranked
    slices, size = list[PreparedKernel](), words(of.size)
    wide = max(t.nbytes for t in (u, end.z, of.algebra.a)) > 4  # takes more registers
    resident = tuning.count("sums.blocks") >> wide
    for part in copy.parts:
        inside = shared if part.kind == HOT else 0
        hot = min(part.columns, inside // u.nbytes)
        flags = constants(VEC=VEC, KIND_OF_PART=part.kind, WEIGHTED=weighted, MASKED=masked)
        flags += constants(ALL_HOT=hot >= part.columns)
        flags += *block_constants(inside), *(() if inside else (("RESIDENT", resident),))
        variant = pull_variant(of.algebra, end, 32, full=True, binned=flags, kernel="sums")
        arguments = *part[2:-1], *values, hot, size, copy.reached
        slices.append(PreparedKernel(device, variant, part.slices, arguments))
        size = 0  # the first part writes the bits
    pull = pull._replace(ordered=(u, permuted), slices=tuple(slices), parts=copy.segments)
    if not copy.segments:
        return pull
    join = hubs_variant(of.algebra.semiring, of.algebra.kind, 1, end)
    return pull._replace(ones=copy.ones, join=PreparedKernel(device, join, len(copy.long), (copy.long, copy.first)))


def launch_sums(pull: Pull, u: Input, mask: Allowed, old: Old, to: Output, scratch: tuple[Output, ...] = ()) -> None:
    """As `launch_rows`."""
    for kernel, args in sums_launches(pull, u, mask, old, to, scratch or pull.scratch(), always_runs(pull.device)):
        kernel.run(*args)


def sums_launches(
    pull: Pull, u: Input, mask: Allowed, old: Old, to: Output, scratch: tuple[Output, ...], when: tuple[Any, ...]
) -> Iterator[tuple[PreparedKernel, tuple[Any, ...]]]:
    """The kernels of a product by a copy for sums, with their last arguments. when: the loop condition, the round
    counters and the number of the round, unless which they do nothing (kernels/frontier.cuh)."""
    assert pull.ordered is not None
    ((ordered, parts),) = scratch
    if pull.ordered[1] or not u.stride:
        yield pull.rows, (*u[1:], ordered, *when)
    else:
        ordered = u.array
    for kernel in pull.slices:
        yield kernel, (ordered, parts, *mask, *to, *when)
    if pull.join is not None:
        yield pull.join, (pull.ones, parts, *mask, *old, *to)


@functools.cache
def always_runs(device: Device) -> tuple[Array, Array, int]:
    """The loop condition of kernels outside of loops: it holds, in round 0 of 1."""
    return device.asarray(np.ones(1, np.uint64)), device.asarray(np.array([0, 1], np.int64)), 0


def launch_binned(pull: Pull, u: Input, mask: Allowed, old: Old, to: Output, scratch: tuple[Output, ...] = ()) -> None:
    """As `launch_rows`."""
    (parts,) = scratch or pull.scratch() or (Output(to.bits, dummy(pull.device, pull.end.z.np_type.char)),)
    pull.rows.run(*u[1:], *pull.bins, parts.array, *to, *(mask if pull.masked else ()))
    if pull.join is not None:
        pull.join.run(*parts, *mask, *old, *to)


@functools.cache
def no_output(device: Device, dtype: DataType) -> Old:
    """The old content of an output of which nothing is kept."""
    return Old(dummy(device, "uint64"), *stored(device, dtype, dtype.np_type.type(0)))


# ---- Push kernels along the entries of a vector, the CPU's pull by whole tiles, and the rows that have entries.
#
# Each gives a separate vector, a new store or `free`, which is overwritten; `merge` writes it into the output.
# Allocation can cost more than a push along a few entries.

CHOICES = 24  # numbers per tile column in the lookup tables of the pull by whole tiles (b2sr/lanes.cpu.py)
PLUS_PAIR = compose(MONOIDS["plus"], BINARY["pair"])[INT64]


class Push(NamedTuple):
    """The kernels of t = A' (+).(x) u: by atomics on a GPU; on the CPU each thread owns positions of t, so sums whose
    order matters can be pushed too. blank: initializes the sums that atomics combine with. pieces: of all pieces of
    rows, if A has them, for vectors with many entries."""

    rows: PreparedKernel
    segments: PreparedKernel | None
    blank: PreparedKernel | None
    cell: DataType  # of the sums
    product: np.generic
    no_counts: Array
    no_values: Array
    length: float  # mean, of a row
    shared: Bounds  # ranges of words of the output for threads, if a push has many entries
    ranges: bool  # threads share words of the vector
    pieces: PreparedKernel | None


def prepare_push(of: PreparedProduct) -> Push:
    device, plan, z, layout = of.device, of.plan, of.z, of.layout
    kind, variant = plan.kind, push_variant(of.algebra, plan.lanes)
    cell, host, segments, blank, shared = cell_of(z), not device.is_simt, None, None, None
    by_words = (
        host and layout.format.kernels["mxv.push"].by_output_word
    )  # ranges are words of the output, else of the vector
    n, longest = layout.units, EVERYWHERE
    if host:
        n = words(of.size if by_words else layout.nrows)
    else:
        longest = layout.format.kernels["mxv.push"].longest(plan.lanes)
        if (hubs := layout.format.view.hubs(layout, longest)) is not None:
            segments = PreparedKernel(device, variant, hubs.segments, (longest, *of.segments(hubs)))
        if kind != WORDS:  # atomics combine with the initial values
            blank = PreparedKernel(
                device, initialize_variant(of.semiring.op.monoid, z, cell), words(of.size), (of.size,)
            )
    if by_words and layout.work >= tuning.value("push.shared_row_length") * layout.units:
        shared = device.ranges(n, tuning.count("push.words_per_thread"), parts=device.threads)
    rows = PreparedKernel(device, variant, n, (longest, *of.arguments))
    product = np.False_ if kind == WORDS else of.value  # unused if only presence is computed
    unused = dummy(device, "int64"), dummy(device, "int32")
    length, pieces = layout.nvals / max(1, layout.nrows), None
    if (found := layout.format.view.pieces(layout)) is not None:
        pieces = PreparedKernel(
            device, push_variant(of.algebra, 64, "push_pieces"), found[0], (EVERYWHERE, *of.arguments)
        )
    return Push(rows, segments, blank, cell, product, *unused, length, shared, host and not by_words, pieces)


def run_push(
    push: Push, of: PreparedProduct, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None
) -> VectorStore:
    # faster than by name
    rows, segments, blank, cell, product, counts, no_values, length, shared, ranges, pieces = push
    device, size, z, kind, xp = of.device, of.size, of.z, of.plan.kind, of.device.xp
    presence = kind == WORDS
    if presence:
        cell = z
    if free is not None and free.dtype is z is cell:
        t = free
    else:
        t = VectorStore(device, size, cell, None, ZERO[cell.name])
    if t.bits is None:
        t.bits = (xp.zeros if blank is None else xp.empty)((size + 63) >> 6 or 1, np.uint64)
    elif blank is None:
        t.bits.fill(0)
    if presence:
        t.values = of.value
    elif isinstance(t.values, np.generic):
        t.values = xp.empty(size or 1, cell.np_type)
    t_val = no_values if presence else t.values
    if blank is not None:
        blank.run(t.bits, t_val)
    if kind == COUNT:  # into the array of the sums, if they fit
        counts = t_val.view(np.int64) if cell.nbytes == 8 else xp.empty(size, np.int64)
    if pieces is not None and tuning.value("push.pieces_share") * (u.count or u.least) >= u.size:
        rows, segments, ranges = pieces, None, False
    n, bounds = rows.n, None
    if shared is not None and u.nvals * length >= tuning.count("push.shared_entries"):
        bounds = shared
    elif ranges and (chunks := device.chunks(int(u.nvals * length))) > 1:
        bounds = threads.as_chunks(threads.even_ranges(n, min(n, chunks)), threads.InTurn)
    tail = *given, *mask, product, counts, t.bits, t_val
    rows.kernel(n, *rows.arguments, *tail, bounds=bounds)
    if segments is not None:
        segments.run(*tail)
    t.count, t.least = None, 0
    return t if cell is z else ewise_vector.cast(t, z)


def prepare_wide(of: PreparedProduct) -> tuple[PreparedKernel, ...]:
    """t = A (+).(x) u by the CPU's kernel for all positions of a tile at once, after a kernel that builds tables of u
    if that is amortized."""
    layout, device = of.layout, of.device
    tables = table_length(layout, of.z) if of.plan.kind == VALUES else 0
    variant = lanes_variant(of.algebra, full=of.plan.full, tables=tables > 0)
    rows = PreparedKernel(device, variant, layout.units, (EVERYWHERE, *of.arguments), unit_bounds(layout, device))
    if not tables:
        return (rows,)
    units = tables // CHOICES
    head = (of.matrix.values.iso,)
    builds = lanes_variant(of.algebra, kernel="tables")
    return PreparedKernel(device, builds, units, head, _tile_column_ranges(layout, units)), rows


def wide_arguments(
    kernels: tuple[PreparedKernel, ...], of: PreparedProduct, given: Input, mask: Allowed, to: Output
) -> list[tuple[Any, ...]]:
    """The arguments of each of these kernels after the constant ones."""
    found: list[tuple[Any, ...]] = []
    if len(kernels) > 1:
        table = np.empty(kernels[0].n * CHOICES, of.z.np_type)
        found.append((given.bits, given.array, table))
        given = given._replace(array=table)
    return [*found, (*given, *mask, of.value, *to)]


def run_wide(
    kernels: tuple[PreparedKernel, ...],
    of: PreparedProduct,
    given: Input,
    mask: Allowed,
    u: VectorStore,
    free: VectorStore | None,
) -> VectorStore:
    device, size, z = of.device, of.size, of.z
    t = VectorStore(device, size, z, None, ZERO[z.name]) if free is None or free.dtype is not z else free
    if t.bits is None:
        t.bits = np.zeros(words(size), np.uint64)
    else:
        t.bits.fill(0)
    if isinstance(t.values, np.generic):
        t.values = dense_values(device, size, z)
    for kernel, rest in zip(kernels, wide_arguments(kernels, of, given, mask, Output(t.bits, t.values))):
        kernel.kernel(kernel.n, *kernel.arguments, *rest, bounds=kernel.bounds)
    t.count, t.least = None, 0
    return t


def run_presence(
    pull: Pull, of: PreparedProduct, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None
) -> VectorStore:
    """t = the rows that have entries: the presence-only product with a full vector. Computed once per format."""
    device, size = of.device, of.size
    t: VectorStore | None = of.layout.cache.get("reached")
    if t is None:
        bits = fresh_bits(device, size)
        pull.launch(pull, given, no_mask(device), pull.nothing, Output(bits, pull.nothing.array), ())
        t = of.layout.cache["reached"] = VectorStore(device, size, BOOL, bits, np.True_)
    whole = mask.stride == 0
    w = free if free is not None and free.dtype is of.z else VectorStore(device, size, of.z, None, of.value)
    every = whole and device.host_memory and w.count == size == t.nvals  # w already has all entries
    if w.bits is None:
        w.bits = device.xp.empty(words(size), np.uint64)
    if whole and not every:
        w.bits[:] = t.bits
    elif not whole:
        device.kernel(BITS)(words(size), size, w.bits, t.bits, 1, NONE, *mask, 1)
    w.values, w.count, w.least = of.value, t.nvals if whole and device.host_memory else None, 0
    return w


def table_length(layout: Layout, z: DataType) -> int:
    """Numbers in the tables of a vector of numbers of type z; 0 if no tables are built."""
    wide, cols = z.nbytes, -(-layout.ncols // layout.rows_per_unit)
    if not 4 <= wide <= layout.device.permute_bytes or cols * CHOICES * wide > tuning.count("tables.bytes"):
        return 0
    return cols * CHOICES if layout.work >= tuning.value("tables.tiles_per_column") * cols else 0


def _tile_column_ranges(layout: Layout, units: int) -> Bounds:
    """Ranges of tile columns for threads."""
    if not layout.device.splits(layout.nvals, tuning.count("parallel.entries")):
        return None
    key = "tables", tuning.version()
    if key not in layout.cache:
        layout.cache[key] = layout.device.ranges(units, tuning.count("push.words_per_thread"))
    return layout.cache[key]


def row_lengths(layout: Layout, arguments: tuple[Any, ...]) -> Csr:
    """Row lengths of tiles, as CSR without columns: all that a product of one value with a full vector reads. Counted
    once per format by its kernel, which takes these arguments."""
    lengths: Csr | None = layout.cache.get("lengths")
    if lengths is None:
        device, n = layout.device, layout.nrows
        types = layout.format.view.types(layout, False)
        variant = lanes_variant(Algebra(layout.key, types, PLUS_PAIR, COUNT, BOOL, BOOL))
        counts, bits = np.zeros(n or 1, np.int64), np.zeros(words(n), np.uint64)
        ptr = np.zeros(n + 1, pointer_type(layout.nvals))
        every = full_bits(device, layout.ncols), *stored(device, BOOL, np.True_)
        tail = *every, *no_mask(device), np.int64(1), bits, counts
        device.kernel(variant)(layout.units, EVERYWHERE, *arguments, *tail, bounds=unit_bounds(layout, device))
        np.cumsum(counts[:n], out=ptr[1:])
        lengths = layout.cache["lengths"] = Csr(device, n, layout.ncols, ptr, dummy(device, "int32"), layout.nvals)
    return lengths
