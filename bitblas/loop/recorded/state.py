"""Objects that a program creates before its rounds, as the state that the rounds use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NO_LIMIT = (1 << 62) - 1  # of rounds


def state_of(begin: Callable[[], Any] | None) -> tuple[Any, ...]:
    """What `begin` gives to body and end."""
    given = None if begin is None else begin()
    if given is not None and not isinstance(given, tuple):
        raise TypeError(f"begin: expected a function that returns a tuple or None, got {type(given).__qualname__}")
    return given or ()


def own(thing: Any) -> Any:
    """What the only rank has of an object in shares, which is all of it; other things themselves."""
    return thing._part if hasattr(thing, "_ranks") and thing._ranks.size == 1 else thing


class OnHost(Exception):
    """The vectors of a body live elsewhere, on the CPU, or are not there; or it does what only the host can."""


class Plain(threading.local):
    """How many programs this thread runs as plain loops, one inside the other."""

    depth = 0
    throughout = False  # whether the loops inside run so too

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: Any) -> None:
        self.depth -= 1

    @contextmanager
    def inside_too(self) -> Iterator[None]:
        """Loops in bodies, in what is made before and after the rounds, run statement by statement as well."""
        before, self.throughout = self.throughout, True
        try:
            yield
        finally:
            self.throughout = before


plain = Plain()
