"""Pulls of the rows that a mask lists, in bodies of loops: many rows and few, long ones in segments, of full vectors
and of others."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from test_loop_index import dense, full

import bitblas as gb
import bitblas.loop.gpu.build as builds
from bitblas.loop import Program, if_

N = 700
INT64, FP32 = gb.dtypes.INT64, gb.dtypes.FP32
in_emulator = pytest.mark.parametrize("turn", [{"device": "emulator"}], ids=["emulator"])


def graph_with_a_hub():
    """One row of all columns, some without an entry."""
    few = oracles.random(N, 2000, 3)
    rows, cols = (few.rows[few.rows % 7 != 1], few.cols[few.rows % 7 != 1])
    return np.append(rows[rows != 5], np.full(N, 5)), np.append(cols[rows != 5], np.arange(N))


def expected(rows, cols, x, turns, join, product):
    """The sums of all rounds, added up: a row is computed in `turns` rounds, and its sum becomes that of x."""
    x, total = dict(x), {}
    for k in range(max(turns)):
        found = {}
        for i, j in zip(rows.tolist(), cols.tolist(), strict=True):
            if turns[i] > k and j in x:
                z = product(x[j], i, j)
                found[i] = z if i not in found else join(found[i], z)
        x |= found
        total = {i: total.get(i, 0) + found.get(i, 0) for i in total | found}
    return [total.get(i, -99) for i in range(N)]


@in_emulator
@pytest.mark.in_turn
@pytest.mark.parametrize("form", [{}, {"format": "mplg"}], ids=["csr", "mplg"])
def test_rows_on_a_list(device, turn, form, monkeypatch):
    """x is full: t has its bits from the lengths of rows. Several rounds in a run of the body, of which the last ones
    do nothing."""
    monkeypatch.setattr(builds, "rounds_per_run", lambda *_, **__: 3)
    rows, cols = graph_with_a_hub()
    turns = np.random.default_rng(1).integers(0, 5, N) ** 2 // 4
    x = np.random.default_rng(2).integers(1, 1000, N)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N, **form)
    v, total = full(gb, x.tolist()), gb.Vector(INT64, N)
    left = full(gb, turns.tolist())
    left << left.select(gb.select.valuegt, 0)

    def body(_):
        t = A.mxv(v, gb.semiring.max_second[INT64]).new(mask=left.S)
        v(t.S) << t
        total(gb.binary.plus) << t
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    program = Program(body, while_=left)
    assert program.run() == turns.max()
    assert dense(total) == expected(rows, cols, enumerate(x.tolist()), turns, max, lambda z, i, j: z)
    if device != "cpu":
        assert any("pull_worklist" in line.variant for line in program.explain().launches)


@in_emulator
@pytest.mark.in_turn
def test_rows_on_a_list_of_a_vector_with_holes(device, turn):
    """Around a loop inside, products are pulls; weights, packed too, and sums that the places are part of."""
    rows, cols = graph_with_a_hub()
    turns = np.random.default_rng(3).integers(0, 4, N)
    weights = np.random.default_rng(4).integers(1, 9, len(rows)).astype(np.float32)
    weight = {(i, j): float(w) for i, j, w in zip(rows.tolist(), cols.tolist(), weights.tolist(), strict=True)}
    x = {i: float(i % 50) for i in range(0, N, 3)}
    A = gb.Matrix.from_coo(rows, cols, weights, nrows=N, ncols=N)
    v, total = gb.Vector.from_coo(list(x), list(x.values()), FP32, size=N), gb.Vector(FP32, N)
    left, often = full(gb, turns.tolist()), gb.Scalar(INT64)
    left << left.select(gb.select.valuegt, 0)

    def count():
        often(gb.binary.plus) << left.nvals

    def body(_):
        often.value = 0
        t = A.mxv(v, gb.semiring.min_plus[FP32]).new(mask=left.S)
        v(t.S) << t
        total(gb.binary.plus) << t
        if_(left, count)
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    program = Program(body, while_=left)
    assert program.run() == turns.max()
    assert dense(total) == expected(rows, cols, x, turns, min, lambda z, i, j: z + weight[i, j])
    if device != "cpu":
        assert any("pull_worklist" in line.variant for line in program.explain().launches)
