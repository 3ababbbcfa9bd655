"""Random programs (`make fuzz`): some hundred agree, and injected faults are found."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzz import palette
from fuzz.compare import agree, plain
from fuzz.generate import generate
from fuzz.program import Declaration, Program, Statement, script
from fuzz.shrink import shrink

import bitblas

pytest.importorskip("graphblas")
TESTS = Path(__file__).parent
COUNTS = {"cpu": 15, "emulator": 6, "cuda": 1000, "cuda:0": 1000}


def run(device, seed, count, state, *more):
    """The output of the command in a separate process."""
    found = [str(TESTS), str(TESTS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(found)}
    how = ["--seed", seed, "--count", count, "--device", device, "--state", state, *more]
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", *map(str, how)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.uses_cpu
def test_programs_agree(device, tmp_path):
    """The common operators alone: each kernel is compiled once."""
    found = run(device, 1, COUNTS[device], tmp_path / "state.json", "--width", 0)
    assert f"{COUNTS[device]} programs, 0 faults" in found
    assert {line.partition(":")[0] for line in found.splitlines()} >= {"verbs", "types", "forms", "masks", "aliases"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "count", "types"),
    [(0, 9000, ""), (2, 600, ""), (2, 40, "FC32,FP64"), (2, 150, "Pair"), (2, 100, "Triple")],
)
def test_many_programs_agree(width, count, types, tmp_path):
    found = run("cpu", 2, count, tmp_path / "state.json", "--width", width, "--share", count, "--types", types)
    assert f"{count} programs, 0 faults" in found


def test_a_seed_is_a_program():
    programs = [generate(f"1 {k}", palette.COMMON) for k in range(60)]
    assert programs == [generate(f"1 {k}", palette.COMMON) for k in range(60)]
    assert len(set(map(script, programs))) == 60
    for program in programs:
        compile(script(program), "<program>", "exec")


def test_programs_are_shrunk():
    """To the statement that differs, the statements that it needs, and the fewest entries."""
    v = Declaration("v0", "INT64", (70,), tuple((k,) for k in range(0, 70, 2)), tuple(range(35)))
    A = Declaration("A1", "INT64", (70, 70), ((3, 4),), 5, 'format="b2sr", tile=8')
    other = Statement("assign", "assign scalar", "v0", "3")
    wrong = Statement("assign", "mxv", "v0", "A1.mxv(v0)", mask="~v0.S", accum="gb.binary.plus", replace=True)
    program = Program((v, A, v._replace(name="v2")), (other, wrong, other), at_end=True)

    def differs(program):
        by_name = {d.name: d for d in program.declarations}
        wrong = any(s.verb == "mxv" and s.accum for s in program.statements)
        return "values" if wrong and any(place >= (40,) for place in by_name["v0"].where) else None

    least = shrink(program, "values", differs)
    assert [s.text() for s in least.statements] == ["v0(gb.binary.plus) << A1.mxv(v0)"]
    assert [(d.name, len(d.where), d.form) for d in least.declarations] == [("v0", 1, ""), ("A1", 0, 'format="csr"')]
    assert not least.at_end and least.declarations[0].shape[0] < 70


def test_what_agrees():
    v = bitblas.Vector.from_coo([1, 3], [1.5, np.nan], size=5)
    w = bitblas.Vector.from_coo([1, 3], [1.5 + 1e-12, np.nan], size=5)
    assert agree(plain(v), plain(v.dup())) == "exact" and agree(plain(v), plain(w)) == "close"
    other = bitblas.Vector.from_coo([1, 3], [1, 2], size=5)
    for x in (v.dup("FP32"), (w + 1e-3).new(), v[:4].new(), v.select("index<=", 2).new(), other):
        assert agree(plain(v), plain(x)) not in ("exact", "close")
    assert agree(1, 1.0) not in ("exact", "close") and agree((1, 2), (1,)) not in ("exact", "close")
