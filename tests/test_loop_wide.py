"""Element-wise kernels over many positions: half words are read first, and those with few bits are distributed to the
lanes. With none, few, many and all positions of a half word next to each other, against python-graphblas."""

from __future__ import annotations

import graphblas
import numpy as np
import pytest
from test_loop_matrices import run, same

import bitblas as gb
from bitblas.loop.codegen import cuda_kernels

# Emulated GPUs have few warps: each looks several times, and the last half word is not whole.
SIZE = 32 * 6000 + 7
DENSITIES = [0.0, 0.001, 0.03, 0.12, 0.5, 1.0]
in_emulator = pytest.mark.parametrize("turn", [{"device": "emulator"}], ids=["emulator"])


def frontier(lib, rng, alike):
    """Entries that are few and many in turns: from one half word to the next, or from one thousand of them."""
    halves = np.arange(-(-SIZE // 32))
    density = np.repeat(np.take(DENSITIES, (halves if alike else halves // 1000) % len(DENSITIES)), 32)[:SIZE]
    (at,) = np.nonzero(rng.random(SIZE) < density)
    return lib.Vector.from_coo(at, rng.integers(1, 9, len(at)), lib.dtypes.INT64, size=SIZE)


def made(lib, alike):
    rng = np.random.default_rng(7)
    q, p, d = (frontier(lib, rng, alike) for _ in range(3))
    return q, p, d, lib.Scalar.from_value(0, lib.dtypes.INT64)


def computing(lib, q, p, d, s):
    """One that computes at the entries of q."""

    def body(k):
        t = q.ewise_mult(p, lib.binary.times).new()
        d(lib.binary.plus) << t
        q(t.S, lib.replace) << d.apply(lib.binary.minus, right=k)
        q << q.select(">", 3)

    return body


def moving(lib, q, p, d, s):
    """One that moves entries alone."""

    def body(k):
        d(q.S) << q
        p(q.S) << k
        q(~p.V, lib.replace) << d

    return body


def summing(lib, q, p, d, s):
    """One that takes a sum."""

    def body(k):
        q(q.S, lib.replace) << p
        s(lib.binary.plus) << q.reduce(lib.monoid.plus)
        q(d.S, lib.replace) << q

    return body


@in_emulator
@pytest.mark.in_turn
@pytest.mark.parametrize("alike", [True, False], ids=["alike", "in_parts"])
@pytest.mark.parametrize("make", [computing, moving, summing])
def test_few_and_many_positions(device, turn, make, alike, monkeypatch, tune):
    tune({"loop.wide_size": 1000})
    texts = []
    plain = cuda_kernels.Variant
    monkeypatch.setattr(cuda_kernels, "Variant", lambda *how: texts.append(how[-1]) or plain(*how))
    mine, other = made(gb, alike), made(graphblas, alike)
    rounds, program = run(gb, make(gb, *mine), mine[0], 3)
    expected, _ = run(graphblas, make(graphblas, *other), other[0], 3)
    assert rounds == expected
    assert {line.kind for line in program.explain().launches} == {"ewise"}
    if device != "cpu":  # which fuses nothing by these texts
        assert any("#define SAMPLE(i)" in text for text in texts)
        assert any("#define FEW 8" in text for text in texts) == (make is computing)
    for x, y in zip(mine[:3], other[:3], strict=True):
        same(x, y)
    assert mine[3].value == other[3].value
