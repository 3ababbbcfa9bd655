"""Forked processes: a parallel kernel is refused where its threads are missing, and nothing hangs or dies."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing, sys, warnings
import numpy as np
import bitblas as gb

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 says that threads are forked: that is the point
n = 1 << 16
A = v = None

def make():
    global A, v
    at = np.arange(n)
    A = gb.Matrix.from_coo(np.tile(at, 4), np.concatenate([(at + k) % n for k in range(4)]), True, nrows=n, ncols=n)
    v = gb.Vector.from_dense(np.ones(n))

def product(_):
    try:
        if A is None:
            make()
        return A.mxv(v, gb.semiring.plus_second).new().reduce("plus").value
    except gb.exceptions.DeviceError as error:
        return str(error)

def small(_):
    B = gb.Matrix.from_coo([0, 1], [1, 0], [3, 4], nrows=2, ncols=2)
    B[0, 0] = 5
    return B.mxv(gb.Vector.from_dense([1, 1]), "plus_times").new().to_dense().tolist()

context = multiprocessing.get_context("fork")
if "after" in sys.argv:
    assert product(0) == 4 * n
for task in (product, small):
    with context.Pool(2) as pool:
        for answer in set(map(str, pool.map(task, range(4)))):
            print(answer)
assert product(0) == 4 * n  # the parent goes on
with context.Pool(1) as pool:
    print(pool.map(product, [0])[0])
"""


def run(*argv, **env):
    environ = {**os.environ, "NUMBA_NUM_THREADS": "2", "BITBLAS_DEVICE": "cpu", **env}
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM, *argv], capture_output=True, text=True, timeout=200, env=environ, check=False
    )
    assert (made.returncode, made.stderr) == (0, "")
    return made.stdout.splitlines()


@pytest.fixture
def gnu():
    omppool = pytest.importorskip("numba.np.ufunc.omppool")
    if omppool.openmp_vendor != "GNU":
        pytest.skip("an OpenMP whose threads survive a fork")


SAID = "device 'cpu': expected a process with threads of its own, got one forked from a process that had started"


def test_a_child_without_threads_says_so(gnu):
    refused, served, again = run("after", NUMBA_THREADING_LAYER="omp")
    assert refused.startswith(SAID) and "get_context('forkserver')" in refused
    assert again == refused and served == "[8, 4]"


def test_a_child_that_was_there_before_has_its_own(gnu):
    first, served, after = run("before", NUMBA_THREADING_LAYER="omp")
    assert (first, served) == ("262144.0", "[8, 4]") and after.startswith(SAID)


def test_other_threads_survive():
    assert run("after", NUMBA_THREADING_LAYER="workqueue") == ["262144.0", "[8, 4]", "262144.0"]
