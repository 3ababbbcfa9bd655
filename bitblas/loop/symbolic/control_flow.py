"""Nested loops, conditions in a body, and loop conditions, recorded as blocks of statements.

The condition of a block is a Vector or a Scalar on the device. A loop condition may also be any of several vectors, or
a distributed vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semirings import binary, monoid, unary
from semirings.dtypes import BOOL, INT64

from ...core.matrix.matrix import Matrix
from ...core.scalar import Scalar
from ...core.vector import Vector
from ...operations.variants import LEFT
from ..ir import Block, Const, Elementwise, Part, Statement, Term, Vec, flat
from .context import OnHost, Recording, single_rank_part, state_of
from .multivectors import from_store

if TYPE_CHECKING:
    from .recorder import Recorder

# ---- Nested loops and conditions in a body, recorded as blocks of statements. Their condition is a Vector or a Scalar
# on the device.


@dataclass(frozen=True, eq=False)
class InitialContents(Statement):
    """The initial contents of a vector that the body creates."""


class EnclosingBody:
    """The body around a block: its statements so far, its round, and a Scalar with its round number, if the block needs
    it. agreed: whether all ranks decide alike if the block runs. part: the recorder's value of `part`."""

    def __init__(self, statements: list[Statement | Block], round_: Scalar, agreed: bool, part: int) -> None:
        self.statements, self.round, self.agreed, self.part = statements, round_, agreed, part
        self.scalar: Scalar | None = None


