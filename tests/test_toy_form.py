"""A new stored form touches its folder and the list of forms, and nothing else: one is put into a copy of bitblas, and
runs the tests that go over that list."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A folder with a bitblas that has one form more."""
    top = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "bitblas", top / "bitblas", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(TESTS / "toy_form", top / "bitblas" / "formats" / "toy")
    catalog = top / "bitblas" / "formats" / "catalog.py"
    text, changed = re.subn(r"^(    \"Bitmap\": .*)$", r'\1\n    "Toy": "toy.cost",', catalog.read_text(), flags=re.M)
    assert changed == 1
    catalog.write_text(text)
    return top


def run(copy: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (copy, ROOT, TESTS)))}
    env.pop("PYTEST_ADDOPTS", None)
    env.pop("BITBLAS_VARIANTS", None)  # the list of kernels that a test run compiled, without this format
    return subprocess.run([sys.executable, *command], cwd=copy, env=env, capture_output=True, text=True)


PROGRAM = """
import sys, bitblas as gb
from bitblas.cli import main

A = gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], [1.5, 2.5, 3.5], nrows=3, ncols=3, format="toy")
print(gb.__file__, A.format, A.profile().facts.forms[-1], A.memory().forms)
with gb.config.set(prefer="memory"):
    print(gb.Matrix.from_coo(range(5000), range(5000), True).format)
print(gb.explain(A.mxv(gb.Vector.from_coo([0, 1], 1.0, size=3))))
A.save("toy.bitblas")
print(gb.Matrix.load("toy.bitblas", verify=True).to_coo())
sys.exit(main(["info", "toy.bitblas", "--format", "toy", "--forms"]))
"""


def test_a_new_form_is_known_everywhere(copy):
    """The command line, the profile and files have it by its being listed."""
    done = run(copy, "-W", "error", "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    first, smallest, plan, *rest = done.stdout.splitlines()
    assert first.startswith(str(copy)) and first.endswith("toy toy {'toy': 24}") and smallest != "toy"
    assert "pull on toy" in plan
    assert any(re.match(r"toy +24 .*\(held\)", line) for line in rest), done.stdout


CORE = ("test_formats.py", "test_contract.py", "test_saved.py", "test_battery.py", "test_memory.py", "test_chunks.py")


def test_a_new_form_passes_the_tests_of_all(copy):
    """Every operation on the battery's matrices, on the CPU, and round trips, files, memory."""
    files = [str(TESTS / name) for name in CORE]
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(TESTS), "-k", "toy and cpu"]
    done = run(copy, "-m", "pytest", *options, *files)
    found = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0 and found and int(found[1]) > 30, done.stdout[-5000:] + done.stderr
