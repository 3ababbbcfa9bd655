"""Relax edges to a fixpoint by patches of consecutive vertices, before the rounds of a captured relaxation loop.

This is a loop of its own, in which each block takes a patch and relaxes all its inner edges in shared memory
(formats/csr/advance.cu). The body's rounds then find nothing to do; if patches do not apply, they do all of the work.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import DataType

from ... import tuning
from ...device.jit import BLOCK
from ...formats import format_of
from ...formats.contract import CSR
from ...formats.packing import PackedValues
from ...kernels.variant import Variant
from ...operations.operands import dummy, entry_values
from ...operations.permute import matrix_in
from ...order import Order
from ...plan.patches import SAMPLES, Numbering, curve, numbering
from ...plan.product import VALUES
from ...store import MatrixStore
from ..buffers import BUFFERS, Launch
from ..codegen.advance_variants import AdvanceKernel
from ..relaxation import Relaxation, has_atomic
from ..symbolic.context import NO_LIMIT
from .advance import launch_arguments
from .graph import NestedLaunch

if TYPE_CHECKING:
    from ...formats.contract import Layout
    from .build import Build

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


def _chosen(build: Build, found: Relaxation) -> tuple[Relaxation, Layout, Numbering] | str:
    """The relaxation, its rows, and the numbering of patches; or why there are none."""
    product, dtype = found.product, found.best.dtype
    if found.best.id in build.iso or found.held is (found.waiting.id in build.iso):
        return "values are iso, or active vertices are stored as an array of truth values"
    if not has_atomic(dtype, product.semiring.op.monoid.name):
        return f"{product.semiring} has no hardware atomic"
    A = product.matrix
    if A.structure.cached_as(CSR) != CSR or A.nrows != A.ncols or A.nrows >= 1 << 31:
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


class PatchKind(NamedTuple):
    """What is fixed when the kernels of a loop by patches are compiled: vertices of a patch, whether they are
    renumbered, whether active vertices are stored with their values, and whether all vertices have a value."""

    patch: int
    renumbered: bool
    with_values: bool
    full: bool


def patch_variants(advance: AdvanceKernel, kind: PatchKind) -> tuple[Variant, Variant, Variant]:
    """The kernels of a round, and those before the first round and after the last, for the product of an advance."""
    step = advance.variant()
    common = {"PATCH": kind.patch, "RENUMBERED": int(kind.renumbered)}
    shape = {"THREADS": tuning.count("patch.threads"), "BLOCKS_AT_ONCE": tuning.count("patch.blocks")}
    held = {"HELD": int(kind.with_values)}
    kernels = (
        (format_of(CSR).kernel("patches"), shape),
        ("loop/gpu/patches_begin", held),
        ("loop/gpu/patches_end", {**held, "FULL": int(kind.full)}),
    )
    first, begin, end = (
        dataclasses.replace(
            step, kernel=kernel, constants=tuple({**dict(step.constants), **common, **more}.items()), text=""
        )
        for kernel, more in kernels
    )
    return first, begin, end


class PatchLoop(NestedLaunch):
    """The launches of the loop by patches, and their memory."""

    def __init__(self, build: Build, found: Relaxation, rows: Layout, how: Numbering) -> None:
        self.build, device, xp = build, build.device, build.device.xp
        product, dtype, n = found.product, found.best.dtype, found.best.size
        self.patch = patch_of(dtype)
        A: MatrixStore = product.matrix
        order = None
        if how.strides:
            order = Order(device, curve(xp, n, how.strides).astype(np.int32))
            A = matrix_in(A, order, CSR)
            rows = A.structure.layout(CSR, transposed=not product.transpose)
        self.how = f" along a space-filling curve of a grid with strides {how.strides}" if how.strides else ""
        values = A.raw_for(CSR, not product.transpose)
        each = tuning.count("patch.lane_entries")
        lanes = next(lanes for lanes in LANES if lanes == LANES[-1] or each * lanes * n >= rows.nvals)
        packed, types = isinstance(values, PackedValues), (A.dtype, dtype)
        advance = AdvanceKernel(
            CSR, rows.format.view.types(rows, False), product.semiring, VALUES, *types, product.flip, lanes
        )
        advance = dataclasses.replace(advance, packed=packed, weighs=False)
        kind = PatchKind(self.patch, order is not None, found.held, found.best.id in build.full)
        kernels = patch_variants(advance, kind)
        self.variant = kernels[0]
        count = -(-n // self.patch)
        self.state, self.lists = xp.zeros(NUMBERS, np.uint32), xp.zeros(BUFFERS * count, np.uint32)
        listed, waiting = xp.zeros(count, np.uint32), xp.zeros(count * self.patch // 32, np.uint32)
        vertices = dummy(device, "uint32") if order is None else order.perm.view(np.uint32)
        d, q = build.buffers[found.best], build.buffers[found.waiting]
        d_bits, d_val, q_bits = d.bits[0], d.values[0], q.bits[0]
        q_val = q.values[0] if found.held else d_val
        matrix = (
            *launch_arguments(rows.format.kernels["advance"].pushed(rows, False, build.longest(rows))),
            *launch_arguments(entry_values(device, A.dtype, values)),
        )
        size, memory = np.int64(n), (self.state, self.lists, listed, waiting)
        grid, threads = device.multiprocessors * tuning.count("patch.blocks"), tuning.count("patch.threads")
        self.rounds = [
            build.launcher(
                kernels[0],
                min(grid, count),
                (size, size, np.uint32(k % BUFFERS), *memory, build.outermost, vertices, d_val, *matrix),
                threads,
            )
            for k in range(tuning.count("patch.rounds"))
        ]
        begin = size, size, *memory, build.rounds, np.int64(NO_LIMIT), vertices, d_bits, d_val, q_bits, q_val
        self._begin = build.launcher(kernels[1], min(grid, count), begin)
        end = size, size, self.state, build.rounds, d_bits, d_val, q_bits, q_val
        self.leave = [build.launcher(kernels[2], build.grid(n), end)]

    def _reset(self) -> None:
        self.state.fill(0)

    def _turn(self, handle: int) -> Launch:
        build = self.build
        args = np.int64(1), self.state, build.outermost, np.uint64(handle), build.going
        return build.launcher(Variant("loop/gpu/patches_turn"), 1, args, BLOCK)

    def enter(self, handle: int) -> list[Launch]:
        return [self._reset, self._begin, self._turn(handle)]

    def body(self, handle: int) -> list[Launch]:
        return [*self.rounds, self._turn(handle)]
