"""SpMV kernels: pull, push, degree-binned pull, sentinel-filled vectors; and the facts that the planner reads.

A pull has its epilogue in the kernel: one launch for rows, one for segments of very long rows. A push, and the CPU's
pull by whole tiles, write a separate vector, which `merge` writes into the output. A degree-binned pull
(formats/csr/binning.py) bins rows by length, and each block caches a part of the vector. Sentinel-filled vectors, for
pulls on the CPU, have NaN or an unused integer in place of missing entries: a product with the sentinel adds the
identity of the monoid, so the sum needs no test of the vector's bitset.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, INT64, DataType, cast_scalar, lookup_dtype

from .. import tuning
from ..device import Bounds, Device, Kernel, threads
from ..formats import CSR, EVERYWHERE, Layout, format_of, longest_unit
from ..formats.csr.layout import Csr, pointer_type
from ..formats.schedule import Part
from ..kernels.variant import Variant
from ..plan.auxiliary_formats import is_available, may_keep_rows, rows_amortized
from ..plan.direction import (
    Direction,
    Missing,
    ProductFacts,
    VectorFacts,
    choose_direction,
    plan_mxv,
    product_facts,
)
from ..plan.epilogue import Epilogue
from ..plan.product import COUNT, VALUES, WORDS, Plan, hot_bytes, is_binned, staged_lanes
from ..store import BITS, NONE, MatrixStore, Raw, VectorStore, dense_values, full_bits, words
from ..typing import Array
from . import ewise_vector
from .operands import (
    ZERO,
    Allowed,
    Input,
    Mask,
    Old,
    Output,
    Rows,
    Values,
    dummy,
    make,
    no_mask,
    pull_blocks,
    stored,
    unit_bounds,
)
from .variants import (
    Types,
    algebra_of,
    blank_variant,
    cell_of,
    hubs_variant,
    lanes_variant,
    pull_variant,
    push_variant,
    sentinel_kind,
)

if TYPE_CHECKING:
    from .spmv import PreparedProduct


# ---- Facts for the plan of mxv and vxm: read from the operands, counted only if the decision needs the number.

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
        ends = facts.kind == WORDS and layout.format.stops_finished_tile_rows
    if not ends or A.device.is_simt:
        return facts
    last = sum(1 / k for k in range(1, together + 1))  # mean number of hits of one row until each row has one
    return facts._replace(early_exit=nvals / max(1, A.ncols if transpose else A.nrows) / last)


class PreparedProducts:
    """A case, and the prepared products of it: pushed or not, with a full vector or not. lasting: decisions by number
    of vector entries, if that alone decides."""

    __slots__ = ("case", "lasting", "products")

    def __init__(self, of: ProductFacts) -> None:
        self.case = of
        self.lasting: dict[int | None, PreparedProduct] = {}
        self.products: dict[tuple[bool, bool], PreparedProduct] = {}


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


def count_tile_push(A: MatrixStore, plan: Plan, entries: float) -> None:
    """Count entries that are pushed along tiles: auxiliary CSR rows are built once that is amortized."""
    A.structure.pushed += entries
    if rows_amortized(A.structure):
        A.structure.layout(CSR, transposed=plan.transposed)
        A.prepared.clear()


def explain_mxv(A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], *, transpose: bool, flip: bool) -> Plan:
    """The plan that `mxv` would use now."""
    return planned(A, *decide(A, u, facts_of(A, u.values, semiring, transpose=transpose, flip=flip)))


def planned(A: MatrixStore, direction: Direction, of: ProductFacts, known: VectorFacts) -> Plan:
    """The plan of a case with a known direction."""
    kind, push = of.kind, direction.push
    transposed = of.push_transposed if push else of.pull_transposed
    primary, nrows = A.structure.primary, A.ncols if transposed else A.nrows
    lanes = primary.format.lanes(primary, nrows, kind, push=push) if A.device.is_simt else 1
    return plan_mxv(of, known, direction, lanes)


def active_entries(u: VectorStore, layout: Layout) -> int:
    """Number of entries (tiles) in the rows (tile rows) of a format where u has entries."""
    device = u.device
    known: int | None = layout.format.active(layout, u.present)
    if known is not None:
        return known
    total, ptr = device.xp.zeros(1, np.uint64), layout.ptr
    _count_kernel(device, ptr.dtype.char, layout.rows_per_unit)(words(u.size), u.present, ptr, total)
    return int(device.to_host(total)[0])


@functools.cache
def _count_kernel(device: Device, pointer: str, rows: int) -> Kernel:
    return device.kernel(Variant("kernels/weigh", (("PTR", lookup_dtype(pointer)),), (("ROWS", rows), ("LANES", 1))))


# ---- Pull kernels of a product, prepared with one epilogue: one launch for rows, one for segments of very long rows.


class PullKernels:
    """The kernels of a pull with one epilogue."""

    __slots__ = (
        "bounds",
        "device",
        "end",
        "extra",
        "head",
        "hubs",
        "join",
        "kernel",
        "longest",
        "nothing",
        "of",
        "one",
        "parts",
        "units",
        "value",
        "variants",
        "whole",
    )

    def __init__(self, of: PreparedProduct, end: Epilogue, w: DataType, masked: bool) -> None:
        device, plan, layout = of.device, of.plan, of.layout
        types, semiring, kind, a_type, options = of.algebra
        self.of, self.end, self.device = of, end, device
        staged = 0 if not of.staged else 2 if masked else 1  # as in pull.cu
        padded = not device.is_simt or layout.ncols % layout.rows_per_unit != 0
        variants = functools.partial(
            pull_variant, layout.key, types, semiring, kind, a_type, of.u_type, padded=padded, **options
        )
        width = layout.format.fixed_width(layout) if staged == 1 else 0
        lanes = plan.lanes if not staged else staged_lanes(plan.lanes, layout.units) if staged == 1 else 1
        # Any entry will do, and all products are equal: a row ends at its first entry, whatever its length.
        of_any = kind == VALUES and semiring is not None and semiring.op.monoid.name == "any"
        first = of_any and options["full"] and device.is_simt and layout.rows_per_unit == 1
        lanes = 1 if first else lanes
        self.variants: tuple[Variant, ...] = (variants(end=end, lanes=lanes, staged=staged, width=width),)
        self.kernel = device.kernel(self.variants[0])
        self.value = end.z.np_type.type(of.value)
        self.one = cast_scalar(of.value, w)
        self.nothing = no_output(device, end.w)
        most = tuning.count("pull.early_entries") if kind == WORDS else 0 if kind == COUNT and options["full"] else None
        self.units, self.bounds = layout.units, unit_bounds(layout, device, most=most)
        self.longest, self.extra, self.hubs = 1 << 62, 0, None
        self.head = self.units, self.longest, *of.arguments
        self.parts: Kernel | None = None
        self.join: Kernel | None = None
        self.whole = self.bounds is None and not device.is_simt
        if first or not device.is_simt:
            return
        per, presence = layout.rows_per_unit, kind == WORDS and not end.store
        self.longest = layout.format.longest(kind, lanes, staged=staged > 0)
        self.extra = pull_blocks(layout.units, per, lanes)
        part = self.longest if presence else min(self.longest, layout.format.segment())
        self.hubs = layout.hubs(self.longest, part, layout.format.share(kind))
        if self.hubs is not None and not presence:  # presence needs no sums of segments
            cut = (
                variants(end=Epilogue(end.z, end.z), lanes=layout.format.part_lanes),
                hubs_variant(semiring, kind, per, end),
            )
            self.parts, self.join = (device.kernel(variant) for variant in cut)
            self.variants += cut

    def scratch(self) -> Output | None:
        """Scratch memory for the sums of segments; None if no rows are split, or no values are summed."""
        if self.hubs is None or self.join is None:
            return None
        size = self.hubs.segments * self.of.layout.rows_per_unit
        return Output(self.of.bits(size), self.of.dense(size, self.end.z))

    def run(self, u: Input, mask: Allowed, old: Old, to: Output, scratch: Output | None = None) -> None:
        """Compute the product into the output. scratch: result of `scratch`, for callers that must not allocate now."""
        if self.whole:  # building unused arguments costs the host as much as the call
            self.kernel(*self.head, *u, *mask, self.value, *old, *to)
            return
        of, hubs = self.of, self.hubs
        tail = *u, *mask, self.value, *old, *to
        self.kernel(self.units, self.longest, *of.arguments, *tail, bounds=self.bounds, extra_blocks=self.extra)
        if hubs is None:
            return
        segments = of.matrix._replace(rows=Rows(hubs.begin, hubs.end, hubs.row_of, 1)).flat()
        parts = scratch or self.scratch()
        if self.parts is None or self.join is None or parts is None:
            self.kernel(hubs.segments, self.longest, *segments, *tail)
            return
        # Process segments of open rows like rows of a vector of their own; then one block per long row combines them.
        device, per = self.device, of.layout.rows_per_unit
        rest = *u, *mask, self.value, *no_output(device, self.end.z), *parts
        extra = pull_blocks(hubs.segments, per, self.of.layout.format.part_lanes)
        self.parts(hubs.segments, EVERYWHERE, *segments, *rest, extra_blocks=extra)
        self.join(len(hubs.rows) * per, hubs.rows, hubs.first, *parts, *mask, *old, *to)


class Reached:
    """t = the rows that have entries: the presence-only product with a full vector. Computed once per format."""

    __slots__ = ("copy", "of", "pull", "variants")

    def __init__(self, of: PreparedProduct) -> None:
        self.of, self.pull = of, PullKernels(of, Epilogue(BOOL, BOOL, store=False), of.z, False)
        self.copy, self.variants = of.device.kernel(BITS), (*self.pull.variants, BITS)

    def run(self, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None) -> VectorStore:
        """The product: a new store, or `free`, which is overwritten."""
        of, nothing = self.of, self.pull.nothing
        t: VectorStore | None = of.layout.cache.get("reached")
        if t is None:
            bits = of.bits(of.size)
            self.pull.run(given, no_mask(of.device), nothing, Output(bits, nothing.array))
            t = of.layout.cache["reached"] = VectorStore(of.device, of.size, BOOL, bits, np.True_)
        whole = mask.stride == 0
        w = free if free is not None and free.dtype is of.z else VectorStore(of.device, of.size, of.z, None, of.value)
        every = whole and of.device.host_memory and w.count == of.size == t.nvals  # w already has all entries
        if w.bits is None:
            w.bits = of.device.xp.empty(words(of.size), np.uint64)
        if whole and not every:
            w.bits[:] = t.bits
        elif not whole:
            self.copy(words(of.size), of.size, w.bits, t.bits, 1, NONE, *mask, 1)
        w.values, w.count, w.least = of.value, t.nvals if whole and of.device.host_memory else None, 0
        return w


@functools.cache
def no_output(device: Device, dtype: DataType) -> Old:
    """The old content of an output of which nothing is kept."""
    return Old(dummy(device, "uint64"), *stored(device, dtype, dtype.np_type.type(0)))


# ---- Push kernels along the entries of a vector, and the CPU's pull by whole tiles.
#
# Their sums are a separate vector, which `merge` writes into the output.

CHOICES = 24  # numbers per tile column in the lookup tables of the pull by whole tiles (b2sr/lanes.cpu.py)
PLUS_PAIR = compose(MONOIDS["plus"], BINARY["pair"])[INT64]


class Push:
    """t = A' (+).(x) u, by atomics on a GPU; on the CPU each thread owns positions of t, so sums whose order matters
    can be pushed too."""

    __slots__ = (
        "blank",
        "by_words",
        "cell",
        "host",
        "hubs",
        "kernel",
        "length",
        "longest",
        "no_counts",
        "no_values",
        "of",
        "product",
        "shared",
        "variants",
    )

    def __init__(self, of: PreparedProduct) -> None:
        device, plan, z = of.device, of.plan, of.z
        types, semiring, kind, a_type, options = of.algebra
        how = {name: options[name] for name in ("flip", "ranked", "packed")}
        self.of, self.cell = of, cell_of(z)
        variant = push_variant(plan.key, types, semiring, kind, a_type, of.u_type, lanes=plan.lanes, **how)
        self.kernel, self.variants = device.kernel(variant), (variant,)
        self.longest, self.hubs, self.blank = EVERYWHERE, None, None
        layout = of.layout
        self.host = not device.is_simt
        self.by_words = (
            layout.format.pushes_by_output_word and self.host
        )  # ranges are words of the output, else of the vector
        self.no_counts, self.no_values = dummy(device, "int64"), dummy(device, "int32")
        self.product = np.False_ if kind == WORDS else of.value  # unused if only presence is computed
        self.length, self.shared = layout.nvals / max(1, layout.nrows), None
        if self.by_words and layout.work >= tuning.value("push.shared_row_length") * layout.units:
            self.shared = device.ranges(words(of.size), tuning.count("push.words_per_thread"), parts=device.threads)
        if device.is_simt:
            self.longest = of.layout.format.longest(kind, plan.lanes, push=True)
            self.hubs = of.layout.hubs(self.longest)
            if kind != WORDS:  # atomics combine with the initial values
                self.blank = device.kernel(blank_variant(of.semiring.op.monoid, z, self.cell))

    def run(self, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None) -> VectorStore:
        """The product: a new store, or `free`, which is overwritten. Allocation can cost more than a push along a few
        entries."""
        of, hubs = self.of, self.hubs
        device, size, z, kind, xp = of.device, of.size, of.z, of.plan.kind, of.device.xp
        presence = kind == WORDS
        cell = z if presence else self.cell
        if free is not None and free.dtype is z is cell:
            t = free
        else:
            t = VectorStore(device, size, cell, None, ZERO[cell.name])
        if t.bits is None:
            t.bits = (xp.zeros if self.blank is None else xp.empty)((size + 63) >> 6 or 1, np.uint64)
        elif self.blank is None:
            t.bits.fill(0)
        if presence:
            t.values = of.value
        elif isinstance(t.values, np.generic):
            t.values = xp.empty(size or 1, cell.np_type)
        t_val = self.no_values if presence else t.values
        if self.blank is not None:
            self.blank(words(size), size, t.bits, t_val)
        counts = self.no_counts
        if kind == COUNT:  # into the array of the sums, if they fit
            counts = t_val.view(np.int64) if cell.nbytes == 8 else xp.empty(size, np.int64)
        n = ((size if self.by_words else u.size) + 63) >> 6 or 1 if self.host else of.layout.units
        bounds = None
        if self.shared is not None and u.nvals * self.length >= tuning.count("push.shared_entries"):
            bounds = self.shared
        elif self.host and not self.by_words and (chunks := device.chunks(int(u.nvals * self.length))) > 1:
            bounds = threads.as_chunks(threads.even_ranges(n, min(n, chunks)), threads.InTurn)
        tail = *given, *mask, self.product, counts, t.bits, t_val
        self.kernel(n, self.longest, *of.arguments, *tail, bounds=bounds)
        if hubs is not None:
            segments = of.matrix._replace(rows=Rows(hubs.begin, hubs.end, hubs.row_of, 1)).flat()
            self.kernel(hubs.segments, self.longest, *segments, *tail)
        t.count, t.least = None, 0
        return t if cell is z else ewise_vector.cast(t, z)


class WidePull:
    """t = A (+).(x) u by the CPU's kernel for all positions of a tile at once, after a kernel that builds tables of u
    if that is amortized."""

    __slots__ = ("kernels", "of", "tables", "variants")

    def __init__(self, of: PreparedProduct) -> None:
        types, semiring, kind, _, options = of.algebra
        self.of, layout = of, of.layout
        made = functools.partial(lanes_variant, layout.key, (*types, ("Z", of.z)), semiring, kind, flip=options["flip"])
        self.tables = table_length(layout, of.z) if kind == VALUES else 0
        self.variants: tuple[Variant, ...] = (made(full=options["full"], tables=self.tables > 0),)
        if self.tables:
            self.variants = made(kernel="tables"), *self.variants
        self.kernels = [of.device.kernel(variant) for variant in self.variants]

    def calls(
        self, given: Input, mask: Allowed, bits: Array, values: Array
    ) -> list[tuple[int, Bounds, tuple[Any, ...]]]:
        """The units, ranges and arguments of each kernel."""
        of, layout, found = self.of, self.of.layout, []
        if self.tables:
            table, units = np.empty(self.tables, of.z.np_type), self.tables // CHOICES
            found.append(
                (units, _tile_column_ranges(layout, units), (of.matrix.values.iso, given.bits, given.array, table))
            )
            given = given._replace(array=table)
        tail = *given, *mask, of.value, bits, values
        return [*found, (layout.units, unit_bounds(layout, of.device), (EVERYWHERE, *of.arguments, *tail))]

    def run(self, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None) -> VectorStore:
        """The product: a new store, or `free`, which is overwritten."""
        of = self.of
        device, size, z = of.device, of.size, of.z
        t = VectorStore(device, size, z, None, ZERO[z.name]) if free is None or free.dtype is not z else free
        if t.bits is None:
            t.bits = np.zeros(words(size), np.uint64)
        else:
            t.bits.fill(0)
        if isinstance(t.values, np.generic):
            t.values = dense_values(device, size, z)
        for kernel, (units, bounds, args) in zip(self.kernels, self.calls(given, mask, t.bits, t.values)):
            kernel(units, *args, bounds=bounds)
        t.count, t.least = None, 0
        return t


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
        variant = lanes_variant(layout.key, (*layout.types(False), ("Z", INT64)), PLUS_PAIR, COUNT, flip=False)
        counts, bits = np.zeros(n or 1, np.int64), np.zeros(words(n), np.uint64)
        ptr = np.zeros(n + 1, pointer_type(layout.nvals))
        every = full_bits(device, layout.ncols), *stored(device, BOOL, np.True_)
        tail = *every, *no_mask(device), np.int64(1), bits, counts
        device.kernel(variant)(layout.units, EVERYWHERE, *arguments, *tail, bounds=unit_bounds(layout, device))
        np.cumsum(counts[:n], out=ptr[1:])
        lengths = layout.cache["lengths"] = Csr(device, n, layout.ncols, ptr, dummy(device, "int32"), layout.nvals)
    return lengths


# ---- Sentinel-filled vectors for pulls on the CPU (csr/pull.cpu.py): missing entries become NaN or an unused integer.

FILLED = 2  # a stride that marks filled values


def filled_row_length(plan: Plan, layout: Layout, semiring: Typed[Semiring], u: DataType) -> float:
    """Mean entries of a row if a pull may use filled vectors, else 0: see `amortizes_fill`. Known before the
    vector is, because the plan's kernel has to support it."""
    pulls = plan.direction == "pull" and plan.kind == VALUES and not plan.wide
    if not pulls or layout.device.is_simt or not layout.format.accepts_nan:
        return 0.0
    if layout.nvals < tuning.count("fill.matrix_entries"):
        return 0.0
    op, _, monoid, z = algebra_of(semiring)
    return layout.nvals / max(1, layout.nrows) if sentinel_kind(op, monoid, z, u) else 0.0


