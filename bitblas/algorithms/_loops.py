"""Loops of algorithms: captured loops cached with their matrix, progress and convergence (`Watch`), power iteration."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from .. import tuning
from ..exceptions import ConvergenceWarning, warn
from . import _check as check

if TYPE_CHECKING:
    from semirings.dtypes import DataType

    from ..core import Matrix, Scalar, Vector
    from ..loop import Stack
    from ..typing import Array

Fact = TypeVar("Fact")
Stored = TypeVar("Stored", "Matrix", "Vector")
Make = Callable[..., dict[str, Any]]
Items = TypeVar("Items", bound="Sequence[Any] | Array")
Total = TypeVar("Total", int, "Vector", "Array")

# ---- Progress and convergence of a running algorithm: `Watch` and ConvergenceWarning.
#
#     with Watch() as seen:
#         ranks = pagerank(A, max_iter=10)
#     print(seen.rounds, seen.converged)
#
# Without an active Watch, an algorithm that does not converge issues a ConvergenceWarning.

_active: ContextVar[Watch | None] = ContextVar("watching", default=None)
_inside: ContextVar[bool] = ContextVar("inside", default=False)  # inside a round of another algorithm


class Watch:
    """Records the progress of the algorithm called inside `with`. Other threads may read it meanwhile.

    rounds: int, rounds run so far (levels of a search, sources of a centrality, ..); a loop that runs on a GPU as a
    whole reports them when it ends; None for an algorithm without rounds. total: int, the expected number of rounds;
    None if unknown. converged: bool, False if a limit ended the algorithm first; no warning is issued then.
    """

    def __init__(self) -> None:
        self.rounds: int | None = None
        self.total: int | None = None
        self.converged = True

    def __enter__(self) -> Watch:
        self._token = _active.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _active.reset(self._token)


MORE = "raise max_iter or tol"  # the default hint


def report(rounds: int = 1, total: int | None = None) -> None:
    """Report `rounds` more rounds, of `total` in all."""
    seen = _active.get()
    if seen is not None:
        seen.rounds, seen.total = (seen.rounds or 0) + rounds, total


def not_converged(name: str, rounds: int, hint: str = "") -> None:
    """Report that a limit ended the algorithm `name` before it converged: to the active Watch, or else as a warning."""
    seen = _active.get()
    if seen is not None:
        seen.converged = False
    elif not _inside.get():
        warn(
            f"{name}: not converged after {rounds} round{'s' * (rounds != 1)}; returning the last iterate. "
            f"Hint: {hint or MORE}; if this is intended, use `with bitblas.algorithms.Watch() as seen:`.",
            ConvergenceWarning,
        )


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress reports of algorithms called inside: they are part of one round."""
    token, inside = _active.set(None), _inside.set(True)
    try:
        yield
    finally:
        _active.reset(token)
        _inside.reset(inside)


# ---- Independent work that several ranks share.


class SharedWork:
    """The independent work of an algorithm. This class: of a single process, which does all of it. An algorithm that
    declares `work="sources"` or "rows" takes its part, and combines partial answers:

        work = shared_work()
        for source in work.part(sources):
            c += ..
        c = work.total(c)

    Every rank calls the same methods in the same order; the answers are the same on all ranks.
    """

    def part(self, items: Items) -> Items:
        """This rank's consecutive part of a sequence: a list, a range or an array."""
        return items

    def rows(self, n: int, cost: Callable[[], Array]) -> slice:
        """This rank's consecutive rows out of n, of about the same total cost on each rank. cost(): an array with a
        number of 0 or more for each row."""
        return slice(0, n)

    def total(self, x: Total, op: str = "plus") -> Total:
        """The sum ("plus") or the maximum ("max") of a number, an array or a full Vector over all ranks."""
        return x

    def stacked(self, C: Matrix) -> Matrix:
        """The matrices of all ranks one below another: answers for consecutive parts, a row each."""
        return C

    def union(self, C: Matrix) -> Matrix:
        """The entries of the matrices of all ranks, of one shape; no two have the same entry."""
        return C


ALL = SharedWork()
_sharing: ContextVar[SharedWork] = ContextVar("sharing", default=ALL)


def shared_work() -> SharedWork:
    """The work that ranks share. The first call within an algorithm takes it; algorithms called inside do all of
    theirs."""
    found = _sharing.get()
    _sharing.set(ALL)
    return found


