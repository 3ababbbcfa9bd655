"""Products with a map, reduced by row as they are computed: sum by key, then choose a key or combine the sums.

A map L has at most one entry per row: a label, a community, a part. C = A (+).(x) L sums the entries of each row of A
by the key of their column. The functions of this module reduce each row of C to one value and never store C: the
argmax of the row, its largest sum, the number of its keys. Rows are binned by degree on a GPU; each group of lanes
keeps the sums of its row in registers or in a hash table (formats/csr/map_products.cu). On the CPU each thread has one
table.

Sums of integers are exact in any order, modulo 2^64 like all sums of this library, so every device gives the same bits.
Sums of floats by key are added in the order of the entries, on a GPU in groups of 32: one order per device. Ties go to
the smaller key.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from semirings import Monoid, Operator, Semiring, Typed
from semirings.cached import cached_property
from semirings.catalog import MONOIDS
from semirings.dtypes import BOOL, INT32, INT64, UINT32, DataType, lookup_dtype
from semirings.expressions import Expression

from .. import tuning
from ..device import Device, Kernel, dummy
from ..formats.contract import compute_once
from ..formats.csr.layout import index_type
from ..formats.schedule import longest_unit
from ..kernels.variant import Function, Variant, product_of_entries, sum_of, value
from ..plan.product import VALUES, kind_of
from ..store import MatrixStore, PlainValues, Raw, RowLayout, VectorStore, pack
from ..typing import Array
from .operands import PreparedKernel, entry_values, unit_bounds
from .variants import ATOMICS, PLAIN, Constants, Types, cast_function, cell_of, constants, entry_function, initial_sum


class Keys(NamedTuple):
    """A map from the columns of A to keys: the matrix with the entry (j, key[j]) for each j with a key.

    key: INT32, one per column of A; negative: no entry. size: keys are below it, at most 2^31 - 1. dtype, values: of
    the entries, one per column, or one for all.
    """

    key: Array
    size: int
    dtype: DataType = BOOL
    values: PlainValues = np.True_


class Score(NamedTuple):
    """What is compared instead of the sums: `expr` of s (the sum), x (of the row) and y (of the key), all cast to
    `dtype`.

    expr: an expression in Python that is also C++: + - *, comparisons, where(condition, a, b), least(a, b),
    greatest(a, b). It is evaluated as written, without fused multiply-add, so CPU and GPU give the same bits. dtype:
    INT64 or FP64. row, key: arrays of dtype with one value per row of A, and per key.
    Louvain: Score("s - x * y", FP64, share * k, sigma).
    """

    expr: str
    dtype: DataType
    row: Array
    key: Array


class Applied(NamedTuple):
    """An operator that is applied to the sums before they are compared, or (keep) a test that they have to pass: as
    `apply` and `select` of the product. bound: a key of LET in variants.py; scalar: the bound operand or thunk."""

    op: Typed[Operator]
    bound: str
    scalar: np.generic | int | None
    keep: bool

    def function(self, z: DataType) -> Function:
        return entry_function(self.op, z, self.operand(z), self.bound)

    def operand(self, z: DataType) -> DataType:
        """The type of the scalar."""
        return z if self.bound == "x" else self.op.compute_type

    def result(self, z: DataType) -> DataType:
        return z if self.keep else self.function(z).result


class Choice(NamedTuple):
    """The chosen key of each row (INT32; -1: no entry of the row has a key that may be chosen), its score (or sum,
    without Score; undefined where there is no key), and the sum of the row's own key (0 if it has no entry; None if no
    own keys were given)."""

    key: Array
    score: Array
    own: Array | None


# Kinds of selection: map_products.cu.
LARGEST, SMALLEST, FIRST, LAST, FOLD = range(5)
SUM = "s"  # the score without a Score


class Selection(NamedTuple):
    """What is selected from the sums of a row: the largest or smallest score, that of the first or last key, or (FOLD)
    the monoid's sum of all; without a monoid their number."""

    kind: int
    monoid: Typed[Monoid] | None = None