class BlockRecorder(Recording):
    """The part of a Recorder that handles blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.repeats = False

    def created(self, vector: Vector | Matrix) -> None:
        """A Vector that the body creates: in each round again, with its initial contents."""
        if not self.repeats:
            return
        t = self._vec(vector)
        contents: Term = Const(t.dtype, None)
        if (vector._data.count if isinstance(vector, Vector) else vector._data.nvals) != 0:
            self.repeats = False
            contents = self._vec(from_store(vector._data))
            self.repeats = True
        self.statements.append(
            InitialContents(t, Elementwise(LEFT, None, contents), text=f"{vector.name} << its initial contents")
        )

    def count(self, vector: Vector | Matrix) -> Scalar:
        """v.nvals"""
        ones = vector.apply(unary.one[INT64]).new()
        reduce = ones.reduce_scalar if isinstance(ones, Matrix) else ones.reduce
        return reduce(monoid.plus[INT64], allow_empty=False).new(name=f"{vector.name}.nvals")

    def repeated(
        self,
        body: Callable[..., object],
        condition: Any,
        limit: int,
        begin: Callable[[], object] | None,
        end: Callable[..., object] | None,
    ) -> None:
        """A nested loop: Program(body, ..).run()"""
        given, condition = state_of(begin), single_rank_part(condition)
        text = f"while {condition_name(condition)}"
        agreed = hasattr(condition, "_ranks")  # distributed
        several = (condition,) if agreed else condition
        if isinstance(several, tuple):
            body, goes_on = with_any_condition(body, several)
            goes_on << entries_of_all(several)
        else:
            goes_on = condition
        block = self._block(goes_on, limit, text, lambda: body(self.round, *given), agreed)
        if not any(s.target == block.condition for s in flat(block.statements)):
            self.refuse(f"{text}: the body never writes to {condition_name(condition)}, so the loop would not end")
        if end is not None:
            end(*given)

    def under(self, condition: Any, then: Callable[[], object], else_: Callable[[], object] | None) -> None:
        """if_(condition, then, else_)"""
        text = f"if {condition_name(condition)}"
        if else_ is not None:  # both are evaluated before either runs
            holds, fails = Scalar(BOOL), Scalar(BOOL)
            holds << False
            some = condition.nvals if hasattr(condition, "_ranks") else None
            if some is None:
                some = self.count(condition) if getattr(condition, "ndim", 0) else condition
            holds(binary.lor) << some
            fails << holds.apply(unary.lnot)
            self._block(holds, 1, text, then)
            self._block(fails, 1, f"else of {text}", else_)
        else:
            if not getattr(condition, "ndim", 0) and not isinstance(condition, Scalar):
                condition = condition.new()
            self._block(condition, 1, text, then)

    def enclosing_round(self, scalar: Scalar) -> Scalar:
        """The Scalar with the round number of an enclosing body, if `scalar` is that round; otherwise `scalar`
        itself."""
        for level in self.levels:
            if scalar is level.round:
                if level.scalar is None:
                    level.scalar = Scalar(INT64, name="the enclosing round")
                    inner, self.statements = self.statements, level.statements
                    levels, self.levels = self.levels, self.levels[: self.levels.index(level)]
                    here, self.round = self.round, level.round
                    level.scalar << scalar
                    self.statements, self.levels, self.round = inner, levels, here
                return level.scalar
        return scalar

    def _block(
        self, condition: object, limit: int, text: str, inside: Callable[[], object], agreed: bool = False
    ) -> Block:
        if not isinstance(condition, (Vector, Matrix, Scalar)):  # distributed
            raise OnHost
        known = self._scal(condition) if isinstance(condition, Scalar) else self._vec(condition)
        self.levels.append(EnclosingBody(self.statements, self.round, agreed, self.part))
        self.statements, self.round, self.part = [], Scalar(INT64, name="round"), 0
        around, self.repeats = self.repeats, True
        try:
            inside()
        finally:
            self.repeats = around
            statements, level = self.statements, self.levels.pop()
            self.statements, self.round, self.part = level.statements, level.round, level.part
        block = Block(tuple(statements), known, limit, text)
        if statements:
            self.statements.append(block)
        return block


def needed_statements(part: Part, everywhere: Sequence[Statement]) -> Iterator[Statement | Block]:
    """The statements of a part, out of those `everywhere`, without the initialization of vectors that nothing else
    writes, or that are overwritten before they are read."""
    for k, s in enumerate(part):
        if isinstance(s, Block):
            yield replace(s, statements=tuple(needed_statements(s.statements, everywhere)))
        elif not isinstance(s, InitialContents) or not _in_vain(s, part[k + 1 :], everywhere):
            yield s


def _in_vain(made: InitialContents, after: Part, everywhere: Sequence[Statement]) -> bool:
    x = made.target
    if sum(s.target == x for s in everywhere) == 1:
        return True
    for s in after:
        read = [y for inner in flat((s,)) for y in (*inner.vectors, *inner.elsewhere)]
        if x in read or (isinstance(s, Block) and any(x in (inner.target, s.condition) for inner in flat((s,)))):
            return False
        if isinstance(s, Statement) and s.target == x:
            return s.overwrites
    return True


def entries_of_all(vectors: Sequence[Any]) -> Scalar:
    """The number of entries of several vectors, inside a body."""
    found: Scalar = vectors[0].nvals
    for x in vectors[1:]:
        found = found.ewise_add(x.nvals, monoid.plus[INT64]).new()
    return found


def with_any_condition(body: Callable[..., object], vectors: tuple[Any, ...]) -> tuple[Callable[..., None], Scalar]:
    """A body that also computes whether any of several vectors has an entry, and the Scalar with the result."""
    goes_on = Scalar(BOOL, name=f"any of {condition_name(vectors)}")

    def with_condition(number: Scalar | int, *given: object) -> None:
        body(number, *given)
        goes_on << entries_of_all(vectors)

    return with_condition, goes_on


def condition_name(condition: Any) -> str:
    """The name of a condition in messages."""
    if isinstance(condition, tuple):
        return ", ".join(x.name for x in condition)
    return str(getattr(condition, "name", None) or condition._text())


# ---- Loop conditions other than one vector on one device: any of several vectors, or a distributed vector.


class LoopCondition:
    """The condition that any of several vectors has an entry, evaluated before the first round and after each.

    If a round gathers all of a distributed BOOL vector before it writes it, that gather moves to the end of the round
    and serves as the condition, so that no other communication is needed. term: the Scalar or the vector.
    """

    term: Scalar | Vec

    def __init__(self, condition: Any) -> None:
        vectors = condition if isinstance(condition, tuple) else (condition,)
        self.goes_on, self.vectors = Scalar(BOOL, name=f"any of {condition_name(vectors)}"), vectors
        self.one = vectors[0] if len(vectors) == 1 and vectors[0].dtype is BOOL else None
        self.carried: Statement | None = None

    def after_round(self, recorder: Recorder) -> None:
        if self.one is not None and hasattr(self.one, "_part"):
            self.carried = recorder.move_gather_last(self.one._part)
        if self.carried is None:
            self.goes_on << entries_of_all(self.vectors)
        self.term = self.goes_on
        if self.carried is not None:
            assert isinstance(self.carried.target, Vec)
            self.term = self.carried.target

    def before_rounds(self, recorder: Recorder) -> None:
        if self.carried is None:
            self.goes_on << entries_of_all(self.vectors)
        else:
            recorder.repeat_exchange(self.carried)

    @property
    def kept(self) -> frozenset[Vec]:
        """The vector that must not be merged with others."""
        return frozenset({self.term}) if isinstance(self.term, Vec) else frozenset()
