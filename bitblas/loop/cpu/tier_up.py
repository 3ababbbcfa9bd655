"""Tier-up: when the rounds of a program on the CPU switch from single statements to a table of kernels."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any

from ... import tuning
from ...core.statement.running import listening
from ...device import object_files
from ...exceptions import CaptureError

if TYPE_CHECKING:
    from ..fuse import Line
    from .program import CpuRounds


class TierUp:
    """Decide whether the next round of a program runs statement by statement, or all remaining rounds run as a table of
    kernels. refusal: what in the body a table cannot do. missing: what was missing when a table was last tried."""

    COSTS = weakref.WeakKeyDictionary[CodeType, float]()  # seconds that a table took for a body with the same code

    def __init__(self, body: Callable[..., object], condition: Any) -> None:
        self.body, self.condition = body, condition
        self.spent, self.compiled = 0.0, object_files.compiled
        self.refusal = self.missing = ""
        self.rounds: CpuRounds | None = None
        self.code: CodeType | None = getattr(body, "__code__", None)
        # When the next table is tried. A table is not rebuilt before its compile time has been amortized, even if
        # rounds leave vectors of other kinds.
        patience = tuning.value("loop.tier_up_seconds")
        self.due = max(patience, self.COSTS.get(self.code, 0.0)) if patience and self.code else patience
        self.backoff = 1  # delay before the next attempt, in units of loop.tier_up_seconds, if something was missing

    def table(self, given: tuple[object, ...]) -> CpuRounds | None:
        """The table for the remaining rounds; None: run another round by statements."""
        if self.refusal or self._is_early() or listening.recorder is not None:
            return None
        from .program import CpuRounds

        if self.rounds is None or not self.rounds.fits(given):
            from ..symbolic.recorder import OnHost
            from .build import NotYetAvailable

            begin = time.perf_counter()
            try:
                self.rounds = CpuRounds(self.body, self.condition, given)
            except NotYetAvailable as error:
                self.missing = str(error)
                self.due = self.spent + self.backoff * tuning.value("loop.tier_up_seconds")
                self.backoff *= 2
                return None
            except (CaptureError, OnHost) as error:
                self.refusal = str(error) or "vectors on other devices"
                self._note(2 * self.due)  # attempts become ever rarer
                return None
            compiling = tuning.value("loop.compile_seconds") * self.rounds.build.missing()
            self.due = tuning.value("loop.tier_up_seconds") + compiling
            self._note(self.due + time.perf_counter() - begin)
        return None if self._is_early() else self.rounds

    def _is_early(self) -> bool:
        return self.spent < self.due and tuning.value("loop.tier_up_seconds") > 0

    def _note(self, seconds: float) -> None:
        if self.code is not None and tuning.value("loop.tier_up_seconds"):
            self.COSTS[self.code] = seconds

    def spend(self, begin: float) -> float:
        """Add the time of a round by statements that began at `begin`; return the current time. Rounds for which
        kernels were compiled do not count."""
        now = time.perf_counter()
        if object_files.compiled == self.compiled:
            self.spent += now - begin
        self.compiled = object_files.compiled
        return now

    def lines(self) -> tuple[Line, ...]:
        """The kernels of a round, if a table of them has run."""
        return tuple(self.rounds.build.lines) if self.rounds is not None and self.rounds.build.has_table else ()


@contextmanager
def at_once() -> Iterator[None]:
    """Context in which CPU programs run as tables from their first round on, whatever must be compiled for that."""
    with tuning.override({"loop.tier_up_seconds": 0.0, "loop.compile_seconds": 0.0}):
        yield
