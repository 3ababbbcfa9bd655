"""Progress and convergence of a running algorithm: `Watch` and ConvergenceWarning.

with Watch() as seen:
    ranks = pagerank(A, max_iter=10)
print(seen.rounds, seen.converged)

Without a Watch, a ConvergenceWarning says that it was not done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..exceptions import ConvergenceWarning, warn

_watching: ContextVar[Watch | None] = ContextVar("watching", default=None)
_inside: ContextVar[bool] = ContextVar("inside", default=False)  # of a round of another algorithm


class Watch:
    """Told by the algorithm that is called inside `with`; other threads may look at it meanwhile.

    rounds: int, those that were run (levels of a search, sources of a centrality, ..; a loop that a GPU runs by itself
    tells when it ends); None for an algorithm that has none. total: int, how many there will be, None where nobody
    knows. converged: bool, False where a limit of rounds ended it first; nobody is warned then.
    """

    def __init__(self):
        self.rounds: int | None = None
        self.total: int | None = None
        self.converged = True

    def __enter__(self):
        self._token = _watching.set(self)
        return self

    def __exit__(self, *error):
        _watching.reset(self._token)


MORE = "more by max_iter, a larger tol"  # what helps a loop that needs more rounds


def tell(rounds=1, total=None):
    """So many more rounds were run, of `total` in all."""
    seen = _watching.get()
    if seen is not None:
        seen.rounds, seen.total = (seen.rounds or 0) + rounds, total


def stopped(name, rounds, hint=""):
    """A limit of rounds ended the algorithm of that name before it was done: who watches sees it, others are warned."""
    seen = _watching.get()
    if seen is not None:
        seen.converged = False
    elif not _inside.get():
        warn(
            f"{name}: not converged after {rounds} round{'s' * (rounds != 1)}; what is returned is the last of them. "
            f"Hint: {hint or MORE}, or `with bitblas.algorithms.Watch() as seen:` if this is meant.",
            ConvergenceWarning,
        )


@contextmanager
def part() -> Iterator[None]:
    """What runs inside is a part of one round, and tells nothing of its own."""
    token, inside = _watching.set(None), _inside.set(True)
    try:
        yield
    finally:
        _watching.reset(token)
        _inside.reset(inside)
