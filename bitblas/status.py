"""One status line on standard error, shared by everything that reports progress: reading, running, compiling.

Each part shows and clears a text of its own. The line holds all texts that are shown, so that none overwrites another.
Callers check whether standard error is a terminal.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Hashable

_lock = threading.RLock()
_texts: dict[Hashable, str] = {}
_width = 0  # width of the line that is on the terminal


def show(part: Hashable, text: str) -> None:
    """Show a text, replacing the previous one of this part."""
    with _lock:
        _texts[part] = text
        _draw()


def clear(part: Hashable) -> None:
    """Remove the text of a part, if it shows one."""
    with _lock:
        if _texts.pop(part, None) is not None:
            _draw()


def message(text: str) -> None:
    """Print a permanent line, above the status line."""
    with _lock:
        _erase()
        print(text, file=sys.stderr, flush=True)
        if _texts:
            _draw()


def _draw() -> None:
    global _width
    line = "; ".join(_texts.values())
    if sys.stderr.isatty():  # a line that wraps could not be overwritten
        line = line[: max(1, shutil.get_terminal_size().columns - 1)]
    print(f"{line:<{_width}}", end="\r", file=sys.stderr, flush=True)
    _width = len(line)


def _erase() -> None:
    global _width
    if _width:
        print(" " * _width, end="\r", file=sys.stderr, flush=True)
        _width = 0


def _renew() -> None:
    """In a forked process, where the thread that held the lock does not run."""
    global _lock, _width
    _lock, _width = threading.RLock(), 0
    _texts.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
