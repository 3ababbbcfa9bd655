"""All rounds of a body in one launch of the whole grid, whose blocks meet after each round (kernels/grid_rounds.cuh).

For a body of one advance along plain rows of very different lengths, of which any product will do: searches of web and
social graphs. A frontier is listed in chunks of rows, so that all warps have as much work. There is no loop then: the
launch takes the place of the captured body and of small rounds in a cluster.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ... import tuning
from ...kernels.variant import Variant
from ..buffers import BUFFERS, Argument, Launch
from ..codegen.cuda_dialect import Key, Parameter, macro
from ..codegen.cuda_kernels import entry_text, writes_all
from ..fuse import Advance, Line, statement_texts
from .products import AdvanceMatrix, launch_arguments, limits
from .small_rounds import plan_small_rounds

if TYPE_CHECKING:
    from ...typing import Array
    from .build import Build

CHUNK_BYTES = 16
SHARED_BYTES = 80 << 10  # of a block
NUMBERS = 13  # in 64-bit words: the barrier, and what is known about three frontiers


class GridRounds:
    """The launch, and its memory. cleared: arrays, and what fills them before it."""

    text = "all rounds in one launch of the grid, whose blocks meet after each"

    def __init__(self, build: Build, advance: Advance, along: AdvanceMatrix) -> None:
        device, layout, product = build.device, along.layout, advance.product
        u = build.buffers[advance.target]
        back = product.matrix.structure.layout(layout.key, transposed=product.transpose) if along.kernel.pulls else None
        small = layout.work < tuning.count("grid.small_entries")
        threads = tuning.count("grid.threads_small") if small else tuning.count("grid.threads")
        variant, parameters = self._variant(build, advance, along, threads)
        chunk, rest = variant.constant("CHUNK"), 4 if along.kernel.pulls else 1
        capacity = max(1, (layout.units + layout.work // chunk) // rest)
        lists = [build.scratch.array(capacity * CHUNK_BYTES // 8, np.uint64) for _ in range(2)]
        numbers: Array = device.xp.zeros(NUMBERS, np.uint64)
        log = max(0, (advance.target.size - 1).bit_length() - 5)  # of the words of 32 positions each
        closed = build.scratch.array(1 << log, np.uint32)
        self.cleared: list[tuple[Array, np.generic]] = [(numbers, np.uint64(0)), (closed, np.uint32(0))]
        longest = build.longest(layout)
        # A pull takes as long as a push of so many entries, however few rows are left.
        pull = min(tuning.count("grid.pull_entries"), layout.units * tuning.count("grid.pull_row_entries"))
        self.head: tuple[Argument, ...] = (
            *(np.int64(layout.units), np.int64(product.outer), np.int64(longest), *limits(layout, search=True)),
            np.uint64(pull),
            build.rounds,
            *(numbers, closed),
            np.int64(log),
            *u.bits,
            *(build.cells_at(u, k, along.kernel.kind) for k in range(BUFFERS)),
            *lists,
            np.uint64(capacity),
        )
        self.rest: tuple[Argument, ...] = (
            *launch_arguments(build.mask(advance.mask)),
            *along.matrix(device, longest),
            *along.back(device, back, product),
            *build.resolve(parameters),
        )
        self.variant, self.threads = variant, threads
        units = max(1, -(-(layout.units + layout.work) // threads))
        self.blocks = min(device.multiprocessors, units)
        self.line = Line(advance.kind, statement_texts(advance), str(variant))

    def launch(self, build: Build) -> Launch:
        """The launch, which reports to the host as the build says."""
        args = *self.head, *build.report_arguments, *self.rest
        return build.launcher(self.variant, self.blocks, args, self.threads)

    @staticmethod
    def _variant(
        build: Build, advance: Advance, along: AdvanceMatrix, threads: int
    ) -> tuple[Variant, tuple[Parameter, ...]]:
        """The kernel, and the parameters of its statements, without those of the frontier, whose buffers rotate."""
        u = advance.product.u
        text, at_entry = entry_text(advance.before, u, build.iso)
        base = along.kernel.variant((text, at_entry))
        rotating = [p for p in text.parameters if p.key in (Key("bits", u.id), Key("val", u.id))]
        others = tuple(p for p in text.parameters if p not in rotating)
        names = [f"#define x{u.id}_{p.key.kind} b.{p.key.kind}" for p in rotating]
        lines = [macro("PARAMETERS", [f", {p.declaration}" for p in others]), *names, at_entry]
        constants = {**dict(base.constants), "THREADS": threads, "RESIDENT": 1, "MEETS": 1, "PLACES": 0}
        constants["SHARED_BYTES"] = SHARED_BYTES
        constants |= {"CHUNK": tuning.count("grid.chunk"), "STAGED": tuning.count("grid.staged")}
        variant = dataclasses.replace(
            base, kernel="formats/csr/grid_rounds", constants=tuple(constants.items()), text="\n".join(lines) + "\n"
        )
        return variant, others


def plan_grid_rounds(build: Build) -> tuple[Advance, AdvanceMatrix] | None:
    """The advance of a search along rows of very different lengths; None: the body does something else."""
    how = plan_small_rounds(build.round, build.condition)
    if not isinstance(how, Advance) or not build.outer:
        return None
    mask, u = how.mask, how.product.u
    if mask is None or not mask.complement or not how.also:
        return None
    if not all(writes_all(s, u) for s in how.before if s.target == mask.vec):
        return None
    along = AdvanceMatrix.of(build, how)
    plain = along.layout.format.kernels["advance"].kernel == "formats/csr/advance"
    return (how, along) if plain and along.segments and along.kernel.any_product else None