@contextmanager
def sharing(work: SharedWork) -> Iterator[None]:
    """The algorithm called inside shares `work` with other ranks."""
    token = _sharing.set(work)
    try:
        yield
    finally:
        _sharing.reset(token)


# ---- Captured loops, and other objects that are cached with a matrix.


class Loop:
    """A captured loop and its objects. `make(A, gb, *args)` returns a dictionary of objects, `while_`, and the parts of
    the program (body, limit, begin, end, fixpoint).

    A Loop is kept with its matrix for later calls, because its first run compiles it. Kept loops are reused, so
    `result` then moves the result into a new object.
    """

    def __init__(self, make: Make, A: Matrix, gb: ModuleType, *args: Hashable) -> None:
        from bitblas.loop import Program, holds_matrix

        self.state = make(A, gb, *args)
        self.reported = [0]  # rounds already reported: rounds on the host are reported one by one
        body = _reporting(self.state["body"], self.reported)
        limit, begin, end = (self.state.get(name) for name in ("limit", "begin", "end"))
        fixpoint = self.state.get("fixpoint", False)
        self.program = Program(body, while_=self.state["while_"], limit=limit, begin=begin, end=end, fixpoint=fixpoint)
        matrices = [x for x in self.state.values() if getattr(x, "ndim", 0) == 2]
        # A matrix that a captured body cannot hold makes this a loop of single statements.
        ordered = matrices and getattr(A, "order", None) is not None
        captured = all(holds_matrix(x) and max(x.shape) == A.nrows for x in matrices)  # not with more rows than A
        self.plain = bool(ordered) or not captured
        self.cached = False

    def run(self) -> None:
        self.reported[0] = 0
        self.rounds = self.program.run(plain=self.plain)
        report(self.rounds - self.reported[0])

    def evaluate(
        self,
        names: str | tuple[str, ...],
        gb: ModuleType,
        *,
        start: str = "",
        source: Sequence[int] = (),
        values: float | list[int] = True,
        dtype: DataType | None = None,
    ) -> Vector | Matrix | list[Vector | Matrix]:
        """The Vectors or Matrices of the state with these names (of one name: it alone), as `dtype` if one is given,
        after a run in which state[start] begins with `values` at the vertices `source`: of a Matrix, row k at
        source[k]. The results are empty before; all else is empty, constant, a Scalar, or written first."""
        state = self.state
        x = state.get(start)
        results: list[Vector | Matrix] = [state[name] for name in ((names,) if isinstance(names, str) else names)]
        found: tuple[int, list[Vector | Matrix]] | None = None
        if self.cached and not self.plain and (x is None or x.ndim == 2 or len(source) == 1):
            value = values[0] if isinstance(values, list) else values
            found = self.program._run_from(x, source, value, results, dtype)
        if found is not None:
            self.rounds, results = found
            report(self.rounds)
        else:
            for w in results:
                w.clear()
            if x is not None and x.ndim == 2:
                x.build(list(range(len(source))), list(source), [values] * len(source), clear=True)
            elif x is not None:
                check.set_entries(gb, x, list(source), values)
            self.run()
            results = [w._release() for w in results] if self.cached else results
        results = [w if dtype is None or w.dtype == dtype else w.dup(dtype) for w in results]
        return results[0] if isinstance(names, str) else results

    def result(self, x: Stored) -> Stored:
        return x._release() if self.cached else x


def _reporting(body: Callable[..., object], reported: list[int]) -> Callable[..., None]:
    """Wrap the body to report each executed round. Symbolic rounds, recorded for a GPU, are not reported."""

    def reported_round(number: int | Scalar, *operands: Matrix | Vector | Scalar) -> None:
        body(number, *operands)
        if isinstance(number, int):
            reported[0] += 1
            report()

    return reported_round


def repeat(body: Callable[[int], object], while_: Vector | Scalar, limit: int | None = None) -> None:
    """Run body(k) for k = 0, 1, .. while the Vector has entries, at most `limit` times. Loops can be nested."""
    from bitblas.loop import repeat

    repeat(body, while_=while_, limit=limit)


def unless_empty(x: Vector, then: Callable[[], object]) -> None:
    """Call then(), whose statements change nothing if the Vector x is empty. Statement by statement, an empty x skips
    the call; inside a captured loop running the statements costs less than testing x.
    """
    from bitblas.core.hooks import state

    if state.recorder is not None or x.nvals:
        then()


