"""Each column of a multivector on its own: a cluster of blocks runs all rounds of one column, in one launch.

For searches from many vertices on graphs with many levels. Every statement of such a body acts on each column alone,
and a column without a frontier does nothing, so no column waits for another one (formats/bitmap/column_rounds.cu). The
launch takes the place of the captured body.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from semirings.dtypes import BOOL, INT32

from ... import tuning
from ...config import config
from ...formats import Structure
from ...formats.schedule import has_even_units, hubs_of
from ...kernels.variant import Variant
from ...operations.multivector import walks_lines, words_of
from ...operations.operands import dummy
from ...plan.product import WORDS, key_of_lines, power_of_two
from .. import analysis
from ..buffers import Argument, Launch
from ..codegen.cuda_dialect import Key, macro
from ..codegen.cuda_kernels import entry_text
from ..fuse import Advance, Line, Round, statement_texts, writes_all
from ..ir import IsoValues, MultivectorProduct, Scal, Vec

if TYPE_CHECKING:
    from ...typing import Array
    from .build import Build

SHARED_STEP = 32 << 10  # bytes of shared memory, so that kernels do not depend on the number of rows


def may_advance(product: MultivectorProduct, iso: IsoValues) -> bool:
    """Whether a cluster can compute a product column by column: presence only, along short rows. Lists have row numbers
    of 32 bits."""
    if product.inner != product.lines or product.lines.number >= 1 << 31:
        return False
    return analysis.product_kind(product, iso)[0] == WORDS and has_short_rows(product.matrix.structure)


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


def column_search(round_: Round, condition: Vec | Scal, facts: analysis.BodyFacts) -> Advance | None:
    """The advance of a search from many vertices, if it is all that a round does: under the complement of a vector that
    gets the entries of each frontier and that no statement reads."""
    item = round_.items[0] if len(round_.items) == 1 else None
    if not isinstance(item, Advance):
        return None
    product, mask, u = item.product, item.mask, item.product.u
    if not isinstance(product, MultivectorProduct) or not item.target == u == condition:
        return None
    if mask is None or not (mask.structure and mask.complement and item.also) or mask.vec in facts.full:
        return None
    for s in item.before:
        if mask.vec in s.terms or (s.target == mask.vec and (s.accum is not None or not writes_all(s, u))):
            return None
    return item


class ColumnRounds:
    """The launches, and their memory. cleared: arrays, and what fills them before the launches."""

    text = "each column alone, all of its rounds in one launch"
    reports = False  # to the host

    def __init__(self, build: Build, item: Advance) -> None:
        device, product, mask = build.device, item.product, item.mask
        assert isinstance(product, MultivectorProduct) and mask is not None
        lines, rows = product.lines, product.matrix.structure.rows(transposed=not product.transpose)
        n, columns, words = lines.number, lines.width, -(-lines.number // 32)
        device.foresee("searches column by column", 4 * columns * (n + words))
        counts: Array = device.xp.zeros(columns, np.uint32)
        self.cleared: list[tuple[Array, np.generic]] = [(counts, np.uint32(0))]
        scratch = build.scratch
        closed, order = (scratch.array(max(1, columns * count), np.uint32) for count in (words, n))
        of_columns: tuple[Argument, ...] = closed, order, counts, np.int64(columns), np.int64(n), np.int64(words)
        blocks = blocks_per_column(columns, device.multiprocessors) if device.cluster is not None else 1
        shared = -(-4 * words // SHARED_STEP) * SHARED_STEP
        copies = shared <= min(tuning.count("columns.shared_bytes"), device.block_shared_bytes - 1024)
        text, at_entry = entry_text(
            item.before, product.u, build.iso, whole=frozenset({mask.vec}), unread=frozenset({mask.vec})
        )
        parameters, macros = list(text.parameters), [at_entry]
        key, written = Key("val", mask.vec.id), build.buffers[mask.vec]
        by_column: Array | None = None
        at = next((k for k, p in enumerate(parameters) if p.key == key), None)
        if (
            at is not None
            and mask.vec.dtype.nbytes <= 4
            and mask.vec.dtype is not BOOL
            and tuning.count("columns.transposed")
        ):
            name, kind = f"x{mask.vec.id}_val", mask.vec.dtype.c_type
            by_column = scratch.array(columns * n, mask.vec.dtype.np_type)
            parameters[at] = parameters[at]._replace(declaration=f"{kind}* {name}_column")
            macros.insert(0, f"#define {name} OF_COLUMN({kind}, {name}_column)")
        bound = [
            build.resolve((p,))[0] if k != at or by_column is None else by_column for k, p in enumerate(parameters)
        ]
        macros.insert(0, macro("PARAMETERS", [f", {p.declaration}" for p in parameters]))
        lanes = power_of_two(rows.nvals / max(1, rows.nrows) / tuning.value("columns.entries_per_lane"), 4, 32)
        bits, threads = ("BITS", min(64, lines.stride)), tuning.count("columns.threads")
        variant = Variant(
            "formats/bitmap/column_rounds",
            rows.format.view.types(rows, False),
            (
                *(bits, ("LANES", lanes), ("PACKED", int(rows.format.packed)), ("STATEMENTS", int(bool(item.before)))),
                *(
                    ("CLUSTER", blocks),
                    ("THREADS", threads),
                    ("COPIES", int(copies)),
                    ("PREFETCH", tuning.count("columns.prefetch")),
                ),
                ("SHARED_BYTES", shared if copies else 0),
            ),
            functions=tuple(text.functions),
            label="with statements" if item.before else "",
            text="\n".join(macros) + "\n",
        )
        frontier, masked = build.buffers[product.u].bits[0], build.buffers[mask.vec].bits[0]
        dtype = np.dtype(f"u{bits[1] // 8}")
        frontier_lines, mask_lines = frontier.view(dtype), masked.view(dtype)
        grid, head = build.grid(n), (np.int64(n), np.int64(words_of(lines)), build.rounds, *of_columns)
        around = lambda name: Variant(f"formats/bitmap/{name}", (), (bits, ("LANES", 1)))
        enter = build.launcher(around("enter_columns"), grid, (*head, frontier_lines, mask_lines))
        transposes, none = by_column is not None, dummy(device, "int32")
        variant_out = dataclasses.replace(
            around("leave_columns"),
            types=(("V", mask.vec.dtype if transposes else INT32),),
            constants=(bits, ("LANES", 1), ("VALUES", int(transposes))),
        )
        values = (by_column, written.values[0]) if transposes else (none, none)
        leave = build.launcher(variant_out, grid, (*head, mask_lines, *values))
        clusters = max(1, min(columns, device.multiprocessors // blocks))
        args = (
            *(np.int64(n), np.int64(lines.stride), build.rounds, *of_columns, frontier),
            *(rows.ptr, rows.col, np.int64(rows.width)),
            *bound,
        )
        self._launches = [enter, build.launcher(variant, clusters * blocks, args, threads), leave]
        self.line = Line(item.kind, statement_texts(item), str(variant))

    def launches(self, build: Build) -> list[Launch]:
        return self._launches


def blocks_per_column(columns: int, multiprocessors: int) -> int:
    """Blocks of a cluster: as many as all columns at once leave for each."""
    blocks, most = 1, tuning.count("columns.blocks")
    while 2 * blocks <= most and 2 * blocks * columns <= multiprocessors:
        blocks *= 2
    return blocks
