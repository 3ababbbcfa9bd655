"""SpMV kernels: pull, push, degree-binned pull, sentinel-filled vectors; and the facts that the planner reads.

A pull has its epilogue in the kernel: one launch for rows, one for segments of very long rows. A push, and the CPU's
pull by whole tiles, write a separate vector, which `merge` writes into the output. A degree-binned pull
(formats/csr/kernels.py) bins rows by length, and each block caches a part of the vector. Sentinel-filled vectors, for
pulls on the CPU, have NaN or an unused integer in place of missing entries: a product with the sentinel adds the
identity of the monoid, so the sum needs no test of the vector's bitset.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.algebra import compose
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, INT64, DataType, cast_scalar

from .. import tuning
from ..device import Bounds, Device, Kernel, threads
from ..formats import EVERYWHERE, Layout, format_of
from ..formats.csr.layout import Csr, pointer_type
from ..formats.schedule import Part
from ..kernels.variant import Variant
from ..plan.epilogue import Epilogue
from ..plan.product import COUNT, VALUES, WORDS, Plan, hot_bytes, staged_lanes
from ..store import BITS, NONE, VectorStore, dense_values, full_bits, words
from ..typing import Array
from . import ewise_vector
from .operands import (
    ZERO,
    Allowed,
    Input,
    Mask,
    Old,
    Output,
    PreparedKernel,
    Values,
    dummy,
    make,
    no_mask,
    pull_blocks,
    stored,
    unit_bounds,
)
from .variants import (
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
    from .plain_spmv import PreparedProduct


# ---- Pulls: the kernels of a product with one epilogue. One launch for rows, one for segments of very long rows.


class Pull(NamedTuple):
    """The kernels of a pull with one epilogue: of all rows, of segments of very long rows, and the one that combines
    the sums of segments. `launch` is `launch_rows` or `launch_binned`."""

    launch: Callable[[Pull, Input, Allowed, Old, Output, Output | None], None]
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

    @property
    def kernels(self) -> tuple[PreparedKernel, ...]:
        return tuple(kernel for kernel in (self.rows, self.segments, self.join) if kernel is not None)

    def scratch(self) -> Output | None:
        """Scratch memory for the sums of segments; None if no rows are split, or no values are summed."""
        if self.join is None or not self.parts:
            return None
        bits = fresh_bits(self.device, self.parts) if self.ones is None else self.ones
        return Output(bits, fresh_values(self.device, self.parts, self.end.z))


def fresh_bits(device: Device, size: int) -> Array:
    """A bitset for a kernel that writes all of it; the CPU's kernels skip words without rows."""
    return (device.xp.empty if device.is_simt and size else device.xp.zeros)(words(size), np.uint64)


def fresh_values(device: Device, size: int, dtype: DataType) -> Array:
    return fresh_bits(device, size) if dtype is BOOL else dense_values(device, size, dtype)


def prepare_pull(of: PreparedProduct, end: Epilogue, w: DataType, masked: bool) -> Pull:
    """w: type of the output. masked: under a mask."""
    device, plan, layout = of.device, of.plan, of.layout
    types, semiring, kind, a_type, options = of.algebra
    staged = of.staged and not masked
    padded = not device.is_simt or layout.ncols % layout.rows_per_unit != 0
    variants = functools.partial(
        pull_variant, layout.key, types, semiring, kind, a_type, of.u_type, padded=padded, **options
    )
    cost = layout.format.kernels["mxv.pull"]
    lanes = staged_lanes(plan.lanes, layout.units) if staged else plan.lanes
    # Any entry will do, and all products are equal: a row ends at its first entry, whatever its length.
    of_any = kind == VALUES and semiring is not None and semiring.op.monoid.name == "any"
    first = of_any and options["full"] and device.is_simt and layout.rows_per_unit == 1
    lanes = 1 if first else lanes
    most = tuning.count("pull.early_entries") if kind == WORDS else 0 if kind == COUNT and options["full"] else None
    bounds, n, per = unit_bounds(layout, device, most=most), layout.units, layout.rows_per_unit
    variant = variants(end=end, lanes=lanes, staged=staged)
    value, one = end.z.np_type.type(of.value), cast_scalar(of.value, w)
    pull = functools.partial(Pull, launch_rows, device, end, value, one, no_output(device, end.w))
    if first or not device.is_simt:
        rows = PreparedKernel(device, variant, n, (1 << 62, *of.arguments), bounds)
        return pull(rows, whole=bounds is None and not device.is_simt)
    longest = cost.longest(kind, lanes, staged=staged)
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


def launch_rows(pull: Pull, u: Input, mask: Allowed, old: Old, to: Output, scratch: Output | None = None) -> None:
    """Compute a product into the output. scratch: from `Pull.scratch`, for callers that must not allocate now."""
    tail = *u, *mask, pull.value, *old, *to
    pull.rows.run(*tail)
    if pull.segments is None:
        return
    parts = scratch or pull.scratch()
    if pull.join is None or parts is None:
        pull.segments.run(*tail)
        return
    pull.segments.run(*u, *mask, pull.value, *no_output(pull.device, pull.end.z), *parts)
    pull.join.run(*parts, *mask, *old, *to)


