"""A captured program on a GPU: captured once, run many times on the current contents of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ... import device as devices
from ...core.matrix.matrix import Matrix
from ...core.scalar import Scalar
from ...core.vector import Vector
from ...device import address, tracing
from ...exceptions import CaptureError
from ...plan.direction import missed_by_loop
from ...plan.format_choice import sums_amortized, transpose_amortized
from ...store import FlatStore, VectorStore, empty_vector
from .. import analysis
from ..buffers import (
    ROUNDS,
    STATE,
    Answer,
    Asked,
    Assumptions,
    Launch,
    ProgramVector,
    SingleEntry,
    program_vectors,
)
from ..fuse import Advance, Round, fuse
from ..ir import NO_LIMIT, MultivectorProduct, Product, Scal, Stacked, Statement, Vec, flat
from ..symbolic.control_flow import LoopCondition, single_rank_part
from ..symbolic.multivectors import MultivectorAsVector
from ..symbolic.recorder import record
from .build import Build
from .column_rounds import column_search
from .graph import GraphLoop, HostLoop, Parts, first_launches, initial_numbers
from .products import may_push
from .relaxation import RelaxationLaunch, relax_at_once, relaxation
from .selection import SelectionLaunch, select_at_once, selection
from .transfer import FROM, CopyIn, CopyOut, Inputs, Transfer, pattern

if TYPE_CHECKING:
    from semirings.dtypes import DataType

    from ...typing import Array

SCALAR_WORDS = 3  # words for a scalar: whether it has a value, and up to 16 bytes of the value
NO_RANKS = nullcontext()


class CapturedProgram:
    """The body of a program: recorded, fused, built and captured. Raises CaptureError, OnHost, DeviceError."""

    def __init__(
        self,
        body: Callable[..., object],
        condition: Any,
        begin: Callable[[], object] | None,
        end: Callable[..., object] | None,
        fixpoint: bool = False,
        moved: set[int] | None = None,
    ) -> None:
        """moved: vectors of the program whose memory has moved (transfer.py)."""
        condition = single_rank_part(condition)
        plain = isinstance(condition, (Vector, Matrix, Scalar))  # otherwise several, or distributed
        several = None if plain else LoopCondition(condition)
        self.body, self.recorder = record(body, begin, end, condition=several)
        self.condition = self._condition(condition if several is None else several.term)
        self.device, self.group = self.recorder.device, self.recorder.group
        self.members = program_vectors(self.recorder.vectors.values(), self.recorder.order())
        self.scalars = {s.id: scalar for scalar, s in self.recorder.scalars.values()}
        self.written_once = {s.target for s in flat((*self.body.begin, *self.body.end))}
        loaded = analysis.loaded_vectors(self.body, self.condition)
        stores = {x.id: self.members[x].held() for x in loaded}
        facts = self._analyze(stores)
        self.body, iso, full = facts.body, facts.iso, facts.full
        pulled = {x for s in flat(self.body.end) for x in s.named}
        pulled |= {s.target for s in self.body.all if isinstance(s.value, Stacked)}
        # The end could not read what an advance has written, nor a stack write into its buffers, which rotate; of a
        # multivector, a pull will do.
        pulls = lambda s: isinstance(s.value, MultivectorProduct) and s.target in pulled
        is_advance = lambda s: not pulls(s) and may_push(self.device, s, full, iso)
        is_direct = lambda s: analysis.can_write_directly(s, iso)
        is_advance, is_direct = self._agreed(is_advance, is_direct)
        alone = self.group is None
        by_columns = lambda *which: alone and column_search(which[0], which[1], facts, which[2]) is not None
        round_ = fuse(self.body, is_advance, is_direct, self.condition, by_columns=by_columns)
        self._check_end(round_)
        self.assumptions = Assumptions(facts, self.members, self.recorder.matrices)
        self.facts = facts = analysis.with_added(facts, round_)
        in_place = facts.inputs if self.group is None else ()
        self.inputs = Inputs(self.members, stores, in_place, set() if moved is None else moved)
        values = self.inputs.values
        self.build = Build(self.device, round_, facts, self.condition, group=self.group, inputs=values)
        self.any_order = self._in_any_order() if fixpoint and self.group is None else ""
        self.build.may_end_early = not isinstance(self.any_order, str)
        self.initial: dict[int, tuple[Array, int]] = {}
        self.direct_runs: dict[tuple[int, ...], DirectRun | None] = {}  # by the start and the results
        self.loaded: DirectRun | None = None  # whose arguments are in the table
        self._add_copies()
        build, loop = self.build, GraphLoop if self.device.captures else HostLoop
        before: list[Launch] = [
            *self.enter,
            *build.stacks.reset,
            *build.begin,
            *([] if isinstance(self.any_order, str) else [self.any_order]),
            *(first_launches(build) if build.at_once is None else build.at_once.launches(build)),
        ]
        self.loop = loop(build, Parts(before, build.launches, [*build.end, *self.leave]))

    def _in_any_order(self) -> SelectionLaunch | RelaxationLaunch | str:
        """What runs the loop in another order than its rounds, before them; or why they do all of the work."""
        relaxed = relaxation(self.body, self.condition, self.facts.full)
        selected = selection(self.body, self.condition)
        if isinstance(relaxed, str) and isinstance(selected, str):
            return f"not in any order: no relaxation: {relaxed}; no selection by priority: {selected}"
        found: SelectionLaunch | RelaxationLaunch | str
        if isinstance(relaxed, str):
            found = select_at_once(self.build, selected)
        else:
            found = relax_at_once(self.build, relaxed)
        return f"not in any order: {found}" if isinstance(found, str) else found

    def _analyze(self, stores: dict[int, VectorStore]) -> analysis.BodyFacts:
        """The facts about the body. Vectors are iso or full only if they are on all ranks, which then send the same."""
        body, group = self.body, self.group
        never: tuple[frozenset[Vec], frozenset[Vec]] = frozenset(), frozenset()
        while True:
            facts = analysis.analyze(body, stores, *never)
            if group is None:
                return facts
            iso, full = facts.iso, facts.full
            local = [
                [1 + crc32(np.asarray(iso[x.id]).tobytes()) if x.id in iso else 0 for x in body.vectors],
                [x in full for x in body.vectors],
            ]
            ranks = group.gather_host(np.array(local, np.int64))
            same = (ranks == ranks[0]).all(axis=0)
            if same.all():
                return facts
            never_iso, never_full = (
                before | {x for x, s in zip(body.vectors, row) if not s} for before, row in zip(never, same)
            )
            never = never_iso, never_full

    def _agreed(self, *tests: Callable[[Statement], bool]) -> list[Callable[[Statement], bool]]:
        """Tests of the body's products that hold only if they do on all ranks: they examine the format and values of
        this rank's share, and what ranks exchange in a round depends on them."""
        products = [s for s in self.body.all if isinstance(s.value, Product)]
        key = lambda s: (id(s.value), s.target.id)
        if not products or self.group is None:
            return list(tests)
        found = np.array([[test(s) for s in products] for test in tests], bool)
        rows = self.group.allreduce(found, np.logical_and).tolist()
        test_of = lambda holds: lambda s: holds[key(s)]
        return [test_of(dict(zip(map(key, products), row))) for row in rows]

    def _condition(self, condition: Any) -> Vec | Scal:
        if isinstance(condition, Vec):
            return condition
        term = self.recorder.written_condition(condition, self.body.statements)
        if term is None:
            raise CaptureError(f"while_: the body never writes to {condition.name}, so the loop would not end")
        return term

    def is_valid(self) -> bool:
        """Whether matrices and kinds of vectors are those of the capture, and no transpose or copy for sums has been
        amortized since; on all ranks that run the same loop."""
        valid = not self._amortized() and self.assumptions.hold() and self.inputs.stay()
        return valid if self.group is None else bool(self.group.allreduce(np.array([valid]), np.logical_and)[0])

    def _amortized(self) -> bool:
        transposes, sums = self.build.missing_transposes, self.build.missing_sums
        amortized = bool(transposes) and any(map(transpose_amortized, transposes.values()))
        return amortized or (bool(sums) and any(map(sums_amortized, sums.values())))

    def _check_end(self, round_: Round) -> None:
        """Refuse an end that uses vectors of advances: their buffer after the last round is unknown at capture."""
        rotating = {item.target for item in round_.items if isinstance(item, Advance)}
        for s in flat(self.body.end):
            if rotating & {*s.vectors, *s.elsewhere, s.target}:
                self.recorder.refuse(f"end: {s.text}: a vector that products of the loop write")

    def _add_copies(self) -> None:
        """The launches that copy vectors and scalars in before the rounds, and out after them."""
        build = self.build
        scalars = self.facts.changed_scalars
        exchange = self.exchange = Transfer(self.device, ROUNDS + SCALAR_WORDS * len(scalars) + 1)
        self.numbers = exchange.add(build.numbers)
        exchange.add(build.sent_inside)
        self.copies_in: list[tuple[ProgramVector, CopyIn]] = []
        for x, frontier in build.buffers.items():
            full = x.id in build.full
            if x in self.inputs.values:
                continue
            if x in self.facts.loaded:
                member = self.members[x]
                self.copies_in.append((member, CopyIn(exchange, frontier, full=full, most=most_listed(member))))
            elif not full and (frontier.rotates or x in build.small.counted):
                exchange.add(frontier.bits[0])
            for bits in frontier.bits[1:]:
                exchange.add(bits)
        cleared: list[tuple[Array, np.generic]] = [] if build.at_once is None else [*build.at_once.cleared]
        if not isinstance(self.any_order, str):
            cleared += self.any_order.cleared
        for array, content in cleared:
            exchange.add(array, filled=pattern(content))
        for x, first in build.cells.items():  # cells of the current buffer are cleared with its entries
            for more in build.buffers[x].values[1:]:
                exchange.add(more, filled=pattern(first))
        known = (n for n in self.scalars if n not in self.facts.fresh)
        self.scalar_inputs = [
            (self.scalars[n], build.scalars[n][1].dtype.type, *map(exchange.add, build.scalars[n])) for n in known
        ]
        self.scalar_bytes: list[bytes | None] = [None] * len(self.scalar_inputs)  # those that the table has
        split = len(exchange.rows)
        buffers, advances, at_end = build.buffers, build.advances_of, {s.target for s in flat(self.body.end)}
        self.copies_out = [
            (
                self.members[x],
                CopyOut(exchange, buffers[x], advances[x], full=x.id in build.full),
                x in self.written_once,
                x == self.condition and x not in at_end,
            )
            for x in self.facts.changed
        ]
        end = len(exchange.rows)
        exchange.report(0, build.rounds)
        self.reported = {s: ROUNDS + SCALAR_WORDS * k for k, s in enumerate(scalars)}
        for s, k in self.reported.items():
            for part, array in enumerate(build.scalars[s.id]):
                exchange.report(k + part, array)
        exchange.report(exchange.reported.count - 2, build.sent_inside)
        exchange.bind()
        self.enter: list[Launch] = [exchange.send(build), exchange.launch(build, 0, split, enters=True)]
        self.enter += [launch for _, copy in self.copies_in for launch in copy.set_entries(build)]
        self.leave: list[Launch] = [exchange.launch(build, split, end)]
        # Reported by the kernel that ends the loop; one that runs all of it does so where it sees its own arrays at
        # their addresses (not in the tests' emulator).
        at_once = build.at_once
        if build.outer and not build.end and (at_once is None or (at_once.reports and self.device.captures)):
            build.report_arguments = exchange.report_arguments(end)
        else:
            self.leave[:0] = [exchange.launch(build, end, len(exchange.rows), reports=True)]

    def run(self, limit: int) -> int:
        """Run the loop; returns the number of rounds. Afterwards the vectors and scalars hold the results."""
        self.loaded = None
        if devices.several:
            devices.activate(self.device)
        for member, copy in self.copies_in:
            copy.load(member.entering())
        # exhausted: it has no entries if the loop ends before its limit
        needed = {
            x: x.frontier.vec.dtype for _, x, _, exhausted in self.copies_out if not exhausted or limit < NO_LIMIT
        }
        rounds = self._execute(limit, needed)
        for member, result, once, exhausted in self.copies_out:
            if rounds or once:
                if exhausted and rounds < limit:
                    member.empty()
                else:
                    member.adopt(result.contents())
        return rounds

    def run_directly(self, asked: Asked, limit: int) -> tuple[int, list[Answer]] | None:
        """The rounds, and the contents of the results, of a run from few entries. See `DirectRun`."""
        if self._amortized() or not self.assumptions.same_matrices() or not self.inputs.stay():
            return None
        if devices.several:
            devices.activate(self.device)
        key = (id(asked.start), *map(id, asked.results))
        if key not in self.direct_runs:
            self.direct_runs[key] = DirectRun.of(self, asked)
        found = self.direct_runs[key]
        return None if found is None else found.run(asked, limit)

    def _execute(self, limit: int, needed: Mapping[CopyOut, DataType]) -> int:
        """Launch the loop on the arguments in the table and the present Scalars; return the rounds. needed: the
        results, and the types of their values."""
        build, exchange = self.build, self.exchange
        exchange.put(self.numbers, FROM, self._initial_numbers(limit))
        for k, (scalar, kind, has, at) in enumerate(self.scalar_inputs):
            value = scalar._value
            raw = b"" if value is None else value.tobytes()
            if raw != self.scalar_bytes[k]:
                self.scalar_bytes[k] = raw
                exchange.fill(has, np.uint8(value is not None))
                if value is not None:
                    exchange.fill(at, kind(value))
        if isinstance(self.condition, Scal):
            state, which = build.condition_at(0)
            exchange.differ(self.numbers, state * STATE + which, int(bool(self.scalars[self.condition.id])))
        stream = self.device.stream
        for _, copy, _, _ in self.copies_out:
            if copy in needed:
                copy.allocate(stream, needed[copy])
            else:
                copy.skip()
        with self.device.guard, NO_RANKS if self.group is None else self.group.looping(self._text):
            if tracing.active is None:
                self.loop.run(exchange.reported, self._work_ahead)
            else:
                run = partial(self.loop.run, exchange.reported, self._work_ahead)
                tracing.active.note_loop(self.device, len(build.launches), run)
        self.recorder.changed()
        _, _, rounds, _, _, fault, index = exchange.reported.signed[:ROUNDS]
        if self.group is not None:
            inside = exchange.reported.signed[exchange.reported.count - 2]
            self.group.sent += rounds * build.sent[0] + build.sent[1] + inside
        if fault:
            self.recorder.raise_fault(fault - 1, index, rounds)
        for structure in build.missing_transposes.values():
            structure.transpose_credit += missed_by_loop(self.device.kind)
        for structure in build.missing_sums.values():
            structure.sums_credit += rounds
        for s, k in self.reported.items():
            kind, value = s.dtype.np_type, None
            if exchange.reported.words[k]:
                raw = exchange.reported.host[k + 1 : k + SCALAR_WORDS].view(np.uint8)
                value = raw[: kind.itemsize].view(kind)[0]
            self.scalars[s.id]._store(value)
        return int(rounds)

    def _work_ahead(self, stream: int) -> None:
        """The host's work while the device computes."""
        for _, copy, _, _ in self.copies_out:
            copy.work_ahead(stream)

    def _text(self) -> str:
        return f"a loop: {next(flat(self.body.statements)).text}, .."

    def _initial_numbers(self, limit: int) -> int:
        """The address of the initial states and rounds of a run."""
        if limit not in self.initial:
            numbers = initial_numbers(self.build, limit)
            self.initial[limit] = numbers, address(numbers)
        return self.initial[limit][1]


