"""Text for people: aligned tables, HTML for notebooks, and one status line on standard error."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Hashable, Sequence

# ---- Tables of text: aligned lines for a terminal, HTML for notebooks.

Rows = Sequence[Sequence[str]]


def aligned(rows: Rows) -> list[str]:
    """A line for each row; the first column left-aligned, all others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(cell.rjust(w) if k else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths))).rstrip()
        for row in rows
    ]


def html(*parts: str | Rows) -> str:
    """Rows as a table, whose first row and first column are headers; text as a paragraph, multi-line text preformatted.
    A row of one cell spans all columns."""
    return f"<div>{''.join(_text(part) if isinstance(part, str) else _table(part) for part in parts)}</div>"


def _text(text: str) -> str:
    from html import escape

    return f"<pre>{escape(text)}</pre>" if "\n" in text else f"<p>{escape(text)}</p>"


def _table(rows: Rows) -> str:
    from html import escape

    def row(k: int, cells: Sequence[str]) -> str:
        if len(cells) == 1 and len(rows[0]) > 1:
            return f'<th colspan="{len(rows[0])}" style="text-align: left">{escape(cells[0])}</th>'
        heads = ["th" if k == 0 or c == 0 else "td" for c in range(len(cells))]
        return "".join(f"<{head}>{escape(cell)}</{head}>" for head, cell in zip(heads, cells))

    return f"<table>{''.join(f'<tr>{row(k, cells)}</tr>' for k, cells in enumerate(rows))}</table>"


def shortened(rows: Rows, most: int) -> list[Sequence[str]]:
    """The rows; if there are too many, the first and the last ones, with a row between them that counts the omitted
    ones."""
    if len(rows) <= most:
        return list(rows)
    half = most // 2
    return [*rows[:half], [f".. {len(rows) - 2 * half} more .."], *rows[-half:]]


# ---- One status line on standard error, shared by everything that reports progress: reading, running, compiling.
#
# Each part shows and clears a text of its own. The line holds all texts that are shown, so that none overwrites
# another. Callers check whether standard error is a terminal.

_lock = threading.RLock()
_texts: dict[Hashable, str] = {}
_width = 0  # width of the line that is on the terminal


def show_status(part: Hashable, text: str) -> None:
    """Show a text, replacing the previous one of this part."""
    with _lock:
        _texts[part] = text
        _draw()


def clear_status(part: Hashable) -> None:
    """Remove the text of a part, if it shows one."""
    with _lock:
        if _texts.pop(part, None) is not None:
            _draw()


def print_message(text: str) -> None:
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
        import shutil  # not with this module: it imports three compressors

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
