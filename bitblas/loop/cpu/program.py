"""A program on the CPU: rounds run statement by statement until compiling a kernel table pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType
from typing import Any

from ...device import tracing
from ...device.cpu import COPY, FAULT, INDEX, LIMIT, ROUND
from ...exceptions import CaptureError
from ...plan.direction import missed_by_loop
from ...plan.format_choice import transpose_amortized
from .. import analysis
from ..buffers import Assumptions, program_vectors
from ..fuse import fuse
from ..ir import Body, Scal
from ..symbolic.context import single_rank_part
from ..symbolic.control_flow import with_any_condition
from ..symbolic.multivectors import as_vector
from ..symbolic.recorder import OnHost, Recorder, record
from .build import Build, may_push

HUGE = 1 << 31  # maximum size: larger vectors are not stored densely


class CpuRounds:
    """The rounds of a body as a table of kernels. given: the results of the program's `begin`, which may be other
    vectors of the same kind in each run. Raises CaptureError if the body cannot be executed symbolically."""

    def __init__(self, body: Callable[..., object], condition: Any, given: tuple[object, ...]) -> None:
        cells = getattr(body, "__closure__", None) or ()
        if isinstance(condition, tuple):
            body, condition = with_any_condition(body, condition)
        self.body, self.recorder = _record_twice(body, cells, given)
        self.device = self.recorder.device
        condition = single_rank_part(condition)
        term = self.recorder.written_condition(condition, self.body.statements)
        if term is None:
            raise CaptureError(f"while_: the body never writes to {condition.name}")
        self.condition = term
        self.members = program_vectors(self.recorder.vectors.values(), self.recorder.order())
        self.scalars = {s.id: scalar for scalar, s in self.recorder.scalars.values()}
        ids = {id(vector): x for vector, x in self.recorder.vectors.values()}
        self.given = [ids.get(id(single_rank_part(thing))) for thing in given]
        self._check()
        loaded = analysis.loaded_vectors(self.body, term)
        self.facts = facts = analysis.analyze(self.body, {x.id: self.members[x].held() for x in loaded})
        self.body, iso, full = facts.body, facts.iso, facts.full
        steps, direct = lambda s: may_push(s, full, iso), lambda s: analysis.can_write_directly(s, iso)
        round_ = fuse(self.body, steps, direct, term, lists=False)
        self.assumptions = Assumptions(facts, self.members, self.recorder.matrices)
        self.build = Build(self.device, round_, analysis.with_added(facts, round_), term)

    def _check(self) -> None:
        for x in self.body.vectors:
            if not 0 < x.size < HUGE or x.dtype.kind == "c":
                self.recorder.refuse(f"a vector of {x.size} positions of {x.dtype}")
        for _, held in self.recorder.matrices:
            if held.structure.hypersparse or 0 in (held.nrows, held.ncols):
                self.recorder.refuse("a hypersparse matrix")

    def fits(self, given: tuple[object, ...]) -> bool:
        """Whether matrices and kinds of vectors are still those that the table was built for."""
        for x, thing in zip(self.given, given):
            if x is not None:
                self.members[x].vector = as_vector(single_rank_part(thing))
        return self.assumptions.hold() and not any(transpose_amortized(s) for s in self.build.missing_transposes)

    def run(self, first: int, limit: int) -> int:
        """Run rounds from number `first` on, until the condition fails; return the number of the first round that did
        not run. Afterwards vectors and scalars hold the results of the body."""
        build, table = self.build, self.build.table
        for x, summed in build.buffers.items():
            if x in self.facts.loaded:
                summed.load(self.members[x].held(), full=x.id in build.full)
            elif x.id not in build.full:
                summed.empty()
        for number, scalar in self.scalars.items():
            if number not in self.facts.fresh:
                has, value = build.scalars[number]
                has.fill(scalar._value is not None)
                if scalar._value is not None:
                    value.fill(scalar._value)
        build.state.fill(0)
        build.state[ROUND], build.state[LIMIT], build.state[COPY] = first, limit, 0
        if isinstance(self.condition, Scal):
            build.going[0] = 1  # the caller has checked the condition
        build.entering()
        if tracing.active is None:
            table.run()
        else:
            tracing.active.note_loop(self.device, len(build.copies[0]), table.run)
        self.recorder.changed()
        rounds = int(build.state[ROUND])
        if build.state[FAULT]:
            self.recorder.raise_fault(int(build.state[FAULT]) - 1, int(build.state[INDEX]), rounds - 1)
        for structure in build.missing_transposes:
            structure.transpose_credit += missed_by_loop(self.device.kind)
        if rounds > first:
            self._store_results(rounds - first, rounds < limit)
        return rounds

    def _store_results(self, count: int, over: bool) -> None:
        build = self.build
        for x in self.facts.changed:
            if x == self.condition and over:
                self.members[x].empty()
            else:
                self.members[x].adopt(build.buffers[x].store(count * build.advances_of[x], full=x.id in build.full))
        for s in self.facts.changed_scalars:
            has, value = (a[0] for a in build.scalars[s.id])
            self.scalars[s.id]._store(s.dtype.np_type.type(value) if has else None)


def _record_twice(
    body: Callable[..., object], cells: Sequence[CellType], given: tuple[object, ...]
) -> tuple[Body, Recorder]:
    """Record the body, twice. A body that rebinds its names (`cells`), or keeps what it creates alive, cannot be
    captured."""
    before = [_contents(cell) for cell in cells]
    try:
        found, again = (record(lambda number: body(number, *given), host=True) for _ in range(2))
    except (CaptureError, OnHost):
        raise
    except Exception as error:  # for example Python code that needs a number where there is a symbolic Scalar
        raise CaptureError(f"{type(error).__name__}: {error}") from error
    finally:
        changed = [k for k, cell in enumerate(cells) if _contents(cell) is not before[k]]
        for k in changed:
            cells[k].cell_contents = before[k]
    if changed:
        raise CaptureError("the body rebinds names of the surrounding function")
    if _known(*found) != _known(*again):
        raise CaptureError("an object created in the body outlives it")
    return found


def _known(body: Body, recorder: Recorder) -> set[int]:
    """The vectors and scalars that are also referenced outside of the body."""
    vectors = {id(vector) for vector, x in recorder.vectors.values() if x not in body.own}
    return vectors | {id(scalar) for scalar, x in recorder.scalars.values() if x.id not in body.unknown}


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None