def source_of(member: ProgramVector) -> Answer:
    """The Vector or Matrix itself."""
    vector = member.vector
    return vector.matrix if isinstance(vector, MultivectorAsVector) else vector


def most_listed(member: ProgramVector) -> int:
    """The number of entries with which a multivector may begin: one for each row or column."""
    whole = source_of(member)
    return min(whole.shape) if isinstance(whole, Matrix) else 0


class DirectRun:
    """Runs of a program from few entries of one of its vectors (`start`, None: none); the results are empty before, and
    no other vector is both read and written. The arguments of a launch are set once; a run writes the entries and
    the Scalars into them, and the results are new objects. No Vector of the program is written."""

    def __init__(self, program: CapturedProgram, start: CopyIn | None, found: list[CopyOut], asked: Asked) -> None:
        self.program, self.start, self.found, self.asked = program, start, found, asked  # kept alive: known by `id`
        empty = {*map(id, (asked.start, *asked.results))}
        self.empty = [(member, copy) for member, copy in program.copies_in if id(source_of(member)) in empty]
        others = (item for item in program.copies_in if item not in self.empty)
        self.constant = [(member, copy, member.held()) for member, copy in others]
        orders = {copy: member.order for member, copy, _, _ in program.copies_out}
        self.orders = [orders[copy] for copy in found]
        if start is not None:
            self.order = next(member.order for member, copy in program.copies_in if copy is start)
            self.kind = start.vec.dtype.np_type.type
            self.iso = program.facts.iso.get(start.vec.id)

    @classmethod
    def of(cls, program: CapturedProgram, asked: Asked) -> DirectRun | None:
        """None if other vectors are read and written, or the program runs on several ranks."""
        inputs = {id(source_of(member)): copy for member, copy in program.copies_in}
        outputs = {id(source_of(member)): copy for member, copy, _, _ in program.copies_out}
        start, results = id(asked.start), [*map(id, asked.results)]
        empty = {start, *results} & {*inputs}
        if program.group is not None or not {*results} <= {*outputs} or not {*inputs} & {*outputs} <= empty:
            return None
        if (asked.start is not None and start not in inputs) or any(inputs[x].bits is None for x in empty):
            return None
        return cls(program, inputs.get(start), [outputs[x] for x in results], asked)

    def run(self, asked: Asked, limit: int) -> tuple[int, list[Answer]] | None:
        """The rounds, and the results; None if the program was captured for other values."""
        program, start = self.program, self.start
        if any(member.held() is not store for member, _, store in self.constant):
            return None
        if program.loaded is not self:
            for member, copy in self.empty:
                vector = member.vector
                copy.load(empty_vector(vector.device, vector.size, vector.dtype))
            for _, copy, store in self.constant:
                copy.load(store)
            program.loaded = self
        if start is not None:
            entry, places = self.kind(asked.value), asked.places
            if self.iso is not None and entry != self.iso:
                return None
            if entry and len(places) <= start.most:
                start.list_entries(places)
            elif len(places) == 1:
                start.load(SingleEntry(places[0] if self.order is None else self.order.place(places[0]), entry))
            else:
                return None
        dtype = asked.dtype
        needed = {
            x: dtype if dtype is not None and x.widens(dtype) else given.dtype
            for x, given in zip(self.found, asked.results, strict=True)
        }
        rounds, results = program._execute(limit, needed), list[Answer]()
        for found, given, order in zip(self.found, asked.results, self.orders, strict=True):
            store = found.contents()
            store.order = order
            if isinstance(given, Matrix):
                results.append(Matrix._from_store(FlatStore(store, *given.shape)))
            else:
                results.append(Vector._from_store(store))
        return rounds, results
