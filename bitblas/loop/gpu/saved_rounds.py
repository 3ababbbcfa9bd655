"""Frontiers of a multivector back from a stack, each column on its own: a cluster of blocks runs all rounds of one
column, from its last frontier to the first, in one launch (formats/bitmap/saved_rounds.cu).

The way there is a search whose columns ran alone too (column_rounds.py), so that the stack has a list of each column.
The launch takes the place of a nested loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semirings.dtypes import BOOL, INT32

from ... import tuning
from ...kernels.variant import Variant
from ...operations.multivector import words_of
from ...operations.operands import dummy
from ...plan.product import VALUES
from .. import analysis
from ..buffers import Argument, Launch
from ..codegen.cuda_dialect import Key, macro
from ..codegen.cuda_kernels import sum_text
from ..fuse import FusedElementwise, Line, OnStack, Pull, Round, statement_texts
from ..ir import NO_LIMIT, Elementwise, Masked, MultivectorProduct, Scal, Statement, Vec, flat
from .column_rounds import blocks_per_column, has_short_rows, prepared_sums, sum_arguments, sum_lanes_of, with_sums

if TYPE_CHECKING:
    from ...device import Device
    from ...formats.bitmap.layout import Lines
    from ...typing import Array
    from .build import Build


class SavedColumns(NamedTuple):
    """The arrays of a stack column by column (saved.cuh). In a search each entry is pushed once, so there is room for
    the lines of each column, and for as many frontiers; a push beyond it is an error."""

    lists: Array
    ends: Array
    heights: Array
    numbers: Array
    lines: Lines

    @classmethod
    def of(cls, device: Device, lines: Lines) -> SavedColumns:
        xp, columns, n = device.xp, lines.width, lines.number
        device.foresee("a stack of frontiers by columns", 4 * columns * (2 * n + 2))
        lists, ends = xp.empty(max(1, columns * n), np.uint32), xp.zeros(columns * (n + 1), np.uint32)
        return cls(lists, ends, xp.zeros(columns, np.uint32), xp.zeros(3, np.uint64), lines)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return *self[:4], np.int64(self.lines.width), np.int64(self.lines.number)


@dataclass(frozen=True)
class ColumnReturn:
    """Rounds that pop a frontier, sum products at its entries, and run statements there. emptied: vectors that have
    entries at these places only, and none after the last round."""

    pop: OnStack
    pull: Pull
    statements: tuple[Statement, ...]
    emptied: frozenset[Vec]


def column_return(
    round_: Round, condition: Vec | Scal, facts: analysis.BodyFacts, limit: int | None
) -> ColumnReturn | None:
    """The way back that is all of the rounds of a nested loop."""
    if [type(item) for item in round_.items] != [OnStack, Pull, FusedElementwise] or limit != NO_LIMIT:
        return None
    pop, pull, elementwise = round_.items
    assert isinstance(pop, OnStack) and isinstance(pull, Pull) and isinstance(elementwise, FusedElementwise)
    product, level, iso = pull.product, pop.statement.target, facts.iso
    if not isinstance(product, MultivectorProduct) or not isinstance(level, Vec) or level != condition:
        return None
    here = Masked(level, True, False)
    summed = analysis.product_kind(product, iso)[0] == VALUES and product.semiring.return_type is not BOOL
    if product.u.id in iso or product.u.dtype is BOOL or product.u in facts.full:
        return None
    if pop.value.what != "pop" or pull.mask != here or not summed or not has_short_rows(product.matrix.structure):
        return None
    statements = [s for s in elementwise.statements if s.target != condition or not _counts(s)]
    # The product's vector too, unless it is that of a kernel.
    seen, emptied = set[Vec](), {pull.target} & {s.target for s in flat(facts.body.all)}
    for s in statements:
        x = s.target
        if not isinstance(x, Vec) or x == level or x in facts.full or s.mask != here or s.elsewhere:
            return None
        if not isinstance(s.value, Elementwise) or s.value.under is not None:
            return None
        if getattr(getattr(s.value.op, "op", None), "positional", False):  # positions of copies are others
            return None
        if any(y.dtype is BOOL and y.id not in iso for y in (x, *s.vectors) if y not in (level, pull.target)):
            return None
        if s.replace:
            if x == product.u or x in seen or x in s.vectors:
                return None
            emptied.add(x)
        seen |= {x, *s.vectors}
    return ColumnReturn(pop, pull, tuple(statements), frozenset(emptied))


def _counts(s: Statement) -> bool:
    """Whether a statement changes nothing, and is there to count the condition."""
    e = s.value
    return isinstance(e, Elementwise) and e.u == s.target and e.op is None and s.mask is None


class ColumnCopy:
    """The copy of a vector column by column."""

    def __init__(self, build: Build, x: Vec, lines: Lines, number: int) -> None:
        """number: of the copy among those of its loop."""
        self.x, self.lines, self.words = x, lines, -(-lines.number // 32)
        size = lines.width * self.words
        self.bits = build.scratch.array(2 * -(-size // 2), np.uint32)
        self.values = (
            build.column_array(number, 32 * size, x.dtype) if x.id not in build.iso else dummy(build.device, "int32")
        )

    def array(self, key: Key) -> Array:
        return self.bits.view(np.uint64) if key.kind == "bits" else self.values

    def launch(self, build: Build, rounds: Array, *, back: bool) -> Launch:
        """The launch that copies the vector, or that copies it back."""
        lines, of, valued = self.lines, build.buffers[self.x], self.x.id not in build.iso
        bits, line = ("BITS", min(64, lines.stride)), np.dtype(f"u{min(64, lines.stride) // 8}")
        kind = (("V", self.x.dtype if valued else INT32),)
        args: tuple[Argument, ...]
        shape = np.int64(lines.number), np.int64(words_of(lines)), rounds
        values = of.values[0] if valued else self.values
        constants = (bits, ("LANES", 1), ("VALUES", 2 * valued))
        if not back:
            variant = Variant("formats/bitmap/to_columns", kind, constants)
            args = *shape, np.int64(lines.width), of.bits[0].view(line), values, self.bits, self.values
        else:
            none, variant = dummy(build.device, "uint32"), Variant("formats/bitmap/leave_columns", kind, constants)
            columns = self.bits, none, none, none, np.int64(lines.width), np.int64(lines.number), np.int64(self.words)
            args = *shape, *columns, of.bits[0].view(line), self.values, values
        return build.launcher(variant, build.grid(lines.number), args)


class SavedRounds:
    """The launches, and their memory."""

    def __init__(self, build: Build, way: ColumnReturn, head: tuple[Argument, ...]) -> None:
        """head: of a launch of the round around."""
        device, product, level = build.device, way.pull.product, way.pop.statement.target
        assert isinstance(product, MultivectorProduct) and isinstance(level, Vec)
        lines, saved = product.lines, build.stacks.saved[way.pop.value.stack]
        prepared = prepared_sums(build, product)
        rows = prepared.layout
        n, columns = lines.number, lines.width
        text, at_sum = sum_text(way.statements, level, way.pull.target, way.emptied, build.iso)
        blocks = blocks_per_column(columns, device.multiprocessors) if device.cluster is not None else 1
        threads = tuning.count("columns.threads")
        constants = {"SUM_LANES": sum_lanes_of(rows), "PACKED": int(rows.format.packed)}
        constants |= {"CLUSTER": blocks, "THREADS": threads}
        variant = Variant(
            "formats/bitmap/saved_rounds",
            constants=tuple(constants.items()),
            functions=tuple(text.functions),
            label="with statements",
            text=f"{macro('PARAMETERS', [f', {p.declaration}' for p in text.parameters])}\n{at_sum}\n",
        )
        variant = with_sums(variant, prepared)
        rounds: Array = device.xp.zeros(3, np.int64)
        stored = {x for s in way.statements for x in (*s.vectors, s.target) if isinstance(x, Vec)}
        stored = (stored | {product.u}) - {level, way.pull.target, *way.emptied}
        copies = {x: ColumnCopy(build, x, lines, k) for k, x in enumerate(sorted(stored, key=lambda x: x.id))}
        of = {x.id: copy for x, copy in copies.items()}
        bound = [
            of[p.key.number].array(p.key) if p.key.number in of else build.resolve((p,))[0] for p in text.parameters
        ]
        sums, x, bits = build.buffers[way.pull.target].values[0], copies[product.u], build.buffers[level].bits[0]
        has = build.scratch.array(columns * n, np.uint8)
        args = (
            *(np.int64(len(bits)), np.int64(x.words), rounds, build.outermost, *saved.arguments, sums, has),
            *sum_arguments(prepared),
            *(x.bits, x.values),
            *bound,
        )
        clusters = max(1, min(columns, device.multiprocessors // blocks))
        enter, head = Variant("formats/bitmap/enter_saved", (), (("LANES", 1),)), (np.int64(len(bits)), *head)
        written = {s.target for s in way.statements}
        self.launches: list[Launch] = [
            lambda: rounds.fill(0),
            build.launcher(enter, build.grid(len(bits)), (*head, rounds, *saved.arguments, bits)),
            *(copy.launch(build, rounds, back=False) for copy in copies.values()),
            build.launcher(variant, clusters * blocks, args, threads),
            *(copy.launch(build, rounds, back=True) for x, copy in copies.items() if x in written),
        ]
        found = (way.pop, way.pull, FusedElementwise(list(way.statements)))
        self.lines = [Line(item.kind, statement_texts(item), str(variant)) for item in found]
