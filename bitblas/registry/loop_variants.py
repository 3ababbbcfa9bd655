"""Registered variants of captured programs: the loop bodies of the algorithms, for every format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from semirings.catalog import BINARY, INDEXUNARY, MONOIDS
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, DataType

from .. import tuning
from ..device import Cluster
from ..formats import CSR, FORMATS, Format
from ..kernels.variant import Variant
from ..loop.codegen.advance_variants import AdvanceKernel, Opens, compact_variant
from ..loop.codegen.cuda_kernels import WorklistRound, entry_text, pass_variant
from ..loop.fuse import Pass, Step
from ..loop.gpu.patches import PatchKind, patch_of, patch_variants
from ..loop.gpu.small_rounds import listed_variant, rounds_variant
from ..loop.ir import Const, Elementwise, Gather, Masked, Product, Reduce, Scal, Scatter, Statement, Vec
from ..operations.variants import BOTH, LEFT
from ..plan.product import VALUES, WORDS


def steps(format: Format) -> Iterator[Variant]:
    """Advance kernels of one form: breadth-first levels and parents, shortest paths."""
    from semirings import semiring

    key, types = format.key, tuple((name, INT32) for name in format.view.indices)
    v, q = Vec(0, 64, INT64), Vec(1, 64, BOOL)
    level = Statement(v, Elementwise(LEFT, None, Scal(-1, INT64)), Masked(q, True, False))
    entry = entry_text([level], q, {1: np.True_})
    words = AdvanceKernel(key, types, None, WORDS, BOOL, BOOL, pulls=True)
    yield replace(words, also=True).variant(entry)
    if format.registered == "words":
        return
    yield replace(words, lanes=16).variant()
    parent = Statement(v, Elementwise(LEFT, None, Vec(1, 64, INT64)), Masked(Vec(1, 64, INT64), True, False))
    entry = entry_text([parent], Vec(1, 64, INT64), {})
    parents = AdvanceKernel(key, types, semiring.any_secondi[INT64], VALUES, BOOL, INT64, also=True)
    yield replace(parents, pulls=format.kernels["advance"].reads_values).variant(entry)
    packed = [(INT64, True)] if format.kernels["mxv.pull"].fused or format.packed else []
    for dtype, is_packed in [(FP32, False), (FP64, False), (INT64, False), *packed]:
        sums = AdvanceKernel(key, types, semiring.min_plus[dtype], VALUES, dtype, dtype, ranked=format.ranked)
        first = dtype is FP32
        yield replace(
            sums, packed=is_packed, scans=first and format.kernels["advance"].scans, weighs=not first
        ).variant()


def some_rows(format: Format) -> Iterator[Variant]:
    """Pulls of the rows of a worklist: the least label among the neighbours."""
    from semirings import semiring

    if "mxv.pull.listed" in format.kernels:
        types = tuple((name, INT32) for name in format.view.indices)
        sums = AdvanceKernel(format.key, types, semiring.min_second[INT32], VALUES, BOOL, INT32, flip=False)
        yield sums.pull_of_listed_rows(full=True)


CLUSTER = Cluster(16)


def small_rounds(format: Format) -> Iterator[Variant]:
    """The same within one thread block cluster: levels and parents by frontiers, shortest paths by worklists."""
    from semirings import semiring

    key, types = format.key, tuple((name, INT32) for name in format.view.indices)
    v, q = Vec(0, 64, INT64), Vec(1, 64, BOOL)
    level = Statement(v, Elementwise(LEFT, None, Scal(-1, INT64)), Masked(q, True, False))
    step = AdvanceKernel(key, types, None, WORDS, BOOL, BOOL, also=True).variant()
    yield rounds_variant(step, [level], q, {1: np.True_}, CLUSTER, 8)[0]
    if format.registered == "words":
        return
    p = Vec(1, 64, INT64)
    parent = Statement(v, Elementwise(LEFT, None, p), Masked(p, True, False))
    step = AdvanceKernel(key, types, semiring.any_secondi[INT64], VALUES, BOOL, INT64, also=True).variant()
    yield rounds_variant(step, [parent], p, {}, CLUSTER, 8)[0]
    for dtype in (FP32, INT64):
        sums = AdvanceKernel(key, types, semiring.min_plus[dtype], VALUES, dtype, dtype, ranked=format.ranked)
        yield listed_variant(sums.variant(), _window(dtype), {}, CLUSTER, 8, heavy=format.kernels["advance"].heavy)[0]


def patches() -> Iterator[Variant]:
    """Patch kernels: shortest paths, with the given numbering and along a curve; least labels with a full vector."""
    from semirings import semiring

    types = (("PTR", INT32), ("COL", INT32))
    for dtype, renumbered in ((FP32, False), (FP32, True), (INT64, False)):
        advance = AdvanceKernel(CSR, types, semiring.min_plus[dtype], VALUES, dtype, dtype, lanes=1, weighs=False)
        yield from patch_variants(advance, PatchKind(patch_of(dtype), renumbered, with_values=True, full=False))
    advance = AdvanceKernel(CSR, types, semiring.min_first[INT64], VALUES, BOOL, INT64, lanes=1, weighs=False)
    yield from patch_variants(advance, PatchKind(patch_of(INT64), renumbered=False, with_values=True, full=True))


def _window(dtype: DataType) -> WorklistRound:
    """A round of shortest paths: the improved vertices q that are near enough advance."""
    from semirings import semiring

    q, d, near, t = (Vec(k, 64, dtype) for k in range(4))
    worse, nearest, far, width = Vec(4, 64, BOOL), *(Scal(k, dtype) for k in range(3))
    plus = BINARY["plus"][dtype]
    select = Elementwise(LEFT, INDEXUNARY["valuele"][dtype], q, far, "xt", keep=True)
    choose = [
        Statement(far, Elementwise(LEFT, plus, nearest, width)),
        Statement(near, select),
        Statement(q, Elementwise(LEFT, None, q), Masked(near, True, True), None, True),
    ]
    relax = [
        Statement(worse, Elementwise(BOTH, BINARY["ge"][dtype], t, d)),
        Statement(t, Elementwise(LEFT, None, t), Masked(worse, False, True), None, True),
        *(Statement(x, Elementwise(LEFT, None, t), Masked(t, True, False)) for x in (d, q)),
        Statement(nearest, Reduce(MONOIDS["min"][dtype], q)),
    ]
    matrix: Any = None  # not read by the text
    step = Step(t, Product(matrix, near, semiring.min_plus[dtype], False, True, 64), None, (), False, "")
    sparse = frozenset((q, near, t, worse))
    return WorklistRound((Pass(choose),), step, (Pass(relax, q),), sparse, q)


def others() -> Iterator[Variant]:
    """Worklists, loops within a round, the end of a body, and an element-wise kernel of each kind."""
    from semirings import semiring

    yield from patches()
    yield from (Variant("loop/gpu/enter"), Variant("loop/gpu/settle", (), (("LANES", 1),)), Variant("loop/gpu/finish"))
    yield Variant("loop/gpu/patches_turn")
    yield Variant("loop/gpu/move")
    yield compact_variant(1, 0, INT32)
    yield compact_variant(1, 1, INT32, Opens.of(semiring.min_second[INT32], full=True))
    for per in sorted({format.rows_per_unit for format in FORMATS.values()}):
        yield compact_variant(per, 1, INT32)
        yield compact_variant(per, 1, INT32, late=True)
    for size in (64, tuning.count("loop.wide_size")):
        q, d, worse = Vec(0, size, INT64), Vec(1, size, INT64), Vec(2, size, BOOL)
        relax = [
            Statement(worse, Elementwise(BOTH, BINARY["ge"][INT64], q, d)),
            Statement(q, Elementwise(LEFT, None, q), Masked(worse, False, True), None, True),
            Statement(d, Elementwise(LEFT, None, q), Masked(q, True, False)),
        ]
        yield pass_variant(relax, {}, q)[0]
        found = [
            Statement(d, Elementwise(LEFT, None, Scal(-1, INT64)), Masked(q, True, False)),
            Statement(q, Elementwise(LEFT, None, d), Masked(worse, True, True), None, True),
        ]
        yield pass_variant(found, {2: BOOL.np_type.type(True)}, q)[0]
    r, s = Vec(0, 64, FP64), Scal(0, FP64)
    total = [
        Statement(r, Elementwise(LEFT, BINARY["plus"][FP64], r, s)),
        Statement(r, Elementwise(LEFT, None, Const(FP64, FP64.np_type.type(1))), None, BINARY["plus"][FP64]),
        Statement(Scal(1, FP64), Reduce(MONOIDS["plus"][FP64], r, FP64.np_type.type(0))),
    ]
    yield pass_variant(total, {}, None)[0]
    x, near, p, t, q = (Vec(k, 64, INT64) for k in (0, 1, 3, 4, 5))
    hook = Scatter(x, near, None, MONOIDS["min"][INT64], (x, near), 64, 0)
    follow = [Statement(t, Gather(p, p, 1)), Statement(q, Gather(p, t, 2))]
    full = frozenset((0, 1, 3, 4, 5))
    yield pass_variant([Statement(p, hook)], {}, None, full)[0]
    yield pass_variant(follow, {}, None, full, local=frozenset((4,)))[0]
