"""Tier-up: when the rounds of a program on the CPU switch from single statements to a table of kernels."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...core.statement.listening import state as listening
from ...device import objects
from ...exceptions import CaptureError

if TYPE_CHECKING:
    from ..fused.lines import Line
    from .program import HostRounds


class Turn:
    """Whether the next round of a program runs statement by statement or all that are left by a table of kernels. why:
    what the body holds that a table cannot; waits: what was not there when a table was last tried."""

    PATIENCE = 5e-3  # seconds of rounds by statements after which a table is made, which takes about as long
    COSTS = weakref.WeakKeyDictionary[Any, float]()  # or after as many as it took for a body of the same code
    COMPILING = 0.3  # and, for each kernel that has to be compiled, so many more

    def __init__(self, body: Callable[..., Any], condition: Any) -> None:
        self.body, self.condition = body, condition
        self.spent, self.compiled = 0.0, objects.compiled
        self.why = self.waits = ""
        self.rounds: HostRounds | None = None
        self.code = getattr(body, "__code__", None)
        # When a table is asked for next: one whose kernels are not repaid yet is not made anew for each round that
        # leaves vectors of other kinds.
        self.due = max(self.PATIENCE, self.COSTS.get(self.code, 0.0)) if self.PATIENCE and self.code else self.PATIENCE
        self.again = 1  # how long until it is tried again, where something was missing

    def made(self, given: tuple[Any, ...]) -> HostRounds | None:
        """What the rest of the rounds is for; None: another round by statements."""
        if self.why or self._is_early() or listening.recorder is not None:
            return None
        from .program import HostRounds

        if self.rounds is None or not self.rounds.fits(given):
            from ..recorded.record import OnHost
            from .products import Later

            begin = time.perf_counter()
            try:
                self.rounds = HostRounds(self.body, self.condition, given)
            except Later as error:
                self.waits = str(error)
                self.due = self.spent + self.again * self.PATIENCE
                self.again *= 2
                return None
            except (CaptureError, OnHost) as error:
                self.why = str(error) or "vectors on other devices"
                self._note(2 * self.due)  # it is tried ever more rarely
                return None
            self.due = self.PATIENCE + self.COMPILING * self.rounds.build.missing()
            self._note(self.due + time.perf_counter() - begin)
        return None if self._is_early() else self.rounds

    def _is_early(self) -> bool:
        return self.spent < self.due and self.PATIENCE > 0

    def _note(self, seconds: float) -> None:
        if self.code is not None and self.PATIENCE:
            self.COSTS[self.code] = seconds

    def spend(self, begin: float) -> float:
        """Notes a round by statements that began then; now. Rounds for which kernels were compiled say nothing."""
        now = time.perf_counter()
        if objects.compiled == self.compiled:
            self.spent += now - begin
        self.compiled = objects.compiled
        return now

    def lines(self) -> tuple[Line, ...]:
        """The kernels of a round, where there is a table of them that has run."""
        return tuple(self.rounds.build.lines) if self.rounds is not None and self.rounds.build.has_table else ()


@contextmanager
def at_once() -> Iterator[None]:
    """Inside, programs on the CPU run by tables from their first round on, whatever has to be compiled for that."""
    before = Turn.PATIENCE, Turn.COMPILING
    Turn.PATIENCE = Turn.COMPILING = 0.0
    try:
        yield
    finally:
        Turn.PATIENCE, Turn.COMPILING = before
