"""Types for editors and type checkers are right: typed_program.py runs, mypy finds no error in it, and the stubs of the
algorithms match the programs."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typed_program

from bitblas import algorithms
from bitblas.algorithms._algorithm import ANSWERS, CLASSES, VERTEX_VALUED, algorithm
from bitblas.graph import methods, stubs

ROOT = Path(__file__).parents[1]


@pytest.mark.slow  # its kernels are those of other tests
def test_a_typed_program_runs():
    typed_program.main()


def test_files_for_type_checkers_are_what_the_programs_say():
    stale = [path.name for path, text in stubs.files().items() if path.read_text() != text]
    assert stale == [], "python -m bitblas.graph.stubs makes them"
    # in a separate process, because other tests register operators
    command = [sys.executable, "-m", "semirings", "stubs"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert made == (ROOT / "semirings/names.pyi").read_text(), "python -m semirings stubs > semirings/names.pyi"


# Phrases after "Returns" in docstrings, longer ones first, and the types that they state.
RETURNS = {
    "two Python ints": ["int", "int"], "two Vectors": ["Vector", "Vector"], "a tuple of Matrix": ["tuple[Matrix, ...]"],
    "a Python int or float": ["float"], "a Python int": ["int"], "a Python float": ["float"],
    "a list of Python ints": ["list[int]"], "a Vector": ["Vector"], "a Matrix": ["Matrix"],
}  # fmt: skip


@pytest.mark.parametrize("name", algorithms.__all__)
def test_docstrings_state_the_types_of_answers(name):
    program = getattr(algorithms, name)
    text = " ".join(
        re.search(r"^Returns? (.*?)(?:[:;.]|\Z)", inspect.getdoc(inspect.unwrap(program)), re.M | re.S)[1].split()
    )
    stated = []
    for part in re.split(r", and |(?<=cycles), and ", text):
        stated += next(types for words, types in RETURNS.items() if part.startswith(words))
    assert stated == [ANSWERS[kind] for kind in program.facts.answer]


def test_kinds_of_answers():
    assert {*methods.NAMED} == {*ANSWERS} - {"generated graph"} and {*ANSWERS} >= VERTEX_VALUED | CLASSES
    with pytest.raises(ValueError, match=r"answer: expected 'count', 'number', .*, got 'something'"):
        algorithm(answer="something")(lambda A: A)
    with pytest.raises(ValueError, match=r"graph: expected 'any', 'undirected', 'bipartite', 'acyclic', got 'one'"):
        algorithm(answer="count", graph="one")(lambda A: A)
    with pytest.raises(TypeError, match="expected the keyword parameter gb=None, the library, got none"):
        algorithm(answer="count")(lambda A: A)


WRONG = {"": "", "    bad: int = v.vxm(A).new()": "int", "    g.pagernak()": "pagernak"}


@pytest.mark.slow
@pytest.mark.parametrize("line, wrong", WRONG.items())
def test_mypy_reads_a_typed_program(line, wrong, tmp_path):
    pytest.importorskip("mypy")
    path, end = tmp_path / "typed_program.py", '\n\nif __name__ == "__main__"'
    path.write_text(Path(typed_program.__file__).read_text().replace(end, f"{line}\n{end}"))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--follow-imports", "silent"]
    command += ["--ignore-missing-imports", "--cache-dir", str(ROOT / ".mypy_cache" / "user"), str(path)]
    paths = {**os.environ, "MYPYPATH": str(ROOT)}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=paths)
    assert (ran.returncode == 0) == (not wrong) and wrong in ran.stdout, ran.stdout
