"""The emulator's race mode: every race is found whatever the order, and right kernels are silent."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from . import compiling

pytestmark = pytest.mark.usefixtures("emulator")

# 8 blocks of 64 threads, in clusters of 4 where the name begins with c_.
BEGIN = r"""
typedef unsigned u32;
#define T threadIdx.x
#define AT (blockIdx.x * 64 + threadIdx.x)
#define HALF (T % 32 < 16 ? 0xffffu : 0xffff0000u)
#define PEER(s) (*(int*)emu_peer(&s[T], 1))
#define MEET emu_cluster_barrier()
#define PUT(x) __shared__ int s[64]; s[T] = x;
#define LAST __shared__ bool last; if (T == 0) last = atomicAdd(y, 1) == 7; __syncthreads();
#define SUM if (last && T == 0) for (u32 i = 8; i < 520; ++i) y[1] += y[i];
"""
RIGHT = {
    "block": "PUT(T) __syncthreads(); y[AT] = s[63 - T];",
    "lanes": "__syncwarp(); PUT(T) __syncwarp(); const int x = s[T ^ 1]; __syncwarp(); s[T ^ 2] = x; y[AT] = x;",
    "halves": "PUT(T) __syncwarp(HALF); const int x = s[T ^ 1]; __syncwarp(HALF); s[T ^ 2] = x; y[AT] = x;",
    "ticket": "y[8 + AT] = 1; __threadfence(); __syncthreads(); LAST __threadfence(); SUM",
    "volatiles": "if (T == 0) *(volatile int*)y = 1; else if (*(volatile int*)y) atomicAdd(y + 1, 1); atomicOr(y, 1);",
    "c_peer": "PUT(T) MEET; y[AT] = PEER(s); MEET;",
    "c_phases": "PUT(T) MEET; const int x = PEER(s); MEET; s[T] = x; MEET; y[AT] = PEER(s); MEET;",
}
WRONG = {
    "no_barrier": "PUT(T) y[AT] = s[63 - T];",
    "second_phase": "__shared__ int s[64]; __syncthreads(); s[T] = T; y[AT] = s[T ^ 32];",
    "no_syncwarp": "__syncwarp(); PUT(T) y[AT] = s[T ^ 1];",
    "votes_order_nothing": "PUT(T) __ballot_sync(~0u, 1); y[AT] = s[T ^ 1];",
    "other_half": "PUT(T) __syncwarp(HALF); y[AT] = s[T ^ 16];",
    "blocks": "PUT(1) __syncthreads(); if (T == 0) y[0] += s[5];",
    "no_fence": "y[8 + AT] = 1; __syncthreads(); LAST SUM",
    "plain_and_volatile": "if (T == 0) *y = 1; else if (*(volatile int*)y) atomicAdd(y + 1, 1);",
    "plain_and_atomic": "if (T == 0) *y = 1; else atomicOr(y, 2);",
    "c_peer_before": "PUT(T) y[AT] = PEER(s); MEET;",
    "c_peer_after": "PUT(T) MEET; y[AT] = PEER(s); s[T] = 7; MEET;",
}
SCRIPT = """
import sys; sys.path.insert(0, {folder!r})
import numpy as np; from emulator import emu
from emulator.test_races import BEGIN, RIGHT, WRONG
chosen = {{"right": RIGHT, "wrong": WRONG}}[sys.argv[1]]
text = "".join(f'extern "C" __global__ void {{name}}(int* y) {{{{ {{body}} }}}}\\n' for name, body in chosen.items())
module = emu.RawModule(code=BEGIN + text, name_expressions=list(chosen))
for name in chosen:
    module.get_function(name)((8,), (64,), (np.zeros(600, np.int32),), cluster=4 if name.startswith("c_") else 1)
"""


def run(tmp_path, which: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "races.py"
    script.write_text(SCRIPT.format(folder=str(compiling.HERE.parent)))
    command, env = compiling.under_thread_sanitizer([sys.executable, str(script), which])
    found = [str(compiling.HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    env["PYTHONPATH"] = os.pathsep.join(found)
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        pytest.skip("setarch is not installed")
    if "cannot be preloaded" in done.stderr or "personality" in done.stderr:
        pytest.skip(f"ThreadSanitizer does not work here: {done.stderr[-200:]}")
    return done


def test_every_race_is_found_with_its_line(tmp_path):
    done = run(tmp_path, "wrong")
    assert done.returncode == 66, done.stderr
    first = BEGIN.count("\n") + 1
    for line, name in enumerate(WRONG, first):
        assert re.search(rf"{name} .*kernel\.cu:{line}\b", done.stderr), name


def test_right_kernels_are_silent(tmp_path):
    done = run(tmp_path, "right")
    assert done.returncode == 0 and not done.stderr, done.stderr
