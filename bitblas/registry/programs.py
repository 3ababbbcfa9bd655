"""The variants of programs that are registered: what the algorithms' bodies become, for every form."""

from __future__ import annotations

from collections.abc import Iterator

from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64

from ..formats import FORMATS, Format
from ..kernels.prologue import Variant
from ..loop.build import activate_variant
from ..loop.ir import Const, Masked, Pointwise, Reduce, Scal, Statement, Vec
from ..loop.passes import entry_text, pass_variant
from ..loop.steps import step_variant
from ..plan.product import VALUES, WORDS
from ..verbs.variants import BOTH, LEFT


def steps(format: Format) -> Iterator[Variant]:
    """Steps of one form: breadth-first levels and parents, shortest paths."""
    from semirings import semiring

    key, types = format.key, tuple((name, INT32) for name in format.indices)
    v, q = Vec(0, 64, INT64), Vec(1, 64, BOOL)
    level = Statement(v, Pointwise(LEFT, None, Scal(-1, INT64)), Masked(q, True, False))
    entry = entry_text([level], q, {1: True})
    yield step_variant(
        key, types, None, WORDS, BOOL, BOOL, flip=True, ranked=False, also=True, pulls=True, lanes=8, entry=entry
    )
    if format.registered == "words":
        return
    yield step_variant(key, types, None, WORDS, BOOL, BOOL, flip=True, ranked=False, also=False, pulls=True, lanes=16)
    parent = Statement(v, Pointwise(LEFT, None, Vec(1, 64, INT64)), Masked(Vec(1, 64, INT64), True, False))
    yield step_variant(
        key, types, semiring.any_secondi[INT64], VALUES, BOOL, INT64, flip=True, ranked=False, also=True,
        pulls=format.reads_values, lanes=8, entry=entry_text([parent], Vec(1, 64, INT64), {}),
    )  # fmt: skip
    packed = [(INT64, True)] if format.fused or format.packed else []
    for dtype, is_packed in [(FP32, False), (FP64, False), (INT64, False), *packed]:
        yield step_variant(
            key, types, semiring.min_plus[dtype], VALUES, dtype, dtype, flip=True, ranked=format.ranked, also=False,
            pulls=False, lanes=8, packed=is_packed,
        )  # fmt: skip


def others() -> Iterator[Variant]:
    """Lists, the end of a body, and a pass of each kind."""
    yield Variant("loop/finish")
    yield activate_variant(1, 0, INT32)
    for per in sorted({format.rows_per_unit for format in FORMATS.values()}):
        yield activate_variant(per, 1, INT32)
    q, d, worse = Vec(0, 64, INT64), Vec(1, 64, INT64), Vec(2, 64, BOOL)
    relax = [
        Statement(worse, Pointwise(BOTH, BINARY["ge"][INT64], q, d)),
        Statement(q, Pointwise(LEFT, None, q), Masked(worse, False, True), None, True),
        Statement(d, Pointwise(LEFT, None, q), Masked(q, True, False)),
    ]
    yield pass_variant(relax, {}, q)[0]
    r, s = Vec(0, 64, FP64), Scal(0, FP64)
    total = [
        Statement(r, Pointwise(LEFT, BINARY["plus"][FP64], r, s)),
        Statement(r, Pointwise(LEFT, None, Const(FP64, FP64.np_type.type(1))), None, BINARY["plus"][FP64]),
        Statement(Scal(1, FP64), Reduce(MONOIDS["plus"][FP64], r, FP64.np_type.type(0))),
    ]
    yield pass_variant(total, {}, None)[0]
