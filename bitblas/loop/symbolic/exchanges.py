"""Exchanges between ranks that run the same loop, each on its own share: recording them, and saving some of them.

Rematerialization: if a rank has all of p and all of x, it can compute all of p[x]. An exchange of a vector that was
computed from such vectors becomes the same statements on whole vectors. Every rank then repeats the work of one rank,
which takes less time than receiving the result: a position costs a read of memory instead of one over a link. A copy of
x that is kept up to date in this way passes from round to round; it is exchanged once, before the first.
It is a pure function of a body.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from ...core.scalar import Scalar
from ..ir import Block, Body, Elementwise, Exchange, Gather, Part, Pattern, Scal, Statement, Vec, blocks, flat
from .control_flow import InitialContents, OnHost, Recording

if TYPE_CHECKING:
    from ...core.matrix.matrix import Matrix
    from ...core.vector import Vector
    from ...distributed.base import Distributed


class ExchangeRecorder(Recording):
    """The part of a Recorder that handles distributed objects."""

    def __init__(self) -> None:
        super().__init__()
        self.part, self.group = 0, None
        self.written_distributed: list[weakref.ref[Distributed]] = []

    def begin_part(self) -> int:
        """Begin a part: exchanges recorded before belong to another round, or to none. Returns the statements so
        far."""
        self.part = len(self.statements)
        return self.part

    def exchange(self, target: Vector | Scalar, source: Vector | Scalar, how: Pattern) -> None:
        """Record target << an exchange of a Vector or a Scalar. Raises OnHost inside of a block that may run on some
        ranks only, and if the ranks' calls cannot be captured in a graph."""
        if not all(level.agreed for level in self.levels) or self.host or not how.group.captures:
            raise OnHost
        u, t = (self._scal(x) if isinstance(x, Scalar) else self._vec(x) for x in (source, target))
        self.group = how.group
        self.statements.append(Statement(t, Exchange(u, how), text=f"{target.name} << {how.text} {source.name}"))

    def exchanged(self, source: Vector, how: type) -> Vector | Matrix | None:
        """The Vector that an exchange of this kind has made of a Vector, unless that was written since."""
        u = self._vec(source)
        for s in reversed(self.statements[self.part :]):
            if isinstance(s, Block) or s.target == u:
                return None
            if isinstance(s.value, Exchange) and s.value.u == u and type(s.value.how) is how:
                return next(vector for vector, x in self.vectors.values() if x == s.target)
        return None

    def move_gather_last(self, source: Vector) -> Statement | None:
        """Move the gather of a Vector with which a round begins to its end, where it provides the next round's input;
        None if a round writes the Vector before, or exchanges it twice."""
        u = self._vec(source)
        part = self.statements[self.part :]
        gathers = lambda s: isinstance(s.value, Exchange) and s.value.u == u and s.value.how.gathers
        found = [k for k, s in enumerate(part) if not isinstance(s, Block) and gathers(s)]
        if len(found) != 1 or any(isinstance(s, Block) or s.target == u for s in part[: found[0] + 1]):
            return None
        gather = part[found[0]]
        assert isinstance(gather, Statement)
        creates = lambda s: isinstance(s, InitialContents) and s.target == gather.target
        self.statements[self.part :] = [*(s for s in part if s is not gather and not creates(s)), gather]
        return gather

    def repeat_exchange(self, s: Statement) -> None:
        """Record the same exchange in another place."""
        self.statements.append(replace(s))

    def changed(self) -> None:
        """After the rounds: invalidate the shared facts of distributed objects that they wrote."""
        for ref in self.written_distributed:
            if (shared := ref()) is not None:
                shared._changes()

    def is_exchange_result(self, u: Vec) -> bool:
        """Whether a vector is the result of an exchange."""
        return any(isinstance(s.value, Exchange) and s.target == u for s in flat(self.statements))


# ---- Rematerialization: replace an exchange by local recomputation if a rank already has the inputs. A pure function.

MOST_STATEMENTS = 4  # maximum statements in place of one exchange


@dataclass
class _State:
    """What is known at one point of a body about the values of vectors, which are numbered. now: each vector's value.
    made: the statement that computed a value, and the values that it read. whole: a vector with the gathered value, and
    the number that this vector's value must have for that."""

    now: dict[Vec, int] = field(default_factory=dict)
    made: dict[int, tuple[Statement, dict[Vec, int]]] = field(default_factory=dict)
    whole: dict[int, tuple[Vec, int]] = field(default_factory=dict)


