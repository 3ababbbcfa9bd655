"""`BITBLAS_VARIANTS=FILE pytest` lists the compiled variants that the run used, of all its processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_what_ran_is_listed(tmp_path, workers):
    path = tmp_path / "variants.txt"
    path.write_text("left from another run\n")
    command = [sys.executable, "-m", "pytest", "-q", str(HERE / "test_recorder.py"), "-k", "uses_kernels", *workers]
    env = {**os.environ, "BITBLAS_VARIANTS": str(path)}
    env.pop("PYTEST_XDIST_WORKER", None)
    run = subprocess.run(command, capture_output=True, text=True, env=env, cwd=HERE.parent)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = path.read_text().splitlines()
    assert f"compiled variants used: {len(lines)} on cpu; the list: {path}" in run.stdout
    assert any(line.startswith("cpu formats/csr/pull") for line in lines)
    assert any(line.startswith("cpu kernels/elementwise unary.ainv") for line in lines)
    assert lines == sorted(set(lines))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("verb", ["product", "apply"])
def test_uses_kernels(verb):
    import bitblas as gb

    v = gb.Vector.from_coo([0, 1, 2], [2.0, 3.0, 4.0], device="cpu")
    if verb == "apply":
        assert v.apply(gb.unary.ainv).new()[0].value == -2
        return
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3, device="cpu")
    assert A.mxv(v, gb.semiring.plus_times).new().to_dict() == {0: 3, 1: 8, 2: 6}
