"""SpGEMM: mxm over any semiring, with the mask in the kernel. GraphBLAS C API 2.1, section 4.3.1.

Under a mask, dot products at its entries. Otherwise Gustavson's row-by-row product (ACM TOMS 4(3), 1978), in two
passes: sizes, then entries. CPU: see formats/csr/spgemm.cpu.py; one pass if there is room for all products. In
addition to the result it takes, per thread, a dense row of sums and two bitsets of the width of C. GPU: rows with few
products keep their entries in hash tables in shared memory (`short_rows`); the others mark them in a bitset of the
width of C, one per block in a fixed number of blocks (`long_rows`).
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from semirings import Monoid, Semiring, Typed
from semirings.algebra import compose
from semirings.cached import cached_property
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, DataType, lookup_dtype

from .. import tuning
from ..device import Bounds, Device, memory, threads, tracing
from ..formats import CSR, Layout, Structure, format_of
from ..formats.csr.kernels import pieces
from ..formats.csr.layout import from_arrays, index_type, rows_bytes
from ..kernels.variant import Variant, is_neutral
from ..plan.product import (
    COUNT,
    DOT,
    REMOVED,
    TILES,
    VALUES,
    WORDS,
    Plan,
    counts_itself,
    kind_of,
    plan_mxm,
    plan_sddmm,
    plan_sorted,
    row_tables,
)
from ..store import MatrixStore, PlainValues, RowLayout
from ..typing import Array
from . import contraction, ewise_vector, hypersparse, multivector, sddmm, sorted_keys, supports, udf, value_arrays
from .convert import filter_entries, of_room, of_rows
from .lazy_map_product import LazyMapProduct, delays, is_single
from .operands import MatrixMask as MatrixMask
from .operands import MatrixProduct, PreparedKernel, Values, dummy, entry_values
from .variants import Algebra, Constants, Types, dot_variant, gustavson_variant, packed_constants, rows_variant

# ---- SpGEMM: Gustavson's row-by-row product (ACM TOMS 4(3), 1978), in two passes: sizes, then entries.

NOWHERE = np.zeros(1, np.int64)


@dataclass(eq=False)
class RowProduct:
    """A row-by-row product: the arguments of both passes."""

    plan: Plan
    device: Device
    semiring: Typed[Semiring]
    a: RowLayout
    b: RowLayout
    m: RowLayout  # of the mask; without one, b
    types: tuple[DataType, DataType]
    left: Values  # of A
    right: Values
    mask_kind: int  # 0: none, 1: only at its entries, 2: everywhere else

    @cached_property
    def z(self) -> DataType:
        return self.semiring.return_type if self.plan.kind != WORDS else BOOL

    @cached_property
    def value(self) -> np.generic:
        return self.z.np_type.type(0 if self.plan.product is None else self.plan.product)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The kernels that write the entries; on a GPU only those for which there are rows."""
        if not self.device.is_simt:
            return (_dense_row(self, 1),)
        return *(_short_rows(self, 1, *table) for table in _tables(self, 1)), _long_rows(self, 1)

    @cached_property
    def counting(self) -> PreparedKernel:
        """The CPU's counting kernel. It reads no values, so one kernel serves all types."""
        one = entry_values(self.device, BOOL, BOOL.np_type.type(True))
        given = *self.operands(one, one, self.b.ncols, int(self.ascends)), one.iso
        return PreparedKernel(self.device, _dense_row(self, 0), self.a.nrows, given)

    @cached_property
    def writing(self) -> PreparedKernel:
        """The CPU's kernel that writes the entries."""
        given = *self.operands(self.left, self.right, self.b.ncols, int(self.ascends)), self.value
        return PreparedKernel(self.device, _dense_row(self, 1), self.a.nrows, given)

    @cached_property
    def single(self) -> bool:
        """Whether no row of B has more than one entry: then C has the columns of A renumbered, with duplicates
        combined. Complex sums cannot be shuffled between lanes of a GPU."""
        if self.device.is_simt and self.z.np_type.kind == "c":
            return False
        return is_single(self.b)

    @cached_property
    def ascends(self) -> bool:
        """Whether in addition the columns of B ascend, as in a diagonal matrix: then there are no duplicates, and C is
        sorted. On the CPU."""
        columns = lambda b: b.columns(0, b.nvals)
        return self.single and _known(self.b, "ascends", lambda b: (columns(b)[1:] > columns(b)[:-1]).all())

    @property
    def alike(self) -> bool:
        """Whether searching for rows of B with equal columns is worth its cost on the CPU: in all-pairs distances most
        rows are full, and take half the time."""
        products = self.a.nvals * (self.b.nvals / max(1, self.b.nrows))
        if self.mask_kind or products < tuning.count("spgemm.alike_products"):
            return False
        return self.b.nvals >= tuning.value("spgemm.alike_share") * self.b.nrows * self.b.ncols

    def multiply(self) -> MatrixStore:
        return multiply_rows(self)

    @property
    def packed(self) -> Constants:
        return packed_constants(self.a.key, self.b.key, self.m.key)

    def operands(self, left: Values, right: Values, *width: int) -> tuple[Any, ...]:
        """The arrays of A, B and the mask as kernel arguments, with these values; width: of C, for the CPU."""
        a, b, m = self.a, self.b, self.m
        mask = m.ptr, m.col, m.width, self.mask_kind
        return a.ptr, a.col, a.width, *left, b.ptr, b.col, b.width, *right, *width, *mask


