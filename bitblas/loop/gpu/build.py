"""Build a round: compile its kernel variants, allocate memory, bind arguments, and list its launches.

The body of the graph contains `copies` rounds, so that the buffers of frontiers return to their first positions, and so
that the cost of the loop itself is shared by several rounds. A round whose condition has failed does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ... import tuning
from ...device import memory
from ...device.jit import BLOCK
from ...exceptions import CaptureError
from ...formats import CSR, Structure
from ...kernels.variant import Variant
from ...operations.operands import Allowed, Mask, Values, allowed, dummy, stored
from ...operations.variants import initial_sum
from ...plan.product import VALUES
from ...typing import Array
from ..analysis import BodyFacts
from ..buffers import BUFFERS, ENTRIES, FAULTS, REMAINING, ROUNDS, STATE, Argument, Frontier, Launch, Scratch
from ..codegen.cuda_dialect import Parameter
from ..codegen.cuda_kernels import entry_text, fused_variant
from ..fuse import (
    Advance,
    Between,
    CompactFrontier,
    FusedElementwise,
    Inner,
    Item,
    Line,
    OnStack,
    Pull,
    Round,
    size_of,
    statement_texts,
)
from ..ir import NO_LIMIT, MapProduct, Masked, Product, Reduce, Scal, Vec
from .column_rounds import ColumnRounds, column_search, column_searches
from .graph import KernelLaunch, NestedLoopLaunch, rounds_per_run
from .grid_rounds import GridRounds, plan_grid_rounds
from .products import (
    AdvanceKernel,
    AdvanceMatrix,
    launch_arguments,
    limits,
    map_launches,
    pull_launches,
    pulls_by_sums,
    pulls_worklist,
    worklist,
)
from .saved_rounds import SavedRounds, column_return
from .small_rounds import SmallRounds, searches_by_rows, small_rounds
from .stacks import Stacks
from .transfer import EndExchange, ExchangeLaunch, gather_scalars

if TYPE_CHECKING:
    from semirings.dtypes import DataType

    from ...device.cuda import Cuda
    from ...distributed.group import Group
    from ...formats.contract import Layout
    from ...operations.operands import Output
    from ...operations.plain_spmv import PreparedProduct
    from ...typing import Array

MOST_ARGUMENTS = 4096 // 8  # of a kernel


@memory.track_memory
class Build:
    """The launches of the body of a program, and the memory that they use."""

    def __init__(
        self,
        device: Cuda,
        plan: Round,
        facts: BodyFacts,
        condition: Vec | Scal,
        around: Build | None = None,
        group: Group | None = None,
        limit: int = NO_LIMIT,
        inputs: Mapping[Vec, Array] = MappingProxyType({}),
    ) -> None:
        """around: the build of the round that contains this nested loop, whose memory it shares. group: its ranks.
        limit: of the rounds of every run, as far as known. inputs: values of vectors that are used in place."""
        self.device, self.round, self.facts, self.condition, self.group = device, plan, facts, condition, group
        self.iso, self.full = facts.iso, frozenset(x.id for x in facts.full)
        self.blocks = tuning.count("loop.blocks") * device.multiprocessors  # maximum blocks of a launch
        self.advances = [item for item in plan.items if isinstance(item, Advance)]
        self.outer = around is None and group is None
        search = column_search(plan, condition, facts) if self.outer else None
        self.pulls: dict[tuple[Pull, str], PreparedProduct] = {}
        self.pull_scratch: dict[Pull, tuple[Output, ...]] = {}
        tests = (partial(test, self) for test in (pulls_worklist, pulls_by_sums))
        copies = rounds_per_run(plan, device.captures, limit, around is not None, *tests)
        self.copies = copies = copies if group is None else int(group.allreduce(np.array([copies]), np.maximum)[0])
        self.advances_of = {x: sum(s.target == x for s in self.advances) for x in plan.vectors}  # advances per round
        self.lines: list[Line] = []  # the launches of one round
        self.missing_transposes: dict[int, Structure] = {}  # whose transpose, for pulling, is not amortized yet
        self.missing_sums: dict[int, Structure] = {}  # whose copy for sums is not amortized yet
        written: set[Vec | Scal] = {s.target for item in plan.all for s in getattr(item, "statements", ())}
        written |= {target for item in plan.all if (target := getattr(item, "target", None)) is not None}
        self.written: set[Vec | Scal] = written if around is None else written | around.written
        xp = device.xp
        if around is None:
            nested = column_searches(plan, facts) if group is None else []
            alone = [found.advance for found in (*nested, *([] if search is None else [search]))]
            rotating = {item.target for item in plan.all if isinstance(item, Advance) and item not in alone}
            self.scratch = Scratch(device, shared=True)
            self.buffers = {
                x: Frontier(self.scratch, x, self.iso.get(x.id), x in rotating, inputs.get(x)) for x in plan.stored
            }
            for x in facts.full & plan.stored:
                self.buffers[x].fill()
            self.stacks = Stacks(self, plan, nested)
            self.column_arrays: dict[tuple[int, int], Array] = {}
            self.scalars = {s.id: (xp.zeros(1, np.uint8), xp.zeros(1, s.dtype.np_type)) for s in facts.body.scalars}
        else:
            self.scratch, self.buffers, self.scalars = around.scratch, around.buffers, around.scalars
            self.stacks, self.column_arrays = around.stacks, around.column_arrays
            self.missing_transposes, self.missing_sums = around.missing_transposes, around.missing_sums
        self.gathered_scalars: dict[int, tuple[Array, Array]]
        self.gathered_scalars = gather_scalars(self) if around is None else around.gathered_scalars
        # For each state of a frontier, the (later) state whose numbers it takes over in the next run; -1: zeros.
        self.sources: list[int] = []
        self.first: dict[Vec, int] = {x: self.take_states(copies * t + 2, 2) for x, t in self.advances_of.items() if t}
        self.compactions: dict[tuple[int, int], int] = {}
        self.scanned: set[int] = set()  # states of vectors whose entries are not listed: the advances find them
        self.cells: dict[Vec, np.generic] = {}  # vectors whose cells must hold the initial value of a sum
        if search is None:
            self._list_frontiers()
        by_advance = any(item.target == condition for item in self.advances)
        by_elementwise = not by_advance or any(
            isinstance(item, FusedElementwise) and item.counted is not None for item in plan.items
        )
        self.remaining = self.take_states(copies + 1, 1) if by_elementwise else None
        for k in range(copies):
            for number, item in enumerate(plan.items):
                if isinstance(item, CompactFrontier) and item.late:
                    self.compactions[k, number] = self.condition_at(k + 1)[0]
                elif isinstance(item, CompactFrontier) or (isinstance(item, Pull) and pulls_worklist(self, item)):
                    self.compactions[k, number] = self.take_states(1)
        # One array, so that one copy sets everything: the states, then the rounds of frontier.cuh.
        self.numbers = xp.zeros(len(self.sources) * STATE + ROUNDS, np.uint64)
        self.memory: Array = self.numbers[:-ROUNDS]
        self.rounds: Array = self.numbers[-ROUNDS:].view(np.int64)
        # Rounds of the outermost loop come first: faults and the request to stop are written there.
        self.all_rounds: list[Array] = [] if around is None else around.all_rounds
        self.all_rounds.append(self.rounds)
        self.outermost: Array = self.all_rounds[0]
        self.going: Array = xp.zeros(2, np.uint64)
        # Reported to the host at the end of the loop (control.cu).
        self.report_arguments: tuple[Argument, ...] = np.int64(0), self.going, self.going
        self.device_sources = device.asarray(np.array(self.sources, np.int32))
        self.once = xp.zeros(1, np.uint64) + 1, self.device.asarray(np.array([0, 1, 0], np.int64))  # may run, round 0
        self.inside: bool = around is not None
        self.sent: list[int] = [0, 0]  # bytes sent by this rank: per round, outside of rounds
        self.sent_inside: Array = xp.zeros(1, np.uint64) if around is None else around.sent_inside  # in nested loops
        self.begin = [launch for item in plan.begin for launch in self._once(item, "begin")]
        # All rounds in one launch, in place of the launches of a loop.
        self.at_once: ColumnRounds | GridRounds | None = None
        if search is not None:
            self.at_once = ColumnRounds(self, search)
        elif (planned := plan_grid_rounds(self)) is not None:
            self.at_once = GridRounds(self, *planned)
        self.launches: list[Launch] = []
        if self.at_once is None:
            self.launches += [launch for k in range(copies) for launch in self._copy(k)]
        else:
            self.lines.append(self.at_once.line)
        self.end = [launch for item in plan.end for launch in self._once(item, "end")]
        self.ends = EndExchange(self, group)
        self.launches += self.ends.launches
        self.small = small_rounds(self) if self.at_once is None else SmallRounds([], self.at_once.text)
        self.may_end_early = False  # whether something before the rounds may do all of their work
        self.launches[:0] = [] if self.outer else self.small.launches

    # ---- conditions and states ----

    def condition_at(self, copy: int) -> tuple[int, int]:
        """The state, and the number in it, that must be nonzero for round `copy` of the body."""
        if self.remaining is not None:
            return self.remaining + copy, REMAINING
        assert isinstance(self.condition, Vec)
        return self.first[self.condition] + 1 + copy * self.advances_of[self.condition], ENTRIES

    def take_states(self, count: int, carried: int = 0) -> int:
        """Reserve `count` consecutive states, the last `carried` of which become the first ones of the next run.
        Returns the first number."""
        first = len(self.sources)
        self.sources += [first + count - carried + k if k < carried else -1 for k in range(count)]
        return first

    def number(self, state: int, which: int = 0) -> Array:
        """A number of a state, as an array."""
        return self.memory[state * STATE + which : (state + 1) * STATE]

    def _list_frontiers(self) -> None:
        for item in self.round.items:
            if isinstance(item, (Advance, CompactFrontier)):
                vec = item.target if isinstance(item, Advance) else item.vec
                layout, segments = self.rows_of(item.product)
                self.buffers[vec].list_units(layout.units, segments)
                if isinstance(item, Advance):
                    self.buffers[item.product.u].list_units(layout.units, segments)

    def rows_of(self, product: Product) -> tuple[Layout, int]:
        """The format that an advance pushes along, and the number of segments of its long rows. If it does not exist,
        it is built and kept with the matrix, even in addition to a compact format: it pays in every round."""
        structure = product.matrix.structure
        key = CSR if searches_by_rows(self, product) else structure.primary.key
        layout = structure.layout(key, transposed=not product.transpose)
        return layout, layout.format.kernels["advance"].segments(layout, self.longest(layout))

    def longest(self, layout: Layout) -> int:
        """Maximum items of a row in that format that is not cut into segments."""
        return layout.format.kernels["advance"].longest(tuning.count("loop.segment_entries"))

    # ---- launches ----

    def _copy(self, k: int) -> list[Launch]:
        launches, advanced = list[Launch](), dict.fromkeys(self.advances_of, 0)
        made = {x: self.condition_at(k)[0] for x in self.round.entering if x not in self.first}  # states of worklists
        for number, item in enumerate(self.round.items):
            if isinstance(item, CompactFrontier):
                state = self.compactions[k, number]
                if not item.late:
                    made[item.vec] = state
                launch = worklist(self, number, state, self.head(k) if item.late else ())
                if launch is None:
                    self.scanned.add(state)
                    continue
                launches.append(launch)
            elif isinstance(item, Advance):
                launches.append(self._advance(item, k, made.get(item.product.u), advanced))
                advanced[item.target] += 1
                made.pop(item.target, None)
            elif isinstance(item, Pull) and isinstance(item.product, MapProduct):
                launches += map_launches(self, item, item.product)
            elif isinstance(item, Pull):
                launches += pull_launches(self, item, k)
            elif isinstance(item, Inner):
                launches += self._inner(item, self.head(k))
            elif isinstance(item, Between):
                launches.append(ExchangeLaunch(self, item, in_round=k == 0))
            elif isinstance(item, OnStack):
                launches += self.stacks.launches(self, item, k)
            else:
                launches.append(self.elementwise(item, k))
            if k == 0 and not isinstance(item, Inner):
                self.lines.append(Line(item.kind, statement_texts(item), self.launched))
        return launches

    def _once(self, item: Item, where: str) -> list[Launch]:
        """The launches of an item before the first round or after the last one."""
        assert isinstance(item, (FusedElementwise, Pull, Inner, Between, OnStack))
        if isinstance(item, Inner):
            return self._inner(item, (*self.once, np.int64(0)))
        if isinstance(item, OnStack):
            launches: list[Launch] = [self.stacks.once(self, item, where)]
        elif isinstance(item, Between):
            launches = [ExchangeLaunch(self, item)]
        elif isinstance(item, Pull):
            launches = pull_launches(self, item, -1)
        else:
            launches = [self.elementwise(item, -1, once=True)]
        self.lines.append(Line(where, statement_texts(item), self.launched))
        return launches

    def _inner(self, item: Inner, head: tuple[Argument, ...]) -> list[Launch]:
        """A nested loop inside the round, or statements under a condition. head: of a launch of the round."""
        if self.group is None:
            search = column_search(item.round, item.condition, self.facts, item.limit)
            way = column_return(item.round, item.condition, self.facts, item.limit)
            if search is not None:
                alone = ColumnRounds(self, search, head, item.limit)
                return self._by_columns(item, alone.lines, alone.launches(self))
            if way is not None and way.pop.value.stack in self.stacks.saved:
                back = SavedRounds(self, way, head)
                return self._by_columns(item, back.lines, back.launches)
        inner = Build(self.device, item.round, self.facts, item.condition, self, limit=item.limit)
        loop = NestedLoopLaunch(inner, item, head)
        self.lines += loop.lines
        return [loop]

    def _by_columns(self, item: Inner, lines: list[Line], launches: list[Launch]) -> list[Launch]:
        self.lines += [Line("block", (item.text,), ColumnRounds.text)]
        self.lines += [line._replace(kind=f"  {line.kind}") for line in lines]
        return launches

    def column_array(self, number: int, count: int, dtype: DataType) -> Array:
        """Array `number` of a loop whose columns run alone: loops share them."""
        key = number, count * dtype.nbytes
        if key not in self.column_arrays:
            self.device.foresee("values column by column", key[1])
            self.column_arrays[key] = self.scratch.array(max(1, count), dtype.np_type)
        return self.column_arrays[key].view(dtype.np_type)

    def launcher(self, variant: Variant, grid: int, args: tuple[Argument, ...], block: int = BLOCK) -> Launch:
        if len(args) > MOST_ARGUMENTS:
            raise CaptureError(f"the body: {variant} would take {len(args)} arguments, the maximum is {MOST_ARGUMENTS}")
        self.launched = str(variant)
        return KernelLaunch(self.device, variant, grid, block, args)

    def grid(self, threads: int, times: int = 1) -> int:
        """Blocks of a launch for `threads` threads, limited by what the GPU can run at once. times: for a kernel with
        so few registers that more blocks fit."""
        return max(1, min(times * self.blocks, -(-threads // BLOCK)))

    def _state(self, x: Vec, k: int, advanced: Mapping[Vec, int]) -> int:
        """The first state of a vector's buffers in copy k of a round, after `advanced` advances."""
        return self.first[x] + k * self.advances_of[x] + advanced[x]

    def head(self, k: int) -> tuple[Array, Array, np.int64]:
        return self.number(*self.condition_at(k)), self.rounds, np.int64(k)

    def resolve(self, parameters: tuple[Parameter, ...], slot: Array | None = None) -> tuple[Argument, ...]:
        """The arrays for the parameters of generated text, in their current buffers."""
        xp, found = self.device.xp, list[Argument]()
        by_number = {x.id: f for x, f in self.buffers.items()}
        for p in parameters:
            kind, number, dtype = p.key
            if kind in ("bits", "val"):
                frontier = by_number[number]
                found.append(frontier.at(frontier.bits if kind == "bits" else frontier.values))
            elif kind.startswith("scalar"):
                found.append(self.scalars[number][kind == "scalar_val"])
            elif kind == "slot":
                assert slot is not None
                found.append(slot)
            elif kind == "size":
                found.append(np.int64(by_number[number].vec.size))
            elif kind == "faults":
                found.append(self.outermost[FAULTS:])
            elif kind == "ticket":
                found.append(xp.zeros(1, np.uint32))
            else:
                found.append(xp.zeros(self.blocks, np.uint8 if dtype is None else dtype.np_type))
        return tuple(found)

    def elementwise(self, item: FusedElementwise, k: int, *, once: bool = False) -> Launch:
        variant, parameters = fused_variant(item.statements, self.iso, item.counted, self.full, item.local)
        size = max((found for s in item.statements if (found := size_of(s)) is not None), default=1)
        slot = None if item.counted is None or self.remaining is None else self.number(self.remaining + k + 1)
        head = (*self.once, np.int64(0)) if once else self.head(k)
        args = (np.int64(size), np.int64(size), *head, *self.resolve(parameters, slot))
        sums = any(isinstance(s.value, Reduce) for s in item.statements)
        return self.launcher(variant, self.grid(size, 1 if sums else tuning.count("loop.blocks_without_sums")), args)

    def mask(self, mask: Masked | None) -> Allowed:
        if mask is not None:
            frontier = self.buffers[mask.vec]
        return allowed(self.device, None if mask is None else Mask(frontier.at(frontier.bits), mask.complement))

    def _advance(self, item: Advance, k: int, compacted: int | None, advanced: Mapping[Vec, int]) -> Launch:
        """An advance; its operands are in the order of kernels/advance_rows.cuh and b2sr/advance.cu."""
        product, device = item.product, self.device
        first = self._state(item.target, k, advanced)
        u, t = self.buffers[product.u], self.buffers[item.target]
        along = AdvanceMatrix.of(self, item)
        layout, kernel = along.layout, along.kernel
        before = entry_text(item.before, product.u, self.iso)
        counts_work = any(s.product.u == item.target for s in self.advances)
        variant = replace(kernel, scans=compacted in self.scanned, counts_work=counts_work).variant(before)
        u_state = self._state(product.u, k, advanced) + 1 if compacted is None else compacted
        back = product.matrix.structure.layout(layout.key, transposed=product.transpose) if kernel.pulls else None
        longest = self.longest(layout)
        pulled = along.back(device, back, product)
        # The mask of a search excludes what earlier frontiers had, which the body writes there.
        mask = item.mask
        search = compacted is None and mask is not None and mask.complement and mask.vec in self.written
        most = limits(layout, search=search)
        head = layout.units, product.outer, longest, *most, *self.head(k)
        source = u.at(u.bits), *self.values_of(u, kernel), u.at(u.lists), self.number(u_state), u.at(u.segments)
        target = t.at(t.bits, 1), self.cells_at(t, 1, kernel.kind), t.at(t.lists, 1), self.number(first + 2)
        cleared = t.at(t.bits, 2), self.cells_at(t, 2, kernel.kind), t.at(t.lists, 2), self.number(first)
        args = (
            *launch_arguments((*head, *source, *target, t.at(t.segments, 1), *cleared, *self.mask(item.mask))),
            *along.matrix(device, longest),
            *pulled,
            *self.resolve(tuple(before[0].parameters)),
        )
        monoid, z = product.semiring.op.monoid, item.target.dtype
        if kernel.kind == VALUES and monoid.name != "any":
            self.cells[item.target] = z.np_type.type(initial_sum(monoid, z))
        t.current = (t.current + 1) % BUFFERS
        return self.launcher(variant, self.grid(layout.units * kernel.lanes), args)

    def values_of(self, u: Frontier, kernel: AdvanceKernel) -> Values:
        """The values of a frontier, as a kernel reads them."""
        if kernel.kind == VALUES and u.values:
            return stored(self.device, kernel.u, u.at(u.values))
        return stored(self.device, kernel.u, kernel.u.np_type.type(u.iso if kernel.kind == VALUES else 1))

    def cells_at(self, t: Frontier, ahead: int, kind: int) -> Array:
        return t.at(t.values, ahead) if kind == VALUES else dummy(self.device, "int32")
