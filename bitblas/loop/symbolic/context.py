"""Objects that a program creates before its rounds, as the state that the rounds use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NO_LIMIT = (1 << 62) - 1  # of rounds


def state_of(begin: Callable[[], Any] | None) -> tuple[Any, ...]:
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

    def __exit__(self, *error: Any) -> None:
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
