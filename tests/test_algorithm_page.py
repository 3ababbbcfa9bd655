"""docs/algorithms.md matches the docstrings, and these have the parts that the page needs."""

import ast
import re
import sys
from pathlib import Path

import pytest
from cli_runs import result

import bitblas as gb
from bitblas import Graph, algorithms
from bitblas.algorithms import _catalog, cohesion
from bitblas.cli import commands, output
from bitblas.compare import every
from bitblas.graph import methods, stubs

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
        assert ": " in source and re.search(r"\b\d{4}\b", source), source


FILES = sorted(Path(algorithms.__file__).parent.glob("*/[a-z]*.py"))
STATEMENTS = 60  # of GraphBLAS in one file


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_as_the_house_wants_it(path):
    """It begins with the purpose, method, state, input and checks; it is short, and imports nothing but the library."""
    tree = ast.parse(path.read_text())
    text = ast.get_docstring(tree) or ""
    heads = [part.partition(":")[0] for part in text.split("\n\n")]
    said = [head for head in heads if head in ("Method", "State", "Input", "Check")]
    assert said == ["Method", "State", "Input", "Check"] and len(text.splitlines()) >= 8, path
    assert heads[0] not in said and heads[-1] not in said, path
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert all(isinstance(node, ast.ImportFrom) and node.level in (1, 2) for node in imports), "only of this package"
    assert "algorithm" in [node.names[0].name for node in imports]  # its decorator checks the matrix
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and _says(node)}
    assert len(lines) <= STATEMENTS, path


def _says(node):
    """Whether a statement is one of GraphBLAS: `w << ..` or `.. = ...new()`, without those inside of it."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.LShift)
    called = getattr(getattr(node, "value", None), "func", None)
    return isinstance(node, ast.Assign) and isinstance(called, ast.Attribute) and called.attr == "new"


RECIPROCITY = '''"""Reciprocity: the share of edges whose reverse edge exists.

Check: NetworkX's overall_reciprocity.

Newman, Forrest, Balthrop: Email networks and the spread of computer viruses. Physical Review E 66 (2002).
"""

from .._algorithm import algorithm


@algorithm(answer="number")
def reciprocity(A, *, gb=None):
    """The share of edges whose reverse edge exists."""
    E = A.select(gb.select.offdiag).new()
    # B = E .* E'
    B = gb.binary.pair[gb.dtypes.BOOL](E & E.T).new()
    return B.nvals / E.nvals if E.nvals else 0.0
'''


def test_an_algorithm_is_one_file(tmp_path, monkeypatch, capsys):
    """From it come the export, the method, the type stub, the page, the comparison and the command."""
    (tmp_path / "reciprocity.py").write_text(RECIPROCITY)
    monkeypatch.setattr(cohesion, "__path__", [*cohesion.__path__, str(tmp_path)])
    found = algorithms._decorated()
    assert {*found} - {*algorithms.__all__} == {"reciprocity"}
    monkeypatch.setattr(algorithms, "reciprocity", found["reciprocity"], raising=False)
    monkeypatch.setattr(algorithms, "__all__", sorted(found))
    methods.programs.cache_clear()
    try:
        assert Graph.from_edges([("a", "b"), ("b", "a"), ("b", "c")], directed=True).reciprocity() == 2 / 3
        assert "def reciprocity(self) -> float: ..." in stubs.of_methods()
        assert "[`reciprocity`](../bitblas/algorithms/cohesion/reciprocity.py): The share of edges" in _catalog.page()
        assert "viruses. Physical Review E 66 (2002). *Tested against* NetworkX's overall_recip" in _catalog.page()
        assert "reciprocity" in [program.name for program in every()]
        monkeypatch.setattr(commands, "COMMANDS", commands.commands_by_folder())
        (tmp_path / "edges.csv").write_text("a,b\nb,a\nb,c\n")
        assert result(capsys, "reciprocity", tmp_path / "edges.csv")["result"] == {"reciprocity": pytest.approx(2 / 3)}
        monkeypatch.setattr(sys.modules[found["reciprocity"].__module__], "__doc__", "Reciprocity.")
        with pytest.raises(
            ValueError, match="expected a paragraph of its docstring that begins with 'Check: ', got none"
        ):
            _catalog.page()
    finally:
        methods.programs.cache_clear()
        sys.modules.pop("bitblas.algorithms.cohesion.reciprocity")


def test_generated_commands_take_vertices_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands, "COMMANDS", {"paths": [commands.generate_command("distances_from_each")]})
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    found = result(capsys, "distances-from-each", tmp_path / "edges.csv", "--sources", "a,b")["result"]
    assert found == {"entries": 5}


@pytest.mark.parametrize(
    ("values", "dtype", "first"),
    [
        ([False, True, True], "BOOL", [1, 2]),
        ([0, 2**63 + 1, 2**63], "UINT64", [1, 2]),
        ([0, -(2**63), 7], "INT64", [2, 0]),
        ([0.5, float("nan"), 2.0], "FP64", [2, 0]),
    ],
)
def test_the_largest_values_of_any_type(values, dtype, first):
    assert output.largest(gb.Vector.from_coo(range(3), values, dtype), 2).tolist() == first
