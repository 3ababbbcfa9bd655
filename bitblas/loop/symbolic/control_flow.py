"""Control flow of a symbolic program: plain loops, nested loops, conditions in a body and of loops, recorded as blocks.

The condition of a block is a Vector or a Scalar on the device. A loop condition may also be any of several vectors, or
a distributed vector.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from semirings import binary, monoid, unary
from semirings.dtypes import BOOL, INT64, DataType

from ...core.matrix.matrix import Matrix
from ...core.scalar import Scalar
from ...core.vector import Vector
from ...operations.variants import LEFT
from ...store import MatrixStore, VectorStore
from ..ir import Block, Const, Elementwise, Part, Product, Scal, Statement, Term, Vec, flat

if TYPE_CHECKING:
    import numpy as np

    from semirings import Semiring, Typed

    from ...core.hooks import SymbolicScalar
    from ...core.matrix.read import MatrixRead
    from ...core.statement.expressions import MatrixExpression, VectorExpression
    from ...core.statement.infix import Operand
    from ...core.statement.masks import Mask
    from ...distributed.group import Group
    from .recorder import Recorder


Expr: TypeAlias = "VectorExpression | MatrixExpression"


class Recording:
    """What the parts of a Recorder share: the statements so far, and the numbers of the objects that they name."""

    host: bool  # whether vectors are on the CPU
    statements: list[Statement | Block]  # of the innermost block
    vectors: dict[int, tuple[Vector | Matrix, Vec]]  # by the id of the object, which is kept alive here
    scalars: dict[int, tuple[Scalar, Scal]]
    indexed: list[tuple[str, int]]  # statements that can fail on the device: text for errors, and the size exceeded
    matrices: list[tuple[Matrix, MatrixStore]]  # each Matrix and its contents when it was read
    levels: list[EnclosingBody]
    round: Scalar
    repeats: bool  # whether the recorded statements will run more than once
    part: int  # index of the first statement of the current part: before the rounds, in one, after them
    group: Group | None  # the ranks that run the same loop, if they exchange anything

    if TYPE_CHECKING:

        def refuse(self, what: str) -> NoReturn: ...

        def _vec(self, vector: Vector | Matrix) -> Vec: ...

        def _scal(self, scalar: Scalar) -> Scal: ...

        def _term(self, value: Operand | SymbolicScalar | np.generic | None, dtype: DataType | None = None) -> Term: ...

        def count(self, vector: Vector | Matrix) -> Scalar: ...

        def _times(self, A: MatrixRead, u: Vec, op: Typed[Semiring], text: str) -> Product: ...

        def vector_statement(
            self, w: Vector | Matrix, value: Any, mask: Mask | None, accum: Typed | None, replace: bool
        ) -> None: ...


def state_of(begin: Callable[[], object] | None) -> tuple[object, ...]:
    """The result of `begin`, which is passed to body and end."""
    given = None if begin is None else begin()
    if given is not None and not isinstance(given, tuple):
        raise TypeError(f"begin: expected a function that returns a tuple or None, got {type(given).__qualname__}")
    return given or ()


def single_rank_part(thing: Any) -> Any:
    """A distributed object's part if there is only one rank; other things are returned unchanged."""
    return thing._part if hasattr(thing, "_ranks") and thing._ranks.size == 1 else thing


class OnHost(Exception):
    """The loop cannot be captured: its vectors are on another device, or it needs the host."""


class PlainLoops(threading.local):
    """The number of nested programs that this thread runs as plain loops."""

    depth = 0
    throughout = False  # whether nested loops run as plain loops too

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1

    @contextmanager
    def inside_too(self) -> Iterator[None]:
        """Run nested loops, and those before and after the rounds, statement by statement as well."""
        before, self.throughout = self.throughout, True
        try:
            yield
        finally:
            self.throughout = before


plain_loops = PlainLoops()


# ---- Nested loops and conditions in a body, recorded as blocks of statements. Their condition is a Vector or a Scalar
# on the device.


def from_store(data: VectorStore | MatrixStore) -> Vector | Matrix:
    """A new object with that content."""
    return Vector._from_store(data) if isinstance(data, VectorStore) else Matrix._from_store(data)


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
        if self.carried is not None and isinstance(self.carried.target, Vec):
            self.term = self.carried.target
        else:
            self.goes_on << entries_of_all(self.vectors)
            self.term = self.goes_on

    def before_rounds(self, recorder: Recorder) -> None:
        if self.carried is None:
            self.goes_on << entries_of_all(self.vectors)
        else:
            recorder.repeat_exchange(self.carried)
