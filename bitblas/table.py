"""Tables of text: aligned lines for a terminal, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

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
