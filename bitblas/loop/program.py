"""Programs: a body of GraphBLAS statements that runs round after round without returning to Python.

On objects of python-graphblas this is a plain loop. On a GPU the body runs once symbolically; its statements are fused
into few kernels and captured as a CUDA graph with a while node, whose condition and counters are on the device. On the
CPU, rounds run statement by statement until compiling a table of such kernels pays (`TierUp`).
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from types import CodeType
from typing import TYPE_CHECKING, Any

from .. import tuning
from ..config import config
from ..core.hooks import state
from ..core.matrix.matrix import Matrix
from ..core.scalar import Scalar
from ..core.statement.running import listening
from ..core.vector import Vector
from ..device import get, object_files
from ..display import html
from ..exceptions import CaptureError, InvalidValue
from ..formats.bitmap.layout import lines_of
from .buffers import Asked
from .ir import NO_LIMIT
from .symbolic.control_flow import OnHost, state_of
from .symbolic.control_flow import plain_loops as one_by_one

if TYPE_CHECKING:
    from semirings.dtypes import DataType

    from ..device import Device
    from .buffers import Answer
    from .checkpoint import Checkpoint
    from .cpu.build import CpuRounds
    from .fuse import Line
    from .gpu.captured_program import CapturedProgram


class TierUp:
    """Decide whether the next round of a program runs statement by statement, or all remaining rounds run as a table of
    kernels. refusal: what in the body a table cannot do. missing: what was missing when a table was last tried."""

    COSTS = weakref.WeakKeyDictionary[CodeType, float]()  # seconds that a table took for a body with the same code

    def __init__(self, body: Callable[..., object], condition: Any) -> None:
        self.body, self.condition = body, condition
        self.code: CodeType | None = getattr(body, "__code__", None)
        self.spent, self.compiled = 0.0, object_files.compiled
        self.refusal = self.missing = ""
        self.rounds: CpuRounds | None = None
        # When the next table is tried. A table is not rebuilt before its compile time has been amortized, even if
        # rounds leave vectors of other kinds.
        patience = tuning.value("loop.tier_up_seconds")
        self.due = max(patience, self.COSTS.get(self.code, 0.0)) if patience and self.code else patience
        self.backoff = 1  # delay before the next attempt, in units of loop.tier_up_seconds, if something was missing

    def table(self, given: tuple[object, ...]) -> CpuRounds | None:
        """The table for the remaining rounds; None: run another round by statements."""
        if self.refusal or self._is_early() or listening.recorder is not None:
            return None
        if self.rounds is None or not self.rounds.fits(given):
            from .cpu.build import CpuRounds, NotYetAvailable  # on demand: symbolic execution is a sixth of the library

            begin = perf_counter()
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
            self._note(self.due + perf_counter() - begin)
        return None if self._is_early() else self.rounds

    def _is_early(self) -> bool:
        return self.spent < self.due and tuning.value("loop.tier_up_seconds") > 0

    def _note(self, seconds: float) -> None:
        if self.code is not None and tuning.value("loop.tier_up_seconds"):
            self.COSTS[self.code] = seconds

    def spend(self, begin: float) -> float:
        """Add the time of a round by statements that began at `begin`; return the current time. Rounds for which
        kernels were compiled do not count."""
        now = perf_counter()
        if object_files.compiled == self.compiled:
            self.spent += now - begin
        self.compiled = object_files.compiled
        return now

    def lines(self) -> tuple[Line, ...]:
        """The kernels of a round, if a table of them has run."""
        return (
            tuple(self.rounds.build.lines) if self.rounds is not None and self.rounds.build._table is not None else ()
        )


@contextmanager
def at_once() -> Iterator[None]:
    """Context in which CPU programs run as tables from their first round on, whatever must be compiled for that."""
    with tuning.override({"loop.tier_up_seconds": 0.0, "loop.compile_seconds": 0.0}):
        yield


@functools.cache
def program_lock(device: Device) -> threading.RLock:
    """The lock of the program of a device that is being captured or runs: programs share memory."""
    return threading.RLock()


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a program runs: the rounds per run of the captured body, the launches of a round, and how small rounds run.
    On the CPU, the kernels of a round (copies 0), or why statements run one by one."""

    copies: int
    launches: tuple[Line, ...]
    small: str = ""

    def __str__(self) -> str:
        lines = [self._head()]
        for kind, statements, variant in self.launches:
            lines.append(f"  {kind:9s} {variant}")
            lines += [f"            {text}" for text in statements]
        return "\n".join([*lines, self.small] if self.small and self.launches else lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        if not self.launches:
            return html(self._head())
        rows = [(kind, variant, "; ".join(statements)) for kind, statements, variant in self.launches]
        return html(self._head(), [("kernel", "variant", "statements"), *rows], *([self.small] if self.small else []))

    def _head(self) -> str:
        if not self.launches:
            return f"a plain loop: statement by statement{self.small and f' ({self.small})'}"
        if self.copies == 1:
            return "a round is"
        return f"{self.copies} rounds per run of the body; a round is" if self.copies else "from a table; a round is"


class Program:
    """Program(body, while_=v): run body(k) for k = 0, 1, 2, .. as long as the Vector v has entries (the Scalar v is
    true; any of a tuple of Vectors has entries).

    Parameters
    ----------
    body
        A function of the round number (INT64: an int, or a Scalar with a value on the device only),
        whose statements write Vectors and Scalars that were created before, on one device. On a GPU it
        is called once and its statements are repeated, so Python's `if` and `while` inside do not
        depend on entries. On the CPU it is called for some rounds, and once more for all remaining
        ones; a body that reads entries on the host is called for every round.
    limit : int, optional
        >= 0, the maximum number of rounds.
    begin : optional
        A function without arguments, whose statements run once before the first round (and before
        `while_` is first evaluated); its result, None or a tuple, is passed to body and end as further
        arguments.
    end : optional
        A function whose statements run once after the last round. Both are captured with the body.
    fixpoint : optional
        Only the final contents of vectors matter, when nothing changes any more; neither the number of
        rounds nor the values of Scalars do. A GPU may then relax edges in another order than the body
        (docs/loops.md).

    Raises
    ------
    TypeError
        body, begin, end, while_.
    InvalidValue
        limit.

    Notes
    -----
    `run()` returns the number of rounds; inside a body, where the program becomes a nested loop, None on a GPU. The
    first run on a GPU captures; later runs cost one launch. If a matrix has changed since, the program is captured
    again. `explain()` lists the kernels of a round.

    The first run raises CaptureError (a statement that cannot run in a loop on the device; the message
    names it) or DeviceError. IndexOutOfBound, TypeError: an index vector was out of range, or had missing
    entries; where rounds run without Python this is raised after the loop has ended, and
    vectors and scalars are as before these rounds.
    """

    def __init__(
        self,
        body: Callable[..., object],
        *,
        while_: Any,
        limit: int | None = None,
        begin: Callable[[], object] | None = None,
        end: Callable[..., object] | None = None,
        fixpoint: bool = False,
    ) -> None:
        if not callable(body):
            raise TypeError(f"body: expected a function of the round number, got {type(body).__qualname__}")
        for name, part in (("begin", begin), ("end", end)):
            if part is not None and not callable(part):
                raise TypeError(f"{name}: expected a function, or None, got {type(part).__qualname__}")
        for one in while_ if isinstance(while_, tuple) and while_ else (while_,):
            ranks = (1, 2) if isinstance(while_, tuple) else (0, 1, 2)
            if not hasattr(type(one), "nvals") or getattr(one, "ndim", 0) not in ranks:
                expected = "a Vector, a Matrix, a Scalar, or a tuple of Vectors"
                raise TypeError(f"while_: expected {expected}, got {type(one).__qualname__}")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
            raise InvalidValue(f"limit: expected an int of 0 or more, or None, got {limit!r}")
        self.body, self.condition, self.limit = body, while_, NO_LIMIT if limit is None else limit
        self.begin, self.end, self.fixpoint = begin, end, fixpoint
        self._captured: CapturedProgram | None = None
        self._moved: set[int] = set()  # vectors whose memory has moved between runs (gpu/transfer.py)
        self._tier_up: TierUp | None = None
        self._checkpoint: Checkpoint | None = None

    def checkpoint(self, path: str | os.PathLike[str], *, state: Sequence[Any] = (), every: int = 100) -> Program:
        """Return self, which from now on saves `while_` and the Vectors and Scalars of `state` into the folder `path`
        after every `every` rounds. A run that finds such a checkpoint resumes from it; one that ends deletes it.

        Parameters
        ----------
        state : optional
            Everything that the body reads and writes. Such a program runs as a plain loop.

        Raises
        ------
        InvalidValue
            every, a program with `begin`.
        TypeError
            state.

        Notes
        -----
        Its runs also raise OSError, InvalidValue (checkpoint of another program).
        """
        from .checkpoint import Checkpoint

        if self.begin is not None:
            raise InvalidValue("checkpoint: expected a program without begin=, whose vectors cannot be saved")
        condition = self.condition if isinstance(self.condition, tuple) else (self.condition,)
        self._checkpoint = Checkpoint(path, [*condition, *state], every)
        return self

    def run(self, *, plain: bool = False) -> Any:
        """Run rounds until the condition fails or the limit is reached; return their number.

        Parameters
        ----------
        plain : optional
            Statement by statement, nested loops too, as for a body that cannot be captured.
        """
        if state.recorder is not None:
            if self._checkpoint is not None:
                state.recorder.refuse("a program with a checkpoint")
            return state.recorder.repeated(self.body, self.condition, self.limit, self.begin, self.end)
        if plain or one_by_one.throughout:
            with one_by_one.inside_too():
                return self._run_plain(None)
        captured = self._captured
        if captured is not None and self._checkpoint is None and captured.is_valid():
            with program_lock(captured.device):
                return captured.run(self.limit)
        one = self.condition[0] if isinstance(self.condition, tuple) else self.condition
        shared = hasattr(one, "_ranks")  # distributed
        known = shared or isinstance(one, (Vector, Matrix, Scalar))
        if not known or self._checkpoint is not None:  # objects of python-graphblas
            return self._run_plain(None)
        device = get(config.device) if isinstance(one, Scalar) and not shared else one.device
        if device.captures_bodies:
            from .gpu.captured_program import CapturedProgram

            try:
                with program_lock(device):
                    parts = self.body, self.condition, self.begin, self.end, self.fixpoint, self._moved
                    self._captured = CapturedProgram(*parts)
                    return self._captured.run(self.limit)
            except OnHost:
                pass
        if shared and one._ranks.size > 1:
            return self._run_plain(None)
        if self._tier_up is None:
            self._tier_up = TierUp(self.body, self.condition)
        return self._run_plain(self._tier_up)

    def _run_from(
        self,
        start: Answer | None,
        source: Sequence[int],
        value: object,
        results: Sequence[Answer],
        dtype: DataType | None = None,
    ) -> tuple[int, list[Answer]] | None:
        """Run with entries of one value in `start`: of a Vector at the positions `source`, of a Matrix in its first
        rows, at these columns; and with the results and all else empty. Return the number of rounds, and the contents
        of the results as new objects, whose values may have been widened to dtype. Faster than a run, because no object
        of the program is written. None if the program has not run on a GPU, or not with such objects."""
        captured = self._captured
        if captured is None or self._checkpoint is not None or state.recorder is not None or one_by_one.throughout:
            return None
        if isinstance(start, Matrix):
            lines = lines_of(*start.shape)
            by_row, by_column = lines.place(1, 0), lines.place(0, 1)
            source = [row * by_row + column * by_column for row, column in enumerate(source)]
        with program_lock(captured.device):
            return captured.run_directly(Asked(start, source, value, results, dtype), self.limit)

    def explain(self) -> Explanation:
        """The kernels of one round and the statements in each; prints as a list. A plain loop before the first run on a
        GPU, and on the CPU as long as statements run one by one."""
        if self._captured is None:
            tier_up = self._tier_up
            if tier_up is None:
                return Explanation(1, ())
            lines = tier_up.lines()
            return Explanation(0, lines, tier_up.refusal or ("" if lines else tier_up.missing))
        build, any_order = self._captured.build, self._captured.any_order
        how = any_order if isinstance(any_order, str) else any_order.text
        small = "\n".join(filter(None, (how, build.small.text)))
        return Explanation(build.copies if build.at_once is None else 1, tuple(build.lines), small)

    def _run_plain(self, tier_up: TierUp | None) -> int:
        """Run round by round, until a table of kernels takes over."""
        saved = self._checkpoint
        with one_by_one:
            rounds, given, now = 0 if saved is None else saved.restore(), state_of(self.begin), perf_counter()
            while rounds < self.limit and condition_holds(self.condition):
                if tier_up is not None:
                    if (table := tier_up.table(given)) is not None:
                        rounds = table.run(rounds, self.limit)
                        break
                    now = tier_up.spend(now)
                self.body(rounds, *given)
                rounds += 1
                if saved is not None and rounds % saved.every == 0:
                    saved.save(rounds)
            if tier_up is not None:
                tier_up.spend(now)
            if self.end is not None:
                self.end(*given)
            if saved is not None:
                saved.clear()
        return rounds


def condition_holds(condition: Any) -> bool:
    """Whether any of several Vectors has an entry, a Vector has an entry, or a Scalar is true."""
    if isinstance(condition, tuple):
        return any(x.nvals for x in condition)
    if not getattr(condition, "ndim", 0):
        condition = condition.new() if not hasattr(condition, "value") else condition
        return bool(condition.value)
    return bool(condition.nvals)


def holds_matrix(A: object) -> bool:
    """Whether the body of a program may write a Matrix of that shape and type: n x k with k below n and at most 512, on
    a device with enough memory for its positions."""
    from .symbolic.multivectors import is_narrow

    return not isinstance(A, Matrix) or is_narrow(A._data)


def if_(condition: Any, then: Callable[[], object], else_: Callable[[], object] | None = None) -> None:
    """Run then() if the Vector `condition` has entries (the Scalar, or scalar expression, is true), otherwise else_().

    Replaces Python's `if` in a body: inside a body on a GPU both functions are called once, and the device decides in
    each round which of their statements run. Vectors and Scalars that they write must be created before.
    Raises TypeError (condition, then, else_), CaptureError.
    """
    if not hasattr(type(condition), "nvals") and not hasattr(condition, "new"):
        raise TypeError(f"condition: expected a Vector or a Scalar, got {type(condition).__qualname__}")
    for name, part in (("then", then), ("else_", else_)):
        if not callable(part) and not (part is None and name == "else_"):
            raise TypeError(f"{name}: expected a function, got {type(part).__qualname__}")
    if state.recorder is not None:
        state.recorder.under(condition, then, else_)
    elif condition_holds(condition):
        then()
    elif else_ is not None:
        else_()


def repeat(body: Callable[[Any], object], *, while_: Any, limit: int | None = None) -> Any:
    """Run body(k) for k = 0, 1, 2, .. while the Vector `while_` has entries (the Scalar is true); return the rounds
    run.

    Parameters
    ----------
    limit : optional
        Maximum rounds.

    Notes
    -----
    The same as Program(body, while_=while_, limit=limit).run(), for a loop that runs once.
    """
    return Program(body, while_=while_, limit=limit).run()