def amortizes_fill(row_length: float, mask: Mask | None) -> bool:
    """Whether a pull along rows of this mean length amortizes a sentinel-filled copy of the vector."""
    if mask is None:
        return row_length >= tuning.value("fill.row_length")
    return row_length >= tuning.value("fill.masked_row_length")


def fill_missing(u: VectorStore, row_length: float) -> Values:
    """The values of a vector that is not iso, for a pull along rows of this mean length: unchanged if few entries
    are present, or if the sentinel is one of the values."""
    x, zero, share = u.values, ZERO[u.dtype.name], tuning.value("fill.share")
    if row_length >= tuning.value("fill.long_row_length"):
        share = tuning.value("fill.long_share")
    if (u.count or 0) >= share * u.size:
        filled, others, nothing = np.empty_like(x), np.zeros(1, np.int64), _sentinel(u.dtype)
        _sentinel_kernel(u.device, u.dtype)(len(u.present), u.size, u.present, x, nothing, filled, others)
        if not others[0]:
            return make(Values, (filled, nothing, FILLED))
    return make(Values, (x, zero, 1))


@functools.cache
def _sentinel(of: DataType) -> np.generic:
    """The sentinel of missing entries: NaN, or the integer that programs use least."""
    kind = of.np_type.type
    return kind(np.nan if of.kind == "f" else np.iinfo(kind).min if of.kind == "i" else np.iinfo(kind).max)


