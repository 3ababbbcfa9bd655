"""Progress and convergence of a running algorithm: `Watch` and ConvergenceWarning.

with Watch() as seen:
    ranks = pagerank(A, max_iter=10)
print(seen.rounds, seen.converged)

Without an active Watch, an algorithm that does not converge issues a ConvergenceWarning.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..exceptions import ConvergenceWarning, warn

_active: ContextVar[Watch | None] = ContextVar("watching", default=None)
_inside: ContextVar[bool] = ContextVar("inside", default=False)  # inside a round of another algorithm


class Watch:
    """Records the progress of the algorithm called inside `with`. Other threads may read it meanwhile.

    rounds: int, rounds run so far (levels of a search, sources of a centrality, ..); a loop that runs on a GPU as a
    whole reports them when it ends; None for an algorithm without rounds. total: int, the expected number of rounds;
    None if unknown. converged: bool, False if a limit ended the algorithm first; no warning is issued then.
    """

    def __init__(self):
        self.rounds: int | None = None
        self.total: int | None = None
        self.converged = True

    def __enter__(self):
        self._token = _active.set(self)
        return self

    def __exit__(self, *error):
        _active.reset(self._token)


MORE = "raise max_iter or tol"  # the default hint


def report(rounds=1, total=None):
    """Report `rounds` more rounds, of `total` in all."""
    seen = _active.get()
    if seen is not None:
        seen.rounds, seen.total = (seen.rounds or 0) + rounds, total


def not_converged(name, rounds, hint=""):
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
