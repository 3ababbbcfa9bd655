"""Objects in shares: 3 ranks of MPI on this host agree with one device; faults; the four calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RANKS = 3


def ranks(program, *arguments, count=RANKS, **environment):
    """A program of tests/distributed_ranks.py on that many ranks: the exit code, and what they print."""
    pytest.importorskip("mpi4py")
    command = [sys.executable, "-m", "bitblas", "run", "-n", str(count), "--device", "cpu"]
    script = [str(HERE / "distributed_ranks.py"), program, *arguments]
    paths = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = dict(os.environ, PYTHONPATH=paths, NUMBA_NUM_THREADS="1", BITBLAS_TIMEOUT="60") | environment
    found = subprocess.run([*command, *script], capture_output=True, text=True, env=env, timeout=300)
    return found.returncode, found.stdout + found.stderr