@functools.cache
def _sentinel_kernel(device: Device, of: DataType) -> Kernel:
    return device.kernel(Variant("kernels/lacking", (("T", of),)))


# ---- Degree-binned pull (formats/csr/binning.py): rows binned by length; each block caches a part of the vector.


def describe_binning(A: MatrixStore, u: VectorStore, semiring: Typed[Semiring], plan: Plan, *, masked: bool) -> str:
    """For `explain`: how a degree-binned pull would run; "" if rows are not binned."""
    layout = A.structure.held(plan.key, transposed=plan.transposed)
    if layout is None or plan.direction != "pull" or u.count != u.size:
        return ""
    if masked and not layout.format.bins_masked_rows:
        return ""
    if not is_binned(semiring, plan.kind, layout, True, u.dtype):
        return ""
    hot = layout.format.hot(layout, hot_bytes(A.device) // u.dtype.nbytes) if layout.format.keeps_hot_columns else 0
    if not layout.format.keeps_hot_columns:
        return "degree-binned rows"
    by_degree = 'no hot columns, which A.reorder("degree") may give' if A.order is None else "no hot columns"
    return f"degree-binned rows, {f'{hot} hot columns in shared memory' if hot else by_degree}"


def degree_binned_variant(
    key: str,
    types: Types,
    semiring: Typed[Semiring] | None,
    kind: int,
    a: DataType,
    u: DataType,
    end: Epilogue,
    shared: int,
    width: int,
    *,
    masked: bool = False,
    **options: bool,
) -> Variant:
    """The kernel. shared: bytes of shared memory for hot columns; width: see `Format.fixed_width`; masked: under a
    mask."""
    how: dict[str, Any] = options | {"end": end, "lanes": 32, "width": width, "kernel": "pull_graded"}
    format = format_of(key)
    more = (*format.binned_constants(shared), *([("MASKED", int(masked))] if format.bins_masked_rows else []))
    return pull_variant(key, types, semiring, kind, a, u, **how, more=more)


class DegreeBinnedPull:
    """A degree-binned pull into a vector of which nothing is kept; same interface as PullKernels."""

    __slots__ = (
        "end",
        "grades",
        "hot",
        "join",
        "kernel",
        "masked",
        "matrix",
        "nothing",
        "of",
        "one",
        "size",
        "variants",
    )

    def __init__(self, of: PreparedProduct, end: Epilogue, w: DataType, masked: bool, part: Part | None = None) -> None:
        """w: type of an output with the type of the sums. part: only some rows, without a mask."""
        device, layout, format = of.device, of.layout, of.layout.format
        types, semiring, kind, a_type, options = of.algebra
        self.of, self.end, self.masked = of, end, masked
        self.grades, self.size = format.grades(layout, part), of.size if part is None else part.size
        shared, width = hot_bytes(device), format.fixed_width(layout)
        keeps_hot_columns = part is None and format.keeps_hot_columns
        self.hot = format.hot(layout, shared // of.u_type.nbytes) if keeps_hot_columns else 0
        shared = shared if self.hot else 0
        options = options | {"masked": masked}
        variant = degree_binned_variant(
            layout.key, types, semiring, kind, a_type, of.u_type, end, shared, width, **options
        )
        self.variants = (variant, hubs_variant(semiring, kind, 1, end))[: 1 + (self.grades.hubs is not None)]
        self.kernel, self.join = device.kernel(variant), device.kernel(self.variants[-1])
        self.matrix = *format.binned_contents(layout, options["ranked"]), *of.matrix.values
        self.nothing, self.one = no_output(device, end.w), of.value

    def scratch(self) -> Output:
        """Scratch memory for the sums of segments."""
        n, z = self.grades.segments, self.end.z
        return Output(self.grades.ones, self.of.dense(n, z) if n else dummy(self.of.device, z.np_type.char))

    def run(self, u: Input, mask: Allowed, old: Old, to: Output, scratch: Output | None = None) -> None:
        """Compute the product into the output. scratch: result of `scratch`, for callers that must not allocate now."""
        grades, hubs = self.grades, self.grades.hubs
        parts = scratch or self.scratch()
        rest = *u[1:], self.hot, self.size, grades.reached, parts.array, *to, *(mask if self.masked else ())
        self.kernel(grades.runs, *grades.arguments(), *self.matrix, *rest)
        if hubs is not None:
            self.join(len(hubs.rows), hubs.rows, hubs.first, *parts, *mask, *old, *to)
