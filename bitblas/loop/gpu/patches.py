"""Relaxation loops, d min= q min.+ A for the vertices q at which d has improved, by patches of consecutive vertices.

Such a loop has one result, its fixpoint, in whatever order edges are relaxed. A body is recognized by its effect
(effects.py).

The loop by patches precedes the rounds of the body: each block takes a patch and relaxes all its inner edges in shared
memory (formats/csr/advance.cu). The body's rounds then find nothing to do; if patches do not apply, they do all of the
work. The numbering of patches is a pure function of a sample of entries.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings.dtypes import BOOL, DataType

from ... import tuning
from ...device.jit import BLOCK
from ...formats import format_of
from ...formats.contract import CSR
from ...formats.packing import PackedValues
from ...kernels.variant import Variant
from ...operations.operands import dummy, entry_values
from ...operations.permute import matrix_in
from ...order import Order
from ...plan.product import VALUES
from ...store import MatrixStore
from ..buffers import BUFFERS, Launch
from ..ir import NO_LIMIT, Body, Product, Scal, Statement, Vec
from .effects import BETTER, SCALARS, VALUES_AT, Place, Sample, Unknown, only_written, plain_statements
from .graph import NestedLaunch
from .products import AdvanceKernel, has_atomic, keeps_rows, launch_arguments

if TYPE_CHECKING:
    from ...formats.contract import Layout
    from .build import Build


# Multiplications that are monotone in their first operand: a better operand gives no worse product.
MONOTONE = ("plus", "min", "max", "first", "second")


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
    try:
        return _relaxation(body, condition, full)
    except Unknown as unknown:
        return str(unknown)


def _relaxation(body: Body, condition: Vec | Scal, full: frozenset[Vec]) -> Relaxation:
    if not isinstance(condition, Vec):
        raise Unknown("the loop condition is a scalar")
    statements = plain_statements(body)
    products = [s.value for s in statements if isinstance(s.value, Product)]
    if len(products) != 1:
        raise Unknown(f"the body has {len(products)} products")
    (product,) = products
    semiring = product.semiring.op
    if semiring.monoid.name not in BETTER or semiring.binaryop.name not in MONOTONE:
        raise Unknown(f"{product.semiring} is not min or max with a monotone operator, which keeps the order")
    dtype, z = product.u.dtype, product.semiring.return_type
    best = only_written(body, statements, condition)
    if not best.dtype == dtype == z or best.size != condition.size or condition.dtype not in (BOOL, dtype):
        raise Unknown("types or sizes differ")
    found = Relaxation(best, condition, product)
    _try_all(statements, found, BETTER[semiring.monoid.name], _places(best in full))
    return found


def _try_all(
    statements: Sequence[Statement],
    relaxed: Relaxation,
    better: Callable[[float, float], bool],
    places: Sequence[tuple[Sample, bool, Sample]],
) -> None:
    """Raise Unknown if a round does anything other than relaxing at a position."""
    scalars = sorted({x.id for s in statements if isinstance(s.target, Vec) for x in s.terms if isinstance(x, Scal)})
    if len(scalars) > tuning.count("loop.relaxation_scalars"):
        raise Unknown(f"{len(scalars)} scalars are read")
    d, q = relaxed.best, relaxed.waiting
    truth = q.dtype is BOOL
    for known in itertools.product(SCALARS, repeat=len(scalars)):
        for was, waits, found in places:
            held = {d: was, q: (True if truth else was) if waits else None}
            place = Place(held, dict(zip(scalars, known)), {relaxed.product: found})
            for s in statements:
                place.statement(s)
            pushed = place.pushed[relaxed.product]
            if pushed not in (None, was) or (pushed is not None and not waits):
                raise Unknown("the values pushed along edges are not those of the active vertices")
            gains = found is not None and (was is None or better(found, was))
            now = found if gains else was
            still = waits and pushed is None
            then = (True if truth else now) if gains or still else None
            if place.held[d] != now or place.held[q] != then:
                raise Unknown("a round does not only relax edges")


def _places(full: bool) -> list[tuple[Sample, bool, Sample]]:
    """All cases at a position: its value, whether it is active, and the value that arrives along edges."""
    values = (None, *VALUES_AT)
    cases = itertools.product(VALUES_AT if full else values, (False, True), values)
    return [(was, waits, found) for was, waits, found in cases if was is not None or not waits]


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


def relax_by_patches(build: Build, found: Relaxation | str) -> PatchLoop | str:
    """The loop by patches for a body, if it is a relaxation; or why there is none."""
    chosen = found if isinstance(found, str) else _chosen(build, found)
    return chosen if isinstance(chosen, str) else PatchLoop(build, *chosen)


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
        how = f" along a space-filling curve of a grid with strides {strides}" if strides else ""
        self.text = f"before the rounds, edges are relaxed by patches of {patch} vertices{how}"
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
