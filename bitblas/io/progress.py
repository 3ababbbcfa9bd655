"""A progress line on stderr while a large file is read."""

from __future__ import annotations

import os
import sys
import time

from .. import status

WAIT = 1.0  # seconds before the line first appears
PAUSE = 0.1  # seconds between two updates


class Progress:
    """Shows on stderr how much of a file has been read, if `shown`.

    wanted: True or False; None: if stderr is a terminal, after one second.
    """

    def __init__(self, name: str, total: int | None, wanted: bool | None) -> None:
        self.name, self.total = os.path.basename(name), total  # the whole path may not fit in a line
        self.shown = wanted if wanted is not None else sys.stderr.isatty()
        self.last = 0.0
        self.begin = time.monotonic() + (0.0 if wanted else WAIT)

    def at(self, done: int) -> None:
        """Report that `done` bytes of the file are read."""
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
        """Remove the line."""
        status.clear(self)
