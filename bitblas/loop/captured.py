"""A program on a GPU: captured once, run many times on what the vectors hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core.vector.vector import Vector
from ..device import tracing
from ..exceptions import CaptureError, IndexOutOfBound
from ..order import Order
from ..plan.direction import PUSH_COST
from ..plan.transpose import is_repaid
from ..store import VectorStore, empty_vector
from . import layout
from .buffers import REMAINING, STATE
from .build import Build
from .fuse import Pass, Pull, Round, Step, fuse
from .graph import GraphLoop, HostLoop, Parts
from .inner import beginning, entering
from .ir import Body, Const, Pointwise, Scal, Vec, flat, reads_first, scalar_is_read_first
from .parts import among, record


class Captured:
    """The body of a program, written down, fused, built and captured. Raises CaptureError, OnHost, DeviceError."""

    def __init__(
        self, body: Callable[..., Any], condition: Any, begin: Callable[[], Any] | None, end: Callable[..., Any] | None
    ) -> None:
        if isinstance(condition, tuple):
            body, condition, begin = among(body, condition, begin)
        self.body, self.recorder = record(body, begin, end)
        self.condition = self._condition(condition)
        self.device, self.order = self.recorder.device, self.recorder.order()
        self.vectors = {x: vector for vector, x in self.recorder.vectors.values()}
        self.scalars = {s.id: scalar for scalar, s in self.recorder.scalars.values()}
        used = {x for s in self.body.all for x in (*s.vectors, *s.elsewhere, s.target)}
        used |= {b.condition for b in self.body.blocks}
        begun = any(s.target == self.condition for s in flat(self.body.begin))
        asked = () if begun else (self.condition,)  # before the first statement
        self.loaded = [x for x in self.body.vectors if x in asked or (x in used and reads_first(self.body, x))]
        written = {s.target for s in self.body.all}
        self.changed = [x for x in self.body.vectors if x in written and x not in self.body.own]
        self.written_once = {s.target for s in flat((*self.body.begin, *self.body.end))}
        held = {x.id: self._held(x) for x in self.loaded}
        iso, full = layout.iso_values(self.body, held), layout.full_vectors(self.body, held)
        self.body = layout.prepared(self.body, full)
        is_step = lambda s: s.value.u not in full and layout.is_step(s, iso)
        round_ = fuse(self.body, is_step, lambda s: layout.is_direct(s, iso), self.condition)
        self._check_end(round_)
        self.full_at_start = [x for x in self.loaded if x in full]
        self.iso_at_start = [x for x in self.loaded if x.id in iso]
        self.kinds = self._kinds()
        self.fresh = {s.id for s in self.body.scalars if not scalar_is_read_first(self.body, s)}
        iso |= iso_of_added(round_, self.body, iso)
        self.build = Build(self.device, round_, self.body.scalars, iso, full, self.condition)
        self._prepare()
        loop = GraphLoop if self.device.captures else HostLoop
        build, begin_ = self.build, [*self.build.begin, *self.entering]
        self.loop = loop(self.device, Parts(begin_, build.launches, build.end), build.finish, build.going)

    def _order_of(self, x: Vec) -> Order | None:
        """That of the matrices, for vectors of their size: none of another one meets them."""
        return self.order if self.order is not None and x.size == self.order.size else None

    def _held(self, x: Vec) -> VectorStore:
        """What a vector holds, put into the order of the loop where it enters."""
        return self.vectors[x]._in(self._order_of(x))

    def _condition(self, condition: Any) -> Vec | Scal:
        vector = isinstance(condition, Vector)
        known: dict[int, Any] = self.recorder.vectors if vector else self.recorder.scalars
        found = known.get(id(condition))
        if found is None or not any(s.target == found[1] for s in flat(self.body.statements)):
            raise CaptureError(f"while_: the body never writes to {condition.name}, so the loop would not end")
        term: Vec | Scal = found[1]
        return term

    def _kinds(self) -> list[Any]:
        """What the capture takes for granted about the values that it starts with: those that stay the same."""
        stores = (self._held(x) for x in self.iso_at_start)
        return [
            None if s.count == 0 else (s.values.dtype.char, s.values.tobytes()) if s.iso else "dense" for s in stores
        ]

    def is_valid(self) -> bool:
        """Whether matrices and kinds of vectors are those of the capture, and no transpose has been repaid since."""
        if any(is_repaid(structure) for structure in self.build.without_transpose.values()):
            return False
        same = all(matrix._stored is held for matrix, held in self.recorder.matrices)
        same = same and all(self._held(x).nvals == x.size for x in self.full_at_start)
        return same and all(now is None or now == then for now, then in zip(self._kinds(), self.kinds))

    def _check_end(self, round_: Round) -> None:
        """What a step writes lies where the last round left it, which the end, captured before, cannot know."""
        turning = {item.target for item in round_.items if isinstance(item, Step)}
        for s in flat(self.body.end):
            if turning & {*s.vectors, *s.elsewhere, s.target}:
                self.recorder.refuse(f"end: {s.text}: a vector that products of the loop write")

    def _prepare(self) -> None:
        """What every run begins with: the states, the lists of frontiers that enter, the count of the condition."""
        build = self.build
        self.entering = entering(build)
        self.beginnings: dict[int, Any] = {}

    def run(self, limit: int) -> int:
        """The rounds that were run; afterwards the vectors and scalars hold what the body left."""
        build = self.build
        for x, frontier in build.buffers.items():
            if x in self.loaded:
                frontier.load(self._held(x), full=x.id in build.full)
            elif x.id not in build.full:
                frontier.empty()
        for x, first in build.cells.items():
            build.buffers[x].begin_cells(first)
        for number, scalar in self.scalars.items():
            if number in self.fresh:
                continue
            has, value = build.scalars[number]
            has.fill(scalar._value is not None)
            if scalar._value is not None:
                value.fill(scalar._value)
        build.numbers[...] = self._beginning(limit)
        if isinstance(self.condition, Scal):
            state = build.condition_at(0)[0]
            build.memory[state * STATE + REMAINING] = int(bool(self.scalars[self.condition.id]))
        with self.device.guard:
            if tracing.active is None:
                self.loop.run(self._stop)
            else:
                tracing.active.note_loop(self.device, len(build.launches), lambda: self.loop.run(self._stop))
        _, _, rounds, _, in_cluster, fault, index = (int(x) for x in self.device.to_host(build.rounds))
        if fault:
            self._tell(fault - 1, index, rounds)
        for structure in build.without_transpose.values():
            structure.missed += PUSH_COST[self.device.kind]  # as if all entries had been pushed along once
        for x in self.changed:
            if not rounds and x not in self.written_once:
                continue
            done = x == self.condition and rounds < limit and x not in self.written_once  # it has no entries left
            steps = (rounds - in_cluster) * build.steps_of[x]
            if done:
                self.vectors[x]._adopt(empty_vector(self.device, x.size, x.dtype))
            else:
                self.vectors[x]._adopt(build.buffers[x].store(steps, full=x.id in build.full))
            self.vectors[x]._data.order = self._order_of(x)
        for s in self.body.scalars:
            if s.id not in self.body.unknown and any(t.target == s for t in self.body.all):
                has, value = (self.device.to_host(a)[0] for a in build.scalars[s.id])
                self.scalars[s.id]._store(s.dtype.np_type.type(value) if has else None)
        return rounds

    def _beginning(self, limit: int) -> Any:
        """The states and the rounds that a run begins with."""
        if limit not in self.beginnings:
            self.beginnings[limit] = beginning(self.build, limit)
        return self.beginnings[limit]

    def _tell(self, fault: int, index: int, rounds: int) -> NoReturn:
        """An index vector led nowhere: the error of its statement. Nothing is handed out."""
        text, size = self.recorder.indexed[fault // 2]
        if fault % 2:
            raise TypeError(f"{text}: expected an index vector and values without missing entries (round {rounds})")
        raise IndexOutOfBound(f"{text}: Index out of range: index={index}, size={size} (round {rounds})")

    def _stop(self) -> None:
        with self.device.xp.cuda.Stream(non_blocking=True):
            for rounds in self.build.all_rounds:  # the outermost one first: a loop inside that begins now looks at it
                rounds[3:4].fill(1)


def iso_of_added(round_: Round, body: Body, iso: dict[int, Any]) -> dict[int, Any]:
    """The iso values of vectors that fusing added."""
    added = {}
    for item in round_.all:
        if isinstance(item, (Step, Pull)) and item.target not in body.vectors:
            kind, value = layout.kind(item.product, iso)
            if kind == layout.WORDS:
                added[item.target.id] = item.target.dtype.np_type.type(value)
        elif isinstance(item, Pass):
            for s in item.statements:
                e = s.value
                masks = isinstance(e, Pointwise) and isinstance(e.u, Const)
                if masks and s.target not in body.vectors and isinstance(s.target, Vec):
                    added[s.target.id] = np.bool_(True)
    return added
