"""Types for editors and type checkers are right: typed_program.py runs, mypy finds no error in it, and the stubs of the
algorithms match the programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typed_program

from bitblas.graph import stubs
from semirings import stubs as operators

ROOT = Path(__file__).parents[1]


@pytest.mark.slow  # its kernels are those of other tests
def test_a_typed_program_runs():
    typed_program.main()


def test_files_for_type_checkers_are_what_the_programs_say():
    stale = [path.name for path, text in stubs.made().items() if path.read_text() != text]
    assert stale == [], "python -m bitblas.graph.stubs makes them"
    # in a separate process, because other tests register operators
    command = [sys.executable, "-c", "from semirings import stubs; print(stubs.made(), end='')"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert made == operators.FILE.read_text(), "python -m semirings.stubs makes it"
    with pytest.raises(ValueError, match=r"pagernak: expected 'Returns two Python ints"):
        pagernak = lambda A: A
        pagernak.__name__, pagernak.__doc__ = "pagernak", "Returns something."
        stubs.returns(pagernak)


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