class _Rematerializer:
    def __init__(self, body: Body) -> None:
        self.numbers, self.ids = count(), count(len(body.vectors))
        self.added: list[Vec] = []

    # ---- values ----

    def value(self, at: _State, x: Vec) -> int:
        if x not in at.now:
            at.now[x] = next(self.numbers)
        return at.now[x]

    def write(self, at: _State, s: Statement) -> None:
        if not isinstance(s.target, Vec):
            return
        read = {x: self.value(at, x) for x in (*s.vectors, *s.elsewhere)}
        number = at.now[s.target] = next(self.numbers)
        if isinstance(s.value, Exchange):
            if s.value.how.gathers and isinstance(s.value.u, Vec):
                at.whole[self.value(at, s.value.u)] = s.target, number
        elif _repeats(s):
            at.made[number] = s, read

    def held(self, at: _State, number: int) -> Vec | None:
        """The vector that has all of a value, if its value is still valid."""
        vec, then = at.whole.get(number, (None, -1))
        return vec if vec is not None and at.now.get(vec) == then else None

    # ---- all of a value, computed ----

    def computed(self, at: _State, u: Vec, target: Vec) -> list[Statement] | None:
        """Statements that compute all of u, with its current value, into `target`; None if there are none, or too
        many."""
        state, made = _State(dict(at.now), dict(at.made), dict(at.whole)), list[Statement]()
        before = len(self.added)
        found = self._all_of(state, self.value(state, u), target.size, made)
        if found is None or len(made) > MOST_STATEMENTS:
            self.added[before:] = []
            return None
        if found != target:
            if made and found in self.added:  # the last statement writes it
                made[-1] = replace(made[-1], target=target)
                self.added.remove(found)
            else:
                made.append(Statement(target, Elementwise(0, None, found), text=f"all of v_{u.id}, local copy"))
        return made

    def _all_of(self, at: _State, number: int, size: int, made: list[Statement]) -> Vec | None:
        found = self.held(at, number)
        if found is not None or number not in at.made or len(made) > MOST_STATEMENTS:
            return found
        s, read = at.made[number]
        mine: dict[Vec, Vec] = {}
        for x in s.vectors:
            whole = self._all_of(at, read[x], size, made)
            if whole is None:
                return None
            mine[x] = whole
        e = s.value
        if isinstance(e, Gather):
            if at.now.get(e.source) != read[e.source] or not any(e.source == w for w, _ in at.whole.values()):
                return None
            value: Gather | Elementwise = replace(e, index=mine[e.index])
        else:
            assert isinstance(e, Elementwise)
            if e.op is None and isinstance(e.u, Vec) and isinstance(s.target, Vec) and e.u.dtype is s.target.dtype:
                return mine[e.u]  # a copy
            of = lambda t: mine[t] if isinstance(t, Vec) else t
            value = replace(e, u=of(e.u), v=of(e.v))
        assert isinstance(s.target, Vec)
        t = Vec(next(self.ids), size, s.target.dtype)
        self.added.append(t)
        made.append(Statement(t, value, text=f"all of {s.text}"))
        self.write(at, made[-1])
        at.whole[number] = t, at.now[t]
        return t

    # ---- parts ----

    def part(self, statements: Part, at: _State, carried: dict[Vec, Vec]) -> list[Statement | Block]:
        """The statements with fewer exchanges. carried: vectors with gathered copies at the beginning."""
        for u, t in carried.items():
            at.whole[self.value(at, u)] = t, self.value(at, t)
        found: list[Statement | Block] = []
        for s in statements:
            if isinstance(s, Block):
                at.now |= {x.target: next(self.numbers) for x in flat((s,)) if isinstance(x.target, Vec)}
                found.append(s)
                continue
            e = s.value
            if isinstance(e, Exchange) and e.how.gathers and isinstance(e.u, Vec) and isinstance(s.target, Vec):
                if carried.get(e.u) == s.target and self.held(at, self.value(at, e.u)) == s.target:
                    continue
                if self.instead(at, found, s, e.u, s.target):
                    continue
            self.write(at, s)
            found.append(s)
        return found

    def instead(self, at: _State, found: list[Statement | Block], exchange: Statement, u: Vec, t: Vec) -> bool:
        """Replace an exchange by statements that compute all of u into t, if possible; they are added to `found`."""
        number = self.value(at, u)
        if self.held(at, number) == t:
            return True
        made = self.computed(at, u, t)
        if made is None:
            return False
        for s in made:
            self.write(at, s)
        at.whole[number] = t, self.value(at, t)
        k = self._place(at, found, number, made, t)
        if k is None:
            found.extend(made)
        else:  # this rank's share is then taken out of it
            assert isinstance(exchange.value, Exchange)
            whole, _, u_name = exchange.text.partition(f" << {exchange.value.how.text} ")
            own = Exchange(t, exchange.value.how.own())
            found[k : k + 1] = [*made, Statement(u, own, text=f"{u_name} << {own.how.text} {whole}")]
        return True

    def _place(
        self, at: _State, found: list[Statement | Block], number: int, made: list[Statement], t: Vec
    ) -> int | None:
        """The index in `found` of the statement that computed a value, if `made` can be inserted there."""
        if number not in at.made or not made or at.made[number][0] not in found:
            return None
        k = found.index(at.made[number][0])
        read = {x for s in made for x in (*s.vectors, *s.elsewhere)}
        for s in flat(found[k + 1 :]):
            if s.target in read or t in (s.target, *s.vectors, *s.elsewhere):
                return None
        return k


