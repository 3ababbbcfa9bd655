"""`import bitblas` loads little: modules that first statements need are loaded when they are first named."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_import_is_light():
    code = "import bitblas, json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    heavy = {m for m in json.loads(run.stdout) if m.partition(".")[0] in HEAVY or m in NOT_OURS}
    assert heavy == set()


@pytest.mark.parametrize("package", ["operations", "plan"])
def test_type_checkers_see_what_is_loaded_when_it_is_named(package):
    folder = ROOT / "bitblas" / package
    tree = ast.parse((folder / "__init__.py").read_text())
    seen = [a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module is None for a in n.names]
    assert seen == sorted(p.stem for p in folder.glob("*.py") if not p.stem.startswith("_"))


HEAVY = {"numba", "llvmlite", "scipy", "cupy", "cuda", "graphblas", "networkx", "pandas", "matplotlib", "hypothesis"}
HEAVY |= {"mpi4py", "logging"}  # logging takes 3 of 70 ms
NOT_OURS = {
    "bitblas.algorithms",
    "bitblas.operations.build",
    "bitblas.formats.catalog",
    "bitblas.plan.product",
    "bitblas.operations.spgemm",
    "bitblas.operations.spmv",
    "bitblas.io",
    "bitblas.cli",
    "bitblas.compare",
    "bitblas.distributed",
    "bitblas.nx",
    "bitblas.plots",
    "bitblas.registry",
    "bitblas.reorder",
    "bitblas.ss",
    "bitblas.viz",
}