def multiply_rows(t: RowProduct) -> MatrixStore:
    """The product, in one pass or two."""
    device, xp, a, b, z = t.device, t.device.xp, t.a, t.b, t.z
    dtype, words = t.semiring.return_type, t.plan.kind == WORDS
    room = a.nrows * b.ncols
    before, bounds = None, None  # products before each row
    if not device.is_simt:
        few, most = tuning.count("spgemm.uncounted_positions"), tuning.count("spgemm.room")
        if room > few:
            before = a.ptr.astype(np.int64) if t.single else products_before(a, b)
            bounds = _ranges(t, before)
            # Positions before each row, at most the number of products
            if isinstance(bounds, threads.Chunks) and room <= most:
                before = _places_before(before, b.ncols)
            room = min(room, before.item(-1)) if bounds is None else before.item(-1)
        if room <= (few if memory.limit is not None else most):
            return _at_once(t, room, before, bounds)
    ptr, none = xp.zeros(a.nrows + 1, np.int64), (xp.zeros(1, index_type(b.ncols)), dummy(device, z.np_type.char))
    walk = _on_gpu if device.is_simt else functools.partial(_on_cpu, bounds=bounds, begin=ptr)
    walk(t, 0, ptr, *none)
    xp.cumsum(ptr, out=ptr)
    nvals = int(ptr[-1])
    wide = 0 if words else z.np_type.itemsize
    device.foresee(f"product of {nvals} entries", rows_bytes(a.nrows, b.ncols, nvals) + wide * nvals)
    col = xp.empty(max(1, nvals), index_type(b.ncols))
    sums = xp.empty(1 if words else max(1, nvals), z.np_type)
    walk(t, 1, ptr, col, sums)
    values = dtype.np_type.type(t.plan.product) if words else sums[:nvals]
    return of_rows(from_arrays(device, a.nrows, b.ncols, ptr, col[:nvals]), dtype, values)


def _ranges(t: RowProduct, before: Array) -> Bounds:
    """Ranges of rows with about equal numbers of products for the CPU's threads; None: one range. Each range has a
    fixed cost: a bit for each column, or a comparison of the rows of B."""
    device, a, b = t.device, t.a, t.b
    least = b.ncols // tuning.count("spgemm.columns_per_product")
    if t.alike:
        least = max(least, tuning.count("spgemm.products_per_entry") * b.nvals)
    chunks = device.chunks(before.item(-1), least)
    parts = device.parts if device.splits(a.nvals + b.nvals, tuning.count("parallel.entries")) else 1
    if max(parts, chunks) == 1:
        return None
    found = threads.ranges_by_work((before + a.ptr)[1:], max(parts, chunks))
    return found if chunks == 1 else threads.as_chunks(found)