def cached_loop(make: Make, A: Matrix, gb: ModuleType, *args: Hashable) -> Loop:
    """The Loop for these arguments and A. A kept one is reused if the contents of A have not changed. Only loops of
    recent arguments are kept, because they hold memory.
    """
    keep = getattr(A, "_keep", None)  # None: python-graphblas caches nothing
    if keep is None:
        return Loop(make, A, gb, *args)
    key = tuning.version(), *args
    if A.device.host_memory:  # one loop per thread, for the last arguments: threads may run at the same time
        kept = keep((make, threading.get_ident()), lambda twin: [twin, None, None])
        if kept[1] != key:
            kept[1:] = key, Loop(make, kept[0], gb, *args)
        found = kept[2]
    else:
        twin, loops = keep((make, "loops"), lambda twin: (twin, {}))
        found = loops.pop(key, None)
        if found is None:
            found = Loop(make, twin, gb, *args)
            if len(loops) >= tuning.count("algorithms.kept_loops"):
                loops.pop(next(iter(loops)), None)
        loops[key] = found  # most recently used last
    found.cached = True
    return found


def runs_fused(A: Matrix) -> bool:
    """Whether loops on this library and device run as one fused program, where many short rounds cost little."""
    return hasattr(A, "_keep") and not hasattr(A, "shares")


def runs_in_any_order(A: Matrix) -> bool:
    """Whether a loop on A that needs only its fixpoint may run in any order, in one launch: on GPUs."""
    return runs_fused(A) and not A.device.host_memory


def searches_by_columns(A: Matrix) -> bool:
    """Whether rounds of many searches on A cost what is in their frontiers: on GPUs, without very long rows."""
    if not runs_in_any_order(A):
        return False
    from bitblas.loop.gpu.column_rounds import searches_by_columns

    return searches_by_columns(A._store.structure)


def frontier_stack() -> Stack:
    """A stack for the frontiers of a loop."""
    from bitblas.loop import Stack

    return Stack()


def cached(make: Callable[..., Fact], A: Matrix, gb: ModuleType, *args: Hashable) -> Fact:
    """make(A, gb, *args), cached with A until its contents change."""
    keep = getattr(A, "_keep", None)
    if keep is None:
        return make(A, gb, *args)
    return keep((make, tuning.version(), *args), lambda twin: make(twin, gb, *args), chosen=False)


# ---- Power iteration: options, convergence test and 2-norm.


def check_limits(gb: ModuleType, tol: float, max_iter: int) -> tuple[float, int]:
    """The validated options tol (float > 0) and max_iter (int >= 1)."""
    tol = check.number(gb, "tol", tol, lambda x: x > 0, "a number above 0", "1e-6 is usual")
    return tol, check.count(gb, "max_iter", max_iter, "100 is usual")


class Change:
    """Convergence test of a loop: the 1-norm of the change and the continue flag, as Scalars."""

    def __init__(self, gb: ModuleType, tol: float) -> None:
        self.gb, self.tol = gb, tol
        self.sum, self.going = gb.Scalar(gb.dtypes.FP64), gb.Scalar(gb.dtypes.BOOL)

    def step(self, x: Vector, t: Vector) -> None:
        """End of a round: continue if sum(|x - t|) >= tol; x = t."""
        binary = self.gb.binary
        # going = sum(|x - t|) >= tol; x = t
        x << binary.minus(x & t)
        x << x.apply(self.gb.unary.abs)
        self.sum << x.reduce(self.gb.monoid.plus)
        self.going << self.sum.apply(binary.ge, right=self.tol)
        x << t


def run_until_converged(loop: Loop, name: str, hint: Callable[[], str] = lambda: "") -> None:
    """Run the loop until it converges. If the limit ends it first, report non-convergence with the hint."""
    going = loop.state["while_"]
    going << True
    loop.run()
    if going.value:
        not_converged(name, loop.state["limit"], hint())


def two_norm(x: Vector, gb: ModuleType) -> float:
    """The 2-norm of a vector, as a float."""
    # sqrt(sum(x .* x))
    squares = gb.binary.times(x & x).new()
    return float(squares.reduce(gb.monoid.plus, allow_empty=False).new().value) ** 0.5
