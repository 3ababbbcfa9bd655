"""docs/algorithms.md matches the docstrings, and these have the parts that the page needs."""

import ast
from pathlib import Path

import pytest

from bitblas import algorithms
from bitblas.algorithms import _catalog

PAGE = Path(__file__).parents[1] / "docs" / "algorithms.md"
ENTRIES = [entry for listed in _catalog.entries().values() for entry in listed]


def test_the_page_is_what_the_docstrings_say():
    assert PAGE.read_text() == _catalog.page(), "python -m bitblas.algorithms > docs/algorithms.md"


def test_every_algorithm_is_listed_once():
    assert sorted(entry.name for entry in ENTRIES) == sorted(algorithms.__all__)
    folders = {path.parent.name for path in Path(algorithms.__file__).parent.glob("*/[a-z]*.py")}
    assert {entry.folder for entry in ENTRIES} == folders == set(_catalog.entries())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_says_all(entry):
    assert entry.answers.endswith(".") and entry.answers[0].isupper() and len(entry.answers) > 15
    assert entry.check and entry.sources
    for source in entry.sources:  # authors: title. place year
        assert ": " in source and any(
            year.isdigit() and len(year) == 4
            for year in source.replace("-", " ")
            .replace("(", " ")
            .replace(")", " ")
            .replace(".", " ")
            .replace(",", " ")
            .split()
        ), source


FILES = sorted(Path(algorithms.__file__).parent.glob("*/[a-z]*.py"))
STATEMENTS = 60  # of GraphBLAS in one file


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_as_the_house_wants_it(path):
    """It begins with the purpose, method, state, input and checks; and it is short."""
    tree = ast.parse(path.read_text())
    parts = (ast.get_docstring(tree) or "").split("\n\n")
    heads = [part.partition(":")[0] for part in parts]
    said = [head for head in heads if head in ("Method", "State", "Input", "Check")]
    assert said == ["Method", "State", "Input", "Check"], path
    assert heads[0] not in said and heads[-1] not in said, path
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and _says(node)}
    assert len(lines) <= STATEMENTS, path


def _says(node):
    """Whether a statement is one of GraphBLAS: `w << ..` or `.. = ...new()`, without those inside of it."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.LShift)
    called = getattr(getattr(node, "value", None), "func", None)
    return isinstance(node, ast.Assign) and isinstance(called, ast.Attribute) and called.attr == "new"