def prepare_binned_pull(
    of: PreparedProduct, end: Epilogue, w: DataType, masked: bool, part: Part | None = None
) -> Pull:
    """The same for rows binned by length (formats/csr/kernels.py), into a vector of which nothing is kept: each block
    caches a part of the vector. w: type of an output with the type of the sums. part: only some rows, without a
    mask."""
    device, layout, binned = of.device, of.layout, of.layout.format.kernels["mxv.pull.binned"]
    types, semiring, kind, a_type, options = of.algebra
    bins, size = binned.bins(layout, part), of.size if part is None else part.size
    shared, width = hot_bytes(device), binned.width(layout)
    hot = binned.hot(layout, shared // of.u_type.nbytes) if part is None and binned.keeps_hot_columns else 0
    shared = shared if hot else 0
    options = options | binned_options(layout.key, shared, width, masked)
    variant = pull_variant(layout.key, types, semiring, kind, a_type, of.u_type, end=end, **options)
    matrix = *binned.contents(layout, options["ranked"]), *of.matrix.values
    rows = PreparedKernel(device, variant, bins.runs, (*bins.pieces, *matrix))
    pull = Pull(launch_binned, device, end, of.value, of.value, no_output(device, end.w), rows)
    pull = pull._replace(masked=masked, bins=(hot, size, bins.reached), parts=bins.segments, ones=bins.ones)
    if bins.hubs is None:
        return pull
    join, hubs = hubs_variant(semiring, kind, 1, end), bins.hubs
    return pull._replace(join=PreparedKernel(device, join, len(hubs.rows), (hubs.rows, hubs.first)))


def launch_binned(pull: Pull, u: Input, mask: Allowed, old: Old, to: Output, scratch: Output | None = None) -> None:
    """As `launch_rows`."""
    z = pull.end.z
    parts = scratch or pull.scratch() or Output(to.bits, dummy(pull.device, z.np_type.char))
    pull.rows.run(*u[1:], *pull.bins, parts.array, *to, *(mask if pull.masked else ()))
    if pull.join is not None:
        pull.join.run(*parts, *mask, *old, *to)


def binned_options(key: str, shared: int, width: int, masked: bool) -> dict[str, Any]:
    """Options of `pull_variant`. shared: bytes of shared memory for hot columns; width: see `BinnedPull.width`."""
    binned = format_of(key).kernels["mxv.pull.binned"]
    more = (("MASKED", int(masked)),) if binned.masked else ()
    return {"lanes": 32, "width": width, "kernel": "pull_graded", "more": (*binned.constants(shared), *more)}


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
    order matters can be pushed too. blank: initializes the sums that atomics combine with."""

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


def prepare_push(of: PreparedProduct) -> Push:
    device, plan, z, layout = of.device, of.plan, of.z, of.layout
    types, semiring, kind, a_type, options = of.algebra
    how = {name: options[name] for name in ("flip", "ranked", "packed")}
    variant = push_variant(plan.key, types, semiring, kind, a_type, of.u_type, lanes=plan.lanes, **how)
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
            blank = PreparedKernel(device, blank_variant(of.semiring.op.monoid, z, cell), words(of.size), (of.size,))
    if by_words and layout.work >= tuning.value("push.shared_row_length") * layout.units:
        shared = device.ranges(n, tuning.count("push.words_per_thread"), parts=device.threads)
    rows = PreparedKernel(device, variant, n, (longest, *of.arguments))
    product = np.False_ if kind == WORDS else of.value  # unused if only presence is computed
    unused = dummy(device, "int64"), dummy(device, "int32")
    length = layout.nvals / max(1, layout.nrows)
    return Push(rows, segments, blank, cell, product, *unused, length, shared, host and not by_words)


def run_push(
    push: Push, of: PreparedProduct, given: Input, mask: Allowed, u: VectorStore, free: VectorStore | None
) -> VectorStore:
    rows, segments, blank, cell, product, counts, no_values, length, shared, ranges = push  # faster than by name
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
    types, semiring, kind, _, options = of.algebra
    layout, device = of.layout, of.device
    made = functools.partial(lanes_variant, layout.key, (*types, ("Z", of.z)), semiring, kind, flip=options["flip"])
    tables = table_length(layout, of.z) if kind == VALUES else 0
    variant = made(full=options["full"], tables=tables > 0)
    rows = PreparedKernel(device, variant, layout.units, (EVERYWHERE, *of.arguments), unit_bounds(layout, device))
    if not tables:
        return (rows,)
    units = tables // CHOICES
    head = (of.matrix.values.iso,)
    return PreparedKernel(device, made(kernel="tables"), units, head, _tile_column_ranges(layout, units)), rows


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
        pull.launch(pull, given, no_mask(device), pull.nothing, Output(bits, pull.nothing.array), None)
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
        variant = lanes_variant(
            layout.key, (*layout.format.view.types(layout, False), ("Z", INT64)), PLUS_PAIR, COUNT, flip=False
        )
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
    if not pulls or layout.device.is_simt or not layout.format.kernels["mxv.pull"].accepts_nan:
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
