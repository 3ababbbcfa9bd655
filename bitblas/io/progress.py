"""A progress line on stderr while a large file is read."""

from __future__ import annotations

import os
import sys
import time

from .. import status

WAIT = 1.0  # seconds of reading before the first picture: what is over by then nobody has waited for
PAUSE = 0.1  # seconds between two pictures


class Progress:
    """How much of a file has been read, on stderr; nothing unless `shown`.

    wanted: True or False; None where stderr is a terminal, from a second on.
    """

    def __init__(self, name: str, total: int | None, wanted: bool | None) -> None:
        self.name, self.total = os.path.basename(name), total  # the whole path may not fit in a line
        self.shown = wanted if wanted is not None else sys.stderr.isatty()
        self.last = 0.0
        self.begin = time.monotonic() + (0.0 if wanted else WAIT)

    def at(self, done: int) -> None:
        """`done` bytes of the file are read."""
        now = time.monotonic()
        if not self.shown or now - self.last < PAUSE or now < self.begin:
            return
        self.last = now
        if self.total:
            full = min(20, 20 * done // self.total)
            share = f"[{'#' * full:<20}] {100 * done // self.total:3d} % of {self.total / 1e6:.0f} MB"
        else:
            share = f"{done / 1e6:.0f} MB"
        status.show(self, f"{self.name}: {share}")

    def close(self) -> None:
        """Take the line away."""
        status.clear(self)