def _at_once(t: RowProduct, room: int, before: Array | None, bounds: Bounds) -> MatrixStore:
    """One pass on the CPU, if there is room for all products: nothing is counted first, and gaps between ranges are
    closed."""
    a, b, words = t.a, t.b, t.plan.kind == WORDS
    if memory.limit is not None:
        needed = rows_bytes(a.nrows, b.ncols, room) + (0 if words else t.z.np_type.itemsize * room)
        t.device.foresee(f"product of at most {room} entries", needed)
    ptr, col = np.zeros(a.nrows + 1, np.int32), np.empty(room or 1, index_type(b.ncols))
    sums = np.empty(1 if words else room or 1, t.z.np_type)
    _on_cpu(t, 1, ptr, col, sums, bounds=bounds, begin=NOWHERE if bounds is None or before is None else before)
    dtype, starts = t.semiring.return_type, None if before is None or bounds is None else before[bounds]
    values: PlainValues = dtype.np_type.type(t.plan.product) if words else sums
    return of_room(t.device, (a.nrows, b.ncols), (ptr, col, values), dtype, bounds, starts)


def prepare_rows(plan: Plan, of: MatrixProduct) -> RowProduct:
    A, B, semiring, transpose_a, transpose_b, mask = of
    device, true = A.device, BOOL.np_type.type(True)
    a, b = A.structure.rows(transposed=transpose_a), B.structure.rows(transposed=transpose_b)
    valued = plan.kind == VALUES
    a_val, b_val = (A.values_for(a.key, transpose_a), B.values_for(b.key, transpose_b)) if valued else (true, true)
    types = (A.dtype, B.dtype) if valued else (BOOL, BOOL)
    left, right = entry_values(device, types[0], a_val), entry_values(device, types[1], b_val)
    m, mask_kind = (b, 0) if mask is None else (mask.structure.rows(), 1 + int(mask.complement))
    return RowProduct(plan, device, semiring, a, b, m, types, left, right, mask_kind)


def _known(layout: RowLayout, name: str, compute: Callable[[RowLayout], bool]) -> bool:
    """A cached property of the rows of a format."""
    if name not in layout.cache:
        layout.cache[name] = bool(compute(layout))
    value: bool = layout.cache[name]
    return value


def products_before(a: RowLayout, b: RowLayout) -> Array:
    """The number of products a(i, k) b(k, j) before each row i, and in total, INT64. Entries of A are processed in
    pieces, so that packed columns are never unpacked all at once."""
    device, xp = a.device, a.device.xp
    length, before = b.ptr[1:] - b.ptr[:-1], xp.zeros(a.nrows + 1, np.int64)
    limits = pieces(a)
    cuts = [0, a.nrows + 1]  # the row pointers that end in each piece
    if len(limits) > 2:
        cuts = device.to_host(xp.searchsorted(a.ptr, device.asarray(limits, a.ptr.dtype), side="right")).tolist()
    done = xp.zeros(1, np.int64)
    for low, high, first, last in zip(limits, limits[1:], cuts, cuts[1:], strict=False):
        sums = xp.zeros(high - low + 1, np.int64)
        xp.cumsum(length[a.columns(low, high)], out=sums[1:])
        sums += done
        before[first:last] = sums[a.ptr[first:last] - low]
        done = sums[-1:]
    return before


def _places_before(before: Array, ncols: int) -> Array:
    """Upper bound of the positions of a result before each row: by products, and by columns."""
    places = np.zeros(len(before), np.int64)
    np.cumsum(np.minimum(np.diff(before), ncols), out=places[1:])
    return places


def _algebra(t: RowProduct, fill: int, indices: Types) -> Algebra:
    """fill 0 counts: the kernel is one for all semirings, like WORDS."""
    if not fill or t.plan.kind == WORDS:
        return Algebra(CSR, indices, None, WORDS, BOOL, BOOL)
    return Algebra(CSR, indices, t.semiring, t.plan.kind, *t.types)


def _dense_row(t: RowProduct, fill: int) -> Variant:
    return gustavson_variant(_algebra(t, fill, ()), fill, t.packed, t.alike)


