"""Multivectors (tall-skinny matrices as bitmaps): SpMM, element-wise operations, reductions, merge into the output.

Element-wise operations and the merge run as on one vector of all positions. A line is one row of the tall side. SpMM
computes T = A (+).(x) X by lines; C = X A is computed as C' = A' X', whose bitmap has the same lines.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from semirings import BinaryOp, Monoid, Operator, Semiring, Typed
from semirings.catalog import SELECT
from semirings.dtypes import BOOL, DataType, cast_scalar
from semirings.expressions import rename

from .. import tuning
from ..config import config
from ..device import Device, address, tracing
from ..formats import EVERYWHERE, Layout, Structure, format_of
from ..formats.bitmap.layout import Lines, lines_of
from ..formats.schedule import groups_of, has_even_units
from ..kernels.variant import Variant
from ..plan.direction import multivector_direction
from ..plan.operation import is_flat as is_flat
from ..plan.product import (
    COUNT,
    LINES,
    VALUES,
    WORDS,
    Plan,
    is_tall_skinny,
    key_of_lines,
    kind_of,
    power_of_two,
    reads_matrix,
)
from ..store import (
    FlatStore,
    MatrixStore,
    PlainValues,
    VectorStore,
    bits_of,
    dense_values,
    flat_of,
    pack,
    refusal,
    words,
)
from ..typing import Array
from . import compressed, ewise_vector, udf, vector_entries
from .operands import (
    ZERO,
    Mask,
    MatrixMask,
    Pair,
    PreparedKernel,
    Values,
    allowed,
    dummy,
    entry_values,
    nothing,
    stored,
    unit_bounds,
    word_bounds,
)
from .variants import PARTS, WHOLE, Algebra, FullLines, join_lines_variant, lines_variant, reduce_lines_variant

# ---- Multivectors (tall-skinny matrices as bitmaps, store.py): element-wise operations and the merge into the output.
#
# Both run as on one vector of all positions.


def _unshared(t: VectorStore, *read: VectorStore) -> VectorStore:
    """A vector in arrays that it shares with none of the operands."""
    if any(t is u or t.bits is u.bits for u in read):
        t = dataclasses.replace(t, bits=t.present.copy())
    if not t.iso and any(t.values is u.values for u in read):
        t = dataclasses.replace(t, values=t.values.copy())
    return t


def _with_shape(A: MatrixStore, t: VectorStore) -> FlatStore:
    return FlatStore(t, A.nrows, A.ncols)


def computes(op: Typed[Operator] | Typed[Monoid]) -> bool:
    """Whether an operator runs on bitmaps, whose values can represent its types."""
    return not op.dtype._is_udt and not udf.computes(op)


@functools.cache
def at_places(op: Typed[Operator], lines: Lines) -> Typed[Operator]:
    """The operator with row and column computed from the position `ix`, which is on line `ix / stride`."""
    if not op.op.positional:
        return op
    line = f"floor_quotient(ix, 0 * ix + {lines.stride})"  # operands of one type
    position = f"(ix - {lines.stride} * {line})"
    row, column = (line, position) if lines.tall else (position, line)
    text = rename(op.op.expr, {"ix": row, "jx": column, "iy": row, "jy": column})
    changes: dict[str, Any] = {"exchanged": None} if isinstance(op.op, BinaryOp) else {}
    return dataclasses.replace(op.op, expr=text, **changes)[op.dtype]


def ewise(
    A: MatrixStore, B: MatrixStore, op: Typed[Operator], *, union: bool, defaults: Pair | None = None
) -> MatrixStore:
    """The entries of both, or of either (with `defaults` for missing ones), combined by an operator."""
    u, v, op = flat_of(A), flat_of(B), at_places(op, lines_of(A.nrows, A.ncols))
    t = ewise_vector.ewise(u, v, op, union=union) if defaults is None else ewise_vector.ewise_union(u, v, op, *defaults)
    return _with_shape(A, _unshared(t, u, v))


def each(run: Callable[..., VectorStore], A: MatrixStore, op: Typed[Operator], *args: Any, **how: Any) -> MatrixStore:
    """Run an operation of vectors on the entries of one matrix."""
    u = flat_of(A)
    return _with_shape(A, _unshared(run(u, at_places(op, lines_of(A.nrows, A.ncols)), *args, **how), u))


def cast(A: MatrixStore, dtype: DataType) -> MatrixStore:
    """A with values of another type."""
    u = flat_of(A)
    return _with_shape(A, _unshared(ewise_vector.cast(u, dtype), u))


def truthy(A: FlatStore) -> Structure:
    """Where A has a nonzero entry."""
    u = A.flat
    if u.iso:
        return A.pattern() if u.values else _nothing(A, BOOL).pattern()
    if u.dtype is BOOL:
        return _with_shape(A, VectorStore(A.device, u.size, BOOL, u.values, BOOL.np_type.type(True))).pattern()
    return _with_shape(A, ewise_vector.select(u, SELECT["valuene"][u.dtype], u.dtype.np_type.type(0))).pattern()


def _nothing(A: MatrixStore, dtype: DataType) -> FlatStore:
    size = lines_of(A.nrows, A.ncols).places
    return _with_shape(A, VectorStore(A.device, size, dtype, None, dtype.np_type.type(0), 0))


def filled(C: MatrixStore, value: np.generic, dtype: DataType, mask: MatrixMask | None) -> FlatStore:
    """`value` wherever a mask allows it; used in a merge, and shares the bits of its mask."""
    bits = valid_bits(C) if mask is None else bits_of(mask.structure)
    if mask is not None and mask.complement:
        bits = valid_bits(C) & ~bits
    return _with_shape(
        C, VectorStore(C.device, lines_of(C.nrows, C.ncols).places, dtype, bits, dtype.np_type.type(value))
    )


def valid_bits(C: MatrixStore) -> Array:
    """The bits of all positions within the matrix."""
    xp, lines = C.device.xp, lines_of(C.nrows, C.ncols)
    line = np.zeros(max(lines.stride, 64), bool)
    for first in range(0, len(line), lines.stride):
        line[first : first + lines.width] = True
    words = C.device.asarray(np.packbits(line, bitorder="little").view(np.uint64))
    bits = xp.tile(words, -(-lines.words // len(words)))[: lines.words]
    spare = lines.words * 64 - lines.places  # beyond the last line
    if spare:
        bits[-1:] &= np.uint64((1 << (64 - spare)) - 1)
    return bits


def merge(
    C: MatrixStore, T: MatrixStore, mask: MatrixMask | None, accum: Typed[Operator] | None, replace: bool, inside: bool
) -> FlatStore:
    """The content of C after C<mask, accum, replace> = T, of C's type: written into C itself if `inside` and C's arrays
    are not shared."""
    t = flat_of(T)
    same = T is C
    C = C.copy() if isinstance(C, FlatStore) and (same or not inside) else _writable(C)
    m = None if mask is None else Mask(bits_of(mask.structure), mask.complement)
    if m is not None and m.words is C.flat.bits and m.complement and not replace:
        m = Mask(m.bits.copy(), True)  # a copy, because it changes while it is read
    w = C.flat
    if accum is None and t.iso and not w.iso and w.dtype is not BOOL:
        one = cast_scalar(t.values, w.dtype)
        bounds = word_bounds(w, t)
        kernel = w.device.kernel(fill_variant(w.dtype))
        kernel(words(w.size), t.present, one, *allowed(w.device, m), int(replace), w.present, w.values, bounds=bounds)
        w.changed(grown=False)
    else:
        ewise_vector.merge(w, t, m, accum, replace)
    return C


@functools.cache
def fill_variant(w: DataType) -> Variant:
    """The kernel for w<mask, replace> = one value at the places of t."""
    return Variant("formats/bitmap/fill", (("W", w),), (("LANES", 1),))


def transpose(A: MatrixStore) -> FlatStore:
    """The transpose of a bitmap that is not square: a square one has different lines."""
    flat = flat_of(A)
    return FlatStore(_unshared(flat, flat), A.ncols, A.nrows)


def _writable(C: MatrixStore) -> FlatStore:
    """C itself if its arrays are not shared, else a copy: may be written."""
    if type(C) is not FlatStore:
        return _with_shape(C, flat_of(C).copy())
    return C if C.writable else C.copy()


def written(C: MatrixStore, at: np.ndarray, values: list[np.generic | None]) -> FlatStore:
    """C with single entries written, of its own type, or deleted (None). at: their rows and columns."""
    places, to = lines_of(C.nrows, C.ncols).place(at[:, 0], at[:, 1]).tolist(), _writable(C)
    vector_entries.put(to.flat, dict(zip(places, values, strict=True)))
    return to


def assigned(
    C: MatrixStore,
    I: Array | None,
    J: Array | None,
    u: VectorStore | MatrixStore,
    mask: MatrixMask | None,
    accum: Typed[Operator] | None,
    replace: bool,
    part: tuple[Array | None, Array | None] | None = None,
) -> FlatStore:
    """The content of C after C<mask, accum, replace>[I, J] = u. If an index repeats, the last one counts.

    I, J: arrays, None: all. u: a matrix of their sizes, or values for it, row by row. part: the rows and columns that
    the mask covers; nothing changes elsewhere. None: all.
    """
    xp, lines = C.device.xp, lines_of(C.nrows, C.ncols)
    (rows, r), (cols, c) = (_last_of_each(xp, index, size) for index, size in ((I, C.nrows), (J, C.ncols)))
    if isinstance(u, MatrixStore):
        u = compressed.extract(flat_of(u), lines_of(u.nrows, u.ncols).place(r[:, None], c).ravel())
    elif u.size != len(rows) * len(cols):
        u = compressed.extract(u, (r[:, None] * (C.ncols if J is None else len(J)) + c).ravel())
    m = None
    if mask is not None:
        m = Mask(bits_of(mask.structure), mask.complement) if part is None else _widened(C, part, mask)
    to = _writable(C)
    vector_entries.assign(to.flat, lines.place(rows[:, None], cols).ravel(), u, m, accum, replace)
    return to


def _widened(C: MatrixStore, part: tuple[Array | None, Array | None], mask: MatrixMask) -> Mask:
    """Extend the mask of a part of C to all of C; it allows every position outside."""
    xp, lines = C.device.xp, lines_of(C.nrows, C.ncols)
    (rows, r), (cols, c) = (_last_of_each(xp, *of) for of in zip(part, (C.nrows, C.ncols), strict=True))
    inside = xp.full((mask.structure.nrows, mask.structure.ncols), mask.complement)
    inside[mask.structure.coo()] = not mask.complement
    allowed = xp.ones(lines.places, bool)
    allowed[lines.place(rows[:, None], cols)] = inside[r[:, None], c]
    return Mask(pack(C.device, allowed), False)


def _last_of_each(xp: ModuleType, index: Array | None, size: int) -> tuple[Array, Array]:
    """The distinct indices, and the last occurrence of each in the list."""
    if index is None:
        index = xp.arange(size)
        return index, index
    each, back = xp.unique(index[::-1], return_index=True)
    if len(each) == len(index):
        return index, xp.arange(len(index))
    return each, len(index) - 1 - back


# ---- Row and column reductions of a multivector (a line is one row of the tall side); bitmaps as kernel arguments.

ALWAYS = 1 << 62
BitMask = tuple[Array, bool]  # the bits of a mask, and whether they are complemented
Arrays = tuple[Array, Array]  # bits and values of a bitmap


class Condition(NamedTuple):
    """A number on the device, and the limits within which it has to be for a kernel to run."""

    number: Array
    least: int
    most: int


def always(device: Device) -> Condition:
    """The condition of a kernel that always runs."""
    return Condition(dummy(device, "int64"), 0, ALWAYS)


def joined(
    x: VectorStore,
    monoid: Typed[Monoid],
    lines: Lines,
    rows: tuple[Array, Array, Array, int],
    n: int,
    mask: BitMask | None,
    to: Arrays,
    condition: Condition | None = None,
) -> PreparedKernel:
    """Reduce runs of lines of x, one run for each of n rows, to lines of a bitmap: its bits and values."""
    device = x.device
    z = monoid.op.result_type(monoid.dtype)
    variant = join_lines_variant(monoid, x.dtype, lines.stride, min(32, lines.stride) if device.is_simt else 1)
    none = dummy(device, "int64")
    per = words_of(lines) if device.is_simt else 1
    args = (
        EVERYWHERE,
        *rows,
        none,
        0,
        *entry_values(device, BOOL, BOOL.np_type.type(True)),
        *read_lines(device, x, lines, True),
        *line_mask(device, mask, lines),
        as_lines(to[0], lines),
        as_sums(to[1], z, lines),
        *(condition or always(device)),
    )
    return PreparedKernel(device, variant, n * per, args)


def words_of(lines: Lines) -> int:
    """Words of a line as kernels count them."""
    return max(1, lines.stride // 64)


def as_lines(bits: Array, lines: Lines) -> Array:
    """Bits as numbers of at most a line each."""
    return bits.view(f"u{min(64, lines.stride) // 8}")


def as_sums(sums: Array, z: DataType, lines: Lines) -> Array:
    """The values of a bitmap as an output."""
    return as_lines(sums, lines) if z is BOOL else sums


def read_lines(device: Device, x: VectorStore, lines: Lines, valued: bool) -> tuple[Any, ...]:
    """Words of a line, positions in the last word, and a bitmap with its values."""
    per = words_of(lines)
    last = (1 << (lines.width - 64 * (per - 1))) - 1
    values = stored(device, x.dtype, x.values) if valued else Values(nothing(device, BOOL), ZERO["BOOL"], 0)
    return per, np.uint64(last), as_lines(x.present, lines), *values


def line_mask(device: Device, mask: BitMask | None, lines: Lines) -> tuple[Any, ...]:
    """Bits, and whether they are complemented."""
    every, none = ~np.uint64(0), np.uint64(0)
    if mask is None:
        return as_lines(dummy(device, "uint64"), lines), 0, every
    return as_lines(mask[0], lines), 1, every if mask[1] else none


def reduce_lines(A: MatrixStore, monoid: Typed[Monoid], *, along: bool) -> VectorStore:
    """The monoid's reduction of each line (`along`), or over all lines at each position of a line: a vector."""
    return (_along if along else _over)(flat_of(A), lines_of(A.nrows, A.ncols), monoid)