def _repeats(s: Statement) -> bool:
    """Whether a statement has the same form on a share and on the whole."""
    if s.mask is not None or s.accum is not None:
        return False
    e = s.value
    if isinstance(e, Gather):
        return True
    if not isinstance(e, Elementwise) or e.keep or e.under is not None:
        return False
    positional = bool(getattr(getattr(e.op, "op", None), "positional", False))
    return not positional and any(isinstance(t, Vec) for t in e.terms) and not any(isinstance(t, Scal) for t in e.terms)


def rematerialize(body: Body) -> Body:
    """The body without the exchanges that each rank can replace by its own computation."""
    first = _first_gathers(body)
    by = {s.target: s for s in flat(body.statements)}
    while True:  # until all carried copies are up to date at the end of a round
        run = _Rematerializer(body)
        at = _State()
        begin = run.part(body.begin, at, {})
        for u, t in first.items():
            if not run.instead(at, begin, by[t], u, t):
                run.write(at, by[t])
                begin.append(by[t])
        at = _State()  # of any round
        statements = run.part(body.statements, at, first)
        late = next((u for u, t in first.items() if not run.instead(at, statements, by[t], u, t)), None)
        if late is None:
            break
        del first[late]
    end = run.part(body.end, _State(), {})
    vectors, own = (*body.vectors, *run.added), body.own | set(run.added)
    begin_, statements_, end_ = _live(own, (begin, statements, end))
    return replace(body, begin=begin_, statements=statements_, end=end_, vectors=vectors, own=own)


def _live(own: frozenset[Vec], parts: Sequence[Sequence[Statement | Block]]) -> list[Part]:
    """The parts without statements whose targets are local to the body and not read any more."""
    removable = lambda s: s.value.how.takes if isinstance(s.value, Exchange) else _repeats(s)
    while True:
        kept = {s.target for part in parts for s in flat(part)} - own
        kept |= {x for part in parts for s in flat(part) for x in (*s.vectors, *s.elsewhere)}
        kept |= {b.condition for part in parts for b in blocks(part)}
        left = [
            tuple(s for s in part if isinstance(s, Block) or s.target in kept or not removable(s)) for part in parts
        ]
        if list(map(len, left)) == list(map(len, parts)):
            return left
        parts = left


def _first_gathers(body: Body) -> dict[Vec, Vec]:
    """The vectors that a round gathers before it writes them, and their gathered copies."""
    found: dict[Vec, Vec] = {}
    written = set[Vec]()
    targets = [s.target for s in flat((*body.begin, *body.statements, *body.end))]
    for s in body.statements:
        if isinstance(s, Block):
            written |= {x.target for x in flat((s,)) if isinstance(x.target, Vec)}
            continue
        e = s.value
        if isinstance(e, Exchange) and e.how.gathers and isinstance(e.u, Vec) and isinstance(s.target, Vec):
            if e.u not in written and e.u not in found and targets.count(s.target) == 1:
                found[e.u] = s.target
        if isinstance(s.target, Vec):
            written.add(s.target)
    return found
