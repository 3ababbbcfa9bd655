"""Format a summary as a colored table on a terminal (no colors if NO_COLOR is set); pipes get plain words."""

from __future__ import annotations

import os
import sys
from typing import Any

from .output import plain

BOLD, DIM, CYAN, END = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"


def on_terminal(stream: Any = None) -> bool:
    """Whether the output goes to a terminal."""
    return bool((stream or sys.stdout).isatty())


def coloured() -> bool:
    """Whether to print colors on a terminal: https://no-color.org."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, code: str) -> str:
    return f"{code}{text}{END}" if coloured() else text


def table(summary: dict[str, Any]) -> str:
    """One line per item of a summary; lists of equal length become the columns of a table."""
    lists = {key: list(map(plain, value)) for key, value in summary.items() if isinstance(value, list)}
    lines = [f"{paint(f'{key:>12}', CYAN)}  {plain(value)}" for key, value in summary.items() if key not in lists]
    if lists:
        widths = {key: max(len(key), *map(len, cells), 0) for key, cells in lists.items()}
        lines.append("  ".join(paint(f"{key:>{widths[key]}}", BOLD) for key in lists))
        lines += ["  ".join(f"{cell:>{widths[key]}}" for key, cell in zip(lists, row)) for row in zip(*lists.values())]
    return "\n".join(lines)
