"""The notebooks of examples/notebooks run, each in a namespace of its own, and hold no outputs that could go stale."""

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


# `make test` runs the first one; the functions in the others have tests of their own.
@pytest.mark.parametrize("name", [NOTEBOOKS[0], *(pytest.param(x, marks=pytest.mark.slow) for x in NOTEBOOKS[1:])])
def test_notebook(name):
    pytest.importorskip("matplotlib")
    ran = list(cells.run(FOLDER / name))
    assert [cell.text for cell in ran] == [cell.text for cell in cells.read(FOLDER / name)]
    shown = [cell for cell in ran if hasattr(cell.value, "_repr_html_") or hasattr(cell.value, "_repr_png_")]
    assert ran[0].text.startswith("# ") and shown
    assert gb.config.memory_limit is None


def test_cells_give_what_they_print_and_their_last_line(tmp_path):
    def notebook(*code, **more):
        found = [{"cell_type": "code", "source": [line], "outputs": [], **more} for line in code]
        (tmp_path / "a.ipynb").write_text(json.dumps({"cells": found}))
        return tmp_path / "a.ipynb"

    ran = list(cells.run(notebook("x = 2\nprint(x)\nx + 1", "y = x", "x * y")))
    assert [(cell.printed, cell.value) for cell in ran] == [("2\n", 3), ("", None), ("", 4)]
    with pytest.raises(ZeroDivisionError):
        list(cells.run(notebook("1 / 0")))
    with pytest.raises(ValueError, match=r"a\.ipynb: expected a notebook without outputs"):
        cells.read(notebook("1", execution_count=3))


def test_the_site_has_all_of_them():
    nav = (FOLDER.parents[1] / "mkdocs.yml").read_text()
    assert len(NOTEBOOKS) == 5
    assert all(f"notebooks/{name.replace('.ipynb', '.md')}" in nav for name in NOTEBOOKS)
