"""Each column of a multivector on its own: a cluster of blocks runs all rounds of one column, in one launch.

For searches from many vertices on graphs with many levels. Every statement of such a body acts on each column alone,
and a column without a frontier does nothing, so no column waits for another one (formats/bitmap/column_rounds.cu). The
launch takes the place of the captured body. A nested loop may also sum values along its frontiers, and save them on a
stack; saved_rounds.py is the way back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL, INT32, DataType

from ... import tuning
from ...config import config
from ...formats import Structure
from ...formats.schedule import has_even_units, hubs_of
from ...kernels.variant import Variant
from ...operations.multivector import PreparedLines, plan_lines, prepare, variant_of, walks_lines, words_of
from ...operations.operands import dummy
from ...operations.variants import WHOLE
from ...plan.product import VALUES, WORDS, key_of_lines, power_of_two
from .. import analysis
from ..buffers import Argument, Launch
from ..codegen.cuda_dialect import Key, macro
from ..codegen.cuda_kernels import entry_text
from ..fuse import Advance, Inner, Item, Line, OnStack, Round, copies, statement_texts, writes_all
from ..ir import NO_LIMIT, IsoValues, MultivectorProduct, Scal, Stacked, Vec, flat

if TYPE_CHECKING:
    from ...formats.csr.layout import Rows
    from ...typing import Array
    from .build import Build

OWN_BYTES = 2 << 10  # of shared memory, in addition to copies of bits
SHARED_STEP = 32 << 10  # bytes of shared memory, so that kernels do not depend on the number of rows


def may_advance(product: MultivectorProduct, iso: IsoValues) -> bool:
    """Whether a cluster can compute a product column by column: along short rows. Lists have row numbers of 32 bits."""
    if product.inner != product.lines or product.lines.number >= 1 << 31:
        return False
    kind, _ = analysis.product_kind(product, iso)
    summed = kind == VALUES and product.semiring.return_type is not BOOL
    return (kind == WORDS or summed) and has_short_rows(product.matrix.structure)


def has_short_rows(structure: Structure) -> bool:
    """Whether products push along rows as they are stored, none of them long, or many times as long as the mean. Graphs
    with long rows have few levels, and frontiers with most rows."""
    if walks_lines(key_of_lines(structure, config.prefer, per_entry=False)):
        return False
    longest, times = tuning.count("multivector.long_row"), tuning.value("multivector.even_rows")
    both = [structure.rows(transposed=side) for side in (False, True)]
    return all(has_even_units(rows, times) and hubs_of(rows, longest) is None for rows in both)


def searches_by_columns(structure: Structure) -> bool:
    """Whether rounds of searches from many vertices cost what is in their frontiers."""
    return structure.device.captures_bodies and not structure.hypersparse and has_short_rows(structure)


@dataclass(frozen=True)
class ColumnSearch:
    """A search from many vertices. push: of each frontier on a stack, before the advance."""

    advance: Advance
    push: OnStack | None


def column_search(
    round_: Round, condition: Vec | Scal, facts: analysis.BodyFacts, limit: int | None = None
) -> ColumnSearch | None:
    """The search from many vertices that is all of a round: under the complement of a vector that gets the entries of
    each frontier and that no statement reads. limit: of the rounds of a nested loop, None for the outermost."""
    push, item = round_.items[0], round_.items[-1]
    if len(round_.items) > 2 or not isinstance(item, Advance) or not (push is item or isinstance(push, OnStack)):
        return None
    product, mask, u = item.product, item.mask, item.product.u
    if not isinstance(product, MultivectorProduct) or not item.target == u == condition:
        return None
    if mask is None or not (mask.structure and mask.complement and item.also) or mask.vec in facts.full:
        return None
    for s in item.before:
        if mask.vec in s.terms or (s.target == mask.vec and (s.accum is not None or not writes_all(s, u))):
            return None
    saves = push if isinstance(push, OnStack) else None
    ends_early = limit != NO_LIMIT
    if ends_early and (saves is not None or analysis.product_kind(product, facts.iso)[0] == VALUES):
        return None
    if saves is not None:
        pushes = [s.value for s in flat(facts.body.all) if isinstance(s.value, Stacked) and s.value.what == "push"]
        if saves.value.u != u or sum(value.stack == saves.value.stack for value in pushes) != 1:
            return None
    return ColumnSearch(item, saves)


def column_searches(plan: Round, facts: analysis.BodyFacts) -> list[ColumnSearch]:
    """Those of the nested loops of a round."""
    loops = (item for item in plan.all if isinstance(item, Inner))
    found = (column_search(loop.round, loop.condition, facts, loop.limit) for loop in loops)
    return [search for search in found if search is not None]


class ColumnRounds:
    """The launches, and their memory. cleared: arrays, and what fills them before the launches."""

    text = "each column alone, all of its rounds in one launch"
    reports = False  # to the host

    def __init__(
        self, build: Build, search: ColumnSearch, head: tuple[Argument, ...] | None = None, limit: int = NO_LIMIT
    ) -> None:
        """head: of a launch of the round around a nested loop. limit: of its rounds."""
        device, item, push = build.device, search.advance, search.push
        product, mask = item.product, item.mask
        assert isinstance(product, MultivectorProduct) and mask is not None
        self.shape, self.build, self.mask, self.u = product.lines, build, mask.vec, product.u
        n, columns, words = self.shape.number, self.shape.width, -(-self.shape.number // 32)
        sums, saves = int(analysis.product_kind(product, build.iso)[0] == VALUES), int(push is not None)
        device.foresee("searches column by column", 4 * columns * (n * (1 - saves) + words * (1 + sums)))
        scratch, counts = build.scratch, device.xp.zeros(2 * columns, np.uint32)
        self.cleared: list[tuple[Array, np.generic]] = [(counts, np.uint32(0))]
        closed, front = (scratch.array(max(1, columns * words * used), np.uint32) for used in (1, sums))
        saved = no_columns(build) if push is None else build.stacks.saved[push.value.stack].arguments
        order = saved[0] if saves else scratch.array(max(1, columns * n), np.uint32)
        self.rounds: Array = build.rounds if head is None else device.xp.zeros(3, np.int64)
        self.columns: tuple[Argument, ...]
        self.columns = closed, front, order, counts, np.int64(columns), np.int64(n), np.int64(words)
        cells = build.column_array(0, 32 * columns * words, product.u.dtype) if sums else None
        text = _Statements(build, item, mask.vec, 32 * columns * words, cells)
        begin: list[Launch] = []
        if head is not None:
            args = np.int64(columns), *head, np.int64(limit), self.rounds, counts, *saved, np.int64(saves)
            begin.append(build.launcher(self._variant_around("begin_columns"), 1, args))
        number = np.int64(-1 if push is None else push.value.number)
        around = self._enter(sums), self._leave(text.by_column)
        self._launches = [*begin, around[0], self._all_rounds(search, text, cells, (*saved, number)), around[1]]
        items: tuple[Item, ...] = (item,) if push is None else (push, item)
        self.lines = [Line(x.kind, statement_texts(x), build.launched) for x in items]
        self.line = self.lines[-1]

    def launches(self, build: Build) -> list[Launch]:
        return self._launches

    def _variant_around(self, name: str, *constants: tuple[str, int], kind: DataType | None = None) -> Variant:
        """A kernel before or after all rounds. kind: the type of its values."""
        bits, types = ("BITS", min(64, self.shape.stride)), () if kind is None else (("V", kind),)
        return Variant(f"formats/bitmap/{name}", types, (bits, ("LANES", 1), *constants))

    def _around(self, variant: Variant, *args: Argument) -> Launch:
        n = self.shape.number
        head = np.int64(n), np.int64(words_of(self.shape)), self.rounds, *self.columns
        return self.build.launcher(variant, self.build.grid(n), (*head, *args))

    def _bits_of(self, x: Vec) -> Array:
        """The bits of a vector, by lines or words of them."""
        return self.build.buffers[x].bits[0].view(f"u{min(64, self.shape.stride) // 8}")

    def _enter(self, sums: int) -> Launch:
        variant = self._variant_around("enter_columns", ("FRONT", sums))
        return self._around(variant, self._bits_of(self.u), self._bits_of(self.mask))

    def _leave(self, by_column: Array | None) -> Launch:
        """by_column: the values of the mask's vector, if the rounds have written them column by column."""
        none = dummy(self.build.device, "int32")
        values = (none, none) if by_column is None else (by_column, self.build.buffers[self.mask].values[0])
        kind, copied = INT32 if by_column is None else self.mask.dtype, ("VALUES", int(by_column is not None))
        variant = self._variant_around("leave_columns", copied, kind=kind)
        return self._around(variant, self._bits_of(self.mask), *values)

    def _all_rounds(
        self, search: ColumnSearch, text: _Statements, cells: Array | None, saved: tuple[Argument, ...]
    ) -> Launch:
        """cells: the values of frontiers, if sums are taken. saved: the stack, and the number of the push."""
        item, product = search.advance, search.advance.product
        assert isinstance(product, MultivectorProduct)
        build, device, n, columns = self.build, self.build.device, self.shape.number, self.shape.width
        rows = product.matrix.structure.rows(transposed=not product.transpose)
        blocks = blocks_per_column(columns, device.multiprocessors) if device.cluster is not None else 1
        shared = -(-n // 8 // SHARED_STEP) * SHARED_STEP
        copies = shared <= min(tuning.count("columns.shared_bytes"), device.block_shared_bytes - OWN_BYTES)
        constants = {"BITS": min(64, self.shape.stride), "LANES": lanes_of(rows)}
        constants |= {"PACKED": int(rows.format.packed), "STATEMENTS": int(bool(item.before)), "CLUSTER": blocks}
        constants |= {"THREADS": tuning.count("columns.threads"), "COPIES": int(copies)}
        constants |= {"SHARED_BYTES": shared if copies else 0, "SUMS": int(cells is not None)}
        constants["SAVES"] = int(search.push is not None)
        variant = Variant(
            "formats/bitmap/column_rounds",
            rows.format.view.types(rows, False),
            tuple(constants.items()),
            functions=text.functions,
            label="with statements" if item.before else "",
            text=text.text,
        )
        of_sums: tuple[Argument, ...] = ()
        if cells is not None:
            prepared = prepared_sums(build, product)
            constants["SUM_LANES"] = sum_lanes_of(prepared.layout)
            variant = with_sums(replace(variant, constants=tuple(constants.items())), prepared)
            of_sums = *sum_arguments(prepared), build.buffers[self.u].values[0], cells
        args = (
            *(np.int64(n), np.int64(self.shape.stride), self.rounds, build.outermost, *self.columns, *saved),
            *(build.buffers[self.u].bits[0], rows.ptr, rows.col, np.int64(rows.width)),
            *of_sums,
            *text.arguments,
        )
        clusters = max(1, min(columns, device.multiprocessors // blocks))
        return build.launcher(variant, clusters * blocks, args, variant.constant("THREADS"))


class _Statements:
    """The text of the statements at the entries of a frontier, and its arguments. by_column: values of the mask's
    vector, which the launch writes column by column; None if it writes them in place."""

    def __init__(self, build: Build, item: Advance, mask: Vec, size: int, cells: Array | None) -> None:
        """size: of all columns. cells: the values of frontiers, if sums are taken; that of an entry is `own_value`. If
        the mask's vector gets them, they are its values."""
        u, alone, sums = item.product.u, frozenset({mask}), cells is not None
        copied = [s for s in item.before if s.target == mask]
        kept = sums and len(copied) == 1 and copies(copied[0], u, build.iso)
        statements = [s for s in item.before if not (kept and s in copied)]
        kernel, at_entry = entry_text(statements, u, build.iso, whole=alone, unread=alone)
        self.by_column = cells if kept else None
        self.functions = tuple(kernel.functions)
        declarations, arguments, names = list[str](), list[Argument](), list[str]()
        if sums:
            names.append(f"#define x{u.id}_val own_value")
        narrow = mask.dtype.nbytes <= 8 and mask.dtype is not BOOL
        for p in kernel.parameters:
            if p.key == Key("val", mask.id) and narrow:
                name, kind = f"x{mask.id}_val", mask.dtype.c_type
                build.device.foresee("values of searches column by column", size * mask.dtype.nbytes)
                self.by_column = build.scratch.array(size, mask.dtype.np_type)
                declarations.append(f", {kind}* {name}_column")
                arguments.append(self.by_column)
                names.append(f"#define {name} OF_COLUMN({kind}, {name}_column)")
            elif not (sums and p.key == Key("val", u.id)):
                declarations.append(f", {p.declaration}")
                arguments += build.resolve((p,))
        self.arguments = tuple(arguments)
        self.text = "\n".join([macro("PARAMETERS", declarations), *names, at_entry, ""])


def lanes_of(rows: Rows) -> int:
    """Lanes that share a row of a frontier."""
    return power_of_two(rows.nvals / max(1, rows.nrows) / tuning.value("columns.entries_per_lane"), 4, 8)


def sum_lanes_of(rows: Rows) -> int:
    """Lanes that share the sum along a row."""
    return power_of_two(rows.nvals / max(1, rows.nrows) / tuning.value("columns.entries_per_sum_lane"), 1, 32)


def with_sums(variant: Variant, prepared: PreparedLines) -> Variant:
    """A kernel that also takes the sums of a product."""
    plain = variant_of(prepared, WHOLE)
    return replace(
        plain,
        kernel=variant.kernel,
        constants=tuple((dict(plain.constants) | dict(variant.constants)).items()),
        functions=(*plain.functions, *variant.functions),
        label=f"{plain.label} {variant.label}",
        text=variant.text,
    )


def prepared_sums(build: Build, product: MultivectorProduct) -> PreparedLines:
    """A product whose sums are taken along rows."""
    of = analysis.lines_product(product, analysis.planned_operand(product, build.iso))
    return prepare(plan_lines(of, push=False), of)


def sum_arguments(prepared: PreparedLines) -> tuple[Argument, ...]:
    """The rows of such a product, and the values of its matrix."""
    rows, values = prepared.layout, prepared.a_val
    return rows.ptr, rows.col, np.int64(rows.width), *(np.int64(x) if isinstance(x, int) else x for x in values)


def no_columns(build: Build) -> tuple[Argument, ...]:
    """The arguments of a stack that does not exist."""
    none = dummy(build.device, "uint32")
    return none, none, none, dummy(build.device, "uint64"), np.int64(0), np.int64(0)


def blocks_per_column(columns: int, multiprocessors: int) -> int:
    """Blocks of a cluster, so that all columns run at once. A part of a GPU holds several multiprocessors, of which
    larger clusters leave some idle."""
    blocks, most = 1, tuning.count("columns.blocks")
    while 2 * blocks <= most and 2 * blocks * columns <= multiprocessors * (1 if blocks == 1 else 0.75):
        blocks *= 2
    return blocks
