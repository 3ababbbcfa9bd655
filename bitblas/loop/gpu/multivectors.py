"""Advances of multivectors in the rounds of a GPU loop: a round costs the words that have entries, not all rows.

A frontier lists the 64-bit words of its bitmap that have entries (formats/bitmap/advance.cu). Each advance lists those
of the next one, and the element-wise kernels that do nothing elsewhere follow the list too (elementwise.cu).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import BOOL

from ... import tuning
from ...config import config
from ...formats import Structure
from ...formats.csr.layout import Rows
from ...formats.schedule import has_even_units, hubs_of
from ...kernels.variant import Variant
from ...operations.multivector import as_sums, plan_lines, prepare, read_lines, variant_of, walks_lines, words_of
from ...operations.operands import dummy, nothing
from ...operations.variants import WHOLE
from ...plan.direction import multivector_round_limit
from ...plan.product import VALUES, WORDS, key_of_lines, power_of_two
from ...store import VectorStore
from .. import analysis
from ..buffers import BUFFERS, Argument, Frontier, Launch
from ..codegen.cuda_dialect import macro
from ..codegen.cuda_kernels import words_text
from ..fuse import Advance, CompactFrontier, FusedElementwise, Inner, Item, OnStack, Round, touched, writes_all
from ..ir import IsoValues, MultivectorProduct, Vec

if TYPE_CHECKING:
    from ...device import Device
    from ...typing import Array
    from .build import Build


def may_advance(product: MultivectorProduct, iso: IsoValues, *, masked: bool) -> bool:
    """Whether advances compute a product: presence only, or values under a mask. Lists have word numbers of 32 bits."""
    values = analysis.planned_operand(product, iso)
    of = analysis.lines_product(product, values)
    if product.inner != product.lines or product.lines.words >= 1 << 32 or walks_lines(of.key):
        return False
    if analysis.product_kind(product, iso)[0] != WORDS and not (masked and product.semiring.return_type is not BOOL):
        return False
    return has_short_rows(product.matrix.structure)


def has_short_rows(structure: Structure) -> bool:
    """Whether no row of the matrix or its transpose is so long that pulls cut it, or many times as long as the mean.
    Graphs with such rows have few levels, and frontiers with most rows."""
    longest, times = tuning.count("multivector.long_row"), tuning.value("multivector.even_rows")
    both = [structure.rows(transposed=side) for side in (False, True)]
    return all(has_even_units(rows, times) and hubs_of(rows, longest) is None for rows in both)


def follows_lists(structure: Structure) -> bool:
    """Whether rounds of searches from many vertices cost what is in their frontiers."""
    if not structure.device.captures_bodies or structure.hypersparse:
        return False
    return not walks_lines(key_of_lines(structure, config.prefer, per_entry=False)) and has_short_rows(structure)


def holds_frontier(item: Advance, round_: Round, full: Set[Vec]) -> bool:
    """Whether the bits of an advance's mask may hold the frontier too, so that a row reads one word instead of two: if
    the mask receives the entries of each frontier, and nothing else in the round uses it or writes the frontier."""
    mask, q, others = item.mask, item.target, [x for x in round_.items if x is not item]
    if not (item.also and isinstance(item.product, MultivectorProduct) and item.product.u == q):
        return False
    if mask is None or not (mask.structure and mask.complement) or mask.vec in full:
        return False
    for s in item.before:
        if mask.vec in s.terms or (s.target == mask.vec and (s.accum is not None or not writes_all(s, q))):
            return False
    return not any(isinstance(x, Inner) or mask.vec in touched(x) or _may_write(x, q) for x in others)


def _may_write(item: Item, x: Vec) -> bool:
    if x not in touched(item) or isinstance(item, CompactFrontier):
        return False
    if isinstance(item, FusedElementwise):
        return any(s.written == x for s in item.statements)
    return not isinstance(item, OnStack) or item.statement.target == x


def add_frontiers(build: Build, head: tuple[Argument, ...]) -> list[Launch]:
    """The launches before the first round, after which masks hold the frontier."""
    return [_on_mask(build, item, "add_frontier", head, 1) for item in build.holding]


def drop_frontiers(build: Build) -> list[Launch]:
    """The launches after the last round, after which they do not."""
    steps = lambda item: np.int64(build.advances_of[item.target])
    return [_on_mask(build, item, "drop_frontier", (build.rounds, steps(item)), BUFFERS) for item in build.holding]


def _on_mask(build: Build, item: Advance, name: str, head: tuple[Argument, ...], buffers: int) -> Launch:
    assert item.mask is not None
    mask, frontier = build.buffers[item.mask.vec], build.buffers[item.target]
    n, variant = len(mask.bits[0]), Variant(f"formats/bitmap/{name}", (), (("BITS", 64), ("LANES", 1)))
    return build.launcher(variant, build.grid(n), (np.int64(n), *head, mask.bits[0], *frontier.bits[:buffers]))


def segmented(device: Device, rows: Rows, longest: int) -> tuple[Argument, ...]:
    """Rows, and the segments of those with more than `longest` entries, as kernel arguments."""
    hubs = hubs_of(rows, longest)
    cut = rows.ptr, rows.ptr, dummy(device, "int64"), np.int64(0)
    if hubs is not None:
        cut = hubs.begin, hubs.end, hubs.row_of, np.int64(hubs.segments)
    return rows.ptr, rows.col, np.int64(rows.width), *cut, np.int64(longest)


class Frontiers(NamedTuple):
    """Bits, list and state of the frontiers that are read, written, and cleared for the next round."""

    read: tuple[Argument, ...]
    written: tuple[Argument, ...]
    cleared: tuple[Argument, ...]


def multivector_advance(
    build: Build,
    item: Advance,
    product: MultivectorProduct,
    k: int,
    u_state: Array | None,
    first: int,
    lists: Mapping[Vec, Array],
) -> list[Launch]:
    """The launches of an advance in copy k of a round. u_state: the state of the worklist of its operand, if it pushes.
    first: the first state of the target's buffers. lists: the states of valid worklists."""
    u, t, lines = build.buffers[product.u], build.buffers[item.target], product.lines
    written = t.at(t.bits, 1), t.at(t.lists, 1), build.number(first + 2)
    cleared = t.at(t.bits, 2), t.at(t.lists, 2), build.number(first)
    last = np.uint64((1 << (lines.width - 64 * (words_of(lines) - 1))) - 1)
    shape = np.int64(lines.words), np.int64(lines.number), np.int64(words_of(lines)), last
    if item.by_mask:
        assert item.mask is not None
        mask = build.buffers[item.mask.vec]
        frontiers = Frontiers((mask.at(mask.bits), mask.at(mask.lists), lists[item.mask.vec]), written, cleared)
        launches = [_sums(build, product, k, shape, frontiers, t, finds=True)]
    else:
        assert u_state is not None
        frontiers = Frontiers((u.at(u.bits), u.at(u.lists), u_state), written, cleared)
        launches = [_push_or_pull(build, item, product, k, shape, frontiers)]
        if analysis.product_kind(product, build.iso)[0] != WORDS:
            launches.append(_sums(build, product, k, shape, frontiers._replace(read=written), t, finds=False))
    t.current = (t.current + 1) % BUFFERS
    return launches


