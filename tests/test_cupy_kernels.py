"""On a GPU no algorithm waits for CuPy to compile a kernel: array code runs kernels of ours, or precompiled ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: CuPy compiles a kernel once per process, so that earlier tests would hide it.
PROGRAM = """
import re
import traceback
from cupy.cuda import compiler
import bitblas as gb
from bitblas import compare
from bitblas.registry import warm

compile_module = compiler._compile_module_with_cache

def noted(source, *args, **options):
    name = re.search(r"(\\w+)\\s*\\(", source[source.find("__global__"):])
    frames = [f for f in traceback.extract_stack() if "/bitblas/" in f.filename]
    print(program.name, graph, name and name[1], *(f"{f.filename}:{f.lineno}" for f in frames[-2:]))
    return compile_module(source, *args, **options)

compiler._compile_module_with_cache = noted
ran = 0
for program in compare.every():
    for graph in ("first", "town"):
        matrix = compare.Side("cuda", gb, warm.graph(graph), device="cuda").matrix(program.form)
        program.summary(program.call(matrix, 0, gb))
        ran += 1
print("ran", ran)
"""


@pytest.mark.gpu
def test_no_algorithm_makes_cupy_compile_a_kernel():
    made = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=900, check=False
    )
    assert made.returncode == 0, made.stderr[-2000:]
    *compiled, last = made.stdout.splitlines()
    assert compiled == [] and int(last.split()[1]) > 100