def _on_cpu(t: RowProduct, fill: int, ptr: Array, col: Array, sums: Array, *, bounds: Bounds, begin: Array) -> None:
    kernel = t.writing if fill else t.counting
    tail = begin, ptr, col, sums if fill else dummy(t.device, "?")
    kernel.kernel(kernel.n, *kernel.arguments, *tail, bounds=bounds)


def _tables(t: RowProduct, fill: int) -> list[tuple[int, int]]:
    cell = 0 if not fill or t.plan.kind == WORDS else 8 if t.plan.kind == COUNT else t.z.np_type.itemsize
    return row_tables(index_type(t.b.ncols).itemsize + cell)


def _short_rows(t: RowProduct, fill: int, lanes: int, slots: int) -> Variant:
    table = ("LANES", lanes), ("SLOTS", slots), ("LOG_SLOTS", slots.bit_length() - 1)
    return _rows_variant(t, "short_rows", fill, table)


def _long_rows(t: RowProduct, fill: int) -> Variant:
    shared = tuning.count("spgemm.shared.words")
    shared = shared if -(-t.b.ncols // 64) <= shared else 0
    return _rows_variant(t, "long_rows", fill, (("LANES", 256), ("SHARED_WORDS", shared)))


def _rows_variant(t: RowProduct, name: str, fill: int, constants: Constants) -> Variant:
    kinds = t.a.ptr.dtype, index_type(t.a.ncols), t.b.ptr.dtype, index_type(t.b.ncols), t.m.ptr.dtype
    names = "PTR", "INNER", "BPTR", "COL", "MPTR"
    indices = tuple((name, lookup_dtype(kind)) for name, kind in zip(names, kinds, strict=True))
    return rows_variant(name, _algebra(t, fill, indices), fill, (*constants, *t.packed), t.single)


def _on_gpu(t: RowProduct, fill: int, ptr: Array, col: Array, sums: Array) -> None:
    """Bin rows by their number of products, then of entries: for hash tables of several sizes, and for long rows."""
    device, xp, a, b = t.device, t.device.xp, t.a, t.b
    tables = _tables(t, fill)
    work = a.ptr.astype(np.int64) if t.single else ptr if fill else products_before(a, b)
    before = ptr if fill else work
    lists, counts = xp.empty((4, max(1, a.nrows)), np.int64), xp.zeros(4, np.uint64)
    load = tuning.value("spgemm.table_load")
    limits = (int(load * slots) for _, slots in tables)
    sort = device.kernel(Variant("formats/csr/sort_rows", (), (("LANES", 1), ("FILL", fill))))
    sort(a.nrows, before, work, tuning.count("spgemm.table.turns"), b.ncols, *limits, ptr, lists, counts)

    none = Values(dummy(device, "bool"), BOOL.np_type.type(True), 0)
    u, v, value, out = (t.left, t.right, t.value, sums) if fill else (none, none, none.iso, none.array)
    operands = (*t.operands(u, v), value, ptr, col, out)
    *short, many = device.to_host(counts).tolist()
    for table, count, rows in zip(tables, short, lists, strict=False):
        if count:
            device.kernel(_short_rows(t, fill, *table))(count, rows, *operands)
    if not many:
        return
    rows = lists[3, :many]
    size = ptr[rows + 1] - ptr[rows] if fill else ptr[rows + 1]
    rows = rows[xp.argsort(-size)]  # longest first
    run = _long_rows(t, fill)
    words, shared = -(-b.ncols // 64), run.constant("SHARED_WORDS", 0)
    most = tuning.count("spgemm.long_rows.blocks")
    if not shared:
        most = min(most, tuning.count("spgemm.long_rows.bitset_bytes") // (12 * words))
    blocks = max(1, min(many, most))
    bitsets, ranks = (xp.zeros(1 if shared else blocks * words, kind) for kind in (np.uint64, np.uint32))
    device.kernel(run)(blocks, rows, many, xp.zeros(1, np.uint64), bitsets, ranks, words, *operands)


# ---- Lazy masked products: one sum per entry of the mask, and a flag whether any product contributed.
#
# Positions without a product are no entries. They are dropped when the structure of the result is read. A sum over all
# entries, which is the only use of many masked products, needs no dropping. (GraphBLAS C API 2.1, section 2.5: a
# nonblocking implementation may delay results that are not used yet.)


class LazyMaskedProduct(MatrixStore):
    """places: positions that may have a sum; present: whether there is one (bools); sums: np.generic, or the identity
    of `monoid` where there is none. found: sums and present; None: `product` computes them on first use, because a sum
    of all entries may be all that is read."""

    deferred = True

    def __init__(
        self,
        places: Structure,
        dtype: DataType,
        product: DotProduct | RemovedProduct,
        found: tuple[PlainValues, Array] | None,
    ) -> None:
        self.places, self.dtype, self.product, self.found = places, dtype, product, found
        self.monoid = product.monoid
        self.order = None
        self.device, self.nrows, self.ncols = places.device, places.nrows, places.ncols
        self.plain = places.plain
        self.pending = True  # the structure has not been read yet

    def _sums(self) -> tuple[PlainValues, Array]:
        if self.found is None:
            assert isinstance(self.product, DotProduct)
            self.found = compute_dots(self.product)
        return self.found

    @property
    def sums(self) -> PlainValues:
        return self._sums()[0]

    @property
    def present(self) -> Array:
        return self._sums()[1]

    def outline(self) -> PlainValues:
        """The sums, for plans, which compute nothing: an empty array if they have not been computed."""
        return self.sums if self.found is not None else np.empty(0, self.dtype.np_type)

    @cached_property
    def _entries(self) -> MatrixStore:
        return filter_entries(MatrixStore(self.places, self.dtype, self.sums), self.present)

    def _computed(self) -> MatrixStore:
        self.pending = False
        return self._entries

    # Computed at first access.
    structure: Any = cached_property(lambda self: self._computed().structure)
    raw: Any = cached_property(lambda self: self._computed().raw)

    @property
    def iso(self) -> bool:
        return self.found is not None and isinstance(self.found[0], np.generic)

    def adds(self, monoid: Typed[Monoid]) -> bool:
        """Whether `total` can sum all entries without computing the structure."""
        return self.pending and not self.iso and self.places.nvals > 0 and not udf.computes(monoid)

    def sums_units(self, monoid: Typed[Monoid]) -> bool:
        """Whether `total` sums them inside the kernel, without computing them."""
        return self.found is None and monoid == self.monoid

    def total(self, monoid: Typed[Monoid]) -> np.generic | None:
        """The sum of all entries, None if there are none."""
        if self.sums_units(monoid) and isinstance(self.product, DotProduct):
            sums, present = compute_dots(self.product, by_unit=True)
        else:
            sums, present = self._sums()
        assert not isinstance(sums, np.generic)
        if self.device.host_memory and monoid == self.monoid and is_neutral(monoid.op, self.dtype):
            # Summing all of them takes less time than testing each flag
            total = value_arrays.reduce(self.device, monoid, sums)
            if total != monoid.identity:
                return total
        return ewise_vector.reduce_flagged(self.device, monoid, sums, present.view(np.uint8))


# ---- Dot products at the entries of a mask.


class DotProduct(NamedTuple):
    """Dot products at the positions of a mask."""

    plan: Plan
    semiring: Typed[Semiring]
    kernel: PreparedKernel
    at: Layout  # of the mask
    monoid: Typed[Monoid]  # of the sums
    each: float  # mean entries that a dot product reads
    own: Structure | None  # that of A, if the product counts at its own entries (supports.py)

    def multiply(self) -> MatrixStore:
        return multiply_dots(self)

    @property
    def variants(self) -> tuple[Variant, ...]:
        return (self.kernel.variant,)


def prepare_dots(plan: Plan, of: MatrixProduct) -> DotProduct:
    A, B, semiring, ta, tb, mask = of
    assert mask is not None
    device, key, kind = A.device, plan.key, plan.kind
    true = BOOL.np_type.type(True)
    a_val, b_val = (A.values_for(key, ta), B.values_for(key, not tb)) if kind == VALUES else (true, true)
    a_type, b_type = (A.dtype, B.dtype) if kind == VALUES else (BOOL, BOOL)
    left = A.structure.layout(key, transposed=ta)
    right = B.structure.layout(key, transposed=not tb)
    dot = format_of(key).kernels["dot"]
    at = dot.mask(mask.structure, key)
    call = dot.arguments(left, right, at, (not isinstance(a_val, np.generic), not isinstance(b_val, np.generic)))
    typed, z = (None, BOOL) if kind == WORDS else (semiring, semiring.return_type)
    variant = dot_variant(Algebra(key, call.types, typed, kind, a_type, b_type), plan.lanes, plan.wide, at.key)
    values = entry_values(device, a_type, a_val), entry_values(device, b_type, b_val)
    value = z.np_type.type(0 if plan.product is None else plan.product)
    operands = *call.mask, *call.left, *values[0], *call.right, *values[1], left.ncols, value
    kernel = PreparedKernel(device, variant, call.units, operands)
    each = sum(side.nvals / max(1, side.nrows) for side in (left, right))
    own = None
    if at is A.structure.primary and counts_itself(A, B, semiring, mask, kind, plan.product):
        own = A.structure
    return DotProduct(plan, semiring, kernel, at, semiring.op.monoid[semiring.return_type], each, own)


def multiply_dots(product: DotProduct) -> MatrixStore:
    """One sum per position of the mask, and whether there is any product. Sums of a kernel that can also sum all of
    them are computed when they are read."""
    waits = product.plan.kind == COUNT and format_of(product.plan.key).kernels["dot"].sums_units
    waits = waits and product.monoid.op.name == "plus" and product.semiring.return_type.kind in "iu"
    found = None if waits and product.at.nvals else compute_dots(product)
    counts = LazyMaskedProduct(product.own or Structure(product.at), product.semiring.return_type, product, found)
    if product.own is not None:
        supports.remember(counts, product.own)
    return counts


def compute_dots(product: DotProduct, *, by_unit: bool = False) -> tuple[PlainValues, Array]:
    """The sum at each position of the mask, and whether there is any product; by_unit: of each unit of the mask, such
    as a tile, instead."""
    plan, semiring, kernel, at, _, each, _ = product
    device, xp, words, n = at.device, at.device.xp, plan.kind == WORDS, kernel.n
    size, variant = at.nvals, kernel.variant
    if by_unit:
        constants = dict(variant.constants) | {"TILE_SUMS": 1}
        size, variant = n, dataclasses.replace(variant, constants=tuple(constants.items()))
    dtype, places = semiring.return_type, max(1, size)
    present, sums = xp.empty(places, np.uint8), xp.empty(1, bool) if words else xp.empty(places, dtype.np_type)
    parts = tuning.count("dot.ranges_per_thread") * device.threads
    bounds = device.ranges(n, tuning.count("parallel.entries"), work=at.nvals, parts=parts)
    if (chunks := device.chunks(int(at.nvals * each))) > 1:
        bounds = threads.as_chunks(threads.even_ranges(n, min(n, max(parts, chunks))))
    device.kernel(variant)(n, *kernel.arguments, present, sums, bounds=bounds)
    found: PlainValues = dtype.np_type.type(plan.product) if words else sums[:size]
    return found, present[:size].view(bool)


class RemovedProduct(NamedTuple):
    """C<C> = C plus.pair C', for a matrix whose values are the counts before some entries were removed."""

    plan: Plan
    semiring: Typed[Semiring]
    A: MatrixStore

    @property
    def monoid(self) -> Typed[Monoid]:
        return self.semiring.op.monoid[self.semiring.return_type]

    @property
    def variants(self) -> tuple[Variant, ...]:
        return (supports.variant(self.A, self.plan.lanes),)

    def multiply(self) -> MatrixStore:
        sums = supports.lowered(self.A, self.plan.lanes)
        counts = LazyMaskedProduct(self.A.structure, self.A.dtype, self, (sums, sums != 0))
        supports.remember(counts)
        return counts


# ---- Products of tiles with tiles, as tiles.


class TilesProduct(NamedTuple):
    """A product of two matrices of tiles. right: on a GPU the transpose. grid: the product of the matrices that have an
    entry for each tile."""

    plan: Plan
    semiring: Typed[Semiring]
    left: Layout
    right: Layout
    ncols: int
    grid: RowProduct

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The kernels of the grid; those of tiles depend on its types."""
        return self.grid.variants

    def multiply(self) -> MatrixStore:
        """Where the result may have tiles, then the tiles."""
        kernels, dtype = format_of(self.plan.key).kernels["mxm"], self.semiring.return_type
        rows: Any = self.grid.multiply().structure.primary
        count = self.plan.kind == COUNT
        layout, counts = kernels.multiply(self.left, self.right, rows, self.ncols, count)
        product = dtype.np_type.type(self.plan.product)
        values = product if counts is None else counts.astype(dtype.np_type)
        return MatrixStore(Structure(layout), dtype, values)


ANY_PAIR = compose(MONOIDS["any"], BINARY["pair"])[BOOL]


def prepare_tiles(plan: Plan, of: MatrixProduct) -> TilesProduct:
    A, B, semiring, ta, tb, _ = of
    key, kernels, true = plan.key, format_of(plan.key).kernels["mxm"], BOOL.np_type.type(True)
    left, right = A.structure.layout(key, transposed=ta), B.structure.layout(key, transposed=tb)
    a, b = (MatrixStore(Structure(kernels.grid(side)), BOOL, true) for side in (left, right))
    by_rows = MatrixProduct(a, b, ANY_PAIR, False, False, None)
    grid, ncols = prepare_rows(choose(by_rows), by_rows), right.ncols
    if A.device.is_simt:
        right = B.structure.layout(key, transposed=not tb)
    return TilesProduct(plan, semiring, left, right, ncols, grid)


Product: TypeAlias = "DotProduct | RowProduct | TilesProduct | RemovedProduct"


def counted_product(A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], monoid: Typed) -> np.generic | None:
    """The value of each product of A B, if the sum of all its entries needs only their number (spmv.total_products):
    they are equal, and summed twice by plus. Else None. Integers only, because a float sum has a fixed order."""
    z = semiring.return_type
    if z.kind not in "iu" or not (semiring.op.monoid.name == monoid.op.name == "plus" and monoid.dtype is z):
        return None
    if any(multivector.is_flat(x) or x.deferred or x.structure.hypersparse for x in (A, B)) or A.order is not B.order:
        return None
    product = kind_of(semiring, A.raw, B.raw)[1]
    return None if product is None else z.np_type.type(product)


# ---- mxm over any semiring: which way a product takes, choose, prepare, run. GraphBLAS C API 2.1, section 4.3.1.


def choose(of: MatrixProduct) -> Plan:
    """The plan of a product of plain matrices. Builds no format and compiles nothing."""
    return plan_mxm(of.A, of.B, of.semiring, of.mask, (of.transpose_a, of.transpose_b))


def prepare(plan: Plan, of: MatrixProduct) -> Product:
    """The product with the formats that it reads."""
    if plan.kernel == TILES:
        return prepare_tiles(plan, of)
    if plan.kernel == REMOVED:
        return RemovedProduct(plan, of.semiring, of.A)
    return prepare_dots(plan, of) if plan.kernel == DOT else prepare_rows(plan, of)


def _by_rows(plan: Plan) -> bool:
    """Whether a product is computed row by row."""
    return plan.kernel not in (TILES, DOT, REMOVED)


def _delayed(plan: Plan, single: str) -> Plan:
    return plan._replace(reason=f"{plan.reason}; computed when its entries are read: no row of {single} has two")


def _computed(plan: Plan, of: MatrixProduct) -> MatrixStore:
    """A product that was delayed, perhaps in another statement."""
    with nullcontext() if tracing.active is None else tracing.active.of(plan):
        return prepare(plan, of).multiply()


def _group_sums(of: MatrixProduct) -> MatrixStore:
    """S' A for a map S, which was delayed."""
    with nullcontext() if tracing.active is None else tracing.active.of(explain(of, source=False, now=True)[0]):
        return mxm(of.A, of.B, of.semiring, transpose_a=True, now=True)


def is_hypersparse(of: MatrixProduct) -> bool:
    """Whether the operands of a product are compressed first."""
    mask = of.mask
    return of.A.structure.hypersparse or of.B.structure.hypersparse or (mask is not None and mask.structure.hypersparse)


def explain(of: MatrixProduct, *, source: bool, now: bool = False) -> tuple[Plan, tuple[Variant, ...]]:
    """The plan of a product, and its kernels, if requested. now: it is not delayed."""
    A, B, semiring, transpose_a, transpose_b, _ = of
    refusal = A.refuses(of) if isinstance(A, contraction.GroupSums) else ""
    if isinstance(A, contraction.GroupSums) and not refusal:
        why = "S' A S for a map S: entries are summed by the groups of their row and column; S' A is not computed"
        return Plan("mxm", semiring.op.name, A.summed, False, "contraction", A.kind, 1, why), ()
    if not now and contraction.delays(of):
        plan, variants = explain(of, source=source, now=True)
        return _delayed(plan, "the left one, a map,"), variants
    if (by_lines := multivector.by_lines(A, B, semiring, transpose_a, transpose_b)) is not None:
        return multivector.explain(by_lines)
    if (sampled := plan_sddmm(A, B, semiring, of.mask, (transpose_a, transpose_b))) is not None:
        return sddmm.explain(sampled, of) if source else (sampled, ())
    if is_hypersparse(of):
        plan, variants = explain(hypersparse.compressed_matrices(of)[0], source=source, now=True)
        return plan._replace(semiring=semiring.op.name), variants
    if semiring.dtype._is_udt and udf.computes(semiring):
        return plan_sorted("mxm", semiring, A.structure.primary.key), ()
    plan = choose(of)
    if not now and _by_rows(plan) and delays(of):
        plan = _delayed(plan, "the right operand")
    if refusal:
        plan = plan._replace(reason=f"{plan.reason}; not a contraction: {refusal}")
    return plan, prepare(plan, of).variants if source else ()


def mxm(
    A: MatrixStore,
    B: MatrixStore,
    semiring: Typed[Semiring],
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    mask: MatrixMask | None = None,
    now: bool = False,
) -> MatrixStore:
    """C<mask> = A (+).(x) B, of the transposes if requested. now: the entries are read at once, so a product with a map
    is not delayed."""
    M, how = (None, None) if mask is None else mask, (semiring, transpose_a, transpose_b, tuning.version())
    last = A.prepared.get("mxm")
    if last is not None and last[0]() is B and last[1]() is M[0] and last[2] == M[1] and last[3] == how:
        A.structure.other_reads += 1
        B.structure.other_reads += 1
        product: Product = last[4]
        return product.multiply()
    of = MatrixProduct(A, B, semiring, transpose_a, transpose_b, mask)
    if isinstance(A, contraction.GroupSums) and not A.refuses(of):
        return A.contracted(semiring)
    if not now and contraction.delays(of):
        return contraction.delayed(of, functools.partial(_group_sums, of))
    if (by_lines := multivector.by_lines(A, B, semiring, transpose_a, transpose_b)) is not None:
        return multivector.mxm(by_lines, mask)
    if (sampled := plan_sddmm(A, B, semiring, mask, (transpose_a, transpose_b))) is not None:
        with nullcontext() if tracing.active is None else tracing.active.of(sampled):
            return sddmm.mxm(of)
    if is_hypersparse(of):
        (a, b, f, ta, tb, m), rows, cols = hypersparse.compressed_matrices(of)
        return hypersparse.widened(
            mxm(a, b, f, transpose_a=ta, transpose_b=tb, mask=m, now=True), rows, cols, *of.shape
        )
    if semiring.dtype._is_udt and udf.computes(semiring):
        return sorted_keys.mxm(of)
    plan = choose(of)
    if not now and _by_rows(plan) and delays(of):
        return LazyMapProduct(of, functools.partial(_computed, _delayed(plan, "the right operand"), of))
    A.structure.other_reads += 1
    B.structure.other_reads += 1
    product = prepare(plan, of)
    if plan.kernel != REMOVED and A.structure.nvals + B.structure.nvals <= tuning.count("cached.mxm_entries"):
        no_mask: Callable[[], Structure | None] = lambda: None
        mask_of = no_mask if M[0] is None else weakref.ref(M[0])
        A.prepared["mxm"] = weakref.ref(B), mask_of, M[1], how, product
    return product.multiply()