def _push_or_pull(
    build: Build,
    item: Advance,
    product: MultivectorProduct,
    k: int,
    shape: tuple[Argument, ...],
    frontiers: Frontiers,
) -> Launch:
    """The launch that finds the places of the result."""
    device, lines, structure = build.device, product.lines, product.matrix.structure
    push, pull = (structure.rows(transposed=product.transpose != pushed) for pushed in (True, False))
    length = pull.nvals / max(1, pull.nrows)
    lanes = power_of_two(length / tuning.value("multivector.round_entries_per_lane"), 1, 32)
    bits, per_line, longest = min(64, lines.stride), words_of(lines), tuning.count("multivector.segment")
    holds = item.mask.vec if item in build.holding and item.mask is not None else None
    alone = not any(item.target in touched(x) for x in build.round.items if x is not item)
    clears = holds is not None and alone and hubs_of(push, longest) is None
    kernel, at_entries = words_text(item.before, product.u, build.iso, holds)
    variant = Variant(
        "formats/bitmap/advance",
        (*push.format.view.types(push, False), ("Z", BOOL)),
        (
            *(("BITS", bits), ("LANES", lanes), ("KIND", WORDS), ("PACKED", int(push.format.packed))),
            *(("ALSO", int(item.also) + (item in build.holding)), ("STATEMENTS", int(bool(item.before)))),
            ("CLEARS", int(clears)),
        ),
        functions=tuple(kernel.functions),
        label="with statements" if item.before else "",
        text=f"{macro('PARAMETERS', [f', {p.declaration}' for p in kernel.parameters])}\n{at_entries}\n",
    )
    args = (
        *shape,
        np.uint64(multivector_round_limit(lines.words)),
        *build.head(k),
        *frontiers.read,
        *frontiers.written,
        *frontiers.cleared,
        *build.mask(item.mask),
        *segmented(device, push, longest),
        *segmented(device, pull, longest),
        *build.resolve(tuple(kernel.parameters)),
    )
    return build.launcher(variant, build.grid(max(lanes * lines.number * per_line, lines.words)), args)


def _sums(
    build: Build,
    product: MultivectorProduct,
    k: int,
    shape: tuple[Argument, ...],
    frontiers: Frontiers,
    t: Frontier,
    *,
    finds: bool,
) -> Launch:
    """The launch that sums products at the listed places of the frontier that is read. finds: and finds those that have
    any."""
    device, u, lines = build.device, build.buffers[product.u], product.lines
    of = analysis.lines_product(product, analysis.planned_operand(product, build.iso))
    prepared = prepare(plan_lines(of, push=False), of)
    rows, plain = prepared.layout, variant_of(prepared, WHOLE)
    constants = (*plain.constants, ("FINDS", int(finds)))
    variant = replace(plain, kernel="formats/bitmap/sum_words", constants=constants)
    x = VectorStore(device, product.u.size, product.u.dtype, u.at(u.bits), u.stored_values())
    values = as_sums(t.at(t.values, 1), prepared.z, lines) if t.values else nothing(device, BOOL)
    _, _, *read = read_lines(device, x, lines, prepared.plan.kind == VALUES)
    args = (
        *shape,
        *build.head(k),
        *frontiers.read,
        *frontiers.written,
        values,
        *frontiers.cleared,
        *(rows.ptr, rows.col, np.int64(rows.width)),
        *launch_arguments(prepared.a_val),
        *launch_arguments(read),
    )
    return build.launcher(variant, build.grid(32 * lines.words), args)


def launch_arguments(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Convert Python ints for a launch."""
    return tuple(np.int64(x) if isinstance(x, int) else x for x in arguments)
