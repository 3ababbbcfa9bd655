"""Relaxation loops, d min= q min.+ A for the vertices q at which d has improved, by patches of consecutive vertices.

Such a loop has one result, its fixpoint, in whatever order edges are relaxed. A body is recognized by its effect at a
position, not by its form. Its statements compare and copy values, so only the order of the values at a position
matters: every such order is tried.

The loop by patches precedes the rounds of the body: each block takes a patch and relaxes all its inner edges in shared
memory (formats/csr/advance.cu). The body's rounds then find nothing to do; if patches do not apply, they do all of the
work. The numbering of patches is a pure function of a sample of entries.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, DataType

from ... import tuning
from ...device.jit import BLOCK
from ...formats import format_of
from ...formats.contract import CSR
from ...formats.packing import PackedValues
from ...kernels.variant import Variant
from ...operations.operands import dummy, entry_values
from ...operations.permute import matrix_in
from ...operations.variants import BOTH, LEFT, UNION
from ...order import Order
from ...plan.product import VALUES
from ...store import MatrixStore
from ...typing import Number
from ..buffers import BUFFERS, Launch
from ..codegen.dialect import Dialect, Entries
from ..ir import NO_LIMIT, Body, Elementwise, Product, Reduce, Scal, Statement, Vec, flat
from .graph import NestedLaunch
from .products import AdvanceKernel, has_atomic, keeps_rows, launch_arguments

if TYPE_CHECKING:
    from ...formats.contract import Layout
    from .build import Build


# Multiplications that are monotone in their first operand: a better operand gives no worse product.
MONOTONE = ("plus", "min", "max", "first", "second")
# A value at a position (None: no entry), for which small numbers and truth values stand.
Sample: TypeAlias = bool | int | float | None
Combine: TypeAlias = Callable[[float, float], float]

BETTER: dict[str, Callable[[float, float], bool]] = {"min": lambda x, y: x < y, "max": lambda x, y: x > y}
COMPARED: dict[str, Combine] = {
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "min": min, "max": max, "first": lambda x, _: x,
    "second": lambda _, y: y, "any": lambda x, _: x, "valuelt": lambda x, t: x < t, "valuele": lambda x, t: x <= t,
    "valuegt": lambda x, t: x > t, "valuege": lambda x, t: x >= t, "valueeq": lambda x, t: x == t,
    "valuene": lambda x, t: x != t, "land": lambda x, y: bool(x and y), "lor": lambda x, y: bool(x or y),
}  # fmt: skip
VALUES_AT, SCALARS = (1, 2, 3), (0, 1, 1.5, 2, 2.5, 3, 4)  # all orders of two values at a position, and of a scalar


class Unknown(Exception):
    """The effect of a statement at a position depends on more than the cases that are tried; the message says on
    what."""


@dataclass(frozen=True)
class Relaxation:
    """best: the vector that reaches the fixpoint. waiting: the active vertices, where `best` has improved, with the
    same values (`held`) or as truth values."""

    best: Vec
    waiting: Vec
    product: Product

    @property
    def held(self) -> bool:
        return self.waiting.dtype is not BOOL


def relaxation(body: Body, condition: Vec | Scal, full: frozenset[Vec] = frozenset()) -> Relaxation | str:
    """Recognize what a body relaxes, or return why it is not recognized. full: vectors with an entry everywhere."""
    if not isinstance(condition, Vec):
        return "the loop condition is a scalar"
    statements = [s for s in body.statements if isinstance(s, Statement)]
    if len(statements) != len(body.statements):
        return "the body contains a nested loop"
    products = [s.value for s in statements if isinstance(s.value, Product)]
    if len(products) != 1:
        return f"the body has {len(products)} products"
    (product,) = products
    semiring = product.semiring.op
    if semiring.monoid.name not in BETTER or semiring.binaryop.name not in MONOTONE:
        return f"{product.semiring} is not min or max with a monotone operator, which keeps the order"
    late = {x.id for s in flat(body.end) for x in s.terms if isinstance(x, Scal)}
    if late & {s.target.id for s in statements if isinstance(s.target, Scal)}:
        return "statements after the rounds read a scalar that the rounds write"
    dtype, z = product.u.dtype, product.semiring.return_type
    seen = {s.target for s in statements if isinstance(s.target, Vec)} - body.own - {condition}
    if len(seen) != 1:
        return f"rounds write {len(seen)} vectors in addition to the loop condition"
    (best,) = seen
    if not best.dtype == dtype == z or best.size != condition.size or condition.dtype not in (BOOL, dtype):
        return "types or sizes differ"
    try:
        _try_all(statements, best, condition, BETTER[semiring.monoid.name], _places(best in full))
    except Unknown as unknown:
        return str(unknown)
    return Relaxation(best, condition, product)


def _try_all(
    statements: Sequence[Statement],
    d: Vec,
    q: Vec,
    better: Callable[[float, float], bool],
    places: Sequence[tuple[Sample, bool, Sample]],
) -> None:
    """Raise Unknown if a round does anything other than relaxing at a position."""
    scalars = sorted({x.id for s in statements if isinstance(s.target, Vec) for x in s.terms if isinstance(x, Scal)})
    if len(scalars) > tuning.count("loop.relaxation_scalars"):
        raise Unknown(f"{len(scalars)} scalars are read")
    truth = q.dtype is BOOL
    for known in itertools.product(SCALARS, repeat=len(scalars)):
        for was, waits, found in places:
            held = {d: was, q: (True if truth else was) if waits else None}
            place = _Place(held, dict(zip(scalars, known)), found)
            for s in statements:
                place.statement(s)
            if place.pushed not in (None, was) or (place.pushed is not None and not waits):
                raise Unknown("the values pushed along edges are not those of the active vertices")
            gains = found is not None and (was is None or better(found, was))
            now = found if gains else was
            still = waits and place.pushed is None
            then = (True if truth else now) if gains or still else None
            if place.held[d] != now or place.held[q] != then:
                raise Unknown("a round does not only relax edges")


def _places(full: bool) -> list[tuple[Sample, bool, Sample]]:
    """All cases at a position: its value, whether it is active, and the value that arrives along edges."""
    values = (None, *VALUES_AT)
    cases = itertools.product(VALUES_AT if full else values, (False, True), values)
    return [(was, waits, found) for was, waits, found in cases if was is not None or not waits]


class _Place(Dialect[bool, Sample]):
    """The vectors of a body at one position. Statements are executed on sample values; a set of positions is whether it
    contains this one."""

    everywhere, nowhere, inside = True, False, True

    def __init__(self, held: dict[Vec, Sample], scalars: Mapping[int, float], found: Sample) -> None:
        self.held, self.scalars, self.found = held, scalars, found
        self.iso, self.full = {}, frozenset()
        self.pushed: Sample = None
        self.overwritten: Vec | Scal | None = None

    def statement(self, s: Statement) -> None:
        if isinstance(s.target, Scal):
            if not isinstance(s.value, (Elementwise, Reduce)):
                raise Unknown(f"{s.text}: not supported")
            return
        self.overwritten = s.target if s.overwrites else None
        if isinstance(s.value, Product):
            self.pushed = self.vector_value(s.value.u)
            self.assign(s, self.is_open(s.mask), Entries(self.found is not None, self.found, s.target.dtype))
        elif isinstance(s.value, Elementwise):
            super().statement(s)
        else:
            raise Unknown(f"{s.text}: uses index vectors")

    def both(self, *sets: bool) -> bool:
        return all(sets)

    def either(self, *sets: bool) -> bool:
        return any(sets)

    def outside(self, positions: bool) -> bool:
        return not positions

    def where(self, positions: bool, condition: Sample) -> bool:
        return positions and bool(condition)

    def entries(self, x: Vec) -> bool:
        if x == self.overwritten and x not in self.held:
            return False
        return self.vector_value(x) is not None

    def scalar_entries(self, t: Scal) -> bool:
        return True

    def vector_value(self, x: Vec) -> Sample:
        if x not in self.held:
            raise Unknown("a vector with unknown contents is read")
        return self.held[x]

    def scalar_value(self, t: Scal) -> Sample:
        return self.scalars[t.id]

    def literal(self, dtype: DataType, x: Number) -> Sample:
        if dtype is not BOOL:
            return self.missing_value(dtype)
        return bool(x)

    def missing_value(self, dtype: DataType) -> Sample:
        raise Unknown("a constant number is written or compared")

    def cast(self, to: DataType, source: DataType, x: Sample) -> Sample:
        return x

    def choose(self, positions: bool, x: Sample, y: Sample) -> Sample:
        return x if positions else y

    def operator(self, e: Elementwise, u: DataType, v: DataType) -> tuple[Callable[[Sample, Sample], Sample], DataType]:
        op = e.op
        if op is None or e.mode not in (LEFT, BOTH, UNION) or e.bound not in ("xy", "yx", "xt") or e.v is None:
            raise Unknown(f"{op}: not supported")
        return lambda x, y: compare(op, *((y, x) if e.bound == "yx" else (x, y))), u

    def accumulated(self, accum: Typed, w: Vec | Scal, dtype: DataType, x: Sample) -> Sample:
        assert isinstance(w, Vec)
        return compare(accum, self.held[w], x)

    def write_values(self, s: Statement, here: bool, found: Entries[bool, Sample]) -> None:
        if here:
            assert isinstance(s.target, Vec)
            self.held[s.target] = self.new_value(s, found.value, found.dtype)

    def write_entries(self, w: Vec | Scal, positions: bool) -> None:
        if not positions:
            assert isinstance(w, Vec)
            self.held[w] = None


def compare(op: Typed, x: Sample, y: Sample) -> Sample:
    """The result of an operator that compares or selects values; None without an operand."""
    if x is None or y is None:
        return None
    found = COMPARED.get(op.name.split("[")[0])
    if found is None:
        raise Unknown(f"{op}: does more than compare values")
    return found(x, y)


SAMPLES = 1 << 12  # number of sampled entries


def numbering(rows: Any, cols: Any, n: int, nvals: int, patch: int, *, renumbers: bool) -> tuple[int, ...] | str:
    """The vertex order of patches of `patch` vertices, or why there are none: the distance in vertex numbers between
    neighbours along each axis of a grid, the first one 1; empty: keep the order. rows, cols: of sampled entries.
    renumbers: whether another order may be used."""
    if n < tuning.count("patches.vertices"):
        return f"too few vertices ({n})"
    if nvals > tuning.value("patches.degree") * n or not len(rows):
        return f"too many entries a row ({nvals / n:.1f})"
    share = float((rows // patch == cols // patch).mean())
    if share >= tuning.value("patches.share"):
        return ()
    found = strides(np.abs(rows - cols))
    if len(found) > 1 and renumbers:
        return found
    return f"only {share:.0%} of the entries stay in a patch of {patch} vertices"


def strides(offsets: Any) -> tuple[int, ...]:
    """Distance between neighbours along each axis of a grid that is numbered line by line: the differences are few and
    in groups that are far apart. (1,) if it is no such grid."""
    known = np.unique(offsets[offsets > 0])
    if not 0 < len(known) <= tuning.count("patches.offsets") or known[0] != 1:
        return (1,)
    groups = np.split(known, np.flatnonzero(known[1:] > 2 * known[:-1] + 1) + 1)
    return tuple(int(group[len(group) // 2]) for group in groups)


def curve(xp: Any, n: int, strides: tuple[int, ...]) -> Any:
    """The vertices of a grid along a space-filling curve: interleave the bits of their coordinates (Morton 1966)."""
    number = xp.arange(n, dtype=np.int64)
    keys, axes = xp.zeros(n, np.int64), len(strides)
    for k, stride in enumerate(strides):
        upto = strides[k + 1] if k + 1 < axes else n
        place = number % upto // stride
        for bit in range(max(1, (-(-upto // stride)).bit_length())):
            keys |= (place >> bit & 1) << (bit * axes + k)
    return xp.argsort(keys)


LANES = 1, 2, 4, 8  # lanes per row
NUMBERS = 16  # of the state (patches.cuh)


class ByPatches(NamedTuple):
    """The launches before the rounds, or why there are none."""

    launches: list[PatchLoop]
    text: str


def relax_by_patches(build: Build, found: Relaxation | str | None) -> ByPatches:
    """Build the loop by patches for a body, if it is a relaxation."""
    if found is None:
        return ByPatches([], "")
    chosen = found if isinstance(found, str) else _chosen(build, found)
    if isinstance(chosen, str):
        return ByPatches([], f"no relaxation by patches: {chosen}")
    loop = PatchLoop(build, *chosen)
    return ByPatches([loop], f"before the rounds, edges are relaxed by patches of {loop.patch} vertices{loop.how}")


def _chosen(build: Build, found: Relaxation) -> tuple[Relaxation, Layout, tuple[int, ...]] | str:
    """The relaxation, its rows, and the numbering of patches; or why there are none."""
    product, dtype = found.product, found.best.dtype
    if found.best.id in build.iso or found.held is (found.waiting.id in build.iso):
        return "values are iso, or active vertices are stored as an array of truth values"
    if not has_atomic(dtype, product.semiring.op.monoid.name):
        return f"{product.semiring} has no hardware atomic"
    A = product.matrix
    if not keeps_rows(A.structure) or A.nrows != A.ncols or A.nrows >= 1 << 31:
        return "the matrix is not square CSR"
    rows = A.structure.layout(CSR, transposed=not product.transpose)
    if rows.format.kernels["advance"].segments(rows, build.longest(rows)):
        return "some rows are long"
    xp, to_host = build.device.xp, build.device.to_host
    places = xp.arange(min(SAMPLES, rows.nvals), dtype=np.int64) * rows.nvals // max(1, min(SAMPLES, rows.nvals))
    sources = to_host(xp.searchsorted(rows.ptr, places.astype(rows.ptr.dtype), side="right")) - 1
    targets, patch = to_host(rows.col[places]).astype(np.int64), patch_of(dtype)
    how = numbering(sources, targets, A.nrows, rows.nvals, patch, renumbers=A.order is None)
    return how if isinstance(how, str) else (found, rows, how)


def patch_of(dtype: DataType) -> int:
    """Number of vertices of a patch."""
    return tuning.count("patch.bytes") // int(dtype.np_type.itemsize)


class PatchLoop(NestedLaunch):
    """The launches of the loop by patches, and their memory."""

    def __init__(self, build: Build, found: Relaxation, rows: Layout, strides: tuple[int, ...]) -> None:
        self.build, device, xp = build, build.device, build.device.xp
        product, dtype, n = found.product, found.best.dtype, found.best.size
        patch = self.patch = patch_of(dtype)
        A: MatrixStore = product.matrix
        order = None
        if strides:
            order = Order(device, curve(xp, n, strides).astype(np.int32))
            A = matrix_in(A, order, CSR)
            rows = A.structure.layout(CSR, transposed=not product.transpose)
        self.how = f" along a space-filling curve of a grid with strides {strides}" if strides else ""
        values = A.raw_for(CSR, not product.transpose)
        each = tuning.count("patch.lane_entries")
        lanes = next(lanes for lanes in LANES if lanes == LANES[-1] or each * lanes * n >= rows.nvals)
        types, packed = rows.format.view.types(rows, False), isinstance(values, PackedValues)
        product_kind = CSR, types, product.semiring, VALUES, A.dtype, dtype
        advance = AdvanceKernel(
            *product_kind, flip=product.flip, lanes=lanes, packed=packed, counts_work=False
        ).variant()
        common = {**dict(advance.constants), "PATCH": patch, "RENUMBERED": int(order is not None)}
        kernel = lambda name, **more: dataclasses.replace(
            advance, kernel=name, constants=tuple({**common, **more}.items()), text=""
        )
        blocks, threads = tuning.count("patch.blocks"), tuning.count("patch.threads")
        held, full = int(found.held), int(found.best.id in build.full)
        self.variant = kernel(format_of(CSR).kernel("patches"), THREADS=threads, BLOCKS_AT_ONCE=blocks)
        count = -(-n // patch)
        self.state, self.lists = xp.zeros(NUMBERS, np.uint32), xp.zeros(BUFFERS * count, np.uint32)
        listed, waiting = xp.zeros(count, np.uint32), xp.zeros(count * patch // 32, np.uint32)
        vertices = dummy(device, "uint32") if order is None else order.perm.view(np.uint32)
        d, q = build.buffers[found.best], build.buffers[found.waiting]
        d_bits, d_val, q_bits = d.bits[0], d.values[0], q.bits[0]
        q_val = q.values[0] if found.held else d_val
        pushed = rows.format.kernels["advance"].pushed(rows, False, build.longest(rows))
        matrix = launch_arguments((*pushed, *entry_values(device, A.dtype, values)))
        size, memory = np.int64(n), (self.state, self.lists, listed, waiting)
        grid, rest = min(device.multiprocessors * blocks, count), (*memory, build.outermost, vertices, d_val, *matrix)
        self.rounds = [
            build.launcher(self.variant, grid, (size, size, np.uint32(k % BUFFERS), *rest), threads)
            for k in range(tuning.count("patch.rounds"))
        ]
        begin = size, size, *memory, build.rounds, np.int64(NO_LIMIT), vertices, d_bits, d_val, q_bits, q_val
        self._begin = build.launcher(kernel("loop/gpu/patches_begin", HELD=held), grid, begin)
        end = size, size, self.state, build.rounds, d_bits, d_val, q_bits, q_val
        self.leave = [build.launcher(kernel("loop/gpu/patches_end", HELD=held, FULL=full), build.grid(n), end)]

    def _reset(self) -> None:
        self.state.fill(0)

    def _turn(self, handle: int) -> Launch:
        build = self.build
        args = np.int64(1), self.state, build.outermost, np.uint64(handle), build.going
        return build.launcher(Variant("loop/gpu/patches_continue"), 1, args, BLOCK)

    def enter(self, handle: int) -> list[Launch]:
        return [self._reset, self._begin, self._turn(handle)]

    def body(self, handle: int) -> list[Launch]:
        return [*self.rounds, self._turn(handle)]
