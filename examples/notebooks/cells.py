"""Runs the cells of notebooks, without Jupyter: python examples/notebooks/cells.py NOTEBOOK.ipynb ..

`--write` stores what each cell gives in the notebook, so that pages that show notebooks need not run them; `--check`
fails if a notebook without stored outputs, or with others than its cells give now, is found. Cells are plain Python:
no magics.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """kind: "markdown" or "code". Of code that ran: what it printed, and the value of its last line, if it is an
    expression. outputs: what the notebook stores of both, as Jupyter does."""

    kind: str
    text: str
    printed: str = ""
    value: Any = None
    outputs: tuple[dict[str, Any], ...] = ()


def read(path: Path) -> list[Cell]:
    """The cells of a notebook, with the outputs that it stores."""
    return [
        Cell(cell["cell_type"], "".join(cell["source"]), outputs=tuple(cell.get("outputs", ())))
        for cell in json.loads(path.read_text())["cells"]
    ]


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


def outputs_of(cell: Cell, count: int) -> list[dict[str, Any]]:
    """What Jupyter would store of a cell that ran. count: the number of the cell, from 1."""
    found: list[dict[str, Any]] = []
    if cell.printed:
        found.append({"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)})
    if cell.value is not None:
        data: dict[str, Any] = {"text/plain": repr(cell.value).splitlines(keepends=True)}
        if hasattr(cell.value, "_repr_png_"):
            data["text/plain"] = [f"<{type(cell.value).__name__}>"]
            data["image/png"] = base64.b64encode(_small(cell.value._repr_png_())).decode()
        elif hasattr(cell.value, "_repr_html_"):
            data["text/html"] = cell.value._repr_html_().splitlines(keepends=True)
        found.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data})
    return found


def _small(png: bytes) -> bytes:
    """A picture of 96 colors, at most 900 pixels wide: a fifth of the bytes."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        image.thumbnail((900, 900))
        stream = io.BytesIO()
        image.convert("RGB").quantize(96).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def write(path: Path) -> None:
    """Run a notebook and store its outputs, and its first heading as title."""
    notebook, count = json.loads(path.read_text()), 0
    ran = list(run(path))
    for cell, stored in zip(ran, notebook["cells"], strict=True):
        if cell.kind == "code":
            count += 1
            stored |= {"execution_count": count, "outputs": outputs_of(cell, count)}
    notebook["metadata"]["title"] = ran[0].text.partition("\n")[0].removeprefix("# ")
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def differences(path: Path) -> list[str]:
    """Cells whose stored outputs are of another kind, or print other words, than they give now. Numbers may differ:
    some are times."""
    found, count = [], 0
    for cell in run(path):
        if cell.kind == "code":
            count += 1
            now, before = (_words(outputs) for outputs in (outputs_of(cell, count), cell.outputs))
            if now != before:
                found.append(f"{path.name}, code cell {count}: expected {before}, got {now}")
    return found


def _words(outputs: Any) -> list[Any]:
    """The kinds of outputs, and the printed text without numbers."""
    return [
        sorted(one["data"]) if "data" in one else re.sub(r"[\d.e+-]+", "#", "".join(one["text"])) for one in outputs
    ]


def main() -> int:
    """Exit code: 1 if --check finds a difference."""
    options, names = [x for x in sys.argv[1:] if x.startswith("--")], [x for x in sys.argv[1:] if x[:2] != "--"]
    status = 0
    for path in map(Path, names):
        begin = time.perf_counter()
        if "--write" in options:
            write(path)
        elif "--check" in options:
            found = differences(path)
            status |= bool(found)
            print(*found, sep="\n", end="\n" * bool(found))
        else:
            for cell in run(path):
                print(cell.text, *([cell.printed] if cell.printed else []), sep="\n\n")
                if cell.value is not None:
                    print(repr(cell.value))
        print(f"{path.name}: {time.perf_counter() - begin:.1f} s", file=sys.stderr)
    if status:
        print("python examples/notebooks/cells.py --write NOTEBOOK stores what cells give now", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