def refusal(semiring: Typed[Semiring], selection: Selection, a: Raw, b: Raw) -> str:
    """Why a product with a map cannot be reduced as it is computed; "" if it can. a, b: the values of both, np.generic
    if iso."""
    z, monoid, fold = semiring.return_type, semiring.op.monoid, selection.monoid
    if semiring.dtype._is_udt or z.kind not in "biuf":
        return f"tables hold no sums of type {z}"
    if kind_of(semiring, a, b)[0] == VALUES and not _any_order(monoid, float_too=True):
        return f"sums by {monoid.name} depend on the order of the entries"
    if selection.kind == FOLD and fold is not None:
        real = fold.return_type.kind == "f"
        if fold.return_type.kind not in "biuf" or not _any_order(fold.op, float_too=not real):
            return f"the result of {fold!r} depends on the order of the keys"
    return ""


def _any_order(monoid: Monoid, *, float_too: bool) -> bool:
    """Whether sums of integers by it do not depend on the order; of floats only if they are exact."""
    if monoid.name == "any" or isinstance(monoid.binaryop.expr, Expression):
        return False
    return float_too or monoid.is_exact_in_any_order


class Operands(NamedTuple):
    """A product with a map, and how it is reduced. The fields are arguments of `choose_key`."""

    A: MatrixStore
    keys: Keys
    semiring: Typed[Semiring]
    selection: Selection
    transpose: bool = False
    score: Score | None = None
    own: Array | None = None
    active: Array | None = None
    applied: Applied | None = None
    position: bool = False  # the result is the key, INT64; scores are not written

    @property
    def dtype(self) -> DataType:
        """The type of the sums, after an operator was applied."""
        z = self.semiring.return_type
        return z if self.applied is None else self.applied.result(z)

    @property
    def score_type(self) -> DataType:
        if self.score is not None:
            return self.score.dtype
        kind, monoid = self.selection
        if kind != FOLD:
            return self.dtype
        return INT64 if monoid is None else monoid.return_type


# ---- Kernel variants.


@functools.cache
def _variant(
    kernel: str,
    semiring: Typed[Semiring],
    types: Types,
    expr: str,
    fold: Typed[Monoid] | None,
    applied: Applied | None,
    flags: Constants,
) -> Variant:
    named, count = dict(types), dict(flags)["COUNT"]
    z, s, monoid = semiring.return_type, named["S"], semiring.op.monoid
    op, t = (PLAIN, BOOL) if count else (semiring.op.binaryop, semiring.op.operand_type(semiring.dtype))
    cell = UINT32 if count else cell_of(z)
    functions, values, _ = sum_of(monoid, z)
    counted = MONOIDS["plus"].binaryop.expr if fold is None else fold.op.binaryop.expr
    functions = (
        *functions,
        *(cast_function(*c) for c in (("take", cell, z), ("back", z, cell))),
        product_of_entries(op, t, named["A"], named["B"])._replace(result=z),
        Function("score", s, (("z", z), ("x", s), ("y", s)), (("s", s, "z"),), expr),
        Function("fold", s, (("x", s), ("y", s)), (), counted),
    )
    x = s
    if applied is not None:
        f, x = applied.function(z), applied.operand(z)
        functions = (*functions, f, cast_function("to_score", z if applied.keep else f.result, s))
    atomic = ATOMICS.get(monoid.name, 0) if z is cell and z.kind in "iu" else 0
    flags += constants(ATOMIC=atomic, OWNED=z.kind == "f" and not count)
    values = (*values, value("BEGIN", z, initial_sum(monoid, z)))
    types = (*types, ("Z", z), ("C", cell), ("X", x))
    name = f"{semiring!r} {expr if fold is None else repr(fold)}"
    return Variant(f"formats/csr/{kernel}", types, flags, values, functions, name)


