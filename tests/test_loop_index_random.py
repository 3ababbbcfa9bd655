"""Random bodies of statements by index: on every device equal to python-graphblas, statement by statement."""

from __future__ import annotations

import random

import graphblas
import numpy as np
import pytest
from test_loop_index import dense

import bitblas as gb
from bitblas.loop import repeat

N = 40
KINDS = (
    "read", "read", "build", "join", "join sparse", "union", "assign", "assign sparse", "read sparse", "copy", "masked",
    "mark",
)  # fmt: skip


def run(lib, seed, rounds=2):
    """Four full vectors and two sparse ones after the rounds of the body of that seed."""
    numbers, chosen = np.random.default_rng(seed), random.Random(seed)
    v = [lib.Vector.from_coo(np.arange(N), numbers.integers(0, N, N), size=N) for _ in range(4)]
    places = [np.flatnonzero(numbers.random(N) < 0.5) for _ in range(2)]
    w = [lib.Vector.from_coo(at, numbers.integers(0, N, len(at)), lib.dtypes.INT64, size=N) for at in places]
    going, still = (lib.Vector.from_scalar(True, 3) for _ in range(2))
    plan = [
        (chosen.choice(KINDS), [chosen.randrange(4) for _ in range(3)], [chosen.randrange(2) for _ in range(2)],
         chosen.choice(("min", "max")))
        for _ in range(chosen.randrange(2, 8))
    ]  # fmt: skip

    def body(_):
        for kind, full, sparse, name in plan:
            (a, b, c), (s, t), op = (v[k] for k in full), (w[k] for k in sparse), getattr(lib.binary, name)
            if kind == "read":
                a << b[c.to_dense()]
            elif kind == "build":
                s << lib.Vector.from_coo(a.to_dense(), b.to_dense(), size=N, dup_op=op)
            elif kind == "join":
                a(op) << lib.Vector.from_coo(b.to_dense(), c.to_dense(), size=N, dup_op=op)
            elif kind == "join sparse":
                at, x = s.to_coo()
                t(op) << lib.Vector.from_coo(a.to_dense()[at], x, size=N, dup_op=op)
            elif kind == "union":
                a(op) << lib.binary.min(b & c)
            elif kind == "assign":
                s[a.to_dense()] << t
            elif kind == "assign sparse":
                s(lib.binary.second)[a.to_dense()] << b
            elif kind == "read sparse":
                s(t.S, op) << t[a.to_dense()]
            elif kind == "copy":
                s(a.V, lib.replace) << b
            elif kind == "masked":
                a(s.S) << b[c.to_dense()].new()
            else:
                s(t.V) << lib.Vector.from_coo(t.to_coo()[0], True, size=N)
        going(still.S, lib.replace) << True

    repeat(body, while_=going, limit=rounds)
    return [dense(x) for x in (*v, *w)]


@pytest.mark.slow
@pytest.mark.off_cpu
@pytest.mark.parametrize("seed", range(60))
def test_random_bodies_by_index(device, seed):
    assert run(gb, seed) == run(graphblas, seed)
