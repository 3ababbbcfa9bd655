"""The notebooks of examples/notebooks run, each in a namespace of its own, and store the outputs that they give."""

import importlib.util
import json
from pathlib import Path

import pytest

import bitblas as gb

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
spec = importlib.util.spec_from_file_location("cells", FOLDER / "cells.py")
cells = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cells)


# `make test` runs the first one, and CI all of them: python examples/notebooks/cells.py --check
@pytest.mark.parametrize("name", [NOTEBOOKS[0], *(pytest.param(x, marks=pytest.mark.slow) for x in NOTEBOOKS[1:])])
def test_notebook(name):
    pytest.importorskip("matplotlib")
    assert cells.differences(FOLDER / name) == []
    assert gb.config.memory_limit is None


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_are_stored(name):
    notebook = json.loads((FOLDER / name).read_text())
    assert notebook["cells"][0]["source"][0].strip() == f"# {notebook['metadata']['title']}"
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = [kind for cell in code for output in cell["outputs"] for kind in output.get("data", {"stdout": 1})]
    assert {"stdout", "text/html"} <= set(kinds) and (FOLDER / name).stat().st_size < 1 << 20


def test_cells_give_what_they_print_and_their_last_line(tmp_path):
    def notebook(*code):
        found = [{"cell_type": "markdown", "source": ["# Sums\n", "of two"]}]
        found += [{"cell_type": "code", "source": [line], "outputs": []} for line in code]
        (tmp_path / "a.ipynb").write_text(json.dumps({"cells": found, "metadata": {}}))
        return tmp_path / "a.ipynb"

    path = notebook("x = 2\nprint(x)\nx + 1", "y = x", "x * y")
    ran = [cell for cell in cells.run(path) if cell.kind == "code"]
    assert [(cell.printed, cell.value) for cell in ran] == [("2\n", 3), ("", None), ("", 4)]
    assert cells.differences(path)[0].startswith("a.ipynb, code cell 1: expected [], got ['#\\n', ['text/plain']]")
    cells.write(path)
    assert cells.differences(path) == [] and json.loads(path.read_text())["metadata"]["title"] == "Sums"
    assert cells.read(path)[3].outputs[0]["data"]["text/plain"] == ["4"]
    path.write_text(path.read_text().replace("print(x)", "print('x', x)"))
    assert len(cells.differences(path)) == 1
    with pytest.raises(ZeroDivisionError):
        list(cells.run(notebook("1 / 0")))


def test_the_site_has_all_of_them():
    nav = (FOLDER.parents[1] / "mkdocs.yml").read_text()
    assert len(NOTEBOOKS) == 5
    assert all(f"notebooks/{name.replace('.ipynb', '.md')}" in nav for name in NOTEBOOKS)