def _along(x: VectorStore, lines: Lines, monoid: Typed[Monoid]) -> VectorStore:
    device, xp = x.device, x.device.xp
    z = monoid.op.result_type(monoid.dtype)
    kind = COUNT if x.iso else VALUES
    lanes = min(32, lines.stride) if device.is_simt and kind == VALUES else 1
    one = cast_scalar(x.values, z) if x.iso else ZERO[z.name]
    x_type = BOOL if x.iso else x.dtype
    values = Values(nothing(device, BOOL), ZERO["BOOL"], 0) if x.iso else stored(device, x.dtype, x.values)
    bits = xp.zeros(words(lines.number), np.uint64)
    sums = dense_values(device, lines.number, z)
    bounds = device.ranges(words(lines.number), tuning.count("parallel.entries") // 64)
    if bounds is not None:
        bounds = np.minimum(64 * bounds, lines.number)
    device.kernel(reduce_lines_variant(monoid, x_type, lines.stride, kind, lanes))(
        lines.number, words_of(lines), as_lines(x.present, lines), *values, one, bits, sums, bounds=bounds
    )
    return VectorStore(device, lines.number, z, bits, sums)


def _over(x: VectorStore, lines: Lines, monoid: Typed[Monoid]) -> VectorStore:
    device, xp = x.device, x.device.xp
    z, n, run = monoid.op.result_type(monoid.dtype), lines.number, tuning.count("multivector.run_lines")
    while True:  # only the shape determines the order of float sums
        runs = -(-n // run) or 1
        limits = xp.minimum(xp.arange(runs + 1, dtype=np.int64) * run, n)
        run_lines = lines._replace(number=runs)
        bits, sums = xp.zeros(run_lines.words, np.uint64), dense_values(device, run_lines.places, z)
        rows = limits, limits[1:], dummy(device, "int64"), 0
        joined(x, monoid, lines, rows, runs, None, (bits, sums)).run()
        x, n = VectorStore(device, run_lines.places, z, bits, sums), runs
        if runs == 1:
            return VectorStore(device, lines.width, z, bits[: words(lines.width)], sums)


# ---- SpMM: the product of a sparse matrix and a multivector, as a bitmap (formats/bitmap).


LOAD, LOADED = 16, 4  # bytes and positions that a thread of a GPU loads at once, at most


class LinesProduct(NamedTuple):
    """T = S X by lines, with S transposed if requested: X has the lines `inner`, with values of type x, an array or one
    for all; T has `lines`. flip: X is the left operand. full: X is known to have an entry at every position."""

    S: MatrixStore
    transposed: bool
    x: DataType
    values: PlainValues
    inner: Lines
    lines: Lines
    semiring: Typed[Semiring]
    flip: bool
    full: bool = False

    @property
    def reads_matrix(self) -> bool:
        """Whether its products differ by entry of S."""
        return not self.S.iso and reads_matrix(self.semiring, self.flip)

    @property
    def key(self) -> str:
        """The format that it reads."""
        per_entry = self.reads_matrix or self.semiring.op.binaryop.positional
        return key_of_lines(self.S.structure, config.prefer, per_entry=per_entry)

    @property
    def together(self) -> tuple[int, int]:
        """If X is full, its lines have no padding, and rows are read as they are stored: how many pieces of a line's
        word a thread of a GPU takes, and their positions, which it loads at once. (0, 0) if not."""
        z, lines = self.semiring.return_type, self.inner
        if not self.full or not self.S.device.is_simt or lines.width != lines.stride or walks_lines(self.key):
            return 0, 0
        if isinstance(self.values, np.generic) or BOOL in (self.x, z) or address(self.values) % LOAD:
            return 0, 0
        size = max(self.x.np_type.itemsize, z.np_type.itemsize)
        together = max(1, min(LOADED, LOAD // size, lines.stride // 4))
        rows = self.S.structure.held(self.key, transposed=self.transposed)
        even = rows is not None and has_even_units(rows, tuning.value("multivector.even_rows"))
        return 2 if even and min(64, lines.stride) >= 8 * together else 1, together

    @property
    def may_push(self) -> bool:
        """Whether there is a kernel for a push: not along virtual nodes."""
        return not format_of(self.key).has_virtual_nodes


class SpMM(NamedTuple):
    """A product by lines, the multivector as a vector, and the shape of the result."""

    product: LinesProduct
    x: VectorStore
    shape: tuple[int, int]


def by_lines(A: MatrixStore, B: MatrixStore, semiring: Typed[Semiring], ta: bool, tb: bool) -> SpMM | None:
    """The product by lines; None if it cannot run so: neither operand is a bitmap or tall-skinny, or its lines are not
    the summed dimension, or not a dimension of the result."""
    a, b = A.nrows, A.ncols
    (nrows, inner), ncols = (b, a) if ta else (a, b), B.nrows if tb else B.ncols
    if max(nrows, ncols) == min(nrows, ncols) or refusal(nrows, ncols) or semiring.dtype._is_udt:
        return None
    if udf.computes(semiring):
        return None
    flip = ncols > nrows  # the result's lines are its columns
    S, ts, X, tx = (B, not tb, A, ta) if flip else (A, ta, B, tb)
    lines = lines_of(X.nrows, X.ncols)
    if lines.number != inner or (lines.tall == tx) != flip or (X.nrows == X.ncols) or is_flat(S):
        return None
    if not is_flat(X):
        size, primary = semiring.return_type.np_type.itemsize, S.structure.primary
        # Along few entries, rows are faster: but not if they must be decoded.
        entries = lines.number if primary.compact and walks_lines(primary.key) else X.nvals
        if not is_tall_skinny(X.nrows, X.ncols, entries, X.device.kind, size):
            return None
        if S.structure.hypersparse or not is_tall_skinny(nrows, ncols, max(nrows, ncols), X.device.kind, size):
            return None
    x = flat_of(X)
    full = x.count == x.size == lines.number * lines.width
    product = LinesProduct(S, ts, x.dtype, x.values, lines, lines_of(nrows, ncols), semiring, flip, full)
    return SpMM(product, x, (nrows, ncols))


def choose(of: LinesProduct, nonempty: int | None) -> Plan:
    """The plan of a product. nonempty: rows of X that have entries, None: not counted."""
    plan, structure = plan_lines(of, push=False), of.S.structure
    if structure.device.is_simt and plan.kind != WORDS:  # sums of values depend on the order
        return plan
    how = multivector_direction(structure, plan.key, of.transposed, of.inner.number, nonempty)
    return plan_lines(of, push=True) if how.push and of.may_push else plan


def plan_lines(of: LinesProduct, *, push: bool) -> Plan:
    """A pull reads the lines of the result, a push those of X that have entries."""
    S, lines = of.S, of.lines
    kind, product = kind_of(of.semiring, *((of.values, S.raw) if of.flip else (S.raw, of.values)))
    kind = VALUES if kind == COUNT else kind
    transposed, lanes, key = of.transposed != push, 1, of.key
    primary, walks = S.structure.primary, walks_lines(key)
    if S.device.is_simt:
        length = S.nvals / max(1, S.ncols if transposed else S.nrows)
        share = power_of_two(length / tuning.value("multivector.entries_per_lane"), 1, 32)
        if kind == WORDS and walks:
            share = walked(primary).format.kernels["mxm.lines"].lanes(walked(primary))
        lanes = min(32, lines.stride) if kind != WORDS else 1 if push and not walks else share
    pieces, together = (0, 0) if kind == WORDS or push else of.together
    if pieces:
        lanes = min(64, lines.stride) // (pieces * together)
    why = "push along the non-empty lines" if push else f"{lines.width} positions per line"
    if pieces:
        why += f", all present, {together} per load"
    if key != primary.key and primary.compact:
        why = f"{why}; this statement converts {primary.key} to {key}"
    elif walks:
        why = f"{why}; rows are decoded in the kernel" if primary.compact else f"{why}; along the rows of tiles"
    how = key, transposed, "push" if push else "pull"
    plan = Plan("mxm", of.semiring.op.name, *how, kind, lanes, f"bitmap: {why}", kernel=LINES)
    return plan._replace(product=product, full=pieces > 0)


def walks_lines(key: str) -> bool:
    """Whether a product reads the rows of that format as they are stored."""
    format = format_of(key)
    return format.has_virtual_nodes or "mxm.lines" in format.kernels


def walked(layout: Any) -> Any:
    """The layout whose rows kernels walk: of a matrix with virtual nodes, the graph that has them."""
    return layout.inner if layout.format.has_virtual_nodes else layout


class PreparedLines(NamedTuple):
    """A product by lines, with the format that it reads."""

    plan: Plan
    of: LinesProduct
    layout: Any  # rows, or a layout whose rows are walked
    z: DataType  # of the sums
    a_type: DataType
    a_val: Values


def prepare(plan: Plan, of: LinesProduct) -> PreparedLines:
    """The product with the format that it reads. A trace lists kernels of conversions under the plan."""
    with nullcontext() if tracing.active is None else tracing.active.of(plan):
        return _prepared(plan, of)


def _prepared(plan: Plan, of: LinesProduct) -> PreparedLines:
    S, valued, walks = of.S, plan.kind == VALUES, walks_lines(plan.key)
    if walks:
        layout: Layout = S.structure.layout(plan.key, transposed=plan.transposed)
    else:
        layout = S.structure.rows(transposed=plan.transposed)
    # Plain rows read values of all operators alike, so that there are fewer kernels
    reads = valued and (not walks or reads_matrix(of.semiring, of.flip))
    values = S.values_for(layout.key, plan.transposed) if reads else BOOL.np_type.type(True)
    a_type, z = S.dtype if reads else BOOL, of.semiring.return_type if valued else BOOL
    return PreparedLines(plan, of, layout, z, a_type, entry_values(S.device, a_type, values))


def variant_of(product: PreparedLines, mode: int, nodes: int = 0) -> Variant:
    """nodes: NODES of formats/bitmap/walked.cuh."""
    plan, of, layout, _, a_type, a_val = product
    semiring, x = (None, BOOL) if plan.kind == WORDS else (of.semiring, of.x)
    rows = walked(layout)
    walk: tuple[tuple[str, int], ...] = ()
    if walks_lines(plan.key):
        ranked = plan.kind == VALUES and bool(a_val.stride)
        constants = rows.format.kernels["mxm.lines"].constants(ranked=ranked)
        walk, types = (*constants, ("NODES", nodes)), rows.format.view.types(rows, ranked)
    else:
        types = rows.format.view.types(rows, False)
    lanes = 32 if mode == PARTS and plan.kind == WORDS else plan.lanes
    algebra = Algebra(rows.key, types, semiring, plan.kind, a_type, x, of.flip)
    full = FullLines(of.together[0], not a_val.stride) if plan.full else None
    return lines_variant(plan.direction, algebra, of.lines.stride, lanes, mode, walk, full)


def explain(of: SpMM) -> tuple[Plan, tuple[Variant, ...]]:
    """The plan of a product, and its kernel."""
    plan = choose(of.product, of.x.count)
    product = prepare(plan, of.product)
    return plan, tuple(variant_of(product, WHOLE, nodes) for nodes in passes(product))


def mxm(of: SpMM, mask: MatrixMask | None) -> FlatStore:
    """The product, at the positions that the mask allows."""
    allowed = None if mask is None else (bits_of(mask.structure), mask.complement)
    return FlatStore(multiply(prepare(choose(of.product, of.x.count), of.product), of.x, allowed), *of.shape)


def multiply(product: PreparedLines, x: VectorStore, mask: BitMask | None) -> VectorStore:
    """The result, in new arrays."""
    plan, of, z = product.plan, product.of, product.z
    device, lines, push, valued = x.device, of.lines, plan.direction == "push", plan.kind == VALUES
    bits = (device.xp.zeros if push else device.xp.empty)(lines.words, np.uint64)
    sums = dense_values(device, lines.places, z) if valued else nothing(device, BOOL)
    for kernel in kernels_of(product, x, mask, (bits, sums), always(device)):
        kernel.run()
    if lines.places % 64 and not push:  # lines end within the last word
        bits[-1:] &= np.uint64((1 << (lines.places % 64)) - 1)
    dtype = of.semiring.return_type
    return VectorStore(device, lines.places, dtype, bits, sums if valued else cast_scalar(plan.product, dtype))


def kernels_of(
    product: PreparedLines,
    x: VectorStore,
    mask: BitMask | None,
    to: Arrays,
    condition: Condition,
) -> list[PreparedKernel]:
    """The kernels that write the result to bits, which are cleared before a push, and sums."""
    plan, of, layout, z, _, a_val = product
    if walks_lines(plan.key):
        return _walked_kernels(product, x, mask, to, condition)
    device, lines, valued, push = x.device, of.lines, plan.kind == VALUES, plan.direction == "push"
    given = layout.col, layout.width, *a_val
    head = *read_lines(device, x, lines, valued), *line_mask(device, mask, lines)
    out = as_lines(to[0], lines), as_sums(to[1], z, lines), *condition
    n, variant = of.inner.number if push else lines.number, variant_of(product, WHOLE)
    rows = layout.ptr, layout.ptr[1:], dummy(device, "int64"), 0
    if not device.is_simt:
        if push:  # reads whole words
            per, last, _, *values = head
            n, head = of.inner.words, (per, last, x.present, *values)
        bounds = None if push else unit_bounds(layout, device, max(1, lines.stride))
        return [PreparedKernel(device, variant, n, (EVERYWHERE, *rows, *given, *head, *out), bounds)]
    per, segment = words_of(lines), tuning.count("multivector.segment")
    long = tuning.count("multivector.long_row")
    longest, units = long if plan.full else segment, n * per
    if valued and not plan.full:
        groups = groups_of(layout, longest, max(1, plan.lanes // per), tuning.count("multivector.group_entries"))
        units, rows = len(groups) - 1, (layout.ptr, layout.ptr[1:], groups, 0)
    found = [PreparedKernel(device, variant, units, (longest, *rows, *given, *head, *out))]
    hubs = layout.format.view.hubs(layout, longest, segment if valued or push else long)
    if hubs is None:
        return found
    parts, rows = hubs.segments * per, (hubs.begin, hubs.end, hubs.row_of, 1)
    variant = variant if push and not valued else variant_of(product, PARTS)
    if not valued:
        return [*found, PreparedKernel(device, variant, parts, (EVERYWHERE, *rows, *given, *head, *out))]
    mine = lines._replace(number=hubs.segments)
    scratch = device.xp.empty(mine.words, np.uint64), dense_values(device, mine.places, z)
    into = as_lines(scratch[0], lines), as_sums(scratch[1], z, lines), *condition
    found.append(PreparedKernel(device, variant, parts, (EVERYWHERE, *rows, *given, *head, *into)))
    part, rows = VectorStore(device, mine.places, z, *scratch), (hubs.first, hubs.first[1:], hubs.rows, 1)
    monoid = of.semiring.op.monoid[z]
    return [*found, joined(part, monoid, lines, rows, len(hubs.rows), mask, to, condition)]


# ---- Products along rows that a layout walks (formats/bitmap/walked.cuh).


def passes(product: PreparedLines) -> tuple[int, ...]:
    """NODES of the launches: with virtual nodes, the sums of nodes come first."""
    layout = product.layout
    return (1, 2) if layout.format.has_virtual_nodes and layout.rows.nodes else (0,)


class Nodes(NamedTuple):
    """The line of each row and column of the graph with virtual nodes, or ~ the number of the node; bits and values of
    the sums of nodes. Without nodes unused."""

    row_line: Array
    line: Array
    bits: Array
    values: Array


def _nodes(product: PreparedLines) -> Nodes:
    device, lines, z, layout = product.of.S.device, product.of.lines, product.z, product.layout
    if passes(product) == (0,):
        none = dummy(device, "int32")
        return Nodes(none, none, dummy(device, "uint64"), nothing(device, z))
    own = lines._replace(number=layout.rows.nodes)
    bits = device.xp.zeros(own.words, np.uint64)
    valued = product.plan.kind == VALUES
    values = dense_values(device, own.places, z) if valued else nothing(device, BOOL)
    return Nodes(layout.rows.signed(), layout.cols.signed(), bits, values)


def _walked_kernels(
    product: PreparedLines, x: VectorStore, mask: BitMask | None, to: Arrays, condition: Condition
) -> list[PreparedKernel]:
    """The kernels of each pass: all rows, and on a GPU the parts of long ones. The sums of nodes have no mask."""
    device, nodes = x.device, _nodes(product)
    found: list[PreparedKernel] = []
    for number in passes(product):
        where, out = (None, (nodes.bits, nodes.values)) if number == 1 else (mask, to)
        found += _walked_pass(product, number, nodes, x, where, out, condition)
    assert device is product.of.S.device
    return found


def _walked_pass(
    product: PreparedLines,
    number: int,
    nodes: Nodes,
    x: VectorStore,
    mask: BitMask | None,
    to: Arrays,
    condition: Condition,
) -> list[PreparedKernel]:
    plan, of, layout, z, _, a_val = product
    rows, device, lines = walked(layout), x.device, of.lines
    valued, push, view = plan.kind == VALUES, plan.direction == "push", rows.format.view
    walk, none = rows.format.kernels["mxm.lines"], dummy(device, "int64")
    contents = view.contents(rows, valued and bool(a_val.stride))
    bits, values = as_lines(nodes.bits, lines), as_sums(nodes.values, z, lines)
    read = *read_lines(device, x, lines, valued), *line_mask(device, mask, lines), *nodes[:2], bits, values

    def kernel(mode: int, n: int, longest: int, begin: tuple[Any, ...], out: Arrays) -> PreparedKernel:
        written = as_lines(out[0], lines), as_sums(out[1], z, lines), *condition
        arguments = (longest, *begin, *contents, *a_val, *read, *written)
        return PreparedKernel(device, variant_of(product, mode, number), n, arguments)

    starts, parts = view.starts(rows)
    begin = starts, starts[parts:], none, 0
    if not device.is_simt:
        n = of.inner.words if push else rows.nrows
        made = kernel(WHOLE, n, EVERYWHERE, begin, to)
        if push:  # reads whole words
            per, last, _, *rest = read
            arguments = (EVERYWHERE, *begin, *contents, *a_val, per, last, x.present, *rest)
            written = as_lines(to[0], lines), as_sums(to[1], z, lines), *condition
            return [PreparedKernel(device, made.variant, n, (*arguments, *written))]
        bounds = unit_bounds(rows, device, max(1, lines.stride))
        if bounds is not None and rows.rows_per_unit > 1:
            bounds = np.minimum(bounds * rows.rows_per_unit, rows.nrows)
        return [PreparedKernel(device, made.variant, n, made.arguments, bounds)]
    per, segment = words_of(lines), walk.longest(tuning.count("multivector.segment"))
    longest = segment if push else walk.longest(tuning.count("multivector.long_row"))
    found = [kernel(WHOLE, rows.nrows * per, longest, begin, to)]
    hubs = walk.hubs(rows, longest, segment if valued else longest)
    if hubs is None:
        return found
    parts, begin = hubs.segments * per, (hubs.begin, hubs.end, hubs.row_of, 1)
    if not valued:
        return [*found, kernel(PARTS, parts, EVERYWHERE, begin, to)]
    mine = lines._replace(number=hubs.segments)
    scratch = device.xp.empty(mine.words, np.uint64), dense_values(device, mine.places, z)
    found.append(kernel(PARTS, parts, EVERYWHERE, begin, scratch))
    first, until, line = hubs.first[:-1], hubs.first[1:], hubs.rows
    if number:
        line = nodes.row_line[line].astype(np.int64)
        line = ~line if number == 1 else line
        first, until, line = first[line >= 0], until[line >= 0], line[line >= 0]
    if len(line):
        part, monoid = VectorStore(device, mine.places, z, *scratch), of.semiring.op.monoid[z]
        found.append(joined(part, monoid, lines, (first, until, line, 1), len(line), mask, to, condition))
    return found
