"""Objects that a program creates before its rounds, as the state that the rounds use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from semirings import Typed
    from semirings.dtypes import DataType

    from ...core.hooks import SymbolicScalar
    from ...core.matrix.matrix import Matrix
    from ...core.scalar import Scalar
    from ...core.statement.expressions import MatrixExpression, VectorExpression
    from ...core.statement.infix import Operand
    from ...core.statement.masks import Mask
    from ...core.vector import Vector
    from ...distributed.group import Group
    from ...store import MatrixStore
    from ..ir import Block, Scal, Statement, Term, Vec
    from .control_flow import EnclosingBody

NO_LIMIT = (1 << 62) - 1  # of rounds
Expr: TypeAlias = "VectorExpression | MatrixExpression"


class Recording:
    """What the parts of a Recorder share: the statements so far, and the numbers of the objects that they name."""

    host: bool  # whether vectors are on the CPU
    statements: list[Statement | Block]  # of the innermost block
    vectors: dict[int, tuple[Vector | Matrix, Vec]]  # by the id of the object, which is kept alive here
    scalars: dict[int, tuple[Scalar, Scal]]
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
