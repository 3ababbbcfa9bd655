"""Runs the cells of notebooks, without Jupyter: python examples/notebooks/cells.py NOTEBOOK.ipynb ..

The tests run notebooks by it, and the site, which shows what each cell gives. Cells are plain Python: no magics.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """kind: "markdown" or "code". Of code that ran: what it printed, and the value of its last line, if it is an
    expression."""

    kind: str
    text: str
    printed: str = ""
    value: Any = None


def read(path: Path) -> list[Cell]:
    """The cells of a notebook. ValueError for one with stored outputs: they would not be what the code gives now."""
    found = []
    for cell in json.loads(path.read_text())["cells"]:
        if cell.get("outputs") or cell.get("execution_count"):
            raise ValueError(f"{path.name}: expected a notebook without outputs; clear them before saving")
        found.append(Cell(cell["cell_type"], "".join(cell["source"])))
    return found


def run(path: Path) -> Iterator[Cell]:
    """The cells, one after the other, in one namespace, each when it has run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(read(path)):
        if cell.kind != "code":
            yield cell
            continue
        tree = ast.parse(cell.text, f"{path.name}, cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"{path.name}, cell {number}", "exec"), names)
            value = None if last is None else eval(_compiled(last, path, number), names)
        yield cell._replace(printed=printed.getvalue(), value=value)


def _compiled(last: ast.Expr, path: Path, number: int) -> Any:
    return compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval")


def main() -> None:
    for name in sys.argv[1:]:
        for cell in run(Path(name)):
            print(cell.text, *([cell.printed] if cell.printed else []), sep="\n\n")
            if cell.value is not None:
                print(repr(cell.value))


if __name__ == "__main__":
    main()
