"""Push kernels along the entries of a vector, and the CPU's pull by whole tiles.

Their sums are a separate vector, which `merge` writes into the output.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.algebra import compose
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, INT64, DataType

from ..device import ranges
from ..formats import EVERYWHERE
from ..formats.csr.format import Csr, pointer_type
from ..kernels.prologue import Variant
from ..plan.product import COUNT, VALUES, WORDS
from ..store import VectorStore, dense_values, full_bits, words
from . import vector
from .operands import ZERO, Allowed, Input, Rows, dummy, no_mask, stored
from .pull import compiled
from .schedule import PARALLEL_ENTRIES, unit_bounds
from .variants import blank_variant, cell_of, lanes_variant, push_variant

if TYPE_CHECKING:
    from .product import PreparedProduct


# Entries, and mean entries of a row (tiles of a tile row), from which on several CPU threads share a push: each thread
# goes through all rows.
PARALLEL_PUSHED, LONG_ROWS = 1 << 14, 8
LEAST_WORDS = 64  # of the output per thread

# Lookup tables of the pull by whole tiles: numbers for each tile column (operators.cpu.py), tiles per tile column from
# which on they are amortized, and total bytes beyond which they are read from memory (plus_second, one EPYC core, us
# without and with them: delaunay_n14 FP32 63, 35; FP64 120, 54; n18 1153, 696; 1925, 961; stencil27_58 1326, 654; 2280,
# 1220; road_ny 1237, 637; 1891, 1079; but grid2d_1024, with 13 and 25 MB of tables, 2168, 2514; 3903, 4804).
CHOICES, TILES_A_TABLE, TABLE_BYTES = 24, 2, 8 << 20

PLUS_PAIR = compose(MONOIDS["plus"], BINARY["pair"])[INT64]


class Push:
    """t = A' (+).(x) u, by atomics on a GPU; on the CPU each thread owns positions of t, so sums whose order matters
    can be pushed too."""

    __slots__ = (
        "blank", "by_words", "cell", "host", "hubs", "kernel", "length", "longest", "no_counts", "no_values", "of",
        "product", "shared", "variants",
    )  # fmt: skip

    def __init__(self, of: PreparedProduct) -> None:
        device, plan, z = of.device, of.plan, of.z
        types, semiring, kind, a_type, options = of.algebra
        how = {name: options[name] for name in ("flip", "ranked", "packed")}
        self.of, self.cell = of, cell_of(z)
        variant = push_variant(plan.key, types, semiring, kind, a_type, of.u_type, lanes=plan.lanes, **how)
        self.kernel, self.variants = compiled(device, variant), (variant,)
        self.longest, self.hubs, self.blank = EVERYWHERE, None, None
        form: Any = of.form
        self.host = not device.shares_rows
        self.by_words = form.format.shares_pushes and self.host  # ranges are words of the output, else of the vector
        self.no_counts, self.no_values = dummy(device, "int64"), dummy(device, "int32")
        self.product = np.False_ if kind == WORDS else of.value  # unused if only presence is computed
        self.length, self.shared = form.nvals / max(1, form.nrows), None
        if self.by_words and form.work >= LONG_ROWS * form.units:
            self.shared = device.ranges(words(of.size), LEAST_WORDS, parts=device.threads)
        if device.shares_rows:
            self.longest = of.form.format.longest(kind, plan.lanes, push=True)
            self.hubs = of.form.hubs(self.longest)
            if kind != WORDS:  # atomics combine with the initial values
                self.blank = compiled(device, blank_variant(of.semiring.op.monoid, z, self.cell))

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
        n = ((size if self.by_words else u.size) + 63) >> 6 or 1 if self.host else of.form.units
        bounds = None
        if self.shared is not None and u.nvals * self.length >= PARALLEL_PUSHED:
            bounds = self.shared
        elif self.host and not self.by_words and (chunks := device.chunks(int(u.nvals * self.length))) > 1:
            bounds = ranges.chunked(ranges.even(n, min(n, chunks)), ranges.InTurn)
        tail = *given, *mask, self.product, counts, t.bits, t_val
        self.kernel(n, self.longest, *of.arguments, *tail, bounds=bounds)
        if hubs is not None:
            segments = of.matrix._replace(rows=Rows(hubs.begin, hubs.end, hubs.row_of, 1)).flat()
            self.kernel(hubs.segments, self.longest, *segments, *tail)
        t.count, t.least = None, 0
        return t if cell is z else vector.cast(t, z)


class WidePull:
    """t = A (+).(x) u by the CPU's kernel for all positions of a tile at once, after a kernel that builds tables of u
    if that is amortized."""

    __slots__ = ("kernels", "of", "tables", "variants")

    def __init__(self, of: PreparedProduct) -> None:
        types, semiring, kind, _, options = of.algebra
        self.of, form = of, of.form
        made = functools.partial(lanes_variant, form.key, (*types, ("Z", of.z)), semiring, kind, flip=options["flip"])
        self.tables = table_length(form, of.z) if kind == VALUES else 0
        self.variants: tuple[Variant, ...] = (made(full=options["full"], tables=self.tables > 0),)
        if self.tables:
            self.variants = made(kernel="tables"), *self.variants
        self.kernels = [compiled(of.device, variant) for variant in self.variants]

    def calls(self, given: Input, mask: Allowed, bits: Any, values: Any) -> list[tuple[int, Any, tuple[Any, ...]]]:
        """The units, ranges and arguments of each kernel."""
        of, form, found = self.of, self.of.form, []
        if self.tables:
            table, units = np.empty(self.tables, of.z.np_type), self.tables // CHOICES
            found.append((units, _shared(form, units), (of.matrix.values.iso, given.bits, given.array, table)))
            given = given._replace(array=table)
        tail = *given, *mask, of.value, bits, values
        return [*found, (form.units, unit_bounds(form, of.device), (EVERYWHERE, *of.arguments, *tail))]

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


def table_length(form: Any, z: DataType) -> int:
    """Numbers in the tables of a vector of numbers of type z; 0 if no tables are built."""
    wide, cols = z.nbytes, -(-form.ncols // form.rows_per_unit)
    pays = 4 <= wide <= form.device.picked_bytes and form.tiles >= TILES_A_TABLE * cols
    return cols * CHOICES if pays and cols * CHOICES * wide <= TABLE_BYTES else 0


def _shared(form: Any, units: int) -> Any:
    """Ranges of tile columns for threads."""
    if not form.device.splits(form.nvals, PARALLEL_ENTRIES):
        return None
    if "tables" not in form.cache:
        form.cache["tables"] = form.device.ranges(units, LEAST_WORDS)
    return form.cache["tables"]


def lengths(form: Any, arguments: tuple[Any, ...]) -> Csr:
    """Row lengths of tiles, as CSR without columns: all that a product of one value with a full vector reads. Counted
    once per format by its kernel, which takes these arguments."""
    found: Csr | None = form.cache.get("lengths")
    if found is None:
        device, n = form.device, form.nrows
        variant = lanes_variant(form.key, (*form.types(False), ("Z", INT64)), PLUS_PAIR, COUNT, flip=False)
        counts, bits = np.zeros(n or 1, np.int64), np.zeros(words(n), np.uint64)
        ptr = np.zeros(n + 1, pointer_type(form.nvals))
        every = full_bits(device, form.ncols), *stored(device, BOOL, np.True_)
        tail = *every, *no_mask(device), np.int64(1), bits, counts
        compiled(device, variant)(form.units, EVERYWHERE, *arguments, *tail, bounds=unit_bounds(form, device))
        np.cumsum(counts[:n], out=ptr[1:])
        found = form.cache["lengths"] = Csr(device, n, form.ncols, ptr, dummy(device, "int32"), form.nvals)
    return found
