"""Repeated Ctrl-C, for tests of interrupted work."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def interrupted(every: float = 0.5) -> Iterator[None]:
    """The block must end by KeyboardInterrupt."""
    ended = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

    def interrupt() -> None:
        while not ended.wait(every):  # again: Python drops an exception that comes while it clears an object away
            signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        ended.set()
        signal.signal(signal.SIGINT, before)
