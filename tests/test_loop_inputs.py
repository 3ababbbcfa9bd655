"""Inputs of programs: vectors that a body only reads are read in place, with their contents at each run."""

from __future__ import annotations

import numpy as np
import pytest
from test_loop_index import dense, full

import bitblas as gb
from bitblas.algorithms import pagerank
from bitblas.loop import Program
from bitblas.loop.gpu import captured_program as captured

INT64 = gb.dtypes.INT64
N = 5


@pytest.fixture
def captures(monkeypatch):
    """The captured programs, in order."""
    made, init = [], captured.CapturedProgram.__init__
    monkeypatch.setattr(captured.CapturedProgram, "__init__", lambda self, *a: (init(self, *a), made.append(self))[0])
    return made


def twice_the(x):
    """A program that adds x to a sum in each of two rounds, and the sum."""
    total, left = gb.Vector(INT64, N), gb.Vector(INT64, N)

    def body(_):
        total(gb.binary.plus) << x
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    program = Program(body, while_=left)

    def run():
        total.clear()
        left.clear()
        left[0] = 2
        program.run()
        return dense(total)

    return run


def inputs(captures):
    return [len(each.inputs.values) for each in captures]


def test_a_vector_that_is_changed_where_it_lies(device, captures):
    x = full(gb, [1, 2, 3, 4, 5])
    run = twice_the(x)
    assert run() == [2, 4, 6, 8, 10]
    x[3] = 100
    assert run() == [2, 4, 6, 200, 10]
    x(gb.binary.plus) << 1
    assert run() == [4, 6, 8, 202, 12] and dense(x) == [2, 3, 4, 101, 6]
    if device != "cpu":
        assert inputs(captures) in ([1], [1, 0])


def test_a_vector_with_other_memory(device, captures):
    """It is captured once more, and then copied in each run."""
    x = full(gb, [1, 2, 3, 4, 5])
    run = twice_the(x)
    assert run() == [2, 4, 6, 8, 10]
    for k in range(3):
        x << full(gb, [k, 2, 3, 4, 5])
        assert run() == [2 * k, 4, 6, 8, 10]
    if device != "cpu":
        assert inputs(captures) == [1, 0]


def test_a_vector_without_an_entry_somewhere(device, captures):
    """Is copied: whether it has one is known in the run alone."""
    x = full(gb, [1, 2, 3, 4, 5])
    run = twice_the(x)
    run()
    del x[2]
    assert run() == [2, 4, -99, 8, 10]
    x[2] = 7
    assert run() == [2, 4, 14, 8, 10]
    if device != "cpu":
        assert inputs(captures)[:2] == [1, 0]


def test_memory_of_somebody_that_begins_anywhere(device, captures):
    xp = gb.device.get(device).xp
    x = gb.Vector.from_dense(xp.asarray(np.arange(N + 1))[1:])
    assert twice_the(x)() == [2, 4, 6, 8, 10]


def test_a_vector_that_the_body_writes_is_copied(device, captures):
    x, left = full(gb, [1, 2, 3, 4, 5]), gb.Vector(INT64, N)

    def body(_):
        x << x.apply(gb.binary.plus, right=1)
        left << left.select(gb.select.valuegt, 9)

    left[0] = 1
    Program(body, while_=left).run()
    assert dense(x) == [2, 3, 4, 5, 6]
    if device != "cpu":
        assert inputs(captures) == [0]


@pytest.mark.parametrize("limit", [None, 0, 1, 2, 9])
def test_a_condition_that_begin_writes(device, limit):
    """What is left of it: nothing where it made the loop end, which is not copied out then."""
    start = gb.Vector.from_coo([0, 3], [2, 1], INT64, size=N)
    left = full(gb, [9] * N)

    def begin():
        left << start

    def body(_):
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    program = Program(body, while_=left, begin=begin, limit=limit)
    for _ in range(2):
        rounds = 2 if limit is None else min(limit, 2)
        assert program.run() == rounds
        assert dense(left) == [[2, -99, -99, 1, -99], [1] + [-99] * 4, [-99] * 5][rounds]


@pytest.mark.parametrize("form", [{"format": "csr"}, {"format": "b2sr", "tile": 4}, {"format": "b2sr", "tile": 8},
                                  {"format": "b2sr", "tile": 64}, {"format": "split"}, {"format": "nib"}])  # fmt: skip
@pytest.mark.parametrize("share", [1.0, 0.7, 0.3, 0.02])
def test_statements_at_the_entries_of_a_step_that_pulls(device, form, share):
    """Many entries: they are not listed, and an advance finds them by their bits."""
    n = 3000
    r = np.random.default_rng(int(100 * share))
    rows = np.repeat(np.arange(n), 3)
    cols = (rows + r.integers(1, 9, len(rows))) % n
    pairs = np.unique(np.array([np.append(rows, cols), np.append(cols, rows)]), axis=1)
    A = gb.Matrix.from_coo(*pairs, True, nrows=n, ncols=n, **form)
    alive = np.flatnonzero(r.random(n) < 0.8)
    want = alive[r.random(len(alive)) < share]
    s = gb.Vector.from_coo(alive, 1, INT64, size=n)
    first = gb.Vector.from_coo(want, 1, INT64, size=n)
    chosen, gone = gb.Vector(gb.dtypes.BOOL, n), gb.Vector(gb.dtypes.BOOL, n)

    def body(_):
        fresh = first.apply(gb.unary.one[INT64]).new(gb.dtypes.BOOL, mask=s.S)
        chosen(fresh.S) << True
        near = A.mxv(fresh, gb.semiring.any_pair[gb.dtypes.BOOL]).new(mask=s.S)
        gone(near.S) << True
        s(~near.S, gb.replace) << s
        s(~fresh.S, gb.replace) << s
        first << first.select(gb.select.valuegt, 1)

    assert Program(body, while_=first).run() == 1
    near = np.intersect1d(pairs[0][np.isin(pairs[1], want)], alive)
    at = lambda v: np.asarray(v.to_coo()[0].get() if hasattr(v.to_coo()[0], "get") else v.to_coo()[0]).tolist()
    assert at(chosen) == want.tolist()
    assert at(gone) == near.tolist()
    assert at(s) == np.setdiff1d(alive, np.append(near, want)).tolist()


def test_a_condition_that_end_writes(device):
    """Is handed out as `end` leaves it, though the loop has ended because it was empty."""
    left = gb.Vector.from_coo([1], [2], INT64, size=N)

    def body(_):
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    def end():
        left << full(gb, [7] * N)

    program = Program(body, while_=left, end=end)
    assert program.run() == 2 and dense(left) == [7] * N
    left.clear()
    assert program.run() == 0 and dense(left) == [7] * N


def test_loops_of_the_last_arguments_are_kept(device, captures, tune):
    """Of others memory would pile up: each holds what its body reads."""
    tune({"algorithms.kept_loops": 2})
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 0, 0], 1, nrows=N, ncols=N)
    ranks = {alpha: dense(pagerank(A, alpha=alpha)) for alpha in (0.5, 0.6, 0.7)}
    made = len(captures)
    assert [dense(pagerank(A, alpha=alpha)) for alpha in (0.7, 0.6, 0.7)] == [ranks[0.7], ranks[0.6], ranks[0.7]]
    assert len(captures) == made  # the last two are there
    assert dense(pagerank(A, alpha=0.5)) == ranks[0.5]
    if device != "cpu":
        assert len(captures) == made + 1