@dataclass(frozen=True, eq=False)
class MapProduct:
    """A prepared product: the rows that it reads, and the arguments of its kernels."""

    of: Operands
    rows: RowLayout
    kind: int
    product: np.generic  # of each entry, unless the kind is VALUES
    matrix: tuple[Any, ...]  # A's structure and values
    keys: tuple[Any, ...]

    @property
    def counts(self) -> bool:
        return self.kind != VALUES

    @cached_property
    def by_rows(self) -> Kernel:
        """The kernel of the CPU."""
        return self.rows.device.kernel(self.variant("map_rows", LANES=1))

    @property
    def _common(self) -> bool:
        """Whether the most frequent key of each row is chosen."""
        of = self.of
        plain = of.score is None and of.own is None and of.applied is None and of.selection.kind == LARGEST
        return plain and self.counts and of.semiring.op.monoid.name == "plus" and self.product == 1

    @property
    def slot_bytes(self) -> int:
        """Bytes of a key and its sum in a table."""
        return 4 + (UINT32 if self.counts else cell_of(self.of.semiring.return_type)).nbytes

    @property
    def owned(self) -> bool:
        """Whether each key is summed by one warp, in a fixed order."""
        return not self.counts and self.of.semiring.return_type.kind == "f"

    def variant(self, kernel: str, **named: int) -> Variant:
        of, rows = self.of, self.rows
        a, b = (BOOL, BOOL) if self.counts else (of.A.dtype, of.keys.dtype)
        indices = ("PTR", lookup_dtype(rows.ptr.dtype)), ("COL", lookup_dtype(index_type(rows.ncols)))
        flags = constants(A_PACKED=rows.format.packed, COUNT=self.counts, SELECT=of.selection.kind, **named)
        flags += constants(SCORES=not of.position)
        flags += constants(OWN=of.own is not None, ACTIVE=of.active is not None, SCORED=of.score is not None)
        if not rows.device.is_simt:
            direct = tuning.count("map.direct") if of.keys.size <= rows.ncols else 0
            flags += constants(DIRECT=direct, COMMON=self._common)
        applied = None if of.applied is None else of.applied._replace(scalar=None)
        flags += constants(APPLIED=0 if applied is None else 1 + applied.keep)
        expr = "1" if of.selection == (FOLD, None) else SUM if of.score is None else of.score.expr
        types = (*indices, ("A", a), ("B", b), ("S", of.score_type), ("K", INT64 if of.position else INT32))
        return _variant(kernel, of.semiring, types, expr, of.selection.monoid, applied, flags)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The kernels for the rows there are."""
        if not self.rows.device.is_simt:
            return (self.variant("map_rows", LANES=1),)
        bins = bins_of(self)
        found = [self.variant(kernel, **named) for kernel, named, _, _ in bins.launches]
        return tuple(found if bins.hubs is None else [*found, *self.hub_variants(bins.hubs)])

    def hub_variants(self, hubs: HubTables) -> tuple[Variant, Variant, Variant]:
        shared = 0 if self.owned else 2 * hubs.part * self.slot_bytes
        return (
            self.variant("map_parts", LANES=512, THREADS=512, PART=hubs.part, SHARED_BYTES=shared),
            self.variant("map_slots", LANES=256, THREADS=256, PART=tuning.count("map.slots")),
            self.variant("map_hubs", LANES=32),
        )


def prepare(of: Operands) -> MapProduct:
    """The rows and values that the kernels read. Builds the transpose if it is read."""
    A, keys, semiring = of.A, of.keys, of.semiring
    device, rows = A.device, A.structure.rows(transposed=of.transpose)
    kind, product = kind_of(semiring, A.raw, keys.values)
    z, true = semiring.return_type, np.True_
    valued = kind == VALUES
    a = entry_values(device, A.dtype, A.values_for(rows.key, of.transpose)) if valued else None
    b = entry_values(device, keys.dtype, keys.values) if valued else None
    one = entry_values(device, BOOL, true)
    matrix = rows.ptr, rows.col if rows.nvals else _none(device, rows.col), rows.width, *(one if a is None else a)
    key = keys.key if len(keys.key) else dummy(device, "int32")
    return MapProduct(of, rows, kind, z.np_type.type(0 if product is None else product), matrix, (key, *(b or one)))


def _none(device: Device, array: Array) -> Array:
    return dummy(device, array.dtype.char)


# ---- Rows binned by degree.

# Rows of up to so many entries have a thread each, which holds them in registers (map_short).
THREADS = 8, 16, 32
WARP = 32  # entries of the rows of map_rows
# Rows of up to so many entries have a table in shared memory, with two slots for each: lanes of a row, threads of a
# block (map_tables).
TABLES = (64, 32, 128), (512, 32, 128), (2048, 256, 256), (4096, 512, 512), (8192, 512, 512)
Launch: TypeAlias = "tuple[str, dict[str, int], Array | None, int]"  # kernel, constants, rows (None: all), their number


class Wave(NamedTuple):
    """Hubs whose tables are in memory together: their parts, chunks of slots, and slots."""

    first_part: int
    parts: int
    first_chunk: int
    chunks: int
    first_slot: int
    slots: int


@dataclass(frozen=True, eq=False)
class HubTables:
    """Rows with tables in global memory. part: entries of a part. hub, chunk_hub: of each part, and of each chunk of
    slots; first, chunk_first, base: the first part, chunk and slot of each hub."""

    rows: Array
    part: int
    hub: Array
    first: Array
    chunk_hub: Array
    chunk_first: Array
    base: Array
    waves: list[Wave]


@dataclass(frozen=True, eq=False)
class Bins:
    """The schedule of the rows of a layout."""

    launches: list[Launch]
    hubs: HubTables | None


def bins_of(t: MapProduct) -> Bins:
    """The bins of a product's rows, cached with the layout: they depend on the bytes of a slot, and hubs on the number
    of keys and on whether keys are owned."""
    rows, keys = t.rows, t.of.keys.size if longest_unit(t.rows) > _longest_row(t) else 0
    name = "map bins", t.counts, t.slot_bytes, keys, t.owned, tuning.version()
    return compute_once(rows.cache, name, lambda: _bins(t))


def _longest_row(t: MapProduct) -> int:
    """Entries of the longest row with a table in shared memory."""
    most, room = tuning.count("map.row_entries"), t.rows.device.block_shared_bytes
    return max([entries for entries, _, _ in TABLES if entries <= most and 2 * entries * t.slot_bytes <= room] or [32])


def _bins(t: MapProduct) -> Bins:
    rows, last = t.rows, _longest_row(t)
    xp, length = rows.device.xp, rows.ptr[1:] - rows.ptr[:-1]
    launches: list[Launch] = []
    most = tuning.count("map.thread_entries") // (1 if t.counts else 2)
    specs = [(entries, "map_short", {"LANES": 1, "MOST": entries}) for entries in THREADS if entries <= most]
    short = len(specs)
    specs += [(WARP, "map_rows", {"LANES": WARP})] if most < WARP else []
    for entries, lanes, threads in TABLES:
        slots = 2 * entries
        shared = threads // lanes * slots * t.slot_bytes
        flags = {"LANES": lanes, "THREADS": threads, "SLOTS": slots, "SHARED_BYTES": shared}
        specs += [(entries, "map_tables", flags)] if entries <= last else []
    # The rows sorted by bin (0: empty rows), with one synchronization.
    limits = rows.device.asarray(np.array([0, *(high for high, _, _ in specs)], length.dtype))
    bin_of = xp.searchsorted(limits, length).astype(np.int64)
    order = xp.sort((bin_of << 32) | xp.arange(rows.nrows)).astype(np.uint32).view(np.int32)
    counts = rows.device.to_host(xp.bincount(bin_of, minlength=len(limits) + 1)).tolist()
    # A bin with most of the rows is read without a list, and takes the shorter rows too.
    all_of = next((k for k in range(short) if counts[k + 1] > tuning.value("map.most_rows") * rows.nrows), -1)
    begin = counts[0]
    for k, (count, (_, kernel, flags)) in enumerate(zip(counts[1:], specs, strict=False)):
        if k == all_of:
            launches.append((kernel, flags, None, rows.nrows))
        elif count and k > all_of:
            some = None if count == rows.nrows else order[begin : begin + count]
            launches.append((kernel, flags, some, count))
        begin += count
    return Bins(launches, _hub_tables(t, length, last) if longest_unit(rows) > last else None)


def _hub_tables(t: MapProduct, length: Array, last: int) -> HubTables:
    """Computed on the host: there are few hubs."""
    device, xp = t.rows.device, t.rows.device.xp
    rows = device.to_host(xp.flatnonzero(length > last)).astype(np.int64)
    entries = device.to_host(length[device.asarray(rows)]).astype(np.int64)
    part = min(tuning.count("map.part"), last)
    size = 2 * np.minimum(entries, max(1, t.of.keys.size))
    parts = -(-entries // part)
    if t.owned:
        parts = np.minimum(parts, tuning.count("map.shares"))
    chunks = -(-size // tuning.count("map.slots"))
    first, chunk_first, base = (np.concatenate(([0], np.cumsum(x))).astype(np.int64) for x in (parts, chunks, size))
    waves, room, begin = [], max(1, tuning.count("map.table_bytes") // t.slot_bytes), 0
    while begin < len(rows):
        end = max(begin + 1, int(np.searchsorted(base, base[begin] + room, side="right")) - 1)
        limits = (x[[begin, end]].tolist() for x in (first, chunk_first, base))
        waves.append(Wave(*(number for low, high in limits for number in (low, high - low))))
        begin = end
    number = np.arange(len(rows), dtype=np.int32)
    hub, chunk_hub = np.repeat(number, parts), np.repeat(number, chunks)
    at, a, b, c, d, e = (device.asarray(x) for x in (rows, hub, first, chunk_hub, chunk_first, base))
    return HubTables(at, part, a, b, c, d, e, waves)


# ---- Run.


def foresee(t: MapProduct) -> None:
    """Raise OutOfMemory unless the output, lists of rows and tables fit: 4 bytes a row, and the scores; on a GPU 4
    bytes a row, and the tables of the hubs, at most map.table_bytes or those of one row; on the CPU a table for each
    thread."""
    rows = t.rows
    device, needed = rows.device, rows.nrows * (8 if t.of.position else 4 + t.of.score_type.nbytes)
    longest = longest_unit(rows)
    if not device.is_simt:
        needed += device.threads * longest * (20 + t.of.semiring.return_type.nbytes)
    else:
        needed += 4 * rows.nrows
        if longest > _longest_row(t):
            hubs = t.slot_bytes * 2 * min(longest, max(1, t.of.keys.size))
            needed += max(hubs, tuning.count("map.table_bytes"))
    device.foresee(f"reduced product with a map of {rows.nrows} rows", needed)


def run(t: MapProduct) -> Choice:
    """The choice of each row."""
    rows, of = t.rows, t.of
    device, xp, n = rows.device, rows.device.xp, rows.nrows
    foresee(t)
    key = device.full(max(1, n), np.int64(-1) if of.position else np.int32(-1))
    score = dummy(device, of.score_type.np_type.char) if of.position else xp.empty(max(1, n), of.score_type.np_type)
    own_sum = None if of.own is None else xp.zeros(max(1, n), of.semiring.return_type.np_type)
    for kernel in kernels_of(t, key, score, own_sum):
        kernel.run()
    return Choice(key[:n], score[:n], None if own_sum is None else own_sum[:n])


def kernels_of(
    t: MapProduct, key: Array, score: Array | None = None, own_sum: Array | None = None
) -> list[PreparedKernel]:
    """The kernels that write the choice of each row, with their tables; they can run several times. Rows without
    entries, and rows that are not active, may not be written: key has -1 there before."""
    rows, of = t.rows, t.of
    device = rows.device
    x = y = dummy(device, of.score_type.np_type.char)
    if of.score is not None:
        x, y = of.score.row, of.score.key
    elif of.applied is not None:
        kind = of.applied.operand(of.semiring.return_type).np_type
        x = y = device.full(1, kind.type(of.applied.scalar or 0))
    own = dummy(device, "int32") if of.own is None else of.own
    active = dummy(device, "?") if of.active is None else of.active
    score = dummy(device, of.score_type.np_type.char) if score is None else score
    own_sum = dummy(device, of.semiring.return_type.np_type.char) if own_sum is None else own_sum
    to = x, y, own, active, key, score, own_sum
    operands = *t.matrix, *t.keys, t.product, *to
    everywhere = dummy(device, "int32"), 0
    if not device.is_simt:
        bounds = unit_bounds(rows, device)
        return [PreparedKernel(device, t.variant("map_rows", LANES=1), rows.nrows, (*everywhere, *operands), bounds)]
    if not rows.nvals:
        return []
    bins, found = bins_of(t), list[PreparedKernel]()
    for name, flags, some, count in bins.launches:
        listed = everywhere if some is None else (some, 1)
        found.append(PreparedKernel(device, t.variant(name, **flags), count, (*listed, *operands)))
    return found if bins.hubs is None else [*found, *_hub_kernels(t, bins.hubs, active, to)]


def _hub_kernels(t: MapProduct, hubs: HubTables, active: Array, to: tuple[Array, ...]) -> list[PreparedKernel]:
    device, xp = t.rows.device, t.rows.device.xp
    parts, slots, choose = t.hub_variants(hubs)
    most, chunks = max(wave.slots for wave in hubs.waves), len(hubs.chunk_hub)
    z = t.of.semiring.return_type
    cell = (UINT32 if t.counts else cell_of(z)).np_type
    begin = 0 if t.counts else initial_sum(t.of.semiring.op.monoid, z)
    # map_slots leaves the tables as they are here
    slot_keys, cells = device.full(most, np.uint32(0xFFFFFFFF)), device.full(most, cell.type(begin))
    found_key, found = xp.empty(chunks, np.int32), xp.empty(chunks, t.of.score_type.np_type)
    kernels: list[PreparedKernel] = []
    for wave in hubs.waves:
        where = hubs.hub, hubs.rows, hubs.first, hubs.base
        args = (wave.first_part, wave.first_slot, *where, *t.matrix, *t.keys, active, slot_keys, cells)
        kernels.append(PreparedKernel(device, parts, wave.parts, args))
        where = hubs.chunk_hub, hubs.rows, hubs.chunk_first, hubs.base
        args = (wave.first_chunk, wave.first_slot, *where, slot_keys, cells, t.product, *to, found_key, found)
        kernels.append(PreparedKernel(device, slots, wave.chunks, args))
    args = hubs.rows, hubs.chunk_first, found_key, found, *to
    return [*kernels, PreparedKernel(device, choose, len(hubs.rows), args)]


def run_listed(t: MapProduct, listed: Array, to: Choice) -> Choice:
    """On the CPU, the choices of the rows `listed` (INT32) alone, of a product with a score and own keys; written to
    the places of these rows in `to`."""
    rows, of, device = t.rows, t.of, t.rows.device
    assert of.score is not None and of.own is not None and to.own is not None
    arrays = of.score.row, of.score.key, of.own, dummy(device, "?"), to.key, to.score, to.own
    entries = len(listed) * (rows.nvals // max(1, rows.nrows))
    bounds = device.ranges(len(listed), tuning.count("parallel.entries"), work=entries)
    t.by_rows(len(listed), listed, 1, *t.matrix, *t.keys, t.product, *arrays, bounds=bounds)
    return to


def choose_key(
    A: MatrixStore,
    keys: Keys,
    semiring: Typed[Semiring],
    *,
    largest: bool = True,
    transpose: bool = False,
    score: Score | None = None,
    own: Array | None = None,
    active: Array | None = None,
) -> Choice:
    """For each row i of A (of its transpose): the key whose sum (score) is largest, or smallest; ties go to the smaller
    key. NaN is never chosen.

    semiring: its monoid sums the products of each key. Of integers, BOOL, FP32 or FP64; `refusal` says which. own:
    INT32, one key per row (negative: none) that is not chosen; its sum is returned. active: BOOL per row; other rows
    get key -1 and own 0. Raises OutOfMemory before it allocates.
    """
    selection = Selection(LARGEST if largest else SMALLEST)
    return run(prepare(Operands(A, keys, semiring, selection, transpose, score, own, active)))


def reduce_keys(
    A: MatrixStore, keys: Keys, semiring: Typed[Semiring], monoid: Typed[Monoid] | None, *, transpose: bool = False
) -> VectorStore:
    """The monoid's reduction of the sums of each row's keys; without a monoid their number (INT64)."""
    return selected(prepare(Operands(A, keys, semiring, Selection(FOLD, monoid), transpose)))


def selected(t: MapProduct) -> VectorStore:
    """The selection of each row as a vector: its score, or its key."""
    key, score, _ = run(t)
    dtype = INT64 if t.of.position else t.of.score_type
    device, there = t.rows.device, key >= 0
    values = key if t.of.position else pack(device, score & there) if dtype is BOOL else score
    bits = pack(device, there)
    return VectorStore(device, t.rows.nrows, dtype, bits, values if len(values) else dtype.np_type.type(0))
