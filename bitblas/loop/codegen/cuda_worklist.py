"""CUDA C++ for the kernel that runs element-wise statements and one advance on a worklist (kernels/listed.cuh)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semirings.dtypes import BOOL

from ..fuse import Item, Pass, Step
from ..ir import IsoValues, Reduce, Scal, Statement, Vec
from .cuda_elementwise import (
    entry_text,
    lines_of,
    load_text,
    scalar_text,
    scalars_of,
    store_sum,
    sum_function,
    vectors_of,
    writes,
)
from .cuda_statements import CudaText, Key, Parameter, macro


@dataclass(frozen=True)
class WorklistRound:
    """A round in the form that a cluster runs: the element-wise kernels before its only advance and those after it, the
    sparse vectors, and the loop condition."""

    before: tuple[Pass, ...]
    step: Step
    after: tuple[Pass, ...]
    sparse: frozenset[Vec]
    condition: Vec | Scal

    @property
    def counted(self) -> bool:
        """Whether an element-wise kernel counts the remaining entries or computes a scalar condition; otherwise the
        advance counts."""
        return any(p.counted is not None for p in (*self.before, *self.after))


def is_exact(s: Statement) -> bool:
    """Whether a sum is the same in any order: positions in a worklist are not ordered."""
    if not isinstance(s.value, Reduce):
        return True
    return s.value.monoid.op.is_exact_in_any_order or sum_function(s)[1].kind != "f"


def worklist_text(listed: WorklistRound, iso: IsoValues) -> tuple[CudaText, tuple[Parameter, ...], str]:
    """The functions and macros that listed.cuh uses and its parameters. The vector that the advance writes is not among
    them: its buffers rotate inside the kernel."""
    local = frozenset(number for p in (*listed.before, *listed.after) for number in p.local)
    text, step, turning = CudaText(iso, local=local), listed.step, listed.step.target
    statements = [s for p in (*listed.before, *listed.after) for s in p.statements] + list(step.before)
    scalars = scalars_of(statements)
    for x in sorted(listed.sparse, key=lambda x: x.id):
        text.bits(x)
    declared, stored = [], []
    for s in scalars:
        const = "" if writes(statements, s) else "const "
        declared.append(scalar_text(text, s, const))
        if not const:
            stored.append(f"if (small.me == 0) s{s.id}_has[0] = c{s.id}, s{s.id}_val[0] = s{s.id};")
    builder = (listed.before or listed.after)[-1]
    first = (listed.after or listed.before)[0]
    before, after = (
        [line for p in passes for line in _pass(text, p, listed, p is first, p is builder)]
        for passes in (listed.before, listed.after)
    )
    _, at_entry = entry_text(step.before, step.product.u, iso, text)
    halves = " | ".join(f"((const u32*)x{x.id}_bits)[h]" for x in sorted(listed.sparse, key=lambda x: x.id))
    remains = "small.q.all_remaining != 0"
    if isinstance(listed.condition, Scal):
        remains = f"c{listed.condition.id} && cast<bool>(s{listed.condition.id})"
    turns = step.product.u == turning
    others = tuple(p for p in text.parameters if p.key not in (Key("bits", turning.id), Key("val", turning.id)))
    macros = [
        macro("PARAMETERS", [f", {p.declaration}" for p in others]),
        f"#define x{turning.id}_bits small.b.bits",
        f"#define x{turning.id}_val small.b.val",
        f"#define U_BITS {'small.b.bits' if turns else 'u.bits'}",
        f"#define U_VAL {'(const STORED(U_T)*)small.b.val' if turns else 'u.values'}",
        f"#define STEP_FIRST {int(not listed.before)}",
        f"#define COUNTS_STEP {int(not listed.counted)}",
        f"#define ANY_SPARSE(h) {halves}",
        f"#define REMAINS {remains}",
        macro("SCALARS", declared),
        macro("STORE_SCALARS", stored),
        macro("PASSES_BEFORE", before),
        macro("PASSES_AFTER", after),
        at_entry,
    ]
    return text, others, "\n".join(macros) + "\n"


def _pass(text: CudaText, item: Pass, listed: WorklistRound, first: bool, builds: bool) -> list[str]:
    """An element-wise kernel over the worklist. first: it clears what the advance has read. builds: it rebuilds the
    lists."""
    sums = [s for s in item.statements if isinstance(s.value, Reduce)]
    outer, text.lines = text.lines, []
    begin, late = lines_of(text, item.statements, _begin)
    lines, text.lines = text.lines, outer
    known = vectors_of(item.statements)
    modified = {s.target for s in item.statements if isinstance(s.target, Vec) and s.target.id not in text.local}
    u = listed.step.product.u
    looked_at = sorted((listed.sparse | {u}) - set(known), key=lambda x: x.id) if builds else []
    loads, stores = [], []
    for x in known:
        loads += load_text(text, x, x in modified, "inside", at_once=True)
        if x in modified:
            loads.append(f"const bool was{x.id} = b{x.id};")
            stores += _store(text, x, listed)
    loads += [f"const bool b{x.id} = bit_now(x{x.id}_bits, p);" for x in looked_at]
    for x in looked_at:
        text.bits(x)
    counted = isinstance(item.counted, Vec)
    if isinstance(item.counted, Vec):
        begin.append("u32 remaining = 0;")
        stores.append(f"remaining += b{item.counted.id};")
    if builds:
        stores.append(f"keep = {' || '.join(f'b{x.id}' for x in sorted(listed.sparse, key=lambda x: x.id))};")
        stores.append(f"chosen = b{u.id};")
    begins = item is (listed.before or (None,))[0]
    flags = ", ".join("true" if flag else "false" for flag in (begins, first, builds))
    head = "(const i64 p, bool& keep, bool& chosen) { const bool inside = true; (void)inside, (void)keep, (void)chosen;"
    ending = ["small.remain(remaining);"] if counted else []
    ending += [f"put_part(part{k}, some{k}, sum{k}, add{k});" for k, _ in enumerate(sums)]
    ending.append("meet_in_cluster();")
    for k, s in enumerate(sums):
        ending.append(f"join_parts(part{k}, some{k}, sum{k}, add{k}); {store_sum(text, s, k)}")
    ending += late
    if builds:
        ending.append("small.turn ^= 1;")
    return ["{", *begin, f"small.visit<{flags}>([&]{head}", *loads, *lines, *stores, "});", *ending, "}"]


def _store(text: CudaText, x: Vec, listed: WorklistRound) -> list[str]:
    """Store the changes of a vector at one position. Cells of the vector that the advance writes are reinitialized."""
    lines = [
        f"if (b{x.id} && !was{x.id}) set_bit(x{x.id}_bits, p); if (!b{x.id} && was{x.id}) clear_bit(x{x.id}_bits, p);"
    ]
    if x.id in text.iso:
        return lines
    if x.dtype is BOOL:
        lines.append(f"if (b{x.id} && v{x.id}) set_bit(x{x.id}_val, p); else clear_bit(x{x.id}_val, p);")
    else:
        lines.append(f"if (b{x.id}) x{x.id}_val[p] = v{x.id};")
    if x == listed.step.target:
        lines.append(f"if (CELLS_BEGIN && !b{x.id} && was{x.id}) x{x.id}_val[p] = C_T(BEGIN);")
    return lines


def _begin(text: CudaText, s: Statement, k: int) -> str:
    add, z = sum_function(s)
    name, c = text.function(add), z.c_type
    return (
        f"const auto add{k} = [](const {c} x, const {c} y) {{ return {name}(x, y); }}; "
        f"bool some{k} = false; {c} sum{k} = cast<{c}>(0); __shared__ Parts<{c}> part{k};"
    )


def split_round(items: Sequence[Item]) -> tuple[list[Pass], list[Step], list[Pass]]:
    """The element-wise kernels before the first advance, the advances, and the element-wise kernels after it."""
    steps = [item for item in items if isinstance(item, Step)]
    at = items.index(steps[0]) if steps else len(items)
    passes = [(k, item) for k, item in enumerate(items) if isinstance(item, Pass)]
    return [p for k, p in passes if k < at], steps, [p for k, p in passes if k > at]
